"""The other commands: audit, explain, measures, profiles, convert, trec_eval, demo, and help for all."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from rankproof.cli import COMMANDS, load_command
from rankproof.compat.trec_eval import main as trec_eval
from rankproof.core.names import REGISTRY
from rankproof.core.profiles import PROFILES


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "trec_eval"])
def test_every_command_explains_itself_in_80_columns_with_an_example(name: str, rankproof: Any) -> None:
    done = rankproof(name, "--help")
    assert done.code == 0
    assert max(map(len, done.out.splitlines())) <= 80
    assert f"\n  rankproof {name}" in done.out
    assert "..." not in done.out.partition("Commands:")[2], "the first line of a command is cut"


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "trec_eval"])
def test_help_says_what_is_usual_and_refers_to_what_is_above(name: str, rankproof: Any) -> None:
    """Options stand below the text; no range of numbers is written as in code."""
    found = rankproof(name, "--help").out
    assert "see below" not in found
    assert "<=x" not in found.replace("x>=", "<=x")
    assert "[by -o" not in found or "  -o, --" in found
    for option in load_command(name).params:
        if {"-m", "--measure", "--metric"} & set(option.opts):
            assert "[" in getattr(option, "help", "")


def test_help_of_fuse_names_the_parameters_of_every_method(rankproof: Any) -> None:
    from rankproof.bench.fusion import METHODS

    found = rankproof("fuse", "--help").out
    assert {f"{name} ({each.name})" for each in METHODS.values() for name in each.parameters} <= set(
        re.findall(r"\w+ \([\w-]+\)", " ".join(found.split()))
    )


@pytest.mark.parametrize(
    "words", ["evaluate j r --worst -1", "compare j a b --worst -1", "verdicts -n -1", "questions needed -n 0"]
)
def test_a_number_below_the_least_is_named_by_its_option(words: str, rankproof: Any) -> None:
    done = rankproof(*words.split(), *(["--difference", "0.1"] if "needed" in words else []))
    assert done.code == 2
    assert re.search(r"(--worst|-n): got (-1|0), expected a whole number of at least [01]\. Next: ", done.err)


def test_a_margin_before_any_run_is_a_text_and_no_data(rankproof: Any) -> None:
    words = ("questions", "needed", "-n", "50", "--difference", "0.01")
    assert "With 50 queries, none of which changes, the smallest margin" in " ".join(rankproof(*words).out.split())
    refused = rankproof(*words, "-f", "json")
    assert (refused.code, refused.out) == (2, "")
    assert "format: got json, but -n N alone gives a text. Next: " in refused.err


def test_without_a_command_there_is_help(rankproof: Any) -> None:
    assert rankproof() == rankproof("--help")
    assert rankproof().code == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_each_says_of_itself(name: str) -> None:
    assert (load_command(name).help or "").partition("\n")[0] == COMMANDS[name]


def test_audit_lists_findings_and_passes(rankproof: Any, files: Path) -> None:
    done = rankproof("audit", "judgments.txt", "tied.run")
    assert done.code == 0
    assert "equal scores" in done.out
    assert "error" not in done.out.partition(":")[0]


def test_audit_fails_on_an_error(rankproof: Any, files: Path) -> None:
    (files / "twice.run").write_text("q1 Q0 d1 1 5 x\nq1 Q0 d1 2 4 x\n")
    done = rankproof("audit", "judgments.txt", "twice.run")
    assert done.code == 3
    assert done.out.startswith("1 error")
    assert "(lines 1 and 2)" in done.out


def test_audit_as_json_has_every_finding(rankproof: Any, files: Path) -> None:
    (files / "half.run").write_text("q1 Q0 d1 1 5 x\n")
    done = rankproof("audit", "judgments.txt", "half.run", "-f", "json")
    missing = [each for each in json.loads(done.out) if "q2" in " ".join(each["examples"])]
    assert missing
    assert set(missing[0]) >= {"severity", "kind", "count", "message", "examples", "advice"}


EXPLAINED = """\
nDCG@4 of query q: 0.6399

Normalised DCG: the gain, discounted down the list, as a share of what the ideal
order gains.
"""
STEPS = """\
rank  document  score    grade    adds
----  --------  -------  -----  ------
   1  x             4        -
   2  a             3        3  0.5213
   3  y             2        -
   4  b             1        1  0.1186

(grade - was not judged)

  1. gain: the grade
       grade 3 = 3
       grade 1 = 1
  2. DCG in the top 4: gain / log2(rank + 1)
       rank 2  a  3 / log2(3) = 1.8928
       rank 4  b  1 / log2(5) = 0.4307
                          sum = 2.3235
  3. ideal DCG: all judged documents, best first, in the top 4
       rank 1  a  3 / log2(2) = 3
       rank 2  b  1 / log2(3) = 0.6309
                          sum = 3.6309
  4. DCG divided by the ideal DCG
       2.3235 / 3.6309 = 0.6399

nDCG@4 = 0.6399
"""


def test_explain_derives_the_worked_value_as_on_paper(rankproof: Any, files: Path) -> None:
    (files / "j").write_text("q 0 a 3\nq 0 b 1\n")
    (files / "r").write_text("q Q0 x 1 4 t\nq Q0 a 2 3 t\nq Q0 y 3 2 t\nq Q0 b 4 1 t\n")
    done = rankproof("explain", "j", "r", "q", "-m", "nDCG@4")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(EXPLAINED)
    assert done.out.endswith(STEPS)


def test_explain_says_why_another_tool_differs(rankproof: Any, files: Path) -> None:
    (files / "j").write_text("q 0 a 3\nq 0 b 1\n")
    (files / "r").write_text("q Q0 x 1 4 t\nq Q0 a 2 3 t\nq Q0 y 3 2 t\nq Q0 b 4 1 t\n")
    done = rankproof("explain", "j", "r", "q", "-m", "nDCG@4", "--versus", "quepid")
    # exponential gain: (7/log2 3 + 1/log2 5) / (7 + 1/log2 3) = 4.8472 / 7.6309
    assert "4.8472 / 7.6309 = 0.6352" in done.out
    assert "- gain='linear' here, gain='exp' in quepid." in done.out
    assert "> 2. DCG in the top 4" in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def test_explain_of_several_measures_and_as_json(rankproof: Any, files: Path) -> None:
    done = rankproof("explain", "judgments.txt", "first.run", "q2", "-m", "AP,RR", "-f", "json")
    assert [round(each["value"], 4) for each in json.loads(done.out)] == [0.3667, 0.3333]


def test_every_measure_is_listed_and_described(rankproof: Any) -> None:
    listed, names = rankproof("measures", "--full").out, rankproof("measures").out
    for name, each in REGISTRY.items():
        assert re.search(rf"[ ]{re.escape(name)}(,|$)", names, re.MULTILINE)
        assert f"  {name} " in listed
        done = rankproof("measures", name)
        assert done.code == 0
        assert "Formula: " in done.out
        assert all(parameter in done.out for parameter in each.params)
        assert max(map(len, done.out.splitlines())) <= 80


def test_a_measure_is_described_under_any_of_its_names(rankproof: Any) -> None:
    assert rankproof("measures", "MAP").out == rankproof("measures", "AP").out


@pytest.mark.parametrize("name", ["context_recall", "completeness", "groundedness"])
def test_a_metric_of_a_judge_is_found_though_a_measure_has_its_name(name: str, rankproof: Any) -> None:
    """The list of metrics names the command that describes them, and so does a measure of the same name."""
    assert "rankproof measures --judged NAME" in rankproof("measures", "--judged").out
    asked, judged = rankproof("measures", name), rankproof("measures", "--judged", name)
    assert asked.code == judged.code == 0
    assert (asked.out == judged.out) != (f"rankproof measures --judged {name}" in asked.err)
    assert rankproof("explain", name).out == asked.out
    wrong = rankproof("measures", "--judged", f"{name}(depth=3)")
    assert "Next: see 'rankproof measures --judged" in wrong.err


def test_measures_as_json(rankproof: Any) -> None:
    found = {each["name"]: each for each in json.loads(rankproof("measures", "-f", "json").out)}
    assert set(found) == set(REGISTRY)
    assert found["P"]["parameters"]["k"] == {
        "default": None,
        "expected": "a whole number of at least 1",
        "at": True,
    }


@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_is_listed_and_described(name: str, rankproof: Any) -> None:
    assert f"  {name} " in rankproof("profiles").out
    assert rankproof("profiles", name).out.startswith(f"{name}: ")


def test_convert_writes_what_evaluate_reads(rankproof: Any, files: Path) -> None:
    assert rankproof("convert", "first.run", "first.jsonl").code == 0
    assert rankproof("convert", "judgments.txt", "j.csv").code == 0
    assert rankproof("convert", "first.jsonl", "first.tsv", "--as", "ranking").code == 0
    before = rankproof("evaluate", "judgments.txt", "first.run", "-f", "csv").out
    after = rankproof("evaluate", "j.csv", "first.tsv", "-f", "csv").out
    assert after == before.replace("first.run", "first.tsv")


@pytest.mark.parametrize(
    "arguments", [["-q", "judgments.txt", "first.run"], ["--help"], ["-m", "map", "x", "y"], ["--", "a"], []]
)
def test_trec_eval_gets_its_arguments_untouched(
    arguments: list[str], rankproof: Any, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = rankproof("trec_eval", *arguments)
    code = trec_eval(arguments)
    captured = capsys.readouterr()
    assert (done.code, done.out, done.err) == (code, captured.out, captured.err)
