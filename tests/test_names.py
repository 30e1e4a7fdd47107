"""One name, one thing: what a class or a function is called."""

from __future__ import annotations

import ast
from collections import defaultdict

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


def test_a_class_name_stands_in_one_package() -> None:
    packages = defaultdict(set)
    for path in MODULES.values():
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                packages[node.name].add(path.parent)
    twice = {name for name, where in packages.items() if len(where) > 1}
    assert twice == set(IN_SEVERAL_PACKAGES)
    assert len(twice) <= 10
