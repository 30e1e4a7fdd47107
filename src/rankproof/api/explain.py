"""`explain`: one number of one query, step by step, and why another tool has a different one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankproof.api.checks import check_conventions
from rankproof.api.evaluate import evaluate
from rankproof.api.scores import Scores
from rankproof.core.claims import claim
from rankproof.core.conventions import CHOICES, Conventions
from rankproof.core.derivation import derive
from rankproof.core.derivation.steps import Step
from rankproof.core.differences import differences
from rankproof.core.docstrings import sections
from rankproof.core.explained import Explained
from rankproof.core.hits import Hits
from rankproof.core.judgments import Judgments
from rankproof.core.listing import ideal, listing, missed
from rankproof.core.measure import Measure
from rankproof.core.table import RankingTable
from rankproof.core.ties import seen_by, worth
from rankproof.display import Displayable
from rankproof.errors import DataError, UsageError, nearest, shorten
from rankproof.io.guess import Columns, with_columns
from rankproof.io.load import load_judgments, load_ranking
from rankproof.io.texts import QUERY_TEXT, read_texts, read_titles
from rankproof.reporting.explanation import text

SAME = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Displayable):
    """One number explained, and beside it the same under a profile where one was asked for."""

    own: Explained
    other: Explained | None = None
    wrong: tuple[str, ...] = ()
    """What makes the numbers of this ranking wrong, as the audit says it."""

    @property
    def value(self) -> float:
        """The number: what `evaluate` gives this query."""
        return self.own.value

    @property
    def differences(self) -> list[str]:
        """Why the profile's number differs, in sentences."""
        return [] if self.other is None else differences(self.own, self.other)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        versus = None if self.other is None else self.other.to_dict()
        return {
            **self.own.to_dict(),
            "versus": versus,
            "differences": self.differences,
            "wrong": list(self.wrong),
        }

    def html(self, name: str = "the ranking", *, queries: Any = None, documents: Any = None) -> str:
        """The same as a page: found and wanted as sets, the list beside the ideal, the steps.

        `queries` and `documents` give texts and titles, as for `report`.
        """
        return explanation_page({name: [self]}, queries=queries, documents=documents)

    def __str__(self) -> str:
        """The list, the steps, and what differs."""
        return text(self.own, self.other, self.wrong)

    def _in_one_line(self) -> str:
        """What it explains."""
        return f"<Explanation of {self.own.measure} = {self.value:.4f} for query {self.own.query!r}>"


@with_columns
def explain(
    judgments: Any,
    ranking: Any,
    query: str,
    measure: str | Measure = "nDCG@10",
    *,
    profile: str | None = None,
    versus: str | None = None,
    columns: Columns = None,
    **conventions: Any,
) -> Explanation:
    """How the number of one query comes about: the ranked list, and the derivation as on paper.

    `versus` names a profile: the same under its conventions, and what differs. The other arguments are those
    of `evaluate`.

    >>> relevant, ranking = {"q1": {"d1": 1, "d2": 1}}, {"q1": ["d1", "d3", "d2"]}
    >>> found = explain(relevant, ranking, "q1", "P@3")
    >>> [step.value for step in found.own.steps], found.value
    ([2.0, 3.0, 0.6666666666666666], 0.6666666666666666)
    """
    check_conventions(conventions, explain)
    judged, opened = load_judgments(judgments), load_ranking(ranking)
    query = _known(query, judged)
    table = opened.table_near(query) if hasattr(opened, "table_near") else opened.table()

    def under(name: str | None) -> Scores:
        return evaluate(judged, opened, [measure], profile=name, **conventions)

    own, other = under(profile), None if versus is None else under(versus)
    return Explanation(
        explained(own, judged, table, query),
        None if other is None else explained(other, judged, table, query),
        tuple(own.wrong),
    )


def explanation_page(
    systems: Mapping[str, Sequence[Explanation]], *, queries: Any = None, documents: Any = None
) -> str:
    """Explanations of the same measures and query under one system, or several side by side, as one page."""
    from rankproof import __version__
    from rankproof.reporting.html.explained import Lesson, Side, html

    every = [each for explanations in systems.values() for each in explanations]
    query = every[0].own.query
    listed = {line.document for each in every for line in (*each.own.lines, *each.own.ideal)}
    measures = zip(
        *([Side(n, x.own, x.other, x.wrong) for x in found] for n, found in systems.items()), strict=True
    )
    lesson = Lesson(
        query=query,
        measures=tuple(measures),
        text=read_texts(queries, {query}, QUERY_TEXT).get(query),
        titles=read_titles(documents, listed),
        version=__version__,
    )
    return html(lesson)


def _known(query: Any, judgments: Judgments) -> str:
    name = str(query)
    if name not in judgments.index:
        raise UsageError(
            f"query {shorten(name)} is not judged in {judgments.source}.{nearest(name, judgments.queries)} "
            "Next: name a query of the judgments."
        )
    return name


def explained(scores: Scores, judgments: Judgments, table: RankingTable, query: str) -> Explained:
    """The number of one query under the first measure of scores; `table` has the query's documents."""
    column = next(iter(scores.columns.values()))
    measure, conventions, at = column.measure, scores.conventions, judgments.index[query]
    if scores.hits is None:
        raise DataError("there are no rankings behind these scores. Next: evaluate again.")
    value = float(column.values[at])
    hits = _as_scored(measure, scores.hits.select(np.array([at])), conventions, value)
    written = derive(measure, hits)
    return Explained(
        query=query,
        measure=measure.name,
        title=measure.spec.title,
        formula=sections(measure.spec.doc).get("Formula", ""),
        params=measure.params,
        value=value,
        lines=tuple(listing(table, query, judgments, hits, conventions, written.parts)),
        missed=tuple(missed(judgments, query, hits)),
        steps=(*written.steps, *_closing(written.value, value, conventions)),
        names={i: judgments.docs[i] for i in range(judgments.start[at], judgments.start[at + 1])},
        conventions=conventions,
        notes=tuple(_notes(scores, at)),
        claim=None if conventions.profile is None else claim(conventions.profile, measure),
        ideal=tuple(ideal(measure, judgments, hits)),
    )


def _as_scored(measure: Measure, hits: Hits, conventions: Conventions, value: float) -> Hits:
    """The hits in the order of equal scores that gave the number, where one order did."""
    if conventions.ties not in ("best", "worst"):
        return hits
    value_of_rows = worth(measure, hits)
    if value_of_rows is None:
        return hits
    for order in (hits.tied_by(value_of_rows), hits.tied_against(value_of_rows)):
        if abs(float(measure(seen_by(measure, order))[0]) - value) <= SAME:
            return order
    return hits


def _closing(derived: float, value: float, conventions: Conventions) -> list[Step]:
    """What a convention makes of the number derived from one order of the documents."""
    if abs(derived - value) <= SAME:
        return []
    if conventions.rounded is not None:
        return [Step("rounded", f"rounded to {conventions.rounded} decimals", value=value)]
    return [Step("ties", f"ties={conventions.ties}: {CHOICES['ties'][conventions.ties]}", value=value)]


def _notes(scores: Scores, at: int) -> list[str]:
    """What must be said beside the number."""
    column, hits = next(iter(scores.columns.values())), scores.hits
    said = [column.note] if column.note else []
    if hits is not None and hits.answered is not None and not hits.answered[at]:
        said.append("the ranking has no documents for this query")
    if column.counted is not None and not column.counted[at]:
        said.append("this query is left out of the mean")
    return said
