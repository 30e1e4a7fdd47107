"""Pages that show a result as the command line does: audit, diagnosis, leaderboard, grid."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from rankproof.bench.grid import Grid, saved_grid
from rankproof.comparing.leaderboard import Leaderboard, leaderboard
from rankproof.core.audit import Finding, few_examples
from rankproof.diagnosing.diagnose import Diagnosis
from rankproof.diagnosing.diagnose import diagnose as diagnosed
from rankproof.document.formats.html import Link, part_of_page
from rankproof.document.model import Document
from rankproof.document.page import Markup, combine, el, ident, join
from rankproof.errors import DataError, RankproofError, UsageError, one_of, reason
from rankproof.io.load import load_ranking
from rankproof.scoring.scores import Scores
from rankproof.scoring.words import wrong_data
from rankproof.web.folder import FileKind, named_by_stem
from rankproof.web.site import Choices, Page, Site, measure_of, note, problem, sections, select


def _system(site: Site, choices: Choices) -> str:
    name = choices.get("s") or site.workspace.baseline()
    site.workspace.run(name)
    return name


def _choose(site: Site, page: str, system: str, measure: str | None = None) -> Markup | None:
    """The form that chooses a ranking and, if needed, a measure."""
    space = site.workspace
    measures = select("m", "measure", list(space.scores(system)), measure) if measure else None
    return site.choose(page, select("s", "ranking", list(space.runs), system), measures)


def audit(site: Site, choices: Choices) -> Page:
    """What is wrong or odd about the judgments and a ranking; each query is one click away."""
    system = _system(site, choices)
    found = site.workspace.scores(system).audit
    queries = {few_examples([query])[0]: query for query in site.workspace.judgments().query_ids}
    link = query_link(site, system)
    body = join([_finding(each, queries, link) for each in found]) if len(found) else note("Nothing is wrong or odd.")
    return Page(f"Audit of {system}", sections(("findings", "Findings", body)), opening=_choose(site, "audit", system))


def query_link(site: Site, system: str, measure: str | None = None) -> Link:
    """The link to the page of a query of a ranking."""
    return lambda query: site.link(ident(query), "query", id=query, a=system, m=measure)


def _finding(finding: Finding, queries: Mapping[str, str], link: Link) -> Markup:
    """A finding as on the command line; examples that are queries are links."""
    examples = [link(queries[each]) if each in queries else each for each in finding.examples]
    text = el(
        "p",
        finding.message,
        combine(" For example ", join(examples, ", "), ".") if examples else None,
        f" Next: {finding.advice}" if finding.advice else None,
    )
    return el("div", el("b", finding.severity), text, cls=f"finding {finding.severity}")


def diagnosis(site: Site, choices: Choices) -> Page:
    """What to fix first."""
    system = _system(site, choices)
    space = site.workspace
    measure = measure_of(space.scores(system), choices.get("m"))
    make = diagnosis_job(site, system, measure)
    shown = site.later(*make, diagnosis_part(site, system, measure), "diagnosis", s=system, m=measure)
    return Page(
        f"What to fix first in {system}",
        sections(("diagnosis", "Diagnosis", shown)),
        opening=_choose(site, "diagnosis", system, measure),
    )


def diagnosis_job(site: Site, system: str, measure: str) -> tuple[Any, Any]:
    """The diagnosis of a ranking, and its cache key."""
    space = site.workspace
    file, judged = space.run(system), space.judgments_file
    texts = [
        each and os.fspath(each.path) for each in (space.text_file(FileKind.QUERIES), space.text_file(FileKind.CORPUS))
    ]
    key = ("diagnosed", file.stamp, judged and judged.stamp, measure, *texts)
    return key, lambda: diagnosed(
        space.judgments(), load_ranking(file.path), measure, queries=texts[0], corpus=texts[1]
    )


def diagnosis_part(site: Site, system: str, measure: str) -> Callable[[Diagnosis], Markup]:
    """The result of `rankproof diagnose` as part of a page; the queries it names are links."""
    return lambda found: part_of_page(found._document(), query_link(site, system, measure))


def errors_part(scored: Iterable[tuple[str, Scores]]) -> Markup | None:
    """Errors that make the numbers of these rankings wrong, shown above them; None if there are none."""
    wrong = [f"{name}: {each}" for name, scores in scored for each in scores.wrong]
    return part_of_page(Document("", [wrong_data(wrong)])) if wrong else None


MOST = 50
"""Rankings on a leaderboard: every pair of them is compared."""


def board(site: Site, choices: Choices) -> Page:
    """The rankings in their order, and how far it can be trusted."""
    space = site.workspace
    if len(space.scorable()) < 2:
        raise UsageError(
            "a leaderboard needs two rankings or more that can be scored. Next: put another into the folder."
        )
    measure = measure_of(space.scores(space.baseline()), choices.get("m"))
    shown = site.later(*board_job(site, measure), board_part, "leaderboard", m=measure)
    chosen = site.choose("leaderboard", select("m", "measure", list(space.scores(space.baseline())), measure))
    wrong = join(wrong_card(name, error) for name in space.runs if (error := space.error(name)))
    body = combine(shown, el("h3", "Left out") if wrong else None, wrong)
    return Page(f"Leaderboard by {measure}", sections(("board", "Order", body)), opening=chosen)


def wrong_card(name: str, error: RankproofError) -> Markup:
    """A ranking that cannot be scored, with its error."""
    return el("div", el("h3", ident(name)), problem(error), cls="card")


def board_job(site: Site, measure: str) -> tuple[Any, Any]:
    """The leaderboard of the rankings, and its cache key."""
    space = site.workspace
    names = space.scorable()[:MOST]
    key = ("board", measure, *(space.run(name).stamp for name in names))
    return key, lambda: leaderboard({name: space.scores(name) for name in names}, measure)


def board_part(found: Leaderboard) -> Markup:
    """The result of `rankproof leaderboard` as part of a page."""
    return part_of_page(found._document())


def grid(site: Site, choices: Choices) -> Page:
    """A saved grid: the score of each configuration, the front, and the effect of each factor."""
    known = named_by_stem(site.workspace.of_kind(FileKind.GRID))
    if not known:
        raise UsageError("there is no saved grid here. Next: `rankproof bench FILE -o grid.json`, into this folder.")
    name = choices.get("g") or next(iter(known))
    if name not in known:
        raise one_of("grid", name, known)
    file = known[name]
    found = site.workspace.kept(("grid", file.stamp), lambda: _saved(file.path))
    shown = part_of_page(found._document())
    chosen = site.choose("grid", select("g", "grid", list(known), name)) if len(known) > 1 else None
    return Page(f"Grid: {name}", sections(("grid", "Configurations", shown)), opening=chosen)


def _saved(path: Path) -> Grid:
    try:
        return saved_grid(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise DataError(f"{path.name} cannot be read: {reason(error)}. Next: save it again.") from None
