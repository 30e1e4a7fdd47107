"""What is read from a pipe gives what a file gives: every command, every kind of file, through real FIFOs."""

from __future__ import annotations

import bz2
import gzip
import json
import os
import random
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rankproof import evaluate
from rankproof.io.files import read_bytes, read_head
from rankproof.io.inputs import pipes_kept
from rankproof.io.write import convert
from tests.shell import rankproof

COMMANDS = {
    "evaluate": "evaluate q a b -m nDCG@10,RR --by groups",
    "evaluate packed": "evaluate q.gz a.bz2 -m AP --by q.jsonl:kind",
    "evaluate rows": "evaluate q.csv a.csv -m AP --by kind",
    "evaluate JSON": "evaluate q.json a.json -m AP",
    "evaluate JSON lines": "evaluate q.jsonl.gz a.jsonl -m AP",
    "evaluate Parquet": "evaluate q.parquet a.parquet -m AP",
    "lines of a query apart": "evaluate q a.mixed -m AP",
    "compare": "compare q a b -m nDCG@10 --by q.jsonl:kind",
    "gate": "gate q a b -m nDCG@10 --by groups",
    "leaderboard": "leaderboard q a b -m AP",
    "audit": "audit q a",
    "diagnose": "diagnose q a --queries q.jsonl --corpus corpus",
    "explain": "explain q a q7 -m nDCG@10",
    "report": "report q a b -m AP -o page.html --queries q.jsonl --corpus corpus",
    "fuse": "fuse a b --method mapfuse --judgments q -o fused.run",
    "fuse tuned": "fuse a b --method weighted-sum --tune q -o tuned.run",
    "pool": "pool a b --depth 3 --judgments q",
    "convert judgments": "convert q q2.csv",
    "convert a ranking": "convert a.bz2 a2.jsonl",
    "convert rows": "convert q.csv q2.tsv",
    "rank-correlation": "rank-correlation scores scores.json",
    "run": "run --retriever find:find --queries q.jsonl --judgments q --corpus corpus -k 5 -o r.run",
    "judge": "judge samples -m P@5 -f csv",
    "trec_eval": "trec_eval -q -m map -m ndcg_cut q a",
    "trec_eval 9": "trec_eval --as 9 -c q.gz a.bz2",
    "trec_eval preferences": "trec_eval -R qrels_prefs -m prefs_simp prefs a",
    "trec_eval z-scores": "trec_eval -q -Z zscores -m map q a",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of every kind, most of them longer than what a pipe holds and what detection looks at."""
    folder = tmp_path_factory.mktemp("files")
    draw = random.Random(17)
    queries, docs = [f"q{i}" for i in range(60)], [f"document-{i:05}" for i in range(600)]
    judged = {q: {d: draw.choice([0, 0, 1, 2]) for d in draw.sample(docs, 60)} for q in queries}
    write = {name: (folder / name).write_text for name in ("q", "a", "b", "prefs", "scores", "groups", "zscores")}
    write["q"]("".join(f"{q} 0 {d} {g}\n" for q, row in judged.items() for d, g in row.items()))
    for name in "ab":
        rows = [
            f"{q} Q0 {d} {rank} {100 - rank} {name}\n"
            for q in queries
            for rank, d in enumerate(draw.sample(docs, 60), 1)
        ]
        write[name]("".join(rows))
    (folder / "a.mixed").write_text("".join(draw.sample((folder / "a").read_text().splitlines(True), 3600)))
    for source, target in (
        ("q", "q.csv"),
        ("q", "q.json"),
        ("q", "q.parquet"),
        ("a", "a.csv"),
        ("a", "a.json"),
    ):
        convert(folder / source, folder / target)
    convert(folder / "a", folder / "a.jsonl")
    convert(folder / "a", folder / "a.parquet")
    rows = (folder / "q.csv").read_text().splitlines()
    kinds = [f"{row},{'kind' if i == 0 else 'ab'[len(row.split(',')[0]) % 2]}" for i, row in enumerate(rows)]
    (folder / "q.csv").write_text("\n".join(kinds) + "\n")
    (folder / "q.gz").write_bytes(gzip.compress((folder / "q").read_bytes()))
    (folder / "a.bz2").write_bytes(bz2.compress((folder / "a").read_bytes()))
    write["groups"]("".join(f"{q}\t{'even' if i % 2 else 'odd'}\n" for i, q in enumerate(queries)))
    lines = [{"_id": q, "text": f"what is {q} " * 200, "kind": "ab"[i % 2]} for i, q in enumerate(queries)]
    (folder / "q.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    (folder / "q.jsonl.gz").write_bytes(gzip.compress(_labelled(judged)))
    (folder / "corpus").write_text("".join(json.dumps({"_id": d, "text": f"{d} " * 30}) + "\n" for d in docs))
    write["prefs"]("".join(f"{q} j {d} {g}\n" for q, row in judged.items() for d, g in row.items()))
    (folder / "samples").write_text(
        "".join(
            json.dumps({"id": q, "question": q, "retrieved_context_ids": list(row), "reference_context_ids": ["x"]})
            + "\n"
            for q, row in judged.items()
        )
    )
    write["scores"]("a 0.5\nb 0.25\nc 0.75\n")
    (folder / "scores.json").write_text('{"a": 0.5, "b": 0.75, "c": 0.25}')
    write["zscores"]("".join(f"{q} map 0.1 0.05\n" for q in queries))
    (folder / "find.py").write_text("def find(question):\n    return ['document-00001', 'document-00002']\n")
    return folder


def _labelled(judged: dict[str, dict[str, int]]) -> bytes:
    rows = ({"_id": q, "text": f"what is {q}", "relevant": row} for q, row in judged.items())
    return "".join(json.dumps(each) + "\n" for each in rows).encode()


@contextmanager
def fifos(source: Path, target: Path, names: set[str]) -> Iterator[None]:
    """FIFOs in the target, each written once from the file of the same name, as `cat file > fifo` would."""
    feeders = []
    for name in names:
        if not (target / name).exists():
            os.mkfifo(target / name)
        feeders.append(threading.Thread(target=_feed, args=(source / name, target / name), daemon=True))
        feeders[-1].start()
    yield
    for name, feeder in zip(names, feeders, strict=True):
        feeder.join(5)
        assert not feeder.is_alive(), f"nobody read {name} to its end"


def _feed(source: Path, fifo: Path) -> None:
    with open(fifo, "wb") as stream:
        stream.write(source.read_bytes())


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "diagnose")) for name in COMMANDS]
)
def test_fifos_give_what_files_give(name: str, folder: Path, tmp_path: Path) -> None:
    words = shlex.split(COMMANDS[name])
    made = words[words.index("-o") + 1 :][:1] if "-o" in words else words[2:] if words[0] == "convert" else []
    inputs = {word.partition(":")[0] for word in words} & {each.name for each in folder.iterdir()} - set(made)
    (tmp_path / "find.py").write_bytes((folder / "find.py").read_bytes())
    expected = rankproof(folder, *words)
    assert expected.returncode in (0, 3, 4), expected.stderr
    with fifos(folder, tmp_path, inputs):
        found = rankproof(tmp_path, *words)
    assert _plain(found.stdout) == _plain(expected.stdout)
    assert _plain(found.stderr) == _plain(expected.stderr)
    assert found.returncode == expected.returncode
    for each in made:
        assert _plain((tmp_path / each).read_text()) == _plain((folder / each).read_text())


def _plain(text: str) -> str:
    """Without times and dates, and what names a file that can be asked again."""
    text = re.sub(r"\d{4}-\d\d-\d\d(T| )?[\d:.]*(\+00:00|Z| UTC)?", "DATE", text)
    text = re.sub(r"(?m)^[a-z]+: .* to go\n", "", text)  # progress, of what takes half a second
    text = re.sub(r"\d[\d.]* ?(ms|s)\b", "TIME", text)
    return re.sub(r"rankproof audit [^\n`]*|\.scores\[NAME\]\.audit", "AUDIT", text)


@pytest.mark.slow
def test_process_substitution_and_standard_input(folder: Path) -> None:
    """As a shell passes them: `<(...)`, `/dev/stdin`, `-`, several at once, packed and through a program."""
    program = shlex.join([sys.executable, "-m", "rankproof"])
    expected = _shell(f"{program} evaluate q a b -m AP -f csv", folder)
    for words in (
        "q <(cat a) <(cat b)",
        "<(cat q) <(gzip -c a) <(bzip2 -c b)",
        "/dev/stdin <(cat a) b < <(cat q)",
        "- a <(cat b) < q",
        "q /dev/stdin <(cat b) < a",
    ):
        found = _shell(f"{program} evaluate {words} --names a,b -m AP -f csv", folder)
        assert found == expected, words
    whole = _shell(f"{program} trec_eval q a", folder)
    assert _shell(f"{program} trec_eval <(cat q) <(cat a)", folder) == whole
    assert _shell(f"cat a | {program} trec_eval q /dev/stdin", folder) == whole
    assert _shell(f"cat a | {program} trec_eval <(cat q) -", folder) == whole


def _shell(command: str, folder: Path) -> str:
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=120)
    return done.stdout if done.returncode in (0, 3) else done.stderr


def test_a_fifo_may_be_filled_again_between_two_calls(folder: Path, tmp_path: Path) -> None:
    """What was kept belongs to one call; the next one asks the FIFO anew."""
    expected = evaluate(folder / "q", folder / "a", "AP")["AP"]
    for _ in range(2):
        with fifos(folder, tmp_path, {"q", "a"}):
            assert evaluate(tmp_path / "q", tmp_path / "a", "AP")["AP"] == expected


def test_scripts_may_fill_fifos_one_after_the_other(folder: Path, tmp_path: Path) -> None:
    """`cat q > q.fifo; cat a > a.fifo; cat b > b.fifo` writes each only once the one before was read."""
    for name in "qab":
        os.mkfifo(tmp_path / name)
    writer = subprocess.Popen(
        ["bash", "-c", f"for n in q a b; do cat {shlex.quote(str(folder))}/$n > $n; done"], cwd=tmp_path
    )
    found = rankproof(tmp_path, "compare", "q", "a", "b", "-m", "AP")
    assert writer.wait(10) == 0
    assert found.stdout == rankproof(folder, "compare", "q", "a", "b", "-m", "AP").stdout


def test_a_pipe_is_opened_once_however_it_is_read(folder: Path, tmp_path: Path) -> None:
    content = (folder / "a").read_bytes()
    ways: list[Callable[[Path], bytes]] = [lambda path: read_head(path)[:10], read_bytes]
    with fifos(folder, tmp_path, {"a"}), pipes_kept():
        assert [read(tmp_path / "a") for read in (*ways, *ways)] == [content[:10], content] * 2


@pytest.mark.slow
@pytest.mark.parametrize("face", ["compare", "evaluate", "trec_eval", "report", "python", "stdin"])
def test_one_program_may_fill_several_pipes_at_once(face: str, tmp_path: Path) -> None:
    """`tee` writes a piece to each in turn, and waits where one is full: all are to be read side by side."""
    wide = tmp_path / "wide"  # more than any pipe holds
    wide.write_text("".join(f"q{i} Q0 d{j} {j} {99 - j} x\n" for i in range(2000) for j in range(20)))
    grades = tmp_path / "grades"
    grades.write_text("".join(f"q{i} 0 d{i % 30} 1\n" for i in range(2000)))
    rankproof_command = shlex.join([sys.executable, "-m", "rankproof"])
    os.mkfifo(tmp_path / "one")
    os.mkfifo(tmp_path / "two")
    commands = {
        "compare": f"tee one < wide > two & {rankproof_command} compare grades one two -m AP -f csv",
        "evaluate": f"tee two < wide > one & {rankproof_command} evaluate grades one two --names a,b -m AP -f csv",
        "trec_eval": f"tee one < wide > two & {rankproof_command} trec_eval one two -m map; true",
        "report": f"tee two < wide > one & {rankproof_command} report grades one two -m AP -o page.html",
        "python": "tee one < wide > two & "
        + shlex.join(
            [
                sys.executable,
                "-c",
                "import rankproof as r; print(r.compare('grades', {'a': 'one', 'b': 'two'}, 'AP'))",
            ]
        ),
        "stdin": f"tee one < wide | {rankproof_command} compare grades one - -m AP -f csv",
    }
    command = commands[face]
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert not {"Traceback", "Fatal"} & set(done.stderr.split()), done.stderr
    assert done.returncode in (0, 3), done.stderr


def test_a_writer_that_never_ends_does_not_keep_a_failed_command(folder: Path, tmp_path: Path) -> None:
    """What goes wrong before a pipe is read out ends the command at once, whoever still writes."""
    program = shlex.join([sys.executable, "-m", "rankproof"])
    command = f"{program} evaluate nowhere <(cat a; sleep 30) <(cat b; sleep 30) -m AP"
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=20
    )
    assert done.returncode == 2
