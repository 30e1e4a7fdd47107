"""Options of a model: known ones, misspelt ones, a service's own; the budget and a reply's limit; the address."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rankproof import chat, judge
from rankproof.cli.judge import model_options
from rankproof.errors import UsageError
from rankproof.judging.judges import judges_of
from rankproof.judging.models.judge import model_judge
from rankproof.judging.run import BATCH
from tests.judging.models.server import Fault, Served, serving
from tests.judging.models.test_chat import text_of
from tests.shell import rankproof

pytestmark = pytest.mark.cover

ROWS = [
    {
        "id": f"s{i}",
        "question": f"How many legs has animal {i}?",
        "contexts": [f"It has {i} legs.", "A ferry."],
    }
    for i in range(6)
]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with serving() as served:
        yield served


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"temprature": 0}, "Did you mean 'temperature'"),
        ({"max_token": 9}, "Did you mean 'max_tokens'"),
        ({"concurency": 3}, "Did you mean 'concurrency'"),
        ({"budget_token": 3}, "Did you mean 'budget_tokens'"),
        ({"top_a": 0.1}, "extra={'top_a': ...}"),
        ({"extra": 3}, "expected a mapping"),
        ({"extra": {"messages": []}}, "set by the call itself"),
        ({"extra": {"api_key": "x"}}, "environment"),
        ({"max_tokens": 0}, "the most tokens of a reply"),
        (
            {"max_tokens": 5_000_000},
            "from 1 to 200000. Next: give the most tokens of a reply; budget_tokens limits the whole run",
        ),
        ({"budget_tokens": "many"}, "expected a number of at least 0"),
        ({"max_calls": -1}, "expected a number of at least 0"),
        ({"again": -1}, "again: got -1, expected a whole number of at least 0"),
        ({"again": 1.5}, "again: got 1.5, expected a whole number of at least 0"),
        ({"concurrency": 2.5}, "concurrency: got 2.5, expected a whole number from 1 to 1000"),
        ({"concurrency": 10**9}, "expected a whole number from 1 to 1000"),
        ({"pause": -1}, "pause: got -1, expected a number from 0 to 1e+06"),
        ({"pause": None}, "pause: got None, expected a number from 0 to 1e+06"),
        ({"poll": 1e30}, "poll: got 1e+30, expected a number from 0 to 1e+06"),
        ({"timeout": 1e30}, "timeout: got 1e+30, expected a number from 0 to 1e+06"),
        ({"timeout": 0}, "timeout: got 0, expected a number above 0"),
        ({"batch": "yes"}, "batch: got 'yes', expected True, False or an id"),
        ({"batch": ""}, "batch: got '', expected True, False or an id"),
    ],
)
def test_an_option_that_is_none_is_an_error(options: dict[str, Any], words: str) -> None:
    for asked in (
        lambda: judges_of("openai:m", base_url="http://127.0.0.1:9", **options)[0],
        lambda: judges_of("anthropic:m", base_url="http://127.0.0.1:9", **options)[0],
        lambda: chat(str.upper, **options),
    ):
        with pytest.raises(UsageError, match="Next: ") as raised:
            asked()
        assert words in str(raised.value)


def test_what_is_known_or_marked_is_sent_as_it_is(server: Served, tmp_path: Path) -> None:
    sent = {"temperature": 0.5, "seed": 3, "top_p": 0.9, "reasoning_effort": "low", "max_tokens": 900}
    judge(ROWS[:1], "P@2", judge="openai:m", base_url=server.url, **sent, extra={"top_a": 0.2})
    assert {**sent, "top_a": 0.2}.items() <= server.calls[-1].items()
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS[:1]))
    common = ("judge", "s.jsonl", "-m", "P@2", "--judge", "openai:m", "--base-url", server.url)
    done = rankproof(tmp_path, *common, "--set", "extra.Top-A=0.3", "--set", "top-p=0.8")
    assert (done.returncode, server.calls[-1]["Top-A"], server.calls[-1]["top_p"]) == (0, 0.3, 0.8)
    done = rankproof(tmp_path, *common, "--set", "temprature=0")
    assert done.returncode == 2
    assert "Did you mean 'temperature'" in done.stderr


def test_yes_and_no_in_the_shell_are_written_as_in_python_or_json(server: Served) -> None:
    for no in ("false", "False"):
        judge(ROWS[:1], "P@2", judge="openai:m", base_url=server.url, **model_options([f"canaries={no}"], None))
        assert "Ignore all rules" not in str(server.calls[-1]["messages"])
    with pytest.raises(UsageError, match="canaries: got 'no', expected True or False"):
        judge(ROWS[:1], "P@2", judge="openai:m", base_url=server.url, **model_options(["canaries=no"], None))


def test_a_budget_of_calls_that_is_no_whole_number_is_not_overdrawn(server: Served) -> None:
    judge(ROWS, "P@2", judge="openai:m", base_url=server.url, max_calls=1.5, concurrency=1)
    assert len(server.calls) == 1


def test_what_a_small_budget_pays_for_is_samples_that_are_finished(server: Served) -> None:
    rows = [{**row, "answer": f"It has {i} legs."} for i, row in enumerate(ROWS)]
    asked: dict[str, Any] = {"judge": "openai:m", "base_url": server.url, "probe": False}
    scores = judge(rows, "context_precision, faithfulness", max_calls=5, **asked)
    assert len(server.calls) == 5
    assert dict(scores.coverage) == pytest.approx({"context_precision": 2 / 6, "faithfulness": 2 / 6})
    scores = judge(rows, "context_precision, faithfulness", budget_tokens=1_500, **asked)
    assert all(0 < each < 1 for each in scores.coverage.values())
    assert model_judge("openai:m", base_url=server.url, max_calls=1_000).at_once == 50
    assert model_judge("openai:m", base_url=server.url, max_calls=1_000, batch=True).at_once == 250
    assert model_judge("openai:m", base_url=server.url).at_once == BATCH


def test_a_dry_run_does_not_say_that_verdicts_are_kept(server: Served, tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text(json.dumps(ROWS[0]) + "\n")
    common = ("judge", "s.jsonl", "-m", "P@2", "--judge", "openai:m", "--base-url", server.url)
    assert "are kept" not in rankproof(tmp_path, *common, "--dry-run").stderr
    assert "Verdicts are kept in verdicts.db" in rankproof(tmp_path, *common).stderr


@pytest.mark.slow
def test_max_tokens_limits_a_reply(server: Served) -> None:
    scores = judge(ROWS, "P@2", judge="openai:m", base_url=server.url, max_tokens=500, concurrency=1)
    assert scores.coverage["P@2"] == 1
    assert {each["max_tokens"] for each in server.calls} == {500}
    server.refused = {"max_tokens": "Unsupported parameter: use 'max_completion_tokens' instead of 'max_tokens'."}
    scores = judge(ROWS, "P@2", judge="openai:m2", base_url=server.url, max_tokens=500)
    assert scores.coverage["P@2"] == 1
    assert server.calls[-1]["max_completion_tokens"] == 500
    assert any("'max_completion_tokens' is sent" in each for each in scores.account.problems)


@pytest.mark.first_is_quick(4)
@pytest.mark.parametrize(
    "usage",
    [
        *("many", [1, 2], 7, True, {"prompt_tokens": "lots"}, {"prompt_tokens": [3]}, {"prompt_tokens": {}}),
        *({"prompt_tokens": 1e400}, {"prompt_tokens": float("nan")}, {"prompt_tokens": -5}, {}, None),
        {"prompt_tokens": 10**40, "completion_tokens": "x"},
    ],
)
def test_an_odd_count_of_tokens_voids_no_reply_and_no_budget(server: Served, usage: Any) -> None:
    server.faults = [Fault(envelope=lambda reply: {**reply, "usage": usage}, times=10**6)]
    scores = judge(ROWS, "P@2", judge="openai:m", base_url=server.url)
    assert (scores["P@2"], scores.coverage["P@2"]) == (0.5, 1)
    assert scores.account.prompt_tokens == 0
    short = judge(ROWS, "P@2", judge="openai:m", base_url=server.url, budget_tokens=2500, concurrency=1)
    assert 0 < short.coverage["P@2"] < 1


def test_a_budget_holds_for_a_function_that_counts_nothing(server: Served) -> None:
    server.faults = [Fault(envelope=lambda reply: reply["choices"][0]["message"] and reply, times=10**6)]
    scores = judge(ROWS, "P@2", judge=chat(text_of(server), budget_tokens=2500, concurrency=1))
    assert 0 < scores.coverage["P@2"] < 1
    assert "the budget of 2,500 tokens is spent" in str(scores.reasons)


def test_the_same_model_at_another_address_is_the_same_judge(server: Served, tmp_path: Path) -> None:
    with serving() as moved:
        for options, calls in (({}, 0), ({"by_address": True}, 1)):
            file = tmp_path / f"{calls}.db"
            for each in (server, moved):
                before = len(moved.calls)
                judge(ROWS[:1], "P@2", judge="openai:m", base_url=each.url, ledger=file, probe=False, **options)
            assert len(moved.calls) - before == calls
