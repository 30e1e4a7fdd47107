"""Where the relevant documents stand: a heat map of ranks."""

from __future__ import annotations

from collections.abc import Sequence

from rankproof.reporting.html.content import BUCKETS, Content, Ranks
from rankproof.reporting.html.markup import Child, Markup, el, fold, ident, join, table
from rankproof.reporting.html.page import Section
from rankproof.reporting.html.sections.differences import query
from rankproof.reporting.numbers import count, share

LEVELS = (0.0, 0.1, 0.25, 0.5)
"""The shares above which the colour of a cell is stronger."""


def section(content: Content) -> Section:
    """All queries of each system, then single queries under the systems shown."""
    lead = el(
        "p",
        f"At which ranks the relevant documents stand ({content.relevant}); the last column has those that were "
        "not found. The stronger the colour of a cell, the larger its share of the row. A good system has its "
        "colour on the left.",
    )
    rows = [[ident(name), *_cells(counts, shares=True)] for name, counts in content.buckets.items()]
    whole = table("Relevant documents by rank, all queries", _headings("system"), rows, cls="heat")
    single = (_queries(content, i, name) for i, name in enumerate(content.shown))
    return Section("ranks", "Where the relevant documents stand", join([lead, whole, *single]))


def _queries(content: Content, i: int, name: str) -> Markup:
    rows = [[query(content, each.query), *_cells(each.counts[i])] for each in content.ranks]
    listed = table(f"{name}: relevant documents by rank", _headings("query"), rows, cls="heat")
    return fold(join([ident(name), el("small", f" {_which(content, content.ranks)}")]), listed)


def _which(content: Content, shown: Sequence[Ranks]) -> str:
    if len(shown) == content.queries:
        return f"all {count(len(shown), 'query', 'queries')}, hardest first"
    left = count(content.queries - len(shown), "other", "others")
    return f"the {count(len(shown), 'hardest query', 'hardest queries')}; {left} left out"


def _headings(first: str) -> list[str]:
    return [first, *(between(*each) for each in BUCKETS), "not found"]


def between(low: int, high: int | None) -> str:
    """A bucket of ranks as a heading."""
    return f"{low}+" if high is None else f"{low}" if low == high else f"{low}-{high}"


def _cells(counts: Sequence[int], shares: bool = False) -> list[Child]:
    """The counts, shaded by their share of the row."""
    total = sum(counts) or 1
    last = len(counts) - 1
    return [
        el("td", _shown(n, total, shares), cls=f"h{_level(n / total)}{' miss' if i == last else ''}")
        for i, n in enumerate(counts)
    ]


def _shown(number: int, total: int, shares: bool) -> str:
    if not number:
        return "0" if shares else "·"
    return share(number / total) if shares else f"{number:,}"


def _level(part: float) -> int:
    return sum(part > each for each in LEVELS[1:]) + (part > 0)
