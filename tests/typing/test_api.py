"""What the page of types calls does what its types say."""

from __future__ import annotations

from collections.abc import Callable
from inspect import isfunction, signature
from typing import Any, get_type_hints

import pytest

import rankproof
from rankproof import compare, compare_scores, diagnose, evaluate, gate_scores
from rankproof.bench.benchmark import DiagnoseArguments, RunCompareArguments
from rankproof.comparing.history import CompareArguments, GateArguments
from rankproof.core.conventions import ScoringArguments
from tests.typing import api


@pytest.mark.first_is_quick
@pytest.mark.parametrize("name", ["scored", "compared", "shown", "diagnosed", "benched", "judged", "with_conventions"])
def test_a_typed_call_runs(name: str) -> None:
    found = getattr(api, name)()
    kinds = [each.__name__ for each in map(type, found)] if isinstance(found, tuple) else [type(found).__name__]
    declared = getattr(api, name).__annotations__["return"]
    assert all(kind in declared for kind in kinds), f"{kinds} is not {declared}"


def test_annotations_of_public_functions_can_be_read() -> None:
    public = (getattr(rankproof, name) for name in rankproof.__all__)
    for each in (*filter(isfunction, public), rankproof.Benchmark.run, rankproof.Judge.__init__):
        assert get_type_hints(each)


HANDED_ON: list[tuple[type, Callable[..., Any], set[str]]] = [
    (ScoringArguments, evaluate, {"by", "columns"}),
    (CompareArguments, compare_scores, set()),
    (GateArguments, gate_scores, {"anchors"}),
    (
        RunCompareArguments,
        compare,
        {"baseline", "all_pairs", "columns"} | ScoringArguments.__annotations__.keys(),
    ),
    (DiagnoseArguments, diagnose, {"queries", "corpus", "columns"} | ScoringArguments.__annotations__.keys()),
]


@pytest.mark.parametrize(("arguments", "verb", "apart"), HANDED_ON, ids=lambda each: getattr(each, "__name__", ""))
def test_typed_arguments_are_those_of_the_verb_that_gets_them(
    arguments: type, verb: Callable[..., Any], apart: set[str]
) -> None:
    parameters = list(signature(verb).parameters.values())
    known = {each.name for each in parameters if each.kind == each.KEYWORD_ONLY}
    known |= {each.name for each in parameters if each.name in ("measures", "measure") and verb is not evaluate}
    if verb is compare:
        known.discard("measures")  # an argument of its own there
    own = arguments.__annotations__.keys()
    assert own - ScoringArguments.__annotations__.keys() == known - apart or own == known - apart
