"""Leaderboards, rank correlations and saved results as text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rankproof.document.numbers import ABSENT, count, score, share, short_span
from rankproof.document.terminal import Column, cut, page_height, table, wrap
from rankproof.errors import one_of
from rankproof.scoring import latex as tex
from rankproof.scoring import markdown
from rankproof.scoring.tables import DISTRUST
from rankproof.stats.corrections import groups

View = Mapping[str, Any]
Grid = tuple[Sequence[str], Sequence[Sequence[str]]]
"""Headings, and rows of cells; the first column is text."""
FORMATS = ("table", "full", "markdown", "json")
BOARDS = ("table", "full", "markdown", "latex", "json")
SMALL = 10
"""With fewer queries nothing is decided."""
NAMED = 5
"""So many queries or systems are named, others are counted."""


def check(name: str, formats: Sequence[str] = FORMATS) -> None:
    """Whether there is a format of that name, before any work is done."""
    if name not in formats:
        raise one_of("format", name, formats)


def render_leaderboard(view: View, name: str) -> str:
    """The leaderboard as text in the named format."""
    check(name, BOARDS)
    return latex(view) if name == "latex" else _rendered(view, name, _means, _trust)


def latex(view: View) -> str:
    """The leaderboard as a LaTeX table: the letters of what cannot be told apart as superscripts."""
    rows = [
        [
            tex.escape(name),
            f"{tex.escape(score(mean))}$^{{{','.join(view['letters'][name])}}}$",
            tex.escape(short_span(*view["intervals"][name])),
            rank,
        ]
        for (name, mean), rank in zip(
            view["means"].items(), _ranks(list(view["means"].values()), view["higher"]), strict=True
        )
    ]
    said = [f"% {tex.escape(each)}" for each in ("needs: booktabs, textcomp", *_trust(view))]
    headings = ["system", tex.escape(view["measure"]), "interval", "rank"]
    return "\n".join([*said, *tex.table(headings, rows)]) + "\n"


def render_correlation(view: View, name: str) -> str:
    """The correlation of two orders as text in the named format."""
    return _rendered(view, name, _places, _alike)


def _rendered(
    view: View, name: str, grid: Callable[[View], Grid], said: Callable[[View], Sequence[str]]
) -> str:
    check(name)
    if name == "json":
        return json.dumps(dict(view), indent=2, ensure_ascii=False) + "\n"
    headings, rows = grid(view)
    wrong = view.get("wrong", ())
    if name == "markdown":
        cells = [[markdown.escape(cell) for cell in row] for row in rows]
        lines = markdown.table([markdown.escape(each) for each in headings], cells)
        above = [f"{DISTRUST} {markdown.escape(each)}\n" for each in wrong]
        return "\n".join([*above, *lines, *(f"\n{markdown.escape(each)}" for each in said(view))]) + "\n"
    columns = zip(headings, zip(*rows, strict=True), strict=True)
    lines = table([Column(cut(h, 24), cells, h != headings[0]) for h, cells in columns])
    above = [line for each in wrong for line in (*wrap(f"{DISTRUST} {each}"), "")]
    return "\n".join([*above, *lines, "", *(line for each in said(view) for line in wrap(each))]) + "\n"


def _means(view: View) -> Grid:
    ranks = _ranks(list(view["means"].values()), view["higher"])
    rows = [
        (name, score(mean), short_span(*view["intervals"][name]), rank, ",".join(view["letters"][name]))
        for (name, mean), rank in zip(view["means"].items(), ranks, strict=True)
    ]
    return ("system", view["measure"], "interval", "rank", "letters"), rows


def _trust(view: View) -> list[str]:
    """How far the order can be trusted, in words."""
    moves, n = view["moves"], view["queries"]
    if not moves:
        left = (
            f"No single one of the {n:,} queries decides this order; whether other queries would give the same is "
            "what the letters say."
        )
    else:
        left = (
            f"Leaving out one of the {n:,} queries changes the order for {count(len(moves), 'query', 'queries')} "
            f"({_some(moves)}), the first place for {view['first_changes']}; tau-b is {score(view['least'])} at "
            f"the least and {score(view['average'])} on average."
        )
    pairs = count(view["pairs"], "pair", "pairs")
    lost = view.get("left_out", 0)
    fewer = f"{count(lost, 'query', 'queries')} without a value in some system left out of all means."
    return [
        *([fewer] if lost else []),
        *view.get("notes", ()),
        _groups(view),
        left,
        f"Told apart beyond chance: {view['told_apart']} of {pairs} of systems (sign flips, Holm, at "
        f"{view['alpha']:g}). Two halves of the queries disagree about the better of two systems "
        f"{share(view['swap_rate'])} of the time.",
    ]


def _groups(view: View) -> str:
    """In one sentence which systems cannot be told apart."""
    several = {letter: names for letter, names in groups(view["letters"]).items() if len(names) > 1}
    few = f" (fewer than {SMALL} queries decide nothing)" if view["queries"] < SMALL else ""
    if not several:
        return "Every system is told apart from every other."
    if len(next(iter(several.values()))) == len(view["means"]):
        return f"No two of these systems can be told apart{few}."
    named = "; ".join(f"{letter} {_some(names)}" for letter, names in list(several.items())[:NAMED])
    more = f"; and {len(several) - NAMED} more groups" if len(several) > NAMED else ""
    return f"Systems that share a letter cannot be told apart: {named}{more}."


def _places(view: View) -> Grid:
    pairs = view["scores"]
    first, second = ([pair[i] for pair in pairs.values()] for i in (0, 1))
    ranks = [_ranks(first, view["higher"][0]), _ranks(second, view["higher"][1])]
    rows = [
        (name, score(one), mine, score(other), theirs)
        for (name, (one, other)), mine, theirs in zip(pairs.items(), *ranks, strict=True)
    ]
    return ("system", view["names"][0], "rank", view["names"][1], "rank"), rows


def _ranks(values: Sequence[float], higher: bool) -> list[str]:
    """The place of each value; equal values share the better one."""
    best_first = sorted(values, reverse=higher)
    return [str(best_first.index(value) + 1) for value in values]


def _alike(view: View) -> list[str]:
    """The correlations in words, and what limits them."""
    absent = [f"{ABSENT} {note}." for note in view["notes"]]
    said = [
        f"Kendall's tau-b {_value(view['tau_b'])}, over {count(view['systems'], 'system')} that both order.",
        f"tau-AP {_value(view['tau_ap'])}, with {view['names'][1]} as the truth: the top weighs more.",
        f"RBO {_value(view['rbo'])} (p = {view['rbo_p']:g}).",
    ]
    left = view["left_out"]
    return [*said, *absent, *([f"Left out, as only one has them: {_some(left)}."] if left else [])]


def _value(value: float | None) -> str:
    return ABSENT if value is None else score(value)


def _some(names: Sequence[str]) -> str:
    """The first names; the others are counted."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(cut(each, 30) for each in names[:NAMED]) + more


Entry = Mapping[str, Any]
SHOWN = 2
"""So many measures have a column in a list."""


def shown() -> int:
    """How many saved results one screen lists."""
    return page_height() - 4


def listed(entries: Sequence[Entry], more: int = 0) -> str:
    """A line for each saved result, the oldest first, with the measures that most of them have.

    `more` older ones are said to be there.
    """
    if not entries:
        return "Nothing is saved yet. Next: 'rankproof evaluate ... --save NAME'.\n"
    columns = [
        Column("name", [each["name"] for each in entries]),
        Column("saved (UTC)", [_moment(each) for each in entries]),
        *(
            Column(m, [score(each["means"].get(m)) for each in entries], right=True)
            for m in _commonest(entries)
        ),
        Column("judgments", [each["judgments"][:8] for each in entries]),
    ]
    if any(each["commit"] for each in entries):
        columns.append(Column("commit", [(each["commit"] or "")[:8] for each in entries]))
    if any(each["tags"] for each in entries):
        columns.append(Column("tags", [_tags(each) for each in entries]))
    older = [f"{count(more, 'older one')} with --full."] if more else []
    return "\n".join([*table(columns), *older]) + "\n"


def _commonest(entries: Sequence[Entry]) -> list[str]:
    counts: dict[str, int] = {}
    for each in entries:
        for measure in each["means"]:
            counts[measure] = counts.get(measure, 0) + 1
    return sorted(counts, key=lambda measure: -counts[measure])[:SHOWN]


def _moment(entry: Entry) -> str:
    return str(entry["saved_at"])[:16].replace("T", " ")


def _tags(entry: Entry) -> str:
    return " ".join(f"{key}={value}" for key, value in entry["tags"].items())


def described(entry: Entry) -> str:
    """Where and by what a saved result was made."""
    commit = f", commit {entry['commit'][:12]}" if entry["commit"] else ""
    made = f"rankproof {entry['rankproof']}, Python {entry['python']}{commit}"
    lines = wrap(f"Saved {_moment(entry)} UTC by {made}.")
    lines += wrap(f"Fingerprints: judgments {entry['judgments'][:12]}, ranking {entry['ranking'][:12]}.")
    lines += wrap(f"Tags: {_tags(entry)}.") if entry["tags"] else []
    return "\n".join(lines) + "\n"


def as_json(entries: Sequence[Entry]) -> str:
    """The entries as JSON, with full precision."""
    return json.dumps(list(entries), indent=2, ensure_ascii=False) + "\n"
