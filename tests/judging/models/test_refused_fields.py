"""A service that refuses a field, a schema or every call: what is learnt from it, kept and told."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest

from rankproof import judge
from rankproof.judging.judge import Judge
from tests.judging.models.server import Fault, Served, serving, status

ROWS = [
    {
        "id": f"s{i}",
        "question": f"How many legs has animal {i}?",
        "contexts": [f"It has {i} legs.", "A ferry."],
    }
    for i in range(40)
]
REFUSALS = {
    "temperature": "Unsupported value: 'temperature' does not support 0 with this model.",
    "response_format": "Invalid schema for response: too many properties in object (limit 100).",
    "tool_choice": "tool_choice: Thinking may not be enabled when tool_choice forces tool use.",
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-key-1234567890")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-very-secret-key-1234567890")
    with serving() as served:
        yield served


@pytest.mark.slow
@pytest.mark.parametrize("field", REFUSALS)
def test_no_sample_is_lost_where_a_service_refuses_a_field(server: Served, field: str) -> None:
    server.refused, server.delay = {field: REFUSALS[field]}, 0.02
    spec = "anthropic:scripted" if field == "tool_choice" else "openai:scripted"
    asked = Judge(spec, base_url=server.url, concurrency=16, canaries=False)
    scores = asked(ROWS, "P@2")
    assert scores.coverage["P@2"] == 1
    assert scores["P@2"] == 0.5
    (told,) = (each for each in scores.account.problems if "left out" in each)
    assert field in told
    assert sum(field in each for each in server.calls) == 1  # one call goes first, and the others learn from it
    before = len(server.calls)
    assert asked(ROWS[:3], "RR").coverage["RR"] == 1
    assert not any(field in each for each in server.calls[before:])  # what was learnt stays with the judge


def test_calls_under_way_when_a_field_is_dropped_are_sent_again(server: Served) -> None:
    """A service that takes the first call with the field and refuses it from then on, many calls at once."""
    asked = Judge("openai:scripted", base_url=server.url, concurrency=40, canaries=False)
    assert asked(ROWS[:1], "P@2").coverage["P@2"] == 1
    server.refused, server.delay = {"temperature": REFUSALS["temperature"]}, 0.05
    scores = asked([{**each, "question": each["question"] + "?"} for each in ROWS], "P@2")
    assert scores.coverage["P@2"] == 1


def test_the_same_refusal_of_every_call_stops_after_a_few_with_its_reason(server: Served) -> None:
    words = "The model gpt-x is not available in your region; key sk-very-secret-key-1234567890 was used."
    server.faults = [Fault(answer=status(400, json.dumps({"error": {"message": words}})), times=10**6)]
    scores = judge(ROWS, "P@2", judge="openai:scripted", base_url=server.url, concurrency=4, canaries=False)
    assert len(server.calls) <= 12
    (reason,) = set(scores.reasons["P@2"].values())
    assert "not available in your region" in reason
    assert "secret" not in str(scores) + str(scores.account.problems)


@pytest.mark.parametrize(
    ("code", "reply"),
    [
        (400, {"error": {"message": "The response was filtered due to Azure OpenAI's content management policy."}}),
        (400, {"error": {"message": "The request was rejected.", "code": "content_filter"}}),
        (200, {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}),
    ],
)
def test_prompts_that_are_blocked_at_the_start_do_not_end_the_run(server: Served, code: int, reply: object) -> None:
    server.faults = [Fault(answer=status(code, json.dumps(reply)), times=8)]
    scores = judge(ROWS, "P@2", judge="openai:scripted", base_url=server.url, concurrency=4, again=0, canaries=False)
    assert scores.coverage["P@2"] >= 0.8


def test_a_service_that_asks_to_wait_for_a_day_is_not_waited_for(server: Served) -> None:
    server.faults = [Fault(answer=status(429, "slow down", Retry_After="86400"), times=10**6)]
    start = time.monotonic()
    scores = judge(ROWS[:2], "P@2", judge="openai:scripted", base_url=server.url, canaries=False)
    assert time.monotonic() - start < 20
    assert "24 hours" in str(scores.reasons["P@2"])
