"""A diagnosis as a document: how good, what to fix first, which kinds of queries fail, which ones and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from rankproof.core.names import parse
from rankproof.diagnosing.fixes import Fix
from rankproof.document.model import (
    ALWAYS,
    FURTHER,
    LIKELY,
    MAYBE,
    PAGE,
    PAPER,
    SCREEN,
    SELDOM,
    TEXT,
    WARNING,
    Block,
    Bullets,
    Document,
    Heading,
    ListItem,
    Paragraph,
    Part,
    Table,
)
from rankproof.document.numbers import ABSENT, count, probability, score, share, short_span, signed_number, signed_span
from rankproof.document.terminal import in_shell
from rankproof.scoring.words import wrong_data

if TYPE_CHECKING:
    from rankproof.diagnosing import Diagnosis

FEW = 3
WHOLE = (TEXT, PAGE)
"""The media that show everything."""


def diagnosis(found: Diagnosis, worst: int | None = None) -> Document:
    """The number, what to fix first, the worst queries; a screen lists `worst` of them, by default three."""
    records = [
        {
            "measure": found.measure,
            "query": each.query,
            "text": each.text,
            "value": each.value,
            "ceiling": each.ceiling,
            "why": ", ".join(each.why),
        }
        for each in found.served.values()
    ]
    parts = [_errors(found), Part(Paragraph(opening_sentence(found))), *_screen(found, worst), *_everything(found)]
    return Document(f"Diagnosis of {found.measure}", parts, records, found.to_dict(), 1)


def opening_sentence(found: Diagnosis) -> str:
    """The mean with its interval, and the number of queries."""
    without = f", {found.unanswerable:,} of them without a relevant document" if found.unanswerable else ""
    best = "of a possible" if parse(found.measure).spec.higher else "where the best possible is"
    interval = "" if found.low is None else f" {short_span(found.low, found.high)}"
    return (
        f"{found.measure} is {score(found.mean)}{interval} {best} "
        f"{score(found.ceiling)}, over {count(found.judged, 'query')}{without}."
    )


def _errors(found: Diagnosis) -> Part:
    """Errors that make the numbers wrong, shown above them."""
    return wrong_data([str(each) for each in found.findings if each.severity == "error"])


def _screen(found: Diagnosis, worst: int | None) -> Iterator[Part]:
    here = (SCREEN,)
    told = regime(found)
    if found.hole is not None:
        yield Part(Paragraph(""), Paragraph(told.pop(0)), media=here)
    yield from (Part(Paragraph(each), rank=MAYBE, name="the regime", media=here) for each in told)
    yield Part(_bands(found), rank=SELDOM, name="bands", media=here)
    titles = [f"{each.title}: {gain_of(each)}" for each in found.first]
    first = [Heading("Fix this first"), *_data_first(found), Bullets(titles, numbered=True)]
    first = first if titles else _first(found)
    yield Part(*first, media=here)
    bounds = [Paragraph(each.partition(", with ")[0]) for each in _most(found)]
    yield Part(*bounds, rank=LIKELY, name="bounds", media=here)
    kinds = ", ".join(
        f"{each.kind} ({score(each.mean)}, others {score(each.mean_of_others)})"
        for each in found.patterns
        if each.verdict == "worse"
    )
    if kinds:
        fail = Paragraph(""), Paragraph(f"Worse than other queries: {kinds}.")
        yield Part(*fail, rank=LIKELY, name="kinds of queries", media=here)
    few = FEW - (len(titles) >= FEW)  # a screen has room for these
    yield Part(*_worst(found, few if worst is None else worst, short=True), media=here)
    # The first note on the data is on the screen, unless an error is already.
    rank = LIKELY if any(each.severity == "error" for each in found.findings) else ALWAYS
    for each in found.findings:
        if each.severity != "error":
            above = [Paragraph("")] if rank != FURTHER else []
            listed = Bullets([str(each)], [each.severity])
            yield Part(*above, listed, rank=rank, name=WARNING, media=here)
            rank = FURTHER


def _everything(found: Diagnosis) -> Iterator[Part]:
    yield Part(_bands(found), media=(*WHOLE, PAPER), name="evidence, all causes")
    yield Part(*map(Paragraph, regime(found)), *_first(found), media=WHOLE)
    others = [each for each in found.fixes if each not in (*found.first, *found.most)]
    rows = [(each.title, each.measure, _gain(each), signed_span(each.low, each.high), each.verdict) for each in others]
    headings = ("change", "measure", "gain", "interval", "verdict")
    if rows:
        tried = Table.of(headings, rows, ("change", "measure", "verdict"))
        yield Part(Heading("Also tried"), tried, media=(*WHOLE, PAPER))
    failures = [
        f"{each.name.capitalize()}: {each.evidence} Next: {'; '.join(each.remedies)}." for each in found.failures
    ]
    if failures:
        yield Part(Heading("What goes wrong"), Bullets(failures), media=WHOLE)
    if found.patterns:
        yield Part(Heading("Which kinds of queries fail"), _patterns(found), media=(*WHOLE, PAPER))
    yield Part(*_worst(found), media=WHOLE)
    if found.findings:
        listed = Bullets([str(each) for each in found.findings], [each.severity for each in found.findings])
        yield Part(Heading("Before you trust these numbers"), listed, media=WHOLE)
    begin = [f"Where to begin with a weak retriever: {', then '.join(found.fix_order)}."] if found.fix_order else []
    foot = [*_most(found), *begin, *_method(found), *found.notes]
    yield Part(*map(Paragraph, ["", *foot] if foot else []), media=(*WHOLE, PAPER))


def _bands(found: Diagnosis) -> Table:
    rows = [
        (
            *(each.measure, score(each.value), short_span(each.low, each.high), score(each.ceiling)),
            ABSENT if each.share is None else share(each.share),
            f"{each.word} ({each.said})" if each.said else each.word or ABSENT,
        )
        for each in found.bands
    ]
    return Table.of(("measure", "value", "interval", "ceiling", "of it", "band"), rows, ("measure", "band"))


def _patterns(found: Diagnosis) -> Table:
    rows = [
        (
            *(each.kind, count(each.n), score(each.mean), score(each.mean_of_others)),
            *(signed_span(each.low, each.high), probability(each.p), each.verdict),
        )
        for each in found.patterns
    ]
    headings = ("queries", "n", "mean", "others", "difference", "p", "verdict")
    return Table.of(headings, rows, ("queries", "verdict"))


def regime(found: Diagnosis) -> list[str]:
    """The hole if there is one, the regime with its effect on users, and where the measure is lost."""
    told = [] if found.hole is None else [found.hole.said]
    if found.regime is not None:
        name = found.regime.name.capitalize()
        low = " (low is below good)" if "low" in (found.regime.precision, found.regime.recall) else ""
        told.append(f"{name}{low}, each of what was possible. {found.regime.feels} Next: {found.regime.do}")
    if found.never_found is not None and found.ranked_too_low is not None:
        told.append(
            f"Of {found.measure}, {score(found.never_found)} is lost as documents are never found, "
            f"{score(found.ranked_too_low)} as they are ranked too low."
        )
    return told


def _first(found: Diagnosis) -> list[Block]:
    items = []
    for fix in found.first:
        won = f"{count(fix.wins, 'query')} better, {fix.losses:,} worse"
        measured = f"Measured: {fix.how}; from {score(fix.before)} to {score(fix.after)}, {won}."
        items.append(ListItem(f"{fix.title}: {gain_of(fix)}", lines=[measured, f"Next: {fix.do}."]))
    if items:
        return [Heading("Fix this first"), *_data_first(found), Bullets(items, numbered=True)]
    told = "Nothing that was tried is sure to help."
    if found.hole is not None:
        told = "Bring back the documents that no question returns. Nothing else that was tried is sure to help."
    return [Heading("Fix this first"), *_data_first(found), Paragraph(told)]


def _data_first(found: Diagnosis) -> list[Block]:
    """If the data are wrong, other changes seem to gain what the data lost."""
    if not any(each.severity == "error" for each in found.findings):
        return []
    return [Paragraph("The data, as the error above says. Only then look at what is measured here:")]


def _most(found: Diagnosis) -> list[str]:
    """The most that a perfect change could bring, which is a bound, not a gain."""
    return [
        f"At the most: {fix.title.lower()}, {gain_of(fix)}, with {fix.how}. This is a bound, not a measured gain."
        for fix in found.most
    ]


def _gain(fix: Fix) -> str:
    return f"{'at most ' if fix.most else ''}{signed_number(fix.gain)}"


def gain_of(fix: Fix) -> str:
    """The effect of a change on the measure: if less is better, a gain lowers it."""
    if (fix.after - fix.before) * fix.gain < 0:
        low, high = (None if end is None else 0.0 - end for end in (fix.high, fix.low))
        fix = replace(fix, gain=-fix.gain, low=low, high=high)
    return f"{fix.measure} {_gain(fix)} {signed_span(fix.low, fix.high)}"


def _worst(found: Diagnosis, most: int | None = None, short: bool = False) -> list[Block]:
    """The queries served worst, each with its causes; in short the first of them in a line."""
    shown = found.worst[:most]
    if not shown:
        return []
    left = f"; --worst {len(found.worst)} lists more" if len(found.worst) > len(shown) and in_shell() else ""
    causes = 1 if short else None
    items = [
        ListItem(
            f"{each.query}  {score(each.value)}{f'  {each.text}' if each.text else ''}",
            under=[str(cause) for cause in each.causes[:causes]],
            query=str(each.query),
        )
        for each in shown
    ]
    heading = f"The {count(len(shown), 'query')} served worst{left}"
    return [Heading(heading), Bullets(items, short=short)]


def _method(found: Diagnosis) -> list[str]:
    said = []
    if found.fixes:
        tried = count(len(found.fixes), "change")
        said.append(f"Intervals of gains hold for all {tried} tried at once; none that includes 0 is claimed.")
    if any(each.claimed and not each.most for each in found.fixes):
        said.append(
            "On other queries a claimed gain is less, as luck has a part in what is claimed: count on the low end."
        )
    if found.patterns:
        said.append(
            "Kinds of queries: p by random regrouping, corrected over all kinds (holm); difference to the others with "
            "its 95 % interval; a kind with fewer than 10 queries, or fewer than 10 others beside it, is not decided."
        )
    return [" ".join(said)] if said else []
