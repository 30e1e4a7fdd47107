"""The published worked values, from the text of a sample through a replayed ledger to the number."""

from __future__ import annotations

from typing import Any

import pytest

from rankproof import judge
from rankproof.judging.metrics.registry import METRICS

QUESTION = "Where do refunds go?"


def replay(row: dict[str, Any], ledger: Any, lines: list[Any], metric: str, **how: Any) -> float:
    scores = judge([row], metric, judge="replay", ledger=ledger(lines), **how)
    assert scores.coverage[metric] == 1.0
    assert scores.bounds(metric) == (scores[metric], scores[metric])
    return scores[metric]


def graded(*grades: int) -> tuple[dict[str, Any], list[Any]]:
    """A sample with one context a grade, and the verdicts on them."""
    texts = [f"Chunk number {i} speaks of {i}." for i in range(len(grades))]
    lines = [("R", QUESTION, text, grade) for text, grade in zip(texts, grades, strict=True)]
    return {"question": QUESTION, "contexts": texts}, lines


def supported(field: str, flags: list[list[int]]) -> tuple[dict[str, Any], list[Any]]:
    """A sample whose `field` makes one claim a row of flags, each saying what each context says of it."""
    claims = [f"Fact {chr(65 + i)} holds." for i in range(len(flags))]
    texts = [f"Chunk number {j} speaks." for j in range(len(flags[0]))]
    lines = [
        ("S", claim, text, flag)
        for claim, row in zip(claims, flags, strict=True)
        for text, flag in zip(texts, row, strict=True)
    ]
    lines.append(("A", QUESTION, " ".join(claims), 3))
    return {"question": QUESTION, field: " ".join(claims), "contexts": texts}, lines


@pytest.mark.parametrize(
    ("grades", "value"),
    [((3, 0, 0), 1.0), ((0, 3), 0.5), ((0, 2, 3), (1 / 2 + 2 / 3) / 2), ((1, 1), 0.0), ((3, 2, 3), 1.0)],
)
def test_context_precision(ledger: Any, grades: tuple[int, ...], value: float) -> None:
    assert replay(*(graded(*grades)[0], ledger, graded(*grades)[1], "context_precision")) == pytest.approx(value)


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("P(rel=2)@3", 1 / 3),
        ("RR(rel=2)", 0.5),
        ("AP(rel=2, denominator='found')", 0.5),
        ("nDCG(ideal='returned')", (3 / 1.584962500721156 + 1 / 2) / (3 + 1 / 1.584962500721156)),
        ("ERR", 7 / 8 / 2 + (1 / 8) * (1 / 8) / 3),
    ],
)
def test_measures_of_rankings_from_the_same_grades(ledger: Any, metric: str, value: float) -> None:
    row, lines = graded(0, 3, 1)
    scores = judge([row], metric, judge="replay", ledger=ledger(lines))
    assert scores[metric] == pytest.approx(value)


@pytest.mark.parametrize(
    ("metric", "value"),
    [("R(rel=2)", 2 / 3), ("R(rel=2)@1", 1 / 3), ("AP(rel=2)", (1 + 2 / 3) / 3), ("RPrec(rel=2)", 2 / 3)],
)
def test_what_was_not_retrieved_is_known_from_the_reference_contexts(metric: str, value: float) -> None:
    known = {"Text A.": 3, "Text B.": 0, "Text C.": 2, "Text D.": 3, "Text E.": 1}
    row = {"question": QUESTION, "contexts": ["Text A.", "Text B.", "Text C."]}

    def measured(contexts: list[str], reference: list[str]) -> Any:
        sample = row | {"contexts": contexts, "reference_contexts": reference}
        return judge([sample], metric, judge=lambda relation, left, right: known[right])

    assert measured(["Text A.", "Text B.", "Text C."], ["Text C.", "Text D.", "Text E."])[metric] == pytest.approx(
        value
    )
    assert measured([], ["Text D."])[metric] == 0.0
    assert measured(["Text A."], [])[metric] == 1.0
    assert measured([], []).column(metric).why


def test_context_recall_is_three_claims_of_four(ledger: Any) -> None:
    row, lines = supported("reference", [[1, 0], [0, 1], [1, 1], [0, -1]])
    assert replay(row, ledger, lines, "context_recall") == 0.75


def test_context_relevance_is_two_statements_of_three(ledger: Any) -> None:
    statements = ["Refunds go to the card.", "Cats sleep.", "It takes a week."]
    lines = [("Q", QUESTION, text, yes) for text, yes in zip(statements, (1, 0, 1), strict=True)]
    row = {"question": QUESTION, "contexts": [" ".join(statements[:2]), statements[2]]}
    assert replay(row, ledger, lines, "context_relevance") == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("metric", "value"),
    [("faithfulness", 0.5), ("hallucination_rate", 0.5), ("contradiction_rate", 0.25)],
)
def test_the_answer_against_its_contexts(ledger: Any, metric: str, value: float) -> None:
    # Supported; contradicted; silent; supported by one context though another contradicts it.
    row, lines = supported("answer", [[1, 0], [-1, 0], [0, 0], [1, -1]])
    assert replay(row, ledger, lines, metric) == value


def both(answer: list[str], reference: list[str], pairs: list[tuple[str, str, int]]) -> Any:
    """Answer and reference with what each says of the claims of the other."""
    row = {
        "question": QUESTION,
        "answer": " ".join(answer),
        "reference": " ".join(reference),
        "contexts": ["x"],
    }
    lines = [("A", QUESTION, row["answer"], 3)]
    known = {(claim, side): value for claim, side, value in pairs}
    for claims, side, text in ((answer, "reference", row["reference"]), (reference, "answer", row["answer"])):
        lines += [("S", claim, text, known.get((claim, side), 0)) for claim in claims]
    return row, lines


@pytest.mark.parametrize(
    ("metric", "value"), [("answer_precision", 0.5), ("completeness", 1 / 3), ("answer_correctness", 0.4)]
)
def test_answer_against_reference(ledger: Any, metric: str, value: float) -> None:
    row, lines = both(
        ["Cards take a week.", "Cash is quick."],
        ["Cards take seven days.", "Cash is free.", "Gifts count."],
        [("Cards take a week.", "reference", 1), ("Cards take seven days.", "answer", 1)],
    )
    assert replay(row, ledger, lines, metric) == pytest.approx(value)


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("marginal_gain@1", 0.5),
        ("marginal_gain@2", 0.0),
        ("marginal_gain@3", 0.25),
        ("marginal_gain@9", 0.0),
        ("smallest_k", 3.0),
        ("redundancy", 1 / 3),
        ("context_recall@1", 0.5),
        ("nugget_recall", 0.75),
    ],
)
def test_what_each_rank_brings(ledger: Any, metric: str, value: float) -> None:
    row, lines = supported("reference", [[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]])
    assert replay(row, ledger, lines, metric) == pytest.approx(value)


def test_use_of_contexts(ledger: Any) -> None:
    # A wrong claim from the relevant context, a wrong one from the other, a right one nobody showed.
    row, lines = supported("answer", [[1, 0], [0, 1], [0, 0]])
    row["reference"] = "The truth."
    lines += [("R", QUESTION, text, grade) for text, grade in zip(row["contexts"], (3, 0), strict=True)]
    lines += [("S", f"Fact {letter} holds.", "The truth.", yes) for letter, yes in (("A", 0), ("B", 0), ("C", 1))]
    expected = {
        "noise_sensitivity_relevant": 1 / 3,
        "noise_sensitivity_irrelevant": 1 / 3,
        "self_knowledge": 1 / 3,
        "context_utilisation": 1.0,
        "answer_relevance": 1.0,
        "abstention_quality": 1.0,
    }
    scores = judge([row], list(expected), judge="replay", ledger=ledger(lines))
    assert {name: scores[name] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize(("grade", "abstains", "value"), [(0, True, 1.0), (3, True, 0.0), (0, False, 0.0)])
def test_abstaining_is_right_where_the_contexts_hold_no_answer(
    ledger: Any, grade: int, abstains: bool, value: float
) -> None:
    row = {"question": QUESTION, "contexts": ["A chunk."], "answer": "I cannot say."}
    lines = [("R", QUESTION, "A chunk.", grade), ("A", QUESTION, "I cannot say.", -1 if abstains else 2)]
    assert replay(row, ledger, lines, "abstention_quality") == value


def test_an_answer_that_abstains_has_no_faithfulness(ledger: Any) -> None:
    row = {"question": QUESTION, "contexts": ["A chunk."], "answer": "I cannot say."}
    scores = judge([row], "faithfulness", judge="replay", ledger=ledger([("A", QUESTION, "I cannot say.", -1)]))
    assert scores.unmeasured == {"faithfulness": {"the answer abstains": 1}}
    assert scores["faithfulness"] != scores["faithfulness"]


def test_citations(ledger: Any) -> None:
    answer = "Refunds take a week [1]. Cash is quick [1][2]. Gifts count [7]."
    row = {"question": QUESTION, "contexts": ["One.", "Two."], "answer": answer}
    claims = ["Refunds take a week.", "Cash is quick.", "Gifts count."]
    lines = [("A", QUESTION, " ".join(claims), 3)]
    says = {(claims[0], "One."): 1, (claims[1], "One."): 0, (claims[1], "Two."): 1}
    lines += [("S", claim, text, yes) for (claim, text), yes in says.items()]
    scores = judge([row], "citation_precision, citation_recall", judge="replay", ledger=ledger(lines))
    assert (scores["citation_precision"], scores["citation_recall"]) == (0.5, pytest.approx(2 / 3))


def test_a_citation_counts_for_the_claims_in_its_words_and_for_a_claim_that_holds_them() -> None:
    cited = ["Refunds take a week. Cash is quick.", " gifts  COUNT"]
    row = {
        "question": QUESTION,
        "answer": "Refunds take a week. Cash is quick. Gifts count twice. Cards differ.",
        "contexts": [{"id": "c", "text": "One."}],
        "citations": [{"claim": words, "context": "c"} for words in cited],
    }
    scores = judge([row], "citation_precision, citation_recall", judge=lambda *pair: 1)
    assert (scores["citation_precision"], scores["citation_recall"]) == (1, 0.75)


@pytest.mark.parametrize(("k", "value"), [(1, 0.0), (2, 0.5), (3, 1.0)])
def test_nuggets_in_the_contexts_are_looked_for_down_to_the_cut(k: int, value: float) -> None:
    row = {"question": QUESTION, "contexts": ["None.", "Half.", "Whole."], "nuggets": ["A fact."]}
    grades = {"None.": 0, "Half.": 1, "Whole.": 2}
    scores = judge([row], f"nugget_score(by='contexts')@{k}", judge=lambda relation, left, right: grades[right])
    assert list(scores.means.values()) == [value]


def test_nuggets_by_their_weight(ledger: Any) -> None:
    nuggets = [{"text": "Vital one.", "importance": "vital"}, {"text": "Okay one.", "importance": "okay"}]
    row = {"question": QUESTION, "contexts": ["One."], "nuggets": nuggets}
    lines = [("S", "Vital one.", "One.", 1), ("S", "Okay one.", "One.", 0)]
    scores = judge([row], "nugget_recall, vital_recall, weighted_nugget_recall", judge="replay", ledger=ledger(lines))
    assert scores["nugget_recall"] == 0.5
    assert scores["vital_recall"] == 1.0
    assert scores["weighted_nugget_recall"] == pytest.approx(1 / 1.5)


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_says_what_it_is(name: str) -> None:
    from rankproof.scoring.catalogue import sections

    spec = METRICS[name].measure.spec
    assert set(sections(spec.doc)) >= {"Formula", "Range", "Perfect", "Worst", "Blind to", "Use"}
    assert METRICS[name].needs
