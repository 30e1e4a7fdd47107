"""A message speaks to who calls: in Python of arguments, in the shell of options."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import rankproof as rp
from rankproof import Benchmark, History, compare, evaluate, monitor
from tests.shell import rankproof

ROOT = Path(rp.__file__).parent
OF_ONE_FACE = {"cli", "web", "compat", "demo.py", "pytest_plugin.py"}
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
COMMAND = re.compile(r"(rankproof|pip install) [^']*")
WORDS_APART = ("; --worst X lists more", "Described by --full; one in full by: X")
"""Sentences that only a command says."""


def sentences(node: ast.AST, chosen: bool = False) -> Iterator[tuple[int, str]]:
    """The texts of a module that are no docstrings, and not chosen by who calls."""
    chosen = chosen or (isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("for_face", "setting"))
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, ast.Constant | ast.JoinedStr) and not chosen:
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        yield (
            node.lineno,
            "".join(str(each.value) if isinstance(each, ast.Constant) else "X" for each in parts),
        )
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.JoinedStr) and isinstance(child, ast.Constant)):
            yield from sentences(child, chosen)


def test_no_message_names_an_option_of_the_shell_but_in_a_command_or_where_the_shell_asks() -> None:
    odd = []
    for path in ROOT.rglob("*.py"):
        place = path.relative_to(ROOT)
        if place.parts[0] in OF_ONE_FACE:
            continue
        for line, text in sentences(ast.parse(path.read_text(encoding="utf-8"))):
            is_message = " " in text.strip() and text not in WORDS_APART and not text.startswith("--print")
            if is_message and OPTION.search(COMMAND.sub("", text)):
                odd.append((str(place), line, text))
    assert odd == []


JUDGED = "q1 0 a 1\nq2 0 b 1\n"
RUN = "q1 Q0 a 1 2.0 r\nq2 Q0 a 1 2.0 r\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "j.qrels").write_text(JUDGED)
    (tmp_path / "a.run").write_text(RUN)
    (tmp_path / "b.run").write_text(RUN)
    (tmp_path / "log.csv").write_text("when,query\n2026-10-01T10:44:00,badge\n2026-10-01T10:45:00,desk\n")
    (tmp_path / "labels.csv").write_text("No,Frage,Doc\n1,how,a\n")
    (tmp_path / "odd.csv").write_text("query_id,doc_id\nq1,a\n")
    (tmp_path / "s.jsonl").write_text('{"question": "q", "contexts": ["c"], "answer": "a"}\n')
    (tmp_path / "j.csv").write_text("query_id,doc_id,grade\nq1,a,1\n")
    return tmp_path


@pytest.mark.slow
@pytest.mark.cover
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("compare a.run b.run", "compare: got a.run as the judgments and 1 ranking, expected two or more of them"),
        ("leaderboard j.qrels", "leaderboard: got j.qrels as the judgments and 0 rankings, expected two or more"),
        ("evaluate a.run", "evaluate: got a.run as the judgments and no run, expected one or more. Next: name"),
        ("compare j.qrels a.run --machine j.qrels", "and 1 ranking, expected two or more of them"),
        ("monitor log.csv", "name the columns, like --columns ts=when"),
        ("diagnose j.qrels a.run --queries labels.csv", "like --columns query=NAME,question=NAME"),
        ("judge s.jsonl --judge azure:m", "https://NAME.openai.azure.com, or give --base-url; MODEL is"),
        ("judge s.jsonl --judge openai:m --set top_aa=1", "go into --set extra.top_aa=..."),
        ("convert odd.csv odd.json", "Next: say which, with --as judgments or --as ranking."),
        ("convert j.csv a.run", "or add --force to replace it."),
        ("evaluate labels.csv a.run", "or say --columns query=NAME"),
        ("fuse a.run b.run --method weighted-sum", "Next: give --weights W,W,...; or find them with --tune"),
        ("trec_eval j.csv a.run", "make one of it: rankproof convert j.csv j.qrels"),
        ("trec_eval j.qrels j.csv", "make one of it: rankproof convert j.csv "),
    ],
)
def test_a_command_speaks_of_options(folder: Path, line: str, said: str) -> None:
    ran = rankproof(folder, *line.split())
    assert ran.returncode
    assert said in ran.stderr


@pytest.mark.slow
@pytest.mark.cover
@pytest.mark.parametrize("group", ["questions", "experiment"])
def test_a_group_alone_shows_its_help(folder: Path, group: str) -> None:
    ran = rankproof(folder, group)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == rankproof(folder, group, "--help").stdout


def test_python_speaks_of_arguments(folder: Path) -> None:
    history = History(folder / "h.db")
    scores = evaluate({"q1": {"a": 1}}, {"q1": ["a"]}, "RR")
    history.save(scores, "first")
    with pytest.raises(rp.RankproofError, match="replace it with replace=True"):
        history.save(scores, "first")
    with pytest.raises(rp.RankproofError, match=r"as str\(id\)"):
        evaluate({"q1": {"a": 1}}, {"q1": [7]}, "RR")
    with pytest.raises(rp.RankproofError, match=r"like columns=\{'ts': 'when'\}"):
        monitor(folder / "log.csv")
    with pytest.raises(rp.RankproofError, match=r"say columns=\{'query': NAME\}"):
        evaluate(folder / "labels.csv", {"q1": ["a"]})
    with pytest.raises(rp.RankproofError, match="name it with ledger="):
        rp.judge([{"question": "q", "contexts": ["c"], "answer": "a"}], "faithfulness", judge="replay")
    with pytest.raises(rp.RankproofError, match="or let 'tune' split them"):
        rp.fuse([{"q": ["a"]}, {"q": ["b"]}], "probfuse")
    with pytest.raises(rp.RankproofError, match="'before': ranking"):
        compare({"q1": {"a": 1}}, {"a": {"q1": ["a"]}})
    with pytest.raises(rp.RankproofError, match=r"columns=\{'query': NAME, 'question': NAME\}"):
        Benchmark(str(folder / "labels.csv"))
