"""Judges of the model, or the family, of what they judge: told by name, and tested on what people say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankproof import calibrate, compare, compare_scores, evaluate, judge, kinship, leaderboard
from rankproof.core.audit import kinship_of
from rankproof.errors import DataError, UsageError
from rankproof.judging.verdicts import Ask
from tests.judging.models.server import serving
from tests.shell import rankproof

Judged = dict[str, dict[str, int]]
Runs = dict[str, dict[str, list[str]]]

ONE = [
    ("openai:gpt-4o", "azure/gpt-4o-2024-08-06"),
    ("openai:gpt-4o", "rerank-gpt4o-top50"),
    ("openai:gpt-4o", "GPT_4o.run"),
    ("gpt-4", "gpt-4-0613"),
    ("openai:gpt-5", "gpt-5-2025-08-07"),
    ("anthropic:claude-3-5-sonnet-20240620", "bedrock/us.anthropic.claude-3-5-sonnet-20240620-v1:0"),
    ("claude-sonnet-4-20250514", "claude-4-sonnet"),
    ("openrouter:anthropic/claude-3.5-sonnet:beta", "claude-3-5-sonnet"),
    ("gemini:gemini-2.5-flash", "models/gemini-2.5-flash-preview-05-20"),
    ("ollama:llama3.1:8b", "meta-llama/Llama-3.1-8B-Instruct"),
    ("vllm:Qwen/Qwen2.5-72B-Instruct-AWQ", "qwen2.5-72b"),
    ("mistral:mistral-large-latest", "mistral-large-2411"),
    ("command-r-plus-08-2024", "cohere/command-r-plus"),
    ("chat:my-model", "my-model"),
    ("gpt-4o-mini-2024-07-18", "rankgpt-gpt-4o-mini"),
]
FAMILY = [
    ("gpt-4o", "gpt-4o-mini"),
    ("gpt-4", "gpt-4.1"),
    ("gpt-4o", "text-embedding-3-large"),
    ("openai:o1", "gpt-4o"),
    ("gemini-2.5-flash", "gemini-2.5-flash-lite"),
    ("llama3:8b", "llama3:70b-instruct-q4_K_M"),
    ("claude-3-haiku", "claude-3-opus"),
    ("openrouter:anthropic/claude-3.5-sonnet:beta", "claude-3-5-sonnet-latest"),
    ("text-embedding-004", "gemini-1.5-pro"),
]
NEITHER = [
    ("gpt-4o", "claude-3-5-sonnet"),
    ("gpt-4o", "bm25"),
    ("text-embedding-004", "text-embedding-3-small"),
    ("mine", "yours"),
    ("openai:gpt-4o", "baseline"),
    ("mistral-small", "qwen2-7b"),
    ("gpt-4o", "egpt"),
    ("o3", "foo3"),
    ("gpt-4o", ""),
]


def test_models_are_known_by_their_names() -> None:
    for kind, listed in (("one model", ONE), ("one family", FAMILY), ("", NEITHER)):
        for one, other in listed:
            assert kinship_of(one, other) == kind, (one, other)
            assert kinship_of(other, one) == kind, (other, one)


def world(n: int, favour: float, seed: int, systems: int = 3, docs: int = 10) -> tuple[Judged, Judged, Runs]:
    """People, a lenient machine that says yes to what the first system lists at the top, and rankings."""
    rng = np.random.default_rng(seed)
    names = np.array([f"d{i}" for i in range(docs)])
    people: Judged = {}
    machine: Judged = {}
    runs: Runs = {f"s{i}": {} for i in range(systems)}
    for query in (f"q{i}" for i in range(n)):
        relevant = rng.random(docs) < 0.3
        orders = [np.argsort(-(relevant * rng.random(docs) + rng.random(docs))) for _ in runs]
        for run, order in zip(runs.values(), orders, strict=True):
            run[query] = names[order].tolist()
        yes = np.full(docs, 0.7 * rng.random())  # lenient, more in some queries than in others
        yes[orders[0][:3]] += favour
        said = np.where(relevant, rng.random(docs) < 0.95, rng.random(docs) < yes)
        people[query] = dict(zip(names.tolist(), relevant.astype(int).tolist(), strict=True))
        machine[query] = dict(zip(names.tolist(), said.astype(int).tolist(), strict=True))
    return people, machine, runs


@pytest.mark.slow
@pytest.mark.parametrize(("n", "favour", "systems"), [(12, 0.0, 3), (60, 0.0, 5), (60, 0.5, 3)])
def test_intervals_hold_together_and_lenience_to_all_is_no_favour(n: int, favour: float, systems: int) -> None:
    large = kinship(*world(1000, favour, 99, systems), "P@3").rows
    truth = {each.system: each.excess for each in large}
    found = [kinship(*world(n, favour, seed, systems), "P@3") for seed in range(40)]
    covered = sum(all(r.low <= truth[r.system] <= r.high for r in each.rows) for each in found)
    assert covered >= 36  # 38 of 40 expected; fewer than 36 have a chance of 5 %
    if favour:
        assert sum("s0" in each.favoured for each in found) >= 36
        assert not any(set(each.favoured) - {"s0"} for each in found[:20])
        assert truth["s0"] > 0.08
    else:
        assert sum(any(r.verdict != "unclear" for r in each.rows) for each in found) <= 4  # 2 expected
        assert abs(truth["s0"]) < 0.03
        assert all(each.machine > each.people + 0.02 for each in large)


def test_only_pairs_that_both_judged_count() -> None:
    people, machine, runs = world(30, 0.0, 1)
    sparse = {query: dict(list(docs.items())[:6]) for query, docs in people.items() if query != "q0"}
    more = {**machine, "only here": {"d1": 1}}
    found = kinship(sparse, more, runs, "P@3, RR")
    assert found.pairs == 6 * 29
    assert found.shared == (1.0, 6 * 29 / 301)
    same = kinship(sparse, sparse, runs, "P@3, RR")
    assert all(each.gain == each.excess == 0 and each.low < 0 < each.high for each in same.rows)
    two = kinship(people, machine, {name: runs[name] for name in ("s0", "s1")}, "RR")
    one, other = two.rows
    assert one.excess == pytest.approx(-other.excess)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
    # The mean excess is what the definition says.
    judged = {query: docs for query, docs in machine.items() if query in sparse}
    cut = {query: {doc: judged[query][doc] for doc in docs} for query, docs in sparse.items()}
    gain = {n: evaluate(cut, r, "RR")["RR"] - evaluate(sparse, r, "RR")["RR"] for n, r in runs.items()}
    excess = next(each.excess for each in found.rows if (each.system, each.measure) == ("s1", "RR"))
    assert excess == pytest.approx(gain["s1"] - (gain["s0"] + gain["s2"]) / 2)
    with pytest.raises(DataError, match="no pair"):
        kinship(people, {"x": {"y": 1}}, runs)
    with pytest.raises(UsageError, match="expected 2 or more systems by name"):
        kinship(people, machine, {"s0": runs["s0"]})
    few = kinship(*world(5, 0.9, 1), "P@3")
    assert all(each.verdict == "unclear" for each in few.rows)


def _files(folder: Path, favour: float) -> None:
    people, machine, runs = world(80, favour, 5)
    for name, mark, judged in (
        ("people.qrels", "0", people),
        ("machine.qrels", "machine:openai:gpt-4o", machine),
    ):
        lines = (f"{q} {mark} {doc} {grade}\n" for q, docs in judged.items() for doc, grade in docs.items())
        (folder / name).write_text("".join(lines))
    for name, tag, run in (
        ("rerank-gpt-4o.run", "a", "s0"),
        ("bm25.run", "bm25", "s1"),
        ("dense.run", "text-embedding-3-small", "s2"),
    ):
        lines = (
            f"{q} Q0 {doc} {rank} {100 - rank} {tag}\n"
            for q, docs in runs[run].items()
            for rank, doc in enumerate(docs, start=1)
        )
        (folder / name).write_text("".join(lines))


def test_the_shell_holds_a_machine_against_people(tmp_path: Path) -> None:
    _files(tmp_path, 0.6)
    ask = ("compare", "people.qrels", "rerank-gpt-4o.run", "bm25.run", "dense.run", "-m", "P@3")
    table = rankproof(tmp_path, *ask, "--machine", "machine.qrels")
    assert table.returncode == 0, table.stderr
    plain = " ".join(table.stdout.split())
    assert "The machine favours rerank-gpt-4o.run." in plain
    assert "one model" in plain
    assert all(len(line) <= 80 for line in table.stdout.splitlines())
    data = json.loads(rankproof(tmp_path, *ask, "--machine", "machine.qrels", "-f", "json").stdout)
    assert data["favoured"] == ["rerank-gpt-4o.run"]
    assert data["judge"] == "openai:gpt-4o"
    assert [row["kin"] for row in data["rows"]] == ["one model", "", ""]
    table = rankproof(tmp_path, *ask, "--machine", "machine.qrels", "-f", "csv").stdout.splitlines()
    assert [line.split(",")[0] for line in table] == ["system", *(row["system"] for row in data["rows"])]
    assert rankproof(tmp_path, *ask, "--machine", "machine.qrels", "-f", "junit").returncode == 2
    assert rankproof(tmp_path, *ask, "--machine", "nothing.qrels").returncode != 0


@pytest.mark.slow
def test_rankings_of_the_judges_kin_are_told_in_every_face(tmp_path: Path) -> None:
    _files(tmp_path, 0.0)
    machine, people = (str(tmp_path / f"{name}.qrels") for name in ("machine", "people"))
    own, other, dense = (str(tmp_path / f"{name}.run") for name in ("rerank-gpt-4o", "bm25", "dense"))

    def told(scores: Any) -> list[str]:
        return [each.message for each in scores.audit if each.kind == "judge-kin"]

    assert "one model" in told(evaluate(machine, own, "RR"))[0]
    assert "one family" in told(evaluate(machine, dense, "RR"))[0]  # by the name within the run
    assert not told(evaluate(machine, other, "RR"))
    assert not told(evaluate(people, own, "RR"))
    runs = world(80, 0.0, 5)[2]
    compared = compare(machine, {"gpt-4o-2024-08-06 pointwise": runs["s0"], "bm25": runs["s1"]}, "RR")
    assert [bool(told(each)) for each in compared.scores.values()] == [True, False]
    board = leaderboard(machine, {"gpt-4o": runs["s0"], "bm25": runs["s1"]}, measure="RR")
    assert any("one model" in each for each in board.notes)
    assert "one model" in " ".join(str(board).split())
    for words in (
        ("evaluate", machine, own),
        ("compare", machine, other, own),
        ("gate", machine, other, own),
    ):
        assert "of one model" in " ".join(rankproof(tmp_path, *words).stdout.split()), words


def test_a_judge_of_samples_is_told_of_its_kin() -> None:
    rows = [
        {
            "query": "q",
            "contexts": ["ANSWER."],
            "reference": "ANSWER.",
            "metadata": {"model": "gpt-4o-2024-08-06"},
        }
    ]
    plain = [{key: value for key, value in rows[0].items() if key != "metadata"}]
    with serving() as served:
        how: dict[str, Any] = {"base_url": served.url, "key_variable": "NO_KEY"}

        def told(samples: Any, judge_name: str, **more: Any) -> list[str]:
            found = judge(samples, "context_precision", judge=judge_name, **how, **more)
            return [each.message for each in found.audit if each.kind == "judge-kin"]

        assert "one model" in told(rows, "vllm:gpt-4o")[0]
        assert "one family" in told(rows, "vllm:gpt-4.1-mini")[0]
        assert not told(rows, "vllm:llama3:8b")
        assert not told(plain, "vllm:gpt-4o")
        assert "the embedder" in told(plain, "vllm:gpt-4o", made_by={"embedder": "text-embedding-3-large"})[0]
        assert told(plain, "vllm:gpt-4o", made_by=["bm25", "azure/gpt-4o"])
        with pytest.raises(UsageError, match="made_by"):
            told(plain, "vllm:gpt-4o", made_by=3)
    assert not [e for e in judge(rows, "context_precision").audit if e.kind == "judge-kin"]


def test_the_shell_takes_who_made_it(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text('{"query": "q", "contexts": ["ANSWER."], "reference": "ANSWER."}\n')
    with serving() as served:
        ask = (
            "judge",
            "s.jsonl",
            "-m",
            "context_precision",
            "--judge",
            "vllm:gpt-4o",
            "--base-url",
            served.url,
        )
        shown = rankproof(tmp_path, *ask, "--made-by", "generator=openai/gpt-4o-2024-05-13")
    plain = " ".join(shown.stdout.split())
    assert "the generator (openai/gpt-4o-2024-05-13)" in plain
    assert "are of one model" in plain


@pytest.mark.slow
def test_labels_show_whom_a_judge_favours(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    lots: dict[str, float] = {}

    def lot(text: str) -> float:
        return lots.setdefault(text, float(rng.random()))

    def true(ask: Ask) -> int:
        return 3 if lot(f"true {ask.right}") < 0.3 else 0

    def partial(relation: str, left: str, right: str) -> int:
        lenient = 0.5 if "own" in right else 0.1
        return 3 if true(Ask(relation, left, right)) or lot(f"said {right}") < lenient else 0

    def fair(relation: str, left: str, right: str) -> int:
        return 3 if true(Ask(relation, left, right)) or lot(f"fair {right}") < 0.3 else 0

    def compared(judged_by: Any, name: str) -> list[str]:
        systems = {
            system: [
                {"id": f"s{i}", "query": f"q{i}", "contexts": [f"{system} {i} {j}." for j in range(3)]}
                for i in range(60)
            ]
            for system in ("base", "own")
        }
        ledger = tmp_path / name
        for rows in systems.values():
            judge(rows, "P@3", judge=judged_by, ledger=ledger)
        calibrate(ledger, true, n=160)
        scores = {s: judge(rows, "P@3", judge=judged_by, ledger=ledger) for s, rows in systems.items()}
        return [note for note in compare_scores(scores).notes if "the judge itself moves" in note]

    (note,) = compared(partial, "partial.db")
    assert "own to base by +0." in note
    assert not compared(fair, "fair.db")
