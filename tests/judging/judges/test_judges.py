"""Judges: functions of every kind, people, replays, cascades; and what they say wrongly."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankproof import Judge, calibrate, judge, judge_drift, stress
from rankproof.errors import DataError, UsageError
from rankproof.judging.judges import HumanJudge, Verdicts, judges_of
from rankproof.judging.run import settle
from rankproof.judging.verdicts import Account, Ask, InLedger, Keep, Relation, Unmeasured, Verdict
from rankproof.store.ledger import Ledger

R, S, Q, A, C = (Ask(relation, "left words", "right words here") for relation in "RSQAC")


def said(reply: Any, ask: Ask) -> Any:
    """What becomes of a reply of a function."""
    kept: list[Any] = []

    def function(relation: str, left: str, right: str) -> Any:
        if isinstance(reply, BaseException):
            raise reply
        return reply

    function.relations = "RSQAC"  # type: ignore[attr-defined]
    judges_of(function)[0].judge([[ask]], kept.extend)
    (found,) = kept
    return found


def test_a_judge_with_its_ledger_is_taken_wherever_a_judge_is(tmp_path: Path) -> None:
    """It can be called as well, and must not be taken for a function that judges pairs."""
    rows = [{"query": "q?", "contexts": ["a b.", "c d."], "reference": "a b."}]

    def function(relation: str, left: str, right: str) -> int:
        return int(left in right)

    mine = Judge(function, ledger=tmp_path / "mine.db")
    for given in (mine, Judge(mine), ["replay:function:function", mine]):
        found = judge(
            rows, "context_recall", judge=given, ledger=tmp_path / "other.db" if given is mine else mine.ledger
        )
        assert (found["context_recall"], found.by) == (1.0, {"function:function": 2})
    assert len(list(Verdicts(tmp_path / "other.db"))) == 2
    assert stress(rows, "context_recall", judge=mine).rates["asked again"]["S"].n == 2
    assert judge_drift(tmp_path / "other.db", judge=mine).n == 2
    for known in (mine, function):
        assert calibrate(tmp_path / "other.db", lambda ask: 0, judge=known, who="ana").n == 2
    with pytest.raises(UsageError, match="takes no options"):
        judge(rows, "context_recall", judge=mine, temperature=1)


def test_a_judge_that_settles_nothing_is_not_called_steady() -> None:
    with pytest.raises(DataError, match="settled none of 2 pairs"):
        stress([{"query": "q?", "contexts": ["a b.", "c d."]}], "P@2", judge=lambda relation, left, right: None)


@pytest.mark.parametrize(
    ("reply", "ask", "value"),
    [
        *((grade, R, grade) for grade in (0, 1, 2, 3)),
        *((grade, A, grade) for grade in (-1, 0, 1, 2, 3)),
        *((stance, S, stance) for stance in (-1, 0, 1)),
        (True, R, 3),
        (False, R, 0),
        (True, A, 3),
        (True, S, 1),
        (np.True_, Q, 1),
        (np.int64(2), R, 2),
        (np.float64(0.7), Q, 1),
        (0.5, S, 1),
        (0.49, R, 0),
        (1.0, R, 3),
        (Fraction(3, 4), S, 1),
        ({"probability": Fraction(3, 4)}, S, 1),
        ({"value": 2, "quote": "right words"}, R, 2),
        ({"probability": 0.2}, Q, 0),
        ({"value": 1, "probability": 0.9, "quote": None}, S, 1),
    ],
)
def test_replies_that_are_verdicts(reply: Any, ask: Ask, value: int) -> None:
    found = said(reply, ask)
    assert isinstance(found, Verdict)
    assert (found.value, type(found.value)) == (value, int)
    assert isinstance(found.probability, float | None)


@pytest.mark.parametrize(
    ("reply", "ask", "reason"),
    [
        (None, R, "the judge could not tell"),
        (7, R, "got 7, expected one of 0, 1, 2, 3"),
        (-1, R, "got -1, expected one of 0, 1, 2, 3"),
        (2, S, "got 2, expected one of -1, 0, 1"),
        (1.5, Q, "got 1.5, expected a probability from 0 to 1"),
        (float("nan"), Q, "got nan, expected a probability"),
        (float("inf"), S, "got inf, expected a probability"),
        ("3", R, "got '3', expected one of"),
        ("supports", S, "got 'supports', expected one of -1, 0, 1"),
        ([1], S, "got \\[1\\], expected one of"),
        ({"value": None}, S, "the judge could not tell"),
        ({}, S, "got {}, expected a mapping with value or probability"),
        ({"verdict": 1, "quote": None}, R, "got {'verdict': 1, .*, expected a mapping with value or probability"),
        ({"claims": ["x"]}, C, "got {'claims': .*, expected a list of claims"),
        ({"probability": "high"}, S, "got 'high', expected a probability"),
        ({"value": 1, "quote": "words that are not there"}, S, "the quote .* is not in the text"),
        ({"value": 1, "quote": 3}, S, "the quote 3 is not in the text"),
        (RuntimeError("no luck"), S, "the judge raised RuntimeError: 'no luck'"),
        (TimeoutError(), S, "the judge raised TimeoutError"),
        (ValueError("bad sk-abcdef0123456789"), S, r"ValueError: 'bad \[key\]'"),
        ("one claim", C, "expected a list of claims"),
        (["", "x"], C, "expected a list of claims"),
    ],
)
def test_replies_that_are_none(reply: Any, ask: Ask, reason: str) -> None:
    import re

    found = said(reply, ask)
    assert isinstance(found, Unmeasured)
    assert re.search(reason, found.reason)


def test_claims_of_a_function_are_counted() -> None:
    def splits(relation: str, left: str, right: str) -> Any:
        return (
            ["Ana is one.", "Bo is two.", "Ana is one."] if relation == Relation.TEXT_CLAIMS else left == "Ana is one."
        )

    splits.relations = ("C", "S", "A")  # type: ignore[attr-defined]
    row = {"answer": "Ana is one, Bo is two.", "contexts": ["A text."]}
    assert judge([row], "faithfulness", judge=splits)["faithfulness"] == 0.5


def test_a_function_may_take_the_pair_as_one() -> None:
    row = {"question": "Why?", "contexts": ["A text."]}
    assert (
        judge([row], "context_precision", judge=lambda ask: ask.relation == Relation.CONTEXT_ANSWERS)[
            "context_precision"
        ]
        == 1.0
    )


@pytest.mark.parametrize("function", [lambda: 1, lambda a, b, c, d: 1, 7, {"a": 1}, "nope", "openai:", "human"])
def test_what_is_no_judge(function: Any) -> None:
    if function == "human":  # somebody, whoever it is
        assert judges_of(function)[0].name == "human:somebody"
        return
    with pytest.raises(UsageError, match="judge"):
        judges_of(function)


def test_options_are_for_models() -> None:
    with pytest.raises(UsageError, match="takes no options, got temprature"):
        judge([], judge="lexical", temprature=0)

    def careful(relation: str, left: str, right: str) -> None:
        return None

    with pytest.raises(UsageError, match=r"^judge 'careful': takes no options, got temprature"):
        judge([], judge=careful, temprature=0)


# --- asynchronous, inside loops and threads ----------------------------------------------------------


async def slowly(relation: str, left: str, right: str) -> bool:
    await asyncio.sleep(0.02)
    return "yes" in right


ROW = {"question": "Why?", "contexts": [f"text {i} yes" for i in range(20)]}


def test_an_asynchronous_function_is_asked_side_by_side() -> None:
    pairs = asyncio.Barrier(2)

    async def meets_another(relation: str, left: str, right: str) -> bool:
        await asyncio.wait_for(pairs.wait(), 60)
        return "yes" in right

    assert judge([ROW], "P@20", judge=meets_another)["P@20"] == 1.0


def test_inside_a_loop_that_runs_and_inside_a_thread() -> None:
    async def notebook() -> float:
        return judge([ROW], "P@20", judge=slowly)["P@20"]

    found: list[float] = []
    thread = threading.Thread(target=lambda: found.append(judge([ROW], "P@20", judge=slowly)["P@20"]))
    thread.start()
    thread.join()
    assert [asyncio.run(notebook()), *found] == [1.0, 1.0]


# --- cascades ----------------------------------------------------------------------------------------


def test_a_cascade_passes_on_only_what_is_open(tmp_path: Path) -> None:
    seen: list[str] = []

    def first(relation: str, left: str, right: str) -> Any:
        return True if right == "easy." else None

    def second(relation: str, left: str, right: str) -> Any:
        seen.append(right)
        return 2

    row = {"question": "Why?", "contexts": ["easy.", "hard."]}
    for ledger in (None, tmp_path / "l.db", tmp_path / "l.db"):
        scores = judge([row], "context_precision", judge=[first, second], ledger=ledger)
        assert scores["context_precision"] == 1.0
        assert scores.by == {"function:first": 1, "function:second": 1}
    assert seen == ["hard.", "hard."]  # the third time everything is in the ledger
    alone = judge([row], "context_precision", judge=second, ledger=tmp_path / "l.db")
    assert alone.by == {"function:second": 2}  # what a judge said in a cascade it need not say again
    again = judge([row], "P@2", judge="replay:function:first>function:second", ledger=tmp_path / "l.db")
    assert again.by == {"function:first": 1, "function:second": 1}


def test_a_cascade_that_is_spelled_out() -> None:
    assert [each.name for each in judges_of("lexical > human:ana")] == ["lexical", "human:ana"]


# --- people ------------------------------------------------------------------------------------------


def test_a_person_is_asked_once_and_remembered(tmp_path: Path) -> None:
    asked: list[Ask] = []

    def reply(ask: Ask) -> int | None:
        asked.append(ask)
        return None if ask.relation == Relation.TEXT_SUPPORTS else 1

    person, kept = HumanJudge("ana", reply), InLedger(Ledger(tmp_path / "l.db"))
    for _ in range(2):
        found, _ = settle([[R, S, Q]], [person], kept)
    assert (found[R].value, found[S].reason) == (1, "no human has judged it")  # type: ignore[union-attr]
    assert asked == [R, S, Q, S]


# --- judges of others --------------------------------------------------------------------------------


class Careless:
    """A judge of somebody's own that does everything it must not."""

    name = "careless"
    identity: Mapping[str, Any] = {"kind": "test", "name": "careless"}

    def judge(self, groups: Iterable[Sequence[Ask]], keep: Keep) -> Account:
        for group in groups:
            keep([Verdict(Ask(Relation.CONTEXT_ANSWERS, "never", "asked"), 3, "careless")])
            keep([Verdict(ask, 9, "careless", probability=4.0) for ask in group[:1]])
            keep([Verdict(ask, 3, "careless", quote="not there") for ask in group[1:2]])
            keep([Verdict(ask, True, "careless") for ask in group[2:3]])
        return Account(calls=1)


def test_a_judge_of_ones_own_is_held_to_the_rules(tmp_path: Path) -> None:
    row = {"question": "Why?", "contexts": ["a.", "b.", "c.", "d."]}
    scores = judge([row], "context_precision", judge=Careless(), ledger=tmp_path / "l.db")
    assert math.isnan(scores["context_precision"])
    assert [piece.reason for piece in scores.verdicts] == [
        "got 9, expected one of 0, 1, 2, 3",
        "the quote 'not there' is not in the text",
        "got True, expected one of 0, 1, 2, 3",
        "no judge was asked",
    ]


def test_the_judge_object_can_be_used_again_and_again() -> None:
    reader = Judge(lambda *pair: True)
    assert repr(reader) == "<Judge function:<lambda>>"
    assert [reader([ROW], "P@20")["P@20"] for _ in range(2)] == [1.0, 1.0]
    assert judge([ROW], "P@20", judge=reader)["P@20"] == 1.0
    plan = reader.plan([ROW], "P@20")
    assert str(plan) == "1 sample; 0 pairs are known, 20 to ask of function:<lambda> (R 20)."


@pytest.mark.parametrize("settings", [{"k": 0}, {"k": True}, {"complete": 0}, {"complete": 2}])
def test_settings_that_cannot_be(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        judge([ROW], "P@20", judge=lambda *pair: True, **settings)


def test_k_cuts_what_counts() -> None:
    row = {"question": "Why?", "contexts": ["no.", "yes."]}
    yes: Callable[..., bool] = lambda relation, left, right: right == "yes."  # noqa: E731
    assert judge([row], "context_precision", judge=yes)["context_precision"] == 0.5
    assert judge([row], "context_precision", judge=yes, k=1)["context_precision"] == 0.0


def test_coverage_shows_each_metric_with_its_share() -> None:
    row = {"query": "q", "contexts": ["a", "b", "c", "d"], "answer": "It is so."}
    scores = judge([row], "P@4", judge=lambda relation, left, right: None if right == "a" else 3)
    assert repr(scores.coverage) == f"<coverage: P@4={scores.coverage['P@4']:.4f}>" == "<coverage: P@4=0.7500>"
    assert dict(scores.coverage) == scores.judged_shares
    assert scores.coverage["precision@4"] == scores.coverage["P@4"], "by another name too"
    with pytest.raises(KeyError, match="was not measured"):
        scores.coverage["RR"]


@pytest.mark.parametrize("none", [[], (), b"", ["lexical", []]])
def test_an_empty_cascade_is_refused(none: Any) -> None:
    with pytest.raises(UsageError, match=r"judge: got .*, expected one of lexical"):
        Judge(none)


def test_who_overrides_and_what_is_said_in_plain_words(tmp_path: Path) -> None:
    row = {"question": "Why?", "contexts": ["yes."]}
    judge([row], "P@1", judge=lambda relation, left, right: 3, ledger=tmp_path / "v.db")
    verdicts = Verdicts(tmp_path / "v.db")
    (entry,) = verdicts
    for nobody in (None, 3, " "):
        with pytest.raises(UsageError, match="by: got no name, expected who overrides"):
            verdicts.override(entry.id, 0, by=nobody)  # type: ignore[arg-type]
    for none in (None, -1, "", ["x"]):
        with pytest.raises(UsageError, match=r"no pair whose id begins with .*, expected one"):
            verdicts.override(none, 0, by="ana")  # type: ignore[arg-type]
