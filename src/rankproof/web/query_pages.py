"""One ranking and its queries: what is wrong and what to fix; and one query: the rankings side by side, the effect of
another grade, the derivation of a number."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from rankproof.bench.testset.pool import meaning_of_grades
from rankproof.comparing.gate import Gate
from rankproof.core.audit import Finding, few_examples
from rankproof.core.explanation import Explained
from rankproof.diagnosing import Diagnosis
from rankproof.diagnosing import diagnose as diagnosed
from rankproof.document.charts import line
from rankproof.document.formats.html import Link, part_of_page
from rankproof.document.numbers import count, score
from rankproof.document.page import Markup, combine, el, escape, ident, join, table
from rankproof.errors import not_known, shorten
from rankproof.io.load import load_ranking
from rankproof.scoring.explain import Explanation, explain_scores
from rankproof.scoring.explain_page import chip, legend, missed_list
from rankproof.scoring.explain_page import document as title_and_id
from rankproof.scoring.scores import Scores
from rankproof.web.compare_pages import HARDEST, QueryRow, fits, pair_of, query_rows, query_table
from rankproof.web.folder import FileKind
from rankproof.web.grading import grade_buttons
from rankproof.web.site import (
    Choices,
    Page,
    Site,
    Wanted,
    button,
    errors_part,
    hidden_fields,
    is_given,
    kept,
    mark_words,
    measure_of,
    note,
    part_of_result,
    sections,
    select,
    snippet,
    wanted_words,
)

DEEP, BESIDE = 20, 4
"""The number of ranks that are shown, and of rankings side by side."""


def queries(site: Site, choices: Choices) -> Page:
    """All queries, the hardest first."""
    space, shown = site.workspace, _shown(site, choices)
    if len(shown) < 2:
        return _of_one(site, choices)
    a, b = shown[:2]
    measure = measure_of(space.scores(a), choices.get("m"))
    rows = _hardest_first(query_rows(site, a, b, measure), space.scores(b), measure)
    listed = query_table(site, a, b, measure, rows, order=HARDEST)
    wrong = errors_part((name, space.scores(name)) for name in (a, b))
    heading = f"{count(len(rows), 'query')} by {measure} of {b}"
    return Page("Queries", sections(("queries", heading, combine(wrong, listed))), scripts=("compare",))


def _hardest_first(rows: Sequence[QueryRow], scores: Scores, measure: str) -> list[QueryRow]:
    sign = scores.column(measure).measure.spec.sign
    return sorted(rows, key=lambda row: (sign * row.theirs, row.query))


def _of_one(site: Site, choices: Choices) -> Page:
    space, name = site.workspace, site.workspace.baseline()
    scores = space.scores(name)
    measure = measure_of(scores, choices.get("m"))
    texts, rows = space.questions, []
    for query, value in scores.worst(len(scores.queries), measure):
        words = el("small", ident(texts[query])) if query in texts else None
        rows.append([combine(site.link(ident(query), "query", id=query, m=measure), words), score(value)])
    body = combine(errors_part([(name, scores)]), table("", ("query", measure), rows, label="Queries"))
    return Page("Queries", sections(("queries", f"By {measure} of {name}", body)))


@dataclass(frozen=True, slots=True)
class QuerySide:
    """One ranking of the query."""

    name: str
    scores: Scores
    own: Explained


def query(site: Site, choices: Choices) -> Page:
    """The page of one query."""
    space, name = site.workspace, choices.get("id", "")
    corrected = is_given(choices)
    judged = space.judgments(corrected)
    if name not in judged.index:
        raise not_known(f"query {shorten(name)} is not judged", name, judged.query_ids, "choose one of the queries")
    shown = _shown(site, choices)
    measure = measure_of(space.scores(shown[0]), choices.get("m"))
    asked = (site, name, shown, measure, choices)
    sides = [side_of(site, each, name, measure, corrected) for each in shown]
    highest = max([line.grade or 0.0 for side in sides for line in side.own.lines] + [float(space.settings.highest)])
    words = space.questions.get(name, "")
    wanted = wanted_words(words)
    shown_lists = [_list(site, sides[0], name, wanted, highest)]
    for left, right in pairwise(sides):
        shown_lists += [_moves(left, right), _list(site, right, name, wanted, highest)]
    held = {"id": "rankings", "tabindex": -1, "data_query": name, "data_measure": measure}
    lists = el("div", *shown_lists, cls=f"rankings of-{len(sides)}", **held)
    lost = {doc for side in sides for doc, _ in side.own.missed}
    titles = {doc: space.corpus[doc].title or space.corpus[doc].text[:80] for doc in lost if doc in space.corpus}
    missed = join(
        combine(el("h3", ident(side.name)), missed_list(titles, side.own)) for side in sides if side.own.missed
    )
    more = shown if site.links.static else list(dict.fromkeys([*shown, *space.ready()]))[:BESIDE]
    about = {**kept(choices), "id": name, "m": measure, "systems": "\n".join(more)}
    numbers = combine(
        errors_part((side.name, side.scores) for side in sides),
        el("ul", *(el("li", explain_link(site, side, name, measure, choices)) for side in sides)),
        _gate_words(site, shown, corrected),
        el("p", site.link(f"{len(more)} rankings side by side", "query", **about)) if len(more) > len(shown) else None,
    )
    return Page(
        words or name,
        sections(
            ("numbers", "Numbers", numbers),
            ("lists", "Rankings", combine(legend(highest), _keys(site), lists)),
            ("missed", "Relevant, and not found", missed) if missed else None,
        ),
        opening=combine(el("p", ident(name), cls="size"), _around(*asked), _choose(*asked)),
        scripts=("query",) if site.writes else (),
        skip=("rankings", "Skip to the rankings"),
    )


def _shown(site: Site, choices: Choices) -> list[str]:
    """The rankings that are shown: those that were chosen, else the baseline and the best other."""
    space = site.workspace
    if names := [each for each in choices.get("systems", "").split("\n") if each]:
        for each in names:
            space.run(each)
        return names[:BESIDE]
    if "b" not in choices and space.rival(choices.get("a") or space.baseline()) is None:
        return [choices.get("a") or space.baseline()]
    return list(pair_of(site, choices))


def side_of(site: Site, system: str, query: str, measure: str, corrected: bool = False) -> QuerySide:
    """One ranking of a query, and the derivation of its number."""
    scores = site.workspace.scores(system, corrected)
    judged = site.workspace.judgments(corrected)
    alone = replace(scores, columns={measure: scores.columns[measure]})
    return QuerySide(system, scores, explain_scores(alone, judged, site.workspace.table(system, query), query))


def _moves(left: QuerySide, right: QuerySide) -> Markup:
    """A line from each document on the left to its place on the right."""
    first, second = ({line.document: i for i, line in enumerate(side.own.lines[:DEEP])} for side in (left, right))
    moved = [(i, second[doc]) for doc, i in first.items() if doc in second]
    lines = (
        line(0, (i + 0.5) * 10, 30, (j + 0.5) * 10, "move up" if j < i else "move down" if j > i else "move")
        for i, j in moved
    )
    deep = 10 * max(len(first), len(second), 1)
    box = {"viewBox": f"0 0 30 {deep}", "preserveAspectRatio": "none"}
    return el("svg", *lines, **box, cls=f"moves rows-{deep // 10}", aria_hidden="true")


def _list(site: Site, side: QuerySide, query: str, wanted: Wanted, highest: float) -> Markup:
    items = (_document(site, row, query, wanted, highest) for row in side.own.lines[:DEEP])
    more = len(side.own.lines) - DEEP
    return el(
        "div",
        el("h3", ident(side.name)),
        el("ol", *items, cls="ranking") if side.own.lines else note("The ranking has no document for this query."),
        note(f"and {more:,} more") if more > 0 else None,
        cls="side",
        data_system=side.name,
    )


def _document(site: Site, row: Any, query: str, wanted: Wanted, highest: float) -> Markup:
    document = site.workspace.corpus.get(row.document)
    given = site.workspace.grades.get(query, {}).get(row.document) if not site.links.static else None
    titles = {row.document: document.title} if document is not None and document.title else {}
    told = el("div", title_and_id(titles, row.document), cls="title")
    spoken = ", ".join([*titles.values(), row.document])
    text = el("p", *mark_words(snippet(document.text, wanted), wanted), cls="snippet") if document is not None else None
    mark = el("small", f"given here: {given}", cls="given") if given is not None else None
    rank = el("span", "" if row.rank is None else f"{row.rank:,}", cls="rank")
    return el(
        "li",
        el("div", rank, chip(row.grade, highest), mark, cls="place"),
        el("div", told, text, cls="doc"),
        tabindex=0 if site.writes else None,
        data_doc=row.document,
        aria_label=f"rank {row.rank}, {spoken}, {'not judged' if row.grade is None else f'grade {row.grade:g}'}",
    )


def explain_link(site: Site, side: QuerySide, query: str, measure: str, choices: Choices) -> Markup:
    """The number of one ranking; it opens to its derivation."""
    value = f"{measure} {score(side.own.value)}"
    about = {"id": query, "s": side.name, **kept(choices), "m": measure}
    return combine(ident(side.name), ": ", site.link(value, "explain", **about))


def _keys(site: Site) -> Markup | None:
    if not site.writes:
        return None
    most = site.workspace.settings.highest
    how = (
        f"Choose a document by a tap, the mouse or the arrow keys, then press 0 to {most} to grade it "
        f"({meaning_of_grades(most)}), u to take it back, w to see the effect of another grade."
    )
    without = el(
        "noscript", note("To grade here needs JavaScript; the page ", site.link("Judge", "judge"), " does not.")
    )
    others = (button(words, type="button", data_key=key) for words, key in (("take back", "u"), ("what if", "w")))
    keys = grade_buttons(most, "button"), *others
    said = el("div", id="whatif", aria_live="polite")
    return combine(
        el("p", how, cls="note needs-script"),
        site.note_of_aspects(),
        without,
        el("div", el("div", *keys, cls="grades needs-script"), said, cls="keys"),
    )


def _around(site: Site, query: str, shown: Sequence[str], measure: str, choices: Choices) -> Markup | None:
    """The way back to the list that led here, and to the queries before and after this one in it."""
    if site.links.static or len(set(shown)) != 2:
        return None
    a, b = dict.fromkeys(shown)
    about = {**kept(choices), "a": a, "b": b, "m": measure}
    rows = query_rows(site, a, b, measure, is_given(choices))
    page, back = "compare", combine("Back to ", ident(b), " against ", ident(a))
    if choices.get("order") == HARDEST:
        page, back = "queries", escape("Back to the queries")
        rows = _hardest_first(rows, site.workspace.scores(b, is_given(choices)), measure)
    others = ["", *(row.query for row in rows if row.query == query or fits(row, choices)), ""]
    links = [site.link(back, page, **about)]
    for words, beside in (("Previous query", others), ("Next query", others[::-1])):
        found = next((each for each, next_one in pairwise(beside) if next_one == query), "")
        links += [site.link(words, "query", **{"id": found, **about})] if found else []
    return el("p", join(links, " · "))


def _choose(site: Site, query: str, shown: Sequence[str], measure: str, choices: Choices) -> Markup | None:
    space = site.workspace
    if len(space.runs) < 2:
        return None
    names = list(space.runs)
    return site.choose(
        "query",
        *hidden_fields(id=query, **{n: each for n, each in kept(choices).items() if n not in "abm"}),
        select("a", "left", names, shown[0]),
        select("b", "right", names, shown[-1]),
        select("m", "measure", list(space.scores(shown[0])), measure),
    )


def _gate_words(site: Site, shown: Sequence[str], corrected: bool) -> Markup | None:
    """The gate of these two, with the grades given here if there are any."""
    if len(shown) != 2 or shown[0] == shown[1]:
        return None
    a, b = shown
    space = site.workspace
    both = (False, True) if space.grades else (False,)
    parts = [site.later(outcome_part, "outcome", a=a, b=b, given=given) for given in both]
    decision = site.link("To the decision", "gate", a=a, b=b, given=corrected or bool(space.grades))
    return combine(*parts, el("p", decision))


def explain(site: Site, choices: Choices) -> Page:
    """The derivation of one number."""
    space, name = site.workspace, choices.get("id", "")
    system = choices.get("s") or space.baseline()
    measure = measure_of(space.scores(system), choices.get("m"))
    side = side_of(site, system, name, measure, is_given(choices))
    found = Explanation(side.own, None, tuple(side.scores.wrong))
    back = site.link("Back to the query", "query", **{"id": name, **kept(choices), "m": measure})
    return Page(
        f"{measure} of {name} under {system}",
        sections(("steps", "How it comes about", part_of_result(found))),
        opening=el("p", back),
    )


def outcome_part(site: Site, choices: Choices) -> tuple[Future[Gate], Callable[[Gate], Markup]]:
    """The outcome of a gate in one line."""
    given = is_given(choices)
    words = "with the grades given here" if given else "as judged"
    a, b = pair_of(site, choices)
    on = measure_of(site.workspace.scores(a), None)
    return site.workspace.gate(a, b, given), lambda gate: el(
        "p", f"The gate on {on} {words}: ", el("b", gate.outcome), "."
    )


def _system(site: Site, choices: Choices) -> str:
    name = choices.get("s") or site.workspace.baseline()
    site.workspace.run(name)
    return name


def _choose_system(site: Site, page: str, system: str, measure: str | None = None) -> Markup | None:
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
    chosen = _choose_system(site, "audit", system)
    return Page(f"Audit of {system}", sections(("findings", "Findings", body)), opening=chosen)


def query_link(site: Site, system: str, measure: str | None = None) -> Link:
    """The link to the page of a query of a ranking."""
    return lambda query: site.link(ident(query), "query", id=query, a=system, m=measure)


def _finding(finding: Finding, queries: Mapping[str, str], link: Link) -> Markup:
    """A finding as on the command line; examples that are queries are links."""
    examples = [link(queries[each]) if each in queries else each for each in finding.examples]
    shown = combine(" For example ", join(examples, ", "), ".") if examples else None
    text = el("p", finding.message, shown, f" Next: {finding.advice}" if finding.advice else None)
    return el("div", el("b", finding.severity), text, cls=f"finding {finding.severity}")


def diagnosis(site: Site, choices: Choices) -> Page:
    """What to fix first."""
    system = _system(site, choices)
    space = site.workspace
    measure = measure_of(space.scores(system), choices.get("m"))
    shown = site.later(diagnosis_part, "diagnosis", s=system, m=measure)
    chosen = _choose_system(site, "diagnosis", system, measure)
    return Page(f"What to fix first in {system}", sections(("diagnosis", "Diagnosis", shown)), opening=chosen)


def diagnosis_part(site: Site, choices: Choices) -> tuple[Future[Diagnosis], Callable[[Diagnosis], Markup]]:
    """The result of `rankproof diagnose` as part of a page; the queries it names are links."""
    space, system = site.workspace, _system(site, choices)
    measure = measure_of(space.scores(system), choices.get("m"))
    file, judged, named = space.run(system), space.judgments_file, space.settings.conventions
    texts = [space.text_file(kind) for kind in (FileKind.QUERIES, FileKind.CORPUS)]
    queries, corpus = (each and os.fspath(each.path) for each in texts)
    stamp = (file.stamp, judged and judged.stamp, *(each and each.stamp for each in texts))

    def make() -> Diagnosis:
        return diagnosed(space.judgments(), load_ranking(file.path), measure, queries=queries, corpus=corpus, **named)

    found = space.later(("diagnosed", file.path, measure), stamp, make)
    return found, lambda diagnosis: part_of_page(diagnosis._document(), query_link(site, system, measure))
