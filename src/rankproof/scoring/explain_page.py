"""One number of one query as a page: the sets, the list beside the ideal, the steps on paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from rankproof.core.derive import Step, number_text
from rankproof.core.explanation import Explained, ExplainedLine
from rankproof.core.names import parse
from rankproof.document.charts import WIDE, Scale, circle, figure, line, picture, rect, text, y_axis
from rankproof.document.numbers import ABSENT, count, score, ticks
from rankproof.document.page import (
    Child,
    Markup,
    Section,
    combine,
    el,
    fold,
    ident,
    join,
    page,
    paragraphs,
    prose,
    table,
)
from rankproof.io.corpora import QUERY_TEXT, read_texts, read_titles
from rankproof.scoring.tables import DISTRUST

if TYPE_CHECKING:
    from rankproof.scoring.explain import Explanation


def _relevant(own: Explained, grade: float | None) -> bool:
    if grade is None:
        return own.conventions.unjudged == "relevant" and _relevant(own, own.conventions.unjudged_grade)
    return grade >= least if (least := _least(own)) else grade > 0


def _least(own: Explained) -> float:
    """The grade from which on a document is relevant: if it depends on the query's grades, a step shows it."""
    found = [step.value for step in own.steps if step.kind == "threshold" and step.value is not None]
    return float([*found, parse(own.measure).rel or 0][0])


def _sets(name: str, own: Explained) -> Markup:
    """Retrieved and relevant as circles that overlap, in the box of the collection; precision and recall from them.

    Documents are counted at the measure's cut-off and grade.
    """
    placed = [line for line in own.lines if line.rank is not None]
    k, corpus = parse(own.measure).cutoff, own.conventions.corpus_size
    shown, deeper = placed[:k], placed[k or len(placed) :]
    tp = sum(_relevant(own, line.grade) for line in shown)
    fp = len(shown) - tp
    fn = sum(_relevant(own, line.grade) for line in deeper) + sum(_relevant(own, g) for _, g in own.missed)
    unjudged = sum(line.grade is None and not _relevant(own, None) for line in shown)
    neither = "TN not known" if corpus is None else f"TN {max(corpus - tp - fp - fn, 0):,}"
    drawn = picture(
        f"{name}: retrieved and relevant",
        f"TP {tp:,}, FP {fp:,}, FN {fn:,}, {neither}",
        226,
        rect(1, 1, 398, 224, "all"),
        circle(150, 118, 78, "set"),
        circle(250, 118, 78, "set wanted"),
        text(112, 28, f"retrieved (top {k:,})" if k else "retrieved", "mid tick"),
        text(288, 28, "relevant", "mid tick"),
        *(
            mark
            for x, number, part in ((110, fp, "FP"), (200, tp, "TP"), (290, fn, "FN"))
            for mark in (text(x, 120, f"{number:,}", "mid big"), text(x, 140, part, "mid small"))
        ),
        text(390, 214, neither, "end tick"),
    )
    equations = (
        el("p", f"{of} = TP / (TP + {other}) = {tp:,} / {n:,} = {score(tp / n) if n else '0 / 0, taken as 0'}")
        for of, other, n in (("precision", "FP", tp + fp), ("recall", "FN", tp + fn))
    )
    aside = f"Of FP, {count(unjudged, 'document was', 'documents were')} judged by nobody."
    return figure(ident(name), drawn, el("div", *equations, el("p", aside, cls="note") if unjudged else None))


DEPTH = 20
"""The number of documents listed if the measure has no cut-off."""
MISSED = 5
"""Documents named that were not found."""
MOST = 50
"""The largest number of documents, and of lines of a step, that are listed."""
Side: TypeAlias = "tuple[str, Explanation]"
"""A system and its number."""
Titles = Mapping[str, str]


def explanation_page(systems: Mapping[str, Sequence[Explanation]], *, queries: Any = None, corpus: Any = None) -> str:
    """Explanations of the same measures and query under one system, or several side by side, as one page."""
    every = [each for explanations in systems.values() for each in explanations]
    query = every[0].own.query
    listed = {line.document for each in every for line in (*each.own.lines, *each.own.ideal)}
    measures: list[tuple[Side, ...]] = list(
        zip(*([(name, each) for each in found] for name, found in systems.items()), strict=True)
    )
    sides = [side for each in measures for side in each]
    asked, titles = read_texts(queries, {query}, QUERY_TEXT).get(query), read_titles(corpus, listed)
    opening = combine(
        el("p", ident(asked), cls="verdict") if asked else None,
        paragraphs(dict.fromkeys(f"{DISTRUST} {name}: {each}" for name, found in sides for each in found.wrong)),
        paragraphs(f"{found.own.measure} of {name} is {score(found.value)}." for name, found in sides),
    )
    sections = [part for i, each in enumerate(measures) for part in _sections(titles, each, f"m{i}", len(measures) > 1)]
    words = el("ul", *(el("li", each) for each in every[0].own.conventions.in_words()))
    sections.append(Section("conventions", "Conventions", words))
    return page(f"Query {query}", opening, sections)


def _sections(titles: Titles, sides: Sequence[Side], key: str, several: bool) -> list[Section]:
    """The part about one measure; its name is in the headings if there are several."""
    own = sides[0][1].own
    formula, least = el("p", prose(own.formula), cls="formula") if own.formula else None, _least(own)
    lead = (
        f"Relevant is what has {f'a grade of {least:g} or more' if least else 'a grade above 0'}. TP was retrieved and "
        "is relevant, FP was retrieved and is not, FN is relevant and was not retrieved, TN is neither."
    )
    sets = el("div", *(_sets(name, each.own) for name, each in sides), cls="grid")
    parts = {
        "Found and wanted": combine(el("p", lead), sets),
        "The list beside the ideal": _lists(titles, sides),
        "Step by step": combine(formula, *(_steps(titles, *each) for each in sides)),
        "The same in another tool": join(_versus(titles, *each) for each in sides),
    }
    shown = [(f"{heading} ({own.measure})" if several else heading, body) for heading, body in parts.items() if body]
    return [Section(f"{key}-{i}", heading, body) for i, (heading, body) in enumerate(shown)]


def _lists(titles: Titles, sides: Sequence[Side]) -> Markup:
    own = sides[0][1].own
    depth, highest = min(parse(own.measure).cutoff or DEPTH, MOST), top_grade(each.own for _, each in sides)
    lead = el("p", "What each document adds to the number at its rank, and what the best order there is would add.")
    pictures = [
        _contributions(name, each.own, depth)
        for name, each in sides
        if any(line.adds for line in (*each.own.lines, *each.own.ideal))
    ]
    ideal = ranked_list(titles, "the ideal", own.ideal[:depth], highest)
    lists = [*(_list(titles, name, each.own, depth, highest) for name, each in sides), el("div", ideal)]
    grid = el("div", *pictures, cls="grid") if pictures else None
    return combine(lead, grid, legend(highest), el("div", *lists, cls="sides"))


def _list(titles: Titles, name: str, own: Explained, depth: int, highest: float) -> Markup:
    below = len(own.lines) - depth
    rest = el("p", f"{below:,} more below.", cls="note") if below > 0 else None
    listed = ranked_list(titles, f"{name}: {own.measure} {score(own.value)}", own.lines[:depth], highest)
    return el("div", listed, rest, missed_list(titles, own))


def _contributions(name: str, own: Explained, depth: int) -> Markup:
    """What each rank adds, as bars; what it would add in the ideal order, as outlines behind them."""
    mine, best = (
        {line.rank: line.adds for line in lines if line.rank and line.adds and line.rank <= depth}
        for lines in (own.lines, own.ideal)
    )
    caption = combine(ident(name), el("small", "bars: what each rank adds; outlines: the ideal"))
    high, left = 150, 40
    deepest = min(depth, max([10, *mine, *best]))
    ends = [*mine.values(), *best.values(), 0.0]
    x, y = Scale(0, deepest, left, WIDE - 4), Scale(min(ends), max(ends), high - 26, 10)
    wide = (x(1) - x(0)) * 0.7
    bars = [
        rect(x(r - 1) + wide * 0.2, min(y(v), y(0)), wide, abs(y(v) - y(0)), kind, f"rank {r}: {score(v)}")
        for kind, parts in (("never", best), ("gain", mine))
        for r, v in sorted(parts.items())
        if r <= deepest
    ]
    step = 1 if deepest <= 10 else 5 if deepest <= 30 else 10
    places = [r for r in range(1, deepest + 1) if r == 1 or r % step == 0]
    named = (text(x(r - 1) + wide * 0.7, high - 12, f"{r}", "tick mid") for r in places)
    axis = y_axis(y, left, WIDE - 4, ticks(y.low, y.high, 3))
    says = "; ".join(f"rank {rank} {score(value)}" for rank, value in sorted(mine.items())) or "nothing"
    zero = line(left, y(0), WIDE - 4, y(0), "zero")
    return figure(caption, picture(f"{name}: what each rank adds", says, high, axis, *bars, zero, *named))


def _steps(titles: Titles, name: str, found: Explanation) -> Markup:
    own = found.own
    notes = (el("p", f"Note: {note}.", cls="note") for note in own.said)
    result = el("p", f"{own.measure} = {score(own.value)}", cls="equation")
    return combine(el("h3", ident(name)), _numbered(titles, own), result, *notes)


def _numbered(titles: Titles, own: Explained) -> Markup:
    return el("ol", *(el("li", _step(titles, own, each)) for each in own.steps), cls="steps")


def _step(titles: Titles, own: Explained, step: Step) -> Markup:
    """A step in words, its terms as a table, and their sum."""
    value = "" if step.value is None else f" = {number_text(step.value)}"
    words = el("div", prose(step.says), None if step.expression else el("b", value))
    end = el("div", step.expression, el("b", value)) if step.expression else None
    if not step.terms:
        return combine(words, end)
    left = len(step.terms) - MOST
    more = el("p", f"and {left:,} more", cls="note") if left > 0 else None
    return combine(words, _terms(titles, own, step), more, end)


def _terms(titles: Titles, own: Explained, step: Step) -> Markup:
    """The terms as a table; ranks and documents only where a term is about one."""
    rows: list[list[Child]] = []
    for term in step.terms[:MOST]:
        name = "" if term.doc is None else own.names.get(term.doc, "(not judged)")
        named = el("td", document(titles, name) if name else None, cls="doc")
        value = "" if term.value is None else number_text(term.value)
        rows.append(["" if term.rank is None else f"{term.rank:,}", named, term.expression, value])
    if all(term.doc is None for term in step.terms):
        return table(step.says, ("term", "value"), [row[2:] for row in rows])
    return table(step.says, ("rank", "document", "term", "value"), rows, words=(1, 2))


def _versus(titles: Titles, name: str, found: Explanation) -> Markup:
    """The number under the other conventions, why it differs, and its steps."""
    other = found.other
    if other is None:
        return Markup()
    why = el("ul", *(el("li", prose(each)) for each in found.differences))
    told = f"{other.measure} in {other.where} is {score(other.value)}."
    steps = fold(f"The steps in {other.where}", _numbered(titles, other))
    return combine(el("h3", ident(name)), el("p", told), why, steps)


def legend(highest: float) -> Markup:
    """The legend of the colours of grades."""
    shown = sorted({0.0, *(float(each) for each in range(1, min(int(highest), 4) + 1)), highest})
    chips = (el("li", chip(each, highest), f" grade {each:g}") for each in shown)
    return el("ul", *chips, el("li", chip(None, highest), " nobody judged it"), cls="legend")


def chip(value: float | None, highest: float) -> Markup:
    """A grade as text on its colour."""
    if value is None:
        return el("span", ABSENT, cls="chip none")
    level = 0 if value <= 0 or highest <= 0 else min(3, max(1, round(3 * value / highest)))
    return el("span", f"{value:g}", cls=f"chip g{level}")


def top_grade(shown: Iterable[Explained]) -> float:
    """The highest grade there is in the judgments of the queries shown."""
    return max((line.grade or 0.0 for own in shown for line in own.ideal), default=0.0)


def ranked_list(titles: Mapping[str, str], caption: str, lines: tuple[ExplainedLine, ...], highest: float) -> Markup:
    """A ranked list; documents by their titles if these are known."""
    rows: list[list[Child]] = [
        [
            ABSENT if line.rank is None else f"{line.rank:,}",
            el("td", chip(line.grade, highest)),
            el("td", document(titles, line.document), cls="doc"),
            score(line.adds) if line.adds else "",
        ]
        for line in lines
    ]
    if not rows:
        return el("p", caption, ". The ranking has no documents for this query.")
    return table(caption, ("rank", "grade", "document", "adds"), rows, words=(2,))


def document(titles: Mapping[str, str], name: str) -> Markup:
    """A document's title and id, or the id alone."""
    title = titles.get(name)
    return ident(name) if title is None else combine(ident(title), " ", el("small", ident(name)))


def missed_list(titles: Mapping[str, str], own: Explained) -> Markup | None:
    """The relevant documents that were not found."""
    if not own.missed:
        return None
    named = (combine(ident(titles.get(doc, doc)), f" (grade {grade:g})") for doc, grade in own.missed[:MISSED])
    more = f"; and {len(own.missed) - MISSED:,} more" if len(own.missed) > MISSED else None
    return el("p", "Not in the ranking: ", join(named, "; "), more, ".", cls="note")
