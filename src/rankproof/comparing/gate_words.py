"""A gate as a document: for people, for a pull request, for CI."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankproof.comparing.alignment import count_unanswered
from rankproof.comparing.conclusions import (
    BEFORE,
    corrected_table,
    few_answers,
    told_of,
    unanswered_notes,
    unjudged_notes,
)
from rankproof.core.arrays import by_key
from rankproof.document.model import (
    ALWAYS,
    LIKELY,
    PAGE,
    PAPER,
    SCREEN,
    TERMINAL,
    TEXT,
    Bullets,
    Cases,
    Document,
    FirstFit,
    Heading,
    Paragraph,
    Part,
    SuiteCase,
    Table,
    warnings_under,
)
from rankproof.document.numbers import count, first_of, probability, score, share, signed_number
from rankproof.document.terminal import clean, cut_apart

if TYPE_CHECKING:
    from rankproof.comparing.gate import Gate
    from rankproof.comparing.gate_decision import GateRow

HEADINGS = ("outcome", "measure", "n", "before", "after", "difference", "bounds", "p drop")
SAYS = {
    "pass": "No loss beyond the margin.",
    "fail": "The change makes it worse.",
    "inconclusive": "These queries cannot tell.",
    "invalid": "The data cannot be trusted.",
}
COUNTED = (*HEADINGS[:6], "lost", "mean loss")
"""The headings if the question is about exactly these queries, where chance plays no part."""
SAYS_COUNTED = {
    "pass": "Nothing was lost on these queries.",
    "within": "What was lost on these queries is within the margin.",
    "fail": "These queries lost more than the margin.",
}
ALIKE = 1e-6
"""Margins closer than this look the same to a reader."""
NAMED = 5
"""How many of the queries that lost are named; JSON has all."""
MARKS = {"pass": "✅", "fail": "❌", "inconclusive": "❔", "invalid": "⛔"}


def gate(found: Gate) -> Document:
    """The outcome first, then the evidence, a table for each group of queries."""
    told, groups = headline(found), _groups(found)
    listed = {
        group: _table(found, [replace(each, slice="") for each in rows], f"{group}:" if group else "")
        for group, rows in groups.items()
    }
    together = _table(found, [each for rows in groups.values() for each in rows])
    said, wrong = sentences(found), told_of(found.findings, "error")
    return Document(
        f"Gate: {found.outcome}",
        [
            Part(Paragraph(told), media=(*TERMINAL, PAPER)),
            Part(Heading(told, 3, mark=MARKS[found.outcome]), together, media=(PAGE,)),
            _forms(list(listed.values()), media=(TEXT,)),
            *_on_screen(found, listed),
            Part(together, media=(PAPER,)),
            Part(*corrected_table(found.rows)),
            Part(*map(Paragraph, said), media=(TEXT, PAPER)),
            Part(Bullets(said), media=(PAGE,)),
            *warnings_under(told_of(found.findings, "warning"), LIKELY if wrong else ALWAYS, heading=False),
            Part(_cases(found)),
        ],
        [each.to_dict() for each in found.rows],
        found.to_dict(),
    )


def _table(found: Gate, rows: Sequence[GateRow], caption: str = "") -> Table:
    headings = COUNTED if found.about == "these" else HEADINGS
    return Table.of(headings, [_cells(each, found.alpha) for each in rows], HEADINGS[:2], caption=caption)


def _groups(found: Gate) -> dict[str, list[GateRow]]:
    """The rows over all queries, then those of each group, as a screen may lack the last: what did not pass first."""
    groups = by_key((each.slice, each) for each in found.rows)
    gravest = ("invalid", "fail", "inconclusive", "pass")

    def place(group: str) -> tuple[bool, int]:
        outcomes = [row.outcome if row.decides else "pass" for row in groups[group]]
        return group != "", min(map(gravest.index, outcomes))

    return {group: groups[group] for group in sorted(groups, key=place)}


def _forms(tables: Sequence[Table], **settings: Any) -> FirstFit:
    """The tables; if one is too wide, each with the measure on a line of its own, so that no name is cut."""
    below = [
        each._replace(columns=[each.columns[1], each.columns[0], *each.columns[2:]], grouped=True) for each in tables
    ]
    return FirstFit([[Part(*tables, **settings)], [Part(*below, **settings)]])


def _on_screen(found: Gate, listed: Mapping[str, Table]) -> Iterator[Part | FirstFit]:
    """The rows over all queries, doubts about the data, why rows did not pass, and the groups by outcome."""
    here = (SCREEN,)
    if "" in listed:
        yield _forms([listed[""]], media=here)
    fallen = by_key((each.outcome, each.slice) for each in found.rows if each.slice and each.outcome != "pass")
    for outcome, slices in sorted(fallen.items(), key=lambda pair: list(SAYS).index(pair[0])):
        groups = list(dict.fromkeys(slices))
        named = first_of(cut_apart(groups, 30), NAMED)
        yield Part(Paragraph(f"{outcome.capitalize()} in {count(len(groups), 'group')}: {named}."), media=here)
    for group, table in listed.items():
        if group:
            yield _forms([table], rank=2, name="group", media=here)
    reasons = sentences(found)
    kept = {*(found.notes or reasons)[:1], *[each for each in reasons if each.startswith(BEFORE)][:1]}
    for reason in reasons:
        yield Part(Paragraph(reason), rank=ALWAYS if reason in kept else 1, name="reasons", media=here)


def _cases(found: Gate) -> Cases:
    """A case a row; what is inconclusive is skipped unless the gate is strict."""
    results = {"pass": "passed", "fail": "failure", "invalid": "error"}
    cases = [
        SuiteCase(
            _label(each),
            f"gate.{each.check}",
            results.get(each.outcome, "failure" if found.strict and each.decides else "skipped"),
            sentence_of(each, found),
        )
        for each in found.rows
    ]
    said = [headline(found), *notes(found), *told_of(found.findings, "warning")]
    return Cases("rankproof gate", cases, "\n".join(said))


def headline(found: Gate) -> str:
    """The outcome in a line, and over how many queries."""
    return f"{found.outcome.upper()}: {_reason(found)} {count(found.n, 'query')}."


def _reason(found: Gate) -> str:
    if found.outcome == "invalid":
        return f"{'; '.join(_broken(each) for each in found.rows if each.outcome == 'invalid')}."
    failed = {each.check for each in found.rows if each.outcome == "fail" and each.decides}
    if found.outcome == "fail" and not failed:
        return "not every row could be decided, and the gate is strict."
    if failed == {"floor"}:
        return "a floor is not reached."
    if found.outcome == "inconclusive" and any(x.check == "coverage" and x.outcome != "pass" for x in found.rows):
        return "too little is judged to decide anything."
    says = SAYS
    if found.about == "these":
        within = found.outcome == "pass" and any(each.lost for each in found.rows)
        says = {**SAYS, **SAYS_COUNTED, "pass": SAYS_COUNTED["within" if within else "pass"]}
    rows = [each for each in found.rows if each.check == "difference" and not each.slice]
    each_own = f"margins ({first_of(rows, NAMED, lambda row: f'{_label(row)} {row.limit:g}')})"
    margin = each_own if len({each.limit for each in rows}) > 1 else f"margin of {rows[0].limit:g}"
    return says[found.outcome].replace("margin", margin)


def sentences(found: Gate) -> list[str]:
    """Why rows failed or could not tell, what limits the others, and how the gate decides."""
    told = ("pass", "invalid") if found.outcome == "invalid" else ("pass",)  # then the headline says what is invalid
    said = [
        sentence_of(each, found)
        for rows in _groups(found).values()
        for each in rows
        if each.outcome not in told or each.lost or (_is_unmoved(each) and not each.slice)
    ]
    if found.about == "these":
        return [
            *said,
            *notes(found),
            "The question is about exactly these queries: mean loss adds up what was lost, over all queries, and no "
            "gain makes up for it. Nothing is said about other queries.",
        ]
    # The queries that made a measure fail; where none failed, those that keep the first one open.
    lost = [each for each in found.rows if each.lost and not each.slice]
    failed = [each for each in lost if each.outcome == "fail"]
    return [
        *said,
        *(f"{_label(each)} lost most on {_worst_losses(each)}." for each in failed or lost[:1]),
        *notes(found),
        f"Bounds are one-sided at {share(1 - found.alpha)}; p drop is how often chance alone gives a drop as "
        "large, corrected over all rows (Holm).",
    ]


def _too_few(found: Gate) -> Iterator[str]:
    """The margins that so few queries cannot pass if few of them change; said once for all rows that share one.

    How many queries the margin takes is said once: by what was seen, in the sentence of a row, if that can be
    planned by, else by queries without a loss. Measures are named where as many queries have other margins too.
    """
    alike = by_key(
        ((row.n, row.smallest_margin, row.limit, row.queries_for_margin), row)
        for row in found.rows
        if row.smallest_margin is not None
    )
    sizes = Counter(n for n, *_ in alike)
    for key, rows in alike.items():
        if short := list(filter(_is_short, rows)):
            names = list(dict.fromkeys(_label(replace(each, slice="")) for each in short))
            of = f" of {first_of(names, NAMED)}" if sizes[key[0]] > 1 else ""
            yield smallest_margin_sentence(*key, planned=any(each.more is not None for each in short), of=of)


def smallest_margin_sentence(
    n: int, least: float, margin: float, needed: int | None, planned: bool = False, of: str = ""
) -> str:
    """What margin so many queries can pass if few of them change, and how many another one takes.

    If it is `planned` by what was seen how many that margin takes, no other number of queries is named.

    >>> print(smallest_margin_sentence(50, 0.0582, 0.01, 299))
    With 50 queries, none of which changes, the smallest margin that passes is 0.0582; 299 are needed for 0.01.
    """
    asked = count(n, "query")
    said = f"With {asked}, none of which changes, the smallest margin{of} that passes is {score(least)}"
    if planned:
        return f"{said}."
    if needed is None:
        return f"{said}; no number of queries is enough for {margin:g}."
    return f"{said}; {needed:,} are needed for {margin:g}."


def _is_short(row: GateRow) -> bool:
    """Whether a row is inconclusive, and its margin too small for so few queries unless most of them change."""
    least = row.smallest_margin
    return row.outcome == "inconclusive" and not row.note and least is not None and row.limit <= least


def _is_unmoved(row: GateRow) -> bool:
    """Whether no query changed: the row passes at the margin that it then has."""
    return not row.difference and abs((row.passes_at or math.inf) - (row.smallest_margin or 0.0)) < ALIKE


def notes(found: Gate) -> list[str]:
    """Sure losses, the notes beside the rows, unanswered queries, unjudged documents and what they could change, and
    margins too small for so few queries.
    """
    data = found.data
    sure = (
        f"{_label(each)}: {signed_number(each.difference)} is a sure loss (p drop {probability(each.p, found.alpha)}) "
        f"within the margin of {each.limit:g}; several of these add up, which an anchor shows."
        for each in found.rows
        if each.outcome == "pass" and each.p is not None and each.p <= found.alpha
    )
    turned = (
        _turned(each, data)
        for each in found.rows
        if each.check == "difference" and not each.slice and each.loss is None
    )
    told = [*sure, *found.notes, *unanswered_notes(data), *unjudged_notes(data)]
    return [*told, *filter(None, turned), *_too_few(found)]


def _turned(row: GateRow, data: Mapping[str, Mapping[str, Any]]) -> str:
    """A decision that would change if the unjudged documents were relevant."""
    before, after = (data[s]["ends"].get(row.measure) for s in (row.against or "baseline", "candidate"))
    if before is None or after is None or row.outcome not in ("pass", "fail"):
        return ""
    then = after[1] - before[1]
    gain = then if data["candidate"]["higher"].get(row.measure, True) else -then
    if (row.outcome == "pass") == (gain >= -row.limit):
        return ""
    return (
        f"Unjudged documents could change this {row.outcome}: if those documents were relevant, {_label(row)} would "
        f"change by {signed_number(then)}, not {signed_number(row.difference)}."
    )


def _broken(row: GateRow) -> str:
    if row.check == "audit":
        return f"{row.note} ({row.measure[:1].lower()}{row.measure[1:]}: {row.candidate:.0f})"
    side = (row.against or "the baseline") if row.candidate is None else "the candidate"
    answered = (row.baseline if row.candidate is None else row.candidate) or 0.0
    return few_answers(side, round(answered * row.n), row.n, row.limit)


def sentence_of(row: GateRow, found: Gate) -> str:
    """One row in words."""
    what = _label(row)
    if row.outcome == "invalid":
        return f"{what}: {_broken(row)}."
    if row.check == "floor":
        higher = found.data["candidate"]["higher"].get(row.measure, True)
        held = f"{row.limit:g} must be reached" if higher else f"at most {row.limit:g} is allowed"
        level = "too few samples could be measured for a mean" if row.candidate is None else score(row.candidate)
        if row.candidate is not None and row.corrected is not None:
            level = f"{score(row.corrected)} (by the judge alone {level})"
        return f"{what}: {level}, and {held}."
    if row.check == "coverage":
        return f"{what}: {share(row.candidate)} judged, and {share(row.limit)} is asked for."
    if row.loss is not None and row.outcome != "inconclusive":
        return f"{what}: {_counted(row)}."
    over = f"{signed_number(row.difference)} over {count(row.n, 'query')}"
    over = f"the same value on each of {count(row.n, 'query')}" if _is_unmoved(row) else over
    if row.outcome == "pass":
        return f"{what}: {over}, a loss of {row.limit:g} is ruled out."
    if row.outcome == "fail":
        return f"{what}: {over}, beyond the margin of {row.limit:g}."
    if row.p is not None and row.p <= found.alpha and not row.note:
        sure = f"{over} is a loss (p drop {probability(row.p, found.alpha)})"
        return f"{what}: {sure}; whether it is beyond {row.limit:g} is open."
    return f"{what}: {over}, cannot tell{_missing(row, found)}."


def _counted(row: GateRow) -> str:
    """What was lost on exactly these queries, the worst of them by name."""
    over = count(row.n, "query")
    if not row.lost:
        return f"none of {over} lost anything"
    place = "within" if row.outcome == "pass" else "beyond"
    return (
        f"{len(row.lost):,} of {over} lost, {score(row.loss)} on average over all, {place} the margin of "
        f"{row.limit:g}: {_worst_losses(row)}"
    )


def _worst_losses(row: GateRow) -> str:
    worst = [f"{clean(query)} ({signed_number(value)})" for query, value in list(row.lost.items())[:NAMED]]
    more = len(row.lost) - len(worst)
    return ", ".join([*worst, *([f"{more:,} more (JSON names all)"] if more else [])])


def _missing(row: GateRow, found: Gate) -> str:
    """What is missing for a decision: answers, else the queries that would let a change without any effect pass."""
    if row.note:
        return f": {row.note}"
    said = ""
    if row.detectable is not None:
        said += f": these show losses of {score(row.detectable)} and more"
    if _is_short(row) and _is_unmoved(row):
        return said  # The note about the margin says the same.
    left = [each["unanswered"] for each in found.data.values()]
    if row.slice:
        left = [count_unanswered(each.slices[row.slice]) for each in (found.baseline, found.candidate) if each]
    if any(left):
        return f"{said}. Answer the queries that were left out first"
    if row.more is not None:
        needed = count(row.n + row.more, "query")
        said += f". If the true change were 0, about {needed} would let it pass at this margin"
    elif row.more_note and not _is_short(row):
        said += f". How many queries this margin takes is not known ({row.more_note})"
    if row.passes_at is not None:
        said += f". As these changed, they pass at a margin of {score(row.passes_at)}"
    return said


def _label(row: GateRow) -> str:
    against = f" {'by' if row.check == 'answers' else 'against'} {row.against}" if row.against else ""
    return f"{row.measure} ({row.slice})" if row.slice else f"{row.measure}{against}"


def _cells(row: GateRow, alpha: float) -> tuple[str, ...]:
    if row.check != "difference":
        before, after = ("" if mean is None else score(mean) for mean in (row.baseline, row.candidate))
        after = after or ("" if before else score(None))
        limit = f"{row.check} {row.limit:g}"
        return (row.outcome, _label(row), f"{row.n:,}", before, after, "", limit, "")
    bounds = "" if row.low is None or row.high is None else f"{signed_number(row.low)} {signed_number(row.high)}"
    last = (bounds, probability(row.p, alpha)) if row.loss is None else (f"{len(row.lost):,}", score(row.loss))
    before, after = score(row.baseline), score(row.candidate)
    return (row.outcome, _label(row), f"{row.n:,}", before, after, signed_number(row.difference), *last)
