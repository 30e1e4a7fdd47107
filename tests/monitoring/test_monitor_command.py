"""`rankproof monitor` as a user runs it: files, pipes, exit codes, 80 columns."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from rankproof import simulate_log
from rankproof.document.page import term_of
from rankproof.document.terminal import width
from rankproof.monitoring.alerts import OUTAGES
from rankproof.monitoring.online_metrics import CUTOFFS, PERCENTILES, metrics
from tests.shell import rankproof

pytestmark = pytest.mark.cover


def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    with patch.dict(os.environ, environment):
        return rankproof(Path.cwd(), "monitor", *map(str, arguments))


def piped(log: Path, *arguments: str) -> str:
    words = [sys.executable, "-m", "rankproof", "monitor", "-", *arguments]
    return subprocess.run(words, input=log.read_text(), capture_output=True, text=True, check=False).stdout


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "search.jsonl"
    simulate_log(500, seed=1, days=7, variants=("A", "B"), corrupt=0.02, noisy=0.3, outage=(4, 8, 10)).save(path)
    return path


@pytest.mark.slow
def test_a_log_is_shown_in_80_columns(log, tmp_path) -> None:
    done = run(log, "--timezone", "Europe/Berlin", "--full")
    assert done.returncode == 0
    assert max(map(width, done.stdout.splitlines())) <= 80
    for word in ("ctr", "thumbs_up", "crawler", "rejected", "Europe/Berlin", "variant", "by day"):
        assert word in done.stdout
    assert done.stderr == ""
    short = run(log)
    assert len(short.stdout.splitlines()) < len(done.stdout.splitlines())


def test_exit_codes(log, tmp_path) -> None:
    rules = tmp_path / "alerts.toml"
    rules.write_text('[[alert]]\nmetric = "no_result"\nabove = 0.2\nover = "any"\n')
    alert = run(log, "--alerts", rules)
    assert alert.returncode == 1
    assert "alert: no_result" in alert.stderr
    assert run(log, "--window", "fortnight").returncode == 2
    assert run(log, "--columns", "query").returncode == 2
    assert run(tmp_path / "none.jsonl").returncode == 2
    (tmp_path / "bad.jsonl").write_text("nothing\nhere\n")
    bad = run(tmp_path / "bad.jsonl", "--rejected", tmp_path / "lines.jsonl")
    assert bad.returncode == 3
    assert "Next:" in bad.stderr
    assert [json.loads(line)["line"] for line in (tmp_path / "lines.jsonl").read_text().splitlines()] == [
        "nothing",
        "here",
    ]


@pytest.mark.slow
def test_a_pipe_is_a_stream_of_windows(log) -> None:
    rows = [json.loads(line) for line in piped(log, "-f", "jsonl").splitlines()]
    windows = [row for row in rows if row["start"] is not None]
    closed = [json.loads(line) for line in piped(log, "-f", "jsonl", "--lateness", "3600").splitlines()]
    assert {json.dumps(row) for row in closed} == {json.dumps(row) for row in windows}
    starts = [row["start"] for row in closed]
    assert starts == sorted(starts)


@pytest.mark.slow
def test_files_by_ending_and_rejected_lines(log, tmp_path) -> None:
    for name in ("out.json", "out.csv", "out.html", "out.md", "out.prom"):
        done = run(log, "-o", tmp_path / name, "--rejected", tmp_path / f"{name}.rejected")
        assert done.returncode == 0, done.stderr
        assert (tmp_path / name).stat().st_size > 500
    told = json.loads((tmp_path / "out.json").read_text())
    lines = (tmp_path / "out.json.rejected").read_text().splitlines()
    assert len(lines) == sum(told["lines"]["rejected"].values()) > 0
    page = (tmp_path / "out.html").read_text()
    assert page.count("<svg") >= 10
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_prometheus_text_is_what_prometheus_reads(log) -> None:
    import re

    text = run(log, "-f", "prometheus").stdout
    sample = re.compile(r'[a-z_]+(\{[a-z]+="(\\.|[^"\\])*"(,[a-z]+="(\\.|[^"\\])*")*\})? -?[\d.e+-]+')
    named = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")}
    for line in text.splitlines():
        assert line.startswith("#") or sample.fullmatch(line), line
        assert line.startswith("#") or line.partition("{")[0].partition(" ")[0] in named
    assert 'rankproof_monitor_value{scope="window",metric="ctr"}' in text


def test_prometheus_takes_any_value_of_a_slice(tmp_path) -> None:
    odd = [
        'a"b',
        "back\\slash",
        "line\nbreak",
        '{x="y",}',
        "e🙂",
        "nul\0",
        "cr\r",
        "\u2028",
        "lone\ud800",
        "\\n",
        "\\",
    ]
    rows = [{"ts": 1.7e9 + at, "user": str(at), "clicks": [], "v": odd[at % len(odd)]} for at in range(200)]
    (tmp_path / "odd.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert run(tmp_path / "odd.jsonl", "--by", "v", "-o", tmp_path / "odd.prom").returncode == 0
    told = (tmp_path / "odd.prom").read_bytes().decode("utf-8")
    assert "\0" not in told
    groups, escapes = set(), {r"\n": "\n", r"\"": '"', r"\\": "\\"}
    for line in told.split("\n"):  # as the parsers of Prometheus go through it: no other escape is known
        for value in re.findall(r'group="((?:\\.|[^"\\])*)"', line):
            groups.add(re.sub(r"\\.", lambda found: escapes[found[0]], value))
    assert groups == {each.replace("\0", r"\x00").replace("\ud800", r"\ud800") for each in odd}


def test_what_would_do_nothing_is_refused(log, tmp_path) -> None:
    for option in (
        ["--state", tmp_path / "s.json"],
        ["--webhook", "http://localhost/x"],
        *(["--base-url", "http://x"], ["--judge-sample", "5"], ["--ledger", tmp_path / "v.db"], ["--seed", "0"]),
    ):
        refused = run(log, *option)
        assert refused.returncode == 2
        assert "Next:" in refused.stderr
    assert not (tmp_path / "s.json").exists()


def test_redaction_and_hashes(log) -> None:
    assert run(log, "--hash", RANKPROOF_HASH_KEY="").returncode == 2
    hashed = run(log, "--hash", "--redact", "masks", "--full", RANKPROOF_HASH_KEY="x" * 20)
    assert hashed.returncode == 0
    assert "crawler" not in hashed.stdout
    assert run(log, "--redact", "nowhere:hook").returncode == 2


def test_explain_knows_every_metric_and_the_words_of_drift() -> None:
    words = [*(each.name for each in (*metrics(CUTOFFS), *PERCENTILES)), *OUTAGES[1:]]
    words += ["maximum mean discrepancy", "wording", "length", "language", "vocabulary"]
    words += [
        "kinds",
        "twins",
        "stale judgments",
        "to label next",
        "on what people ask",
        "found from",
        "effect",
    ]
    assert [each for each in [*words, "without a shift"] if not term_of(each)] == []
