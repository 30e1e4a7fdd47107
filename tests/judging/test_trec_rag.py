"""Nuggets and support as TREC's RAG track scores them, and MIRAGE's four rates: published values and a served model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from rankproof import calibrate, judge, mirage
from rankproof.errors import DataError, UsageError
from rankproof.judging.verdicts import Relation
from tests.judging.models.server import Served, serving
from tests.shell import rankproof

SIX = {
    "strict_vital_score": 1.0,
    "strict_all_score": 2 / 4,
    "vital_score": 1.0,
    "all_score": 2.5 / 4,
    "weighted_score": (2 + 0.5 * 0.5) / (2 + 0.5 * 2),
    "strict_weighted_score": 2 / 3,
}
"""The scores of the record that nuggetizer's documentation shows, by the formulas of arXiv 2411.09607."""
NUGGETS = [
    ("Python is a high-level programming language", "vital", "support"),
    ("Python was created by Guido van Rossum", "vital", "support"),
    ("Python is used for data science", "okay", "partial_support"),
    ("Python supports multithreading", "okay", "not_support"),
]


def assigned() -> dict[str, Any]:
    """An answer with its nuggets as nuggetizer writes them."""
    return {
        "query": "What is Python?",
        "qid": "q1",
        "answer_text": "Python is a high-level programming language...",
        "response_length": 42,
        "run_id": "run-123",
        "nuggets": [dict(zip(("text", "importance", "assignment"), each, strict=True)) for each in NUGGETS],
    }


def never(relation: str, left: str, right: str) -> None:
    raise AssertionError("what the file says is not asked")


def in_thirds(relation: str, left: str, right: str) -> int | None:
    """All of a claim, a part of it, or nothing, by the share of its words that a text has."""
    if relation != Relation.TEXT_SUPPORTS_IN_PART:
        return None
    words = left.lower().strip(".").split()
    there = sum(each in right.lower() for each in words)
    return 2 if there == len(words) else 1 if there * 2 >= len(words) else 0


def test_a_file_of_assignments_gives_the_six_published_scores(tmp_path: Path) -> None:
    path = tmp_path / "assigned.jsonl"
    path.write_text(json.dumps(assigned()) + "\n")
    scores = judge(path, list(SIX), judge=never)
    found = dict(zip(SIX, (each.mean for each in scores.columns.values()), strict=True))
    assert found == pytest.approx(SIX)
    done = rankproof(tmp_path, "judge", path.name, "-m", "strict_vital_score,all_score", "-f", "json")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("vital", range(3))
@pytest.mark.parametrize("okay", range(3))
def test_every_mix_of_nuggets_against_the_formula(vital: int, okay: int) -> None:
    worth = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
    for words in product(worth, repeat=vital + okay):
        kinds = ["vital"] * vital + ["okay"] * okay
        nuggets = [
            {"text": f"Fact {i}.", "importance": kind, "assignment": word}
            for i, (kind, word) in enumerate(zip(kinds, words, strict=True))
        ]
        scores = judge([{"id": "q", "answer": "It is.", "nuggets": nuggets}], list(SIX), judge=never)
        for name, column in zip(SIX, scores.columns.values(), strict=True):
            value, counted = float(column.values[0]), column.counted is None or bool(column.counted[0])
            of = 1.0 if "vital" in name else 0.5
            weights = [
                1.0 if kind == "vital" else 0.0 if "vital" in name else of if "weighted" in name else 1.0
                for kind in kinds
            ]
            gains = [float(worth[word] == 1) if "strict" in name else worth[word] for word in words]
            if not sum(weights):
                assert not counted  # no nuggets of the kind: no number, where the tool itself says 0
            else:
                expected = sum(w * g for w, g in zip(weights, gains, strict=True)) / sum(weights)
                assert value == pytest.approx(expected), (name, words)


def test_what_is_not_assigned_is_asked_once_for_all_six() -> None:
    asked: list[tuple[str, str]] = []

    def counting(relation: str, left: str, right: str) -> int | None:
        asked.append((relation, left))
        return in_thirds(relation, left, right)

    row = {
        "answer": "The tower is red and tall.",
        "nuggets": ["The tower is red.", "The tower is very old.", "It rains."],
    }
    scores = judge([row], list(SIX), judge=counting)
    assert [each for each in asked if each[0] == "P"] == [("P", each) for each in row["nuggets"]]
    assert [round(float(each.values[0]), 4) for each in scores.columns.values()] == pytest.approx(
        [1 / 3, 1 / 3, 0.5, 0.5, 0.5, 1 / 3], abs=1e-4
    )


@pytest.mark.parametrize("answer", ["", "   "])
def test_an_empty_answer_has_no_nugget(answer: str) -> None:
    row = {"answer": answer, "query": "What?", "nuggets": ["The tower is red."]}
    scores = judge([row], "vital_score", judge=in_thirds)
    assert [float(each.values[0]) for each in scores.columns.values()] == [0.0]


def test_an_open_nugget_is_never_zero_and_never_one() -> None:
    row = {"answer": "It is.", "nuggets": [{"text": "A.", "assignment": "support"}, "The rest."]}
    scores = judge([row], "all_score", judge=lambda relation, left, right: None)
    (name,) = scores.columns
    assert scores.columns[name].counted is not None
    assert not scores.columns[name].counted.any()
    assert scores.bounds(name) == (0.5, 1.0)


def trec_answer() -> dict[str, Any]:
    """An answer as runs of TREC's RAG track have it."""
    return {
        "run_id": "r1",
        "topic_id": "2024-1",
        "topic": "Where is the tower?",
        "references": ["d1", "d2", "d3"],
        "answer": [
            {"text": "The tower is red.", "citations": [0, 1]},
            {"text": "The tower is old.", "citations": [2]},
            {"text": "Nobody lives there.", "citations": []},
        ],
    }


def supports(*words: str) -> list[dict[str, Any]]:
    names = [("The tower is red.", "d1"), ("The tower is red.", "d2"), ("The tower is old.", "d3")]
    return [{"claim": c, "context": d, "support": word} for (c, d), word in zip(names, words, strict=True)]


@pytest.mark.parametrize(
    ("words", "values"),
    [
        # sum of w over the citations / citations; that of the best of each sentence / sentences; the first ones alone
        (("FS", "NS", "PS"), (1.5 / 3, 1.5 / 3, 1.5 / 2, 1.5 / 3)),
        (("partial", "full", "none"), (1.5 / 3, 1 / 3, 0.5 / 2, 0.5 / 3)),
        (("0", "0", "0"), (0.0, 0.0, 0.0, 0.0)),
        ((2, 2, 2), (1.0, 2 / 3, 1.0, 2 / 3)),
    ],
)
def test_support_that_was_judged_before(words: tuple[Any, ...], values: tuple[float, ...]) -> None:
    row = {**trec_answer(), "citations": supports(*words)}
    names = ["support_precision", "support_recall", "support_precision_of_first", "support_recall_of_first"]
    scores = judge([row], names, judge=never)
    assert [float(each.values[0]) for each in scores.columns.values()] == pytest.approx(values)
    assert scores.queries == ("2024-1",)


def test_support_that_is_judged_now() -> None:
    row = {
        **trec_answer(),
        "contexts": [{"id": "d1", "text": "The tower is red."}, {"id": "d3", "text": "The tower."}],
    }
    scores = judge([row], "support_precision, support_recall", judge=in_thirds)
    # d1 in full, d2 was not retrieved, d3 in part
    assert scores["support_precision"] == pytest.approx(1.5 / 3)
    assert scores["support_recall"] == pytest.approx(1.5 / 3)
    without = judge([trec_answer()], "support_precision", judge=in_thirds)
    assert without.bounds("support_precision") == (0.0, 1.0)


@pytest.mark.parametrize("odd", ["maybe", 3, -1, "half"])
def test_an_unknown_support_is_an_error(odd: Any) -> None:
    with pytest.raises(DataError, match="as 'support'"):
        judge([{"answer": "It is.", "nuggets": [{"text": "A.", "assignment": odd}]}], "all_score", judge=never)


def test_a_table_of_agreement_on_support(tmp_path: Path) -> None:
    """People's three grades by the judge's, as the track's study of support shows them."""
    rows = [
        {
            "id": f"s{i}",
            "answer": "The tower is red and old.",
            "nuggets": [f"Fact {i} is {'red' if i % 3 else 'new'}."],
        }
        for i in range(30)
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    found = calibrate(
        path,
        lambda ask: 2 if "red" in ask.left else 0,
        judge=lambda relation, left, right: 1 if relation == Relation.TEXT_SUPPORTS_IN_PART and "red" in left else 0,
        ledger=tmp_path / "v.db",
        metrics="all_score",
        relation="P",
    )
    assert found.confusion[Relation.TEXT_SUPPORTS_IN_PART] == {(0, 0): 10, (2, 1): 20}
    assert "partial support" in str(found)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")

    with serving() as found:
        yield found


def test_a_served_model_gives_grades_of_support(served: Served, tmp_path: Path) -> None:
    row = {
        "id": "a",
        "query": "Where is the tower?",
        "answer": "The tower is red. The tower is old.",
        "contexts": [{"id": "d1", "text": "The tower is red."}, {"id": "d2", "text": "The tower is new."}],
        "citations": [
            {"claim": "The tower is red.", "context": "d1"},
            {"claim": "The tower is old.", "context": "d2"},
        ],
        "nuggets": [
            {"text": "The tower is red.", "importance": "vital"},
            {"text": "It rains here.", "importance": "okay"},
        ],
    }
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n")
    words = ["judge", path.name, "-j", "openai:scripted", "--base-url", served.url, "--ledger", "v.db"]
    metrics = "support_precision,support_recall,vital_score,weighted_score"
    done = rankproof(tmp_path, *words, "-m", metrics, "-f", "json", "--no-probe")
    assert done.returncode == 0, done.stderr
    assert len(served.calls) == 1
    again = judge(path, metrics, judge="replay", ledger=tmp_path / "v.db")
    values = [float(each.values[0]) for each in again.columns.values()]
    assert values == pytest.approx([0.75, 0.75, 1.0, 1 / 1.5])


# --- MIRAGE ---------------------------------------------------------------------------------------------


def test_the_rates_as_mirage_counts_them(tmp_path: Path) -> None:
    """Every pattern of right and wrong, from files of evaluated answers as MIRAGE writes them."""
    often = dict(zip(product((0, 1), repeat=3), (5, 3, 7, 11, 2, 13, 17, 19), strict=True))
    rows = [pattern for pattern, n in often.items() for _ in range(n)]
    files = []
    for place, name in enumerate(("base", "oracle", "mixed")):
        files.append(f"{name}_eval.json")
        said = [
            {"query_id": f"q{i}", "query": "?", "output": "x", "EM_label": row[place]} for i, row in enumerate(rows)
        ]
        (tmp_path / files[-1]).write_text(json.dumps(said))
    done = rankproof(tmp_path, "judge", *files, "--design", "mirage", "-f", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    of = len(rows)
    expected = {
        "noise_vulnerability": sum(n for (_, o, m), n in often.items() if o and not m) / of,
        "context_acceptability": sum(n for (_, o, m), n in often.items() if o and m) / of,
        "context_insensitivity": sum(n for (b, o, _), n in often.items() if not b and not o) / of,
        "context_misinterpretation": sum(n for (b, o, _), n in often.items() if b and not o) / of,
    }
    assert {name: each["value"] for name, each in found["rates"].items()} == pytest.approx(expected)
    assert sum(expected.values()) == pytest.approx(1)
    assert found["patterns"] == {"".join(map(str, key)): n for key, n in often.items()}
    for name, each in found["rates"].items():
        assert each["low"] < expected[name] < each["high"]


def three(answers: tuple[str, str, str], number: int) -> dict[str, str]:
    names = ("base_answer", "oracle_answer", "mixed_answer")
    row = {"id": f"q{number}", "query": "Where is the tower?", "reference": "The tower is in Rome."}
    return row | dict(zip(names, answers, strict=True))


def test_answers_are_judged_by_a_served_model(served: Served, tmp_path: Path) -> None:
    good, bad = "The tower is in Rome.", "The tower is in Oslo."
    rows = [
        three((bad, good, good), 1),
        three((bad, good, bad), 2),
        three((bad, bad, bad), 3),
        three((good, bad, bad), 4),
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    done = rankproof(
        *(tmp_path, "judge", path.name, "--design", "mirage", "-j", "openai:scripted"),
        *("--base-url", served.url, "--ledger", "v.db"),
    )
    assert done.returncode == 0, done.stderr
    assert served.calls
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    found = mirage(path, judge="replay", ledger=tmp_path / "v.db")
    assert {name: each.yes for name, each in found.rates.items()} == dict.fromkeys(found.rates, 1)
    assert found.patterns == {"000": 1, "010": 1, "011": 1, "100": 1}
    assert found.accuracy["oracle"].value == 0.5


def test_what_is_not_known_is_in_the_bounds() -> None:
    rows = [three(("The tower is in Rome.", "Maybe.", "The tower is in Rome."), i) for i in range(4)]

    def careful(relation: str, left: str, right: str) -> int | None:
        return None if "Maybe" in right else 1

    found = mirage(rows, judge=careful)
    assert found.n == 0
    assert found.bounds["context_acceptability"] == (0.0, 1.0)
    assert found.bounds["noise_vulnerability"] == (0.0, 0.0)
    assert found.to_dict()["rates"]["context_acceptability"]["value"] is None
    assert "-" in str(found)


def test_a_design_that_measures_nothing_does_not_end_with_0(tmp_path: Path) -> None:
    rows = [three(("Quite so.", "Maybe it was.", "Who could say?"), i) for i in range(3)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    done = rankproof(tmp_path, "judge", "rows.jsonl", "--design", "mirage", "-j", "replay", "--ledger", "none.db")
    assert done.returncode != 0
    assert "Next:" in done.stderr


def test_the_order_of_rows_with_ids_that_are_numbers_changes_nothing() -> None:
    rows = [{"id": str(n), "query": f"Which is {n}?", "correct": n % 2} for n in range(1, 5)]
    for oracle in (rows[::-1], [rows[at] for at in (2, 0, 3)]):
        found = mirage(base=rows, oracle=oracle, mixed=rows)
        assert (found.questions, found.left_out) == (len(oracle), 4 - len(oracle))
        assert set(found.patterns) == {"000", "111"}


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"base": [{"id": "a", "correct": 1}], "oracle": [{"id": "a", "correct": 1}]}, UsageError),
        ({"samples": [{"id": "a", "answer": "x"}]}, DataError),
        (
            {name: [{"id": name, "query": name, "correct": 1}] for name in ("base", "oracle", "mixed")},
            DataError,
        ),
        (
            {name: [{"id": "a", "query": "?", "correct": "so"}] for name in ("base", "oracle", "mixed")},
            DataError,
        ),
        ({"samples": [three(("a", "b", "c"), 1)], "correct": 0}, UsageError),
    ],
)
def test_what_makes_no_design_is_an_error_with_a_way_out(given: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match="Next:"):
        mirage(**given)
