"""The results of `drift`, in words and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rankproof.core.audit import list_words
from rankproof.document.model import PAGE, PAPER, TERMINAL, Document, Paragraph, Part, Table
from rankproof.document.numbers import count, estimate_text, for_face, probability, score, share, two_digits
from rankproof.document.terminal import cut
from rankproof.monitoring.difference_words import unread
from rankproof.scoring.words import wrong_data

if TYPE_CHECKING:
    from rankproof.monitoring.coverage import LiveScore, NextQuery, QueryKind
    from rankproof.monitoring.drift import Drift
    from rankproof.monitoring.query_similarity import Shift

KINDS, LABELS, FEW = 12, 10, 3
"""The number of rows of a table that a terminal shows; other formats have all."""
WEAK = 0.5
"""If re-weighting leaves less than this share of the set's queries, a note says so."""


def drift(found: Drift) -> Document:
    """The tests first, then the gaps of the set, its score on live traffic, the queries to label, and its ageing."""
    parts = [
        wrong_data(found.wrong),
        Part(Paragraph(_verdict(found))),
        Part(Paragraph(_opening(found))),
        Part(_tests(found.shifts)),
        Part(
            Paragraph('"Found from" is the effect that a test finds with 80 % power.'),
            rank=2,
            name="what the columns mean",
        ),
    ]
    parts += [Part(Paragraph(text), rank=rank, name=name) for rank, name, text in _ageing(found)]
    parts += [
        Part(Paragraph(_score(each)), rank=min(n, 1), name="other measures") for n, each in enumerate(found.scores)
    ]
    parts.append(Part(Paragraph(_coverage(found)), rank=1, name="coverage"))
    kinds = sorted(found.kinds, key=lambda each: -abs(each.live.value - each.own.value))  # the widest gap first
    if differing := [each for each in kinds if each.verdict != "unclear"]:
        table = _kinds(differing[:KINDS], shrink=(0,))
        parts.append(Part(table, rank=2, name="kinds of queries", media=TERMINAL))
    parts.append(Part(_kinds(kinds, caption="Kinds of queries"), media=(PAGE, PAPER)))
    if found.label:
        shown = found.label[:LABELS]
        first = "" if len(shown) == len(found.label) else f", the first {len(shown)} of {len(found.label)}"
        opening = Paragraph(
            f"To label next{first}; each with the share of live queries that come nearer to the set by it:"
        )
        table = _labels(shown, shrink=(0, 2))
        parts.append(Part(opening, table, rank=3, name="queries to label next", media=TERMINAL))
        parts.append(Part(_labels(found.label, caption="To label next"), media=(PAGE, PAPER)))
    parts += [Part(Paragraph(f"Note: {note}"), rank=3, name="notes") for note in found.notes]
    return Document(
        "Does the evaluation set still ask what people ask?",
        parts,
        [asdict(each) for each in found.label],
        found.to_dict(),
    )


def _opening(found: Drift) -> str:
    live = found.live
    when = ""
    if live.first is not None and live.last is not None:
        first, last = (f"{datetime.fromtimestamp(each, UTC):%Y-%m-%d}" for each in (live.first, live.last))
        when = f" from {first} to {last}" if first != last else f" of {first}"
    sample = f"; {count(len(live.texts))} of them are used" if len(live.texts) < live.events else ""
    who = "" if live.unit == "query" else f" of {count(live.askers, live.unit)}{sample}, {live.unit}s in turn"
    left = f" {count(live.without, 'record')} without a query left out." if live.without else ""
    left += unread(live.rejected, "record")
    asked = count(live.events, "live query")
    return f"{count(found.n, 'query')} of the set against {asked}{when}{who}.{left}"


def _tests(shifts: Sequence[Shift]) -> Table:
    headings = ("test", "effect", "without\na shift", "found\nfrom", "p\n(Holm)", "of what")
    rows = []
    for each in shifts:
        # Of a length, what would be found with 80 % power the other way as well.
        least = f"{share(max(0.0, 1 - each.seen_from))} or " if each.name == "length" else ""
        seen = f"{least}{share(each.seen_from)}"
        rows.append((each.name, share(each.effect), share(each.none), seen, probability(each.p_corrected), each.brief))
    return Table.of(headings, rows, ("test", "of what"))


def _verdict(found: Drift) -> str:
    moved = [each.name for each in found.shifts if each.p_corrected <= 0.05]
    if not moved:
        return "No drift is found: the set's queries may well be drawn from what people ask."
    verb = "differ" if len(moved) > 1 else "differs"
    return f"The set does not ask what people ask: {list_words(moved)} {verb} by more than chance."


def _coverage(found: Drift) -> str:
    near, kinds = found.nearness.covered, "of them are of kinds that no query of the set has"
    missing = f" {share(found.unspoken)} {kinds}." if found.unspoken > 0 else ""
    return (
        f"{share(near.value)} [{share(near.low)}, {share(near.high)}] of the live queries have a query of the set "
        f"near them; with {count(found.nearness.drawn)} fresh live queries in its place that were "
        f"{share(found.nearness.fresh)}.{missing} Weighted as people ask, the set says as much as "
        f"{found.effective:.0f} queries of {found.n}."
    )


def _kinds(kinds: Sequence[QueryKind], **settings: Any) -> Table:
    rows = []
    for each in kinds:
        live, low, high, own = map(share, (each.live.value, each.live.low, each.live.high, each.own.value))
        rows.append((each.example, live, f"[{low}, {high}]", own, "" if each.verdict == "unclear" else each.verdict))
    return Table.of(("kind of query", "live", "95 %", "set", "verdict"), rows, ("kind of query", "verdict"), **settings)


def _score(each: LiveScore) -> str:
    known = each.own.low == each.own.low
    told = estimate_text(each.own.value, each.own.low, each.own.high) if known else score(each.own.value)
    own = f"Your {each.measure} is {told} on the set" + ("" if known else f" (of {count(each.n, 'query')})")
    if each.live is None or each.difference is None or each.bounds is None:
        return (
            f"{own}; what it is on what people ask cannot be said: {share(each.unspoken)} of the live queries are of "
            "kinds that the set has no scored query of. Next: label the queries below."
        )
    text = f"{own}, {estimate_text(each.live.value, each.live.low, each.live.high)} on what people ask."
    low, high = each.difference.low, each.difference.high
    if low <= 0 <= high:
        text += " The two may be the same."
    if each.unspoken > 0:
        text += (
            f" The {share(each.unspoken)} of kinds that the set lacks are left out; with them it is between "
            f"{two_digits(each.bounds[0])} and {two_digits(each.bounds[1])}."
        )
    if each.effective < WEAK * each.n:
        text += f" A few queries carry most of it: they say as much as {each.effective:.0f} of {each.n}."
    return text


def _labels(label: Sequence[NextQuery], **settings: Any) -> Table:
    rows = [(each.text, share(each.stands_for), each.nearest) for each in label]
    return Table.of(("query", "nearer", "nearest in the set"), rows, ("query", "nearest in the set"), **settings)


def _ageing(found: Drift) -> Iterator[tuple[int, str, str]]:
    """Faults of the set itself, the most serious first: rank, name and words."""
    if found.leaked is not None:
        same = [each.query for each in found.leaked if each.same]
        near = [each.query for each in found.leaked if not each.same]
        yield (
            0,
            "what was trained on",
            f"Something was trained on {count(len(same), 'query')} of the set in the same words{_few(same)}, and on "
            f"{count(len(near))} in nearly the same{_few(near)}.",
        )
    if found.stale is not None:
        stale = found.stale
        changed = (
            f", {count(len(stale.changed))} of {count(stale.compared)} with a hash changed{_few(stale.changed)}"
            if stale.compared
            else "; whether others changed cannot be said without hashes of then "
            f"({for_face('hashes=', '--keep-hashes')})"
        )
        of = f"{count(len(stale.vanished))} of {count(stale.judged, 'judged document')}"
        text = f"{of} vanished{_few(stale.vanished)}{changed}."
        if stale.queries:
            text += f" Judge {count(len(stale.queries), 'query')} again{_few(stale.queries)}."
        yield int(found.leaked is not None), "documents that vanished or changed", text
    if found.duplicates:
        pairs = [f"{each.query} {'=' if each.same else '~'} {each.other}" for each in found.duplicates]
        yield (
            2,
            "queries asked before",
            f"{count(len(pairs), 'query')} of the set {'is' if len(pairs) == 1 else 'are'} asked before in the same "
            f"words (=) or nearly (~){_few(pairs)}.",
        )


def _few(names: Sequence[str]) -> str:
    more = f", and {len(names) - FEW:,} more" if len(names) > FEW else ""
    return f" ({', '.join(cut(name, 40) for name in names[:FEW])}{more})" if names else ""
