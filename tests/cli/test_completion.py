"""Completion in a real bash, and words that are explained."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

from rankproof import sample
from rankproof.core.measure import REGISTRY
from rankproof.core.profiles import BUILT_ON, find
from rankproof.reporting.terms import TERMS, names
from tests.shell import rankproof

BASH = which("bash")


def complete(*words: str) -> list[str]:
    """What a bash with our completion offers behind these words."""
    program = Path(sys.executable).with_name("rankproof")
    if BASH is None or not program.exists():
        pytest.skip("bash, or the program, is not installed")
    script = (
        'eval "$(_RANKPROOF_COMPLETE=bash_source rankproof)"\n'
        'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()\n'
        'compopt() { echo "<$2>"; }\n'
        '_rankproof_completion rankproof\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [BASH, "-c", script, "bash", "rankproof", *words],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path},
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
    ],
)
def test_a_real_bash_completes(words: tuple[str, ...], offered: str) -> None:
    assert offered in complete(*words)


@pytest.mark.parametrize("word", [each for each in names() if each not in REGISTRY])
def test_every_word_is_explained(word: str, tmp_path: Path) -> None:
    done = rankproof(tmp_path, "explain", word)
    assert done.returncode == 0
    title, _, said = done.stdout.partition("\n\n")
    assert title in TERMS
    assert said.strip().endswith(".")
    assert len(done.stdout.splitlines()) < 12


def test_measures_are_explained_too_and_unknown_words_are_met_with_the_known(tmp_path: Path) -> None:
    assert "Formula" in rankproof(tmp_path, "explain", "nDCG@10").stdout
    assert "Formula" in rankproof(tmp_path, "explain", "P").stdout
    assert "claims" in rankproof(tmp_path, "explain", "faithfulness").stdout
    unknown = rankproof(tmp_path, "explain", "detectible")
    assert unknown.returncode == 2
    assert "Did you mean 'detectable'?" in unknown.stderr
    two = rankproof(tmp_path, "explain", "judgments.tsv", "my.run")
    assert (two.returncode, "no query" in two.stderr) == (2, True)


@pytest.mark.parametrize("name", BUILT_ON)
def test_a_tool_that_is_built_on_trec_eval_is_known_by_its_name(name: str) -> None:
    folder = sample.folder()
    done = rankproof(
        Path(str(folder)),
        "evaluate",
        "judgments.tsv",
        "keyword.run",
        "-m",
        "nDCG@10,RR",
        "--profile",
        name,
        "--full",
    )
    assert done.returncode == 0, done.stderr
    assert f"profile {name}" in done.stdout
    words = " ".join(done.stdout.split())
    for limit in find(name).beyond:
        if "Hole" not in str(limit):  # it is said where that measure is asked for
            assert str(limit) in words
    told = rankproof(Path(str(folder)), "profiles", name).stdout
    assert all(str(limit).split(";")[0][:30] in " ".join(told.split()) for limit in find(name).beyond)
