"""From a reply to verdicts: exactly the ids that were asked, values of the relation, quotes that are in the text.

What is missing or wrong stays open, with the reason; it is never filled in, rounded or clamped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rankproof.errors import shorten
from rankproof.judging.claims import held
from rankproof.judging.lexical.abstention import abstains
from rankproof.judging.models.asking import Call, Place
from rankproof.judging.units import claims_in
from rankproof.judging.verdicts import VALUES, Ask

QUOTED = {"R": (2, 3), "S": (1, -1)}
"""The values that must be shown by a quote."""
MOST_STARTS = 100
"""So many braces are tried as the beginning of the reply's object."""
TWICE = object()
"""Stands where a reply gives one id two values."""
ALIKE = str.maketrans("’‘“”„–—\u00a0\u2009\u202f", '\'\'"""--   ')
"""Characters that models write in each other's place."""


@dataclass
class Reading:
    """What a reply says."""

    values: dict[Ask, int] = field(default_factory=dict)
    quotes: dict[Ask, str] = field(default_factory=dict)
    claims: dict[Ask, tuple[str, ...]] = field(default_factory=dict)
    open: dict[Ask, str] = field(default_factory=dict)
    """The pairs that got no verdict, with the reason."""
    problems: dict[str, int] = field(default_factory=dict)
    """What else was wrong, with how often."""


def read(call: Call, reply: str | Mapping[str, Any]) -> Reading:
    """What a reply says about the pairs of a call."""
    found = _object_in(reply, call.places) if isinstance(reply, str) else dict(reply)
    reading = Reading()
    if found is None:
        problem = "the reply is empty" if not str(reply).strip() else "the reply holds no whole JSON object"
        reading.open = dict.fromkeys(call.asks, problem)
        return reading
    if any(place[0] == "C" for place in call.places):
        _read_claims(call, found, reading)
    else:
        _read_values(call, found, reading)
    if extra := sum(1 for place in _places_in(found, call) if place not in call.places):
        reading.problems["ids that were not asked about"] = extra
    return reading


def _read_claims(call: Call, found: Mapping[str, Any], reading: Reading) -> None:
    for place, ask in call.places.items():
        given = _at(found, place)
        if not isinstance(given, list) or not all(isinstance(each, str) and each.strip() for each in given):
            reading.open[ask] = _missing(given, "a list of claims")
            continue
        listed = tuple(dict.fromkeys(" ".join(each.split()) for each in given))
        if not listed and claims_in(ask.right) and not abstains(ask.right):
            reading.open[ask] = "no claims of a text that has sentences"
            continue
        claims = held(ask.right, listed, ask.left) if listed else ()
        reading.claims[ask] = claims
        for problem, times in (
            ("claims that are not their text's, or say the same again", len({*listed} - {*claims})),
            (
                "sentences left out of the claims, taken as claims",
                len({*claims} - {*listed}) if listed else 0,
            ),
        ):
            if times:
                reading.problems[problem] = reading.problems.get(problem, 0) + times


def _read_values(call: Call, found: Mapping[str, Any], reading: Reading) -> None:
    quotes = _quotes_in(found)
    for place, ask in call.places.items():
        value = _at(found, place)
        if isinstance(value, bool) or not isinstance(value, int) or value not in VALUES[ask.relation]:
            reading.open[ask] = _missing(value, f"one of {', '.join(map(str, VALUES[ask.relation]))}")
            continue
        rides_along = call.canary is not None and ask in call.canary.expected
        quote, problem = ("", "") if rides_along else _quote(ask, value, quotes.get(place, ""), call.marks)
        if problem:
            reading.open[ask] = problem
            continue
        reading.values[ask] = value
        if quote:
            reading.quotes[ask] = quote
    _check_canary(call, reading)


def _check_canary(call: Call, reading: Reading) -> None:
    """Take what rides along out of the verdicts; where it failed, nothing of the call counts; where it is missing,
    nothing of its relation."""
    if call.canary is None:
        return
    problem = call.canary.failed(reading.values)
    unchecked = call.canary.unanswered(reading.values)
    for ask in call.canary.expected:
        for part in (reading.values, reading.quotes, reading.open):
            part.pop(ask, None)
    if problem:
        reading.values, reading.quotes = {}, {}
        reading.open = dict.fromkeys(call.asks, problem)
    for ask in [each for each in reading.values if each.relation in unchecked]:
        del reading.values[ask]
        reading.quotes.pop(ask, None)
        reading.open[ask] = "the reply leaves out a check of the judge"


def _missing(value: Any, expected: str) -> str:
    if value is None:
        return "missing from the reply"
    return "given twice" if value is TWICE else f"got {shorten(value, 40)}, expected {expected}"


# --- the object ----------------------------------------------------------------------------------------


def _object_in(text: str, places: Iterable[Place]) -> dict[str, Any] | None:
    """The whole JSON object in a text that says most of what was asked, of those that say as much the last.

    So fences and words around it do no harm, nor does what a model noted down before it was done thinking.
    """
    names = {_path(place)[0] for place in places}
    said = [found for found in _objects_in(text) if names & found.keys()]
    if len(said) < 2:
        return said[0] if said else None
    return max(reversed(said), key=lambda each: sum(_at(each, p) is not None for p in places), default=None)


def _objects_in(text: str) -> Iterator[dict[str, Any]]:
    """The whole JSON objects in a text, the outer ones before those in them."""
    decoder = json.JSONDecoder(object_pairs_hook=once)
    for start, _ in zip(re.finditer(r"\{", text), range(MOST_STARTS), strict=False):
        try:
            yield decoder.raw_decode(text, start.start())[0]
        except (ValueError, RecursionError):
            continue


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; what it says twice in two ways is marked."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        found[name] = TWICE if name in found and found[name] != value else value
    return found


def _path(place: Place) -> tuple[str, ...]:
    """The names under which a reply says something of a pair."""
    return place[2:] if place[0] == "C" else place


def _at(found: Any, place: Place) -> Any:
    for name in _path(place):
        if not isinstance(found, Mapping):
            return None
        found = found.get(name)
    return found


def _places_in(found: Mapping[str, Any], call: Call) -> Iterator[Place]:
    """Every place a reply names."""
    if any(place[0] == "C" for place in call.places):
        yield from (("C", "", name) for name in found)
        return
    for relation, lefts in found.items():
        for left, rights in lefts.items() if isinstance(lefts, dict) else ():
            for right in rights if isinstance(rights, dict) else ():
                yield relation, left, right


# --- quotes --------------------------------------------------------------------------------------------


def _quotes_in(found: Mapping[str, Any]) -> dict[Place, str]:
    quotes: dict[Place, str] = {}
    listed = found.get("quotes")
    for each in listed if isinstance(listed, list) else ():
        pair, quote = (each.get("pair"), each.get("quote")) if isinstance(each, dict) else (None, None)
        names = re.split(r"[\s.:,/]+", pair.strip()) if isinstance(pair, str) else []
        if len(names) == 3 and isinstance(quote, str):
            quotes[(names[0], names[1], names[2])] = quote
    return quotes


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
