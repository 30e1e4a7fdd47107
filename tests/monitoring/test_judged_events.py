"""A judge sees a seeded sample, masked; its values stand among the metrics with intervals by user."""

from __future__ import annotations

import json
import random
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankproof import Judge, monitor, simulate_log
from rankproof.errors import DataError, UsageError
from rankproof.monitoring.log_samples import SampleSchema, sample_events
from tests.judging.models.server import Fault, serving, status
from tests.shell import rankproof

pytestmark = pytest.mark.cover

SECRET = "ann@example.org"


@pytest.fixture(scope="module")
def records() -> list[dict[str, Any]]:
    found = list(simulate_log(240, seed=1, days=14, variants=("A", "B")).records())
    for each in found:
        each["answer"] += f" Write to {SECRET}."
        for result in each["results"]:
            result["text"] = f"The rules of {result['id']} are at {SECRET}."
    return found


def by_length(rows: list[dict[str, Any]]) -> dict[str, list[float]]:
    return {"brevity": [1 / len(row["query"].split()) for row in rows]}


@pytest.mark.slow
def test_the_sample_is_seeded_masked_and_of_no_order(records) -> None:
    seen: list[list[dict[str, Any]]] = []

    def judge(rows: list[dict[str, Any]]) -> dict[str, list[float]]:
        seen.append(sorted(rows, key=lambda row: (row["query"], row["answer"])))
        return by_length(rows)

    shuffled = records * 2
    random.Random(3).shuffle(shuffled)
    logs = [records, iter(shuffled), records]
    values = [monitor(log, judge=judge, judge_sample=50, seed=at // 2)["brevity"] for at, log in enumerate(logs)]
    assert values[0] == values[1] != values[2]
    texts = [[(row["query"], row["answer"], row.get("contexts")) for row in rows] for rows in seen]
    assert texts[0] == texts[1] != texts[2]
    assert len(seen[0]) == 50
    assert SECRET not in str(seen)
    assert "[email]" in seen[0][0]["answer"]
    dropped = monitor(records, judge=judge, judge_sample=9, change=lambda e: e if e.variant == "A" else None)
    assert {each.group for each in dropped.estimates if each.metric == "brevity" and each.slice} == {"A"}


@pytest.mark.slow
def test_values_stand_among_the_metrics_by_slice_and_window(records) -> None:
    found = monitor(
        records,
        judge=by_length,
        judge_sample=150,
        alerts=[{"metric": "brevity", "above": 0.01, "over": "log"}],
    )
    assert [each.fired for each in found.alerts] == [True]
    whole = found.estimate("brevity")
    assert whole.n == 150
    assert whole.low < whole.value < whole.high
    parts = [found.estimate("brevity", "variant", group) for group in "AB"]
    assert sum(each.n for each in parts) == sum(each.n for each in found.series("brevity")) == 150
    assert found.to_dict()["judged"]["sampled"] == 150
    assert "judged 150 of" in str(found)
    half = monitor(records, judge=lambda rows: {"x": [None if i % 2 else 1 for i in range(len(rows))]}, judge_sample=20)
    assert half.estimate("x").n == 10


@pytest.mark.no_cover
@pytest.mark.slow
def test_the_interval_of_a_sample_holds_the_mean_of_the_log(records) -> None:
    everything = monitor(records, judge=by_length, judge_sample=10**6)["brevity"]
    held = 0
    for seed in range(20):
        events, _ = sample_events(records, SampleSchema(), 60, seed, None)
        rows = [{"query": each.query} for each in events]
        assert len({each.id for each in events}) == 60
        near = float(np.mean(by_length(rows)["brevity"]))
        error = float(np.std(by_length(rows)["brevity"])) / 60**0.5
        held += abs(near - everything) <= 2 * error
    assert held >= 16


@pytest.mark.slow
def test_a_model_is_asked_for_masked_texts_after_its_cost_is_said(records, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records))
    with serving() as server:
        words = ("monitor", "log.jsonl", "-j", "openai:m", "--base-url", server.url, "--judge-sample", "5")
        planned = rankproof(tmp_path, *words, "--dry-run", "--ledger", "v.db")
        assert planned.returncode == 0
        assert planned.stdout.startswith("5 samples; 0 pairs are known")
        assert "calls" in planned.stdout
        assert server.calls == []
        done = rankproof(tmp_path, *words, "--ledger", "v.db", "--judge-metric", "faithfulness", "-f", "json")
        assert done.returncode == 0, done.stderr
        assert "At most about" in done.stderr
        assert json.loads(done.stdout)["judged"]["values"] == {"faithfulness": 5}
        assert len(server.calls) > 0
        assert SECRET not in json.dumps(server.calls)
        assert "[email]" in json.dumps(server.calls)
        assert SECRET.encode() not in b"".join(path.read_bytes() for path in tmp_path.glob("v.db*"))
        before = len(server.calls)
        again = rankproof(tmp_path, *words, "--ledger", "v.db", "--judge-metric", "faithfulness", "-f", "json")
        assert len(server.calls) == before
        assert json.loads(again.stdout)["estimates"] == json.loads(done.stdout)["estimates"]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["table", "markdown", "html", "csv", "json", "jsonl"])
def test_what_kept_a_judge_from_judging_is_said(records, tmp_path: Path, monkeypatch, form: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records))
    with serving() as server:
        server.faults = [Fault(answer=status(401), times=999)]
        words = ("monitor", "log.jsonl", "-j", "openai:m", "--base-url", server.url, "--judge-sample", "5", "-f", form)
        done = rankproof(tmp_path, *words, "--ledger", "v.db")
    assert done.returncode == 3
    assert "the service refused the key (HTTP 401)" in " ".join((done.stdout + done.stderr).split())
    if form == "json":
        kinds = {each["kind"]: each["severity"] for each in json.loads(done.stdout)["judged"]["problems"]}
        assert kinds == {"judge-problems": "error", "nothing-measured": "error"}


@pytest.mark.slow
def test_texts_come_from_a_corpus_if_the_log_has_ids_only() -> None:
    log = simulate_log(100, seed=1)
    corpus = {doc: f"Text of {doc}." for each in log.records() for doc in [r["id"] for r in each["results"]]}
    seen: list[Any] = []

    def judge(rows: list[dict[str, Any]]) -> dict[str, list[float]]:
        seen.extend(rows)
        return by_length(rows)

    monitor(log.records(), judge=judge, judge_sample=10)
    assert not any("contexts" in row for row in seen)
    monitor(log.records(), judge=judge, judge_sample=10, corpus=corpus)
    assert sum("contexts" in row for row in seen[10:]) >= 8
    assert all(text.startswith("Text of ") for row in seen[10:] for text in row.get("contexts", ()))


@pytest.mark.slow
def test_what_cannot_be_judged_is_said(records) -> None:
    with pytest.raises(UsageError, match="standard input"):
        monitor("-", judge=by_length)
    with pytest.raises(UsageError, match=r"Judge\("):
        monitor(records, judge="lexical")
    with pytest.raises(UsageError, match="one value for each"):
        monitor(records, judge=lambda rows: {"x": [1]})
    with pytest.raises(UsageError, match="0 to 1"):
        monitor(records, judge=lambda rows: {"x": [5] * len(rows)})
    with pytest.raises(DataError, match="query and an answer"):
        monitor([{"ts": each["ts"], "clicks": []} for each in records], judge=by_length)
    assert monitor(records, judge=Judge("lexical"), judge_sample=5).judged is not None


def test_no_mean_of_the_few_that_a_judge_could_settle_is_shown_or_alerted_on() -> None:
    """They are not like the rest: a judge by words settles little more than answers that have none."""
    from rankproof import Judge

    answers = ["You can request that for a month.", "Pets are welcome in the garden.", "I don't know."]
    rows = [
        {"ts": f"2026-10-01T10:{i % 60:02d}:{i // 60:02d}Z", "user": f"u{i % 50}", "query": f"What of topic {i}?"}
        | {"answer": answers[i % 3]}
        for i in range(150)
    ]
    rule = {"metric": "answer_relevance", "below": 0.5, "over": "log"}
    judge = partial(Judge("lexical"), metrics="answer_relevance")
    found = monitor(rows, judge=judge, judge_sample=150, alerts=[rule])
    assert found.judged is not None
    assert found.judged.values == {"answer_relevance": 50}
    assert found.judged.thin == ("answer_relevance",)
    assert not [each for each in found.estimates if each.metric == "answer_relevance"]
    assert [each.fired for each in found.alerts] == [False]
    said = " ".join(found.format("full").split())
    assert "No mean of answer_relevance is shown: fewer than half of the samples could be measured." in said


def test_a_metric_without_a_value_says_why_and_where_contexts_come_from() -> None:
    log = [
        {"ts": f"2025-03-03T10:00:0{i}Z", "query": "Is it red?", "answer": "It is red.", "results": ["d1"]}
        for i in range(4)
    ]
    said = " ".join(str(monitor(log, judge=Judge("lexical"), judge_sample=4)).split())
    assert "No sample could be measured by context_precision" in said
    assert "no contexts (4)" in said
    assert "log these, or give the texts of their ids by corpus=." in said
    texts = [each | {"results": [{"id": "d1", "text": "It is red, all of it."}]} for each in log]
    assert "no contexts" not in str(monitor(texts, judge=Judge("lexical"), judge_sample=4))
