"""Leaderboards, rank correlations, kinship, the history and comparisons of spread values as documents."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from rankproof.core.conventions import FEWEST_TO_DECIDE, TOO_FEW_TO_DECIDE
from rankproof.document.charts import Bar, figure, whiskers
from rankproof.document.model import (
    PAGE,
    PAPER,
    TERMINAL,
    Cell,
    Chart,
    Column,
    Document,
    Heading,
    Paragraph,
    Part,
    Table,
)
from rankproof.document.numbers import ABSENT, count, first_of, for_face, score, share, short_span, span
from rankproof.document.terminal import cut_apart, page_height
from rankproof.scoring.words import wrong_data
from rankproof.stats.agreement import round_off_noise
from rankproof.stats.corrections import groups

if TYPE_CHECKING:
    from rankproof.comparing.correlation import Kinship
    from rankproof.comparing.spread_comparison import SpreadComparison

View = Mapping[str, Any]
NAMED = 5
"""The number of queries or systems that are named; the others are counted."""


def leaderboard(view: View) -> Document:
    """The systems by their means, and how far that order can be trusted; `view` is `Leaderboard.to_dict`."""
    names, means = list(view["means"]), [score(mean) for mean in view["means"].values()]
    letters = [",".join(view["letters"][name]) for name in names]
    intervals = Column("interval", [short_span(*view["intervals"][name]) for name in names], True)
    ranks = Column("rank", _ranks(list(view["means"].values()), view["higher"]), True)
    raised = [Cell(mean, raised=each) for mean, each in zip(means, letters, strict=True)]
    system, measure = Column("system", names), view["measure"]
    shown = [system, Column(measure, means, True), intervals, ranks, Column("letters", letters, True)]
    records, bars = [], []
    for (name, mean), rank, letter in zip(view["means"].items(), ranks.cells, letters, strict=True):
        low, high = view["intervals"][name]
        ends = {"low": low, "high": high, "rank": int(rank), "letters": letter, "queries": view["queries"]}
        records.append({"system": name, "measure": measure, "mean": mean, **ends})
        low, high = (math.nan if end is None else end for end in (low, high))
        bars.append((name, "", Bar(measure, mean, low, high, math.nan)))
    drawn = Chart("", picture=lambda: figure("Means and intervals", whiskers(measure, bars)))
    parts = [
        wrong_data(view["wrong"]),
        Part(drawn, media=(PAGE,)),
        Part(Table(shown), media=(*TERMINAL, PAGE)),
        # In a paper, the letters of systems that cannot be told apart are superscripts of the means.
        Part(Table([system, Column(measure, raised, True), intervals, ranks]), media=(PAPER,)),
        Part(*map(Paragraph, _trust(view))),
    ]
    return Document(f"Leaderboard by {measure}", parts, records, dict(view))


def correlation(view: View) -> Document:
    """How alike two orders of systems are; `view` is `RankCorrelation.to_dict`."""
    sides = list(zip(*view["scores"].values(), strict=True)) or [(), ()]
    columns = [Column("system", list(view["scores"]))]
    for name, values, higher in zip(view["names"], sides, view["higher"], strict=True):
        columns += [Column(name, [score(each) for each in values], True), Column("rank", _ranks(values, higher), True)]
    places = zip(view["scores"].items(), columns[2].cells, columns[4].cells, strict=True)
    records = [
        {"system": name, "first": one, "first_rank": int(rank), "second": other, "second_rank": int(place)}
        for (name, (one, other)), rank, place in places
    ]
    left = view["left_out"]
    said = [
        f"Kendall's tau-b {score(view['tau_b'])}, over {count(view['systems'], 'system')} that both order.",
        f"tau-AP {score(view['tau_ap'])}, with {view['names'][1]} as the truth: the top weighs more.",
        f"RBO {score(view['rbo'])} (p = {view['rbo_p']:g}).",
        *(f"{ABSENT} {note}." for note in view["notes"]),
        *([f"Left out, as only one has them: {_some(left)}."] if left else []),
    ]
    parts = [wrong_data(view["wrong"]), Part(Table(columns)), Part(*map(Paragraph, said))]
    return Document("Rank correlation", parts, records, dict(view))


def _trust(view: View) -> list[str]:
    """How far the order can be trusted, in words."""
    moves, n = view["moves"], view["queries"]
    if not moves:
        left = (
            f"No single one of the {n:,} queries decides this order; the letters say whether other queries would "
            "give the same."
        )
    else:
        left = (
            f"Leaving out one of the {n:,} queries changes the order for {count(len(moves), 'query')} "
            f"({_some(moves)}), the first place for {view['first_changes']}; tau-b is {score(view['least'])} at "
            f"the least and {score(view['average'])} on average."
        )
    pairs = count(view["pairs"], "pair")
    lost = view.get("left_out", 0)
    fewer = f"{count(lost, 'query')} without a value in some system left out of all means."
    return [
        *([fewer] if lost else []),
        *view.get("notes", ()),
        _groups(view),
        left,
        f"Told apart beyond chance: {view['told_apart']} of {pairs} of systems (sign flips, Holm, at "
        f"{view['alpha']:g}).",
    ]


def _groups(view: View) -> str:
    several = {letter: names for letter, names in groups(view["letters"]).items() if len(names) > 1}
    few = f" ({TOO_FEW_TO_DECIDE})" if view["queries"] < FEWEST_TO_DECIDE else ""
    if not several:
        return "Every system is told apart from every other."
    if len(next(iter(several.values()))) == len(view["means"]):
        return f"No two of these systems can be told apart{few}."
    named = "; ".join(f"{letter} {_some(names)}" for letter, names in list(several.items())[:NAMED])
    more = f"; and {len(several) - NAMED} more groups" if len(several) > NAMED else ""
    return f"Systems that share a letter cannot be told apart: {named}{more}."


def _ranks(values: Sequence[float], higher: bool) -> list[str]:
    """The place of each value; values that are equal but for rounding share the better one."""
    levels = round_off_noise(np.array(values)).tolist()
    best_first = sorted(levels, reverse=higher)
    return [str(best_first.index(level) + 1) for level in levels]


def _some(names: Sequence[str]) -> str:
    return first_of(cut_apart(names, 30), NAMED)


SHOWN = 2
"""The number of measures that have a column in a list."""


def rows_shown() -> int:
    """The number of saved results that one screen lists."""
    return page_height() - 4


def history(entries: Sequence[View], older: int = 0) -> Document:
    """A line for each saved result, the oldest first, with the measures that most of them have.

    `older` ones are counted.
    """
    if not entries:
        nothing = Paragraph(
            f"Nothing is saved yet. Next: {for_face('save(scores, name)', repr('rankproof evaluate ... --save NAME'))}."
        )
        return Document("History", [Part(nothing)])
    counts = Counter(measure for each in entries for measure in each["means"])
    commonest = [measure for measure, _ in counts.most_common(SHOWN)]
    columns = [
        Column("name", [each["name"] for each in entries]),
        Column("saved (UTC)", [_moment(each) for each in entries]),
        *(Column(m, [score(each["means"].get(m)) for each in entries], right=True) for m in commonest),
        Column("judgments", [each["judgments"][:8] for each in entries]),
        Column("commit", [(each["commit"] or "")[:8] for each in entries]),
        Column("tags", [_tags(each) for each in entries]),
    ]
    columns = [each for each in columns if any(each.cells)]
    more = Paragraph(f"{count(older, 'older one')} with {for_face('more entries', '--full')}.")
    records = [
        {**{k: v for k, v in each.items() if k not in ("means", "tags")}, "tags": _tags(each), **each["means"]}
        for each in entries
    ]
    return Document("History", [Part(Table(columns), *([more] if older else []))], records, list(entries))


def _moment(entry: View) -> str:
    return str(entry["saved_at"])[:16].replace("T", " ")


def _tags(entry: View) -> str:
    return " ".join(f"{key}={value}" for key, value in entry["tags"].items())


def entry_paragraphs(entry: View) -> list[Paragraph]:
    """When and by which versions a saved result was made."""
    commit = f", commit {entry['commit'][:12]}" if entry["commit"] else ""
    said = [
        f"Saved {_moment(entry)} UTC by rankproof {entry['rankproof']}, Python {entry['python']}{commit}.",
        f"Fingerprints: judgments {entry['judgments'][:12]}, ranking {entry['ranking'][:12] or 'none'}.",
        *([f"Tags: {_tags(entry)}."] if entry["tags"] else []),
    ]
    return list(map(Paragraph, said))


def kinship(found: Kinship) -> Document:
    """The excess of each system, what follows from it, and which model is whose."""
    of_people, of_machine = found.shared
    opening = (
        f"{found.judge or 'The machine'} against people, on {count(found.pairs, 'pair')} that both judged "
        f"({share(of_people)} of people's, {share(of_machine)} of the machine's)."
    )
    rows = found.rows
    several, known = len({each.measure for each in rows}) > 1, any(each.kin for each in rows)
    columns = [
        Column("system", [each.system for each in rows]),
        *([Column("measure", [each.measure for each in rows])] if several else []),
        Column("n", [count(each.n) for each in rows], True),
        Column("people", [score(each.people) for each in rows], True),
        Column("machine", [score(each.machine) for each in rows], True),
        Column("excess", [score(each.excess) for each in rows], True),
        Column(f"{share(1 - found.alpha)} interval", [span(each.low, each.high) for each in rows], True),
        Column("verdict", [each.verdict for each in rows]),
        *([Column("kin of the judge", [each.kin or "-" for each in rows])] if known else []),
    ]
    parts = [
        Part(Paragraph(opening), Table(columns)),
        Part(*map(Paragraph, _of_excess(found))),
        Part(*(Paragraph(f"Warning: {each}") for each in found.findings)),
    ]
    return Document("Kinship", parts, [asdict(each) for each in rows], found.to_dict())


def _of_excess(found: Kinship) -> Iterator[str]:
    yield (
        "Excess: what the machine gives a system more than people do, less what it gives the others more on "
        f"average. Its intervals hold together at {share(1 - found.alpha)} (Bonferroni), by queries."
    )
    for way in ("favoured", "disfavoured"):
        listed = list(dict.fromkeys(each.system for each in found.rows if each.verdict == way))
        if listed:
            yield (
                f"The machine {'favours' if way == 'favoured' else 'disfavours'} {', '.join(listed)}. Next: believe "
                "people's judgments, or let a model of another maker judge."
            )
    if all(each.verdict == "unclear" for each in found.rows):
        widest = max(max(abs(each.low), abs(each.high)) for each in found.rows)
        yield f"No system shows more than chance; an excess of more than {score(widest)} is ruled out."


def spread_comparison(found: SpreadComparison) -> Document:
    """The differences by measure, with what follows from them."""
    data = found.to_dict()
    one, other = found.names
    rows = [
        [each["measure"], score(each["first"]), score(each["second"]), f"{each['difference']:+.4f}",
         span(each["low"], each["high"]), "-" if each["effect"] is None else f"{each['effect']:+.3f}", each["verdict"]]
        for each in data["measures"]
    ]  # fmt: skip
    headings = ["measure", one, other, "difference", "95 % interval", "effect", "verdict"]
    records = [{"slice": None, **each} for each in data["measures"]]
    said = [f"{count(found.queries, 'query')} with a value of both."]
    if found.margin is None:
        said.append(
            "No margin was given: over so many queries any difference becomes significant. Look at its size, or give "
            "the largest difference that does not matter as margin=."
        )
    else:
        said.append(f"A difference within {found.margin:g} does not matter.")
    said += data["notes"]
    table = Table.of(headings, rows, ["measure", "verdict"])
    parts = [wrong_data(found.wrong), Part(table), Part(*map(Paragraph, said))]
    sliced = []
    for group, columns in found.slices.items():
        for name, each in columns.items():
            sliced.append([group, name, f"{each.difference:+.4f}", span(each.low, each.high), f"{each.n:,}"])
            ends = {"difference": each.difference, "low": each.low, "high": each.high, "p": each.p}
            records.append({"slice": group, "measure": name, **ends})
    if sliced:
        words = ["slice", "measure"]
        table = Table.of([*words, "difference", "95 % interval", "n"], sliced, words, grouped=True)
        parts.append(Part(Heading("Slices"), table, rank=1, name="the slices"))
    return Document(f"{other} against {one}", parts, records, data, kinds={"slice": str, "verdict": str})
