"""No command writes over what is there, and a file that cannot be written whole leaves the old one as it was."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from rankproof import Benchmark, History, Judge, Verdicts, evaluate, grid, report, sample
from rankproof.cli import rankproof as program
from rankproof.cli.output import Target
from rankproof.document.disk import whole_file, write_file
from rankproof.errors import UsageError
from rankproof.io.write import convert
from tests.shell import rankproof

JUDGED = "q1 0 d1 1\nq2 0 d1 1\n"
FILES = {
    "bench.toml": 'benchmark = "sample"\n[retrievers]\nwords = "keyword"\n',
    "samples.jsonl": '{"id": "1", "query": "When does the harbour market in Lisbon open?", "contexts": '
    '[{"id": "c1", "text": "The harbour market in Lisbon opens at nine."}, {"id": "c2", "text": "Stars shine."}], '
    '"reference": "The harbour market in Lisbon opens at nine.", "answer": "At nine."}\n',
    "judged.tsv": JUDGED,
    "other.run": "q1 Q0 d1 1 0.5 other\nq2 Q0 d1 1 0.5 other\n",
    "my.run": "q1 Q0 d1 1 0.5 mine\nq2 Q0 d2 1 0.5 mine\n",
    "queries.tsv": "q1\twhen\nq2\twhere\n",
    "docs.tsv": "d1\tthe third blue elephant sat in Paris\nd2\ta small green kettle boils in Rome\n",
    "find.py": "def find(text):\n    return ['d1', 'd2']\n",
    "spans.tsv": "q1\td1\t0\t9\t1\n",
    "found.json": '{"q1": ["d1#0-20"]}',
    "labels.jsonl": '{"query": "q1", "document": "d2", "who": "ana", "what": "graded", "grade": 1, "when": ""}\n',
}
EVALUATED = ("judged.tsv", "my.run", "-m", "RR@10")
COMPARED = ("judged.tsv", "my.run", "other.run", "-m", "RR@10")
FILES["log.jsonl"] = (
    "".join(
        f'{{"ts": "2025-03-03T10:{n:02}:00Z", "session": "s{n}", "query": "refund of order {n}", '
        f'"results": [{{"id": "d{n}", "score": 1}}], "clicks": [1]}}\n'
        for n in range(40)
    )
    + "no line of a log\n"
)
FILES["lists.jsonl"] = "".join(
    f'{{"ts": 17400{n:05}, "user": "u{n}", "query": "order", "variant": "{"AB"[n % 2]}", "teams": ["new", "old"], '
    f'"results": ["d{n % 2}", "d{1 - n % 2}"], "clicks": [{n % 2 + 1}]}}\n'
    for n in range(40)
)
FILES["set.tsv"] = "".join(f"s{n}\twhere is parcel {n}\n" for n in range(8))
FILES["set.qrels"] = "".join(f"s{n} 0 d1 1\n" for n in range(8))
DRIFTED = ("drift", "set.tsv", "log.jsonl")
RUN = ("run", "--retriever", "find.py:find", "--queries", "queries.tsv")
WRITERS = {
    "evaluate": ("evaluate", *EVALUATED, "-o", "out.csv"),
    "compare": ("compare", *COMPARED, "-o", "out.md"),
    "gate": ("gate", *COMPARED, "-o", "out.xml"),
    "leaderboard": ("leaderboard", *COMPARED, "-o", "out.json"),
    "rank-correlation": (
        *("rank-correlation", "judged.tsv", "my.run", "other.run", "third.run"),
        *("--judgments", "judged.tsv", "-m", "RR@10", "-o", "out.json"),
    ),
    "report": ("report", *COMPARED, "-o", "out.md"),
    "audit": ("audit", "judged.tsv", "my.run", "-o", "out.txt"),
    "diagnose": ("diagnose", "judged.tsv", "my.run", "-o", "out.md"),
    "explain": ("explain", "judged.tsv", "my.run", "q1", "-m", "RR@10", "-o", "out.txt"),
    "spans": ("spans", "spans.tsv", "found.json", "--corpus", "docs.tsv", "-o", "out.csv"),
    "bench": ("bench", "bench.toml", "--no-cache", "-o", "out.md"),
    "judge": ("judge", "samples.jsonl", "-m", "context_precision", "-o", "out.txt"),
    "judge --qrels": (
        *("judge", "samples.jsonl", "-m", "context_precision", "--ledger", "kept.db"),
        *("--qrels", "out.qrels"),
    ),
    "verdicts": ("verdicts", "--ledger", "kept.db", "-f", "json", "-o", "out.json"),
    "verdicts --export": ("verdicts", "--ledger", "kept.db", "--export", "out.jsonl"),
    "calibrate": ("calibrate", "kept.db", "--report", "-o", "out.txt"),
    "run": (*RUN, "-o", "out.run"),
    "run --details": (*RUN, "--details", "out.jsonl"),
    "fuse": ("fuse", "my.run", "other.run", "-o", "out.run"),
    "fuse --tune": (
        *("fuse", "my.run", "other.run", "--tune", "many.tsv", "-m", "RR@10"),
        *("--method", "combsum", "-o", "out.run"),
    ),
    "pool": ("pool", "my.run", "other.run", "-o", "out.jsonl"),
    "sql": ("sql", "--dialect", "duckdb", "-o", "out.sql"),
    "label --qrels": ("label", "pool.jsonl", "--labels", "labels.jsonl", "--qrels", "out.qrels"),
    "questions draw": ("questions", "draw", "docs.tsv", "--sources", "sentence", "-o", "out.jsonl"),
    "questions draw --qrels": (*("questions", "draw", "docs.tsv", "--sources", "sentence", "--qrels", "out.qrels"),),
    "convert": ("convert", "my.run", "out.csv"),
    "convert -o": ("convert", "my.run", "-o", "out.csv"),
    "show": ("show", "monday", "-o", "out.txt"),
    "history export": ("history", "export", "monday", "-o", "out.json"),
    "demo": ("demo", "-o", "out.html"),
    "monitor": ("monitor", "log.jsonl", "-o", "out.json"),
    "monitor --rejected": ("monitor", "log.jsonl", "--rejected", "out.jsonl"),
    **{
        f"experiment {name}": ("experiment", name, "lists.jsonl", "-o", "out.json")
        for name in ("variants", "interleaving", "clicks")
    },
    "drift": (*DRIFTED, "-o", "out.md"),
    "drift --next-queries": (*DRIFTED, "--next-queries", "out.jsonl"),
    "drift --next-run": (*DRIFTED, "--next-run", "out.run"),
    "drift --keep-hashes": (
        *DRIFTED,
        *("--judgments", "set.qrels", "--corpus", "docs.tsv", "--keep-hashes", "out.json"),
    ),
}
"""Every command that writes a file: the name of the file is the last word."""
SLOW = ("demo", "bench")
NO_OUTPUT = {"label --labels": "is added to", "run --cache": "holds answers", "history": "holds results"}


def folder_with(path: Path) -> Path:
    path.mkdir()
    for name, text in FILES.items():
        (path / name).write_text(text)
    (path / "third.run").write_text(FILES["my.run"].replace("mine", "third"))
    (path / "many.tsv").write_text("".join(f"q{n} 0 d1 1\n" for n in range(1, 21)))
    for name in ("my.run", "other.run"):
        rows = "".join(f"q{n} Q0 d{1 + n % 2} 1 0.5 {name}\n" for n in range(3, 21))
        (path / name).write_text(FILES[name] + rows)
    for words in (
        ("pool", "my.run", "other.run", "-o", "pool.jsonl"),
        ("evaluate", *EVALUATED, "--save", "monday"),
        ("judge", "samples.jsonl", "-m", "context_precision", "--ledger", "kept.db"),
    ):
        done = rankproof(path, *words)
        assert done.returncode == 0, done.stderr
    verdicts = Verdicts(path / "kept.db")
    for each in list(verdicts):
        verdicts.override(each.id, 1, by="ana")
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_with(tmp_path_factory.mktemp("made") / "files")


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "files"))


def slowly(names: Any) -> list[Any]:
    return [pytest.param(each, marks=pytest.mark.slow) if each in SLOW else each for each in names]


@pytest.mark.first_is_quick(2)
@pytest.mark.parametrize("name", slowly(WRITERS))
def test_what_is_there_stays_unless_it_may_be_replaced(name: str, folder: Path) -> None:
    words = WRITERS[name]
    out, precious = folder / words[-1], (JUDGED * 3).encode()
    out.write_bytes(precious)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = rankproof(folder, *words)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert f"{words[-1]}: this file exists" in done.stderr
    assert "--force" in done.stderr
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    forced = rankproof(folder, *words, "--force")
    assert forced.returncode in (0, 1, 4), forced.stderr
    assert out.read_bytes() != precious
    assert words[-1] in forced.stderr + (forced.stdout if name == "demo" else "")


def options_of(command: click.Command, path: str = "") -> Iterator[tuple[str, click.Parameter]]:
    for each in command.params:
        yield path, each
    for name, inner in getattr(command, "commands", {}).items():
        yield from options_of(inner, f"{path} {name}".strip())


def test_every_option_that_names_an_output_is_in_the_table() -> None:
    context = click.Context(program)
    commands = {name: program.get_command(context, name) for name in program.list_commands(context)}
    found = {
        (path.split() or [""])[0] + f" {each.opts[0]}"
        for name, command in commands.items()
        if command is not None
        for path, each in options_of(command, name)
        if isinstance(each.type, Target) or "--output" in each.opts
    }
    used = {f"{words[0]} {each}" for words in WRITERS.values() for each in words if each[0] == "-"}
    assert {each for each in found if each.split()[1].startswith("-")} <= used
    for name, command in commands.items():
        for path, each in options_of(command, name) if command is not None else ():
            assert "--output" not in each.opts or isinstance(each.type, Target), path


def test_judgments_are_read_by_every_command(folder: Path) -> None:
    asked = rankproof(folder, "label", "pool.jsonl", "--who", "ben", "--judgments", "judged.tsv")
    assert (folder / "judged.tsv").read_text() == JUDGED
    whole = rankproof(folder, "label", "pool.jsonl", "--who", "ben")
    assert int(asked.stdout.split(" of ")[-1].split()[0]) < int(whole.stdout.split(" of ")[-1].split()[0])
    done = rankproof(folder, "label", "pool.jsonl", "--judgments", "new.tsv")
    assert done.returncode == 2
    assert "--qrels new.tsv" in done.stderr
    assert not (folder / "new.tsv").exists()


def test_labels_are_added_to_judgments_where_that_is_asked_for(folder: Path) -> None:
    words = ("label", "pool.jsonl", "--labels", "labels.jsonl", "--qrels", "judged.tsv")
    refused = rankproof(folder, *words)
    assert refused.returncode == 2
    assert "--add-to judged.tsv" in refused.stderr
    (folder / "judged.trec").write_text(JUDGED)
    done = rankproof(folder, *words[:-1], "judged.trec", "--add-to", "judged.trec")
    assert done.returncode == 0, done.stderr
    assert (folder / "judged.trec").read_text() == "q1 0 d1 1\nq1 0 d2 1\nq2 0 d1 1\n"
    assert "Wrote 3 judgments, 1 of them by labels, to judged.trec." in done.stderr
    (folder / "aspects.trec").write_text("q1 1 d1 1\nq1 2 d2 1\n")
    refused = rankproof(folder, *words[:-1], "more.trec", "--add-to", "aspects.trec")
    assert (refused.returncode, (folder / "more.trec").exists()) == (2, False)
    assert "aspects.trec: its judgments name aspects" in refused.stderr


def test_a_page_of_ours_and_an_empty_file_give_way(folder: Path) -> None:
    words = ("report", *COMPARED, "-o", "page.html")
    (folder / "page.html").touch()
    assert [rankproof(folder, *words).returncode for _ in range(2)] == [0, 0]
    (folder / "page.html").write_text("<html><body>mine</body></html>")
    assert rankproof(folder, *words).returncode == 2


def test_a_run_goes_on_with_the_output_that_it_began(folder: Path) -> None:
    (folder / "find.py").write_text(
        "import os\ndef find(text):\n    if text == 'where' and not os.path.exists('up'): raise OSError('down')\n"
        "    return ['d1']\n"
    )
    first = rankproof(folder, *RUN, "-o", "my-own.run", "--details", "rows.jsonl")
    assert "the same command asks only" in first.stderr
    (folder / "up").touch()
    again = rankproof(folder, *RUN, "-o", "my-own.run", "--details", "rows.jsonl")
    assert again.returncode == 0, again.stderr
    assert (folder / "my-own.run").read_text().count("\n") == 2
    assert rankproof(folder, *RUN, "-o", "my-own.run").returncode == 2


def test_one_file_is_not_two_outputs(folder: Path) -> None:
    done = rankproof(folder, *WRITERS["judge"][:-1], "out.txt", "--qrels", f"{folder}/../files/out.txt", "--force")
    assert done.returncode == 2
    assert "two outputs" in done.stderr


@pytest.mark.slow
def test_functions_refuse_as_commands_do(folder: Path) -> None:
    scores = evaluate(folder / "judged.tsv", folder / "my.run", "RR@10")
    History(folder / "rankproof.db").save(scores, "tuesday")
    judged = Judge("lexical", ledger=folder / "kept.db")(folder / "samples.jsonl", "context_precision")
    writers: dict[str, Callable[..., Any]] = {
        "a.md": report(JUDGED_DICT, {"a": {"q": ["d"]}}).save,
        "b.md": grid({"benchmark": "sample", "retrievers": {"words": "keyword"}}).save,
        "c.jsonl": Benchmark({"q": "what"}, JUDGED_DICT).save,
        "d.json": History(folder / "rankproof.db").export_to,
        "e.jsonl": Verdicts(folder / "kept.db").export_to,
        "f.qrels": judged.write_qrels,
        "g.csv": lambda path, **options: convert(folder / "my.run", path, **options),
    }
    for name, write in writers.items():
        (folder / name).write_text("mine")
        with pytest.raises(UsageError, match="force=True"):
            write(folder / name)
        assert (folder / name).read_text() == "mine"
        write(folder / name, force=True)
        assert (folder / name).read_text() != "mine"
    bench = sample.queries()
    Benchmark(bench, sample.judgments()).save(folder / "beir")
    before = {path: path.read_bytes() for path in (folder / "beir").rglob("*") if path.is_file()}
    with pytest.raises(UsageError, match="force=True"):
        Benchmark({"q": "what"}, JUDGED_DICT).save(folder / "beir")
    assert {path: path.read_bytes() for path in before} == before


JUDGED_DICT = {"q": {"d": 1}}

# --- whole or not at all -------------------------------------------------------------------------

LIMITED = """
import resource, sys
from rankproof.cli import run
sys.stderr.reconfigure(errors="backslashreplace")
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="limits of processes are POSIX")
@pytest.mark.parametrize("name", ["evaluate", "report", "run", "fuse", "convert", "pool"])
def test_on_a_full_disk_the_old_file_stays(name: str, folder: Path) -> None:
    words, out = [*WRITERS[name], "--force"], folder / WRITERS[name][-1]
    out.write_text(JUDGED)
    before = {path.name for path in folder.iterdir()}
    limit = 20_000 if name == "run" else 60  # the answers of a run are kept in a file of their own
    if name == "run":
        many = "".join(f"q{n}\twhat {n}\n" for n in range(3000))
        (folder / "queries.tsv").write_text(many)
    code = LIMITED.format(limit=limit)
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in (1, 2), done.stderr
    assert "cannot be" in done.stderr
    assert "Traceback" not in done.stderr
    assert out.read_text() == JUDGED
    made_besides = (".answers", "__pycache__")  # what a run remembers, and Python of the retriever's code
    left = {path.name for path in folder.iterdir() if not any(each in path.name for each in made_besides)}
    assert left == before


def test_a_writer_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("old")

    def interrupted() -> None:
        with whole_file(out, force=True) as stream:
            stream.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert out.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.skipif(os.name != "posix", reason="rights and links are POSIX")
def test_rights_links_and_special_files_are_kept(tmp_path: Path) -> None:
    out, link = tmp_path / "out", tmp_path / "link"
    out.write_text("old")
    out.chmod(0o640)
    link.symlink_to("out")
    write_file(link, "new", force=True)
    assert (link.is_symlink(), out.read_text(), stat.S_IMODE(out.stat().st_mode)) == (True, "new", 0o640)
    (tmp_path / "dangling").symlink_to("later")
    write_file(tmp_path / "dangling", "there")
    assert (tmp_path / "later").read_text() == "there"
    fresh = write_file(tmp_path / "fresh", "x")
    (tmp_path / "plain").write_text("x")
    assert fresh.stat().st_mode == (tmp_path / "plain").stat().st_mode
    os.mkfifo(tmp_path / "pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    reader.start()
    write_file(tmp_path / "pipe", "through")
    reader.join()
    assert read == ["through"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full here")
def test_a_device_that_is_full_is_an_error(folder: Path) -> None:
    done = rankproof(folder, *WRITERS["evaluate"][:-1], "/dev/full")
    assert done.returncode == 2
    assert "/dev/full: cannot be written: No space left on device" in done.stderr


@pytest.mark.first_is_quick(2)
@pytest.mark.parametrize("name", slowly(WRITERS))
def test_no_force_replaces_what_the_command_reads(name: str, folder: Path) -> None:
    *words, _ = WRITERS[name]
    read = [word for word in words if word in {path.name for path in folder.iterdir()}]
    before = {path: path.read_bytes() for path in folder.iterdir()}
    for word in read:
        for spelt in (word, f"./{word}"):
            done = rankproof(folder, *words, spelt, "--force")
            assert done.returncode == 2, done.stderr
            assert f"{spelt}: this command reads it too" in done.stderr
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    assert read or name in ("sql", "show", "history export", "demo")


def test_no_force_replaces_a_file_of_a_pattern_or_a_link_to_one(folder: Path) -> None:
    (folder / "link.run").symlink_to("my.run")
    for words in (
        ("*.run", "-o", "other.run"),
        ("my.run", "other.run", "-olink.run"),
        ("my.run", "other.run", "--output=my.run"),
    ):
        done = rankproof(folder, "fuse", *words, "--force")
        assert "this command reads it too" in done.stderr
