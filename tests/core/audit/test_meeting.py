"""Ids that do not meet: said with the rule and examples of both sides, and never taken for a result."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankproof import Benchmark, compare, diagnose, evaluate, gate
from rankproof.bench.grid import grid
from rankproof.bench.testset.checks import check_questions
from rankproof.core.audit.ids import JOINED, misspelt_between
from rankproof.errors import DataError
from tests.shell import rankproof

NAMES = [f"page-{letter}" for letter in "abcdefghijkl"]
QUESTIONS = {f"q{i}": f"what does {name} say" for i, name in enumerate(NAMES)}
JUDGED = {f"q{i}": {name: 1} for i, name in enumerate(NAMES)}
RANKED = {query: [*judged, "other"] for query, judged in JUDGED.items()}
AS_FILES = {query: [f"{doc}.md" for doc in docs] for query, docs in RANKED.items()}
RULE = r"'\.md' at their end\. For example 'page-a' and 'page-a\.md'"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A corpus as a folder of text files, whose ids end in .md."""
    made = tmp_path / "pages"
    made.mkdir()
    for name in NAMES:
        (made / f"{name}.md").write_text(f"All about {name} and what it says.")
    return made


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ([f"{name}.md" for name in NAMES], "'.md' at their end"),
        ([f"docs/{name}" for name in NAMES], "'docs/' at their start"),
        (
            [f"{name}.{'md' if i % 2 else 'txt'}" for i, name in enumerate(NAMES)],
            "endings of their file names",
        ),
        ([f"{i}/{name}" for i, name in enumerate(NAMES)], "folders before their names"),
        (
            [f"part-{i}/{name}.{i % 2 * 'r'}st" for i, name in enumerate(NAMES)],
            "folders before their names and the endings",
        ),
        ([name.upper() for name in NAMES], "upper and lower case"),
    ],
)
def test_the_way_of_spelling_that_keeps_two_sides_apart_is_found(other: list[str], said: str) -> None:
    for left, right in ((NAMES, other), (other, NAMES)):
        found = misspelt_between(left, right, JOINED)
        assert found is not None
        assert said in found.message
        assert found.examples


@pytest.mark.parametrize("other", ["fees.md", "help/fees", "https://bank.org/help/fees.html"])
def test_a_single_document_is_found_under_the_name_of_its_file(other: str) -> None:
    with pytest.raises(DataError, match=r"1 id differs between judgments and corpus only in the (folders|endings)"):
        diagnose({"q": {"fees": 1}}, {"q": ["fees"]}, corpus={other: "a text", "rates": "another"})


def test_ids_of_two_collections_have_no_such_way() -> None:
    assert misspelt_between(NAMES, ["x/1.md", "x/2.md"], JOINED) is None
    assert misspelt_between(["1.1", "2.5"], ["3", "4"], JOINED) is None


def test_a_corpus_spelt_otherwise_is_bad_data_everywhere(folder: Path) -> None:
    plan = {
        "corpus": str(folder),
        "questions": QUESTIONS,
        "judgments": JUDGED,
        "retrievers": {"words": "keyword"},
    }
    for fail in (
        lambda: diagnose(JUDGED, RANKED, queries=QUESTIONS, corpus=folder),
        lambda: Benchmark(QUESTIONS, JUDGED, folder).run("own", lambda text: ["page-a"]),
        lambda: grid(plan),
    ):
        with pytest.raises(DataError, match=f"None of the 12 documents judged relevant.*{RULE}.*Next: "):
            fail()
    (found,) = [each for each in check_questions(QUESTIONS, JUDGED, corpus=folder) if "corpus" in each.kind]
    assert "'.md'" in found.message
    assert found.examples[0] == "'page-a' and 'page-a.md'"
    assert "take their judgments out" not in found.advice


def test_a_corpus_of_another_collection_is_bad_data_with_examples_of_both_sides() -> None:
    with pytest.raises(DataError, match=r"'page-a' in the judgments.*'z1' in the corpus.*different collections"):
        diagnose(JUDGED, RANKED, corpus={"z1": "one", "z2": "two"})


def told(found: object) -> str:
    """What is printed, in one line."""
    return " ".join(str(found).split())


def test_a_few_documents_that_left_the_corpus_are_drift_and_no_error() -> None:
    kept = {name: f"All about {name}." for name in NAMES[:9]}
    missed = {query: ["elsewhere"] for query in JUDGED}
    found = told(diagnose(JUDGED, missed, corpus=kept).format("full"))
    assert "3 of 12 documents judged relevant are no longer in the corpus" in found
    left = {name: f"All about {name}." for name in NAMES[:3]}
    few = told(diagnose(JUDGED, missed, corpus=left).format("full"))
    assert "drifted" not in few
    assert "9 of 12 documents judged relevant are not in the corpus" in few


def test_a_run_without_judgments_says_how_the_corpus_spells_its_ids(folder: Path) -> None:
    run = Benchmark(QUESTIONS, None, folder).run("own", lambda text: ["page-b", "page-a"])
    (note,) = [each for each in run.notes if "not in the corpus" in each]
    assert "the corpus has 'page-a.md'" in note
    assert "'.md' at their end" in note


def test_questions_of_another_set_are_bad_data() -> None:
    with pytest.raises(DataError, match=r"None of the 12 judged queries.*'q0' in the judgments.*'k1' in the quest"):
        diagnose(JUDGED, RANKED, queries={"k1": "of another set"})
    assert "1 of 12 queries has no text" not in str(diagnose(JUDGED, RANKED, queries=QUESTIONS))


def test_gate_and_diagnose_refuse_a_ranking_that_is_spelt_otherwise() -> None:
    with pytest.raises(DataError, match=f"candidate: None of the 12 .*{RULE}"):
        gate(JUDGED, RANKED, AS_FILES, "RR")
    with pytest.raises(DataError, match=RULE):
        diagnose(JUDGED, AS_FILES)


def test_a_gate_lets_nothing_through_that_shares_no_document_with_the_judgments() -> None:
    lost = {query: ["elsewhere", "nowhere"] for query in JUDGED}
    found = gate(JUDGED, RANKED, lost, "RR")
    assert (found.outcome, found.exit_code) == ("invalid", 3)


def test_scores_say_what_keeps_the_ids_apart() -> None:
    found = evaluate(JUDGED, AS_FILES, "RR").audit
    sides = found.of_kind("no-common-documents")
    rule = found.of_kind("affixes-of-ids")
    assert sides is not None
    assert "'page-a.md' is ranked" in sides.examples
    assert rule is not None
    assert "'.md'" in rule.message


def test_the_command_line_ends_with_3(tmp_path: Path) -> None:
    lines = {"good.run": RANKED, "files.run": AS_FILES}
    for name, ranking in lines.items():
        rows = (f"{q} Q0 {doc} 1 {-rank} t\n" for q, docs in ranking.items() for rank, doc in enumerate(docs))
        (tmp_path / name).write_text("".join(rows))
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {doc} 1\n" for q, docs in JUDGED.items() for doc in docs))
    ran = rankproof(tmp_path, "gate", "qrels", "good.run", "files.run")
    assert (ran.returncode, ran.stdout) == (3, "")
    assert "'.md'" in ran.stderr


def test_what_makes_numbers_wrong_stands_above_them() -> None:
    scores = evaluate(JUDGED, AS_FILES, "RR")
    many = compare(JUDGED, {"own": RANKED, "files": AS_FILES}, "RR")
    for shown in (str(scores), scores.format("markdown"), str(many), many.format("markdown")):
        text = " ".join(shown.replace("\\", "").split())
        assert text.index("because of '.md' at their end") < text.index("RR")
        assert text.count("because of '.md' at their end") == 1
    assert "Do not trust these numbers" not in str(evaluate(JUDGED, RANKED, "RR"))
