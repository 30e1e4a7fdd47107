"""Fixed pairs, asked again: a judge that changed is found out, and the change is written down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rankproof import Verdicts, calibrate, judge, judge_drift
from rankproof.errors import UsageError
from tests.judging.models.server import Fault, Served, serving
from tests.judging.trust.conftest import machine, person, rows, truth

SAMPLES = [{"id": str(i), "query": f"q{i}", "contexts": [f"ANSWER {i}.", f"Other {i}."]} for i in range(10)]


def named(name: str) -> Fault:
    """The service says that the model is another one."""
    return Fault(envelope=lambda reply: {**reply, "model": name, "system_fingerprint": "fp"}, times=10**6)


def changed(server: Served) -> None:
    """The model is another one, and says otherwise."""

    def turned(said: dict) -> dict:  # type: ignore[type-arg]
        flip = {short: 3 - value for short, value in said["R"].get("q1", {}).items()}
        return {**said, "R": {**said["R"], "q1": flip}}

    server.faults[:] = [
        Fault(
            bend=turned,
            envelope=lambda reply: {**reply, "model": "m-2", "system_fingerprint": "fp"},
            times=10**6,
        )
    ]


def test_a_judge_that_did_not_change_is_told_so(ledger: Path) -> None:
    first = judge_drift(ledger, judge=machine, n=40)
    assert (first.n, first.flips) == (40, 0)
    assert "Nothing changed." in str(first)
    assert judge_drift(ledger, judge=machine).n == 40  # what was fixed stays fixed


def test_relations_stand_in_one_order(tmp_path: Path) -> None:
    rows = [{"query": f"Is it {n}?", "contexts": [f"It is {n}."], "answer": f"It is {n}."} for n in range(9)]
    judge(rows, "context_precision, faithfulness, answer_relevance", judge=machine, ledger=tmp_path / "l.db")
    for rates in judge_drift(tmp_path / "l.db", judge=machine).rates.values():
        assert list(rates) == ["A", "R", "S"]


def test_a_judge_that_changed_is_warned_of_with_an_interval(ledger: Path) -> None:
    judge_drift(ledger, judge=machine, n=60)

    def other(relation: str, left: str, right: str) -> int:
        return truth(relation, left, right)

    other.__name__ = "machine"
    found = judge_drift(ledger, judge=other)
    fixed = list(Verdicts(ledger).where(judge="function:machine (probe 0)"))
    differ = sum(each.value != truth(*each.key) for each in fixed)
    rate = found.rates["they were fixed"]["R"]
    assert (rate.yes, rate.n) == (differ, 60)
    assert differ > 0
    assert rate.low < differ / 60 < rate.high
    assert "Warning: the judge says other things than before" in " ".join(str(found).split())
    again = judge_drift(ledger, judge=other)
    assert again.rates["last asked"]["R"].yes == 0
    assert again.flips == differ


def test_labelled_pairs_are_fixed_first(ledger: Path) -> None:
    calibrate(ledger, person, n=20, who="ana")
    judge_drift(ledger, judge=machine, n=30)
    fixed = {each.key for each in Verdicts(ledger).where(judge="function:machine (probe 0)")}
    assert {each.key for each in Verdicts(ledger).where(judge="human:ana")} <= fixed
    # A probe says what the machine said, not what people did.
    assert all(each.value == machine(*each.key) for each in Verdicts(ledger).where(judge="function:machine (probe 0)"))


def test_a_probe_changes_no_score_and_no_replay(ledger: Path) -> None:
    before = judge(rows(), "P@3", judge="replay", ledger=ledger)["P@3"]
    judge_drift(ledger, judge=machine)
    assert judge(rows(), "P@3", judge="replay", ledger=ledger)["P@3"] == before


def test_another_judge_may_be_the_measure(ledger: Path) -> None:
    found = judge_drift(ledger, judge=truth, since="function:machine", n=50)
    assert found.flips > 0
    with pytest.raises(UsageError, match="no verdicts of 'nobody'"):
        judge_drift(ledger, judge=truth, since="nobody")
    with pytest.raises(UsageError, match="n: got 0"):
        judge_drift(ledger, judge=machine, n=0)


def test_a_model_that_changes_behind_its_name_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    path = tmp_path / "l.db"
    with serving() as server:
        how: dict[str, Any] = {"judge": "openai:m", "ledger": path, "base_url": server.url}
        server.faults[:] = [named("m-1")]
        assert not judge(SAMPLES[:5], "P@2", **how).versions
        server.faults[:] = [named("m-2")]
        found = judge(SAMPLES, "P@2", probe=False, **how)
        told = judge_drift(path, judge="openai:m", base_url=server.url, n=20)
        changed(server)
        worse = judge_drift(path, judge="openai:m", base_url=server.url)
    assert found.versions == {"openai:m": {"m-1 fp": 10, "m-2 fp": 10}}
    warned = " ".join(str(found).split())
    assert "openai:m is 2 models by what the service says of itself" in warned
    assert "rankproof calibrate LEDGER --drift" in warned
    assert (told.flips, told.now) == (0, "m-2 fp")
    assert worse.flips > 0
    assert json.loads(json.dumps(worse.to_dict()))["flips"] == worse.flips


def test_a_changed_model_is_asked_again_by_itself_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with serving() as server:
        how: dict[str, Any] = {"judge": "openai:m", "ledger": tmp_path / "l.db", "base_url": server.url}
        server.faults[:] = [named("m-1")]
        assert judge(SAMPLES[:5], "P@2", **how).drifts == []
        capfd.readouterr()
        changed(server)
        found = judge(SAMPLES[5:8], "P@2", **how)
        asked, said = len(server.calls), " ".join(capfd.readouterr().err.split())
        again = judge(SAMPLES[8:], "P@2", **how)
    (drifted,) = found.drifts
    assert (drifted.n, drifted.before, drifted.now) == (10, "m-1 fp", "m-2 fp")
    assert drifted.flips > 0
    assert "openai:m answers as m-2 fp, before as m-1 fp; asked 10 pairs again that were judged then (" in said
    assert "verdicts asked again changed" in " ".join(found.format("full").split())
    assert found.account.calls == asked - 5  # what asking again took is on the account
    assert again.drifts == []


def test_a_new_model_is_asked_what_was_fixed_for_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    path = tmp_path / "l.db"
    with serving() as server:
        server.faults[:] = [named("m-1")]
        judge(SAMPLES[:5], "P@2", judge="openai:m", ledger=path, base_url=server.url)
        judge_drift(path, judge="openai:m", base_url=server.url, n=6)
        changed(server)
        found = judge(SAMPLES[5:6], "P@2", judge="openai:n", ledger=path, base_url=server.url)
        never = judge(SAMPLES[6:7], "P@2", judge="openai:o", ledger=path, base_url=server.url, probe=False)
    assert [(each.judge, each.n) for each in found.drifts] == [("openai:n", 6)]
    assert found.drifts[0].flips > 0
    assert never.drifts == []
