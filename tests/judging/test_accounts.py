"""Which half failed; verdicts as judgments; scores that are compared, gated, remembered and shown."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from rankproof import History, Scores, audit, compare_scores, evaluate, gate_scores, judge
from rankproof.errors import DataError, UsageError
from rankproof.judging.verdicts import Relation

CLAIM = "Anna wrote it."
OTHER = "Bert read it."


def blamed(row: dict[str, Any], says: dict[tuple[str, str], int], grade: int = 2, **how: Any) -> Any:
    """The failure of a sample with these S verdicts (0 where none is given) and this grade of the answer."""
    full = {
        "question": "Who?",
        "reference": CLAIM,
        "contexts": ["One.", "Two."],
        "answer": "Nobody did.",
        **row,
    }

    def said(relation: str, left: str, right: str) -> int:
        return grade if relation == Relation.ANSWER_ADDRESSES else 0 if relation in "RQ" else says.get((left, right), 0)

    return judge([full], "context_recall", judge=said, blame=True, **how).blame


@pytest.mark.parametrize(
    ("row", "says", "grade", "how", "point"),
    [
        ({}, {(CLAIM, "Nobody did."): 1}, 2, {}, "fine"),
        ({}, {}, 2, {}, "retrieval"),
        ({"reference_contexts": ["Gold."]}, {}, 2, {}, "corpus"),
        ({"reference_contexts": ["Gold."]}, {(CLAIM, "Gold."): 1}, 2, {}, "retrieval"),
        ({"reference_context_ids": ["d7"]}, {}, 2, {}, "retrieval"),
        ({}, {(CLAIM, "Two."): 1}, 2, {"k": 1}, "ranking"),
        ({"prompt_k": 1}, {(CLAIM, "Two."): 1}, 2, {}, "ranking"),
        ({}, {(CLAIM, "One."): 1}, 2, {}, "use"),
        ({}, {(CLAIM, "One."): 1}, -1, {}, "use"),
        ({}, {(CLAIM, "One."): 1, (CLAIM, "Nobody did."): -1}, 2, {}, "contradiction"),
        ({}, {(CLAIM, "One."): 1}, 0, {}, "form"),
        ({}, {(CLAIM, "One."): 1, ("Nobody did.", CLAIM): 1}, 2, {}, "specificity"),
        (
            {"reference": f"{CLAIM} {OTHER}"},
            {(CLAIM, "One."): 1, (OTHER, "One."): 1, (OTHER, "Nobody did."): 1},
            2,
            {},
            "incomplete",
        ),
        # Two claims are lost: the one that was lost first decides.
        ({"reference": f"{CLAIM} {OTHER}"}, {(CLAIM, "One."): 1}, 2, {}, "retrieval"),
    ],
)
def test_the_seven_points_and_their_order(
    row: dict[str, Any], says: dict[tuple[str, str], int], grade: int, how: dict[str, Any], point: str
) -> None:
    found = blamed(row, says, grade, **how)
    assert found.failures[0].point == point
    half = "retrieval" if point in ("corpus", "retrieval", "ranking") else "generation"
    assert found.halves == {"retrieval": 0, "generation": 0} | ({} if point == "fine" else {half: 1})


def test_nothing_is_blamed_on_what_nobody_judged() -> None:
    row = {"question": "Who?", "reference": CLAIM, "contexts": ["One."], "answer": "Nobody did."}
    scores = judge([row, {"id": "b", "question": "Who?"}], "context_recall", judge=lambda *pair: None, blame=True)
    assert scores.blame.points == {"unmeasured": 1, "nothing to compare": 1}
    assert scores.blame.halves == {"retrieval": 0, "generation": 0}


# --- judgments ---------------------------------------------------------------------------------------


def graded(n: int = 12) -> list[dict[str, Any]]:
    return [
        {
            "id": f"q{i}",
            "question": f"Number {i}?",
            "contexts": [{"id": f"d{j}", "text": f"Text {j} of {i}."} for j in range(4)],
            "answer": f"It is {i}.",
        }
        for i in range(n)
    ]


def by_place(relation: str, left: str, right: str) -> Any:
    if relation == Relation.CONTEXT_ANSWERS:
        return {"0": 0, "1": 3, "2": 2, "3": None}[right.split()[1]]
    return "1 of" in right or "0 of" in right or relation != Relation.TEXT_SUPPORTS


def test_verdicts_become_judgments_that_say_who_made_them(tmp_path: Path) -> None:
    path = tmp_path / "machine.qrels"
    scores = judge(graded(), "context_precision", judge=by_place)
    assert scores.write_qrels(path) == 36  # what is not settled stays unjudged
    assert path.read_text().splitlines()[0] == "q0 machine:function:by_place d0 0"
    ranking = {f"q{i}": ["d1", "d2", "d0", "d3"] for i in range(12)}
    evaluated = evaluate(path, ranking, "nDCG@3, P(rel=2)@2")
    assert evaluated["nDCG@3"] == evaluated["P(rel=2)@2"] == 1.0
    assert "made by a machine (function:by_place), not by people" in " ".join(str(audit(path, ranking)).split())
    told = " ".join(str(evaluated).split())  # beside the numbers, not only where somebody asks
    assert "made by a machine (function:by_place), not by people" in told
    assert scores.as_judgments()["q3"] == {"d0": 0, "d1": 3, "d2": 2}


def test_judgments_of_people_are_not_called_a_machines(tmp_path: Path) -> None:
    from rankproof import Verdicts

    ledger, path = tmp_path / "l.db", tmp_path / "people.qrels"
    judge(graded(1), "context_precision", judge=by_place, ledger=ledger)
    for entry in list(Verdicts(ledger).where(relation=Relation.CONTEXT_ANSWERS)):
        Verdicts(ledger).override(entry.id, 1, by="ana")
    judge(graded(1), "context_precision", judge=by_place, ledger=ledger).write_qrels(path)
    assert path.read_text().splitlines() == [f"q0 0 d{j} 1" for j in range(4)]


def test_what_cannot_be_written_as_judgments(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no verdict on how well a context answers"):
        judge(graded(), "faithfulness", judge=by_place).write_qrels(tmp_path / "x")
    with pytest.raises(DataError, match="the judge left all 1 contexts open"):
        judge([{"question": "a?", "contexts": ["b."]}], "P@1", judge=lambda *pair: None).write_qrels(tmp_path / "x")
    rows = [{"question": "a", "contexts": [{"id": "d 1", "text": "Text 1 of 1."}]}]
    with pytest.raises(DataError, match="the id 'd 1' has a blank"):
        judge(rows, "P@1", judge=by_place).write_qrels(tmp_path / "x")


# --- scores like any others --------------------------------------------------------------------------


def systems() -> tuple[Any, Any]:
    """Two systems on the same questions, the second with better contexts first."""
    worse, better = graded(), graded()
    for row in better:
        row["contexts"] = row["contexts"][1:3]
    for row in worse:
        row["contexts"] = row["contexts"][:3]
    return tuple(judge(rows, "context_precision, faithfulness", judge=by_place) for rows in (worse, better))


def test_scores_are_compared_by_sample() -> None:
    worse, better = systems()
    row = compare_scores({"a": worse, "b": better}, "context_precision").row("b", "context_precision")
    assert (row.verdict, row.n, row.wins) == ("better", 12, 12)
    assert row.difference == pytest.approx(1 - (1 / 2 + 2 / 3) / 2)


def test_scores_of_other_judges_or_questions_are_not_compared() -> None:
    worse, _ = systems()

    def other(relation: str, left: str, right: str) -> Any:
        return by_place(relation, left, right)

    foreign = judge([{**row, "contexts": row["contexts"][:3]} for row in graded()], "context_precision", judge=other)
    with pytest.raises(UsageError, match="have other judges of context_precision"):
        compare_scores({"a": worse, "b": foreign}, "context_precision")
    asked = judge([{**row, "question": "Else?"} for row in graded()], "context_precision", judge=by_place)
    with pytest.raises(UsageError, match="different judgments"):
        compare_scores({"a": worse, "b": asked}, "context_precision")


def test_an_unmeasured_metric_is_not_compared() -> None:
    one = judge(graded(), "context_recall, P@1", judge=by_place)
    with pytest.raises(DataError, match=r"context_recall: unmeasured for every sample .*no reference \(12\)"):
        compare_scores({"a": one, "b": one}, "context_recall")


def test_a_gate_refuses_where_much_is_open() -> None:
    rows = graded()
    scores = judge(rows, "P@4, faithfulness", judge=by_place)  # one context of four is never settled
    found = gate_scores(scores, scores, "faithfulness", margin=0.3)
    assert found.outcome == "pass"
    half = judge(rows, "context_precision", judge=lambda *pair: True if "q" in pair[1] or pair[2] < "Text 2" else None)
    assert half.coverage["context_precision"] == 0.5
    known = judge(rows, "context_precision", judge=lambda *pair: pair[2] < "Text 2" or None, complete=0.5)
    refused = gate_scores(known, known)
    assert refused.outcome == "inconclusive"
    assert [(row.check, row.measure, row.outcome) for row in refused][-1] == (
        *("coverage", "context_precision", "inconclusive"),
    )
    assert gate_scores(known, known, margin=0.3, coverage=0.4).outcome == "pass"


def test_scores_come_back_from_a_history_as_they_were(tmp_path: Path) -> None:
    scores = judge(graded(), "context_precision, faithfulness, context_recall", judge=by_place)
    history = History(tmp_path / "h.db")
    history.save(scores, "monday")
    again = history.scores("monday")
    assert str(again) == str(scores)
    assert again.unmeasured == scores.unmeasured
    assert again.bounds("context_precision") == scores.bounds("context_precision")
    assert Scores.from_dict(json.loads(json.dumps(scores.to_dict()))).coverage["context_precision"] == 0.75


def test_slices_have_their_own_coverage() -> None:
    groups = {f"q{i}": "even" if i % 2 == 0 else "odd" for i in range(12)}
    scores = judge(graded(), "faithfulness, P@1", judge=by_place, by=groups)
    assert list(scores.slices) == ["even", "odd"]
    assert scores.slices["odd"].column("faithfulness").coverage == 1.0
    assert "even" in str(scores)


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv", "json", "jsonl"])
def test_every_format_says_how_much_was_judged(form: str) -> None:
    text = judge(graded(), "context_precision, context_recall", judge=by_place).format(form)
    assert "75 %" in text or "0.75" in text or "75 \\%" in text
    assert "NaN" not in text
    assert '"missing"' not in text  # which counts queries without a ranking
    assert "nan" not in text.replace("unmeasured", "")


# --- the page ----------------------------------------------------------------------------------------


class Page(HTMLParser):
    """What a reader of a page can open and see."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_a_reader_opens_a_score_and_sees_claim_verdict_quote_and_judge() -> None:
    def quoting(relation: str, left: str, right: str) -> Any:
        if relation == Relation.TEXT_SUPPORTS:
            return {"value": 1, "quote": right[:6]} if "1 of" in right else None if "2 of" in right else 0
        return by_place(relation, left, right)

    rows = graded(3)
    rows[0]["answer"] = "<b>It</b> & co."
    scores = judge(rows, "faithfulness, context_precision", judge=quoting)
    page = Page()
    html = scores.html()
    page.feed(html)
    text = " ".join(page.words)
    assert page.tags.count("details") == 3 * 3  # a sample, and its two scores
    assert "script" not in page.tags
    assert "http://" not in html
    assert "https://" not in html
    for seen in (
        "supports",
        "Text 1",
        "unmeasured: the judge could not tell",
        "function:quoting",
        "It is 1.",
    ):
        assert seen in text
    assert "<b>It</b> & co." not in html


def test_a_page_of_many_samples_shows_the_worst_and_says_how_many_it_leaves_out() -> None:
    html = judge(graded(230), "faithfulness", judge=by_place).html()
    assert "The other 30 are left out." in html


def test_a_page_shows_the_question_beside_its_sample() -> None:
    row = {"id": "s7", "question": "Where <is> it?", "contexts": ["It is 1."], "answer": "It is 1."}
    html = judge([row], "faithfulness", judge=by_place).html()
    assert "s7" in html
    assert "Where &lt;is&gt; it?" in html.partition("</summary>")[0].rpartition("s7")[2]


def test_a_page_accounts_for_failures_where_that_was_asked_for() -> None:
    row = {"question": "Where?", "contexts": ["No."], "reference": "It is 1.", "answer": "It is 2."}

    def silent(relation: str, left: str, right: str) -> int:
        return 0

    plain, asked = (judge([row], "faithfulness", judge=silent, blame=each).html() for each in (False, True))
    assert "Which half failed" not in plain
    assert "Which half failed" in asked
    assert "it was not retrieved" in asked


@pytest.mark.parametrize("beside", [{"kind": "{}"}, {"metadata": {"kind": "{}"}}])
def test_samples_are_grouped_by_a_column_of_theirs(beside: dict[str, Any]) -> None:
    rows = [
        row | json.loads(json.dumps(beside).replace("{}", "odd" if i % 2 else "even"))
        for i, row in enumerate(graded(4))
    ]
    scores = judge(rows, "P@1", judge=by_place, by="kind")
    assert {name: len(part.queries) for name, part in scores.slices.items()} == {"even": 2, "odd": 2}


def test_a_column_that_no_sample_has_is_an_error_that_names_those_there_are() -> None:
    rows = [row | {"kind": "a"} for row in graded(2)]
    with pytest.raises(UsageError, match=r"no column of the samples; their columns are kind\..*Next: "):
        judge(rows, "P@1", judge=by_place, by="knd")


def test_a_page_of_two_systems_compares_them(tmp_path: Path) -> None:
    from rankproof.judging.page import page_of

    worse, better = systems()
    page = Page()
    page.feed(page_of({"old": worse, "new": better}))
    text = " ".join(page.words)
    assert "new is better than old on context_precision" in text
    assert "Scores: old" in text
    assert "Samples: new" in text


def test_a_judge_that_says_only_0_and_1_is_warned_of() -> None:
    scores = judge(graded(1), "context_precision", judge=lambda *pair: 1)
    assert scores["context_precision"] == 0.0
    assert scores.audit.of_kind("low-grades") is not None
