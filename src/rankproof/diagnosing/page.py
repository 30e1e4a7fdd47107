"""What is wrong, and what to fix first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rankproof.diagnosing import words as told
from rankproof.diagnosing.diagnosed import Diagnosed, Served
from rankproof.diagnosing.fixes import Fix
from rankproof.document.html.page import Markup, Section, el, fold, ident, join, page, paragraphs, table
from rankproof.document.numbers import score
from rankproof.errors import one_of
from rankproof.scoring.tables import DISTRUST

FIRST = "What to fix first"


def section(found: Diagnosed) -> Section:
    """Bands, fixes, kinds of queries that fail, and the worst queries with their causes."""
    return Section("diagnosis", FIRST, join([el("p", told.opening(found)), *_parts(found)]))


def html(found: Diagnosed) -> str:
    """The diagnosis as a page of its own."""
    sections = [Section("diagnosis", FIRST, join(_parts(found)))]
    if found.findings:
        trust = el("ul", *(el("li", told.serious(each)) for each in found.findings))
        sections.append(Section("trust", told.TRUST, trust))
    lead = paragraphs([*(f"{DISTRUST} {each}" for each in told.errors(found)), told.opening(found)])
    return page("Diagnosis", lead, sections, el("p", "Made by rankproof."))


def _parts(found: Diagnosed) -> Iterator[Markup]:
    yield paragraphs([*told.regime(found)])
    yield _table("How good it is, of what was possible", told.bands(found), words=(0, 5))
    yield el("h3", "Worth trying")
    yield _fixes(found.first)
    if told.others(found)[1]:
        yield _table(told.ALSO, told.others(found), words=(0, 1, 4))
    if found.failures:
        yield el("h3", "What goes wrong")
        yield el("ul", *(el("li", told.failure(each)) for each in found.failures))
    if found.patterns:
        yield _table("Which kinds of queries fail", told.patterns(found), words=(0, 6))
    if found.worst:
        yield fold("The queries served worst", *map(_query, found.worst), opened=True)
    yield paragraphs(told.foot(found))


def _table(caption: str, shown: told.Table, words: Sequence[int]) -> Markup:
    return table(caption, *shown, words=words)


def _fixes(first: Sequence[Fix]) -> Markup:
    if not first:
        return el("p", "Nothing that was tried is sure to help.")
    return el("ol", *(el("li", *_fix(each)) for each in first))


def _fix(fix: Fix) -> Iterator[Markup]:
    yield el("b", fix.title)
    yield join([f": {told.gain_of(fix)}. {told.evidence_of(fix)} Next: {fix.do}."])


def _query(query: Served) -> Markup:
    asked = f" {query.text}" if query.text else ""
    causes = el("ul", *(el("li", str(cause)) for cause in query.causes))
    return join([el("p", ident(query.query), f" {score(query.value)}{asked}"), causes])


def check(name: str) -> None:
    """Whether there is a format of that name, before any work is done."""
    if name not in _FORMATS:
        raise one_of("format", name, _FORMATS)


def render_diagnosis(found: Diagnosed, name: str, worst: int | None = None) -> str:
    """The diagnosis as text in the named format; a screen lists so many queries, three where nobody says."""
    check(name)
    if name == "table":
        return told.screen(found, worst)
    return _FORMATS[name](found)


_FORMATS: dict[str, Callable[[Diagnosed], str]] = {
    "table": told.screen,
    "full": told.text,
    "markdown": told.markdown,
    "html": html,
    "json": told.as_json,
}
