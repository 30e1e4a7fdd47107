"""A sample of the judged queries: the same everywhere, nested, and said."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from rankproof import audit, compare, evaluate
from rankproof.errors import UsageError
from rankproof.io.load import load_judgments
from tests.shell import rankproof


def world(n: int = 300) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    rng = np.random.default_rng(0)
    judged = {f"q{i}": {f"d{j}": int(rng.integers(0, 3)) for j in range(4)} for i in range(n)}
    run = {q: {f"d{j}": float(rng.random()) for j in rng.permutation(8).tolist()} for q in judged}
    return judged, run


def test_samples_are_nested_and_hold_what_all_queries_hold() -> None:
    judged, run = world()
    whole = evaluate(judged, run, "nDCG@3, AP")
    names: set[str] = set()
    for size in (2, 10, 100, 1e2, 250):
        part = evaluate(judged, run, "nDCG@3, AP", sample=size)
        assert len(part.queries) == int(size)
        assert part.values("AP") == {query: whole.values("AP")[query] for query in part.queries}
        assert names <= set(part.queries)
        names = set(part.queries)
        assert "extra-queries" not in [each.kind for each in part.audit]
        assert f"a sample of {int(size):,} of 300 judged queries" in str(part.audit.of_kind("read-as"))
    shuffled = dict(sorted(judged.items(), key=lambda item: item[0][::-1]))
    assert set(evaluate(shuffled, run, "AP", sample=250).queries) == names
    assert evaluate(judged, run, "AP", sample=300).means == evaluate(judged, run, "AP").means


def test_a_query_outside_the_sample_is_not_taken_for_another_spelling() -> None:
    judged = {f"{letter}{i}": {f"d{i}": 1} for letter in "qQ" for i in range(20)}
    run = {f"q{i}": [f"d{i}"] for i in range(20)}  # no Q... is answered
    part = evaluate(judged, run, "AP", sample=10)
    missing = sum(query[0] == "Q" for query in part.queries)
    assert 0 < missing < 10
    for found in (part.audit, audit(judged, run, "AP", sample=10)):
        assert found.of_kind("case-of-ids") is None
        assert f"{missing} of 10 judged queries without a ranking" in str(found.of_kind("missing-queries"))


def test_a_sample_of_judgments_by_aspect_keeps_their_aspects() -> None:
    judged = {f"q{i}": {"a": {"x": 1, "y": 0}, "b": {"y": 2}} for i in range(20)}
    run = {q: ["b", "a"] for q in judged}
    whole, part = (evaluate(judged, run, "alpha_nDCG@2", sample=size) for size in (None, 5))
    assert part["alpha_nDCG@2"] == whole["alpha_nDCG@2"]
    assert part.judgments.facets.names == load_judgments(judged).facets.names[: 5 * 3]  # type: ignore[union-attr]


def test_systems_are_compared_on_the_same_sample() -> None:
    judged, run = world()
    other = {q: dict(reversed(docs.items())) for q, docs in run.items()}
    found = compare(judged, {"a": run, "b": other}, "AP", sample=50)
    assert {len(each.queries) for each in found.scores.values()} == {50}


@pytest.mark.parametrize("size", [0, 1, -5, 2.5, math.nan, math.inf, "many", True])
def test_a_size_that_is_none_is_refused(size: object) -> None:
    with pytest.raises(UsageError, match="sample"):
        evaluate(*world(5), "AP", sample=size)  # type: ignore[arg-type]


def test_the_shell_says_before_what_a_sample_can_show(tmp_path: Path) -> None:
    judged, run = world()
    (tmp_path / "j").write_text("".join(f"{q} 0 {d} {g}\n" for q, docs in judged.items() for d, g in docs.items()))
    (tmp_path / "r").write_text("".join(f"{q} Q0 {d} 1 {s} x\n" for q, docs in run.items() for d, s in docs.items()))
    done = rankproof(tmp_path, "evaluate", "j", "r", "--sample", "1e2", "-m", "AP")
    assert "a sample of 100 of 300 judged queries" in done.stderr
    assert "+-0.098 or better" in done.stderr
    assert "100" in done.stdout
