"""A model object of any library as a judge: it is called instead of a service."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from itertools import repeat
from typing import Any, Unpack

from rankproof.document.numbers import setting
from rankproof.errors import UsageError
from rankproof.judging.function_judge import code_of, from_thread, parameters_of, places_in
from rankproof.judging.models import ChatArguments, split
from rankproof.judging.models.calls import Call
from rankproof.judging.models.judge import Budget, ModelJudge
from rankproof.judging.models.providers import PROVIDERS, Provider, Reply, Service
from rankproof.judging.models.replies import reply_in
from rankproof.judging.models.transport import HOPELESS, Line
from rankproof.net.client import Response
from rankproof.net.retries import AGAIN, Failed, Pace, retry_after

METHODS = (
    ("invoke", "ainvoke"),  # LangChain
    ("complete", "acomplete"),  # LlamaIndex
    ("generate", "a_generate"),  # DeepEval
    ("completion", "acompletion"),  # LiteLLM, and its Router
)
"""What is called of an object, and its asynchronous twin, by what it is called for."""
AT_ONCE = 16
"""The default number of concurrent calls of a model object."""
PASSING = ("timeout", "connection", "ratelimit", "overloaded", "unavailable", "internalserver")
"""Words in the names of errors after which the same call may succeed."""
IN_HAND = Provider(
    name="chat",
    url="",
    path="",
    key="",
    base="",
    headers=lambda _: {},
    body=lambda _, call, given: {"instructions": call.instructions, "body": call.body, **given},
    read=lambda said: Reply(**said),
    local=True,
)


@dataclass(frozen=True)
class Speaker:
    """How a model in hand is called."""

    function: Callable[..., Any] | None
    twin: Callable[..., Any] | None
    """The asynchronous form, used where the other does not exist or is not written."""
    messages: bool = False
    """Whether it takes `messages`, as LiteLLM and OpenAI's client do, rather than one text."""

    async def say(self, call: Call, given: Mapping[str, Any], threads: ThreadPoolExecutor) -> Any:
        """The reply of the model. A plain function runs in a thread, so that other calls can run meanwhile."""
        arguments: tuple[str, ...] = (f"{call.instructions}\n\n{call.body}",)
        named = dict(given)
        if self.messages:
            said = {"system": call.instructions, "user": call.body}
            arguments, named = (), {"messages": [{"role": r, "content": c} for r, c in said.items()], **given}
        if self.function is not None:
            try:
                return await _called(self.function, arguments, named, threads)
            except NotImplementedError:
                if self.twin is None:
                    raise
        return await _called(self.twin or self.function, arguments, named, threads)


async def _called(
    function: Any, arguments: tuple[Any, ...], named: Mapping[str, Any], threads: ThreadPoolExecutor
) -> Any:
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):
        return await function(*arguments, **named)
    work = copy_context().run
    loop = asyncio.get_running_loop()
    found = await loop.run_in_executor(threads, lambda: from_thread(work, function, *arguments, **named))
    return await found if inspect.isawaitable(found) else found


@dataclass
class InHand(Line):
    """A line to a model that is called here, with the tries and the pace of one over the wire."""

    speaker: Speaker | None = None
    threads: ThreadPoolExecutor | None = None

    async def _send(self, call: Call, left_out: frozenset[str]) -> Response:
        given = {name: value for name, value in self.judge.given.items() if name not in left_out}
        try:
            async with asyncio.timeout(self.judge.limits.timeout):
                # Gathered with its exceptions: a model in hand may raise anything, and costs one call only.
                found = await asyncio.gather(
                    self.speaker.say(call, given, self.threads),  # type: ignore[union-attr, arg-type]
                    return_exceptions=True,
                )
        except TimeoutError:
            return Response(failure=Failed(f"no reply within {self.judge.limits.timeout:g} s", again=True))
        if isinstance(found[0], BaseException):
            return self._raised(found[0])
        self.reached = True
        return Response(200, body=json.dumps(reply_in(found[0], call)).encode())

    def _raised(self, error: BaseException) -> Response:
        """An error as what a service would have answered, if it says so itself."""
        response = getattr(error, "response", None)
        told = (getattr(error, "status_code", None), getattr(response, "status_code", None))
        status = next((each for each in told if isinstance(each, int) and 100 <= each < 600), 0)
        kind = type(error).__name__
        passing = status in AGAIN or isinstance(error, OSError | TimeoutError)
        if passing or (not status and any(word in kind.lower() for word in PASSING)):
            headers = getattr(response, "headers", None)
            wait = retry_after(headers) if isinstance(headers, Mapping) else 0.0
            return Response(status, failure=Failed(f"the model raised {kind}", again=True, wait=wait))
        self.reached = True
        said = f"the model raised {kind}: {error}" if status not in HOPELESS else str(error)
        return Response(status, body=said.encode("utf-8", "replace"))


def chat(
    model: Any, /, *, name: str | None = None, version: str | None = None, **options: Unpack[ChatArguments]
) -> ModelJudge:
    """A judge from a model object, with the same prompts and checks as a service.

    `model` is a callable that takes a text and returns one, plain or asynchronous; a model of LangChain (`invoke`),
    LlamaIndex (`complete`) or DeepEval (`generate`); or `litellm.completion` or a client's `chat.completions.create`,
    with `model="..."` among the `options`. Plain functions are called in threads, several at a time (`concurrency=1`:
    one). `name` is what reports call it; `version` tells one state of it from another in the ledger. Other options
    are those of `judge="openai:MODEL"`.

    >>> judge = chat(lambda text: "{}", name="mine", tries=1)
    >>> judge.name
    'chat:mine'
    """
    chosen = options.pop("model", None)
    speaker = _speaker(model)
    limits, given = split({"concurrency": AT_ONCE, **options})
    if limits.batch:
        raise UsageError("batch: a model in hand takes no batches. Next: leave batch out.")
    if limits.max_money is not None:
        raise UsageError("max_money: a model in hand has no known price. Next: limit budget_tokens or max_calls.")
    called = name or _name_of(model, chosen)
    if speaker.messages:
        parameters = parameters_of(speaker.function or speaker.twin)
        asked = parameters.get("model")
        if asked is not None and asked.default is asked.empty and not chosen:
            raise UsageError(f"chat: {called} needs the model's name. Next: chat(..., model='NAME').")
        # At a temperature of 0, if the function has one, the same pairs should get the same verdicts.
        if "temperature" in parameters:
            given = {"temperature": 0, **given}
    if chosen is not None:
        given = {"model": chosen, **given}

    @asynccontextmanager
    async def connect(judge: ModelJudge) -> AsyncIterator[Line]:
        threads = ThreadPoolExecutor(limits.concurrency, thread_name_prefix="rankproof-chat")
        try:
            yield InHand(judge, repeat(None), speaker=speaker, threads=threads)
        finally:
            threads.shutdown(wait=False, cancel_futures=True)

    return ModelJudge(
        *("chat", called, Service(IN_HAND, "", ""), limits, given),
        *(Budget(f"chat:{called}", limits), Pace(most=limits.concurrency)),
        connect=connect,
        known=_known(model, version),
    )


def litellm_judge(spec: str, **options: Any) -> ModelJudge:
    """`litellm:MODEL` by the package of that name, if no proxy's address is given."""
    try:
        completion = import_module("litellm").completion
    except ImportError as error:
        hint = PROVIDERS["litellm"].hint.format(base_url=setting("base_url"))
        raise UsageError(f"litellm: neither the package nor a proxy. Next: {hint}.") from error
    if "key_variable" in options:
        raise UsageError("key_variable: the package litellm finds keys itself. Next: set the variable that it reads.")
    model = spec.partition(":")[2]
    return replace(chat(completion, name=model, version="litellm", model=model, **options), provider="litellm")


def _speaker(model: Any) -> Speaker:
    if isinstance(model, type):
        raise UsageError(f"chat: got the class {model.__name__}, expected a model. Next: chat({model.__name__}(...)).")
    for name, twin in METHODS:
        plain, waiting = (each if callable(each := getattr(model, n, None)) else None for n in (name, twin))
        if (plain or waiting) and not inspect.isfunction(model):
            return Speaker(plain, waiting, messages=name == "completion")
    create = getattr(getattr(getattr(model, "chat", None), "completions", None), "create", None)
    if callable(create):
        return Speaker(create, None, messages=True)
    if not callable(model):
        raise UsageError(
            f"chat: got {type(model).__name__}, expected a callable text -> text, or a model with one of "
            f"{', '.join(name for pair in METHODS for name in pair)}. Next: give chat(lambda text: ...)."
        )
    parameters = parameters_of(model)
    needed = [each for each in places_in(parameters) if each.default is each.empty]
    messages = "messages" in parameters
    if len(needed) > 1 and not messages:
        raise UsageError(
            f"chat: {_name_of(model, None)} takes {len(needed)} arguments, expected one text. Next: write it with one; "
            "a judge f(relation, left, right) is given as it is, judge=f."
        )
    return Speaker(model, None, messages=messages)


def _known(model: Any, version: str | None) -> dict[str, Any]:
    """The identity beside its name: a function's code, or its class; or only the version."""
    if version is not None:
        return {"version": str(version)}
    plain = model.func if isinstance(model, partial) else model
    if inspect.isroutine(plain):
        # The code of a library changes with each of its versions, and its model does not.
        own = "" if "messages" in parameters_of(model) else code_of(plain)
        return {"of": getattr(plain, "__qualname__", ""), **({"code": own} if own else {})}
    return {"of": f"{type(model).__module__}.{type(model).__qualname__}"}


def _name_of(model: Any, chosen: Any) -> str:
    """The model's own name, else the name of the function or class."""
    told = getattr(model, "get_model_name", None)
    found = [chosen, told() if callable(told) else None]
    found += [getattr(model, each, None) for each in ("model_name", "model", "model_id", "__name__")]
    named = next((each for each in found if isinstance(each, str) and each.strip()), type(model).__name__)
    return "".join(c if c.isprintable() and c not in "<>" else "" for c in named)
