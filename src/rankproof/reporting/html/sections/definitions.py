"""The definitions that were used: formulas, conventions, methods."""

from __future__ import annotations

from rankproof.reporting.comparison import sentences
from rankproof.reporting.html.content import Content, Definition
from rankproof.reporting.html.markup import Markup, el, join, paragraphs, prose
from rankproof.reporting.html.page import Section


def section(content: Content) -> Section:
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
    return [intervals, sentences(content.comparison)[-1], drawn]


def _measure(definition: Definition) -> Markup:
    formula = el("dd", prose(definition.formula), cls="formula") if definition.formula else None
    return join([el("dt", definition.name), el("dd", prose(definition.title)), formula])
