"""Distances read as scores: in every form of input, and never where a ranking is as it should be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rankproof import audit, evaluate

Lists = dict[str, dict[str, float]]


def world(queries: int, length: int, relevant: int, seed: int) -> tuple[dict[str, dict[str, int]], Lists]:
    """Judgments and distances, the nearest first; relevant documents are nearer, as a rule."""
    rng = np.random.default_rng(seed)
    judged, distances = {}, {}
    for number in range(queries):
        near = 3 - rng.normal(size=length) - 1.5 * (np.arange(length) < relevant)
        judged[f"q{number}"] = {f"d{i}": 1 for i in range(relevant)}
        distances[f"q{number}"] = {f"d{i}": float(near[i]) for i in np.argsort(near)}
    return judged, distances


def forms(lists: Lists, folder: Path) -> Iterator[tuple[str, Any]]:
    rows = [(q, d, s, rank) for q, docs in lists.items() for rank, (d, s) in enumerate(docs.items(), start=1)]
    yield "dicts", lists
    yield "pairs", {q: [*docs.items()] for q, docs in lists.items()}
    first = next(iter(lists))
    yield "one does not rise", {**lists, first: dict(reversed(lists[first].items()))}
    yield "rows", [row[:3] for row in rows]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score", "rank"])
    yield "frame", frame
    yield "frame without ranks", frame.drop(columns="rank")
    for name, ranks in (("ranks", 1), ("no ranks", 0)):
        path = folder / f"{name}.run"
        path.write_text("".join(f"{q} Q0 {d} {ranks * rank} {s} x\n" for q, d, s, rank in rows))
        yield f"TREC, {name}", path


@pytest.mark.first_is_quick
@pytest.mark.parametrize(("queries", "length", "relevant"), [(10, 10, 3), (60, 10, 2), (60, 60, 5)])
def test_distances_are_found_in_every_form(queries: int, length: int, relevant: int, tmp_path: Path) -> None:
    judged, distances = world(queries, length, relevant, seed=queries)
    for name, ranking in forms(distances, tmp_path):
        for found in (evaluate(judged, ranking).audit, audit(judged, ranking)):
            finding = found.of_kind("upside-down")
            assert finding is not None, name
            assert finding.severity == "error", name
            assert "minus sign" in finding.advice
    scores = {q: {d: -s for d, s in docs.items()} for q, docs in distances.items()}
    for name, ranking in forms(scores, tmp_path):
        assert evaluate(judged, ranking).audit.of_kind("upside-down") is None, name


def test_distances_in_any_order_are_found_by_what_they_score() -> None:
    judged, distances = world(60, 20, 3, seed=0)
    mixed = {q: dict(sorted(docs.items())) for q, docs in distances.items()}
    finding = evaluate(judged, mixed).audit.of_kind("upside-down")
    assert finding is not None
    assert "better from its end" in finding.message
    assert evaluate(judged, {q: [*reversed(docs)] for q, docs in distances.items()}).audit.of_kind("upside-down")


def test_a_dozen_rankings_turned_round_are_found_without_rising_scores() -> None:
    for seed, (queries, length) in enumerate([(8, 20), (10, 10), (12, 15)]):
        judged, distances = world(queries, length, 2, seed)
        mixed = {q: dict(sorted(docs.items())) for q, docs in distances.items()}
        finding = audit(judged, mixed).of_kind("upside-down")
        assert finding is not None
        turned = {q: {d: -s for d, s in docs.items()} for q, docs in mixed.items()}
        assert audit(judged, turned).of_kind("upside-down") is None


def test_distances_in_part_of_the_rankings_are_found() -> None:
    for length, share in ((10, 0.4), (20, 0.5), (60, 0.3)):
        judged, distances = world(60, length, 3, seed=length)
        scored = {q: {d: -s for d, s in docs.items()} for q, docs in distances.items()}
        cut = round(60 * share)
        names = list(distances)
        mixed = {q: (distances if q in names[:cut] else scored)[q] for q in names}
        found = evaluate(judged, mixed).audit.of_kind("upside-down")
        turned = {q: dict(reversed(docs.items())) if q in names[:cut] else docs for q, docs in scored.items()}
        assert evaluate(judged, turned).audit.of_kind("upside-down") is None  # given backwards, and right
        if share >= 0.4:
            assert found is not None
            assert f"In {cut} of 60 rankings" in found.message


def test_scores_that_rise_and_are_right_are_no_finding() -> None:
    judged, distances = world(60, 20, 3, seed=0)
    last_first = {q: {d: -s for d, s in reversed(docs.items())} for q, docs in distances.items()}
    assert evaluate(judged, last_first).audit.of_kind("upside-down") is None


@pytest.mark.slow
def test_an_order_by_chance_is_no_finding() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        queries, length = rng.choice([1, 3, 10, 60]), rng.choice([1, 2, 5, 30])
        judged = {f"q{i}": {f"d{d}": 1 for d in rng.permutation(length + 3)[:3]} for i in range(queries)}
        lengths = {q: int(rng.choice([2, length])) for q in judged}
        ranking = {q: {f"d{d}": float(s) for d, s in enumerate(rng.random(lengths[q]))} for q in judged}
        assert evaluate(judged, ranking, "AP").audit.of_kind("upside-down") is None
