"""From a name to a measure: canonical names, everyday names, and those of other tools."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from rankproof.core import measures  # noqa: F401  (its import fills the registry)
from rankproof.core.measure import ALIASES, CHANGES, JUDGED, REGISTRY, Measure
from rankproof.errors import UsageError, in_order, nearest, shorten

UNREADABLE = (ValueError, TypeError, SyntaxError, MemoryError, RecursionError)
"""What Python's own reader raises for a text that is no value."""

_FORM = re.compile(r"^(?P<name>[^()@\s]+)\s*(?:\((?P<params>.*)\))?\s*(?:@\s*(?P<at>[^@\s]+))?$", re.DOTALL)
_SUFFIX = re.compile(r"^(?P<name>.+?)(?:_at_|[_.])(?P<at>\d+(?:\.\d+)?)$")


WEIGHTED = ("setf", "set_f")
"""The names of F in trec_eval and ir_measures, in lower case: `SetF(beta=2)` is no F2 there."""


def parse(text: str | Measure) -> Measure:
    """The measure that `text` names.

    >>> parse("nDCG(gain='exp')@10"), parse("ndcg_cut_10"), parse("MRR"), parse("Recall@100")
    (nDCG(gain='exp')@10, nDCG@10, RR, R@100)
    """
    if isinstance(text, Measure):
        return text
    if not isinstance(text, str):
        raise UsageError(
            f"got {shorten(text, 200)} as a measure, expected one like nDCG @ 10, or its name like 'nDCG@10'. "
            "Next: 'rankproof measures' lists all."
        )
    return _parsed(text, len(CHANGES))


def parse_all(texts: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    """Several measures; a string may hold more than one, separated by commas. Repeats are dropped.

    >>> parse_all("P@5, nDCG(gain='exp')@10,MAP")
    [P@5, nDCG(gain='exp')@10, AP]
    """
    return list(dict.fromkeys(parse_each(texts)))


def parse_each(texts: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    """The same with repeats: `P@5` and `P(rel=1)@5` are one measure, but a profile may tell them apart."""
    if isinstance(texts, str):
        return list(_parsed_list(texts, len(CHANGES)))
    return [parse(each) for each in one_by_one("measure", texts, "nDCG@10")]


@lru_cache(maxsize=1024)
def _parsed_list(text: str, _changes: int) -> tuple[Measure, ...]:
    return tuple(parse(each) for each in one_by_one("measure", text, "nDCG@10"))


def one_by_one(noun: str, given: str | Measure | Iterable[str | Measure], like: str) -> list[str | Measure]:
    """The names and measures that were given, at least one; a string may hold several, separated by commas."""
    if not isinstance(given, Iterable | Measure) or isinstance(given, Mapping | bytes):
        then = ", and their values as the argument they are for (margin, floors)" if isinstance(given, Mapping) else ""
        raise UsageError(
            f"{noun}s: got {shorten(given)}, expected names like {like!r}, or measures. Next: give a list{then}."
        )
    several = [given] if isinstance(given, str | Measure) else in_order(given)
    found = [name for each in several for name in (split(each) if isinstance(each, str) else [each])]
    if not found:
        raise UsageError(f"no {noun} was given, expected at least one, like {like!r}. Next: name one.")
    return found


@lru_cache(maxsize=4096)
def _parsed(text: str, _changes: int) -> Measure:
    if len(several := split(text)) > 1:
        raise UsageError(
            f"measure {shorten(text, 200)}: got {len(several)} measures, expected one. Next: name one of them, "
            "or ask evaluate or compare for several."
        )
    form = _form(text)
    name, at = form["name"], form["at"]
    found, suffixed = find(name), _SUFFIX.match(name)
    if found is None and at is None and suffixed:  # `ndcg_cut_10` carries its cut-off in its name
        found, at = find(suffixed["name"]), suffixed["at"]
    if found is None:
        raise UsageError(
            f"unknown measure {shorten(name, 200)}.{nearest(name[:100], [*REGISTRY, *ALIASES])} "
            "Next: 'rankproof measures' lists all."
        )
    return _made(text, form, found, at)


def parse_with(text: str, find: Callable[[str], Measure]) -> Measure:
    """The measure that `text` names, its bare name being looked up by `find`."""
    form = _form(text)
    return _made(text, form, find(form["name"]), form["at"])


def _form(text: str) -> re.Match[str]:
    form = _FORM.match(text.strip()) if isinstance(text, str) else None
    if form is None:
        raise UsageError(
            f"measure {shorten(text, 200)}: expected NAME, NAME@K, or NAME(parameter=value)@K, like 'nDCG@10'. "
            "Next: write it like one of these, several with commas between them."
        )
    return form


def _made(text: str, form: re.Match[str], base: Measure, at: str | None) -> Measure:
    made = base.with_params(_given(text, form)) if form["params"] else base
    return made if at is None else made @ _literal(text, at)


def _given(text: str, form: re.Match[str]) -> dict[str, Any]:
    """The parameters; `beta` of `SetF` and `set_F` is a weight there, which F calls beta squared."""
    given = _arguments(text, form["params"])
    weight = given.get("beta")
    if form["name"].lower() in WEIGHTED and isinstance(weight, (int, float)) and weight > 0:
        given["beta"] = math.sqrt(weight)
    return given


def find(name: str) -> Measure | None:
    """The measure of that name, canonical or other; None if there is none."""
    exact = ALIASES.get(name) or REGISTRY.get(name) or ALIASES.get(name)  # looking may have loaded the rest
    return exact or _loosely(len(CHANGES)).get(name.lower().replace("-", "_")) or JUDGED.get(name)


@lru_cache(maxsize=8)
def _loosely(_changes: int) -> dict[str, Measure]:
    """Names in lower case, those that could mean two measures left out."""
    loose: dict[str, Measure | None] = {}
    for name, made in {**REGISTRY, **ALIASES}.items():
        key = name.lower().replace("-", "_")
        loose[key] = made if loose.get(key, made) == made else None
    return {name: made for name, made in loose.items() if made is not None}


def _arguments(text: str, inside: str) -> dict[str, Any]:
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
    except UNREADABLE:
        raise UsageError(
            f"measure {shorten(text, 200)}: cannot read the parameters {shorten(inside, 200)}, expected name=value. "
            "Next: write them like (rel=2, gain='exp')."
        ) from None
    if not isinstance(call, ast.Call) or call.args or any(k.arg is None for k in call.keywords):
        raise UsageError(f"measure {shorten(text, 200)}: expected parameters by name. Next: write them like rel=2.")
    return {str(k.arg): _value(text, k.value) for k in call.keywords}


def _value(text: str, node: ast.expr) -> Any:
    """A literal; a bare word is taken as text, so that a shell needs no quotes."""
    if isinstance(node, ast.Name):
        return node.id
    try:
        return ast.literal_eval(node)
    except UNREADABLE:
        raise UsageError(
            f"measure {shorten(text, 200)}: {_written(node)} is no plain value. Next: give a number or a word."
        ) from None


def _written(node: ast.expr) -> str:
    try:
        return shorten(ast.unparse(node), 200)
    except UNREADABLE:  # nested too deep to be written again
        return "what is given"


def _literal(text: str, at: str) -> Any:
    try:
        return ast.literal_eval(at.lstrip("0") or "0") if at.isdigit() else ast.literal_eval(at)
    except UNREADABLE:
        raise UsageError(
            f"measure {shorten(text, 200)}: the cut-off {shorten(at, 200)} is no number. Next: write it like @10."
        ) from None


def split(text: str) -> list[str]:
    """The names in a list separated by commas; commas inside parentheses and braces do not count."""
    parts, depth = [""], 0
    for char in text:
        depth += (char in "({[") - (char in ")}]")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]
