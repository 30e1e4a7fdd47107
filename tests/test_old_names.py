"""Modules that moved are found by their old names, with a warning, and are what stands at the new place."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rankproof
from rankproof import functional
from rankproof._moved import MOVED
from tests import shell


@pytest.mark.first_is_quick
@pytest.mark.parametrize("old", sorted(MOVED))
def test_an_old_name_gives_what_stands_at_the_new_place(old: str) -> None:
    code = f"""
import importlib, warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    old = importlib.import_module({old!r})
new = importlib.import_module({MOVED[old]!r})
names = [name for name, each in vars(new).items() if not name.startswith("__") and each is not old]
assert names and all(getattr(old, name) is getattr(new, name) for name in names)
print(*(str(each.message) for each in told if each.category is DeprecationWarning))
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == f"{old} is now {MOVED[old]}. Next: import it from there."


def test_what_never_was_is_still_not_found() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"rankproof\.api\.nothing"):
        __import__("rankproof.api.nothing")


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("core.derive", "wanted", "relevant_step"),
        ("core.derive", "summed", "sum_step"),
        ("stats.paired", "paired", "paired_differences"),
        ("core.measures.preferences", "possible", "possible_preferences"),
        ("sample", "documents", "corpus"),
    ],
)
def test_a_function_of_the_docs_is_found_by_its_old_name(module: str, old: str, new: str) -> None:
    found = importlib.import_module(f"rankproof.{module}")
    with pytest.warns(DeprecationWarning, match=f"{module}.{old} is now {new}. Next: use the new name.") as told:
        assert getattr(found, old) is getattr(found, new)
    assert told[0].filename == __file__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        assert found.nothing


JUDGED = {f"q{i}": {"a": 1, "b": 0} for i in range(12)}
RANKED = {query: ["b", "a"] for query in JUDGED}
BOTH = {"old": RANKED, "new": {query: ["a", "b"] for query in JUDGED}}
SIZED: dict[str, Callable[..., Any]] = {
    "evaluate": lambda **size: rankproof.evaluate(JUDGED, RANKED, "Accuracy", **size)["Accuracy"],
    "audit": lambda **size: rankproof.audit(JUDGED, RANKED, "Accuracy", **size).to_dict(),
    "compare": lambda **size: str(rankproof.compare(JUDGED, BOTH, "Accuracy@1", **size)),
    "gate": lambda **size: str(rankproof.gate(JUDGED, RANKED, RANKED, "Accuracy@1", **size)),
    "leaderboard": lambda **size: rankproof.leaderboard(JUDGED, BOTH, "Accuracy@1", **size).means,
    "kinship": lambda **size: str(rankproof.kinship(JUDGED, JUDGED, BOTH, "Accuracy@1", **size)),
    "diagnose": lambda **size: rankproof.diagnose(JUDGED, RANKED, "Accuracy@1", **size).mean,
    "explain": lambda **size: rankproof.explain(JUDGED, RANKED, "q1", "Accuracy@1", **size).value,
    "report": lambda **size: rankproof.report(JUDGED, BOTH, "Accuracy@1", **size).scores["old"]["Accuracy@1"],
    "value": lambda **size: functional.value("Accuracy@1", ["b", "a"], ["a"], **size),
    "Run.evaluate": lambda **size: RUN.evaluate("Accuracy@1", **size)["Accuracy@1"],
}
RUN = rankproof.Benchmark({query: query for query in JUDGED}, JUDGED).run("found", lambda text: ["b", "a"])


@pytest.mark.first_is_quick(3)
@pytest.mark.parametrize("verb", SIZED)
def test_the_size_of_the_corpus_is_taken_by_its_old_name(verb: str) -> None:
    new = SIZED[verb](corpus_size=100)
    with pytest.warns(DeprecationWarning, match=r"corpus=.* is now corpus_size=") as told:
        assert SIZED[verb](corpus=100) == new
    assert told[0].filename == __file__, "the warning names the line of the caller"
    assert SIZED[verb](corpus_size=10_000) != new or verb not in ("evaluate", "value", "explain", "diagnose")


OTHERS: dict[str, tuple[Callable[..., Any], str, str, Any]] = {
    "check_questions": (
        lambda **given: rankproof.check_questions(dict.fromkeys(JUDGED, "why?"), JUDGED, **given).to_dict(),
        *("rankings", "systems", BOTH),
    ),
    "report": (
        lambda **given: rankproof.report(JUDGED, BOTH, "RR", **given).html(),
        *("documents", "corpus", {"a": "The first page"}),
    ),
}


@pytest.mark.parametrize("verb", OTHERS)
def test_an_argument_is_taken_by_its_old_name(verb: str) -> None:
    call, old, new, value = OTHERS[verb]
    with pytest.warns(DeprecationWarning, match=f"{old}=.* is now {new}="):
        by_old = call(**{old: value})
    assert by_old == call(**{new: value})
    with pytest.raises(TypeError, match="its old name"):
        call(**{old: value, new: value})


def test_the_shell_takes_the_size_of_the_corpus_by_its_old_name(tmp_path: Path) -> None:
    (tmp_path / "j.tsv").write_text("q1\ta\t1\nq2\tb\t1\n")
    (tmp_path / "r.run").write_text("q1 Q0 a 1 2 t\nq1 Q0 x 2 1 t\nq2 Q0 b 1 2 t\n")
    (tmp_path / "docs.jsonl").write_text("".join(f'{{"id": "{each}", "text": "It is {each}."}}\n' for each in "abxyz"))
    for command in ("evaluate", "diagnose"):
        ran = [
            shell.rankproof(tmp_path, command, "j.tsv", "r.run", "-m", "Accuracy@1", *words)
            for words in (("--corpus-size", "5"), ("--corpus", "5"), ("--corpus", "docs.jsonl"))
        ]
        assert ran[0].stdout
        assert "--corpus 5: a number is now --corpus-size. Next: write --corpus-size 5." in ran[1].stderr
        assert ran[1].stdout == ran[0].stdout
        assert command == "diagnose" or ran[2].stdout == ran[0].stdout
        assert "--corpus" not in ran[0].stderr + ran[2].stderr


def test_a_page_takes_the_titles_by_their_old_option(tmp_path: Path) -> None:
    (tmp_path / "j.tsv").write_text("q1\ta\t1\nq2\tb\t1\n")
    (tmp_path / "r.run").write_text("q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\nq2 Q0 a 1 2 t\n")
    (tmp_path / "titles.tsv").write_text("a\tThe first page\nb\tThe second page\n")
    for words in (("report", "j.tsv", "r.run"), ("explain", "j.tsv", "r.run", "q1", "-m", "RR")):
        said = [
            shell.rankproof(tmp_path, *words, option, "titles.tsv", "-o", f"page{option}.html").stderr
            for option in ("--corpus", "--documents")
        ]
        assert "--documents" not in said[0]
        assert "--documents is now --corpus. Next: write --corpus titles.tsv." in said[1]
        assert "The first page" in (tmp_path / "page--documents.html").read_text()


def test_saved_scores_keep_their_key_for_the_size_of_the_corpus() -> None:
    scores = rankproof.evaluate(JUDGED, RANKED, "Accuracy", corpus_size=100)
    data = scores.to_dict()
    assert data["definition"]["conventions"]["corpus"] == 100
    assert rankproof.Scores.from_dict(data).conventions.corpus_size == 100
