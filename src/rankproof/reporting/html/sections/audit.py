"""What the audit says about the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankproof.reporting.findings import sentence
from rankproof.reporting.html.content import Content
from rankproof.reporting.html.markup import Markup, el, ident, join
from rankproof.reporting.html.page import Section


def section(content: Content) -> Section:
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
