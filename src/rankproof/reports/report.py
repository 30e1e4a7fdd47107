"""`report`: the whole story of several systems as one page, for people who were not there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from rankproof._moved import old_arguments
from rankproof.comparing.alignment import with_rankings
from rankproof.comparing.compare import compare
from rankproof.comparing.comparison import Comparison
from rankproof.core.defaults import REPORT_MEASURES
from rankproof.core.rules import ScoringArguments
from rankproof.diagnosing.diagnose import Diagnosis
from rankproof.document.disk import check_free, write_file
from rankproof.document.display import Displayable
from rankproof.document.formats.html import part_of_page
from rankproof.document.html.page import Section, el, page
from rankproof.errors import UsageError, check_whole, one_of
from rankproof.io.load import load_ranking
from rankproof.io.pipes import pipes_kept
from rankproof.io.roles import Columns, with_columns
from rankproof.reports import queries, summary, systems
from rankproof.reports.content import Content, PageTexts, collect
from rankproof.scoring.evaluate import Measures, check_conventions, evaluate, prepare, systems_by_name
from rankproof.scoring.grouping import Grouping, groups_of
from rankproof.scoring.scores import Scores

PERMUTATIONS = 100_000
FEWEST = 20_000
MOST_DRAWS = 100_000_000
"""Differences whose signs are flipped in all: above it there are fewer permutations, so that no one waits."""

KINDS = {".html": "html", ".htm": "html", ".md": "markdown", ".pdf": "pdf", ".tex": "latex", ".txt": "text"}
"""The kinds of report by the ending of a file."""


@dataclass(frozen=True, eq=False)
class Report(Displayable):
    """A report that can be written as a page, on paper, as text, as markdown or as LaTeX tables."""

    content: Content
    comparison: Comparison | None
    """None where there is one system only."""
    scores: Mapping[str, Scores]

    def html(self) -> str:
        """One HTML file that needs nothing else: no script, no network."""

        return html(self.content)

    def markdown(self) -> str:
        """Summary and tables in markdown."""
        from rankproof.document.formats.markdown import text
        from rankproof.reports.summary import document

        return text(document(self.content))

    def pdf(self) -> bytes:
        """The page on paper, printed by an installed Chromium, Chrome or Edge."""
        from rankproof.document.pdf import print_page

        return print_page(self.html())

    def text(self) -> str:
        """The same story in 80 columns, with charts of characters."""
        from rankproof.reports.terminal import story

        return story(self.content)

    def latex(self) -> str:
        """The tables in LaTeX."""
        from rankproof.reports.summary import latex

        return latex(self.content)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the kind of report that the file's ending names, and give back the path.

        A file that is there is replaced with `force` only, or if it is a page of ours.
        """
        made = kind(path)
        check_free(path, force=force)
        return write_file(path, self._as(made), force=force)

    def _as(self, kind: str) -> bytes:
        if kind == "pdf":
            return self.pdf()
        write = {"html": self.html, "markdown": self.markdown, "latex": self.latex, "text": self.text}[kind]
        return write().encode("utf-8", "backslashreplace")

    def _in_one_line(self) -> str:
        systems = ", ".join(each.name for each in self.content.systems)
        return f"<Report {self.content.title!r}: {systems}>"

    def _repr_html_(self) -> str:
        """In a notebook: the page in a frame of its own, so that its style stays inside."""
        from html import escape

        page = escape(self.html(), quote=True)
        return f'<iframe title="{escape(self.content.title)}" width="100%" height="800" srcdoc="{page}"></iframe>'


def kind(path: str | os.PathLike[str]) -> str:
    """The kind of report that a file's ending names.

    >>> kind("report.html"), kind("table.TEX")
    ('html', 'latex')
    """
    ending = Path(path).suffix.lower()
    if ending not in KINDS:
        raise one_of("a report's file ending", ending, KINDS)
    return KINDS[ending]


@old_arguments("corpus", corpus="corpus_size", documents="corpus")
@with_columns
@pipes_kept()
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
    diagnosis: Diagnosis | None = None,
    columns: Columns = None,
    **conventions: Unpack[ScoringArguments],
) -> Report:
    """Everything there is to say about one system or several, ready to be written as a page.

    The first measure decides: its differences, worst queries and groups are shown. `queries` gives the texts
    of queries, `corpus` the titles of documents, each as a mapping by id or as the path of JSON lines.
    `diagnosis` is what `diagnose` gave for one of the systems, to stand on the page. The other arguments are
    those of `compare`.

    >>> judged = {f"q{i}": {"a": 1} for i in range(12)}
    >>> old = {query: ["x", "y", "a"] for query in judged}
    >>> new = {query: ["a", "x", "y"] for query in judged}
    >>> page = report(judged, {"old": old, "new": new}, "RR").html()
    >>> "new is better than old on RR, by +0.6667." in page, "<script" in page
    (True, False)
    """
    check_conventions(conventions, report)
    check_whole("seed", seed, 0)
    systems = _check(systems)
    judged, by = prepare(judgments), groups_of(by, judgments)
    opened = {name: load_ranking(each) for name, each in systems.items()}
    asked = REPORT_MEASURES if measures is None else measures
    if len(opened) == 1:
        scores = {name: evaluate(judged, each, asked, by=by, **conventions) for name, each in opened.items()}
        alone = collect(judged, scores, None, PageTexts(title, queries, corpus), alpha)
        return Report(replace(alone, diagnosed=diagnosis), None, scores)
    permutations = _permutations(len(judged.queries), len(opened))
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
        **conventions,
    )
    _check_deciding(compared)
    scores = with_rankings(compared.scores)
    content = collect(judged, scores, compared, PageTexts(title, queries, corpus), alpha)
    return Report(replace(content, permutations=permutations, diagnosed=diagnosis), compared, scores)


def _check(systems: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(systems, Mapping) or not systems:
        raise UsageError(
            "report needs rankings as {name: ranking}, at least one. Next: name at least one ranking."
        )
    return systems_by_name(systems)


def _check_deciding(compared: Comparison) -> None:
    """The first measure decides what is shown, so there must be differences in it."""
    first = next(iter(compared.scores[compared.baseline]))
    if first != compared.names[0]:
        raise UsageError(
            f"{first} is no mean over the queries, and the first measure decides what is shown. Next: put a mean "
            f"first, like {compared.names[0]}."
        )


def _permutations(queries: int, systems: int) -> int:
    """As many as take no longer than a person waits, and never too few for a p that is corrected."""
    return max(FEWEST, min(PERMUTATIONS, MOST_DRAWS // max(queries * systems, 1)))


def html(content: Content) -> str:
    """The report as one HTML file that needs nothing else."""
    opening = el("p", f"{summary.size(content)}.", cls="size")
    foot = el("p", f"Made by rankproof {content.version}. The same input gives the same page.")
    return page(content.title, opening, _sections(content), foot)


def _sections(content: Content) -> list[Section]:
    """The parts in the order they are read; what says nothing here is left out."""
    found = [
        summary.summary_section(content),
        systems.systems_section(content),
        systems.differences_section(content) if content.moved else None,
        queries.losses_section(content),
        None
        if content.diagnosed is None
        else Section("diagnosis", "What to fix first", part_of_page(content.diagnosed._document())),
        queries.curves_section(content),
        queries.ranks_section(content),
        systems.slices_section(content),
        systems.duels_section(content),
        queries.queries_section(content),
        summary.audit_section(content),
        summary.definitions_section(content),
    ]
    return [each for each in found if each is not None]
