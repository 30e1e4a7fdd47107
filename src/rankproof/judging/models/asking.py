"""From the pairs of one sample to calls: each text is sent once, under a short id, and every pair is named.

Texts are sent as JSON strings, so that nothing in them can end the string they stand in. The statements of a
text are marked inside it where they stand there, so that they need not be sent twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankproof.judging.models.canaries import Canary, canary_for
from rankproof.judging.prompts import CLAIMS, VERDICTS, prompt
from rankproof.judging.verdicts import VALUES, Ask

MOST_TEXTS = 10
"""Texts judged in one call."""
MOST_PAIRS = 200
"""Pairs judged in one call."""
MOST_CHARACTERS = 60_000
"""Characters of texts in one call, where one text alone does not have more."""

Place = tuple[str, str, str]
"""A pair as it is called in one exchange: relation, id of the left text, id of the right one."""


@dataclass(frozen=True)
class Call:
    """One question to a model: what it is about, and how each pair is called in it."""

    prompt: str
    """The name of the prompt, with its version."""
    body: str
    """What the user's part says."""
    places: Mapping[Place, Ask]
    marks: tuple[str, ...] = ()
    """The marks of statements in texts, which no quote should hold."""
    canary: Canary | None = None
    """The pairs with a known answer that ride along."""
    schema: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What the reply must look like, as a JSON schema."""

    @property
    def asks(self) -> list[Ask]:
        """The pairs it is about, without those that ride along."""
        alarms = () if self.canary is None else self.canary.expected
        return [ask for ask in self.places.values() if ask not in alarms]

    @property
    def instructions(self) -> str:
        """The system's part."""
        return prompt(self.prompt)


def calls_for(asks: Iterable[Ask], canaries: bool = True, most_pairs: int = MOST_PAIRS) -> Iterator[Call]:
    """The calls that settle the pairs of one sample: mostly one, and one for its claims."""
    listed = list(dict.fromkeys(asks))
    claims = [ask for ask in listed if ask.relation == "C"]
    for part in _claim_parts(claims):
        yield _claims_call(part)
    for group in _parts([ask for ask in listed if ask.relation != "C"], most_pairs):
        yield _verdicts_call(group, canary_for(group) if canaries else None)


# --- claims --------------------------------------------------------------------------------------------


def _claim_parts(asks: Sequence[Ask]) -> Iterator[list[Ask]]:
    part: list[Ask] = []
    for ask in asks:
        if part and (len(part) >= MOST_TEXTS or sum(len(each.right) for each in part) > MOST_CHARACTERS // 4):
            yield part
            part = []
        part.append(ask)
    if part:
        yield part


def _claims_call(asks: Sequence[Ask]) -> Call:
    places = {("C", "", f"t{number}"): ask for number, ask in enumerate(asks, start=1)}
    texts = {right: ask.right for (_, _, right), ask in places.items()}
    questions: dict[str, list[str]] = {}
    for (_, _, right), ask in places.items():
        if ask.left:
            questions.setdefault(ask.left, []).append(right)
    data = {"questions": {" ".join(ids): text for text, ids in questions.items()}, "texts": texts}
    each = {"type": "array", "items": {"type": "string"}}
    body = _json({name: value for name, value in data.items() if value})
    return Call(CLAIMS, body, places, schema=_object(dict.fromkeys(texts, each)))


# --- verdicts ------------------------------------------------------------------------------------------


def _parts(asks: Sequence[Ask], most_pairs: int) -> Iterator[list[Ask]]:
    """The pairs in groups that fit into a call; all pairs of one text stay together where they can."""
    part: list[Ask] = []
    texts: set[str] = set()
    for text, group in _by_text(asks).items():
        for start in range(0, len(group), most_pairs):
            piece = group[start : start + most_pairs]
            more = {text} if any(ask.relation != "A" for ask in piece) else set()
            long = sum(map(len, texts)) + len(text) > MOST_CHARACTERS
            if part and (len(part) + len(piece) > most_pairs or len(texts | more) > MOST_TEXTS or long):
                yield part
                part, texts = [], set()
            part += piece
            texts |= more
    if part:
        yield part


def _by_text(asks: Sequence[Ask]) -> dict[str, list[Ask]]:
    """The pairs by the text they are about; a statement goes with the text it stands in."""
    groups: dict[str, list[Ask]] = {ask.right: [] for ask in asks if ask.relation != "Q"}
    for ask in asks:
        home = (
            ask.right
            if ask.relation != "Q"
            else next((text for text in groups if ask.right in text), ask.right)
        )
        groups.setdefault(home, []).append(ask)
    return groups


def _verdicts_call(asks: Sequence[Ask], canary: Canary | None) -> Call:
    every = [*asks, *(canary.expected if canary else ())]
    questions = _ids("q", (ask.left for ask in every if ask.relation != "S"))
    claims = _ids("c", (ask.left for ask in every if ask.relation == "S"))
    texts = _ids("t", (ask.right for ask in every if ask.relation != "Q"))
    statements = _ids("s", (ask.right for ask in every if ask.relation == "Q"))
    shown, apart = _marked(texts, statements)
    places = {
        (
            ask.relation,
            claims[ask.left] if ask.relation == "S" else questions[ask.left],
            statements[ask.right] if ask.relation == "Q" else texts[ask.right],
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
    marks = tuple(f"<{short}>" for short in statements.values())
    body = _json({name: value for name, value in data.items() if value})
    return Call(VERDICTS, body, places, marks, canary, _schema(places))


def _ids(letter: str, texts: Iterable[str]) -> dict[str, str]:
    return {text: f"{letter}{number}" for number, text in enumerate(dict.fromkeys(texts), start=1)}


def _marked(texts: Mapping[str, str], statements: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The texts by id, with a mark before each statement that stands in one; and the statements that do not."""
    left = dict(statements)
    shown: dict[str, str] = {}
    for text, short in texts.items():
        pieces, place = [], 0
        for statement in list(left):
            at = text.find(statement, place)
            if at >= 0:
                pieces += [text[place:at], f"<{left.pop(statement)}>", statement]
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


def _schema(places: Iterable[Place]) -> dict[str, Any]:
    """What the reply must be: every pair, no other, each with one of its values."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for relation, left, right in places:
        value = {"type": "integer", "enum": list(VALUES[relation])}
        found.setdefault(relation, {}).setdefault(left, {})[right] = value
    relations = {
        name: _object({left: _object(rights) for left, rights in lefts.items()})
        for name, lefts in found.items()
    }
    quote = _object({"pair": {"type": "string"}, "quote": {"type": "string"}})
    return _object({**relations, "quotes": {"type": "array", "items": quote}})


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
