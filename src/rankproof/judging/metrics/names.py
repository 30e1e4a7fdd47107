"""From a name to a judged metric: our own, those of other tools, and measures of rankings over the same grades."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from rankproof.core.measure import Measure
from rankproof.core.names import find as find_measure
from rankproof.core.names import parse_with, split
from rankproof.errors import UsageError, nearest, one_of
from rankproof.judging import (
    metrics,  # noqa: F401  (its import fills the registry)
    peers,  # noqa: F401  (and so does this one)
)
from rankproof.judging.metrics.contexts import of_grades
from rankproof.judging.metrics.registry import ALIASES, METRICS, PEERS, Metric

Asked = str | Measure | Iterable[str | Measure]


def parse(text: str | Measure, peer: str | None = None) -> Measure:
    """The metric that `text` names; with a peer, its own formula of that name.

    >>> parse("context_recall@5"), parse("contextual_precision"), parse("P@5")
    (context_recall@5, context_precision, P@5)
    """
    if isinstance(text, Measure):
        return parse(text.name, peer) if peer else text
    return parse_with(text, find if peer is None else _finder(peer))


def parse_all(asked: Asked, peer: str | None = None) -> list[Measure]:
    """Several metrics; a string may hold more than one, separated by commas. Repeats are dropped."""
    given = [asked] if isinstance(asked, str | Measure) or not isinstance(asked, Iterable) else list(asked)
    names = [name for each in given for name in (split(each) if isinstance(each, str) else [each])]
    if not names:
        raise UsageError("no metric was given, expected at least one, like 'context_recall'. Next: name one.")
    found = list(dict.fromkeys(parse(name, peer) for name in names))
    for each in found:
        _check_judged(each)
    return found


def find(name: str) -> Measure:
    """The metric of that name, canonical or other, or a measure of rankings."""
    plain = name.lower().replace("-", "_").replace(" ", "_")
    known = METRICS[plain].measure if plain in METRICS else ALIASES.get(plain)
    measure = known or find_measure(name)
    if measure is None:
        hint = nearest(name, [*METRICS, *ALIASES])
        raise UsageError(f"unknown metric {name!r}.{hint} Next: 'rankproof measures --judged' lists all.")
    return measure


def _finder(peer: str) -> Callable[[str], Measure]:
    if peer not in PEERS:
        raise one_of("compat", peer, PEERS)

    def find_peer(name: str) -> Measure:
        plain, own = name.lower().replace("-", "_"), PEERS[peer]
        theirs = plain if plain in own else _called_by(peer, plain)
        if theirs is None:
            raise UsageError(
                f"compat={peer!r}: {peer} has no formula called {name!r} here, only {', '.join(own)}."
                f"{nearest(plain, own)}"
                " Next: ask for one of these, or leave compat out."
            )
        return own[theirs].measure

    return find_peer


def _called_by(peer: str, name: str) -> str | None:
    """What a peer calls one of our metrics: its own name for it is another name of ours."""
    meant = METRICS[name].measure if name in METRICS else ALIASES.get(name)
    others = (
        each for each in PEERS[peer] if meant is not None and each in (meant.spec.name, *meant.spec.also)
    )
    return next(others, None)


def _check_judged(measure: Measure) -> None:
    if measure.spec.kind not in ("judged", "ranking"):
        raise UsageError(
            f"{measure}: this measure does not read samples. Next: see 'rankproof measures --judged'."
        )


@cache
def _by_spec() -> dict[object, Metric]:
    everywhere = [METRICS, *PEERS.values()]
    return {each.measure.spec.function: each for known in everywhere for each in known.values()}


def found(measure: Measure) -> Metric:
    """What the registry knows of a metric; a measure of rankings is one over grades."""
    known = _by_spec().get(measure.spec.function)
    return known if known is not None else of_grades(measure)
