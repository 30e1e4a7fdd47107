"""Running a grid: shared steps once, failures in their rows, nothing asked twice, and the right winner."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rankproof import evaluate, fuse, grid
from rankproof.errors import DataError, UsageError

Make = Callable[[float], Callable[[str], list[str]]]


def test_the_best_wins_and_is_measured_on_questions_that_did_not_choose_it(data: dict[str, Any], finds: Make) -> None:
    found = grid({**data, "measure": "RR", "retrievers": {"poor": finds(0.25), "good": finds(1.0)}})
    assert (found.baseline, found.winner) == ("poor", "good")
    assert found.held is not None
    assert (found.held.mean, found.held.verdict) == (1.0, "better")
    assert found.chosen_on + found.held.n == 40
    assert set(found.rankings["good"]).isdisjoint(set(data["questions"]) - set(found.rankings["good"]))


def test_the_baseline_may_be_named_and_may_win(data: dict[str, Any], finds: Make) -> None:
    found = grid({**data, "baseline": "good", "retrievers": {"poor": finds(0.2), "good": finds(0.9)}, "measure": "RR"})
    assert found.baseline == found.winner == "good"
    assert found.held is not None
    assert (found.held.against, found.held.verdict) == ("poor", "better")
    assert "It is the baseline itself; the second best, poor, has" in " ".join(str(found).split())


def test_rows_are_what_evaluate_gives(data: dict[str, Any]) -> None:
    found = grid({**data, "measures": ["nDCG@10", "R@3"], "k": [3, 10], "retrievers": {"w": "keyword"}})
    for row in found.rows:
        ranking = found.rankings[row.name]
        judged = {query: data["judgments"][query] for query in ranking}
        scores = evaluate(judged, ranking, "nDCG@10, R@3")
        assert row.means == dict(scores.items())
        assert (row.low, row.high) == scores.interval("nDCG@10")
        assert max(map(len, ranking.values())) <= int(row.levels["k"])


def test_a_hybrid_is_the_fusion_of_its_parts(data: dict[str, Any]) -> None:
    retrievers = {"w": "keyword", "d": "lsa", "h": {"kind": "hybrid", "of": ["w", "d"]}}
    found = grid({**data, "k": 100, "retrievers": retrievers, "fusion": {"rrf": {"kind": "rrf", "k": 10}}})
    expected = fuse([found.rankings["w"], found.rankings["d"]], "rrf", k=10)
    assert {query: list(docs) for query, docs in expected.items()} == found.rankings["h"]


def test_steps_that_configurations_share_are_made_once(data: dict[str, Any]) -> None:
    asked: Counter[str] = Counter()

    def mine(text: str) -> list[str]:
        asked[text] += 1
        return ["d1"]

    grid(
        {
            **data,
            "k": [1, 5, 10],
            "retrievers": {
                "mine": mine,
                "w": "keyword",
                "h": {"kind": "hybrid", "of": ["mine", "w"]},
                "hh": {"kind": "hybrid", "of": ["h", "mine"]},
            },
            "fusion": {"rrf": "rrf", "sum": "combsum"},
        }
    )
    assert set(asked.values()) == {1}


def test_what_needs_no_chunks_is_not_run_for_each_chunker(data: dict[str, Any], finds: Make) -> None:
    chunkers = {"whole": "none", "small": {"kind": "fixed", "size": 3}}
    found = grid({**data, "chunkers": chunkers, "retrievers": {"mine": finds(0.5), "w": "keyword"}})
    assert [row.name for row in found.rows] == ["mine", "whole / w", "small / w"]


def test_chunks_are_scored_as_the_documents_they_are_of(data: dict[str, Any]) -> None:
    found = grid({**data, "chunkers": {"small": {"kind": "fixed", "size": 2}}, "retrievers": {"w": "keyword"}, "k": 50})
    for docs in found.rankings["w"].values():
        assert set(docs) <= set(data["corpus"])
        assert len(docs) == len(set(docs))


def test_a_configuration_that_fails_keeps_the_others_going(data: dict[str, Any], finds: Make) -> None:
    def broken(text: str) -> list[str]:
        raise ConnectionError("the index is down")

    def half(text: str) -> list[str]:
        if int(text.split()[-1]) % 2:
            raise TimeoutError("too slow")
        return finds(1.0)(text)

    found = grid({**data, "measure": "RR", "retrievers": {"broken": broken, "half": half, "good": finds(0.9)}})
    assert found.winner == "good"
    assert "the index is down" in found.row("broken").failure
    assert found.row("broken").means == {}
    assert 0 < found.row("half").missed < found.row("half").n
    assert found.row("half").means["RR"] == pytest.approx(1 - found.row("half").missed / found.row("half").n)
    assert found.baseline == "half"
    text = " ".join(str(found).split())
    assert "broken failed: ConnectionError: the index is down" in text
    assert "The baseline broken failed" in text


def test_a_hybrid_with_a_broken_part_lives_on_the_other(data: dict[str, Any], finds: Make) -> None:
    def broken(text: str) -> list[str]:
        raise ValueError("no")

    retrievers = {"broken": broken, "good": finds(1.0), "h": {"kind": "hybrid", "of": ["broken", "good"]}}
    found = grid({**data, "measure": "RR", "retrievers": retrievers})
    assert found.row("h").means["RR"] == 1.0


def test_if_all_fail_the_first_reason_is_told(data: dict[str, Any]) -> None:
    def broken(text: str) -> list[str]:
        raise ValueError("out of order")

    with pytest.raises(
        DataError, match=r"every configuration failed.*out of order\. Next: \w.*[^.]; what was answered"
    ):
        grid({**data, "retrievers": {"a": broken}})


def test_latencies_of_steps_add_up(data: dict[str, Any], finds: Make) -> None:
    def slow(text: str) -> list[str]:
        time.sleep(0.01)
        return finds(1.0)(text)

    retrievers = {"slow": slow, "fast": finds(1.0), "h": {"kind": "hybrid", "of": ["slow", "fast"]}}
    found = grid({**data, "measure": "RR", "retrievers": retrievers})
    assert found.row("slow").p50 >= 0.01  # type: ignore[operator]
    assert found.row("h").p50 >= found.row("slow").p50  # type: ignore[operator]
    assert found.row("fast").p50 < 0.005  # type: ignore[operator]
    assert "fast" in found.front
    assert "slow" not in found.front
    assert "h" not in found.front


def test_cost_is_a_third_side_of_the_front(data: dict[str, Any], finds: Make) -> None:
    def slow(text: str) -> list[str]:
        time.sleep(0.002)
        return finds(1.0)(text)

    retrievers = {"slow": slow, "w": {"kind": "keyword", "cost": 3}}
    found = grid({**data, "measure": "RR", "retrievers": retrievers})
    assert found.row("w").cost == 3
    assert "cost" in str(found)
    assert "slow" in found.front  # the only one that costs nothing


def test_few_questions_are_not_split_and_it_says_so(data: dict[str, Any], finds: Make) -> None:
    few = {key: {q: data[key][q] for q in ("q1", "q2", "q3", "q4")} for key in ("questions", "judgments")}
    found = grid({**few, "retrievers": {"a": finds(0.5), "b": finds(1.0)}})
    assert found.held is None
    assert "No questions were held out" in str(found)
    assert grid({**data, "held_out": 0, "retrievers": {"a": finds(0.5)}}).chosen_on == 40


def test_the_same_grid_gives_the_same_answer_whatever_the_order_of_questions(data: dict[str, Any], finds: Make) -> None:
    def quality(order: list[str]) -> Any:
        turned = {**data, "questions": {q: data["questions"][q] for q in order}}
        turned["judgments"] = {q: data["judgments"][q] for q in order}
        found = grid({**turned, "retrievers": {"a": finds(0.4), "b": finds(0.6)}}).to_dict()
        return found["winner"], found["held_out"], [row["means"] for row in found["rows"]]

    names = list(data["questions"])
    assert quality(names) == quality(names[::-1])


def test_halving_spends_little_on_poor_configurations_and_finds_the_best(data: dict[str, Any], finds: Make) -> None:
    asked: Counter[int] = Counter()

    def make(n: int, share: float) -> Callable[[str], list[str]]:
        def retriever(text: str) -> list[str]:
            asked[n] += 1
            return finds(share)(text)

        return retriever

    retrievers = {f"r{n}": make(n, 0.9 if n == 17 else 0.3) for n in range(30)}
    found = grid({**data, "measure": "RR", "strategy": "halving", "held_out": 0.3, "retrievers": retrievers})
    assert found.winner == "r17"
    assert sum(asked.values()) < 30 * 28 * 0.65
    assert found.row("r17").n == 28
    assert min(row.n for row in found.rows) < 28
    assert "weeded out" in str(found)


def test_auto_halves_only_where_there_are_many(data: dict[str, Any], finds: Make) -> None:
    few = grid({**data, "retrievers": {f"r{n}": finds(0.5) for n in range(5)}})
    assert {row.n for row in few.rows} == {20}
    many = grid({**data, "most": 8, "retrievers": {f"r{n}": finds(0.5) for n in range(12)}})
    assert len({row.n for row in many.rows}) > 1


@pytest.mark.slow
def test_the_best_of_many_equals_is_flattered_where_it_was_chosen_and_not_where_it_was_held_out() -> None:
    """40 retrievers, each right half of the time at random: their true mean is .5, whoever wins."""
    rng = np.random.default_rng(7)
    names = [f"q{i}" for i in range(40)]
    chosen, held = [], []
    for _ in range(16):
        right = rng.random((40, 40)) < 0.5

        def make(row: Any) -> Callable[[str], list[str]]:
            return lambda text: ["d"] if row[int(text[1:])] else ["x"]

        found = grid(
            {
                "questions": {q: q for q in names},
                "judgments": {q: {"d": 1} for q in names},
                "measure": "RR",
                "retrievers": {f"r{n}": make(right[n]) for n in range(40)},
            }
        )
        assert found.held is not None
        chosen.append(found.row(found.winner).means["RR"])
        held.append(found.held.mean)
    error = 0.5 / np.sqrt(20 * 16)  # of a mean over 16 x 20 coin flips
    assert np.mean(chosen) - 0.5 > 8 * error
    assert abs(np.mean(held) - 0.5) < 3.5 * error


def test_effects_are_those_that_were_built_in(data: dict[str, Any], finds: Make) -> None:
    found = grid({**data, "measure": "RR", "retrievers": {"a": finds(0.2), "b": finds(0.6), "c": finds(0.6)}})
    (effect,) = found.effects
    means = {level.name: level.mean for level in effect.levels}
    rows = {row.name: row.means["RR"] for row in found.rows}
    assert means == pytest.approx(rows)
    b, c = effect.levels[1:]
    assert b.difference == pytest.approx(rows["b"] - rows["a"])
    assert b.low > 0  # type: ignore[operator]
    assert b == replace(c, name="b")
    assert effect.p == b.p < 0.05


def test_a_factor_that_changes_nothing_has_no_effect(data: dict[str, Any], finds: Make) -> None:
    found = grid({**data, "measure": "RR", "k": [5, 10], "retrievers": {"a": finds(0.3), "b": finds(0.7)}})
    k = next(each for each in found.effects if each.factor == "k")
    assert k.levels[1].difference == 0
    assert k.share == 0
    assert k.settings == 2


INTERRUPTED = """
import os, sys, time
from rankproof import grid
asked = []
def mine(text):
    asked.append(text)
    time.sleep(0.01)
    if len(asked) == int(sys.argv[2]):
        os._exit(9)
    return ["d" + text.split()[-1]]
data = dict(
    questions={f"q{i}": f"question number {i}" for i in range(40)},
    judgments={f"q{i}": {f"d{i}": 1} for i in range(40)},
)
found = grid({**data, "measure": "RR", "held_out": 0, "retrievers": {"mine": mine}}, cache=sys.argv[1])
print(len(asked), found.row("mine").means["RR"])
"""


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    def run(stop: int) -> subprocess.CompletedProcess[str]:
        script = tmp_path / "run.py"
        script.write_text(INTERRUPTED)
        return subprocess.run(
            [sys.executable, str(script), str(tmp_path / "kept.cache"), str(stop)],
            capture_output=True,
            text=True,
        )

    assert run(30).returncode == 9
    again = run(-1)
    assert again.returncode == 0, again.stderr
    asked, mean = again.stdout.split()
    assert float(mean) == 1.0
    assert 0 < int(asked) < 40
    assert run(-1).stdout.split()[0] == "0"


ALIKE: dict[str, dict[str, Any]] = {
    "chunkers": {"a": "fixed", "b": "fixed"},
    "rewriters": {"none": "none", "a": "spelling", "b": "spelling"},
    "rerankers": {"none": "none", "a": "lexical", "b": "lexical"},
}


@pytest.mark.parametrize("factor", ALIKE)
def test_what_configurations_share_is_not_called_known_from_before(
    factor: str, data: dict[str, Any], tmp_path: Path
) -> None:
    plan = {**data, "retrievers": {"words": "keyword"}, factor: ALIKE[factor], "held_out": 0}
    cache = tmp_path / "kept.cache"
    assert grid(plan, cache=cache).remembered == ""
    known = re.match(r"(\d+) of (\d+) answers known from before, of 20", grid(plan, cache=cache).remembered)
    assert known is not None
    assert known[1] == known[2]
    more = grid(
        {**plan, "retrievers": {"words": "keyword", "forms": {"kind": "keyword", "language": "english"}}}, cache=cache
    )
    assert more.remembered.startswith(f"{known[1]} of {2 * int(known[1])} answers known from before")


def test_what_it_found_can_be_saved(data: dict[str, Any], finds: Make, tmp_path: Path) -> None:
    found = grid({**data, "retrievers": {"a": finds(0.4), "b": finds(0.8)}})
    assert found.save(tmp_path / "grid.html").read_text() == found.html()
    assert found.save(tmp_path / "grid.md").read_text() == found.markdown()
    assert found.save(tmp_path / "grid.txt").read_text() == found.format("full")
    with pytest.raises(UsageError, match="Next: name a file that can be written"):
        found.save(tmp_path / "no" / "grid.csv")
    with pytest.raises(UsageError, match="Did you mean"):
        found.format("markdwn")
    with pytest.raises(UsageError, match="configuration: got 'c'"):
        found.row("c")


def test_weights_of_a_fusion_are_those_of_the_retrievers_they_name(data: dict[str, Any], finds: Make) -> None:
    def grids(weights: dict[str, float]) -> float:
        retrievers = {"poor": finds(0.2), "good": finds(0.9), "h": {"kind": "hybrid", "of": ["poor", "good"]}}
        fusion = {"sum": {"kind": "weighted-sum", "normalise": "rank", "weights": weights}}
        found = grid({**data, "measure": "RR", "retrievers": retrievers, "fusion": fusion})
        return found.row("h").means["RR"] - found.row("good").means["RR"]

    assert grids({"poor": 0.01, "good": 1}) >= 0
    assert grids({"poor": 1, "good": 0.01}) < 0


def test_embedders_are_named_by_words(data: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "letters_of.py").write_text(
        "def embed(texts):\n    return [[float(c in t) for c in '0123456789'] + [1.0] for t in texts]\n"
    )
    monkeypatch.chdir(tmp_path)
    retrievers = {
        "d": {"kind": "dense", "embedder": "letters_of:embed"},
        "f": {"kind": "dense", "embedder": "letters_of.py:embed"},
    }
    found = grid({**data, "measure": "R@10", "retrievers": retrievers})
    assert found.row("f").means["R@10"] == found.row("d").means["R@10"] > 0.3


def test_a_called_retriever_may_have_its_ids_in_a_field_that_the_grid_names(data: dict[str, Any]) -> None:
    def pages(text: str) -> list[dict[str, str]]:
        return [{"path": f"d{text.split()[-1]}", "about": "number"}]

    data["retrievers"] = {"mine": {"kind": "call", "call": "pages_of_mine:pages", "id": "path"}}
    data["measure"] = "RR@10"
    module = ModuleType("pages_of_mine")
    module.pages = pages  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "pages_of_mine", module)
        found = grid(data)
    assert found.row("mine").means == {"RR@10": 1.0}


def test_one_configuration_alone_is_not_called_the_best(data: dict[str, Any], finds: Make) -> None:
    found = grid({**data, "measure": "RR", "retrievers": {"alone": finds(0.5)}})
    text = " ".join(str(found).split())
    assert text.startswith("The only configuration, on 20 questions: alone, RR 0.")
    assert "too high" not in text
    assert found.held is not None
    assert found.held.verdict == "baseline"


def test_questions_that_failed_are_told_with_their_reasons(data: dict[str, Any]) -> None:
    def moody(text: str) -> list[str]:
        number = int(text.split()[-1])
        if number % 4 == 0:
            raise ConnectionError("the index is down")
        return [f"d{number}"]

    found = grid({**data, "measure": "RR", "held_out": 0, "retrievers": {"moody": moody}})
    assert found.row("moody").reasons == {"ConnectionError: the index is down": 10}
    said = "moody: 10 questions failed and counted as a miss: ConnectionError: the index is down"
    assert said in " ".join(str(found).split())


def test_a_configuration_that_failed_and_else_found_nothing_is_never_the_best(
    data: dict[str, Any], finds: Make
) -> None:
    def useless(text: str) -> list[Any]:
        return [] if text.endswith("1") else [object()]

    found = grid({**data, "measure": "RR", "retrievers": {"useless": useless, "zero": finds(0.0)}})
    row = found.row("useless")
    assert (found.winner, row.front, row.means, row.n) == ("zero", False, {}, 0)
    assert "got <object object> (object)" in row.failure
    with pytest.raises(
        DataError, match=r"every configuration failed.*[^.]\. Next: .*[^.]; what was answered is kept\."
    ):
        grid({**data, "measure": "RR", "retrievers": {"useless": useless}})


@pytest.mark.slow
def test_a_hybrid_of_a_function_and_of_chunks_fuses_documents(data: dict[str, Any], finds: Make) -> None:
    data["corpus"] = {name: f"{text} More of it. And more." for name, text in data["corpus"].items()}
    data["corpus"]["x"] = "Nothing."
    data["chunkers"] = {"whole": "none", "small": {"kind": "sentences", "size": 4}}
    data["retrievers"] = {
        "mine": finds(0.5),
        "latent": "lsa",
        "words": "keyword",
        "chunks": {"kind": "hybrid", "of": ["latent", "words"]},
        "both": {"kind": "hybrid", "of": ["mine", "latent"]},
        "all": {"kind": "hybrid", "of": ["chunks", "both"]},
    }
    data["rerankers"] = {"none": "none", "again": "lexical"}
    found = grid({**data, "measure": "RR", "k": 100})
    assert [row.name for row in found.rows if row.failure or row.missed] == []
    documents = set(data["corpus"])
    for ranking in found.rankings.values():
        assert {doc for each in ranking.values() for doc in each} <= documents
    parts = [found.rankings[name] for name in ("mine / none", "small / latent / none")]
    expected = fuse(parts, "rrf")
    assert {query: list(docs) for query, docs in expected.items()} == found.rankings["small / both / none"]


def test_names_of_many_factors_are_not_cut(data: dict[str, Any]) -> None:
    found = grid(
        {
            **data,
            "k": [5, 10],
            "chunkers": {"whole documents": "none", "small chunks": {"kind": "fixed", "size": 3}},
            "retrievers": {"keyword search": "keyword", "dense search": "lsa"},
            "rerankers": {"as found": "none", "by words": "lexical"},
        }
    )
    text = found.format("full")
    assert max(map(len, text.splitlines())) <= 80
    assert all(row.name in text for row in found.rows)


def test_a_screen_has_the_mean_and_n_beside_every_name_however_long(data: dict[str, Any]) -> None:
    finds = {f"{'retriever ' * 8}{n}": lambda text, n=n: [f"d{text.split()[-1]}"] * (n > 3) for n in range(12)}
    found = grid({**data, "strategy": "halving", "retrievers": finds, "rerankers": {"a": "none", "b": "lexical"}})
    [*_, heading] = [line for line in str(found).splitlines() if line.startswith("#")]
    shown = re.findall(r"(?m)^\d+  .* +([01]\.\d{4}) +(\d+)$", str(found))
    assert heading.endswith("n")
    assert len(shown) >= 8
    assert set(shown) <= {(f"{row.means[found.measure]:.4f}", str(row.n)) for row in found.rows}
    assert len({n for _, n in shown}) > 1
    assert max(map(len, str(found).splitlines())) <= 80


def test_what_is_odd_about_answers_is_said_once_for_each_retriever(data: dict[str, Any], finds: Make) -> None:
    found = grid(
        {
            **data,
            "k": [3, 5],
            "depth": 10,
            "retrievers": {
                "good": lambda text: [f"d{text.split()[-1]}"],
                "twice": lambda text: ["d1", "d1"],
                "many": lambda text: [f"d{i}" for i in range(20)],
                "strange": finds(0.5),
            },
        }
    )
    about = [note for note in found.notes if " answers " in note]
    assert [note.partition(" answers ")[0].partition(":")[0] for note in about] == [
        "twice",
        "many",
        "strange",
    ]
    assert "came with a document twice" in about[0]
    assert "came with more than 10 documents; the best 10 were kept" in about[1]
    assert "not in the corpus" in about[2]
