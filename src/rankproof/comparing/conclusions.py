"""The conclusions of a comparison in words: facts are collected from all rows, and every output states the same.

The sentence about a system includes a proven loss on any measure or in any group, so that no sentence says "better",
"nothing can be told" or "ask more queries" despite it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankproof.comparing.alignment import count_unanswered
from rankproof.core.arrays import by_key
from rankproof.core.audit import list_words
from rankproof.core.audit.queries import UNANSWERED
from rankproof.document.model import Block, Column, Table
from rankproof.document.numbers import count, first_of, for_face, probability, score, share, signed_number, signed_span
from rankproof.document.terminal import cut_apart
from rankproof.errors import check_number
from rankproof.scoring.protocol import ScoresLike

if TYPE_CHECKING:
    from rankproof.comparing.comparison import Comparison, ComparisonRow
    from rankproof.comparing.gate_decision import GateRow
    from rankproof.core.audit import Finding

BEFORE = "Before you trust this, "
"""How a note about an error in the data begins."""
OPEN = 0.2
"""The share of unjudged documents from which on it is reported."""
APART = 0.1
"""Shares of two systems that differ by this much are reported, however small."""
SMALL, PART = 0.01, 0.05
"""A difference up to this size, and up to this share of the mean, is called tiny."""
NAMED = 3
"""The number of measures and groups that are named; the others are counted."""
LISTED = 10
"""Up to this number of systems the limits of each are reported; with more, those of the worst."""


@dataclass(frozen=True)
class Standing:
    """What was proven of one system against the baseline, over all measures and groups."""

    row: ComparisonRow
    """The deciding row: the first measure over all queries."""
    gains: list[ComparisonRow]
    losses: list[ComparisonRow]


def standings(found: Comparison) -> list[Standing]:
    """What was proven of each system, in the order of the rows."""
    rows = found.rows
    first = next(each.measure for each in rows if not each.slice)
    deciding = [each for each in rows if each.measure == first and not each.slice]

    def proven(system: str, verdict: str) -> list[ComparisonRow]:
        return [each for each in rows if each.system == system and each.verdict == verdict]

    return [Standing(row, proven(row.system, "better"), proven(row.system, "worse")) for row in deciding]


def conclusions(found: Comparison) -> list[str]:
    """The headline, then a sentence for each system that needs one, then their limits."""
    reached = standings(found)
    told = [_told(each, found) for each in reached]
    headline = found.headline or _headline(reached, told, found.winner)
    # What holds for every system is said once in the headline, and doubts come after all other sentences.
    once = f": cannot tell, {reached[0].row.note}." if headline.startswith("No winner on") else ""
    others = [
        said
        for each, said in zip(reached, told, strict=True)
        if said
        and said not in headline
        and not (once and said.endswith(once))
        and found.doubts.keys().isdisjoint((each.row.system, each.row.baseline))
    ]
    return [headline, *others, *limits(found)]


def _headline(reached: Sequence[Standing], told: Sequence[str], winner: str | None) -> str:
    row = reached[0].row
    for each, said in zip(reached, told, strict=True):
        if each.row.system == winner:
            return said
    if len(reached) == 1 and (reached[0].gains or reached[0].losses or row.verdict == "equivalent"):
        return told[0]
    if all(each.row.verdict == "worse" and not each.gains for each in reached):
        return f"All others are worse than {row.baseline} on {row.measure}."
    if row.note and all(each.row.note == row.note for each in reached):
        return f"No winner on {row.measure}: {row.note}."
    return f"No winner: no system is shown to beat {row.baseline} on {row.measure}."


def _told(standing: Standing, found: Comparison) -> str:
    row = standing.row
    name, base, verdict = row.system, row.baseline, row.verdict
    if standing.gains and standing.losses:
        return f"Mixed: {name} gains {_where(standing.gains)}, but loses {_where(standing.losses)}, against {base}."
    if verdict in ("better", "worse"):
        by = f"{name} is {verdict} than {base} on {row.measure}, by {signed_number(row.difference)}."
        return by + _tiny(row, found)
    for verb, proven in (("loses", standing.losses), ("gains", standing.gains)):
        if proven:
            return f"{name} {verb} {_where(proven)} against {base}. {_open(row, found, proven=True)}"
    return _open(row, found)


def _where(rows: Iterable[ComparisonRow]) -> str:
    """What was proven: the measure, the group, the size and the p-value."""

    def named(each: ComparisonRow) -> str:
        place = f"{each.measure}{' in ' + each.slice if each.slice else ''}"
        return f"{place} {signed_number(each.difference)} (p {probability(each.p_corrected)})"

    return f"on {first_of(list(rows), NAMED, named)}"


def _open(row: ComparisonRow, found: Comparison, proven: bool = False) -> str:
    """Why the deciding measure has no verdict, and what would give one; `proven`: where another row has one."""
    name, base, measure = row.system, row.baseline, row.measure
    pair = f"{name} and {base}"
    if row.verdict == "equivalent":
        return f"{pair} are equivalent on {measure} within {found.margin:g}."
    if row.mean is not None and not row.wins and not row.losses and not row.note:
        alone = "" if proven else ": there is nothing to tell apart"
        every = "every query" if row.n >= found.queries else f"the {row.n:,} queries that count"
        return f"{pair} have the same value on {every}{' by ' + measure if proven else ''}{alone}."
    if proven:
        return f"By {measure} over all {row.n:,} queries, {signed_number(row.difference)}, nothing is decided."
    if row.note:
        return f"{name} against {base}: cannot tell, {row.note}."
    seen = f"this one is {signed_number(row.difference)}"
    shown = (
        f" {count(row.n, 'query shows', 'queries show')} differences of {score(row.detectable)} and more; {seen}"
        if row.detectable is not None
        else f" Over {count(row.n, 'query')} {seen}"
    )
    return f"{name} against {base}: cannot tell yet.{shown}{_settling(row, found)}."


def _settling(row: ComparisonRow, found: Comparison) -> str:
    """How many queries would decide it; unanswered queries come first."""
    if any(name in found.data and found.data[name]["unanswered"] for name in (row.system, row.baseline)):
        return "; answer the queries that were left out first"
    needed = row.queries_needed
    if needed is None:
        return f"; {row.needed_note}" if row.needed_note else ""
    return f"; about {count(needed, 'query')} would show a true one of this size"


def _tiny(row: ComparisonRow, found: Comparison) -> str:
    """A remark on a significant difference that is so small that it may not matter."""
    by, mean = abs(row.difference), row.mean or 0.0
    if found.margin is not None:
        return f" That is less than the margin of {found.margin:g}." if by < found.margin else ""
    level = max(abs(mean), abs(mean - row.difference))
    if by > (min(SMALL, PART * level) if level <= 1 else SMALL * level):
        return ""
    margin = for_face("margin=0.01", "--margin 0.01")
    return f" That is tiny, though significant: a margin ({margin}) asks whether it matters."


def leader_sentence(
    leader: str, measure: str, rivals: Sequence[str], setbacks: Sequence[ComparisonRow] = (), note: str = ""
) -> str:
    """Which system leads, and whether that is more than chance; `setbacks` say where others beat it.

    >>> leader_sentence("hybrid", "nDCG@10", [])
    'hybrid is the winner: better than every other on nDCG@10, beyond chance.'
    >>> leader_sentence("hybrid", "nDCG@10", ["dense"])
    'No winner: hybrid leads on nDCG@10, and dense cannot be told from it.'
    """
    if note:
        return f"No winner: {leader} leads on {measure}, but {note}."
    lost = f"{leader} loses {_where(setbacks)} to others" if setbacks else ""
    if rivals:
        more = f"; {lost}" if lost else ""
        return f"No winner: {leader} leads on {measure}, and {list_words(rivals)} cannot be told from it{more}."
    if lost:
        return f"Mixed: {leader} is ahead of every other on {measure}, but {lost}."
    return f"{leader} is the winner: better than every other on {measure}, beyond chance."


def limits(found: Comparison) -> list[str]:
    """Unanswered queries, unjudged documents, and the verdicts that these could change."""
    return [
        *doubt_notes(found),
        *unanswered_notes(found.data),
        *unjudged_notes(found.data),
        *turned_notes(found.rows, found.data),
        *margin_notes(found.rows, found.margin),
    ]


def doubt_notes(found: Comparison) -> Iterator[str]:
    """The systems about which nothing is decided, and why, unless the headline says it of all."""
    why = list(found.doubts.items())
    notes = {each.row.note for each in standings(found)} if why else set()
    if why and (len(notes) > 1 or not all(each in note for _, each in why for note in notes)):
        names = first_of([name for name, _ in why], NAMED)
        reasons = first_of([each for _, each in why], NAMED, str, "; ")
        yield f"Nothing is decided about {names}: {reasons}."


def unanswered_notes(data: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """How many judged queries each system left unanswered."""
    some = {name: each for name, each in data.items() if each["unanswered"]}
    if some:
        worst = sorted(some, key=lambda name: -some[name]["unanswered"])[:LISTED]
        told = ", ".join(
            f"{name} {each['unanswered']:,} of {count(each['queries'], 'query')}"
            for name, each in some.items()
            if name in worst
        )
        more = len(some) - len(worst)
        told += f", and fewer or as many in {count(more, 'more system')}" if more else ""
        taken = "left out of the means" if some[worst[0]]["skipped"] else "each counts as nothing found"
        yield f"Unanswered ({taken}): {told}."


def unjudged_notes(data: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The shares of documents nobody judged, if they are large or far apart."""
    shares = {name: each["unjudged"] for name, each in data.items() if each["unjudged"] is not None}
    if shares and (max(shares.values()) >= OPEN or max(shares.values()) - min(shares.values()) >= APART):
        depth = max(each["depth"] for each in data.values())
        told = ", ".join(f"{name} {share(part)}" for name, part in shares.items())
        if len(shares) > LISTED:
            least, most = min(shares, key=shares.__getitem__), max(shares, key=shares.__getitem__)
            told = f"{share(shares[least])} ({least}) to {share(shares[most])} ({most}) over {len(shares)} systems"
        yield f"Nobody judged, of the first {count(depth, 'document')}: {told}."


def turned_notes(rows: Iterable[ComparisonRow], data: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Verdicts that would change if the unjudged documents were relevant."""
    for row in rows:
        proven = row.verdict in ("better", "worse") and not row.slice
        if not proven or not {row.system, row.baseline} <= data.keys():
            continue
        mine, theirs = (data[name]["ends"].get(row.measure) for name in (row.system, row.baseline))
        if mine is None or theirs is None:
            continue
        then = mine[1] - theirs[1]
        if then * row.difference <= 0:
            yield (
                f"Unjudged documents could change this: if those documents were relevant, the difference of "
                f"{row.system} on {row.measure} would be {signed_number(then)}, not {signed_number(row.difference)}."
            )


def margin_notes(rows: Iterable[ComparisonRow], margin: float | None) -> Iterator[str]:
    """Which rows are not called equivalent although their interval lies within the margin, a sentence a reason."""
    for reason, same in by_key((row.margin_note, row) for row in rows if row.margin_note).items():
        named = first_of(same, NAMED, lambda x: f"{x.system} on {x.measure}{' in ' + x.slice if x.slice else ''}")
        yield not_equivalent(named, margin, reason)


def not_equivalent(named: str, margin: float | None, reason: str) -> str:
    """Why differences are not called equivalent although their intervals lie within the margin."""
    return (
        f"Not called equivalent, although the interval lies within {margin:g}: {named}. To be called so takes more "
        f"than an interval: {reason}."
    )


def serious_findings(scores: Mapping[str, ScoresLike]) -> list[tuple[Finding, list[str]]]:
    """Each serious finding once, with the systems it is about.

    A judge of the model that ranked goes first, then queries without an answer.
    """
    about = by_key((finding, name) for name, each in scores.items() for finding in each.audit.serious)
    return sorted(about.items(), key=lambda x: (x[0].kind != "judge-kin", x[0].kind not in UNANSWERED))


def told_of(findings: Sequence[tuple[Finding, list[str]]], severity: str) -> list[str]:
    """The findings of a severity in words, each behind the first of the systems that it is about."""
    return [f"{first_of(cut_apart(on, 30), NAMED)}: {each}" for each, on in findings if each.severity == severity]


def corrected_table(rows: Sequence[ComparisonRow] | Sequence[GateRow]) -> list[Block]:
    """Raw and corrected differences side by side; nothing if none was corrected."""
    told = [each for each in rows if each.corrected is not None and each.difference is not None]
    if not told:
        return []
    ends = [(each.corrected_low, each.corrected_high) for each in told]
    systems = [name for each in told if (name := getattr(each, "system", None))]
    columns = [
        Column("measure", [f"{x.measure} ({x.slice})" if x.slice else x.measure for x in told], most=40),
        *([Column("system", systems, most=20)] if systems else []),
        Column("by the judge", [signed_number(each.difference) for each in told], True),
        Column("corrected", [signed_number(each.corrected) for each in told], True),
        Column("interval with\nthe judge's error", [signed_span(*each) for each in ends], True),
    ]
    return [Table(columns, "Differences with the judge's error taken out (PPI++):")]


ALLOWED = 0.07
"""The share of the judged queries that a system may leave unanswered by default."""


def too_few_answers(scores: Mapping[str, ScoresLike], allowed: float) -> dict[str, str]:
    """For each system that left too many of the judged queries unanswered, how many it answered, in words."""
    return too_many_missing({name: (count_unanswered(e), len(e.queries)) for name, e in scores.items()}, allowed)


def too_many_missing(missing: Mapping[str, tuple[int, int]], allowed: float) -> dict[str, str]:
    """The same, of how many queries each system left unanswered, and of how many."""
    check_number("allow_missing", allowed, least=0, most=1, noun="share", advice="give a share, like 0.1")
    # As a share, as people count it: 29 of 100 is .29, where .29 * 100 is less than 29.
    return {
        name: few_answers(name, queries - left, queries, 1 - allowed)
        for name, (left, queries) in missing.items()
        if queries and left / queries > allowed
    }


def few_answers(name: str, answered: int, queries: int, least: float) -> str:
    """How many queries a system answered, and how many it must.

    >>> print(few_answers("new", 50, 54, 0.93))
    new answered 50 of 54 queries, and 51 (93 %) must be
    """
    must = f"{math.ceil(round(least * queries, 9)):,} ({share(least)}) must be"
    return f"{name} answered {answered:,} of {count(queries, 'query')}, and {must}"


BROKEN = "the audit finds errors in the data of"
"""The reason for deciding nothing between two systems whose numbers are wrong; their names follow."""


def both_broken(wrong: Mapping[str, Sequence[str]], first: str, allow_errors: bool) -> dict[str, str]:
    """Why nothing is decided about systems whose numbers are as wrong as the baseline's: neither says anything."""
    if allow_errors or not wrong[first]:
        return {}
    others = (name for name, errors in wrong.items() if name != first and errors)
    return {name: f"{BROKEN} {first} and of {name}" for name in others}


def answer_first(said: str) -> str:
    """What to do about a system that left too many queries unanswered."""
    return f"{said}. Next: answer the others, or allow so many ({for_face('allow_missing=', '--allow-missing')})."
