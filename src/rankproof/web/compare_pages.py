"""Comparisons of rankings: the verdict on two, every query as a point and as a row, the gate; leaderboard."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace

from rankproof.comparing.comparison import Comparison, hits_of, relevant_from
from rankproof.comparing.gate import Gate
from rankproof.comparing.leaderboard import Leaderboard, leaderboard
from rankproof.comparing.words import DECIDED
from rankproof.document.charts import WIDE, Scale, figure, label, line, number, picture, x_axis, y_axis
from rankproof.document.formats.html import part_of_page
from rankproof.document.model import Part
from rankproof.document.numbers import count, score, signed_number, ticks
from rankproof.document.page import Markup, combine, el, head_cell, ident, join
from rankproof.errors import UsageError
from rankproof.scoring.scores import Scores
from rankproof.web.site import (
    Choice,
    Choices,
    Page,
    Site,
    button,
    is_given,
    measure_of,
    note,
    part_of_result,
    sections,
    select,
    wrong_card,
)

MODES = {
    "nothing": "nothing relevant found",
    "part": "a part never found",
    "low": "all found, ranked too low",
    "best": "as good as possible",
    "none": "nothing relevant exists",
}
"""How a query fails under the second ranking."""
EQUAL = 1e-12
HARDEST = "hardest"
"""The order of the queries on their own page, as addresses hold it."""


@dataclass(frozen=True, slots=True)
class QueryRow:
    """One query under both rankings."""

    query: str
    words: str
    mine: float
    theirs: float
    gain: float
    """The difference, turned so that more is better."""
    group: str
    mode: str
    grade: float
    """The best grade that a document has for it."""

    @property
    def outcome(self) -> str:
        """won, lost or equal."""
        return "equal" if abs(self.gain) < EQUAL else "won" if self.gain > 0 else "lost"

    @property
    def filtered_by(self) -> dict[str, str]:
        """What the filters choose it by."""
        return {"outcome": self.outcome, "group": self.group, "mode": self.mode, "grade": f"{self.grade:g}"}


def query_rows(site: Site, baseline: str, system: str, measure: str, corrected: bool = False) -> list[QueryRow]:
    """Every query that counts for both, the greatest losses first."""
    old, new = (site.workspace.scores(name, corrected) for name in (baseline, system))
    first, second, sign = old.values(measure), new.values(measure), old.column(measure).measure.spec.sign
    groups = {new.queries[i]: name for name, places in new.groups.items() for i in places.tolist()}
    modes, judgments, texts = _modes(new, measure), new.judgments, site.workspace.questions
    found = [
        QueryRow(
            query,
            texts.get(query, ""),
            first[query],
            second[query],
            sign * (second[query] - first[query]),
            groups.get(query, ""),
            modes[query],
            0.0 if judgments is None else max(judgments.of(query).values(), default=0.0),
        )
        for query in second
        if query in first
    ]
    return sorted(found, key=lambda row: row.gain)


def fits(row: QueryRow, wanted: Choices) -> bool:
    """Whether the filters choose this query, as the script of the page has it."""
    chosen = all(wanted.get(name) in (None, "", value) for name, value in row.filtered_by.items())
    return chosen and wanted.get("text", "").lower() in f"{row.query}{row.words}".lower()


def _modes(scores: Scores, measure: str) -> dict[str, str]:
    hits, rel = hits_of(scores), relevant_from(scores)
    wanted = hits.ideal.relevant(rel).count().tolist()
    got = hits.relevant(rel).count().tolist()
    values = scores.column(measure).values.tolist()
    best = max(values, default=0.0)
    return {
        query: "none" if not w else "nothing" if not g else "part" if g < w else "best" if v >= best - EQUAL else "low"
        for query, w, g, v in zip(scores.queries, wanted, got, values, strict=True)
    }


def pair_of(site: Site, choices: Choices) -> tuple[str, str]:
    """The two rankings that were chosen, else the baseline and the best of the others."""
    space = site.workspace
    a = choices.get("a") or space.baseline()
    b = choices.get("b") or space.rival(a)
    if b is None:
        one = "there is only one ranking here that can be scored, and a comparison needs two."
        raise UsageError(f"{one} Next: put another into the folder.")
    if a == b:
        raise UsageError(f"{a} cannot be compared with itself. Next: choose another ranking.")
    space.run(a), space.run(b)
    return a, b


def compare(site: Site, choices: Choices) -> Page:
    """The page of two rankings."""
    a, b = pair_of(site, choices)
    scores = site.workspace.scores(a)
    measure = measure_of(scores, choices.get("m"))
    corrected = is_given(choices)
    rows = query_rows(site, a, b, measure, corrected)
    verdict = site.later(comparison_part, "verdict", a=a, b=b, m=measure, given=corrected)
    more = " Drag a box over points, or use the filters below: both pictures and the table follow."
    about = f"Each point is a query: above the line it got better.{'' if site.links.static else more}"
    pictures = el("div", _scatter(measure, a, b, rows), _sorted(measure, rows), cls="grid")
    return Page(
        f"{b} against {a}",
        sections(
            ("verdict", "Verdict", verdict),
            ("pictures", f"{measure}, query by query", combine(note(about), pictures)),
            ("queries", "Queries", combine(_filters(rows), query_table(site, a, b, measure, rows, corrected))),
        ),
        opening=choose(site, "compare", a, b, measure, list(scores), corrected),
        scripts=("compare",),
    )


def choose(
    site: Site, page: str, a: str, b: str, measure: str, measures: Sequence[str], corrected: bool
) -> Markup | None:
    """The form that chooses what is compared."""
    runs = list(site.workspace.runs)
    given = el(
        "label",
        el("input", type="checkbox", name="given", value="yes", checked="checked" if corrected else None),
        " with the grades given here",
    )
    return site.choose(
        page,
        select("a", "before", runs, a),
        select("b", "after", runs, b),
        select("m", "measure", measures, measure) if measures else None,
        given if site.workspace.grades else site.note_of_aspects(),
    )


def comparison_part(site: Site, choices: Choices) -> tuple[Future[Comparison], Callable[[Comparison], Markup]]:
    """The result of `rankproof compare`, the chosen measure first: errors, the verdict in words, and the tables."""
    chosen = choices.get("m")

    def show(found: Comparison) -> Markup:
        rows = sorted(found.rows, key=lambda row: row.measure != chosen)
        whole = replace(found, rows=rows, names=sorted(found.names, key=lambda name: name != chosen))._document()
        wrong, *others = whole.parts
        *words, _ = (each for each in others if isinstance(each, Part) and each.name == DECIDED)
        tables = [each for each in others if each not in words]
        return part_of_page(replace(whole, parts=[wrong, *words, *tables]))

    return site.workspace.comparison(*pair_of(site, choices), is_given(choices)), show


def gate_part(site: Site, choices: Choices) -> tuple[Future[Gate], Callable[[Gate], Markup]]:
    """The result of `rankproof gate` as part of a page."""
    return site.workspace.gate(*pair_of(site, choices), is_given(choices)), part_of_result


HIGH, LEFT, TOP, BOTTOM = 300, 52, 28, 34
"""The edges of the pictures: a signed number of four digits fits on the left, the name of an axis above it."""

WORDS = 48


def _scatter(measure: str, a: str, b: str, rows: Sequence[QueryRow]) -> Markup:
    """Every query by its value before and after."""
    values = [value for row in rows for value in (row.mine, row.theirs)] or [0.0, 1.0]
    low, high = min(0.0, *values), max(1.0 if max(values) <= 1 else max(values), *values)
    x, y = Scale(low, high, LEFT, WIDE - 12), Scale(low, high, HIGH - BOTTOM, TOP)
    axes = [x_axis(x, HIGH - BOTTOM, TOP, ticks(low, high)), y_axis(y, LEFT, WIDE - 12, ticks(low, high))]
    diagonal = line(x(low), y(low), x(high), y(high), "zero")
    points = join(_point(i, row, x(row.mine), y(row.theirs)) for i, row in enumerate(rows))
    named = [
        label((LEFT + WIDE) / 2, HIGH - 4, f"before: {a}", "axis mid", WORDS),
        label(2, 10, f"after: {b}", "axis", WORDS),
    ]
    says = f"{count(len(rows), 'query')}; the table below has the values"
    drawn = picture(f"{measure} before and after", says, HIGH, *axes, diagonal, el("g", points, cls="points"), *named)
    return figure(f"{measure} before and after", el("div", drawn, id="scatter"))


def _point(i: int, row: QueryRow, x: float, y: float) -> Markup:
    told = f"{row.query}: {score(row.mine)} to {score(row.theirs)}"
    return el("circle", el("title", told), cx=number(x), cy=number(y), r=3, cls=f"dot {row.outcome}", data_i=i)


def _sorted(measure: str, rows: Sequence[QueryRow]) -> Markup:
    limit = max((abs(row.gain) for row in rows), default=1.0) or 1.0
    y = Scale(-limit, limit, HIGH - BOTTOM, 12)
    x = Scale(0, max(len(rows), 1), LEFT, WIDE - 12)
    wide = max(x(1) - x(0), 0.2)
    bars = join(
        el(
            "rect",
            el("title", f"{row.query}: {signed_number(row.theirs - row.mine)}"),
            x=f"{x(i):.2f}",
            y=number(min(y(row.gain), y(0)) - (0.5 if row.outcome == "equal" else 0)),
            width=f"{wide:.2f}",
            height=number(max(abs(y(row.gain) - y(0)), 1)),
            cls=f"bar {row.outcome}",
            data_i=i,
        )
        for i, row in enumerate(rows)
    )
    axis = y_axis(y, LEFT, WIDE - 12, [-limit, 0.0, limit], "+")
    tally = {name: sum(row.outcome == name for row in rows) for name in ("won", "equal", "lost")}
    says = f"{tally['won']:,} better, {tally['equal']:,} equal, {tally['lost']:,} worse"
    zero = line(LEFT, y(0), WIDE - 12, y(0), "zero")
    drawn = picture(f"Differences of {measure}", says, HIGH, axis, el("g", bars, cls="bars"), zero)
    return figure(f"Differences, sorted: {says}", el("div", drawn, id="sorted"))


def _filters(rows: Sequence[QueryRow]) -> Markup | None:
    groups = sorted({row.group for row in rows if row.group})
    grades = sorted({row.grade for row in rows})
    return el(
        "form",
        el("label", el("span", "text or id"), el("input", type="search", name="text", size=16)),
        select("outcome", "outcome", {"": "all", "won": "won", "lost": "lost", "equal": "equal"}, ""),
        select("group", "group", {"": "all", **{each: each for each in groups}}, "") if groups else None,
        select("mode", "after", {"": "all", **MODES}, ""),
        select("grade", "best grade", {"": "all", **{f"{each:g}": f"{each:g}" for each in grades}}, ""),
        button("All", type="reset"),
        el("output", f"{len(rows):,} of {len(rows):,}", id="shown", aria_live="polite"),
        cls="choices needs-script",
        id="filters",
    )


def query_table(
    site: Site,
    a: str,
    b: str,
    measure: str,
    rows: Sequence[QueryRow],
    corrected: bool = False,
    order: str = "",
) -> Markup:
    """Every query as a row, in the order given: `HARDEST` first, or by default the greatest losses first."""
    about: dict[str, Choice] = {"a": a, "b": b, "m": measure, "given": corrected, "order": order}
    grouped = any(row.group for row in rows)
    numbers = ("before", "after", "change")
    headings = ("query", *numbers, *(["group"] if grouped else []), "after it")
    head = el("tr", *(head_cell(each, cls=None if each in numbers else "w") for each in headings))
    body = el("tbody", *(_row(site, i, row, grouped, about) for i, row in enumerate(rows)))
    first = f"the hardest for {b}" if order == HARDEST else "the greatest losses"
    caption = el("caption", el("span", f"{measure} of each query, {first} first"))
    whole = el("table", caption, el("thead", head), body, id="rows")
    if not site.links.static:
        for name in (a, b):
            site.workspace.documents(name)  # each row leads to the documents of a query
    return el("div", whole, cls="scroll", tabindex=0, role="group", aria_label="Queries")


def _row(site: Site, i: int, row: QueryRow, grouped: bool, about: Mapping[str, Choice]) -> Markup:
    words = el("small", ident(row.words)) if row.words else None
    name = site.link(ident(row.query), "query", id=row.query, **about)
    return el(
        "tr",
        el("th", name, words, scope="row", cls="w"),
        el("td", score(row.mine)),
        el("td", score(row.theirs)),
        el("td", signed_number(row.theirs - row.mine), cls={"won": "up", "lost": "down"}.get(row.outcome)),
        el("td", ident(row.group), cls="w") if grouped else None,
        el("td", MODES[row.mode], cls="w"),
        data_i=i,
        **{f"data_{name}": value or None for name, value in row.filtered_by.items()},
    )


def gate(site: Site, choices: Choices) -> Page:
    """The page that a red build links to: the decision, the queries behind it, and the number that would decide it."""
    a, b = pair_of(site, choices)
    measure = measure_of(site.workspace.scores(a), None)
    corrected = is_given(choices)
    rows = query_rows(site, a, b, measure, corrected)
    lost = [row for row in rows if row.outcome == "lost"]
    decided = site.later(gate_part, "gate", a=a, b=b, given=corrected)
    number_lost = count(len(lost), "query lost", "queries lost")
    number_given = sum(map(len, site.workspace.grades.values()))
    given = f"{'Counted' if corrected else 'Not counted'} above: {count(number_given, 'grade')} given here."
    about = "the greatest loss first. Open one to see both rankings, and to correct a grade that is wrong."
    made = combine(el("p", f"{number_lost}, {about}"), query_table(site, a, b, measure, lost[:20], corrected))
    return Page(
        f"May {b} replace {a}?",
        sections(
            ("decision", "Decision", decided),
            ("lost", "The queries behind it", made if lost else note("No query lost.")),
            ("given", "Grades given here", el("p", given)) if number_given else None,
        ),
        opening=choose(site, "gate", a, b, "", [], corrected),
        scripts=("compare",),
    )


MOST = 50
"""Rankings on a leaderboard: every pair of them is compared."""


def board(site: Site, choices: Choices) -> Page:
    """The rankings in their order, and how far it can be trusted."""
    space = site.workspace
    if len(ranked := space.scorable()) < 2:
        raise UsageError(
            "a leaderboard needs two rankings or more that can be scored. Next: put another into the folder."
        )
    scores = space.scores(space.baseline())
    measure = measure_of(scores, choices.get("m"))
    shown = site.later(board_part, "leaderboard", m=measure)
    chosen = site.choose("leaderboard", select("m", "measure", list(scores), measure))
    wrong = join(wrong_card(name, error) for name in space.runs if (error := space.error(name)))
    many = note(f"The first {MOST} of {len(ranked):,} rankings, by name.") if len(ranked) > MOST else None
    body = combine(many, shown, el("h3", "Left out") if wrong else None, wrong)
    return Page(f"Leaderboard by {measure}", sections(("board", "Order", body)), opening=chosen)


def board_part(site: Site, choices: Choices) -> tuple[Future[Leaderboard], Callable[[Leaderboard], Markup]]:
    """The result of `rankproof leaderboard` as part of a page."""
    space = site.workspace
    measure = measure_of(space.scores(space.baseline()), choices.get("m"))
    scores = {name: space.scores(name) for name in space.scorable()[:MOST]}
    stamp = [each.stamp for each in (space.judgments_file, *map(space.run, scores)) if each is not None]
    allowed = space.settings.allowances
    return space.later(("board", measure), stamp, lambda: leaderboard(scores, measure, **allowed)), part_of_result
