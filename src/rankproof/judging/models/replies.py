"""From a reply to verdicts: exactly the requested ids, values of the relation, quotes that are in the text.

A missing or invalid verdict stays open, with the reason; it is never filled in, rounded or clamped.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rankproof.errors import shorten
from rankproof.judging.case import claims_in, claims_of_text
from rankproof.judging.models.calls import Call
from rankproof.judging.verdicts import VALUES, Ask, Relation
from rankproof.text.refusals import abstains

CUT_OFF = ("length", "max_tokens", "MAX_TOKENS")
"""Words for an end before the end."""


def reply_in(found: Any, call: Call) -> dict[str, Any]:
    """The fields of a Reply.

    >>> reply_in({"choices": [{"message": {"content": "{}"}}]}, Call("verdicts-2", "", {}))["content"]
    '{}'
    """
    if isinstance(found, tuple) and found:  # DeepEval: the text and its cost
        found = found[0]
    if isinstance(found, list) and found:  # a pipeline of transformers
        found = _get(found[0], "generated_text") or found[0]
    usage = _first(found, "usage_metadata", "usage")
    details = _first(found, "response_metadata") or found
    listed = _get(found, "choices")
    choice = listed[0] if isinstance(listed, list | tuple) and listed else None
    ended = _get(choice, "finish_reason") or _first(details, "finish_reason", "stop_reason")
    content = _text(found, choice)
    if isinstance(content, str):
        content = content.removeprefix(f"{call.instructions}\n\n{call.body}")
    reply = {
        "content": content if isinstance(content, str | Mapping) else "",
        "prompt_tokens": tokens(usage, "input_tokens", "prompt_tokens"),
        "reply_tokens": tokens(usage, "output_tokens", "completion_tokens"),
        "model": model if isinstance(model := _first(details, "model_name", "model"), str) else "",
    }
    if not isinstance(content, str | Mapping):
        reply["problem"] = f"the model gave {type(found).__name__} {shorten(found, 40)}, expected text"
    elif ended in CUT_OFF:
        reply["problem"] = "the reply was cut off"
    elif ended == "content_filter":
        reply["problem"] = "the model refused"
    return reply


def _text(found: Any, choice: Any) -> Any:
    """The place of the text; an object that is not an envelope is the model's own reply."""
    if isinstance(found, bytes):
        return found.decode("utf-8", "replace")
    if isinstance(found, str) or found is None:
        return found
    message = _get(choice, "message") or _get(found, "message")
    places = ((message, "content"), (choice, "text"), (found, "content"), (found, "text"))
    said = next((text for where, name in places if (text := _get(where, name)) is not None), None)
    if isinstance(said, list):
        parts = [part if isinstance(part, str) else _get(part, "text") for part in said]
        return "".join(part for part in parts if isinstance(part, str))
    if said is None and isinstance(found, Mapping) and choice is None:
        return dict(found)
    return said


def tokens(usage: Any, *names: str) -> int:
    """How many tokens a service counted. An invalid count becomes None, as the reply is still valid."""
    for name in names:
        try:
            counted = int(_get(usage, name))
        except (ValueError, TypeError, OverflowError):
            continue
        if 0 <= counted <= MOST_TOKENS:
            return counted
    return 0


MOST_TOKENS = 100_000_000
"""An upper limit of any call; a larger number is not a count."""


def _get(where: Any, name: str) -> Any:
    found = where.get(name) if isinstance(where, Mapping) else getattr(where, name, None)
    return None if callable(found) else found


def _first(where: Any, *names: str) -> Any:
    return next((found for name in names if (found := _get(where, name))), None)


QUOTED = {Relation.CONTEXT_ANSWERS: (2, 3), Relation.TEXT_SUPPORTS: (1, -1), Relation.TEXT_SUPPORTS_IN_PART: (1, 2)}
"""The values that must be shown by a quote."""
MOST_STARTS = 100
"""The number of braces that are tried as the beginning of the reply's object."""
Items = Mapping[tuple[str, ...], tuple[Any, str]]
"""The content of a reply by places: the value, or the claims of a text; and the quote."""
NOTHING = (None, "")
TWICE = object()
"""Stands where a reply gives one id two values."""
ALIKE = str.maketrans("’‘“”„–—\u00a0\u2009\u202f", '\'\'"""--   ')
"""Characters that models write in each other's place."""


@dataclass
class Reading:
    """The content of a reply."""

    values: dict[Ask, int] = field(default_factory=dict)
    quotes: dict[Ask, str] = field(default_factory=dict)
    claims: dict[Ask, tuple[str, ...]] = field(default_factory=dict)
    open: dict[Ask, str] = field(default_factory=dict)
    """The pairs that got no verdict, with the reason."""
    problems: Counter[str] = field(default_factory=Counter)
    """Other errors, with their counts."""


def read(call: Call, reply: str | Mapping[str, Any]) -> Reading:
    """The verdicts of a reply on the pairs of a call."""
    found: Mapping[str, Any] | None = None if isinstance(reply, str) else reply
    if isinstance(reply, str):
        # Of the objects that say most of what was asked the last: so fences and words around it do no harm, nor does
        # what a model noted down before it was done thinking.
        whole = list(_objects_in(reply, "texts" if _of_claims(call) else "verdicts"))
        found = max(reversed(whole), key=lambda each: len(_items(each, call).keys() & call.places.keys()), default=None)
    reading = Reading()
    if found is None:
        problem = "the reply is empty" if not str(reply).strip() else "the reply holds no whole JSON object"
        reading.open = dict.fromkeys(call.asks, problem)
        return reading
    items = _items(found, call)
    if _of_claims(call):
        _read_claims(call, items, reading)
    else:
        _read_values(call, items, reading)
    reading.problems["ids that were not asked about"] = len(items.keys() - call.places.keys())
    return reading


def _read_claims(call: Call, items: Items, reading: Reading) -> None:
    for place, ask in call.places.items():
        given, _ = items.get(place, NOTHING)
        if not isinstance(given, list) or not all(isinstance(each, str) and each.strip() for each in given):
            reading.open[ask] = _missing(given, "a list of claims")
            continue
        listed = tuple(dict.fromkeys(" ".join(each.split()) for each in given))
        if not listed and claims_in(ask.right) and not abstains(ask.right):
            reading.open[ask] = "no claims of a text that has sentences"
            continue
        claims = claims_of_text(ask.right, listed, ask.left) if listed else ()
        reading.claims[ask] = claims
        taken = sum(each in listed or each.removeprefix(f"{ask.left} ") in listed for each in claims)
        reading.problems["claims that are not their text's, or say the same again"] += len(listed) - taken
        reading.problems["sentences left out of the claims, taken as claims"] += len(claims) - taken if listed else 0


def _read_values(call: Call, items: Items, reading: Reading) -> None:
    for place, ask in call.places.items():
        value, said = items.get(place, NOTHING)
        if isinstance(value, bool) or not isinstance(value, int) or value not in VALUES[ask.relation]:
            reading.open[ask] = _missing(value, f"one of {', '.join(map(str, VALUES[ask.relation]))}")
            continue
        quote, problem = ("", "") if ask in call.canary else _quote(ask, value, said, call.marks)
        if problem:
            reading.open[ask] = problem
            continue
        reading.values[ask] = value
        if quote:
            reading.quotes[ask] = quote
    _check_canary(call, reading)


def _check_canary(call: Call, reading: Reading) -> None:
    """Take what rides along out of the verdicts; if it failed, nothing of the call counts; if it is missing,
    nothing of its relation."""
    given = {ask: reading.values.pop(ask) for ask in call.canary if ask in reading.values}
    for ask in call.canary:
        reading.open.pop(ask, None)
    for ask, value in given.items():
        if value not in call.canary[ask]:
            pair = f"{ask.relation} of {ask.left!r} with {ask.right!r}"
            reading.values, reading.quotes = {}, {}
            reading.open = dict.fromkeys(call.asks, f"a check of the judge failed: {pair} got {value}")
            break
    unchecked = {ask.relation for ask in call.canary if ask not in given}
    for ask in [each for each in reading.values if each.relation in unchecked]:
        del reading.values[ask]
        reading.quotes.pop(ask, None)
        reading.open[ask] = "the reply leaves out a check of the judge"


def _missing(value: Any, expected: str) -> str:
    if value is None:
        return "missing from the reply"
    return "given twice" if value is TWICE else f"got {shorten(value, 40)}, expected {expected}"


def _of_claims(call: Call) -> bool:
    return any(place[0] == Relation.TEXT_CLAIMS for place in call.places)


def _objects_in(text: str, name: str) -> Iterator[dict[str, Any]]:
    """The whole JSON objects in a text that have the name, at the top or within others."""
    decoder = json.JSONDecoder(object_pairs_hook=unique_values)
    start = -1
    for _ in range(MOST_STARTS):
        start = text.find("{", start + 1)
        if start < 0:
            return
        try:
            found, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if name in found:
            yield found
            start = end - 1


def unique_values(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; a key that occurs twice with two values is marked."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        found[name] = TWICE if name in found and found[name] != value else value
    return found


def _items(found: Mapping[str, Any], call: Call) -> Items:
    """The content of an object by places; an invalid place is kept under its own words."""
    listed = found.get("texts" if _of_claims(call) else "verdicts")
    if isinstance(listed, str):  # some models write the array of a tool's input as text
        try:
            listed = json.loads(listed, object_pairs_hook=unique_values)
        except (ValueError, RecursionError):
            return {}
    items: dict[tuple[str, ...], tuple[Any, str]] = {}
    for each in listed if isinstance(listed, list) else ():
        if not isinstance(each, Mapping):
            continue
        if _of_claims(call):
            place: tuple[str, ...] = (Relation.TEXT_CLAIMS, "", str(each.get("id")).strip())
            value, quote = each.get("claims"), None
        else:
            place = tuple(re.split(r"[\s.:,/]+", str(each.get("pair")).strip()))
            value, quote = each.get("value"), each.get("quote")
        before, shown = items.get(place, (value, ""))
        # True is 1 and 3.0 is 3 to Python, and neither is a verdict.
        alike = type(before) is type(value) and before == value
        items[place] = (value if alike else TWICE, shown or (quote if isinstance(quote, str) else ""))
    return items


def _quote(ask: Ask, value: int, given: str, marks: tuple[str, ...]) -> tuple[str, str]:
    """The words of the text that are quoted, or what is wrong with them."""
    if value not in QUOTED.get(ask.relation, ()):
        return "", ""
    for mark in marks:
        given = given.replace(mark, "")
    found = words_of(ask.right, given)
    if found:
        return found, ""
    if not given.strip():
        return "", "no quote shows it"
    return "", f"the quote {shorten(given, 40)} is not in the text"


def words_of(text: str, quote: str) -> str:
    """The words of the text that a quote means: the same but for white space and typographic marks; "" if none.

    >>> words_of("It’s  free\\nfor you.", "It's free for")
    'It’s  free\\nfor'
    >>> words_of("It is free.", "It is cheap.")
    ''
    """
    words = quote.translate(ALIKE).strip().strip('"').split()
    if not words:
        return ""
    found = re.search(r"\s+".join(map(re.escape, words)), text.translate(ALIKE))
    return text[found.start() : found.end()] if found else ""
