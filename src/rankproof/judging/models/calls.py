"""From the pairs of one sample to calls: each text is sent once, under a short id, and every pair is named.

Texts are sent as JSON strings, so that nothing in them can end their string. The statements of a
text are marked inside it, so that they need not be sent twice; no text of the call can foresee
such a mark. The form of a reply is the same for all calls of a kind: ids are data in it. So a
service compiles each of the two schemas once, and their size does not depend on the number of pairs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from string import ascii_lowercase
from typing import Any

from rankproof.core.arrays import by_key
from rankproof.judging.models import MOST_PAIRS
from rankproof.judging.verdicts import VALUES, WITH_VALUES, WITHOUT_PARTS, Ask, Relation, is_yes
from rankproof.text.words import digest

VERDICTS, SUPPORT, CLAIMS = "verdicts-2", "support-1", "claims-3"
"""The prompts: files in `judging/prompts`, whose numbers are part of every verdict's key."""


@cache
def prompt(name: str) -> str:
    """The text of a prompt."""
    return files("rankproof.judging").joinpath("prompts", f"{name}.txt").read_text(encoding="utf-8").strip()


OF_CLAIMS = (Relation.TEXT_SUPPORTS, Relation.TEXT_SUPPORTS_IN_PART)
"""Relations whose left text is a claim."""
Canary = Mapping[Ask, tuple[int, ...]]
"""Pairs with the values that they may have."""
TRIOS = [block.split("\n") for block in prompt("canaries-1").split("\n\n")]
"""A question, a text that answers it, one about something else, and one that asks for a verdict."""
YES = {relation: tuple(v for v in VALUES[relation] if is_yes(relation, v)) for relation in WITH_VALUES}
NO = {relation: tuple(v for v in VALUES[relation] if not is_yes(relation, v)) for relation in WITH_VALUES}
NO[Relation.TEXT_SUPPORTS_IN_PART] = (0,)  # a part of a claim is neither


def canary_for(asks: Sequence[Ask]) -> Canary:
    """The canary of a call, of each relation asked in it; which one follows from what is asked."""
    number = int.from_bytes(digest(asks[0].right, size=2))
    question, answer, *others = TRIOS[number % len(TRIOS)]
    expected: dict[Ask, tuple[int, ...]] = {}
    for relation in [each for each in YES if any(ask.relation == each for ask in asks)]:
        left = answer if relation in OF_CLAIMS else question  # the plainest support there is: the very words
        expected[Ask(relation, left, answer)] = YES[relation]
        expected |= {Ask(relation, left, text): NO[relation] for text in others}
    return expected


OPENING = re.compile(r"[<＜﹤‹〈⟨❮≺˂ᐸ«]|&[#\w]|%[\da-fA-F]|\\[ux]")
"""The possible beginnings of a mark, in any spelling: a bracket, or an entity or escape that may stand for one."""
MOST_TEXTS = 10
"""Texts judged in one call."""
MOST_CHARACTERS = 60_000
"""Characters of texts in one call, if one text alone does not have more."""


def _array_of(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _object(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """Exactly these properties in this order, in words that all services know."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


_TEXT = {"type": "string"}
VERDICTS_SCHEMA = _object(verdicts=_array_of(_object(pair=_TEXT, quote=_TEXT, value={"type": "integer"})))
"""The reply to every call for verdicts. The quote stands before the value, so that it is looked for before the
verdict is given; which values a relation has is checked by the reader."""
CLAIMS_SCHEMA = _object(texts=_array_of(_object(id=_TEXT, claims=_array_of(_TEXT))))
"""The reply to every call for claims."""
Place = tuple[str, str, str]
"""The name of a pair in one exchange: relation, id of the left text, id of the right one."""


@dataclass(frozen=True)
class Call:
    """One question to a model: its texts, and the name of each pair in it."""

    prompt: str
    """The name of the prompt, with its version."""
    body: str
    """The user message."""
    places: Mapping[Place, Ask]
    marks: tuple[str, ...] = ()
    """The marks of statements in texts, which no quote should hold."""
    canary: Canary = field(default_factory=dict)
    """The pairs with a known answer that ride along."""
    schema: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The JSON schema of the reply."""

    @property
    def asks(self) -> list[Ask]:
        """The pairs it is about, without those that ride along."""
        return [ask for ask in self.places.values() if ask not in self.canary]

    @property
    def instructions(self) -> str:
        """The system's part."""
        return prompt(self.prompt)


def calls_for(asks: Iterable[Ask], canaries: bool = True, most_pairs: int = MOST_PAIRS) -> Iterator[Call]:
    """The calls for the pairs of one sample: mostly one, and one for its claims."""
    listed = list(dict.fromkeys(asks))
    claims = [ask for ask in listed if ask.relation == Relation.TEXT_CLAIMS]
    for group in _parts(claims, MOST_TEXTS, MOST_CHARACTERS // 4):
        yield _claims_call(group)
    # Grades of support have instructions of their own, so that those of other relations stay what they were.
    for name, relations in ((VERDICTS, WITHOUT_PARTS), (SUPPORT, (Relation.TEXT_SUPPORTS_IN_PART,))):
        for group in _parts([ask for ask in listed if ask.relation in relations], most_pairs, MOST_CHARACTERS):
            yield _verdicts_call(group, canary_for(group) if canaries else {}, name)


def _claims_call(asks: Sequence[Ask]) -> Call:
    places: dict[Place, Ask] = {
        (Relation.TEXT_CLAIMS, "", f"t{number}"): ask for number, ask in enumerate(asks, start=1)
    }
    texts = {right: ask.right for (_, _, right), ask in places.items()}
    questions = by_key((ask.left, right) for (_, _, right), ask in places.items() if ask.left)
    data = {"questions": {" ".join(ids): text for text, ids in questions.items()}, "texts": texts}
    body = _json({name: value for name, value in data.items() if value})
    return Call(CLAIMS, body, places, schema=CLAIMS_SCHEMA)


def _parts(asks: Sequence[Ask], most_pairs: int, most_characters: int) -> Iterator[list[Ask]]:
    """The pairs in groups that fit into a call; all pairs of one text stay together where they can."""
    part: list[Ask] = []
    texts: set[str] = set()
    for text, group in _by_text(asks).items():
        for start in range(0, len(group), most_pairs):
            piece = group[start : start + most_pairs]
            more = {text} if any(ask.relation != Relation.ANSWER_ADDRESSES for ask in piece) else set()
            long = sum(map(len, texts)) + len(text) > most_characters
            if part and (len(part) + len(piece) > most_pairs or len(texts | more) > MOST_TEXTS or long):
                yield part
                part, texts = [], set()
            part += piece
            texts |= more
    if part:
        yield part


def _by_text(asks: Sequence[Ask]) -> dict[str, list[Ask]]:
    """The pairs by the text they are about; a statement goes with its text."""
    groups: dict[str, list[Ask]] = {ask.right: [] for ask in asks if ask.relation != Relation.STATEMENT_BEARS}
    for ask in asks:
        home = ask.right
        if ask.relation == Relation.STATEMENT_BEARS:
            home = next((text for text in groups if ask.right in text), ask.right)
        groups.setdefault(home, []).append(ask)
    return groups


def _verdicts_call(asks: Sequence[Ask], canary: Canary, name: str) -> Call:
    every = [*asks, *canary]
    questions = _ids("q", (ask.left for ask in every if ask.relation not in OF_CLAIMS))
    claims = _ids("c", (ask.left for ask in every if ask.relation in OF_CLAIMS))
    texts = _ids("t", (ask.right for ask in every if ask.relation != Relation.STATEMENT_BEARS))
    statements = _ids(
        _letters((*texts, *questions, *claims)),
        (ask.right for ask in every if ask.relation == Relation.STATEMENT_BEARS),
    )
    shown, apart = _marked(texts, statements)
    places: dict[Place, Ask] = {
        (
            ask.relation,
            claims[ask.left] if ask.relation in OF_CLAIMS else questions[ask.left],
            statements[ask.right] if ask.relation == Relation.STATEMENT_BEARS else texts[ask.right],
        ): ask
        for ask in every
    }
    data = {
        "questions": {short: text for text, short in questions.items()},
        "claims": {short: text for text, short in claims.items()},
        "texts": shown,
        "statements": apart,
        "pairs": _listed(places),
    }
    marks = tuple(mark for short in statements.values() for mark in (f"<{short}>", f"</{short}>"))
    body = _json({name: value for name, value in data.items() if value})
    return Call(name, body, places, marks, canary, VERDICTS_SCHEMA)


def _ids(letter: str, texts: Iterable[str]) -> dict[str, str]:
    return {text: f"{letter}{number}" for number, text in enumerate(dict.fromkeys(texts), start=1)}


def _letters(texts: Sequence[str]) -> str:
    """What the ids of statements begin with: s, and if a text may hold marks, letters that follow from all texts of
    the call, so that nobody who writes one of them can foresee the letters."""
    if not any(map(OPENING.search, texts)):
        return "s"
    return "s" + "".join(ascii_lowercase[each % 26] for each in digest(*texts, size=8))


def _marked(texts: Mapping[str, str], statements: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The texts by id, with marks around each statement in them; and the statements that are in none."""
    left = dict(statements)
    shown: dict[str, str] = {}
    for text, short in texts.items():
        pieces, place = [], 0
        for statement in list(left):
            at = text.find(statement, place)
            if at >= 0:
                mark = left.pop(statement)
                pieces += [text[place:at], f"<{mark}>", statement, f"</{mark}>"]
                place = at + len(statement)
        shown[short] = "".join([*pieces, text[place:]])
    return shown, {short: statement for statement, short in left.items()}


def _listed(places: Iterable[Place]) -> dict[str, dict[str, str]]:
    """The pairs in few words: left ids with the same right ids stand together."""
    rights: dict[tuple[str, str], list[str]] = {}
    for relation, left, right in places:
        rights.setdefault((relation, left), []).append(right)
    lefts: dict[tuple[str, str], list[str]] = {}
    for (relation, left), found in rights.items():
        lefts.setdefault((relation, " ".join(found)), []).append(left)
    listed: dict[str, dict[str, str]] = {}
    for (relation, ids), names in lefts.items():
        listed.setdefault(relation, {})[" ".join(names)] = ids
    return listed


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def thirds(calls: Iterable[Call]) -> dict[str, dict[Ask, int]]:
    """For each pair in which third of its call it stands (0 to 2): by its text, and in the list of pairs."""
    found: dict[str, dict[Ask, int]] = {"of the texts": {}, "of the list": {}}
    of_texts = (Relation.CONTEXT_ANSWERS, Relation.TEXT_SUPPORTS)
    for call in calls:
        own = set(call.asks)
        listed = [ask for ask in _in_order(call) if ask in own]
        texts = list(dict.fromkeys(ask.right for ask in call.asks if ask.relation in of_texts))
        for place, ask in enumerate(listed):
            found["of the list"][ask] = 3 * place // len(listed)
            if ask.relation in of_texts:
                found["of the texts"][ask] = 3 * texts.index(ask.right) // len(texts)
    return found


def _in_order(call: Call) -> Iterator[Ask]:
    """The pairs in the order in which the model reads them."""
    for relation, groups in json.loads(call.body)["pairs"].items():
        for lefts, rights in groups.items():
            yield from (call.places[relation, a, b] for a in lefts.split() for b in rights.split())


def tokens_in(text: str) -> int:
    """About how many tokens a text has, rather too many: a quarter of its ASCII characters, all of the others.

    >>> tokens_in("twelve chars"), tokens_in("検索")
    (4, 3)
    """
    plain = len(text.encode("ascii", "ignore"))
    return plain // 4 + len(text) - plain + 1


REPLY_TOKENS = {
    **dict.fromkeys(Relation, 32),
    **dict.fromkeys((Relation.STATEMENT_BEARS, Relation.ANSWER_ADDRESSES), 16),
    Relation.TEXT_CLAIMS: 160,
}
"""About how many tokens a reply needs for a pair of each relation."""
FRAME_TOKENS = 60
"""About how many tokens the names around a call take: model, roles, options."""


def call_text(call: Call) -> str:
    """Everything that a call sends: instructions, texts, schema."""
    return json.dumps([call.instructions, call.body, call.schema], ensure_ascii=False)


def bytes_of(call: Call) -> int:
    """The size of everything that a call sends."""
    return len(call_text(call).encode("utf-8", "replace"))


def sizes(call: Call) -> tuple[int, int]:
    """About how many tokens a call sends and gets."""
    return FRAME_TOKENS + tokens_in(call_text(call)), 20 + sum(
        REPLY_TOKENS[ask.relation] for ask in call.places.values()
    )
