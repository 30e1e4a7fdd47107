"""`report`: one page about several systems, section by section, for readers who did not run the evaluation."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Unpack

from rankproof.comparing.alignment import with_rankings
from rankproof.comparing.compare import check_settings, compare, find_baseline
from rankproof.comparing.comparison import Comparison
from rankproof.comparing.conclusions import ALLOWED, answer_first, too_few_answers
from rankproof.core.conventions import ScoringArguments
from rankproof.core.defaults import REPORT_MEASURES
from rankproof.diagnosing import Diagnosis
from rankproof.document.formats import from_ending
from rankproof.document.model import Document, Result
from rankproof.document.terminal import clean
from rankproof.errors import UsageError, old_arguments
from rankproof.io.groups import Grouping, groups_of
from rankproof.io.load import Columns, load_ranking, with_columns
from rankproof.reports.content import Content, collect
from rankproof.reports.sections import page_of
from rankproof.reports.words import report as document_of
from rankproof.scoring.evaluate import Measures, check_conventions, evaluate, prepare
from rankproof.scoring.scores import Scores

PERMUTATIONS = 100_000
FEWEST = 20_000
MOST_DRAWS = 100_000_000
"""The total number of signs that are flipped: with more differences there are fewer permutations, to save time."""


@dataclass(frozen=True, eq=False)
class Report(Result):
    """A report that can be written as a page, on paper, as text, as markdown or as LaTeX tables."""

    content: Content
    comparison: Comparison | None
    """None if there is one system only."""
    scores: Mapping[str, Scores]

    def to_dict(self) -> dict[str, Any]:
        """The title, the scores and the comparison as plain data."""
        return dict(self._document().tree)

    def _document(self) -> Document:
        return document_of(self, lambda: page_of(self.content))

    def _in_one_line(self) -> str:
        systems = ", ".join(each.name for each in self.content.systems)
        return f"<Report {self.content.title!r}: {systems}>"

    def _repr_html_(self) -> str:
        """In a notebook: the page in a frame of its own, so that its style stays inside."""
        from html import escape

        page, title = (escape(each, quote=True) for each in (self.html(), clean(self.content.title)))
        return f'<iframe title="{title}" width="100%" height="800" srcdoc="{page}"></iframe>'


def kind(path: str | os.PathLike[str]) -> str:
    """The format of a report that a file's ending names.

    >>> kind("report.html"), kind("table.TEX")
    ('html', 'latex')
    """
    return from_ending(path, Report.formats(), "a report's file ending")


@old_arguments("corpus", corpus="corpus_size", documents="corpus")
@with_columns
def report(
    judgments: Any,
    systems: Mapping[str, Any],
    measures: Measures | None = None,
    *,
    baseline: str | None = None,
    by: Grouping | None = None,
    title: str = "Retrieval report",
    queries: Any = None,
    corpus: Any = None,
    alpha: float = 0.05,
    margin: float | None = None,
    correction: str = "holm",
    seed: int = 0,
    allow_missing: float = ALLOWED,
    allow_errors: bool = False,
    diagnosis: Diagnosis | None = None,
    columns: Columns = None,
    **conventions: Unpack[ScoringArguments],
) -> Report:
    """A report about one system or several, ready to be written as a page.

    The first measure decides: its differences, worst queries and groups are shown. `queries` gives the texts
    of queries, `corpus` the titles of documents, each as a mapping by id or as the path of JSON lines.
    `diagnosis` is the result of `diagnose` for one of the systems, to be put on the page. The other arguments are
    those of `compare`.

    >>> judged = {f"q{i}": {"a": 1} for i in range(12)}
    >>> old = {query: ["x", "y", "a"] for query in judged}
    >>> new = {query: ["a", "x", "y"] for query in judged}
    >>> page = report(judged, {"old": old, "new": new}, "RR").html()
    >>> "new is better than old on RR, by +0.6667." in page, "<script" in page
    (True, False)
    """
    check_conventions(conventions, report)
    systems, _ = find_baseline(systems, baseline, "report", 1)
    check_settings(alpha, margin, correction, seed)
    judged, by = prepare(judgments), groups_of(by, judgments)
    damaged = conventions.get("damaged", "error")
    opened = {name: load_ranking(each, damaged) for name, each in systems.items()}
    asked = REPORT_MEASURES if measures is None else measures
    texts = {"title": title, "queries": queries, "corpus": corpus}
    if len(opened) == 1:
        scores = {name: evaluate(judged, each, asked, by=by, **conventions) for name, each in opened.items()}
        few = tuple(map(answer_first, too_few_answers(scores, allow_missing).values()))
        content = replace(collect(judged, scores, None, alpha, **texts), missing=few, diagnosed=diagnosis)
        return Report(content, None, scores)
    # As many as a person waits for, and never too few for a corrected p.
    permutations = max(FEWEST, min(PERMUTATIONS, MOST_DRAWS // max(len(judged.queries) * len(opened), 1)))
    compared = compare(
        judged,
        opened,
        asked,
        baseline=baseline,
        by=by,
        alpha=alpha,
        margin=margin,
        correction=correction,
        seed=seed,
        permutations=permutations,
        allow_missing=allow_missing,
        allow_errors=allow_errors,
        **conventions,
    )
    first = next(iter(compared.scores[compared.baseline]))
    if first != compared.names[0]:  # it has no differences by query
        raise UsageError(
            f"{first} is not a mean over the queries, and the first measure decides what is shown. Next: put a mean "
            f"first, like {compared.names[0]}."
        )
    scores = with_rankings(compared.scores)
    content = collect(judged, scores, compared, alpha, **texts)
    content = replace(content, permutations=permutations, missing=tuple(compared.unanswered), diagnosed=diagnosis)
    return Report(content, compared, scores)
