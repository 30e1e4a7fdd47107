"""Models that a program has in hand: functions, and objects of the shapes that libraries give their models."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rankproof import Judge, chat, judge
from rankproof.errors import UsageError
from tests.judging.models.server import Fault, Served, serving, status

ROWS = [
    {
        "id": f"s{i}",
        "question": f"How many legs has animal {i}?",
        "contexts": [f"It has {i} legs.", "A ferry."],
    }
    for i in range(24)
]


@pytest.fixture
def server() -> Iterator[Served]:
    with serving() as served:
        yield served


class Refused(Exception):
    """What libraries raise for an answer that is an error."""

    def __init__(self, error: urllib.error.HTTPError) -> None:
        super().__init__(error.read().decode())
        self.status_code = error.code


def posted(server: Served, messages: list[dict[str, str]], **more: Any) -> dict[str, Any]:
    """What the server says to these messages."""
    data = json.dumps({"messages": messages, **more}).encode()
    request = urllib.request.Request(server.url, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            found: dict[str, Any] = json.loads(response.read())
            return found
    except urllib.error.HTTPError as error:
        raise Refused(error) from error


def text_of(server: Served) -> Callable[[str], str]:
    """A function text -> text over the server."""

    def ask(text: str) -> str:
        content = text.rpartition("\n")[2]
        return str(posted(server, [{"role": "user", "content": content}])["choices"][0]["message"]["content"])

    return ask


def shapes(ask: Callable[[str], str], server: Served) -> dict[str, Any]:
    """The same model as each library gives it."""

    async def waits(text: str) -> str:
        return await asyncio.to_thread(ask, text)

    def completion(model: str, messages: list[dict[str, str]], temperature: Any = None) -> Any:
        more = {} if temperature is None else {"temperature": temperature}
        return posted(server, messages, model=model, **more)

    class Async:
        async def __call__(self, text: str) -> str:
            return await waits(text)

    class Unwritten:
        def generate(self, prompt: str) -> str:
            raise NotImplementedError

        async def a_generate(self, prompt: str) -> tuple[str, float]:
            return await waits(prompt), 0.01

    def message(text: str) -> Any:
        usage = {"input_tokens": 7, "output_tokens": 3}
        parts = [{"type": "thinking", "thinking": "..."}, {"type": "text", "text": ask(text)}]
        return SimpleNamespace(content=parts, usage_metadata=usage, response_metadata={"model_name": "m-1"})

    async def ainvoke(text: str) -> Any:
        return SimpleNamespace(content=await waits(text))

    create = partial(completion, "m")
    return {
        "function": ask,
        "lambda": lambda text: ask(text),
        "asynchronous": waits,
        "asynchronous object": Async(),
        "LangChain": SimpleNamespace(invoke=message, model_name="m"),
        "LangChain, waiting": SimpleNamespace(ainvoke=ainvoke, model="m"),
        "LlamaIndex": SimpleNamespace(complete=lambda text: SimpleNamespace(text=ask(text), raw=None)),
        "DeepEval": SimpleNamespace(generate=lambda prompt, schema=None: ask(prompt)),
        "DeepEval, waiting": Unwritten(),
        "LiteLLM": partial(completion, model="m"),
        "a router": SimpleNamespace(completion=create, acompletion=None),
        "a client": SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create))),
        "transformers": lambda text: [{"generated_text": text + ask(text)}],
        "an object": lambda text: json.loads(ask(text)),
        "bytes": lambda text: ask(text).encode(),
    }


def test_every_shape_of_a_model_judges_alike(server: Served) -> None:
    wanted = dict(judge(ROWS[:3], "P@2", judge=chat(text_of(server))))
    assert wanted == {"P@2": 0.5}
    for name, model in shapes(text_of(server), server).items():
        scores = judge(ROWS[:3], "P@2", judge=chat(model))
        assert (dict(scores), scores.coverage["P@2"]) == (wanted, 1.0), name
        assert scores.account.calls == 3, name
        found = scores.verdicts.of("s1")[0]
        assert found.judge.startswith("chat:"), name


@pytest.mark.slow
def test_calls_of_a_plain_function_are_under_way_together(server: Served) -> None:
    server.delay = 0.05
    judge(ROWS, "P@2", judge=chat(text_of(server), concurrency=12))
    assert 4 <= server.most_at_once <= 12
    server.most_at_once = 0
    judge(ROWS[:4], "P@2", judge=chat(text_of(server), concurrency=1))
    assert server.most_at_once == 1


def test_what_obeys_or_invents_gains_nothing(server: Served) -> None:
    """Our canaries, quotes and claims hold for a model in hand."""
    server.faults = [Fault(bend=lambda said: {**said, "quotes": []}, times=10**6)]
    assert judge(ROWS[:3], "P@2", judge=chat(text_of(server))).coverage["P@2"] == 0.5  # a 0 needs no quote
    server.faults = [
        Fault(
            bend=lambda said: {**said, "R": {q: dict.fromkeys(t, 3) for q, t in said["R"].items()}},
            times=10**6,
        )
    ]
    assert judge(ROWS[:3], "P@2", judge=chat(text_of(server))).coverage["P@2"] == 0


def test_errors_are_tried_again_or_told(server: Served) -> None:
    failures = iter([TimeoutError("slow"), ConnectionResetError("gone")])
    ask = text_of(server)

    def shaky(text: str) -> str:
        for error in failures:
            raise error
        return ask(text)

    scores = judge(ROWS[:3], "P@2", judge=chat(shaky, pause=0.01))
    assert scores.coverage["P@2"] == 1
    assert sum("tried again" in each for each in scores.account.problems) == 2

    def odd(text: str) -> str:
        if "animal 2?" in text:
            raise StopIteration("key sk-very-secret-key-1234567890")
        return ask(text)

    scores = judge(ROWS[:4], "P@2", judge=chat(odd, pause=0.01))
    assert list(scores.reasons["P@2"]) == ["s2"]
    assert "very-secret" not in str(scores.account.problems) + str(scores.reasons)

    calls: list[str] = []

    def broken(text: str) -> str:
        calls.append(text)
        raise ValueError("no such adapter")

    scores = judge(ROWS, "P@2", judge=chat(broken, concurrency=4))
    assert len(calls) <= 10
    assert {"no such adapter" in each for each in scores.reasons["P@2"].values()} == {True}
    for said in (None, 7, [], object()):
        scores = judge(ROWS[:1], "P@2", judge=chat(lambda text, said=said: said))
        assert "expected text" in str(scores.reasons), said


@pytest.mark.slow
def test_a_refused_key_stops_and_a_refused_temperature_is_left_out(server: Served) -> None:
    model = shapes(text_of(server), server)["LiteLLM"]
    assert judge(ROWS[:1], "P@2", judge=chat(model.func, model="named")).judges[0]["name"] == "chat:named"
    assert server.calls[-1]["model"] == "named"
    server.refused = {"temperature": "temperature 0 is not supported"}
    assert judge(ROWS, "P@2", judge=chat(model)).coverage["P@2"] == 1
    before = len(server.calls)
    server.refused = {}
    server.faults = [Fault(answer=status(401, "no"), times=10**6)]
    scores = judge([{**each, "question": "Why?"} for each in ROWS], "P@2", judge=chat(model))
    assert len(server.calls) == before + 1
    assert "refused the key" in str(scores.reasons["P@2"])


def test_a_ledger_keeps_it_and_another_function_is_another_judge(server: Served, tmp_path: Path) -> None:
    file, ask = tmp_path / "v.db", text_of(server)
    judge(ROWS[:3], "P@2", judge=chat(ask, name="mine"), ledger=file)
    before = len(server.calls)
    judge(ROWS[:3], "P@2", judge=chat(text_of(server), name="mine"), ledger=file)
    assert len(server.calls) == before
    assert judge(ROWS[:3], "P@2", judge="replay:chat:mine", ledger=file)["P@2"] == 0.5
    judge(ROWS[:3], "P@2", judge=chat(lambda text: ask(text + " "), name="mine"), ledger=file)
    assert len(server.calls) > before


def test_it_stands_in_cascades_loops_and_plans(server: Served) -> None:
    made = chat(text_of(server), max_calls=2)
    assert Judge(["lexical", made]).plan(ROWS[:3], "P@2").account.calls == 3

    async def within() -> Any:
        return judge(ROWS[:3], "P@2", judge=made)

    scores = asyncio.run(within())
    assert "the budget of 2 calls is spent" in str(scores.reasons["P@2"])


def test_a_limit_of_calls_counts_those_that_are_made_again() -> None:
    made = []

    def broken(text: str) -> str:
        made.append(text)
        raise ConnectionError

    assert judge(ROWS, "P@2", judge=chat(broken, max_calls=2, pause=0.0)).account.calls == len(made) == 2


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        (3, {}, "expected a callable text -> text"),
        (dict, {}, "the class dict"),
        (lambda relation, left, right: 1, {}, "judge=f"),
        (lambda instructions, text: "", {}, "takes 2 arguments, expected one text"),
        (lambda model, messages: "", {}, "model='NAME'"),
        (str, {}, "class str"),
        (lambda text: text, {"batch": True}, "no batches"),
        (lambda text: text, {"max_money": 1}, "budget_tokens"),
        (lambda text: text, {"concurrency": 0}, "expected a whole number from 1 to 1000"),
    ],
)
def test_what_cannot_be_asked_is_said(model: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match="Next") as raised:
        chat(model, **options)
    assert words in str(raised.value)


@pytest.mark.slow
def test_a_judge_function_that_waits_is_asked_about_several_pairs_at_a_time(tmp_path: Path) -> None:
    inside, most, lock = 0, 0, threading.Lock()

    def slow(relation: str, left: str, right: str) -> bool:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        time.sleep(0.02)
        with lock:
            inside -= 1
        if "ferry" in right and "animal 3?" in left:
            raise StopIteration
        return "legs" in right

    scores = judge(ROWS, "P@2", judge=slow)
    assert most >= 8
    assert list(scores.reasons["P@2"]) == ["s3"]
    most, slow.concurrency = 0, 1  # type: ignore[attr-defined]
    judge(ROWS[:4], "P@2", judge=slow)
    assert most == 1

    base = sqlite3.connect(tmp_path / "labels.db")  # may be used in the thread that opened it alone

    def looked_up(relation: str, left: str, right: str) -> bool:
        time.sleep(0.003)
        return bool(base.execute("SELECT ? LIKE '%legs%'", (right,)).fetchone()[0])

    assert judge(ROWS, "P@2", judge=looked_up)["P@2"] == 0.5
    base.close()


def test_an_error_of_a_function_is_told_without_words_of_http() -> None:
    def broken(text: str) -> str:
        raise ValueError("no such field")

    problems = judge(ROWS, "P@2", judge=chat(broken)).account.problems
    assert list(problems) == ["unmeasured: the model raised ValueError: no such field"]
