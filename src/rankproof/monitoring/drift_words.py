"""What `drift` found, in words and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rankproof.document.numbers import count, estimate_text, score, share
from rankproof.document.terminal import Column, cut, page_width, table, wrap

if TYPE_CHECKING:
    from rankproof.monitoring.coverage import Kind, LiveScore
    from rankproof.monitoring.drift import Drift
    from rankproof.monitoring.shifts import Shift

KINDS, LABELS, FEW = 12, 10, 3
"""Rows of a table that are shown; JSON has all."""
WEAK = 0.5
"""If re-weighting leaves less than this share of the set's queries, it is said."""


def drift_text(found: Drift) -> str:
    """Everything, in the width of the page."""
    parts = [
        wrap(_opening(found)),
        table(_tests(found.shifts)),
        wrap(_verdict(found)),
        wrap(_coverage(found)),
    ]
    if kinds := _told(found.kinds):
        parts.append(table(_kinds(kinds)))
    parts += [wrap(_score(each, found)) for each in found.scores]
    if found.label:
        parts.append([*wrap(_labels_opening(found)), "", *_labels(found)])
    parts += [wrap(text) for text in _ageing(found)]
    parts += [wrap(f"Note: {note}") for note in found.notes]
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def _opening(found: Drift) -> str:
    live = found.live
    when = ""
    if live.first is not None and live.last is not None:
        from rankproof.monitoring.drift import iso

        first, last = (str(iso(each))[:10] for each in (live.first, live.last))
        when = f" from {first} to {last}" if first != last else f" of {first}"
    sample = f"; {count(len(live.texts))} of them are looked at" if len(live.texts) < live.events else ""
    who = "" if live.unit == "query" else f" of {count(live.askers, live.unit)}{sample}, {live.unit}s in turn"
    left = f" {count(live.without, 'record')} without a query left out." if live.without else ""
    asked = count(live.events, "live query", "live queries")
    return f"{_queries(found.n)} of the set against {asked}{when}{who}.{left}"


def _tests(shifts: Sequence[Shift]) -> list[Column]:
    return [
        Column("test", [each.name for each in shifts]),
        Column("effect", [share(each.effect) for each in shifts], True),
        Column("without\na shift", [share(each.none) for each in shifts], True),
        Column("found\nfrom", [_from(each) for each in shifts], True),
        Column("p\n(Holm)", [score(each.p_corrected) for each in shifts], True),
        Column("of what", [each.brief for each in shifts]),
    ]


def _from(each: Shift) -> str:
    """The effect that would be found with 80 % power; of a length also the other way."""
    if each.name != "length":
        return share(each.seen_from)
    return f"{share(max(0.0, 1 - each.seen_from))} or {share(each.seen_from)}"


def _verdict(found: Drift) -> str:
    moved = [each.name for each in found.shifts if each.p_corrected <= 0.05]
    if not moved:
        return (
            "No drift is found: that the set's queries are drawn from what people ask is not ruled out. "
            '"Found from" is the effect that a test finds with 80 % power.'
        )
    return (
        f"The set does not ask what people ask: {_listed(moved)} differ{'s' if len(moved) == 1 else ''} by more than "
        'chance. "Found from" is the effect that a test finds with 80 % power.'
    )


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _coverage(found: Drift) -> str:
    near = found.nearness.covered
    missing = (
        f" {share(found.unspoken)} of them are of kinds that no query of the set has."
        if found.unspoken > 0
        else ""
    )
    return (
        f"{share(near.value)} [{share(near.low)}, {share(near.high)}] of the live queries have a query of the set "
        f"near them; with {count(found.n)} fresh live queries in its place that were "
        f"{share(found.nearness.fresh)}.{missing} Weighted as people ask, the set says as much as "
        f"{found.effective:.0f} queries of {found.n}."
    )


def _told(kinds: Sequence[Kind]) -> list[Kind]:
    """The kinds that are asked more or less than the set has them, the furthest first."""
    odd = [each for each in kinds if each.verdict != "as asked"]
    return sorted(odd, key=lambda each: -abs(each.live.value - each.own.value))[:KINDS]


def _kinds(kinds: Sequence[Kind]) -> list[Column]:
    room = max(page_width() - 42, 20)
    return [
        Column("kind of query", [cut(each.example, room) for each in kinds]),
        Column("live", [share(each.live.value) for each in kinds], True),
        Column("95 %", [f"[{share(each.live.low)}, {share(each.live.high)}]" for each in kinds], True),
        Column("set", [share(each.own.value) for each in kinds], True),
        Column("", [each.verdict for each in kinds]),
    ]


def _score(each: LiveScore, found: Drift) -> str:
    own = f"Your {each.measure} is {estimate_text(each.own.value, each.own.low, each.own.high)} on the set"
    if each.live is None or each.difference is None or each.bounds is None:
        return (
            f"{own}; what it is on what people ask cannot be said: {share(each.unspoken)} of the live queries are of "
            "kinds that the set has no scored query of. Next: label the queries below."
        )
    text = f"{own}, {estimate_text(each.live.value, each.live.low, each.live.high)} on what people ask."
    low, high = each.difference.low, each.difference.high
    if low <= 0 <= high:
        text += " That both are the same is not ruled out."
    if each.unspoken > 0:
        text += (
            f" The {share(each.unspoken)} of kinds that the set lacks are left out; with them it is between "
            f"{_two(each.bounds[0])} and {_two(each.bounds[1])}."
        )
    if each.effective < WEAK * each.n:
        text += f" A few queries carry most of it: they say as much as {each.effective:.0f} of {each.n}."
    return text


def _two(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".", 1)


def _labels_opening(found: Drift) -> str:
    shown = min(len(found.label), LABELS)
    first = "" if shown == len(found.label) else f", the first {shown} of {len(found.label)}"
    return f"To label next{first}; each with the share of live queries that come nearer to the set by it:"


def _labels(found: Drift) -> list[str]:
    rows = found.label[:LABELS]
    return table(
        [
            Column("query", [cut(each.text, page_width() - 32) for each in rows]),
            Column("nearer", [share(each.stands_for) for each in rows], True),
            Column("nearest in the set", [cut(each.nearest, 20) for each in rows]),
        ]
    )


def _ageing(found: Drift) -> Iterator[str]:
    if found.stale is not None:
        stale = found.stale
        changed = (
            f", {count(len(stale.changed))} of {count(stale.compared)} with a hash changed{_few(stale.changed)}"
            if stale.compared
            else "; whether others changed cannot be said without hashes of then (--keep-hashes)"
        )
        of = f"{count(len(stale.vanished))} of {count(stale.judged, 'judged document')}"
        text = f"{of} vanished{_few(stale.vanished)}{changed}."
        if stale.queries:
            text += f" Judge {_queries(len(stale.queries))} again{_few(stale.queries)}."
        yield text
    if found.duplicates:
        pairs = [f"{each.query} {'=' if each.same else '~'} {each.other}" for each in found.duplicates]
        yield (
            f"{_queries(len(pairs))} of the set {'is' if len(pairs) == 1 else 'are'} asked before in the same "
            f"words (=) or nearly (~){_few(pairs)}."
        )
    if found.leaked is not None:
        same = [each.query for each in found.leaked if each.same]
        near = [each.query for each in found.leaked if not each.same]
        yield (
            f"Something was trained on {_queries(len(same))} of the set in the same words{_few(same)}, and on "
            f"{count(len(near))} in nearly the same{_few(near)}."
        )


def _queries(number: int) -> str:
    return count(number, "query", "queries")


def _few(names: Sequence[str]) -> str:
    if not names:
        return ""
    more = f", and {len(names) - FEW:,} more" if len(names) > FEW else ""
    return f" ({', '.join(cut(name, 40) for name in names[:FEW])}{more})"
