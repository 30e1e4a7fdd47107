"""Derivations end in the number that the measure gives: for every measure, every variant, every convention."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankproof import evaluate
from rankproof.core import measures  # noqa: F401  (its import fills the registry)
from rankproof.core.conventions import CHOICES, Conventions
from rankproof.core.derive import WRITERS, derive
from rankproof.core.join import Census, join
from rankproof.core.judgments import judgments_from_rows
from rankproof.core.measure import Measure, seen_by
from rankproof.core.names import ALIASES, CHANGES, REGISTRY, forget, measure
from rankproof.core.profiles import PROFILES
from rankproof.io.load import load_judgments, load_ranking
from rankproof.scoring.explain import explain
from tests.each import with_each

RELEVANT = {
    "q1": {"a": 1, "b": 0, "c": 3, "d": 2, "e": 0, "f": 3, "n": -1},
    "q2": {"a": 2, "c": 0, "k": 1},
    "q3": {"a": 1},
    "empty": {"b": 0},
    "missing": {"c": 2},
}
RANKING = {
    "q1": {"a": 5.0, "n": 4.5, "b": 4.0, "c": 3.0, "zz": 3.0, "d": 3.0, "e": 1.0},
    "q2": {"u1": 9.0, "k": 8.0, "c": 8.0, "u2": 8.0, "a": 1.0, "u3": 0.5},
    "q3": {"b": 2.0, "c": 1.0},
    "empty": {"b": 2.0, "a": 1.0},
}
RANK_MEASURES = [name for name, each in REGISTRY.items() if each.spec.kind == "ranking"]


def shapes(name: str) -> list[Measure]:
    """The measure as it is, at a cut-off, and with every word that its parameters take."""
    plain = REGISTRY[name]
    found = [plain]
    if "k" in plain.params:
        found += [plain.with_params({"k": k}) for k in (1, 3, 100)]
    for parameter in plain.spec.parameters.values():
        if "|" in parameter.kind.expected:
            words = parameter.kind.expected.split("|")
            found += [each.with_params({parameter.name: word}) for each in list(found) for word in words]
    if "rel" in plain.params:
        found += [each.with_params({"rel": 2}) for each in list(found)]
    if "gain" in plain.params and "|" not in plain.spec.parameters["gain"].kind.expected:
        found += [each.with_params({"gain": gain}) for each in list(found) for gain in ("exp", {1: 0.5, 2: 0, 3: 7})]
    return list(dict.fromkeys(found))


@pytest.mark.first_is_quick
@pytest.mark.parametrize("name", RANK_MEASURES)
@with_each("unjudged", ["nonrelevant", "skip", "relevant"])
def test_the_last_step_is_the_value_of_the_measure(name: str, unjudged: str) -> None:
    conventions = Conventions(corpus_size=1000, unjudged=unjudged)
    judgments = load_judgments(RELEVANT)
    hits = join(judgments, load_ranking(RANKING).blocks(judgments, conventions, Census()), conventions)
    for each in shapes(name):
        if unjudged == "relevant" and each.params.get("scores") == "positive":
            continue  # is refused, as the scores of unjudged documents are not kept
        for query in range(hits.n):
            one = hits.select(np.array([query]))
            written = derive(each, one)
            assert written.value == pytest.approx(float(each(seen_by(each, hits))[query]), abs=1e-9), (
                each,
                query,
            )


COUNTED_OFF = {
    *(
        "FP",
        "FN",
        "TN",
        "Accuracy",
        "FirstRel",
        "Utility",
        "NumRet",
        "NumRel",
        "Unjudged",
        "yaap",
        "RBPResidual",
    ),
    *("IPrec", "IPrec11", "RnDCG", "nDCGrel"),
}
"""Measures that are no sum over ranks: there no document adds a part of its own."""


@with_each("name", RANK_MEASURES)
def test_every_measure_of_ours_is_written_out(name: str) -> None:
    assert REGISTRY[name].spec.function in WRITERS


@with_each("name", RANK_MEASURES)
def test_what_single_ranks_add_comes_to_the_number(name: str) -> None:
    made = REGISTRY[name]
    found = explain(RELEVANT, RANKING, "q1", made @ 5 if made.spec.at == "k" else made, corpus_size=100)
    adds = [line.adds for line in found.own.lines if line.adds]
    assert bool(adds) != (name in COUNTED_OFF)
    assert not adds or sum(adds) == pytest.approx(found.value)


@pytest.mark.first_is_quick
@with_each("ties", [rule for rule in CHOICES["ties"] if rule != "rank"])
@pytest.mark.parametrize("name", ["nDCG@3", "AP", "P@4", "RR", "Success@2", "ERR"])
def test_explain_gives_the_number_of_evaluate_under_every_tie_rule(name: str, ties: str) -> None:
    scores = evaluate(RELEVANT, RANKING, name, ties=ties)
    for query, value in scores.values(name).items():
        found = explain(RELEVANT, RANKING, query, name, ties=ties)
        assert found.value == value
        assert found.own.steps[-1].value == pytest.approx(value)


@pytest.mark.first_is_quick
@with_each("profile", sorted(PROFILES))
@pytest.mark.parametrize("name", ["nDCG@3", "AP@4", "P@10", "R@5", "RR"])
def test_explain_gives_the_number_of_evaluate_under_every_profile(name: str, profile: str) -> None:
    value = evaluate(RELEVANT, RANKING, name, profile=profile).column(name).values[1]
    found = explain(RELEVANT, RANKING, "q2", name, versus=profile)
    assert found.other is not None
    assert found.other.value == value
    assert found.other.steps[-1].value == pytest.approx(value)
    assert found.differences


def test_a_measure_of_the_user_is_explained_by_what_each_document_adds() -> None:
    @measure("TopGrades")
    def top_grades(h: Any) -> Any:
        """The grades of the first three ranks.

        Formula: sum of grades at ranks 1 to 3.
        """
        return h.top(3).sum(h.top(3).grade)

    try:
        found = explain(RELEVANT, RANKING, "q2", "TopGrades")
        assert found.value == 1.0
        assert {line.document: line.adds for line in found.own.lines if line.adds} == {"k": 1.0}
        assert "sum of grades at ranks 1 to 3" in str(found)
    finally:
        forget("TopGrades")


def test_a_measure_of_the_user_may_take_the_name_of_one_of_ours() -> None:
    before, others = dict(REGISTRY), dict(ALIASES)  # in their order, which is that of the reference page
    forget("RR")

    try:

        @measure("RR")
        def mine(h: Any) -> Any:
            """Always one half."""
            return np.full(h.n, 0.5)

        assert explain(RELEVANT, RANKING, "q1", "RR").value == 0.5
    finally:
        forget("RR")
        REGISTRY.loaded = before
        ALIASES.update(others)
        CHANGES.append("RR")


@pytest.mark.parametrize("ties", ["trec", "input", "id", "best", "worst"])
@with_each("unjudged", ["nonrelevant", "relevant"])
def test_the_list_has_judged_documents_at_the_ranks_they_were_scored_at(ties: str, unjudged: str) -> None:
    found = explain(RELEVANT, RANKING, "q1", "AP", ties=ties, unjudged=unjudged)
    by_rank = {line.rank: line.document for line in found.own.lines}
    assert sorted(by_rank) == list(range(1, 8))
    assert sorted(by_rank.values()) == sorted(RANKING["q1"])
    for step in found.own.steps:
        for term in step.terms:
            if term.rank is not None and term.doc is not None and term.doc >= 0 and step.kind == "found":
                assert by_rank[term.rank] == found.own.names[term.doc]


def test_equal_scores_are_listed_by_the_rule() -> None:
    def order(ties: str) -> list[str]:
        return [line.document for line in explain(RELEVANT, RANKING, "q1", "AP", ties=ties).own.lines][3:6]

    assert order("trec") == ["zz", "d", "c"]
    assert order("id") == ["c", "d", "zz"]
    assert order("input") == ["c", "zz", "d"]


@pytest.mark.slow
@with_each("name", RANK_MEASURES)
def test_judgments_by_aspect_are_explained_too(name: str) -> None:
    rows = [
        ("q", "a", 1, "1"),
        ("q", "a", 2, "2"),
        ("q", "b", 1, "2"),
        ("q", "c", 0, "3"),
        ("r", "a", 1, "1"),
    ]
    queries, docs, grades, aspects = zip(*rows, strict=True)
    judgments = judgments_from_rows(queries, docs, grades, aspects)
    found = explain(judgments, {"q": ["x", "b", "a", "c"]}, "q", name, corpus_size=100)
    value = evaluate(judgments, {"q": ["x", "b", "a", "c"]}, name, corpus_size=100).column(name).values[0]
    assert found.value == value
    assert found.own.steps[-1].value == pytest.approx(value)
    assert str(found)
