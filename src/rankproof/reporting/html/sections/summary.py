"""The answer in words: which system is best, and whether that is real."""

from __future__ import annotations

from rankproof.reporting.conclusions import conclusions, limits
from rankproof.reporting.html.charts import Bar
from rankproof.reporting.html.content import Content
from rankproof.reporting.html.markup import join, paragraphs
from rankproof.reporting.html.page import Section
from rankproof.reporting.numbers import count, score, share

MOST = 4
"""Systems of which it is said why there is no verdict."""


def section(content: Content) -> Section:
    """The verdict, what the leader reaches, and what limits it."""
    verdict, *others = said(content)
    return Section("summary", "In words", join([paragraphs([verdict], "verdict"), paragraphs(others)]))


def said(content: Content) -> list[str]:
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
