"""Saved results on the command line: saved, listed, shown, compared, decided, removed, taken elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from rankproof import History, sample
from rankproof.cli import run


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Run = Callable[[str], Outcome]


@pytest.fixture
def rankproof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command line in a folder with the sample's files."""
    for path in Path(str(sample.folder())).glob("*.*"):
        if path.suffix in {".tsv", ".run"}:
            (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RANKPROOF_HISTORY", raising=False)

    def call(line: str) -> Outcome:
        capsys.readouterr()
        code = run(line.split())
        said = capsys.readouterr()
        return Outcome(code, said.out, said.err)

    return call


BOTH = "evaluate judgments.tsv keyword.run dense.run -m nDCG@10,R@20"
SAVE = f"{BOTH} --save before --save after --tag model=small --tag k=20"


def test_nothing_is_written_unless_asked(rankproof: Run, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    for line in (BOTH, "compare judgments.tsv keyword.run dense.run", "history", "show a", "rm a"):
        rankproof(line)
    assert sorted(tmp_path.iterdir()) == before


def test_saving_changes_nothing_that_is_shown(rankproof: Run) -> None:
    plain, saved = rankproof(BOTH), rankproof(SAVE)
    assert saved.code == 0
    assert saved.out == plain.out
    assert saved.err.splitlines() == [
        "Saved as 'before' in rankproof.db.",
        "Saved as 'after' in rankproof.db.",
    ]


def test_the_list_and_one_of_it(rankproof: Run) -> None:
    rankproof(SAVE)
    lines = rankproof("history").out.splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["before", "after"]
    assert "0.5840" in lines[3]
    assert "k=20 model=small" in lines[3]
    shown = rankproof("show after --full").out
    assert "Tags: k=20 model=small." in shown
    assert rankproof("evaluate judgments.tsv dense.run -m nDCG@10,R@20 --full").out in shown.replace(
        "after\n\n", "dense.run\n\n"
    )
    assert max(map(len, shown.splitlines())) <= 80
    assert json.loads(rankproof("history -f json").out)[1]["tags"] == {"model": "small", "k": "20"}
    assert rankproof("show after -q -f csv").out.count("\n") == 121
    assert rankproof("show aftr").err.startswith("rankproof: rankproof.db: nothing is saved as 'aftr'. Did you")


@pytest.mark.slow
def test_names_are_compared_as_their_rankings_are(rankproof: Run) -> None:
    rankproof(SAVE)
    saved = rankproof("compare before after --margin 0.02 -f json")
    direct = rankproof("compare judgments.tsv keyword.run dense.run -m nDCG@10,R@20 --margin 0.02 -f json")
    assert saved.code == 0
    assert saved.out.replace('"before"', '"keyword.run"').replace('"after"', '"dense.run"') == direct.out
    assert rankproof("compare before after -m MRR").err.endswith(
        "'before' has no RR, only nDCG@10, R@20. Next: name a measure that it has.\n"
    )


@pytest.mark.parametrize(("words", "code"), [("before after", 0), ("after before", 1)])
def test_the_gate_takes_names(rankproof: Run, words: str, code: int) -> None:
    rankproof(SAVE)
    assert rankproof(f"gate {words} --floor nDCG@10=0.1").code == code


def test_another_file_by_option_or_environment(rankproof: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rankproof(f"{SAVE} --history other.db")
    assert not (tmp_path / "rankproof.db").exists()
    assert rankproof("compare before after").code == 2
    assert rankproof("compare before after --history other.db").code == 0
    monkeypatch.setenv("RANKPROOF_HISTORY", "other.db")
    assert rankproof("compare before after").code == 0
    assert rankproof("history").out.count("\n") == 4


def test_files_and_names_are_never_mistaken(rankproof: Run, tmp_path: Path) -> None:
    rankproof(SAVE)
    half = rankproof("compare before dense.run")
    assert (half.code, half.out) == (2, "")
    assert "'before' is saved in rankproof.db, but 'dense.run' is not" in half.err
    assert "but 'aftr' is not; expected all of them saved" in rankproof("compare before aftr").err
    (tmp_path / "before").write_text("x")
    (tmp_path / "after").write_text("x")
    both = rankproof("gate before after")
    assert both.code == 2
    assert "files here and names in rankproof.db" in both.err
    assert "./before" in both.err
    assert rankproof("gate before after --history rankproof.db").code == 0
    rankproof("evaluate judgments.tsv dense.run --save dense.run")
    assert rankproof("compare judgments.tsv keyword.run dense.run -m nDCG@10").code == 0


def test_a_name_too_long_for_a_file_is_still_a_name(rankproof: Run) -> None:
    name = "x" * 300
    rankproof(f"evaluate judgments.tsv keyword.run dense.run -m RR --save {name} --save b")
    assert rankproof(f"compare {name} b").code == 0


def test_a_damaged_history_does_not_stop_the_comparison_of_files(rankproof: Run, tmp_path: Path) -> None:
    (tmp_path / "rankproof.db").write_bytes(b"damaged " * 200)
    assert rankproof("gate judgments.tsv keyword.run dense.run -m nDCG@10").code == 0
    assert rankproof("history").code == 3


def test_what_was_scored_otherwise_needs_to_be_wanted(rankproof: Run) -> None:
    rankproof(SAVE)
    rankproof("evaluate judgments.tsv dense.run -m nDCG@10,R@20 --no-relevant skip --save skipping")
    refused = rankproof("compare before skipping")
    assert refused.code == 2
    assert "different conventions (no_relevant=skip and zero)" in refused.err
    wanted = rankproof("compare before skipping --anyway")
    assert wanted.code == 0
    assert "not made in the same way" in " ".join(wanted.out.split())
    assert "not made in the same way" in rankproof("gate before skipping --anyway -f markdown").out


@pytest.mark.first_is_quick(2)
@pytest.mark.parametrize(
    ("line", "says"),
    [
        (f"{BOTH} --save one", "got 1 name for 2 rankings"),
        (f"{BOTH} --save one --save one", "a name of its own"),
        (f"{BOTH} --tag a=b", "nothing is saved without a name"),
        (f"{BOTH} --save one --save two --tag ab", "expected KEY=VALUE"),
        (f"{BOTH} --save one --save two --tag a=b --tag a=c", "got 'a' with two values"),
        ("compare before before", "'before': given more than once"),
        ("leaderboard after before after", "'after': given more than once"),
        ("gate before after --anchor before --anchor before", "'before': given more than once"),
        ("rm before before", "'before': given more than once"),
        ("history export before before -o x.json", "'before': given more than once"),
        (f"{BOTH} --save new --save before", "saved as 'before' already"),
        (f"{BOTH} --save one --save two --history no/such/folder/x.db", "cannot be written"),
        ("compare before after --ties id", "--ties: these results were scored already"),
        ("compare judgments.tsv keyword.run dense.run --anyway", "--anyway"),
        ("compare before", "at least two"),
        ("gate before after after", "expected two saved names"),
        ("gate keyword.run dense.run", "expected JUDGMENTS BASELINE CANDIDATE"),
        ("rm before no", "nothing is saved as 'no'"),
        ("history -f xml", "format: got 'xml'"),
        ("history import gone.json", "there is no such file"),
        ("history export no -o x.json", "nothing is saved as 'no'"),
        ("history export before -o no/such/folder/x.json", "name a file that can be written"),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(rankproof: Run, line: str, says: str) -> None:
    rankproof(SAVE)
    done = rankproof(line)
    assert done.code == 2
    assert done.out == ""
    assert says in done.err
    assert done.err.count("\n") == 1
    assert [each.name for each in History().entries()] == ["before", "after"]


def test_replacing_removing_and_moving(rankproof: Run) -> None:
    rankproof(SAVE)
    assert rankproof("history export after -o one.json.gz").code == 0
    assert rankproof("rm after").code == 0
    assert rankproof("history import one.json.gz").code == 0
    refused = rankproof("history import one.json.gz")
    assert (refused.code, "Next: remove it there first, or replace it with --replace" in refused.err) == (2, True)
    assert rankproof("history import one.json.gz --replace").code == 0
    assert rankproof("compare before after").code == 0
    assert rankproof("evaluate judgments.tsv fused.run -m RR --save after --replace").code == 0
    assert History().show("after").means.keys() == {"RR"}


def test_the_history_is_named_before_or_behind_what_is_done_with_it(rankproof: Run) -> None:
    rankproof(f"{SAVE} --history first.db")
    assert rankproof("history --history first.db export -o all.json").code == 0
    assert rankproof("history export --history first.db after -o one.json").code == 0
    assert rankproof("history import one.json --history second.db").code == 0
    assert [each.name for each in History("second.db").entries()] == ["after"]
    assert not Path("rankproof.db").exists()


@pytest.mark.parametrize("line", ["leaderboard", "rank-correlation -m nDCG@10,RR"])
def test_whatever_orders_systems_names_them_and_takes_conventions(rankproof: Run, line: str) -> None:
    files = "judgments.tsv keyword.run dense.run"
    done = rankproof(f"{line} {files} --names old,new --no-relevant skip -f json")
    assert done.code in (0, 3)
    assert '"old"' in done.out
    assert done.out != rankproof(f"{line} {files} --names old,new -f json").out
    rankproof(SAVE)
    for wrong in ("--names old,new", "--profile beir"):
        assert rankproof(f"{line} before after {wrong}").code == 2


@pytest.mark.parametrize("line", ["compare {} dense.run", "gate {} dense.run", "leaderboard {} dense.run", "audit {}"])
def test_a_profile_is_followed_wherever_rankings_are_scored(rankproof: Run, line: str) -> None:
    done = rankproof(f"{line.format('judgments.tsv keyword.run')} --profile beir")
    assert done.code != 2
    wrong = rankproof(f"{line.format('judgments.tsv keyword.run')} --profile no-such-tool")
    assert wrong.code == 2
    assert "no-such-tool" in wrong.err
