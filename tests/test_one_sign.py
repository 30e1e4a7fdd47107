"""A measure where less is better gets the answers of its mirror image where more is better, from every verb."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankproof import (
    Benchmark,
    History,
    compare,
    compare_scores,
    diagnose,
    evaluate,
    gate,
    gate_scores,
    grid,
    judge,
    leaderboard,
    report,
    tune,
)
from rankproof.core.hits import Hits, PerQuery
from rankproof.core.names import forget, measure, parse
from rankproof.document.formats import as_text, check
from rankproof.judging.verdicts import Relation
from rankproof.scoring.words import scores as words

N = 40
JUDGED = {f"q{i}": {"a": 1} for i in range(N)}
NAMES = ("poor", "fair", "good")


def ranked(name: str, i: int) -> list[str]:
    """The good system has the document first (but for some questions), the fair one second, the poor one last."""
    place = {"good": 0 if i % 9 else 4, "fair": 1 if i % 7 else 0, "poor": 3 if i % 5 else 2}[name]
    others = ["x", "y", "z", "w"]
    return [*others[:place], "a", *others[place:]]


SYSTEMS = {name: {q: ranked(name, i) for i, q in enumerate(JUDGED)} for name in NAMES}


@pytest.fixture(autouse=True)
def mirrors() -> Iterator[None]:
    """A user's own measure and its mirror image."""

    def places(h: Hits) -> PerQuery:
        return parse("RR")(h)

    @measure("Up", at=None)
    def up(h: Hits) -> PerQuery:
        "How far up the first relevant document stands."
        return places(h)

    @measure("Down", at=None, higher=False)
    def down(h: Hits) -> PerQuery:
        "The mirror image."
        return 1 - places(h)

    @measure("UpTo", at=None)
    def up_to(h: Hits) -> PerQuery:
        "The mirror image of FirstRel."
        return 10 - parse("FirstRel")(h)

    yield
    for name in ("Up", "Down", "UpTo"):
        forget(name)


MIRRORED = [("Up", "Down"), ("UpTo", "FirstRel")]


def marked(text: str, found: Callable[[str], bool]) -> list[str]:
    """Which systems stand in a line of a table that has the mark of the best."""
    return [name for line in text.splitlines() for name in NAMES if name in line and found(line)]


def answers(name: str, tmp: Path) -> dict[str, Any]:
    """What every verb says of these systems by one measure, numbers left out."""
    scores = {system: evaluate(JUDGED, run, name) for system, run in SYSTEMS.items()}
    compared = compare(JUDGED, SYSTEMS, name)
    # One of two mirrored measures may have a bound, and then the other says alone that it has none.
    whole = re.sub(r"\S+: no bound is known.*?apart\.\n", "", compared.format("full"), flags=re.DOTALL)
    board = leaderboard(scores)
    bench = Benchmark(queries={q: f"question {i}" for i, q in enumerate(JUDGED)}, judgments=JUDGED)
    for system in NAMES:
        bench.run(system, lambda text, system=system: ranked(system, int(text.split()[-1])))
    standings = bench.compare(name)
    tried = grid(
        {
            "corpus": {"a": "words"},
            "questions": {q: f"question {i}" for i, q in enumerate(JUDGED)},
            "judgments": JUDGED,
            "measure": name,
            "retrievers": {s: (lambda text, s=s: ranked(s, int(text.split()[-1]))) for s in NAMES},
        }
    )
    tuned = tune(JUDGED, {s: SYSTEMS[s] for s in ("poor", "good")}, "weighted-sum", name, normalise="rank")
    history = History(tmp / f"{name}.db")
    for system, each in scores.items():
        history.save(each, system)
    page = report(JUDGED, SYSTEMS, name)
    diagnosed = diagnose(JUDGED, SYSTEMS["good"], measure=name)
    summaries = [each.summary(system) for system, each in scores.items()]
    text = as_text(words(summaries), check("table"))
    return {
        "winner": compared.winner,
        "verdicts": [row.verdict for row in compared],
        "wins": [(row.wins, row.losses) for row in compared],
        "moved": compared.moved("good")[0][0] and [q for q, _ in compared.moved("fair")],
        "cases": [(case.query, case.why.split()[0]) for case in compared.cases(3)],
        "blocks": [line for line in whole.splitlines() if "|" in line],
        "said": re.sub(r"[-+]?\d\.\d+", "#", whole.rpartition("\n\n")[2]).replace(name, "M"),
        "gate": [gate(JUDGED, SYSTEMS["good"], SYSTEMS[s], name).outcome for s in NAMES],
        "back": [gate(JUDGED, SYSTEMS["poor"], SYSTEMS[s], name).outcome for s in NAMES],
        "saved": (history.compare(*NAMES).winner, history.gate("good", "poor").outcome),
        "board": list(board.means),
        "ranks": [(line.split()[0], line.split()[-2:]) for line in str(board).splitlines()[2:5]],
        "standings": (standings.order, standings.leader, standings.winner, standings.rivals),
        "grid": (tried.winner, tried.held and tried.held.verdict),
        "tuned": tuned.settings,
        "worst": [q for q, _ in scores["good"].worst(6)],
        "diagnosed": sorted(each.query for each in diagnosed.worst),
        "leader": (page.content.leader, page.content.shown),
        "report": f"good is better than poor on {name}" in page.html(),
        "pages": [f"good is better than poor on {name}" in text for text in (page.format("full"), page.markdown())],
        "table": marked(text, lambda line: "*" in line),
        "column": [cell.strip().endswith("*") for cell in re.findall(r"\d\.\d+\*?", text)[:3]],
        "latex": marked(as_text(words(summaries), check("latex")), lambda line: "textbf" in line),
    }


@pytest.mark.slow
@pytest.mark.parametrize(("up", "down"), MIRRORED)
def test_every_verb_gives_the_mirrored_measure_the_same_answers(up: str, down: str, tmp_path: Path) -> None:
    more, less = answers(up, tmp_path), answers(down, tmp_path)
    assert more["winner"] == "good"
    assert more["board"] == ["good", "fair", "poor"]
    assert {key: (more[key], less[key]) for key in more if more[key] != less[key]} == {}


METRICS = ("hallucination_rate", "contradiction_rate")


@pytest.mark.first_is_quick
@pytest.mark.parametrize("metric", METRICS)
def test_less_of_what_an_answer_should_not_do_wins(metric: str) -> None:
    def samples(bad: int) -> list[dict[str, Any]]:
        return [
            {
                "id": f"s{i}",
                "query": "What?",
                "contexts": ["c"],
                "answer": "Bad fees rise." if i < bad else "Good fees fall.",
            }
            for i in range(30)
        ]

    def verdicts(relation: str, left: str, right: str) -> int:
        return 0 if relation == Relation.ANSWER_ADDRESSES else -1 if "Bad" in left else 1

    scores = {n: judge(samples(bad), metric, judge=verdicts) for n, bad in (("worst", 27), ("old", 15), ("new", 3))}
    assert scores["worst"][metric] > scores["new"][metric]
    compared = compare_scores(scores, baseline="old")
    assert compared.winner == "new"
    assert [row.verdict for row in compared] == ["worse", "better"]
    assert list(leaderboard(scores).means) == ["new", "old", "worst"]
    assert [gate_scores(scores["old"], scores[n]).outcome for n in ("worst", "new")] == ["fail", "pass"]
    table = as_text(words([each.summary(name) for name, each in scores.items()]), check("markdown"))
    cells = next(line for line in table.splitlines() if metric in line.replace("\\", "")).split("|")
    assert ["\\*" in cell for cell in cells[2:5]] == [False, False, True]
    assert "new is better than old" in str(compared)
    assert np.isclose(scores["new"][metric], 0.1)
