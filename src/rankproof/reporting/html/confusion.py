"""One query as two sets that overlap: what was retrieved, and what is relevant."""

from __future__ import annotations

from dataclasses import dataclass

from rankproof.core.explained import Explained
from rankproof.reporting.html.markup import Markup, el
from rankproof.reporting.html.svg import circle, picture, rect, text
from rankproof.reporting.numbers import count, score


@dataclass(frozen=True, slots=True)
class Confusion:
    """How many documents are in each part of the picture."""

    tp: int
    """Retrieved and relevant."""
    fp: int
    """Retrieved and not relevant."""
    fn: int
    """Relevant and not retrieved."""
    tn: int | None
    """Neither; None where the size of the collection is not known."""
    unjudged: int
    """Those of `fp` that nobody judged."""


def confusion(own: Explained) -> Confusion:
    """The documents of one query, counted at the measure's cut-off and grade."""
    placed = [line for line in own.lines if line.rank is not None]
    k = own.params.get("k") or len(placed)
    shown, deeper = placed[:k], placed[k:]
    tp = sum(_relevant(own, line.grade) for line in shown)
    fp = len(shown) - tp
    fn = sum(_relevant(own, line.grade) for line in deeper) + sum(_relevant(own, g) for _, g in own.missed)
    corpus = own.conventions.corpus
    unjudged = sum(line.grade is None and not _relevant(own, None) for line in shown)
    return Confusion(tp, fp, fn, None if corpus is None else max(corpus - tp - fp - fn, 0), unjudged)


def _relevant(own: Explained, grade: float | None) -> bool:
    if grade is None:
        return own.conventions.unjudged == "relevant" and _relevant(own, own.conventions.unjudged_grade)
    least = _least(own)
    return grade >= least if least else grade > 0


def _least(own: Explained) -> float:
    """The grade from which on a document is relevant: where the query's grades set it, a step says it."""
    found = [step.value for step in own.steps if step.kind == "threshold" and step.value is not None]
    return float([*found, own.params.get("rel") or 0][0])


def threshold(own: Explained) -> str:
    """What counts as relevant, in words."""
    least = _least(own)
    return f"a grade of {least:g} or more" if least else "a grade above 0"


def venn(name: str, own: Explained) -> Markup:
    """The two sets as circles that overlap, in the box of the collection."""
    parts = confusion(own)
    k = own.params.get("k")
    top = f"retrieved (top {k:,})" if k else "retrieved"
    neither = "TN not known" if parts.tn is None else f"TN {parts.tn:,}"
    says = f"TP {parts.tp:,}, FP {parts.fp:,}, FN {parts.fn:,}, {neither}"
    return picture(
        f"{name}: retrieved and relevant",
        says,
        226,
        rect(1, 1, 398, 224, "all"),
        circle(150, 118, 78, "set"),
        circle(250, 118, 78, "set wanted"),
        text(112, 28, top, "mid tick"),
        text(288, 28, "relevant", "mid tick"),
        *_part(110, parts.fp, "FP"),
        *_part(200, parts.tp, "TP"),
        *_part(290, parts.fn, "FN"),
        text(390, 214, neither, "end tick"),
    )


def _part(x: float, number: int, name: str) -> tuple[Markup, Markup]:
    return text(x, 120, f"{number:,}", "mid big"), text(x, 140, name, "mid small")


def equations(own: Explained) -> Markup:
    """Precision and recall as the picture shows them."""
    parts = confusion(own)
    found, shown, wanted = parts.tp, parts.tp + parts.fp, parts.tp + parts.fn
    lines = (_equation("precision", "TP + FP", found, shown), _equation("recall", "TP + FN", found, wanted))
    aside = f"Of FP, {count(parts.unjudged, 'document was', 'documents were')} judged by nobody."
    return el("div", *lines, el("p", aside, cls="note") if parts.unjudged else None)


def _equation(name: str, bottom: str, a: int, b: int) -> Markup:
    value = score(a / b) if b else "0 / 0, taken as 0"
    return el("p", f"{name} = TP / ({bottom}) = {a:,} / {b:,} = {value}")
