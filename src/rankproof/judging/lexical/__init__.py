"""The embedded judge: words, numbers and denials compared, without a model or a network; and its word lists."""

from __future__ import annotations

import re

from rankproof.text.words import fold, stem

FAMILIES = """
car automobile vehicle |big large huge vast enormous |small little tiny |fast quick rapid |begin start
commence |end finish conclude |buy purchase acquire |sell vend |help assist aid |show display demonstrate
|build construct erect |make create produce manufacture |movie film |doctor physician |kid child |old
ancient |new novel |rich wealthy |poor impoverished |smart clever intelligent |angry furious |happy glad
|sad unhappy |job occupation profession |home house residence dwelling |ill sick |sickness illness
disease |wrong incorrect |right correct |near close |get obtain receive |give provide supply |use utilize
employ |need require |try attempt |happen occur |choose select pick |keep retain |let allow permit |stop
halt cease |say state |tell inform |ask inquire |answer reply respond |speak talk |look appear seem
|think believe |important significant crucial vital |difficult hard |easy simple |dangerous hazardous
|famous renowned well-known celebrated |country nation |city town |company firm business corporation
|money funds cash |increase rise grow |decrease drop fall decline reduce |die pass perish |kill murder
slay |marry wed |born birth |author writer |song track |singer vocalist |game match |winner champion
|leader head chief |lawyer attorney |police cop |road street |sea ocean |stone rock |forest woods |animal
beast |people persons inhabitants residents population |main chief principal primary |almost nearly
|about approximately roughly |also additionally |often frequently |rarely seldom |usually generally
typically |include contain comprise |consist comprise |locate situate |release publish issue launch
|found establish create |error mistake fault |price cost |fee charge |pay salary wage |goods products
merchandise |refund reimbursement |photo picture image |critic reviewer |shut close |close shut |annual
yearly |broadcast air |role part |star feature |award prize |defeat beat |land ground |gather collect
"""
SYNONYMS: dict[str, tuple[str, ...]] = {}
"""For a stem those of words that say much the same."""
for _family in FAMILIES.split("|"):
    _stems = [stem(word) for word in _family.split()]
    for _stem in _stems:
        SYNONYMS[_stem] = (*SYNONYMS.get(_stem, ()), *(other for other in _stems if other != _stem))
HEDGED = re.compile(
    r"(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|over|under|up to|at (?:least|most)|more than"
    r"|less than|fewer than|circa|ca\.|~|≈|etwa|rund|knapp|gut|fast|ungefähr|mindestens|höchstens|über|unter|bis zu"
    r"|environ|presque|plus de|moins de|casi|unos|unas|más de|menos de|約|约|大约|[<>≤≥]) ?$",
    re.IGNORECASE,
)
"""Words before a number that is approximate."""
CANCELLING = ("en", "de", "latin")
"""Where two denials make a yes; elsewhere one may be said by several words."""
PERSONS = "he she it they we you i him her er sie es wir ich il elle он она 他 她 它 彼 彼女 هو هي वह वे"
PRONOUNS = frozenset(PERSONS.split())
OPPOSITES = """
increase decrease |rise fall |rise drop |grow shrink |more less |more fewer |higher lower |allow forbid |allow
prohibit |permit prohibit |accept reject |accept refuse |true false |possible impossible |legal illegal |alive dead
|always never |all none |include exclude |maximum minimum |most least |success failure |succeed fail |approve reject
|male female |safe dangerous |agree disagree |appear disappear |steigen fallen |mehr weniger |zunehmen abnehmen
|erlaubt verboten |plus moins |más menos |permitido prohibido |open closed |offen geschlossen
"""
"""Words of which only one can hold of the same thing; a first has a last."""
STATES = frozenset({"open", "closed", "offen", "geschlossen"})
STATE_STEMS = frozenset(stem(fold(word)) for word in STATES)
"""Opposites as states only: what opens at nine closes as well."""
OPPOSITE: dict[str, set[str]] = {}
for _one, _other in (pair.split() for pair in OPPOSITES.split("|")):
    for _left, _right in ((_one, _other), (_other, _one)):
        OPPOSITE.setdefault(stem(fold(_left)), set()).add(stem(fold(_right)))
