"""One interface for everything that answers questions."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import Parameter
from itertools import pairwise
from threading import Thread
from typing import Any, TypeAlias

from rankproof.bench.adapters.code import code_digest, digest_of, plain_value, state_of
from rankproof.bench.retriever import (
    Answer,
    AnswerReading,
    Found,
    IdOf,
    Retriever,
    arrange,
    read_answer,
    unusable_answer,
)
from rankproof.document.numbers import count
from rankproof.errors import UsageError
from rankproof.net.retries import Failed

DEPTH = 100
"""How many documents are found for a question by default."""
MOST = 100_000
"""The largest number of documents taken from a generator, which may have no end."""


async def await_value(value: Any) -> Any:
    """The result of an awaitable; of an async iterator all its items."""
    found = await value if inspect.isawaitable(value) else value
    if not hasattr(type(found), "__aiter__"):
        return found
    every: list[Any] = []
    async for each in found:
        every.append(each)
        if len(every) == MOST:
            break
    return every


class OneByOne:
    """What makes a retriever one that is called with a single question too."""

    def __call__(self: Retriever, question: str, k: int = DEPTH) -> Found:
        """The documents found for one question."""
        return self.search([question], k)[0]


class Waiter:
    """Waits for one after the other in the same event loop, as clients want it that keep connections in theirs.

    >>> async def search(text): return [text]
    >>> waiter = Waiter()
    >>> waiter(search("d1")), waiter(["d2"])
    (['d1'], ['d2'])
    >>> waiter.close()
    """

    def __init__(self) -> None:
        self._runner = asyncio.Runner()  # makes no loop until it is needed

    def __call__(self, value: Any) -> Any:
        """The value, awaited where it is to be."""
        if isinstance(value, list) or not (inspect.isawaitable(value) or hasattr(type(value), "__aiter__")):
            return value
        return _off_loop(lambda: self._runner.run(await_value(value)))

    def close(self) -> None:
        """Close the loop, unless an abandoned call still runs in it."""
        with suppress(RuntimeError):
            _off_loop(self._runner.close)


def _off_loop(do: Callable[[], Any]) -> Any:
    """The result of a function that needs a thread without a running loop, unlike a notebook's."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return do()
    kept = _Kept()
    Thread(target=kept.take, args=(do,), daemon=True).start()
    return kept.result()


class _Kept(Future[Any]):
    """What a function returned or raised in another thread; either is handed to the caller."""

    def take(self, do: Callable[[], Any]) -> None:
        with self:
            self.set_result(do())

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if error is not None:
            self.set_exception(error)
        return True


def finish(value: Any) -> Any:
    """The value, awaited where it is to be."""
    with closing(Waiter()) as waiter:
        return waiter(value)


Answered: TypeAlias = tuple[int, Any, float]
"""The place of a question, its answer (`Failed` if there is none), and the seconds it took.

A place that comes again takes back what came before.
"""


@dataclass(frozen=True, slots=True)
class Flow:
    """How a streaming retriever is asked."""

    timeout: float | None = None
    """Seconds without an answer after which a question has failed."""
    turn: Callable[[], float] = lambda: 0.0
    """Hand over a question, which 0 says; else the seconds after which to ask again."""
    over: Callable[[], bool] = lambda: False
    """Whether the answer is no longer needed."""


@dataclass(frozen=True, eq=False)
class Adapted(OneByOne):
    """A retriever with how it is called, and its settings; a `Retriever` to the outside."""

    call: Callable[[Any, int], Any]
    """Takes a question (where `batch`, a list of them) and k; gives the unread result."""
    settings: Mapping[str, Any]
    batch: bool = False
    awaited: bool = False
    """Whether `call` gives what has to be awaited."""
    id: IdOf = None
    known: bool = True
    """Whether `settings` say all that shapes the answers; they cannot for a bare function."""
    limits: Mapping[str, Any] = field(default_factory=dict)
    """The limits that its owner sets: concurrency, timeout, retries, rate, batch."""
    allow: Callable[[float | None], None] = lambda seconds: None
    """A function that receives the timeout of an answer in seconds."""
    stop: Callable[[], None] = lambda: None
    """A function that ends abandoned calls."""

    stream: Callable[[Sequence[str], int, Flow], Iterator[Answered]] | None = None
    """If several are asked in one call and answers come one by one: the function that yields them."""

    def search(self, questions: Sequence[str], k: int) -> list[Found]:
        """For each question at most `k` documents, one question after the other; failures are raised."""
        asked: list[Any] = [list(questions)] if self.batch else list(questions)
        with closing(Waiter()) as waiter:
            try:
                raw = [waiter(self.call(each, k)) for each in asked if each != []]
            finally:
                self.stop()
        every = answers_of(raw[0], len(questions)) if self.batch and raw else raw
        reading = AnswerReading(k, self.id)
        return [each.found for each in settle_orders([read_answer(each, reading) for each in every], k)]


SURE = 3
"""So many rises from a document to the next, and no list that falls, show that scores are distances."""


def settle_orders(answers: Sequence[Answer], k: int) -> Sequence[Answer]:
    """The answers of one retriever in their final order: scores that rise down every list are distances.

    These are turned around, so that more is better; what rises in some lists only is in disorder.
    """
    if not any(each.rising for each in answers):
        return answers
    rises = sum(a < b for each in answers if each.rising for (_, a), (_, b) in pairwise(each.found))
    falls = any(not each.rising and len(each.found) > 1 and each.found[0][1] > each.found[-1][1] for each in answers)
    if distances := rises >= SURE and not falls:
        answers = [replace(each, found=[(name, -score) for name, score in each.found]) for each in answers]
    return [replace(arrange(each.found, k), rising=distances) if each.rising else each for each in answers]


def answers_of(raw: Any, questions: int) -> Sequence[Any]:
    """The answer to each question of a batch, or `Failed` where they are not as many."""
    if isinstance(raw, (str, bytes, Mapping)) or not hasattr(raw, "__iter__"):
        raise unusable_answer(raw, "a list with one answer a question")
    every: Sequence[Any] = raw if isinstance(raw, (list, tuple)) else list(raw)
    if len(every) != questions:
        got = f"{count(len(every), 'answer')} to {count(questions, 'question')}"
        raise Failed(f"got {got}, expected one a question")
    return every


K_NAMES = (
    *("k", "topk", "topn", "n", "limit", "size", "nresults", "numresults", "maxresults", "numberofresults"),
    *("ndocs", "numdocs", "maxdocs", "ndocuments", "numdocuments", "maxdocuments", "nhits", "numhits"),
    *("maxhits", "similaritytopk", "kresults", "resultlimit", "pagesize", "top", "count", "num", "number", ""),
)
"""The names of a parameter for the number of documents, without `_` and capitals; the first of them counts.

The last is `_`: a parameter that its owner does not use.
"""
ONLY_BY_PLACE = Parameter.POSITIONAL_ONLY
NO_PLACE = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
QUESTION = Parameter("question", Parameter.POSITIONAL_ONLY)
QUESTION_NAMES = ("query", "question", "q", "text", "queries", "questions", "texts")


def of_callable(
    function: Callable[..., Any], *, batch: bool | None, id: IdOf, settings: Mapping[str, Any] | None
) -> Adapted:
    """A function of a question (where `batch`, of a list of them), which may also take the number k.

    `batch` is taken from the function's own attribute `batch` where it is not said and that is true or false.
    """
    known = getattr(function, "settings", None)
    own = settings if settings is not None else known if isinstance(known, Mapping) else None
    return Adapted(
        with_k(function),
        describe(function) if own is None else own,
        batch=getattr(function, "batch", False) is True if batch is None else batch,
        awaited=is_async(function),
        id=id,
        known=own is not None,
    )


def with_k(function: Callable[..., Any]) -> Callable[[Any, int], Any]:
    """The function of question and k, whether it has a parameter for k or not.

    Only a parameter that is called like a number of documents gets k; others keep their defaults, and one without
    a default is an error.

    >>> with_k(lambda text: text)("why?", 5), with_k(lambda text, top_k=3: top_k)("why?", 5)
    ('why?', 5)
    """
    own, whole = _signature(function, follow=False), _signature(function, follow=True)
    signature = own or whole
    if signature is None or whole is None:  # a few built in ones do not tell
        return lambda text, k: function(text)
    # Whether it takes whatever is given, as a decorator does that hands it on.
    hands_on = whole != signature and any(each.kind in NO_PLACE for each in signature.parameters.values())
    parameters = list((whole if hands_on else signature).parameters.values())
    # The parameter for the number of documents.
    fits = [
        each
        for place, each in enumerate(parameters)
        if place and _is_number(each) and (each.kind != ONLY_BY_PLACE or place == 1)
    ]
    taken = min(fits, key=lambda each: K_NAMES.index(_plain_name(each)), default=None)
    # The parameters that nothing is given for.
    needed = [each for each in parameters if each.kind not in NO_PLACE and each.default is Parameter.empty]
    first = parameters[0] if parameters and parameters[0].kind != Parameter.KEYWORD_ONLY else None
    lacking = [each for each in needed if each is not first and each is not taken]
    if not lacking and (first is None or first.kind == Parameter.VAR_KEYWORD):
        lacking = [QUESTION]
    if lacking and not hands_on:  # a decorator that hands on may give what is lacking
        raise _unaskable(function, parameters, lacking)
    if taken is None:
        return lambda text, k: function(text)
    by_name = taken.name in signature.parameters or any(
        each.kind == each.VAR_KEYWORD for each in signature.parameters.values()
    )
    if taken.kind == ONLY_BY_PLACE or not by_name:
        return lambda text, k: function(text, k)
    return lambda text, k: function(text, **{taken.name: k})


def _signature(function: Callable[..., Any], *, follow: bool) -> inspect.Signature | None:
    try:
        return inspect.signature(function, follow_wrapped=follow)
    except (TypeError, ValueError):
        return None


def _is_number(parameter: Parameter) -> bool:
    default, says = parameter.default, parameter.annotation
    number = default in (Parameter.empty, None) or (type(default) is int)
    return _plain_name(parameter) in K_NAMES and number and says not in (str, bool, "str", "bool")


def _plain_name(parameter: Parameter) -> str:
    return parameter.name.replace("_", "").lower() if parameter.kind not in NO_PLACE else "*"


def _unaskable(
    function: Callable[..., Any], parameters: Sequence[Parameter], lacking: Sequence[Parameter]
) -> UsageError:
    name = getattr(function, "__name__", "") or type(function).__name__
    shown = "search" if name in ("<lambda>", "partial") else name
    if parameters and parameters[0].name in ("self", "cls"):
        return UsageError(
            f"retriever: {name} is a method without its object, expected a function of a question. "
            f"Next: give the method of an object, like engine.{shown}."
        )
    if lacking == [QUESTION] or any(each.name in QUESTION_NAMES for each in lacking):
        return UsageError(
            f"retriever: {name}({', '.join(map(str, parameters))}) cannot be called with a question alone, which "
            f"comes first and without a name. Next: wrap it, like lambda question: {shown}(query=question)."
        )
    names = ", ".join(repr(each.name) for each in lacking)
    given = ", ".join(f"{each.name}=..." for each in lacking)
    return UsageError(
        f"retriever: {name} needs {names} beside the question, and only a parameter named like k, top_k, n, limit, "
        f"size or num_results is given a value. Next: give functools.partial({shown}, {given}), or wrap it in a "
        "function of question and k."
    )


def is_async(function: Callable[..., Any]) -> bool:
    """Whether what calling gives has to be awaited, as far as can be told without calling.

    >>> async def search(text): ...
    >>> is_async(search), is_async(partial(search)), is_async(len)
    (True, True, False)
    """
    return any(
        is_one(each)
        for is_one in (inspect.iscoroutinefunction, inspect.isasyncgenfunction)
        for each in (function, type(function).__call__)
    )


def describe(function: Callable[..., Any]) -> dict[str, Any]:
    """The identity of a callable: its name and its code, with the plain values it was bound to or made with.

    >>> def at(n): return lambda text: n
    >>> describe(at(1)) == describe(at(1)), describe(at(1)) == describe(at(2))
    (True, False)
    """
    if isinstance(function, partial):
        bound = [*function.args, *sorted(function.keywords.items())]
        return {**describe(function.func), "bound": digest_of([plain_value(each) for each in bound])}
    kind = function if hasattr(function, "__qualname__") else type(function)
    found: dict[str, Any] = {"callable": f"{kind.__module__}.{kind.__qualname__}"}
    inner = inspect.unwrap(getattr(function, "__func__", function))
    code = code_digest(function)
    if code is not None:
        cells = getattr(inner, "__closure__", None) or ()
        bound = [plain_value(each.cell_contents) for each in cells if _is_set(each)]
        defaults = [plain_value(each) for each in getattr(inner, "__defaults__", None) or ()]
        # The object of a method, or that is called itself; of a plain function nothing.
        owner = getattr(function, "__self__", None if inspect.isfunction(function) else function)
        found |= {"code": code, "bound": digest_of([bound, defaults, state_of(owner)])}
    return found


def _is_set(cell: Any) -> bool:
    try:
        return cell.cell_contents is cell.cell_contents
    except ValueError:  # a name that is not bound yet
        return False
