"""A command that writes a file says so, on standard error; standard output stays for results."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.shell import rankproof

COMMANDS = {
    "bench": ("bench", "bench.toml", "--no-cache", "-o", "out.md"),
    "judge": ("judge", "samples.jsonl", "-m", "context_precision", "-o", "out.txt"),
    "diagnose": ("diagnose", "judged.tsv", "my.run", "-o", "out.md"),
    "evaluate": ("evaluate", "judged.tsv", "my.run", "-m", "RR@10", "-o", "out.csv"),
    "compare": ("compare", "judged.tsv", "my.run", "other.run", "-m", "RR@10", "-o", "out.md"),
    "gate": (
        "gate",
        "judged.tsv",
        "my.run",
        "my.run",
        "-m",
        "RR@10",
        "--minimum",
        "2",
        "--allow-inconclusive",
        "-o",
        "out.xml",
    ),
    "explain": ("explain", "judged.tsv", "my.run", "q1", "-m", "RR@10", "-o", "out.txt"),
}
FILES = {
    "bench.toml": 'benchmark = "sample"\n[retrievers]\nwords = "keyword"\n',
    "samples.jsonl": '{"id": "1", "query": "When?", "contexts": ["At noon."], "reference": "At noon.", "answer": "Noon."}\n',
    "judged.tsv": "q1 0 d1 1\nq2 0 d1 1\n",
    "other.run": "q1 Q0 d1 1 0.5 other\nq2 Q0 d1 1 0.5 other\n",
    "my.run": "q1 Q0 d1 1 0.5 mine\nq2 Q0 d2 1 0.5 mine\n",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_that_was_written_is_told(name: str, tmp_path: Path) -> None:
    for file, text in FILES.items():
        (tmp_path / file).write_text(text)
    words = COMMANDS[name]
    ran = rankproof(tmp_path, *words)
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stderr
    assert f"Wrote {words[-1]}." in ran.stderr
    assert (tmp_path / words[-1]).stat().st_size > 0


def test_what_would_be_asked_of_several_files_is_written_for_each(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text(FILES["samples.jsonl"])
    words = ("judge", "a.jsonl", "b.jsonl", "-m", "context_precision", "--dry-run", "-o", "plan.txt")
    ran = rankproof(tmp_path, *words)
    assert ran.returncode == 0, ran.stderr
    assert [name in (tmp_path / "plan.txt").read_text() for name in ("a.jsonl", "b.jsonl")] == [True, True]
