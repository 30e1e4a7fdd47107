"""English words that say much the same: found one for the other, they count as akin."""

from __future__ import annotations

from rankproof.core.text.stems import stem

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
for _family in FAMILIES.split("|"):
    _stems = [stem(word) for word in _family.split()]
    for _stem in _stems:
        SYNONYMS[_stem] = (*SYNONYMS.get(_stem, ()), *(other for other in _stems if other != _stem))
