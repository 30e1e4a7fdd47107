"""Suggestions in errors: the nearest word, other tools' names of an argument, what an annotation names; docstrings."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from numbers import Integral, Real
from os import PathLike
from pathlib import PurePath
from types import SimpleNamespace, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


def nearest(got: str, known: Iterable[str]) -> str:
    """``' Did you mean 'x'?'`` for the known word closest to `got`, or nothing.

    >>> nearest("presision", ["precision", "recall"])
    " Did you mean 'precision'?"
    """
    by_lower = {str(word).lower(): word for word in known}
    name = PurePath(got.lower())  # an ending alone, like .run, makes no two names of files alike
    for close in get_close_matches(got.lower(), by_lower, cutoff=0.6):
        if get_close_matches(name.stem, [PurePath(close).stem], cutoff=0.7 if name.suffix else 0.6):
            return f" Did you mean {by_lower[close]!r}?"
    return ""


MEASURES = ("measures", "measure", "metrics", "metric")
CUTOFFS = ("k", "ks", "k_values", "cutoff", "cutoffs", "at", "top_k")
SYSTEMS = ("systems", "ranking", "scores")
JUDGMENTS = ("judgments", "human")
OTHER_NAMES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("metric", "metrics", "measure", "measures", "eval_metrics"), MEASURES),
    **dict.fromkeys(("qrel", "qrels", "judgements", "ground_truth", "gold", "labels", "y_true"), JUDGMENTS),
    **dict.fromkeys(("run", "result", "results", "retrieved", "y_pred"), ("ranking", *SYSTEMS, "candidate")),
    **dict.fromkeys(("runs", "rankings", "ranking", "systems", "predictions"), SYSTEMS),
    **dict.fromkeys(("questions", "topics"), ("queries",)),
    **dict.fromkeys(("query_id", "qid", "question"), ("query",)),
    **dict.fromkeys(("docs", "documents"), ("corpus",)),
    **dict.fromkeys(("dataset", "data", "examples", "rows"), ("samples", "source", "log")),
    **dict.fromkeys(("llm", "model", "evaluator", "judge_model"), ("judge",)),
    **dict.fromkeys(("significance", "significance_level", "sig_level"), ("alpha",)),
    **dict.fromkeys(("confidence", "confidence_level"), ("level", "alpha")),
    **dict.fromkeys(("random_state", "random_seed", "rng"), ("seed",)),
    **dict.fromkeys(CUTOFFS, ("k", "depth", *MEASURES[:2])),
}
"""What other tools call an argument, and what it is called here, the first of these that the verb has."""


def annotation(bare: Callable[..., Any], name: str) -> Any:
    """What a parameter, or an option that it hands on, may be; Any if nothing tells."""
    own = dict(getattr(bare, "__annotations__", {}))
    one = SimpleNamespace(__annotations__={"it": own.get(name, own.get("options", own.get("conventions", Any)))})
    try:
        hint = get_type_hints(one, vars(sys.modules[bare.__module__]))["it"]
        return hint if name in own else get_type_hints(get_args(hint)[0]).get(name, Any)
    except (NameError, TypeError, IndexError):  # a name that only a type checker imports
        return Any


def is_of(got: Any, hint: Any) -> bool:
    """Whether a value is what an annotation names, as far as it tells; of Any it may be all but a class."""
    kind, parts = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, UnionType):
        return any(is_of(got, each) for each in parts)
    if hint is Any:
        return not isinstance(got, type) and not _is_scalar(got)
    if kind is Literal:
        return isinstance(got, str) and got in parts
    if kind in (int, float):
        return isinstance(got, Integral if kind is int else Real)
    if kind is bool:
        return isinstance(got, Integral | None) or type(got).__name__.startswith("bool")
    if not isinstance(kind, type) or getattr(kind, "_is_protocol", False):
        return True
    if not isinstance(got, kind) or (kind in _MANY and (isinstance(got, bytes | type) or _is_scalar(got))):
        return False
    within = got.items() if isinstance(got, Mapping) and len(parts) == 2 else ()
    if len(parts) == 1 and isinstance(got, Collection) and not isinstance(got, str | Mapping):
        return all(is_of(each, parts[0]) for each in got)
    return all(is_of(key, parts[0]) and is_of(value, parts[1]) for key, value in within)


def _is_scalar(got: Any) -> bool:
    """Whether it is an array without a length."""
    return getattr(got, "ndim", 1) == 0 and not isinstance(got, Real)


_MANY = (Iterable, Sequence, Collection)
_MADE_BY = {"SpanJudgments": "load_spans", "Diagnosis": "diagnose", "ScoresLike": "evaluate"}
"""The functions that give what no one writes by hand."""
_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "True or False", type(None): "None"}


def in_words(hint: Any) -> str:
    """An annotation as people say it.

    >>> in_words(str | None), in_words(Iterable[str]), in_words(Mapping[str, float])
    ('a text or None', 'a list, each a text', 'a mapping of a text to a number')
    """
    kind, parts = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, UnionType):
        return " or ".join(dict.fromkeys(map(in_words, parts)))
    if kind is Literal:
        return f"one of {', '.join(map(repr, parts))}"
    if kind is PathLike:
        return "a path"
    if kind is Callable or kind is get_origin(Callable[[], Any]):
        return "a function"
    if isinstance(kind, type) and issubclass(kind, Mapping):
        return "a mapping" + (f" of {in_words(parts[0])} to {in_words(parts[1])}" if parts else "")
    if kind in _MANY:
        return "a list" + (f", each {in_words(parts[0])}" if parts else "")
    name = getattr(kind, "__name__", str(kind))
    made = f" ({_MADE_BY[name]} makes one)" if name in _MADE_BY else ""
    return _WORDS.get(kind) or ("data" if hint is Any else f"a {name}{made}")


STRIPPED = 2
"""From this level of optimisation on, Python has dropped all docstrings."""


def docstring(thing: Any) -> str:
    """The docstring of a function, class or module; empty if it has none.

    >>> docstring(docstring).partition(";")[0]
    'The docstring of a function, class or module'
    """
    if sys.flags.optimize < STRIPPED:
        return inspect.getdoc(thing) or ""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(thing)))
    except (OSError, TypeError, SyntaxError):
        return ""
    body = tree if inspect.ismodule(thing) else tree.body[0]
    known = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return (ast.get_docstring(body) or "") if isinstance(body, known) else ""
