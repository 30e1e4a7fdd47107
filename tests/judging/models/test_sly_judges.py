"""A model that nods, obeys, leaves out or makes up raises no number: canaries and the texts themselves tell."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rankproof import judge
from rankproof.judging.case import COVERED, LENGTH, MOST, ROOM, claims_of_text, clauses_of
from rankproof.judging.models.calls import calls_for
from rankproof.judging.verdicts import VALUES, Ask

from .server import Fault, Served, serving

ROW = {
    "query": "How long do refunds take?",
    "contexts": ["Refunds take 30 days.", "We ship to Peru."],
    "reference": "Refunds take 30 days. They are free of charge.",
    "answer": "Refunds take 30 days. The moon is made of cheese.",
}
LIMITS: dict[str, Any] = {"timeout": 5, "tries": 2, "pause": 0.01}
BY_RELATION = {
    "R": "context_precision",
    "S": "completeness",
    "Q": "context_relevance",
    "A": "answer_relevance",
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    with serving() as served:
        yield served


def judged(server: Served, metrics: Any, bend: Callable[[dict[str, Any]], Any], row: Any = ROW) -> Any:
    server.faults = [Fault(bend, times=10_000)]
    return judge([row], metrics, judge="openai:m", base_url=server.url, **LIMITS)


def always(pick: Callable[[tuple[int, ...]], int]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Says the same of each pair of a relation, with whatever quote."""

    def bend(said: dict[str, Any]) -> dict[str, Any]:
        return {
            relation: {left: dict.fromkeys(rights, pick(VALUES[relation])) for left, rights in lefts.items()}
            if relation in VALUES
            else lefts
            for relation, lefts in said.items()
        }

    return bend


@pytest.mark.parametrize("relation", BY_RELATION)
@pytest.mark.parametrize("pick", [max, min, lambda values: 0], ids=["yes", "least", "no"])
def test_a_judge_that_always_says_the_same_measures_nothing(
    server: Served, relation: str, pick: Callable[[tuple[int, ...]], int]
) -> None:
    name = BY_RELATION[relation]
    found = judged(server, name, always(pick))
    assert found[name] != found[name], "a number by a judge that does not read"
    assert found.coverage[name] == 0
    assert any("a check of the judge failed" in problem for problem in found.account.problems)


def test_a_judge_that_settles_no_pair_is_an_error_also_where_rules_measured_something(server: Served) -> None:
    found = judged(server, "citation_recall, answer_relevance", always(min), {**ROW, "citations": []})
    assert found["citation_recall"] == 0  # nothing is cited, which takes no judge
    assert found.account.failed < found.account.calls  # the answer was taken apart
    (told,) = [each for each in found.audit.findings if each.kind == "judge-problems"]
    assert (told.severity, "and settled nothing" in told.message) == ("error", True)


@pytest.mark.parametrize("relation", BY_RELATION)
def test_a_check_that_is_left_out_settles_nothing_of_its_relation(server: Served, relation: str) -> None:
    def silent(said: dict[str, Any]) -> dict[str, Any]:
        last = list(said[relation])[-1]
        kept = {left: rights for left, rights in said[relation].items() if left != last}
        return {**said, relation: kept or {"q9": {"t9": 1}}}

    found = judged(server, BY_RELATION[relation], silent)
    assert found.coverage[BY_RELATION[relation]] == 0


@pytest.mark.parametrize("relation", BY_RELATION)
def test_an_honest_judge_passes_with_each_relation_checked_in_each_call(server: Served, relation: str) -> None:
    found = judged(server, BY_RELATION[relation], lambda said: said)
    assert found.coverage[BY_RELATION[relation]] == 1.0
    asks = [Ask(relation, f"left {i}?", f"right {i} is.") for i in range(500)]
    for call in calls_for(asks):
        assert len([ask for ask in call.canary if ask.relation == relation]) == 3


# --- claims --------------------------------------------------------------------------------------------


def listing(claims: list[str]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Answers every text with these claims, and pairs honestly."""
    return lambda said: said if any(each in said for each in (*VALUES, "quotes")) else dict.fromkeys(said, claims)


def test_a_short_answer_that_is_asked_with_its_question_is_no_fault_of_the_judge(server: Served) -> None:
    found = judged(server, "faithfulness", listing(["30 days"]), {**ROW, "answer": "30 days"})
    assert {each.left for each in found.verdicts.of("1") if each.relation == "S"} == {f"{ROW['query']} 30 days"}
    assert found.account.problems == {}


SLY = {
    "drops the made-up one": ["Refunds take 30 days."],
    "drops everything": [],
    "repeats the true one": ["Refunds take 30 days."] * 50,
    "says the true one in many ways": [
        *("Refunds take 30 days.", "A refund takes 30 days.", "30 days is what refunds take."),
        *("Refunds may take 30 days.", "Within 30 days refunds are done.", "Refunds: 30 days, they take."),
    ],
    "makes up what is easily supported": ["We ship to Peru.", "Peru is where we ship."],
    "never ends": [f"Refunds take 30 days, as number {i} says." for i in range(10_000)],
    "speaks of something else": [f"Snow {i} is white." for i in range(10_000)],
}


@pytest.mark.parametrize("name", SLY)
def test_no_list_of_claims_makes_an_answer_more_faithful(server: Served, name: str) -> None:
    def bend(said: dict[str, Any]) -> dict[str, Any]:
        return listing(SLY[name])(said)

    found = judged(server, "faithfulness", bend)
    assert found["faithfulness"] <= 0.5 + 1e-9
    low, _ = found.bounds("faithfulness")
    assert low <= 0.5 + 1e-9
    assert found.account.calls <= 4


def test_a_list_without_claims_is_asked_for_once_more(server: Served) -> None:
    asked: list[Any] = []

    def bend(said: dict[str, Any]) -> dict[str, Any]:
        asked.append(said)
        return listing([])(said) if len(asked) == 1 else said

    found = judged(server, "faithfulness", bend)
    assert found.unmeasured["faithfulness"] == {}
    assert "no claims of a text that has sentences" not in " ".join(found.account.problems)
    assert len([each for each in server.bodies() if "pairs" not in each]) == 2


@pytest.mark.parametrize("answer", ["Paris.", "30 days", "Neil Armstrong", "巴黎"])
def test_the_question_goes_along_with_what_says_nothing_alone(server: Served, answer: str) -> None:
    row = {"query": "What is it?", "contexts": [f"It is not {answer}"], "answer": answer}
    judged(server, "faithfulness", lambda said: said, row)
    claims, *_ = [each for each in server.bodies() if "pairs" not in each]
    assert list(claims["questions"].values()) == ["What is it?"]
    by_rules = judge([row], "faithfulness", judge=lambda relation, left, right: 0)
    assert any(each.left == f"What is it? {answer}" for each in by_rules.verdicts.of("1"))


TEXTS = [
    "Refunds take 30 days. They are free.",
    "Ana and Bo founded Acme in 1999 in Paris; it has 40 shops. No fee is due.",
    "Отпуск длится 30 дней. Он оплачивается.",
    "退款需要三十天。费用不退。",
    "A.",
]


@pytest.mark.parametrize("text", TEXTS)
def test_claims_stay_their_text_whatever_is_listed(text: str) -> None:
    clauses = clauses_of(text)
    lists = [
        (),
        (text,),
        clauses,
        clauses[:1],
        tuple(f"{clauses[0]} {i}" for i in range(10_000)),
        tuple(f"Something else {i}." for i in range(1_000)),
        tuple(each.replace("No ", "") for each in clauses),
        (text * 30,),
    ]
    for listed in lists:
        found = claims_of_text(text, listed)
        assert claims_of_text(text, found) == found, "what is held stays held"
        assert len(found) <= MOST + len(clauses)
        most = sum(max(LENGTH * len(each), ROOM) + len(each) for each in clauses)
        assert sum(map(len, found)) <= most
        said = " ".join(found)
        for clause in clauses:
            covered = sum(word.strip(".;") in said for word in clause.split())
            assert covered >= COVERED * len(clause.split()) - 1, f"{clause} is left out by {listed[:3]}"


def test_a_reply_is_bounded_before_it_is_paid_for(server: Served) -> None:
    def bend(said: dict[str, Any]) -> dict[str, Any]:
        return listing(SLY["never ends"])(said)

    judged(server, "faithfulness", bend)
    sent = sum(len(json.dumps(each)) for each in server.calls)
    assert sent < 20_000
