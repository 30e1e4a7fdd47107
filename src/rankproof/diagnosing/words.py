"""A diagnosis as text: how good, what to fix first, which kinds of queries fail, which ones and why."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from rankproof.comparing.words import probability, signed, span
from rankproof.core.audit import Finding
from rankproof.diagnosing.fixes import Fix
from rankproof.diagnosing.modes import Diagnosed, Failure, Served
from rankproof.document.numbers import ABSENT, count, score, share, short_span
from rankproof.document.terminal import (
    ALWAYS,
    WARNING,
    Column,
    Part,
    cut,
    fitted,
    in_shell,
    page_width,
    table,
    wrap,
)
from rankproof.scoring.markdown import escape
from rankproof.scoring.markdown import table as markdown_table
from rankproof.scoring.tables import DISTRUST, finding_lines, sentence

Table = tuple[Sequence[str], Sequence[Sequence[str]]]
"""Headings and rows: plain text in every cell."""

ALSO = "Also tried"
TRUST = "Before you trust these numbers"


# --- words and tables that all formats share --------------------------------------------------------


def opening(found: Diagnosed) -> str:
    """The number, and what it is of."""
    without = f", {found.unanswerable} of them without a relevant document" if found.unanswerable else ""
    return (
        f"{found.measure} is {score(found.mean)} {short_span(found.low, found.high)} of a possible "
        f"{score(found.ceiling)}, over {count(found.judged, 'query', 'queries')}{without}."
    )


def lost(found: Diagnosed) -> str:
    """Where it is lost: by retrieval or by ranking."""
    if found.never_found is None or found.ranked_too_low is None:
        return ""
    return (
        f"Of {found.measure}, {score(found.never_found)} is lost as documents are never found, "
        f"{score(found.ranked_too_low)} as they are ranked too low."
    )


def bands(found: Diagnosed) -> Table:
    """Each measure with its ceiling, and what its share of the ceiling is called."""
    rows = [
        (
            each.measure,
            score(each.value),
            short_span(each.low, each.high),
            score(each.ceiling),
            ABSENT if each.share is None else share(each.share),
            f"{each.word} ({each.said})" if each.said else each.word or ABSENT,
        )
        for each in found.bands
    ]
    return ("measure", "value", "interval", "ceiling", "of it", "band"), rows


def patterns(found: Diagnosed) -> Table:
    """Each kind of query against all others."""
    rows = [
        (
            each.kind,
            count(each.n),
            score(each.mean),
            score(each.mean_of_others),
            span(each.low, each.high),
            ABSENT if each.p is None else probability(each.p),
            each.said,
        )
        for each in found.patterns
    ]
    return ("queries", "n", "mean", "others", "difference", "p", "verdict"), rows


def others(found: Diagnosed) -> Table:
    """The other changes that were tried, and whether they help beyond chance."""
    rows = [
        (each.title, each.measure, _gain(each), span(each.low, each.high), each.verdict)
        for each in found.fixes
        if each not in found.first and each not in found.most
    ]
    return ("change", "measure", "gain", "interval", "verdict"), rows


def _gain(fix: Fix) -> str:
    return f"{'at most ' if fix.most else ''}{signed(fix.gain)}"


def gain_of(fix: Fix) -> str:
    """What a change brings."""
    return f"{fix.measure} {_gain(fix)} {span(fix.low, fix.high)}"


def evidence_of(fix: Fix) -> str:
    """How the gain was measured."""
    won = f"{count(fix.wins, 'query', 'queries')} better, {fix.losses:,} worse"
    return f"Measured: {fix.how}; from {score(fix.before)} to {score(fix.after)}, {won}."


def method(found: Diagnosed) -> str:
    """How gains and kinds of queries were decided."""
    said = []
    if found.fixes:
        tried = count(len(found.fixes), "change")
        said.append(
            f"Intervals of gains hold for all {tried} tried at once; none that includes 0 is claimed."
        )
    if found.patterns:
        said.append(
            "Kinds of queries: p by random regrouping, corrected over all kinds (holm); difference to the others "
            "with its 95 % interval; a kind with fewer than 10 queries, or fewer than 10 others beside it, is not "
            "decided."
        )
    return " ".join(said)


def order(found: Diagnosed) -> str:
    """Where one begins with a weak retriever."""
    return (
        f"Where to begin with a weak retriever: {', then '.join(found.fix_order)}." if found.fix_order else ""
    )


def foot(found: Diagnosed) -> list[str]:
    """What is said under everything."""
    return [each for each in (*most(found), order(found), method(found), *found.notes) if each]


def failure(found: Failure) -> str:
    """A failure mode with its evidence and what helps."""
    return f"{found.name.capitalize()}: {found.evidence} Next: {'; '.join(found.remedies)}."


def serious(found: Finding) -> str:
    """A finding of the audit with how serious it is."""
    return f"{found.severity}: {sentence(found)}"


def errors(found: Diagnosed) -> list[str]:
    """What makes the numbers wrong, which stands above them."""
    return [sentence(each) for each in found.findings if each.severity == "error"]


def _wrong(found: Diagnosed) -> list[str]:
    return [line for each in errors(found) for line in (*wrap(f"{DISTRUST} {each}"), "")]


def headline(query: Served) -> str:
    """The query with its value and its text."""
    asked = f"  {query.text}" if query.text else ""
    return f"{query.query}  {score(query.value)}{asked}"


# --- table ------------------------------------------------------------------------------------------


def screen(found: Diagnosed, worst: int | None = None) -> str:
    """The diagnosis on one screen: the number, what to fix first, the worst queries with their first cause."""
    wrong = [line for each in found.findings if each.severity == "error" for line in finding_lines(each)]
    odd = [finding_lines(each) for each in found.findings if each.severity != "error"]
    bad = [each for each in found.patterns if each.said == "worse"]
    kinds = ", ".join(
        f"{each.kind} ({score(each.mean)}, others {score(each.mean_of_others)})" for each in bad
    )
    first, *rest = odd or [[]]
    parts = [
        Part([DISTRUST, *wrong, ""] if wrong else []),
        Part(wrap(opening(found))),
        *(Part(["", *wrap(each)]) for each in hole(found)),
        *(Part(wrap(each), MAYBE, "the regime") for each in regime(found) if each not in hole(found)),
        Part(["", *_columns(bands(found), right=(1, 2, 3, 4))], SELDOM, "bands"),
        Part(["", "Fix this first", *_briefly(found)]),
        Part([line for each in most(found) for line in wrap(each.partition(", with ")[0])], LIKELY, "bounds"),
        Part(["", *wrap(f"Worse than other queries: {kinds}.")] if bad else [], LIKELY, "kinds of queries"),
        *_worst_parts(found, FEW if worst is None else worst),
        Part(["", *first] if first else [], LIKELY if wrong else ALWAYS, WARNING),
        *(Part(each, FURTHER, WARNING) for each in rest),
    ]
    return "\n".join(fitted(parts, more=["evidence, all causes"])) + "\n"


LIKELY, MAYBE, FURTHER, SELDOM = 1, 2, 3, 4
FEW = 3
"""Queries that one screen lists where nobody asked for more."""


def _briefly(found: Diagnosed) -> list[str]:
    """What to fix first, a line or two each."""
    if not found.first:
        return _first(found)
    titles = [f"{each.title}: {gain_of(each)}" for each in found.first]
    return [line for n, each in enumerate(titles, 1) for line in wrap(each, first=f"  {n}. ", later=" " * 5)]


def _worst_parts(found: Diagnosed, few: int) -> list[Part]:
    """The queries served worst, the first causes of each in a line."""
    if not found.worst or not few:
        return []
    shown = found.worst[:few]
    left = f"; --worst {len(found.worst)} lists more" if len(found.worst) > len(shown) and in_shell() else ""
    lines = wrap(f"The {count(len(shown), 'query', 'queries')} served worst{left}")
    for each in shown:
        lines.append("  " + cut(headline(each), page_width() - 2))
        lines += [_begun(f"{cause}", "    - ") for cause in each.causes[:1]]
    return [Part(["", *lines])]


def _begun(text: str, first: str) -> str:
    """The first line of a text, and whether there is more."""
    lines = wrap(text, page_width() - 4, first=first, later="      ")
    return lines[0] + (" ..." if len(lines) > 1 else "")


def text(found: Diagnosed) -> str:
    """The diagnosis with everything known of it."""
    lines = [*_wrong(found), *wrap(opening(found)), "", *_columns(bands(found), right=(1, 2, 3, 4)), ""]
    lines += [line for each in regime(found) for line in wrap(each)]
    for heading, body in _parts(found):
        lines += ["", heading, *body]
    return (
        "\n".join(
            [*lines, *(["", *(line for each in foot(found) for line in wrap(each))] if foot(found) else [])]
        )
        + "\n"
    )


def brief(found: Diagnosed) -> str:
    """The diagnosis on one screen: the number, what to fix first, the worst queries."""
    lines = [*_wrong(found), *wrap(opening(found)), *(line for each in regime(found) for line in wrap(each))]
    lines += ["", "Fix this first", *_first(found)]
    lines += ["", f"The {count(len(found.worst), 'query', 'queries')} served worst", *_worst(found)]
    return "\n".join(lines) + "\n"


def hole(found: Diagnosed) -> list[str]:
    """The documents that no question returns, which come before all advice."""
    return [] if found.hole is None else [found.hole.said]


def most(found: Diagnosed) -> list[str]:
    """What a perfect change could bring, which is a bound and no gain."""
    return [
        f"At the most: {fix.title.lower()}, {gain_of(fix)}, with {fix.how}. This is a bound, not a measured gain."
        for fix in found.most
    ]


def regime(found: Diagnosed) -> Iterator[str]:
    """The regime with what it feels like, and where the measure is lost."""
    yield from hole(found)
    if found.regime is not None:
        name = found.regime.name.capitalize()
        yield f"{name}, each of what was possible. {found.regime.feels} Next: {found.regime.do}"
    if said := lost(found):
        yield said


def _parts(found: Diagnosed) -> Iterator[tuple[str, list[str]]]:
    yield "Fix this first", _first(found)
    if others(found)[1]:
        yield ALSO, ["", *_columns(others(found), right=(2, 3))]
    if found.failures:
        yield "What goes wrong", _failures(found)
    if found.patterns:
        yield (
            "Which kinds of queries fail",
            ["", *_columns(patterns(found), right=(1, 2, 3, 4, 5))],
        )
    if found.worst:
        yield f"The {count(len(found.worst), 'query', 'queries')} served worst", _worst(found)
    if found.findings:
        yield TRUST, [x for each in found.findings for x in finding_lines(each)]


def _first(found: Diagnosed) -> list[str]:
    if not found.first:
        return wrap("Nothing that was tried is sure to help.", first="  ")
    lines: list[str] = []
    for number, each in enumerate(found.first, start=1):
        lines += wrap(f"{each.title}: {gain_of(each)}", first=f"  {number}. ", later="     ")
        lines += wrap(evidence_of(each), first="     ")
        lines += wrap(f"Next: {each.do}.", first="     ")
    return lines


def _failures(found: Diagnosed) -> list[str]:
    return [line for each in found.failures for line in wrap(failure(each), first="  ", later="    ")]


def _worst(found: Diagnosed) -> list[str]:
    lines: list[str] = []
    for each in found.worst:
        lines.append("  " + cut(headline(each), 78))
        for cause in each.causes:
            lines += wrap(str(cause), first="    - ", later="      ")
    return lines


def _columns(shown: Table, right: Sequence[int]) -> list[str]:
    headings, rows = shown
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(headings)
    return table([Column(name, list(columns[i]), i in right) for i, name in enumerate(headings)])


# --- markdown and json ------------------------------------------------------------------------------


def markdown(found: Diagnosed) -> str:
    """The diagnosis in markdown."""
    wrong = [line for each in errors(found) for line in (escape(f"{DISTRUST} {each}"), "")]
    lines = [*wrong, escape(opening(found)), "", *_table(bands(found)), ""]
    for each in regime(found):
        lines += [escape(each), ""]
    lines += ["## Fix this first", "", *_listed(_fixes(found), "1. "), ""]
    for heading, shown in ((ALSO, others(found)), ("Which kinds of queries fail", patterns(found))):
        if shown[1]:
            lines += [f"## {heading}", "", *_table(shown), ""]
    failures = [*map(failure, found.failures)]
    for heading, items in (("What goes wrong", failures), (TRUST, [*map(serious, found.findings)])):
        if items:
            lines += [f"## {heading}", "", *_listed(items), ""]
    lines += ["## Queries served worst", "", *(line for each in found.worst for line in _query(each))]
    return "\n".join([*lines, *(line for each in foot(found) for line in ("", escape(each)))]).strip() + "\n"


def _fixes(found: Diagnosed) -> list[str]:
    items = [f"{x.title}: {gain_of(x)}. {evidence_of(x)} Next: {x.do}." for x in found.first]
    return items or ["Nothing that was tried is sure to help."]


def _listed(items: Sequence[str], mark: str = "- ") -> list[str]:
    return [f"{mark}{escape(each)}" for each in items]


def _query(query: Served) -> list[str]:
    return [f"- {escape(headline(query))}", *(f"  - {escape(str(each))}" for each in query.causes)]


def _table(shown: Table) -> list[str]:
    headings, rows = shown
    return markdown_table(headings, [[escape(cell) for cell in row] for row in rows])


def as_json(found: Diagnosed) -> str:
    """The diagnosis as JSON."""
    return json.dumps(found.to_dict(), ensure_ascii=False, indent=1) + "\n"
