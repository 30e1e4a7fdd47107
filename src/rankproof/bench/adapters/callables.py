"""Functions and callable objects: how k is handed to them, and what is known of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from rankproof.bench.adapters.adapted import Adapted
from rankproof.bench.adapters.answers import IdOf
from rankproof.bench.adapters.code import code_digest
from rankproof.bench.adapters.state import digest_of, plain, state_of

K_NAMES = ("k", "top_k", "topk", "n", "limit", "size", "n_results", "num_results")
"""Parameters that a function takes the number of documents by."""


def of_callable(
    function: Callable[..., Any], *, batch: bool | None, id: IdOf, settings: Mapping[str, Any] | None
) -> Adapted:
    """A function of a question (where `batch`, of a list of them), which may also take the number k.

    `batch` is taken from the function's own attribute `batch` where it is not said.
    """
    marked = bool(getattr(function, "batch", False)) if batch is None else batch
    own = settings if settings is not None else _own_settings(function)
    return Adapted(
        with_k(function),
        own if own is not None else described(function),
        batch=marked,
        awaited=is_async(function),
        id=id,
        known=own is not None,
    )


def with_k(function: Callable[..., Any]) -> Callable[[Any, int], Any]:
    """The function of question and k, whether it has a parameter for k or not.

    >>> with_k(lambda text: text)("why?", 5), with_k(lambda text, top_k=3: top_k)("why?", 5)
    ('why?', 5)
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # a few built in ones do not tell
        parameters = []
    named = next((each.name for each in parameters[1:] if each.name in K_NAMES), None)
    if named is not None:
        return lambda text, k: function(text, **{named: k})
    if sum(_needed(each) for each in parameters) == 2:
        return lambda text, k: function(text, k)
    return lambda text, k: function(text)


def _needed(parameter: inspect.Parameter) -> bool:
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return parameter.kind in places and parameter.default is inspect.Parameter.empty


def is_async(function: Callable[..., Any]) -> bool:
    """Whether what calling gives has to be awaited, as far as can be told without calling.

    >>> async def search(text): ...
    >>> is_async(search), is_async(partial(search)), is_async(len)
    (True, True, False)
    """
    return any(
        is_one(each)
        for is_one in (inspect.iscoroutinefunction, inspect.isasyncgenfunction)
        for each in (function, _method(function))
    )


def _method(function: Callable[..., Any]) -> Any:
    """What runs when an object is called."""
    return type(function).__call__


def _own_settings(function: Callable[..., Any]) -> Mapping[str, Any] | None:
    own = getattr(function, "settings", None)
    return own if isinstance(own, Mapping) else None


def described(function: Callable[..., Any]) -> dict[str, Any]:
    """What can be told of a callable: its name and its code, with the plain values it was bound to or made with.

    >>> def at(n): return lambda text: n
    >>> described(at(1)) == described(at(1)), described(at(1)) == described(at(2))
    (True, False)
    """
    if isinstance(function, partial):
        bound = [*function.args, *sorted(function.keywords.items())]
        return {**described(function.func), "bound": digest_of([plain(each) for each in bound])}
    kind = function if hasattr(function, "__qualname__") else type(function)
    found: dict[str, Any] = {"callable": f"{kind.__module__}.{kind.__qualname__}"}
    inner = inspect.unwrap(getattr(function, "__func__", function))
    code = code_digest(function)
    if code is not None:
        cells = getattr(inner, "__closure__", None) or ()
        bound = [plain(each.cell_contents) for each in cells if _is_set(each)]
        defaults = [plain(each) for each in getattr(inner, "__defaults__", None) or ()]
        found |= {"code": code, "bound": digest_of([bound, defaults, state_of(_owner(function))])}
    return found


def _owner(function: Callable[..., Any]) -> Any:
    """The object of a method, or that is called itself; of a plain function nothing."""
    return getattr(function, "__self__", None if inspect.isfunction(function) else function)


def _is_set(cell: Any) -> bool:
    try:
        return cell.cell_contents is cell.cell_contents
    except ValueError:  # a name that is not bound yet
        return False
