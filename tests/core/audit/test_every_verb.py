"""An error of the audit stands in what every verb prints, in every form, and ends every command with 3."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rankproof import compare, diagnose, evaluate, explain, leaderboard, pool, report
from tests.shell import rankproof

SAID = "upper and lower case"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judgments, a run in which ids of 5 of 12 topics are in upper case, and the same run as it should be."""
    rng, made = np.random.default_rng(0), tmp_path_factory.mktemp("verbs")
    judged, good, bad = [], [], []
    for topic in range(12):
        docs = [f"doc-{doc}" for doc in rng.permutation(1000)[:30]]
        judged += [f"q{topic} 0 {doc} 1\n" for doc in docs[:8]]
        for rank, doc in enumerate(rng.permutation(docs), start=1):
            good.append(f"q{topic} Q0 {doc} {rank} {100 - rank} x\n")
            bad.append(f"q{topic} Q0 {doc.upper() if topic < 5 else doc} {rank} {100 - rank} x\n")
    for name, lines in (("qrels", judged), ("good.run", good), ("bad.run", bad)):
        (made / name).write_text("".join(lines))
    return made


@pytest.mark.slow
def test_every_result_says_it(folder: Path) -> None:
    judged, good, bad = (str(folder / name) for name in ("qrels", "good.run", "bad.run"))
    scores = {"good": evaluate(judged, good), "bad": evaluate(judged, bad)}
    assert scores["bad"].wrong
    assert not scores["good"].wrong
    board, both = leaderboard(scores), compare(judged, {"good": good, "bad": bad})
    found, step = diagnose(judged, bad), explain(judged, bad, "q1")
    shown = [str(scores["bad"]), str(board), board.format("markdown"), board.format("json"), str(both)]
    shown += [
        both.format("json"),
        str(found),
        found.markdown(),
        found.html(),
        found.format("json"),
        str(step),
        step.html(),
    ]
    made = report(judged, {"good": good, "bad": bad})
    shown += [made.html(), made.markdown(), made.format("full"), str(pool({"bad": bad}, judgments=judged).wrong)]
    for each in shown:
        assert SAID in " ".join(each.split()), each[:400]


@pytest.mark.slow
def test_every_command_says_it_and_ends_with_3(folder: Path) -> None:
    rankproof(folder, "evaluate", "qrels", "bad.run", "--save", "saved", "--replace", "--history", "h.db")
    for line in (
        "evaluate qrels bad.run",
        "evaluate qrels bad.run -f json",
        "evaluate qrels bad.run -q -f csv",
        "evaluate qrels good.run bad.run -o scores.md",
        "compare qrels good.run bad.run",
        "compare qrels good.run bad.run -f latex",
        "leaderboard qrels good.run bad.run",
        "leaderboard qrels good.run bad.run -f json",
        "rank-correlation qrels good.run bad.run -m AP,RR",
        "diagnose qrels bad.run",
        "diagnose qrels bad.run -f json",
        "report qrels bad.run",
        "report qrels bad.run -o page.html",
        "explain qrels bad.run q1",
        "explain qrels bad.run q1 -o q1.html",
        "pool good.run bad.run --judgments qrels",
        "show saved --history h.db",
        "show saved --history h.db -f json",
        "audit qrels bad.run",
    ):
        if "saved" not in line:
            good = rankproof(folder, *line.replace("bad.run", "good.run").split())
            assert good.returncode in (0, 2), (line, good.stderr)
        ran = rankproof(folder, *line.split())
        assert ran.returncode == 3, (line, ran.stderr)
        assert SAID in " ".join((ran.stdout + ran.stderr).split()), line
    for page in ("page.html", "q1.html"):
        assert SAID in (folder / page).read_text()
