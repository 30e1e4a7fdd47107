"""`explain`: one number of one query, step by step, and why another tool has a different one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from rankproof.core.conventions import CHOICES, ConventionArguments, Conventions
from rankproof.core.defaults import DEFAULT_MEASURE
from rankproof.core.derive import Step, derive, number_text
from rankproof.core.explanation import Explained, ExplainedLine, claim, differences, differing_kinds, ideal, listing
from rankproof.core.hits import Hits
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure, seen_by, worth
from rankproof.core.names import parse
from rankproof.core.profiles import find
from rankproof.core.table import RankingTable, missed_documents
from rankproof.document.model import (
    PAGE,
    PAPER,
    TERMINAL,
    Block,
    Bullets,
    Chart,
    Document,
    Heading,
    ListItem,
    Paragraph,
    Part,
    Result,
    Table,
)
from rankproof.document.numbers import ABSENT, score
from rankproof.document.terminal import Column, cut, cut_names, pad, page_width, table, width, without_backticks, wrap
from rankproof.errors import DataError, not_known, old_arguments, shorten
from rankproof.io.load import Columns, load_judgments, load_ranking, with_columns
from rankproof.scoring.catalogue import sections
from rankproof.scoring.evaluate import check_conventions, check_one, evaluate
from rankproof.scoring.scores import Scores
from rankproof.scoring.tables import DISTRUST

SHOWN = 20
"""Ranks shown if there is no cut-off; below them judged documents only."""
MOST = 40
"""The number of lines of the list that are printed."""
TERMS = 20
"""The number of lines of a step that are printed."""
ID = 32
"""The width of a document id in a step."""


def _text(own: Explained, other: Explained | None, wrong: Iterable[str]) -> list[str]:
    """Everything about the number, and about the other one if there is one; errors in the data come first."""
    above = [line for each in wrong for line in (*wrap(f"{DISTRUST} {each}"), "")]
    said = without_backticks(own.formula)
    formula = wrap(said, first="Formula: ", later="         ") if said else []
    about = ["", *wrap(without_backticks(own.title)), *formula, "", *_list(own), "", *_steps(own, set()), ""]
    versus = [] if other is None else ["", *_versus(own, other)]
    return [*above, *_headline(own), *about, *_result(own, own.said), *versus]


def _headline(own: Explained) -> list[str]:
    return wrap(f"{own.measure} of query {cut(own.query, 40)}{own.credit}: {score(own.value)}")


def _result(own: Explained, notes: Iterable[str]) -> list[str]:
    said = [line for note in notes for line in wrap(f"{note}.", first="Note: ", later="      ")]
    return [f"{own.measure} = {score(own.value)}", *said]


def _list(own: Explained) -> list[str]:
    if not own.lines:
        return ["The ranking has no documents for this query.", *_missed(own)]
    shown = _telling(own)
    return [*table(_columns(shown)), "", *_legend(shown), *_missed(own)]


def _columns(shown: Sequence[ExplainedLine | None]) -> list[Column]:
    return [
        Column("rank", ["" if x is None else ABSENT if x.rank is None else f"{x.rank:,}" for x in shown], True),
        Column("document", [x.document if x else "..." for x in shown]),
        *_scores(shown),
        Column("grade", ["" if x is None else ABSENT if x.grade is None else f"{x.grade:g}" for x in shown], True),
        Column("adds", [score(x.adds) if x and x.adds else "" for x in shown], True),
    ]


def _telling(own: Explained) -> list[ExplainedLine | None]:
    """The lines worth printing: the top, then what counts; None stands for those left out."""
    depth = min(max(parse(own.measure).cutoff or SHOWN, 10), MOST - 10)
    shown: list[ExplainedLine | None] = []
    for place, line in enumerate(own.lines, start=1):
        if (place <= depth or line.adds or (line.grade or 0) > 0) and len(shown) < MOST:
            shown.append(line)
        elif shown[-1] is not None:
            shown.append(None)
    return shown


def _scores(shown: Sequence[ExplainedLine | None]) -> list[Column]:
    """The scores with as many digits as distinguish them; equal ones are marked."""
    known = {line.score for line in shown if line is not None and line.score is not None}
    if not known:
        return []
    possible = (0,) if all(each.is_integer() for each in known) else (4, 5, 6)
    small = max(map(abs, known)) < 1e7
    digits = next((n for n in possible if small and len({f"{each:.{n}f}" for each in known}) == len(known)), None)
    scores = [None if line is None else line.score for line in shown]
    cells = ["" if x is None else repr(x) if digits is None else f"{x:.{digits}f}" for x in scores]
    marks = ["  " if line is None or not line.tied else " =" for line in shown]
    return [Column("score  ", [cell + mark for cell, mark in zip(cells, marks, strict=True)], True)]


def _legend(shown: Sequence[ExplainedLine | None]) -> list[str]:
    said_of = []
    if any(line and line.tied for line in shown):
        said_of.append("= shares its score with others")
    if any(line and line.grade is None for line in shown):
        said_of.append("grade - was not judged")
    if any(line and line.rank is None for line in shown):
        said_of.append("rank - was taken out")
    return wrap(f"({'; '.join(said_of)})") if said_of else []


def _missed(own: Explained) -> list[str]:
    if not own.missed:
        return []
    called = cut_names([doc for doc, _ in own.missed[:10]], ID)
    listed = ", ".join(f"{called[doc]} (grade {grade:g})" for doc, grade in own.missed[:10])
    more = f", and {len(own.missed) - 10:,} more" if len(own.missed) > 10 else ""
    return wrap(f"Not in the ranking: {listed}{more}.")


def _steps(own: Explained, marked: set[str]) -> list[str]:
    """The steps, numbered; those of a kind in `marked` begin with `>`."""
    lines: list[str] = []
    for number, step in enumerate(own.steps, start=1):
        mark = ">" if step.kind in marked else " "
        lines += wrap(_said(step), first=f"{mark}{number:2}. ", later=" " * 5)
        lines += [line.rstrip() for line in _calculation(step, own)]
    return lines


def _calculation(step: Step, own: Explained) -> Iterator[str]:
    """The terms with the rank and the document they are about, aligned at their equals signs, and their sum."""
    shown = step.terms[:TERMS]
    digits = max((len(str(term.rank)) for term in shown if term.rank), default=0)
    rows = []
    for term in shown:
        name = "" if term.doc is None else cut(own.names.get(term.doc, "(not judged)"), ID)
        named = f"rank {term.rank:>{digits}}  {name}" if name and term.rank is not None else name
        rows.append((named, term.expression, term.value))
    if step.expression:
        rows.append(("", step.expression, step.value))
    about = max((width(row[0]) for row in rows), default=0)
    reach = max((width(row[1]) for row in rows), default=0)
    lines = [f"{pad(row[0], about)}  {pad(row[1], reach, True)}{_equals(row[2])}" for row in rows]
    if len(step.terms) > TERMS:
        lines.insert(TERMS, f"... and {len(step.terms) - TERMS:,} more")
    yield from (f"       {line}" for line in lines) if about else (f"       {line.strip()}" for line in lines)


def _said(step: Step) -> str:
    """The step in words; a number that needs no calculation stands beside them."""
    return step.says if step.expression else f"{step.says}{_equals(step.value)}"


def _equals(value: float | None) -> str:
    return "" if value is None else f" = {number_text(value)}"


def explanations(found: Sequence[Explanation], asked: str = "", page: Callable[[], str] | None = None) -> Document:
    """Explanations of one query under several measures, one after the other; `asked` is the query's text."""
    every = [each._document() for each in found]
    opening = [Paragraph(f"Query {found[0].own.query}: {asked}"), Paragraph("")] if asked else []
    between = Part(Paragraph(""), media=TERMINAL)
    parts = [part for each in every for part in (between, *each.parts)]
    records = [record for each in every for record in each.records]
    return Document(every[0].title, [Part(*opening), *parts], records, page=page)


def _blocks(own: Explained, other: Explained | None, wrong: Iterable[str]) -> list[Block]:
    """The same, if lines need not be aligned."""
    shown = _telling(own)
    blocks: list[Block] = [*(Paragraph(f"{DISTRUST} {each}") for each in wrong)]
    blocks += [Heading(" ".join(_headline(own)), 3), Paragraph(without_backticks(own.title))]
    blocks += [Paragraph(f"Formula: {without_backticks(own.formula)}")] if own.formula else []
    blocks += [Table(_columns(shown))] if own.lines else [Paragraph("The ranking has no documents for this query.")]
    blocks += [Paragraph(" ".join(lines)) for lines in (_legend(shown), _missed(own)) if lines]
    steps = [ListItem(_said(step), lines=[each.strip() for each in _calculation(step, own)]) for step in own.steps]
    blocks += [Bullets(steps, numbered=True), Paragraph(f"{own.measure} = {score(own.value)}")]
    blocks += [Paragraph(f"Note: {note}.") for note in own.said]
    if other is not None:
        blocks += [*_blocks(other, None, ()), Heading("What differs", 3), Bullets(differences(own, other))]
    return blocks


def _versus(own: Explained, other: Explained) -> list[str]:
    """The other derivation, with its differing steps marked and the reasons in words."""
    marked = differing_kinds(own, other)
    lines = ["-" * page_width(), *_headline(other), ""]
    if [line.document for line in own.lines] != [line.document for line in other.lines]:
        lines += [*_list(other), ""]
    if marked:
        lines += [*_steps(other, marked), "", *_result(other, other.notes), ""]
    lines.append(f"What differs ({'steps marked >' if marked else 'the steps are the same'}):")
    return lines + [line for each in differences(own, other) for line in wrap(each, first="- ", later="  ")]


SAME = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Result):
    """One number explained, and the same number under a profile if one was given."""

    own: Explained
    other: Explained | None = None
    wrong: tuple[str, ...] = ()
    """Errors of the audit, which make the numbers of this ranking wrong."""

    @property
    def value(self) -> float:
        """The number that `evaluate` gives for this query."""
        return self.own.value

    @property
    def differences(self) -> list[str]:
        """Why the profile's number differs, in sentences."""
        return [] if self.other is None else differences(self.own, self.other)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        versus = None if self.other is None else self.other.to_dict()
        return {**self.own.to_dict(), "versus": versus, "differences": self.differences, "wrong": list(self.wrong)}

    def html(self, name: str = "the ranking", *, queries: Any = None, corpus: Any = None) -> str:
        """The same as a page: retrieved and relevant documents as sets, the list beside the ideal, the steps.

        `queries` and `corpus` give texts and titles, as for `report`.
        """
        from rankproof.scoring.explain_page import explanation_page

        return explanation_page({name: [self]}, queries=queries, corpus=corpus)

    def _document(self) -> Document:
        lines = _text(self.own, self.other, self.wrong)
        drawn = Part(Chart("", lambda room: lines), media=TERMINAL)  # its sums are aligned
        listed = Part(*_blocks(self.own, self.other, self.wrong), media=(PAGE, PAPER))
        title = f"{self.own.measure} of query {self.own.query}"
        about = {"query": self.own.query, "measure": self.own.measure}
        names = ("rank", "document", "score", "grade", "adds", "tied")
        records = [about | {name: getattr(line, name) for name in names} for line in self.own.lines]
        return Document(title, [drawn, listed], records, self.to_dict(), page=self.html)

    def _in_one_line(self) -> str:
        return f"<Explanation of {self.own.measure} = {self.value:.4f} for query {self.own.query!r}>"


@old_arguments(corpus="corpus_size")
@with_columns
def explain(
    judgments: Any,
    ranking: Any,
    query: str,
    measure: str | Measure = DEFAULT_MEASURE,
    *,
    profile: str | None = None,
    versus: str | None = None,
    columns: Columns = None,
    **conventions: Unpack[ConventionArguments],
) -> Explanation:
    """How the number of one query is computed: the ranked list, and the derivation as on paper.

    `versus` names a profile: it adds the number under its conventions, and the differences. The other arguments are
    those of `evaluate`.

    >>> relevant, ranking = {"q1": {"d1": 1, "d2": 1}}, {"q1": ["d1", "d3", "d2"]}
    >>> found = explain(relevant, ranking, "q1", "P@3")
    >>> [step.value for step in found.own.steps], found.value
    ([2.0, 3.0, 0.6666666666666666], 0.6666666666666666)
    """
    check_conventions(conventions, explain)
    check_one(ranking)
    judged = load_judgments(judgments)
    opened = load_ranking(ranking, conventions.get("damaged", "error"))
    query = _known(query, judged)
    table = opened.table_near(query) if hasattr(opened, "table_near") else opened.table()

    def under(name: str | None) -> Scores:
        return evaluate(judged, opened, [measure], profile=name, **conventions)

    own, other = under(profile), None if versus is None else under(find(versus, "versus").name)
    return Explanation(
        explain_scores(own, judged, table, query),
        None if other is None else explain_scores(other, judged, table, query),
        tuple(own.wrong),
    )


def _known(query: Any, judgments: Judgments) -> str:
    name = str(query)
    if name not in judgments.index:
        said = f"query {shorten(name)} is not judged in {judgments.source}"
        raise not_known(said, name, judgments.query_ids, "name a query of the judgments")
    return name


def explain_scores(scores: Scores, judgments: Judgments, table: RankingTable, query: str) -> Explained:
    """The number of one query under the first measure of scores; `table` has the query's documents."""
    column = next(iter(scores.columns.values()))
    measure, conventions, at = column.measure, scores.conventions, judgments.index[_known(query, judgments)]
    if scores.hits is None:
        raise DataError("there are no rankings behind these scores. Next: evaluate again.")
    value = float(column.values[at])
    hits = _as_scored(measure, scores.hits.select(np.array([at])), conventions, value)
    written, closing = derive(measure, hits), []
    if abs(written.value - value) > SAME:  # the number under a convention, not for a single order of the documents
        if conventions.rounded is not None:
            closing.append(Step("rounded", f"rounded to {conventions.rounded} decimals", value=value))
        else:
            ties = f"ties={conventions.ties}: {CHOICES['ties'][conventions.ties]}"
            closing.append(Step("ties", ties, value=value))
    notes = [column.note] if column.note else []
    if scores.hits.answered is not None and not scores.hits.answered[at]:
        notes.append("the ranking has no documents for this query")
    if column.counted is not None and not column.counted[at]:
        notes.append("this query is left out of the mean")
    return Explained(
        query=query,
        measure=measure.name,
        title=measure.spec.title,
        formula=sections(measure.spec.doc).get("Formula", ""),
        params=measure.params,
        value=value,
        lines=tuple(listing(table, query, judgments, hits, conventions, written.parts)),
        missed=tuple(missed_documents(judgments, query, hits)),
        steps=(*written.steps, *closing),
        names={i: judgments.doc_ids[i] for i in range(judgments.start[at], judgments.start[at + 1])},
        conventions=conventions,
        notes=tuple(notes),
        claim=None if conventions.profile is None else claim(conventions.profile, measure),
        ideal=tuple(ideal(measure, judgments, hits)),
    )


def _as_scored(measure: Measure, hits: Hits, conventions: Conventions, value: float) -> Hits:
    """The hits in the order of equal scores that gave the number, if one order did."""
    if conventions.ties not in ("best", "worst"):
        return hits
    value_of_rows = worth(measure, hits)
    if value_of_rows is None:
        return hits
    for order in (hits.tied_by(value_of_rows), hits.tied_by(value_of_rows, against=True)):
        if abs(float(measure(seen_by(measure, order))[0]) - value) <= SAME:
            return order
    return hits
