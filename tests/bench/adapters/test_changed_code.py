"""Answers of other code are never taken for those of a function: whatever changed behind its name."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from rankproof.bench.adapters import adapt
from rankproof.bench.adapters.adapter import describe
from rankproof.bench.adapters.code import files_digest

FILES = {
    "st.py": "from parts import ranking\ndef find(text, k=10): return helper(text)\n"
    "def helper(text): return ranking.best(text)\n",
    "parts/__init__.py": "",
    "parts/ranking.py": "from .words import ORDER\ndef best(text): return list(ORDER)\n",
    "parts/words.py": "ORDER = ['d1', 'd2']\n",
    "other.py": "unrelated = 1\n",
    "questions.tsv": "q1\tRefund?\nq2\tHours?\n",
    "docs.jsonl": '{"_id": "d1", "text": "x"}\n{"_id": "d2", "text": "y"}\n',
    "judged.tsv": "q1 0 d1 1\nq2 0 d1 1\n",
    "bench.toml": 'corpus = "docs.jsonl"\nquestions = "questions.tsv"\njudgments = "judged.tsv"\n'
    'measure = "RR@10"\n[retrievers]\nst = { kind = "call", call = "st:find" }\n',
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def rankproof(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", "-m", "rankproof", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)


def digest(folder: Path, name: str = "st.py") -> str:
    return files_digest([folder / name], folder)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("st.py", "ranking.best(text)", "ranking.best(text)[::-1]"),
        ("parts/ranking.py", "list(ORDER)", "list(ORDER)[:1]"),
        ("parts/words.py", "'d1', 'd2'", "'d2', 'd1'"),
        ("parts/__init__.py", "", "import st\n"),
    ],
)
def test_a_change_in_any_module_behind_the_function_shows(folder: Path, name: str, old: str, new: str) -> None:
    before = digest(folder)
    (folder / name).write_text(FILES[name].replace(old, new, 1))
    assert digest(folder) != before


def test_comments_and_modules_that_are_not_imported_make_no_difference(folder: Path) -> None:
    before = digest(folder)
    (folder / "st.py").write_text("# the search\n\n" + FILES["st.py"])
    (folder / "other.py").write_text("unrelated = 2\n")
    assert digest(folder) == before


@pytest.mark.slow
def test_a_bench_asks_a_changed_retriever_anew_and_says_what_it_knew(folder: Path) -> None:
    first = rankproof(folder, "bench", "bench.toml")
    assert (first.returncode, first.stderr) == (0, "")
    assert "RR@10 1.0000" in first.stdout
    known = rankproof(folder, "bench", "bench.toml")
    assert known.stdout == first.stdout
    assert known.stderr.startswith("rankproof: 2 of 2 answers known from before, of 20")
    assert "(bench.cache); --fresh asks again." in known.stderr
    (folder / "parts/words.py").write_text("ORDER = ['d2', 'd1']\n")
    changed = rankproof(folder, "bench", "bench.toml")
    assert "RR@10 0.5000" in changed.stdout
    assert changed.stderr == ""


@pytest.mark.slow
def test_a_bench_that_is_to_be_fresh_knows_nothing_from_before(folder: Path) -> None:
    rankproof(folder, "bench", "bench.toml")
    assert rankproof(folder, "bench", "bench.toml", "--fresh").stderr == ""
    assert "2 of 2 answers known" in rankproof(folder, "bench", "bench.toml").stderr


@pytest.mark.slow
def test_fresh_deletes_no_file_of_another_kind(folder: Path) -> None:
    ran = rankproof(folder, "bench", "bench.toml", "--fresh", "--cache", "docs.jsonl")
    assert ran.returncode == 3
    assert "it was left as it is" in ran.stderr
    assert (folder / "docs.jsonl").read_text() == FILES["docs.jsonl"]


@pytest.mark.slow
def test_a_program_whose_script_changed_is_asked_anew(folder: Path) -> None:
    script = "import json, sys\nfor line in sys.stdin:\n    print(json.dumps(['d1', 'd2']))\n"
    (folder / "find.py").write_text(script)
    words = ["run", "--retriever", f"{sys.executable} find.py", "--queries", "questions.tsv"]
    words += ["--judgments", "judged.tsv", "-o", "my.run", "--cache", "kept.db", "--force"]
    rankproof(folder, *words)
    (folder / "find.py").write_text(script.replace("'d1', 'd2'", "'d2'"))
    assert rankproof(folder, *words).returncode == 0
    assert "d1" not in (folder / "my.run").read_text()


def made(source: str) -> Callable[[str], list[str]]:
    space: dict[str, Callable[[str], list[str]]] = {"__name__": "mine"}  # type: ignore[dict-item]
    exec(source, space)
    return space["find"]


def test_a_bare_function_is_known_by_the_functions_it_calls_too() -> None:
    source = "def find(text): return helper(text)\ndef helper(text): return deeper(text)\n"
    source += "def deeper(text): return ['d1']\ndef find_again(text): return find(text)\n"
    same = describe(made(source))
    assert describe(made("\n\n" + source)) == same
    assert describe(made(source.replace("'d1'", "'d2'"))) != same


def test_a_callable_object_is_known_by_its_other_methods_too() -> None:
    source = "class Search:\n    def __call__(self, text): return self.best(text)\n"
    source += "    def best(self, text): return ['d1']\nfind = Search()\n"
    assert describe(made(source)) != describe(made(source.replace("'d1'", "'d2'")))


def test_a_function_is_known_by_the_plain_values_of_its_module_that_it_names() -> None:
    source = "DEPTH = 3\nasked = 0\nUNUSED = 7\ndef find(text):\n    global asked\n    asked += 1\n    return ['d1'][:DEPTH]\n"
    find = made(source)
    before = describe(find)
    find("why?")
    assert describe(find) == before
    assert describe(made(source.replace("UNUSED = 7", "UNUSED = 8"))) == before
    assert describe(made(source.replace("DEPTH = 3", "DEPTH = 4"))) != before


class Search:
    """Has settings, and traces of its work."""

    boost = 1.0

    def __init__(self, k1: float = 0.9, **more: Any) -> None:
        self.k1 = k1
        self.more = more
        self.weights = [0.3, 0.7]
        self.asked, self.log, self.seen = 0, [], {}  # type: ignore[var-annotated]

    def __call__(self, text: str) -> list[str]:
        self.asked += 1
        self.log.append(text)
        self.seen[text] = ["d1"]
        return ["d1"]

    find = __call__


class Slotted:
    __slots__ = ("k1",)

    def __init__(self, k1: float) -> None:
        self.k1 = k1

    def __call__(self, text: str) -> list[str]:
        return ["d1"]


class Invoked(Search):
    """As a retriever of LangChain is."""

    invoke = Search.__call__


def test_an_object_is_known_by_what_it_was_made_with_and_not_by_its_work() -> None:
    for pick in (lambda made: made, lambda made: made.find):
        one = Search()
        before = adapt(pick(one)).settings
        one("why?")
        one("who?")
        assert adapt(pick(one)).settings == before == adapt(pick(Search())).settings
        for other in (Search(1.2), Search(filter="new"), Search(limits={"k": 3})):
            assert adapt(pick(other)).settings != before
    assert adapt(Slotted(1.0)).settings != adapt(Slotted(2.0)).settings
    assert adapt(Slotted(1.0)).settings == adapt(Slotted(1.0)).settings


def test_a_retriever_of_another_library_is_known_by_what_it_was_made_with() -> None:
    one = Invoked(search_kwargs=4)
    before = adapt(one).settings
    one.invoke("why?")
    assert adapt(one).settings == before == adapt(Invoked(search_kwargs=4)).settings
    assert adapt(Invoked(search_kwargs=5)).settings != before


def test_what_a_class_has_counts_as_what_its_objects_have(monkeypatch: pytest.MonkeyPatch) -> None:
    before = adapt(Search()).settings
    monkeypatch.setattr(Search, "boost", 2.0)
    assert adapt(Search()).settings != before


def test_keys_among_the_values_are_not_shown() -> None:
    def find(text: str, key: str = "s3cr3t") -> list[str]:
        return [key]

    def bound(key: str) -> Callable[[str], list[str]]:
        return lambda text: [key]

    for each in (
        find,
        bound("s3cr3t"),
        partial(find, key="s3cr3t"),
        Search(key="s3cr3t"),
        Invoked(key="s3cr3t"),
    ):
        assert "s3cr3t" not in str(adapt(each).settings)
