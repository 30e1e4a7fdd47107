"""One name, one thing: what a class or a function is called."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import rankproof
from rankproof import Relation
from tests.test_walls import MODULES, parsed

IN_SEVERAL_PACKAGES = {
    "Case": "a sample under a metric; a case of a derivation on paper",
    "Chunk": "of a file; of a document",
    "Evidence": "what a judge said of samples; what a diagnosis looks at",
    "Failure": "of one sample; a kind that a diagnosis knows",
    "Outcome": "of a metric on a sample; of a test of differences",
    "Places": "where fields stand in samples; where a chunker may cut",
    "Rows": "of a file; of an index into a run",
    "Trial": "of judges; of a fix",
}
"""Class names that stand in two packages, each with both of its meanings. New ones find a name of their own."""


@pytest.mark.slow
def test_a_class_name_stands_in_one_package() -> None:
    packages = defaultdict(set)
    for path in MODULES.values():
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                packages[node.name].add(path.parent)
    twice = {name for name, where in packages.items() if len(where) > 1}
    assert twice == set(IN_SEVERAL_PACKAGES)
    assert len(twice) <= 10


INNER = {
    "Block": "what a run hands to the join",
    "Line": "a model judge's open line",
    "RankingTable": "what a run hands to the join",
}
"""Values between our own modules that methods of public classes return, each with who takes it."""


def functions(name: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """A public function, or the public methods and properties of a public class, with their names."""
    each = getattr(rankproof, name)
    if inspect.isfunction(each):
        yield name, each
    elif inspect.isclass(each):
        for inner, member in inspect.getmembers(each):
            function = inspect.unwrap(getattr(member, "fget", None) or getattr(member, "__func__", member))
            if not inner.startswith("_") and inspect.isfunction(function):
                yield f"{name}.{inner}", function


def returned(function: Callable[..., Any]) -> Iterator[type]:
    """Our classes that its annotation names, those too that are imported for types alone."""
    module = sys.modules[function.__module__]
    for word in re.findall(r"[A-Z]\w+", str(function.__annotations__.get("return", ""))):
        found = getattr(module, word, None)
        if found is None:
            for node in ast.walk(parsed(Path(module.__file__ or ""))):
                if isinstance(node, ast.ImportFrom) and word in {alias.name for alias in node.names}:
                    found = getattr(import_module(node.module or ""), word)
        if inspect.isclass(found) and found.__module__.startswith("rankproof."):
            yield found


def test_what_public_functions_return_is_public() -> None:
    missing: dict[str, list[str]] = defaultdict(list)
    for public in rankproof.__all__:
        for name, function in functions(public):
            for found in returned(function):
                if found.__name__ not in rankproof.__all__:
                    missing[found.__name__].append(name)
    assert set(missing) == set(INNER), dict(missing)


def test_relations_are_written_by_name() -> None:
    """The letters of ledgers stand in the enum alone; anything else could mean a measure as well."""
    letters = {str(each) for each in Relation}
    places = [
        f"{path.name}:{node.lineno}"
        for path in MODULES.values()
        if "judging" in path.parts and path.name not in ("verdicts.py", "correcting.py")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if node.value in letters or (len(node.value) > 1 and set(node.value) <= letters)
    ]
    assert not places
