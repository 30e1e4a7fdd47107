"""Anything that answers questions is a retriever: functions of every kind, other libraries', words for one."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import lru_cache, partial, wraps
from pathlib import Path
from time import monotonic, sleep
from types import SimpleNamespace
from typing import Any

import pytest

from rankproof import Benchmark
from rankproof.bench.adapters import Failed, adapt
from rankproof.bench.retriever import Found, Retriever
from rankproof.errors import UsageError

ANSWER = [[("d2", 2.0), ("d1", 1.0)]]


def plain(text: str) -> list[str]:
    return ["d2", "d1"]


async def awaited(text: str) -> list[str]:
    await asyncio.sleep(0)
    return ["d2", "d1"]


def of_several(texts: list[str]) -> list[list[str]]:
    return [["d2", "d1"] for _ in texts]


async def bit_by_bit(text: str) -> AsyncIterator[str]:
    for name in ("d2", "d1"):
        yield name


async def of_several_awaited(texts: list[str]) -> list[list[str]]:
    return of_several(texts)


class Callable:
    def __call__(self, text: str) -> list[str]:
        return ["d2", "d1"]


class AwaitedCallable:
    async def __call__(self, text: str) -> list[str]:
        return ["d2", "d1"]


class Marked(Callable):
    batch = True

    def __call__(self, texts: Any) -> Any:
        return of_several(texts)


class OfAnotherKind(Callable):
    """Takes one text when it is called, and has other things that are called as ours are."""

    settings = SimpleNamespace(index="pages")

    def batch(self, texts: Any) -> Any:
        raise AssertionError

    def search(self, text: str, k: int) -> Any:
        raise AssertionError


@pytest.mark.parametrize(
    ("retriever", "options"),
    [
        (plain, {}),
        (OfAnotherKind(), {}),
        (lambda text: ["d2", "d1"], {}),
        (lambda text: awaited(text), {}),
        (awaited, {}),
        (partial(awaited), {}),
        (bit_by_bit, {}),
        (lambda text: bit_by_bit(text), {}),
        (Callable(), {}),
        (AwaitedCallable(), {}),
        (Callable().__call__, {}),
        (of_several, {"batch": True}),
        (of_several_awaited, {"batch": True}),
        (Marked(), {}),
        (f"{__file__}:plain", {}),
    ],
)
def test_callables_of_every_kind_are_retrievers(retriever: Any, options: Any) -> None:
    made = adapt(retriever, **options)
    assert isinstance(made, Retriever)
    assert made.search(["why?"], 10) == ANSWER
    assert made.search(["why?", "who?"], 1) == [[("d2", 2.0)], [("d2", 2.0)]]
    assert made.search([], 10) == []


def test_a_retriever_works_inside_a_running_loop() -> None:
    async def notebook(retriever: Any) -> list[Found]:
        return adapt(retriever).search(["why?"], 10)

    for retriever in (awaited, bit_by_bit, lambda text: awaited(text)):
        assert asyncio.run(notebook(retriever)) == ANSWER


@pytest.mark.slow
def test_a_call_that_was_interrupted_inside_a_running_loop_does_not_hold_up_the_end() -> None:
    code = """
import asyncio, os, signal, threading
from rankproof.bench.adapters import adapt
async def search(text):
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    await asyncio.sleep(60)
async def notebook():
    adapt(search).search(["why?"], 10)
asyncio.new_event_loop().run_until_complete(notebook())
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20)
    assert ended.stderr.endswith("KeyboardInterrupt\n")


@pytest.mark.parametrize("limits", [{}, {"timeout": None}])
def test_what_is_awaited_is_awaited_in_one_loop(limits: Any) -> None:
    loops = set()

    async def search(text: str) -> list[str]:
        loops.add(asyncio.get_running_loop())
        return ["d1"]

    questions = ["why?", "who?", "when?"]
    assert Benchmark(questions).run("wrapped", lambda text: search(text), **limits).failures == {}
    assert len(loops) == 1
    adapt(lambda text: search(text)).search(questions, 10)
    assert len(loops) == 2
    end = monotonic() + 5  # the thread that asked may be just about to close its loop
    while not all(loop.is_closed() for loop in loops):
        assert monotonic() < end
        sleep(0.01)


class Own:
    settings: Mapping[str, Any] = {"kind": "own"}

    def search(self, questions: Sequence[str], k: int) -> list[Found]:
        return [[("d1", 1.0)] for _ in questions]


def test_our_own_retrievers_pass_through() -> None:
    own = Own()
    assert adapt(own).search(["why?"], 1) == own.search(["why?"], 1)
    assert adapt(own).settings == own.settings


def test_k_is_handed_to_who_takes_it() -> None:
    def named(text: str, top_k: int = 3) -> list[str]:
        return [f"d{top_k}"]

    def second(text: str, k: int, /) -> list[str]:
        return [f"d{k}"]

    def only_by_name(text: str, *, limit: int = 1) -> list[str]:
        return [f"d{limit}"]

    for function in (named, second, only_by_name, partial(second)):
        assert adapt(function).search(["why?"], 7) == [[("d7", 1.0)]]
    assert adapt(partial(named, top_k=2)).search(["why?"], 7) == [[("d7", 1.0)]]


def _handed_on(function: Any) -> Any:
    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def _with_tenant(function: Any) -> Any:
    @wraps(function)
    def wrapper(text: str) -> Any:
        return function(text, "acme")

    return wrapper


def _with_session(function: Any) -> Any:
    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function("session", *args, **kwargs)

    return wrapper


class Engine:
    def by_tenant(self, text: str, tenant: str) -> list[str]:
        return [f"{tenant}"]

    @classmethod
    def ranked(cls, text: str, num_results: int) -> list[str]:
        return [f"{num_results}"]

    @staticmethod
    def limited(text: str, filters: Any = None, limit: int = 3) -> list[str]:
        return [f"{filters}-{limit}"]

    def __call__(self, text: str, numResults: int = 4) -> list[str]:
        return [f"{numResults}"]


def by_tenant(text: str, tenant: str) -> list[str]:
    return [tenant]


async def by_tenant_async(text: str, tenant: str) -> list[str]:
    return [tenant]


def sized(text: str, size: str = "large", max_results: int = 5) -> list[str]:
    return [f"{size}-{max_results}"]


def in_session(session: str, text: str, k: int) -> list[str]:
    return [f"{session}-{k}"]


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (lambda text, tenant="acme": [tenant], "acme"),
        (lambda text, **filters: [str(len(filters))], "0"),
        (lambda *all: [str(len(all))], "1"),
        (lambda text, n, seed=3: [f"{n}-{seed}"], "7-3"),
        (lambda text, _: ["d1"], "d1"),
        (sized, "large-7"),
        (partial(by_tenant, tenant="acme"), "acme"),
        (partial(lambda text, tenant, top_k: [f"{tenant}-{top_k}"], tenant="acme"), "acme-7"),
        (Engine.ranked, "7"),
        (Engine.limited, "None-7"),
        (Engine(), "7"),
        (lru_cache(lambda text, k: (str(k),)), "7"),
        (_handed_on(lambda text, limit: [str(limit)]), "7"),
        (_with_tenant(by_tenant), "acme"),
        (_with_session(in_session), "session-7"),
        ({"why?": ["d9"]}.get, "d9"),
    ],
)
def test_only_what_is_called_like_a_number_of_documents_gets_k(function: Any, found: str) -> None:
    assert [name for name, _ in adapt(function).search(["why?"], 7)[0]] == [found]


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (by_tenant, "functools.partial(by_tenant, tenant=...)"),
        (by_tenant_async, "functools.partial(by_tenant_async, tenant=...)"),
        (lambda text, how_many: [], "needs 'how_many' beside the question"),
        (lambda text, n, k: [], "needs 'n' beside the question"),
        (partial(lambda text, tenant, index, k: [], index=3), "needs 'tenant' beside the question"),
        (Engine().by_tenant, "needs 'tenant'"),
        (Engine.by_tenant, "give the method of an object"),
        (lru_cache(by_tenant), "needs 'tenant'"),
        (lambda *, query, k: [], "wrap it, like lambda question: search(query=question)"),
        (lambda: ["d1"], "cannot be called with a question alone"),
    ],
)
def test_what_has_no_value_is_an_error_that_says_what_to_do(function: Any, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        Benchmark({"q1": "why?", "q2": "who?"}).run("own", function)
    assert words in str(caught.value)
    assert "Next: " in str(caught.value)


def test_what_a_decorator_does_not_give_is_the_failure_of_each_question() -> None:
    run = Benchmark({"q1": "why?"}).run("own", _handed_on(by_tenant))
    assert "missing 1 required positional argument: 'tenant'" in run.failures["q1"]


# --- other libraries, by what their objects look like ---------------------------------------------


class LangChain:
    """As langchain_core.retrievers.BaseRetriever: documents with an id that may be None."""

    def invoke(self, input: str, config: Any = None, **kwargs: Any) -> list[Any]:
        return [
            SimpleNamespace(id="d2", page_content="two", metadata={}, type="Document"),
            SimpleNamespace(id=None, page_content="one", metadata={"doc_id": "d1"}, type="Document"),
        ]

    async def ainvoke(self, input: str) -> list[Any]:
        raise AssertionError("not asked for")


class LlamaIndex:
    """As llama_index.core.base.base_retriever.BaseRetriever: nodes inside of nodes with scores."""

    def retrieve(self, str_or_query_bundle: Any) -> list[Any]:
        return [
            SimpleNamespace(node=SimpleNamespace(id_=name, node_id=name, text="...", metadata={}), score=score)
            for name, score in (("d2", 2.0), ("d1", 1.0))
        ]


class Haystack:
    """As haystack's retriever components: keyword arguments, and a mapping out."""

    def run(self, query: str, filters: Any = None, top_k: int | None = None) -> dict[str, Any]:
        found = [SimpleNamespace(id=name, content="...", meta={}, score=s) for name, s in (("d2", 2.0), ("d1", 1.0))]
        return {"documents": found[:top_k]}


@pytest.mark.parametrize("retriever", [LangChain(), LlamaIndex(), Haystack()])
def test_retrievers_of_other_libraries_are_known_by_their_methods(retriever: Any) -> None:
    assert adapt(retriever).search(["why?"], 10) == ANSWER
    assert adapt(retriever).search(["why?"], 1) == [[("d2", 2.0)]]


# --- words ------------------------------------------------------------------------------------------


class HaystackPipeline:
    """As haystack.Pipeline: inputs and outputs are those of its components."""

    def __init__(self, *ends: str, needs: str = "query") -> None:
        self.ends = ends
        self.needs = needs
        self.given: Any = None

    def inputs(self) -> dict[str, dict[str, Any]]:
        return {
            "embedder": {self.needs: {"type": str, "is_mandatory": True}},
            "words": {"query": {"is_mandatory": True}, "top_k": {"is_mandatory": False, "default_value": 3}},
            "ranker": {"top_k": {"is_mandatory": False, "default_value": None}},
        }

    def run(self, data: dict[str, Any], include_outputs_from: Any = None) -> dict[str, Any]:
        self.given = data
        return {end: Haystack().run("why?") for end in self.ends} | {"llm": {"replies": ["no"]}}


def test_a_pipeline_of_haystack_gets_the_question_wherever_it_takes_one() -> None:
    for needs in ("query", "text"):
        pipeline = HaystackPipeline("ranker", needs=needs)
        assert adapt(pipeline).search(["why?"], 10) == ANSWER
        assert pipeline.given == {"embedder": {needs: "why?"}, "words": {"query": "why?"}}


def test_a_pipeline_that_ends_elsewhere_or_needs_more_says_so() -> None:
    with pytest.raises(Failed, match=r"gives 0 lists of documents.*\(it gives llm.replies\)"):
        adapt(HaystackPipeline()).search(["why?"], 10)
    with pytest.raises(Failed, match="gives 2 lists of documents"):
        adapt(HaystackPipeline("words", "ranker")).search(["why?"], 10)
    with pytest.raises(UsageError, match=r"the pipeline needs embedder.image"):
        adapt(HaystackPipeline("ranker", needs="image"))


def test_a_component_that_takes_no_text_says_what_it_takes() -> None:
    class Dense:
        def run(self, query_embedding: list[float], top_k: int = 3) -> Any: ...

    with pytest.raises(UsageError, match=r"takes no query but query_embedding, top_k\. Next: give a pipeline"):
        adapt(Dense())


def test_what_can_make_a_retriever_is_asked_for_it() -> None:
    class Index:
        def as_retriever(self) -> LlamaIndex:
            return LlamaIndex()

    with pytest.raises(UsageError, match=r"Next: give its \.as_retriever\(\)\."):
        adapt(Index())


def test_what_was_made_a_retriever_is_called_with_a_question_too() -> None:
    assert adapt(lambda text: ["d2", "d1"])("why?", 1) == [("d2", 2.0)]


def test_what_is_no_retriever_is_refused() -> None:
    for wrong in (7, None, Own, ["d1"], {"d1": 1.0}):
        with pytest.raises(UsageError, match="expected a function of a question"):
            adapt(wrong)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("no_such_module_here:find", "there is no module 'no_such_module_here'"),
        ("json:loadz", "json has no 'loadz'. Did you mean 'load"),
        ("nowhere.py:find", "there is no file nowhere.py"),
        ("http://localhost:8000/search", "write an endpoint.toml with its url"),
        ("no-such-program --now", "expected module:function, the path of an endpoint.toml, or a command"),
        ("'open", "close the quotes"),
        ("", "expected module:function"),
        ("missing.toml", "no such file"),
    ],
)
def test_words_that_name_nothing_are_refused(words: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        adapt(words)


@pytest.mark.parametrize("line", ["1 / 0", "from json import nothing", "raise SystemExit(0)", "def ("])
@pytest.mark.parametrize("words", ["broken_search:find", "broken_search.py:find"])
def test_a_module_that_cannot_be_imported_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, line: str
) -> None:
    (tmp_path / "broken_search.py").write_text(f"{line}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "broken_search", raising=False)
    with pytest.raises(UsageError, match=r"retriever: broken_search(\.py)? cannot be imported: \w+: "):
        adapt(words)


def test_a_module_that_needs_another_says_which(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "needy_search.py").write_text("import no_such_package_here\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="needy_search needs 'no_such_package_here'"):
        adapt("needy_search:find")


# --- what a retriever is known by -----------------------------------------------------------------


def test_a_function_is_known_by_its_code_and_what_it_was_bound_to() -> None:
    def made(n: int, fast: bool = False) -> Any:
        def slow_one(text: str) -> list[str]:
            return [f"d{n}"]

        def fast_one(text: str) -> list[str]:
            return [f"d{n + 1}"]

        return fast_one if fast else slow_one

    def settings(function: Any) -> Any:
        return adapt(function).settings

    assert settings(made(1)) == settings(made(1))
    assert settings(made(1)) != settings(made(2))
    assert settings(made(1)) != settings(made(1, fast=True))
    assert settings(partial(by_tenant, tenant="a")) != settings(partial(by_tenant, tenant="b"))
    assert not adapt(plain).known
    assert adapt(plain, settings={"index": "v2"}).known


def test_failures_of_a_single_search_are_raised() -> None:
    with pytest.raises(Failed, match="got None"):
        adapt(lambda text: None).search(["why?"], 10)
    with pytest.raises(ValueError, match="boom"):
        adapt(lambda text: (_ for _ in ()).throw(ValueError("boom"))).search(["why?"], 10)
    with pytest.raises(Failed, match="got 1 answer to 2 questions"):
        adapt(lambda texts: [["d1"]], batch=True).search(["why?", "who?"], 10)
