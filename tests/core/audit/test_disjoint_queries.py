"""Two sides that share no query end every command with 3, and say so: nothing was measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rankproof import (
    RankproofError,
    agreement,
    check_questions,
    compare,
    evaluate,
    pool,
    questions_needed,
    rank_correlation,
    tune,
)
from rankproof.errors import DataError
from tests.shell import rankproof

pytestmark = pytest.mark.slow  # every verb twice

SIZE = 8
BENCH = """
corpus = "docs.jsonl"
questions = "{questions}"
judgments = "judged"

[retrievers]
keyword = {{ kind = "keyword" }}
latent = {{ kind = "lsa" }}
"""
DISJOINT = (
    "evaluate judged far",
    "evaluate judged far -f json",
    "evaluate judged far -q -f csv",
    "evaluate judged near --by far.tsv",
    "compare judged near far",
    "compare judged far far2 -f latex",
    "gate judged near far",
    "gate judged far near -f json",
    "leaderboard judged near far",
    "rank-correlation judged near far -m AP,RR",
    "report judged far -o page.html --force",
    "report judged near --queries far.jsonl",
    "audit judged far",
    "diagnose judged far",
    "diagnose judged near --queries far.jsonl --corpus docs.jsonl",
    "explain judged far q1",
    "explain judged near q1 --beside far -o q1.html --force",
    "explain judged near q1 --queries far.jsonl",
    "explain judged near q1 --queries far.jsonl -f json",
    "explain judged near q1 --queries far.jsonl -o q2.html",
    "judge samples.jsonl --by far.tsv -m faithfulness",
    "judge samples.jsonl --by far.tsv -m faithfulness -f json",
    "spans spans.tsv far.chunks --corpus docs.jsonl",
    "fuse near far",
    "fuse far far2 --judgments judged --method bayesfuse",
    "fuse far far2 --tune judged",
    "pool near far",
    "pool far far2 --judgments judged",
    "label pool.jsonl --judgments far.judged",
    "label pool.jsonl --queries far.jsonl",
    "questions needed judged near far --difference 0.02",
    "questions needed judged far far2 --difference 0.02",
    "questions check far.jsonl judged",
    "questions check near.jsonl judged far",
    "questions split near.jsonl a=0.5 b=0.5 --by far.tsv",
    "bench far.toml",
    "show far-saved",
    "compare near-saved far-saved",
    "compare near-saved other-saved",
    "compare near-saved other-saved --anyway",
    "gate near-saved far-saved",
    "gate near-saved other-saved --anyway",
    "leaderboard near-saved far-saved",
    "leaderboard near-saved other-saved",
    "rank-correlation near-saved far-saved -m AP,R@5",
    "rank-correlation near-saved other-saved -m AP,R@5",
)
"""Every verb that brings two sides together; in each line one side is of other queries."""
ALONE = {
    "app",
    "calibrate",
    "convert",
    "demo",
    "drift",
    "experiment",
    "history",
    "measures",
    "monitor",
    "profiles",
    "rank",
    "rm",
    "run",
    "sql",
    "verdicts",
}
"""Verbs that read no two sides with the same queries."""
OWN = {"trec_eval"}
"""Ends with the codes of trec_eval."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Queries q0, q1, ... ("near", as they are judged) and x0, x1, ... ("far")."""
    made = tmp_path_factory.mktemp("disjoint")
    numbers = range(SIZE)
    files = {"judged": "q{0} 0 d{0} 1\n", "far.judged": "x{0} 0 d{0} 1\n", "spans.tsv": "q{0}\td{0}\t0\t4\n"}
    for side, start in (("near", "q"), ("far", "x")):
        files[side] = f"{start}{{0}} Q0 d{{0}} 1 2 t\n{start}{{0}} Q0 e{{0}} 2 1 t\n"
        files[f"{side}2"] = f"{start}{{0}} Q0 e{{0}} 1 2 t\n{start}{{0}} Q0 d{{0}} 2 1 t\n"
        files[f"{side}.chunks"] = f"{start}{{0}} Q0 d{{0}}#0-4 1 1 t\n"
        files[f"{side}.tsv"] = f"{start}{{0}}\tkind\n"
        files[f"{side}.jsonl"] = f'{{{{"_id": "{start}{{0}}", "text": "asks for thing number {{0}}"}}}}\n'
    files["docs.jsonl"] = '{{"_id": "d{0}", "text": "word{0} thing"}}\n'
    files["samples.jsonl"] = (
        '{{"id": "q{0}", "question": "Open?", "answer": "It is {0}.", "contexts": ["It is {0}."]}}\n'
    )
    for name, line in files.items():
        (made / name).write_text("".join(line.format(n) for n in numbers))
    for side in ("near", "far"):
        (made / f"{side}.toml").write_text(BENCH.format(questions=f"{side}.jsonl"))
        rankproof(made, "evaluate", "judged", side, "-m", "AP,R@5", "--save", f"{side}-saved")
    rankproof(made, "evaluate", "far.judged", "far", "-m", "AP,R@5", "--save", "other-saved")
    rankproof(made, "pool", "near", "-o", "pool.jsonl")
    return made


def test_every_command_ends_with_3_and_says_why(folder: Path) -> None:
    for line in DISJOINT:
        ran = rankproof(folder, *line.split())
        said = " ".join((ran.stdout + ran.stderr).split())
        assert ran.returncode == 3, (line, said)
        if "json" not in line and "csv" not in line:
            assert "None of the" in said or "none of" in said or "no query" in said or "have no text" in said, (
                line, said,
            )  # fmt: skip


def test_the_same_commands_with_queries_in_common_do_not(folder: Path) -> None:
    for line in DISJOINT:
        if "saved" in line:
            continue
        words = [word.replace("far", "near") for word in line.split()]
        if words[0] == "label":
            words = [word.replace("near.judged", "judged") for word in words]
        ran = rankproof(folder, *words)
        assert ran.returncode != 3, (line, ran.stdout, ran.stderr)


def test_every_verb_is_asked_or_needs_no_two_sides(folder: Path) -> None:
    listed = rankproof(folder, "--help").stdout.partition("Commands:\n")[2].splitlines()
    verbs = {line.split()[0] for line in listed if line[2:3].strip()}
    assert verbs == {line.split()[0] for line in DISJOINT} | ALONE | OWN


def test_results_in_python_say_it(folder: Path) -> None:
    judged, near, far, far2 = (str(folder / name) for name in ("judged", "near", "far", "far2"))
    assert evaluate(judged, far).wrong
    plan, tuned = questions_needed(judged, far, near), tune(judged, {"one": far, "two": far2})
    for each in (plan, tuned):
        assert len(each.wrong) == (1 if each is plan else 2)
        assert "Do not trust these numbers" in str(each)
        assert json.dumps(each.wrong)
    assert not questions_needed(judged, near, str(folder / "near2")).wrong
    assert not tune(judged, {"one": near, "two": str(folder / "near2")}).wrong
    assert pool([near, far]).wrong
    assert not pool([near, str(folder / "near2")]).wrong
    found = check_questions(str(folder / "far.jsonl"), judged)
    assert [each.kind for each in found if each.severity == "error"] == ["no-common-questions"]
    assert "Do not trust these numbers" in str(compare(judged, {"near": near, "far": far}))
    apart = {"near": evaluate(judged, near), "far": evaluate(str(folder / "far.judged"), far)}
    for ask in (
        lambda: agreement(near, far),
        lambda: rank_correlation(apart, measure="nDCG@10", versus="AP"),
        lambda: evaluate(judged, near, by={"x1": "kind"}),
    ):
        with pytest.raises(DataError, match="Next: ") as error:
            ask()
        assert isinstance(error.value, RankproofError)
