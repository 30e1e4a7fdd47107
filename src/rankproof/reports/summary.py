"""The answer in words, what the audit says, and the definitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankproof.comparing.conclusions import conclusions, limits
from rankproof.comparing.words import method
from rankproof.document.html.charts import Bar
from rankproof.document.html.page import Markup, Section, el, ident, join, paragraphs, prose
from rankproof.document.numbers import (
    count,
    score,
    share,
)
from rankproof.reports.content import Content, Definition
from rankproof.scoring.tables import sentence

MOST = 4
"""Systems of which it is said why there is no verdict."""


def summary_section(content: Content) -> Section:
    """The verdict, what the leader reaches, and what limits it."""
    verdict, *others = summary_sentences(content)
    return Section("summary", "In words", join([paragraphs([verdict], "verdict"), paragraphs(others)]))


def summary_sentences(content: Content) -> list[str]:
    """The whole summary, the verdict first."""
    bar, higher = content.system(content.leader).bars[0], content.definitions[0].higher
    own = [_reached(content, bar), *(_lost(bar) if higher else []), *_audited(content)]
    if content.comparison is None:
        return own
    verdict, *others = conclusions(content.comparison)
    ends = limits(content.comparison)
    return [verdict, *own[:-1], *_few(others[: len(others) - len(ends)]), *ends, own[-1]]


def _few(unclear: list[str]) -> list[str]:
    left = len(unclear) - MOST
    more = (
        [f"The same goes for {count(left, 'more system', 'more systems')}; see the table."]
        if left > 0
        else []
    )
    return unclear[:MOST] + more


def size(content: Content) -> str:
    """How much was looked at, in a line."""
    parts = (
        count(content.queries, "query", "queries"),
        count(content.documents, "judged document"),
        count(len(content.systems), "system"),
        count(len(content.definitions), "measure"),
    )
    return ", ".join(parts)


def _reached(content: Content, bar: Bar) -> str:
    which = "the best" if len(content.systems) > 1 else "a"
    most = "most" if content.definitions[0].higher else "least"
    sure = f"with {share(content.level)} confidence between {score(bar.low)} and {score(bar.high)}"
    return (
        f"{content.leader} has {which} mean {bar.measure} of {score(bar.mean)}, "
        f"{sure if bar.known else 'which leaves no interval'}. "
        f"The {most} that any ranking could reach under these judgments is {score(bar.ceiling)}."
    )


def _lost(bar: Bar) -> list[str]:
    missing = bar.ceiling - bar.mean
    if bar.never_found is None or bar.ranked_too_low is None or missing <= 0:
        return []
    part = min(bar.never_found / missing, 1.0)
    return [
        f"Of the {score(missing)} missing to that, {share(part)} is due to relevant documents that were never "
        f"found, the rest to documents found and ranked too low. {_advice(part)}"
    ]


def _advice(part: float) -> str:
    """Where to look first, by the share of the loss that is due to what was never found."""
    if part > 0.6:
        return "So look at what is retrieved at all: no reranking can mend it."
    if part < 0.4:
        return "So look at the order: the documents are there, and a better reranker could use them."
    return "So look at both: what is retrieved at all, and in which order."


def _audited(content: Content) -> list[str]:
    serious = [finding for finding, _ in content.findings if finding.severity != "note"]
    if not serious:
        return ["The audit of the data found nothing that would mislead."]
    times = count(len(serious), "thing")
    return [f"The audit found {times} to know before the numbers are believed; see below."]


def audit_section(content: Content) -> Section:
    """The findings, the most serious first."""
    if not content.findings:
        return Section("audit", "Audit", el("p", "Nothing to report."))
    lead = el("p", "What is to be known about the data before the numbers are believed.")
    return Section("audit", "Audit", join([lead, *(_finding(content, *each) for each in content.findings)]))


def _finding(content: Content, finding: Any, systems: Sequence[str]) -> Markup:
    everywhere = len(systems) == len(content.systems)
    about = None if everywhere else join([*_names(systems), ": "])
    body = el("p", about, sentence(finding))
    return el("div", el("b", finding.severity), body, cls=f"finding {finding.severity}")


def _names(systems: Sequence[str]) -> list[Markup]:
    return [join([", " if i else "", ident(each)]) for i, each in enumerate(systems)]


def definitions_section(content: Content) -> Section:
    """Each measure with its formula, then every convention in words."""
    lead = el(
        "p", "The same name means different numbers in different tools. These are the definitions used here."
    )
    measures = el("dl", *(_measure(each) for each in content.definitions))
    profile = [] if content.profile is None else [el("p", f"Profile: {content.profile}.")]
    words = el("ul", *(el("li", each) for each in content.conventions))
    parts = [lead, measures, el("h3", "Conventions"), *profile, words, el("h3", "Statistics")]
    return Section("definitions", "Definitions", join([*parts, paragraphs(methods(content))]))


def methods(content: Content) -> list[str]:
    """How intervals and tests were made."""
    intervals = f"Intervals of means: {content.method}."
    if content.comparison is None:
        return [intervals]
    drawn = f"Each p comes from {content.permutations:,} random sign flips, or from all where they are fewer."
    return [intervals, method(content.comparison), drawn]


def _measure(definition: Definition) -> Markup:
    formula = el("dd", prose(definition.formula), cls="formula") if definition.formula else None
    return join([el("dt", definition.name), el("dd", prose(definition.title)), formula])
