"""A ranking that was ranked once: ranks as evaluate sees them, and the same numbers from the files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rankproof import evaluate
from rankproof.errors import DataError, RankproofError, UsageError
from rankproof.io import ranked_files
from rankproof.io.load import load_ranking
from rankproof.io.ranked_files import write_ranked
from tests.io.test_split_rankings import MEASURES, as_jsonl, as_lists, as_parquet, as_trec, in_memory, numbers, world
from tests.shell import rankproof


def slowly(run: dict[str, dict[str, float]]) -> dict[tuple[str, str], tuple[int, int, int, int]]:
    """Rank, first, last and length of each row, by plain loops."""
    found = {}
    for query, docs in run.items():
        order = sorted(docs, key=lambda doc: (docs[doc], doc.encode()), reverse=True)
        for at, doc in enumerate(order, 1):
            above = sum(score > docs[doc] for score in docs.values())
            level = sum(score == docs[doc] for score in docs.values())
            found[query, doc] = (at, above + 1, above + level, len(docs))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("form", ["trec", "parquet", "lists", "jsonl", "memory"])
def test_ranks_are_those_of_plain_loops_and_scores_those_of_the_run(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged, rows = world(20)
    rows = [(q, d, s) for q in dict.fromkeys(r[0] for r in rows) for p, d, s in rows if p == q]
    writers = {"trec": as_trec, "parquet": as_parquet, "lists": as_lists, "jsonl": as_jsonl}
    given: Any = in_memory(rows) if form == "memory" else writers[form](tmp_path / "run", rows)
    monkeypatch.setattr(ranked_files, "ROWS", 200)
    assert write_ranked(load_ranking(given), tmp_path / "ranked") == len(rows)
    files = sorted((tmp_path / "ranked").iterdir())
    assert len(files) > 1 or form in ("jsonl", "memory", "trec", "parquet", "lists")
    table = pa.concat_tables([pq.read_table(file) for file in files]).to_pydict()
    found = {
        (q, d): ranks
        for q, d, *ranks in zip(
            *(table[n] for n in ("query_id", "doc_id", "rank", "first", "last", "length")), strict=True
        )
    }
    assert {pair: tuple(ranks) for pair, ranks in found.items()} == slowly(in_memory(rows))
    for ties in ("trec", "expected"):
        whole = numbers(evaluate(judged, in_memory(rows), MEASURES, ties=ties))
        assert numbers(evaluate(judged, tmp_path / "ranked", MEASURES, ties=ties)) == whole
    assert (
        numbers(evaluate(judged, tmp_path / "ranked", MEASURES, ties="rank"))["means"]
        == numbers(evaluate(judged, in_memory(rows), MEASURES))["means"]
    )


def refused(given: Any, folder: Path, kind: type[RankproofError] = DataError) -> str:
    with pytest.raises(kind) as error:
        write_ranked(load_ranking(given), folder)
    assert "Next:" in str(error.value)
    assert sorted(each.name for each in folder.parent.iterdir() if each.name.startswith(".")) == []
    return str(error.value)


def test_what_cannot_be_ranked_leaves_nothing_behind(tmp_path: Path) -> None:
    _, rows = world(21)
    target = tmp_path / "ranked"
    apart = as_parquet(tmp_path / "apart.parquet", [*rows[1:], rows[0]] * 20)
    assert "several places" in refused(apart, target) or "twice" in refused(apart, target)
    twice = as_trec(tmp_path / "twice.run", [rows[0], *rows[:30]])
    assert "comes twice" in refused(twice, target)
    bad = tmp_path / "bad.run"
    bad.write_text("q1 Q0 d1 1 high x\n")
    with pytest.raises(RankproofError):
        write_ranked(load_ranking(bad), target)
    assert not target.exists()
    target.mkdir()
    (target / "mine").write_text("x")
    good = as_parquet(tmp_path / "good.parquet", rows)
    assert "it is there already" in refused(good, target, UsageError)
    assert (target / "mine").exists()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="limits of processes are POSIX")
def test_on_a_full_disk_the_old_folder_stays(tmp_path: Path) -> None:
    _, rows = world(23)
    as_parquet(tmp_path / "run.parquet", rows)
    assert rankproof(tmp_path, "rank", "run.parquet", "-o", "ranked").returncode == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.parquet")}
    code = (
        "import resource, sys; from rankproof.cli import run; import pyarrow.parquet; "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (900, 900)); sys.exit(run(sys.argv[1:]))"
    )
    for words in (("ranked", "--force"), ("another",)):
        done = subprocess.run(
            [sys.executable, "-c", code, "rank", "run.parquet", "-o", *words],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode in (2, 3), done.stderr
        assert "cannot be written" in done.stderr
        assert "make room" in done.stderr
        assert {path: path.read_bytes() for path in tmp_path.rglob("*.parquet")} == before
        assert sorted(path.name for path in tmp_path.iterdir()) == ["ranked", "run.parquet"]


def test_the_shell_ranks_a_folder(tmp_path: Path) -> None:
    judged, rows = world(22)
    (tmp_path / "run").mkdir()
    as_parquet(tmp_path / "run" / "part-00000.parquet", rows)
    lines = [f"{q} 0 {d} {g}\n" for q, docs in judged.items() for d, g in docs.items()]
    (tmp_path / "judged").write_text("".join(lines))
    done = rankproof(tmp_path, "rank", "run", "-o", "ranked")
    assert done.returncode == 0, done.stderr
    assert f"{len(rows):,} rows, ranked" in done.stderr
    words = ("-m", "AP,RR", "--names", "it", "-f", "json")
    both = [rankproof(tmp_path, "evaluate", "judged", run, *words).stdout for run in ("run", "ranked")]
    assert both[0].startswith(("[", "{"))
    assert both[0] == both[1]
    assert rankproof(tmp_path, "rank", "run", "-o", "ranked").returncode == 2
    assert rankproof(tmp_path, "rank", "run", "-o", "ranked", "--force").returncode == 0
    assert np.isfinite(evaluate(judged, tmp_path / "ranked", "RR")["RR"])
