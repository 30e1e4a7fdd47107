"""Completion in a real bash, and words that are explained."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from itertools import chain
from pathlib import Path
from shutil import which

import click
import pytest
from click.shell_completion import FishComplete, ShellComplete, ZshComplete

from rankproof import sample
from rankproof.cli import rankproof as group
from rankproof.core.names import REGISTRY
from rankproof.core.names import find as measure_named
from rankproof.core.profiles import BUILT_ON, PROFILES, find
from rankproof.document.page import read_terms, term_of
from tests.each import with_each
from tests.shell import rankproof

measure_named("RBO")  # every measure is declared
BASH = which("bash")
DOCS = Path(__file__).resolve().parents[2] / "docs"


@cache
def source(program: Path) -> str:
    """What the program gives bash to read: the same for all words."""
    asked = {**os.environ, "_RANKPROOF_COMPLETE": "bash_source"}
    return subprocess.run([program], capture_output=True, text=True, check=True, env=asked).stdout


def complete(*words: str) -> list[str]:
    """What a bash with our completion offers behind these words."""
    program = Path(sys.executable).with_name("rankproof")
    if BASH is None or not program.exists():
        pytest.skip("bash, or the program, is not installed")
    script = (
        'eval "$SOURCE"\n'
        'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()\n'
        'compopt() { echo "<$2>"; }\n'
        '_rankproof_completion rankproof\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [BASH, "-c", script, "bash", "rankproof", *words],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path, "SOURCE": source(program)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("ev",), "evaluate"),
        (("evaluate", "judg"), "<default>"),
        (("evaluate", "j", "r", "-m", "nD"), "nDCG@10"),
        (("evaluate", "j", "r", "-m", "RR,suc"), "RR,Success@5"),
        (("evaluate", "j", "r", "--ties", "e"), "expected"),
        (("evaluate", "j", "r", "--profile", "be"), "beir"),
        (("compare", "j", "r", "-f", "la"), "latex"),
        (("diagnose", "j", "r", "--corpus", "d"), "<default>"),
        (("history", "ex"), "export"),
        (("measures", "AP"), "AP"),
        (("explain", "Bonf"), "Bonferroni"),
        (("explain", "nDC"), "nDCG@10"),
        (("explain", "j", "r", "q", "--versus", "el"), "elasticsearch"),
        (("judge", "s", "-m", "faith"), "faithfulness"),
        (("compare", "j", "r", "--correction", "bon"), "bonferroni"),
        (("questions", "draw", "c", "--sources", "title,he"), "title,heading"),
    ],
)
def test_a_real_bash_completes(words: tuple[str, ...], offered: str) -> None:
    assert offered in complete(*words)


@pytest.mark.slow
def test_every_word_that_help_lists_is_offered() -> None:
    """Options of words offer what their help names, without the default behind it."""
    found: dict[str, list[str]] = {}

    def walk(command: click.Command, name: str) -> None:
        context = click.Context(command)
        for each in command.list_commands(context) if isinstance(command, click.Group) else ():
            walk(command.get_command(context, each) or command, f"{name} {each}".strip())
        for option in command.params:
            if isinstance(option, click.Option) and (option.metavar or "").startswith(("WORD", "UNIT", "SPAN")):
                offered = option.shell_complete(context, "")
                found[f"{name} {option.opts[-1]}"] = [each.value for each in offered]

    walk(group, "")
    assert len(found) > 40
    assert {name for name, words in found.items() if len(words) < 2} <= {"judge --design", "pool --order"}
    assert found["sql --dialect"][0] == "duckdb"
    assert found["monitor --window"] == ["hour", "day", "week", "month"]


@pytest.mark.parametrize(("shell", "kind"), [("zsh", ZshComplete), ("fish", FishComplete)])
def test_shells_that_may_be_absent_get_what_click_makes_for_them(
    shell: str, kind: type[ShellComplete], tmp_path: Path
) -> None:
    """The script is the one of click, and what it asks for is answered as its shell expects."""
    made = kind(group, {}, "rankproof", "_RANKPROOF_COMPLETE").source()
    assert asked_of(shell, "source", tmp_path).rstrip("\n") == made.rstrip("\n")
    assert f"_RANKPROOF_COMPLETE={shell}_complete" in made
    assert f"_RANKPROOF_COMPLETE={shell}_source" in (DOCS / "shell.md").read_text(encoding="utf-8")
    if which(shell):  # the shell itself, where it is installed, takes the script
        done = subprocess.run([shell, "-n"], input=made, text=True, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
    for words, offered in (
        (["ev"], "evaluate"),
        (["evaluate", "j", "r", "-m", "nD"], "nDCG@10"),
        (["evaluate", "j", "r", "--ties", "e"], "expected"),
        (["history", "ex"], "export"),
    ):
        said = asked_of(shell, "complete", tmp_path, *words).splitlines()
        if shell == "zsh":  # three lines each: the kind, the word, its help
            assert offered in said[1::3]
            assert len(said) % 3 == 0
        else:
            assert any(line.partition(",")[0] == "plain" and offered in line for line in said)
    file = asked_of(shell, "complete", tmp_path, "evaluate", "judg").splitlines()
    assert file[0].partition(",")[0] == "file"


def asked_of(shell: str, what: str, folder: Path, *words: str) -> str:
    """What the program gives to a shell: its script, or what fits behind these words."""
    last = {"COMP_CWORD": str(len(words))} if shell == "zsh" else {"COMP_CWORD": words[-1] if words else ""}
    given = {"COMP_WORDS": " ".join(("rankproof", *words)), **last, "_RANKPROOF_COMPLETE": f"{shell}_{what}"}
    script = "import sys; sys.argv[0] = 'rankproof'; from rankproof.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, **given},
        check=False,
    )
    assert not done.stderr
    return done.stdout


@pytest.mark.slow
@with_each("word", [each for each in chain(*read_terms()) if each not in REGISTRY])
def test_every_word_is_explained(word: str, tmp_path: Path) -> None:
    done = rankproof(tmp_path, "explain", word)
    assert done.returncode == 0
    title, _, said = done.stdout.partition("\n\n")
    assert title in read_terms()[0]
    assert said.strip().endswith(".")
    assert len(done.stdout.splitlines()) < 12


def test_measures_are_explained_too_and_unknown_words_are_met_with_the_known(tmp_path: Path) -> None:
    assert "Formula" in rankproof(tmp_path, "explain", "nDCG@10").stdout
    assert "Formula" in rankproof(tmp_path, "explain", "P").stdout
    assert "claims" in rankproof(tmp_path, "explain", "faithfulness").stdout
    first_read = [
        "query",
        "system",
        "measure",
        "cut-off",
        "unanswered",
        "failed",
        "candidate",
        "anchor",
        "floor",
        "lexical",
        "estimate",
    ]
    assert [each for each in first_read if not term_of(each)] == []
    unknown = rankproof(tmp_path, "explain", "detectible")
    assert unknown.returncode == 2
    assert "Did you mean 'detectable'?" in unknown.stderr
    two = rankproof(tmp_path, "explain", "judgments.tsv", "my.run")
    assert (two.returncode, "no query" in two.stderr) == (2, True)


@pytest.mark.first_is_quick
@pytest.mark.parametrize("name", [*PROFILES, *BUILT_ON])
def test_a_profile_is_known_by_its_name_and_says_what_it_does_not_follow(name: str) -> None:
    """Each limit stands beside the measures it is about, and all of them in the description."""
    folder, limits = Path(str(sample.folder())), find(name).beyond
    measures = {(find(name).proven or find(name).unproven).split()[0].removesuffix("@k")}.union(
        *(about.split() for about in limits.values())
    )
    done = rankproof(
        folder,
        *("evaluate", "judgments.tsv", "keyword.run", "--profile", name, "--full", "-m", ",".join(measures)),
    )
    assert done.returncode == 0, done.stderr
    assert f"profile {name}" in done.stdout
    told = rankproof(folder, "profiles", name).stdout
    for shown in (done.stdout, told):
        assert [limit for limit in limits if limit not in " ".join(shown.split())] == []
