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
from tests.test_walls import MODULES, ROOT, nodes, parsed

IN_SEVERAL_PACKAGES = {
    "Case": "a sample under a metric; a case of a derivation on paper",
    "Chunk": "of a file; of a document",
    "Document": "of a corpus; a result as it can be printed",
    "Evidence": "what a judge said of samples; what a diagnosis looks at",
    "Failure": "of one sample; a kind that a diagnosis knows",
    "Outcome": "of a metric on a sample; of a test of differences",
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
            for node in nodes(Path(module.__file__ or "")):
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
        if path.is_relative_to(ROOT / "judging") and path.name not in ("verdicts.py", "correcting.py")
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if node.value in letters or (len(node.value) > 1 and set(node.value) <= letters)
    ]
    assert not places


PARTICIPLES = re.compile(r"[a-z]+(?:ed|wn|ught)$")
SAY_LITTLE = frozenset(
    [
        "about",
        "above",
        "across",
        "after",
        "against",
        "all",
        "alike",
        "alone",
        "among",
        "any",
        "apart",
        "back",
        "before",
        "below",
        "beneath",
        "beside",
        "best",
        "between",
        "beyond",
        "both",
        "bound",
        "brief",
        "bright",
        "built",
        "content",
        "cut_off",
        "doubtful",
        "each",
        "either",
        "enough",
        "every",
        "facts",
        "few",
        "finite",
        "found",
        "full",
        "given",
        "good",
        "hardest",
        "held",
        "hidden",
        "known",
        "late",
        "least",
        "left",
        "less",
        "long",
        "lost",
        "made",
        "meant",
        "more",
        "most",
        "moving",
        "much",
        "no",
        "none",
        "odd",
        "one",
        "once",
        "open",
        "other",
        "others",
        "over",
        "own",
        "plain",
        "possible",
        "right",
        "said",
        "same",
        "seen",
        "sent",
        "serious",
        "several",
        "shared",
        "short",
        "signed",
        "slow",
        "some",
        "spelt",
        "such",
        "sure",
        "surely",
        "taken",
        "telling",
        "thin",
        "tied",
        "together",
        "told",
        "too",
        "under",
        "unmet",
        "unsure",
        "upwards",
        "usual",
        "view",
        "whole",
        "wide",
        "worn",
        "worst",
        "worth_it",
        "written",
        "wrong",
    ]
)
"""Words that name neither what a function returns nor what it does."""
GERUNDS = frozenset(
    {"meeting", "reading", "telling", "writing", "saving", "running", "answering", "fitting", "leading"}
)
FIELD_TERMS = {
    "fixed": "chunks of a fixed size",
    "mixed": "a method of fusion, by the name of its paper",
    "chunked": "public: the chunks of a corpus",
    "markdown": "a format",
    "bejeweled": "a measure by that name",
    "embed": "a verb that ends like a participle",
    "need": "a verb",
    "seed": "a noun",
}
"""Names that the field or the public face gives, though they look like a participle, each with its reason."""


def says_little(name: str) -> bool:
    """Whether every word of a name is a participle, an adjective or an adverb."""
    return name not in FIELD_TERMS and all(
        word in SAY_LITTLE or word in GERUNDS or PARTICIPLES.match(word) for word in name.split("_")
    )


def test_a_function_is_called_by_what_it_returns_or_does() -> None:
    assert all(map(says_little, ["asked", "found", "told", "plain", "whole", "together", "view", "said", "settled"]))
    assert not any(map(says_little, ["evaluate", "settled_units", "word_counts", "read", "facts_of", "share"]))
    bare = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for path in MODULES.values()
        for node in parsed(path).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if not node.name.startswith("_") and says_little(node.name)
    ]
    assert not bare


METHODS = {
    "before": "public, of Hits: what the rows before a row sum up to",
    "corrected": "public, of scores: the mean with the judge's error taken out",
    "moved": "public, of a comparison: the queries that moved",
    "once": "a result that is computed once",
    "open": "a verb",
    "thin": "public, of scores: whether a mean is over too few",
    "valued": "public, of Hits: with gains in place of grades",
    "worst": "public, of scores: the queries with the worst values",
}
"""Methods that the public face, the docs on a measure of your own, or a verb gives such a name, each with its reason."""


def test_a_method_is_called_by_what_it_returns_or_does() -> None:
    bare = {
        node.name
        for path in MODULES.values()
        for parent in nodes(path)
        if isinstance(parent, ast.ClassDef)
        for node in parent.body
        if isinstance(node, ast.FunctionDef)
        if not node.name.startswith("_") and node.name not in FIELD_TERMS and says_little(node.name)
        if not any("property" in ast.unparse(each) for each in node.decorator_list)
    }
    assert bare == set(METHODS)


FAMILIES = {
    "paired": "the field's word for two systems on the same queries",
    "content": "what a report holds",
}
"""Modules that are called by an adjective, or a word that says little, each with its reason."""


def test_a_module_is_called_by_what_is_in_it() -> None:
    assert {path.stem for path in MODULES.values() if says_little(path.stem)} == set(FAMILIES)
