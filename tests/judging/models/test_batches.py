"""The batch interfaces: half the price, the same verdicts; open pairs in a further batch; gone on with after a stop."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import rankproof
from rankproof.judging.models.judge import ModelJudge, model_judge
from rankproof.judging.verdicts import Account, Ask, Relation, Unmeasured, Verdict

from .server import Served, asked, serving, truth

GROUPS = [
    [
        Ask(Relation.CONTEXT_ANSWERS, f"q{n}", f"text {n} ANSWER"),
        Ask(Relation.TEXT_SUPPORTS, f"text {n}", f"text {n} ANSWER"),
    ]
    for n in range(5)
]
PROVIDERS = pytest.mark.parametrize("provider", ["openai", "anthropic"])


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    with serving() as served:
        yield served


def judge_at(server: Served, provider: str, **options: Any) -> ModelJudge:
    settings: dict[str, Any] = {
        "timeout": 5,
        "tries": 2,
        "pause": 0.01,
        "poll": 0.01,
        "batch": True,
        **options,
    }
    return model_judge(f"{provider}:gpt-4o-mini", base_url=server.url, **settings)


def settled(judge: ModelJudge) -> tuple[dict[Ask, Any], Account]:
    kept: list[Verdict | Unmeasured] = []
    account = judge.judge(GROUPS, kept.extend)
    assert len({each.ask for each in kept}) == len(kept) == 10
    return {each.ask: each for each in kept}, account


@PROVIDERS
def test_a_batch_settles_everything(server: Served, provider: str, capfd: Any) -> None:
    found, account = settled(judge_at(server, provider))
    assert all(each.value == truth(ask.relation, ask.left, ask.right) for ask, each in found.items())
    assert (account.calls, server.calls, len(server.batches.sent)) == (5, [], 1)
    assert "batch=b1" in capfd.readouterr().err


@pytest.mark.slow
@PROVIDERS
def test_what_a_batch_leaves_open_goes_into_a_further_one(server: Served, provider: str) -> None:
    def without_s(said: dict[str, Any]) -> dict[str, Any]:
        first = len(server.batches.sent) == 1
        return {name: part for name, part in said.items() if not first or name != "S"}

    server.batches.bend = without_s
    found, _ = settled(judge_at(server, provider))
    assert all(isinstance(each, Verdict) for each in found.values())
    assert [len(sent) for sent in server.batches.sent] == [5, 5]
    second = [asked(each["body"])["pairs"] for each in server.batches.sent[1]]
    assert [set(pairs) for pairs in second] == [{"S"}] * 5


@PROVIDERS
def test_requests_without_a_reply_are_unmeasured(server: Served, provider: str) -> None:
    server.batches.lost = 2
    found, _ = settled(judge_at(server, provider))
    lost = [each for each in found.values() if isinstance(each, Unmeasured)]
    assert len(lost) == 4
    assert {each.reason for each in lost} == {"the batch has no reply"}


@PROVIDERS
def test_a_batch_is_gone_on_with(server: Served, provider: str) -> None:
    settled(judge_at(server, provider))
    server.batches.looks = 0
    found, _ = settled(judge_at(server, provider, batch="b1"))
    assert all(isinstance(each, Verdict) for each in found.values())
    assert len(server.batches.sent) == 1


@PROVIDERS
def test_what_a_known_batch_has_no_reply_to_goes_into_a_new_one(server: Served, provider: str) -> None:
    """The batch of claims, after which those of the verdicts were never sent."""
    rows = [{"id": str(n), "query": f"q{n}", "contexts": [f"text {n} ANSWER"], "answer": f"a {n}."} for n in range(3)]
    asked: dict[str, Any] = {"judge": f"{provider}:m", "base_url": server.url, "poll": 0.01, "canaries": False}
    first = rankproof.judge(rows, "faithfulness", batch=True, **asked)
    again = rankproof.judge(rows, "faithfulness", batch="b1", **asked)
    assert [len(sent) for sent in server.batches.sent] == [3, 3, 3]
    assert (again.coverage["faithfulness"], again["faithfulness"]) == (1, first["faithfulness"])


def test_a_batch_without_results_is_said(server: Served) -> None:
    server.batches.odd = {"b1": '{"status": "failed"}'}
    found, _ = settled(judge_at(server, "openai"))
    assert {each.reason.partition(";")[0] for each in found.values()} == {"the batch ended without results, as failed"}


FAILURES = {
    "openai": [
        {"response": {"status_code": 400, "body": {"error": {"message": "too long"}}}, "error": None},
        {"response": None, "error": {"code": "batch_expired", "message": "too long"}},
    ],
    "anthropic": [
        {"result": {"type": "errored", "error": {"type": "error", "error": {"type": "x", "message": "too long"}}}},
        {"result": {"type": "errored", "error": {"type": "x", "message": "too long"}}},
    ],
}


@PROVIDERS
@pytest.mark.parametrize("failed", [0, 1])
def test_a_failed_request_of_a_batch_says_why(server: Served, provider: str, failed: int) -> None:
    """OpenAI has failures in a file of their own, which may be all there is."""
    settled(judge_at(server, provider))
    names = [each["custom_id"] for each in server.batches.sent[0]]
    lines = [json.dumps({"custom_id": name, **FAILURES[provider][failed]}) for name in names]
    state = {"id": "b2", "status": "completed", "processing_status": "ended", "error_file_id": "bad"}
    server.batches.odd = {"/b2": json.dumps(state), "/bad/content": "\n".join(lines), "/results": "\n".join(lines)}
    found, _ = settled(judge_at(server, provider))
    assert {each.reason for each in found.values()} == {"the batch has no reply: too long"}
    assert len(server.batches.sent) == 2


LINES = {
    "no JSON": "<html>",
    "lists": "[1]\n[2]",
    "empty records": "{}\n{}",
    "names alone": '{"custom_id": "x", "response": {"status_code": 200}, "result": {"type": "succeeded"}}',
    "nothing": "",
    "a deep one": "[" * 100_000,
}


@PROVIDERS
@pytest.mark.parametrize("what", LINES)
def test_odd_results_are_no_verdicts(server: Served, provider: str, what: str) -> None:
    server.batches.odd = {"content": LINES[what], "results": LINES[what]}
    found, _ = settled(judge_at(server, provider))
    assert {each.reason for each in found.values()} == {"the batch has no reply"}


@PROVIDERS
@pytest.mark.parametrize("answer", ["{}", "[]", "null", "3", "{"])
@pytest.mark.parametrize("path", ["batches", "b1"])
def test_a_batch_that_is_none_is_said(server: Served, provider: str, answer: str, path: str) -> None:
    if (path, answer) == ("b1", "{}"):
        answer = '{"status": "failed", "processing_status": "ended"}'
    server.batches.odd = {path: answer}
    found, account = settled(judge_at(server, provider, tries=1))
    assert all(isinstance(each, Unmeasured) and each.reason for each in found.values())
    assert sum(times for problem, times in account.problems.items() if "unmeasured" in problem) == 10


@pytest.mark.slow
def test_a_run_of_many_samples_is_one_batch_for_claims_and_one_for_the_rest(server: Served) -> None:
    samples = [
        {"id": str(n), "query": f"q{n}", "contexts": [f"text {n} ANSWER"], "answer": f"a {n}."} for n in range(600)
    ]
    scores = rankproof.judge(
        samples, "faithfulness", judge="openai:m", base_url=server.url, batch=True, poll=0.01, canaries=False
    )
    assert [len(sent) for sent in server.batches.sent] == [600, 600]
    assert scores.coverage["faithfulness"] == 1


def test_a_batch_costs_half(server: Served) -> None:
    pytest.importorskip("genai_prices", reason="prices are an extra")
    _, account = settled(judge_at(server, "openai"))
    assert account.money == pytest.approx(0.5 * 5 * (100 * 0.15e-6 + 10 * 0.6e-6))


def test_a_service_without_batches_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    nobody = model_judge("openai:m", base_url="http://127.0.0.1:9", batch=True, tries=1, pause=0.01)
    found, account = settled(nobody)
    assert {each.reason for each in found.values()} == {"the connection failed (ConnectError)"}
    assert account.problems == {"unmeasured: the connection failed (ConnectError)": 10}
