"""Every error says what to do next: each message in the source is read, whether or not a test raises it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankproof
from rankproof import compare, evaluate, fuse, gate
from rankproof.errors import RankproofError, UsageError, check_number, check_whole, one_of, shorten
from rankproof.suggestions import nearest
from tests.each import with_each
from tests.shell import rankproof as shell
from tests.test_walls import nodes

ROOT = Path(rankproof.__file__).parent
OURS = {"UsageError", "DataError", "RankproofError"}
SAID_ELSEWHERE = {
    "got {len(files)} files, expected 2: judgments and results\n{USAGE}": "the usage is what to do",
    "{problem.msg}\n{USAGE}": "the usage is what to do",
    "{self.at_end}": "each kind of labelling names its own next step",
    "{path}: no {schema.noun}, or a damaged one ({why}); it was left as it is. {rest}": "the rest begins so",
}
"""Messages (besides findings of the audit, which end with their advice) whose next step does not stand in them word by word, with the reason."""


@cache
def messages(path: Path) -> list[tuple[int, str]]:
    """Where an error is made, and its message with what is filled in as `{source}`."""
    return [
        (node.lineno, written(node.args[0], path))
        for node in nodes(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in OURS and node.args
    ]


def written(node: ast.expr, path: Path) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(written(each, path) for each in node.values)
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.BinOp):
        return written(node.left, path) + written(node.right, path)
    inner = node.value if isinstance(node, ast.FormattedValue) else node
    return constant(inner, path) or f"{{{ast.unparse(inner)}}}"


def constant(node: ast.expr, path: Path) -> str:
    """The text of a constant of the module, filled in or not; "" for anything else."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        node = node.func.value
    if not isinstance(node, ast.Name) or not node.id.strip("_").isupper():
        return ""
    value = getattr(import_module(module(path)), node.id)
    return value if isinstance(value, str) and "Next:" in value else ""


def module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")


@with_each("path", sorted(ROOT.rglob("*.py")))
def test_every_error_says_what_to_do_next(path: Path) -> None:
    silent = [(line, said) for line, said in messages(path) if "Next:" not in said and "finding" not in said]
    assert [pair for pair in silent if pair[1] not in SAID_ELSEWHERE] == []


def test_the_messages_are_found() -> None:
    every = [said for path in ROOT.rglob("*.py") for _, said in messages(path)]
    assert len(every) > 300
    assert set(SAID_ELSEWHERE) <= set(every)


def test_a_long_value_is_cut_in_the_middle() -> None:
    assert len(shorten("x" * 10_000)) <= 60


def test_the_nearest_word_is_offered() -> None:
    assert "Did you mean 'trec'?" in str(one_of("ties", "trek", ["trec", "id"]))
    assert isinstance(one_of("ties", "trek", ["trec"]), RankproofError)


JUDGED, RANKED = {"q": {"a": 1}}, {"q": ["a", "b"]}
ODD = [None, 1.5, True, b"x", [], {}, {"a": 1}, object(), np.zeros((2, 2))]
CALLS = {
    **{
        word: lambda value, word=word: evaluate(JUDGED, RANKED, "RR", **{word: value})
        for word in ("ties", "missing", "no_relevant", "unjudged", "duplicates", "corpus_size", "profile")
    },
    **{
        word: lambda value, word=word: compare(JUDGED, {"a": RANKED, "b": RANKED}, "RR", **{word: value})
        for word in ("baseline", "margin", "alpha", "correction", "seed", "permutations")
    },
    **{
        f"gate, {word}": lambda value, word=word: gate(JUDGED, RANKED, RANKED, "RR", **{word: value})
        for word in ("margin", "alpha", "seed", "minimum", "coverage", "floors")
    },
    "measures": lambda value: evaluate(JUDGED, RANKED, value),
    "judgments": lambda value: evaluate(value, RANKED),
    "ranking": lambda value: evaluate(JUDGED, value),
    "ranking of a query": lambda value: evaluate(JUDGED, {"q": value}),
    "score": lambda value: evaluate(JUDGED, {"q": {"a": value}}),
    "grade": lambda value: evaluate({"q": {"a": value}}, RANKED),
    "fused": lambda value: fuse({"x": {"d": value}, "y": RANKED}),
}


@pytest.mark.parametrize("call", CALLS)
def test_whatever_is_given_either_works_or_is_an_error_of_ours(call: str) -> None:
    for value in ODD:
        said = message_of(CALLS[call], value)
        assert said is None or "Next:" in said, (call, value)


def message_of(call: Callable[[Any], object], value: Any) -> str | None:
    """What is said of a value that is refused; any other exception passes."""
    try:
        call(value)
    except RankproofError as error:
        return str(error)
    return None


def test_a_whole_number_is_one_of_python_or_numpy_within_its_limits() -> None:
    assert [check_whole("n", got) for got in (1, np.int64(7), np.uint8(3))] == [1, 7, 3]
    assert check_whole("n", 0, 0, 0) == 0
    for got in (
        0,
        -1,
        True,
        np.True_,
        1.0,
        np.float64(2),
        "3",
        None,
        float("nan"),
        np.array([1]),
        Fraction(3),
    ):
        with pytest.raises(UsageError, match=r"n: got .*, expected a whole number of at least 1\. Next: "):
            check_whole("n", got)
    with pytest.raises(UsageError, match="expected a whole number from 0 to 3"):
        check_whole("n", 4, 0, 3)


def test_a_number_is_finite_and_within_its_limits() -> None:
    assert [check_number("x", got) for got in (1, 0.5, np.float32(0.25), Fraction(1, 2))] == [
        1,
        0.5,
        0.25,
        0.5,
    ]
    for got in (
        True,
        np.True_,
        "1",
        None,
        float("nan"),
        float("inf"),
        -float("inf"),
        10**400,
        1j,
        np.array(1),
    ):
        with pytest.raises(UsageError, match=r"x: got .*, expected a finite number\. Next: "):
            check_number("x", got)
    cases: list[tuple[dict[str, Any], tuple[float, ...], tuple[float, ...], str]] = [
        ({"above": 0, "below": 1}, (0.5, 1e-300), (0, 1), "a number above 0 and below 1"),
        ({"above": 0, "most": 1}, (1, 0.1), (0, 1.1), "a number above 0 and up to 1"),
        ({"least": 0, "most": 1}, (0, 1), (-0.1, 1.1), "a number from 0 to 1"),
        ({"least": 0, "below": 1}, (0, 0.9), (-1, 1), "a number of at least 0 and below 1"),
        ({"above": 0}, (1e9,), (0, -1), "a number above 0"),
    ]
    for limits, inside, outside, words in cases:
        assert [check_number("x", got, **limits) for got in inside] == list(inside)
        for got in outside:
            with pytest.raises(UsageError, match=f"expected {words}. Next"):
                check_number("x", got, **limits)


SYSTEM = {"OSError", "FileNotFoundError", "PermissionError"}


def test_no_message_shows_the_number_of_an_error_of_the_system() -> None:
    """`str` of an OSError begins with "[Errno 2]" and ends with the path once more: its `strerror` is for people."""
    numbered = []
    for path in sorted(ROOT.rglob("*.py")):
        for handler in nodes(path):
            if not isinstance(handler, ast.ExceptHandler) or handler.name is None or handler.type is None:
                continue
            inside = [each for line in handler.body for each in ast.walk(line)]
            shown = [each.value for each in inside if isinstance(each, ast.FormattedValue)]
            shown += [
                each.args[0]
                for each in inside
                if isinstance(each, ast.Call)
                and each.args
                and isinstance(each.func, ast.Name)
                and each.func.id == "str"
            ]
            bare = any(isinstance(each, ast.Name) and each.id == handler.name for each in shown)
            caught = {each.id for each in ast.walk(handler.type) if isinstance(each, ast.Name)}
            if bare and caught & SYSTEM and "strerror" not in "".join(map(ast.dump, inside)):
                numbered.append(f"{path.relative_to(ROOT)}:{handler.lineno}")
    assert numbered == []


@pytest.mark.parametrize(
    ("got", "known", "said"),
    [
        ("nope.toml", ["e.html", "note.txt"], ""),
        ("nope.run", ["one.run", "dense.run"], ""),
        ("dens.run", ["one.run", "dense.run"], " Did you mean 'dense.run'?"),
        ("judgements.tsv", ["judgments.tsv", "dense.tsv"], " Did you mean 'judgments.tsv'?"),
        ("Dense.RUN", ["dense.run"], " Did you mean 'dense.run'?"),
        ("nDGC@10", ["nDCG@10", "P@10"], " Did you mean 'nDCG@10'?"),
        ("cvs", ["csv", "json"], " Did you mean 'csv'?"),
    ],
)
def test_only_a_near_name_is_suggested(got: str, known: list[str], said: str) -> None:
    assert nearest(got, known) == said


def test_rankings_to_fuse_or_pool_are_not_told_to_be_scored() -> None:
    for verb in (rankproof.fuse, rankproof.pool):
        for nothing in ([], {}, {"q1": ["a"]}):
            with pytest.raises(UsageError, match=r"got (none|one ranking), expected 1 or more systems by name") as told:
                verb(nothing)
            assert "evaluate" not in str(told.value)
    with pytest.raises(UsageError, match=r"compare: got one ranking, .*evaluate\(judgments, ranking\) scores one"):
        rankproof.compare({"q1": {"a": 1}}, {"q1": ["a"]})
    with pytest.raises(UsageError, match="compare: got none"):
        rankproof.compare({"q1": {"a": 1}}, [])


@pytest.mark.parametrize(
    "url", ["https://example.com/x.run", "s3://bucket/x.run", "https://a.b/x.run?raw=1", "hf://a/*"]
)
def test_a_url_is_called_one(url: str, tmp_path: Path) -> None:
    for given in (url, Path(url)):
        with pytest.raises(UsageError, match=f"{re.escape(url)}: looks like a URL.*download it"):
            rankproof.evaluate({"q1": {"a": 1}}, given, "RR")
    (tmp_path / "j.qrels").write_text("q1 0 a 1\n")
    for words in (("evaluate", "j.qrels", url), ("evaluate", url, "j.qrels"), ("monitor", url), ("judge", url)):
        ran = shell(tmp_path, *words)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert f"{url}: looks like a URL" in ran.stderr


def test_a_row_of_the_baseline_is_not_among_those_to_name() -> None:
    judged = {f"q{n}": {"a": 1} for n in range(12)}
    found = rankproof.compare(judged, {"old": judged, "new": {query: ["b"] for query in judged}}, "RR")
    with pytest.raises(KeyError, match="no row of 'old' on RR; there are new, each against old"):
        found.row("old", "RR")


def test_the_shell_names_its_own_option_for_unanswered_queries(tmp_path: Path) -> None:
    judged = {f"q{n}": {"a": 1} for n in range(12)}
    rankings = {"old": judged, "new": {"q1": ["a"]}}
    assert "(allow_missing=)" in rankproof.compare(judged, rankings, "RR").unanswered[0]
    (tmp_path / "j").write_text("".join(f"{query} 0 a 1\n" for query in judged))
    for name, ranking in rankings.items():
        (tmp_path / name).write_text("".join(f"{query} Q0 a 1 1 t\n" for query in ranking))
    said = shell(tmp_path, "compare", "j", "old", "new", "-m", "RR", "-f", "json").stderr
    assert "(--allow-missing)" in said
    assert "allow_missing=" not in said
