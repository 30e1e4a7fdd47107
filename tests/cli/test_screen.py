"""One screen of 80 x 24 holds the verdict, the numbers and the most serious warning; --full and files hold all."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Collection
from fcntl import ioctl
from functools import cache
from html import unescape
from itertools import product
from pathlib import Path
from struct import pack
from termios import TIOCSWINSZ
from typing import Any

import pytest

from rankproof import (
    agreement,
    compare,
    diagnose,
    drift,
    evaluate,
    gate,
    judge,
    kinship,
    leaderboard,
    monitor,
    rank_correlation,
    report,
    sample,
    simulate_log,
    tune,
)
from rankproof.bench.fusion.scores import NORMALISATIONS
from rankproof.core.names import REGISTRY
from rankproof.core.profiles import PROFILES
from rankproof.document.formats.table import full_text, screen
from rankproof.document.model import Result, Table
from rankproof.document.page import read_terms, term_of
from rankproof.document.terminal import width
from rankproof.judging.metrics.registry import METRICS
from rankproof.scoring import catalogue
from rankproof.stats.corrections import CORRECTIONS
from tests.shell import rankproof

pytestmark = pytest.mark.cover

ROWS, COLUMNS = 23, 80
RUNS = ("keyword.run", "dense.run", "fused.run")
GRID = 'benchmark = "sample"\n[retrievers]\nwords = "keyword"\ndense = "lsa"\n'
SAMPLES = (
    '{"question": "Is it open?", "contexts": ["It is open on Monday.", "Fees."], "reference": "It is open.", '
    '"answer": "It is open. It is blue."}\n'
)
COMMANDS = {
    "evaluate": ("evaluate", "judgments.tsv", "keyword.run"),
    "evaluate three": ("evaluate", "judgments.tsv", *RUNS),
    "evaluate one measure": ("evaluate", "judgments.tsv", *RUNS, "-m", "nDCG@10"),
    "compare two": ("compare", "judgments.tsv", *RUNS[:2]),
    "compare three": ("compare", "judgments.tsv", *RUNS),
    "compare all pairs": ("compare", "judgments.tsv", *RUNS, "--all-pairs"),
    "compare with margin": ("compare", "judgments.tsv", *RUNS, "-m", "nDCG@10,RR", "--margin", "0.02"),
    "gate": ("gate", "judgments.tsv", *RUNS[:2]),
    "leaderboard": ("leaderboard", "judgments.tsv", *RUNS),
    "rank-correlation": ("rank-correlation", "one.json", "two.json"),
    "audit": ("audit", "judgments.tsv", "keyword.run"),
    "diagnose": ("diagnose", "judgments.tsv", "keyword.run"),
    "diagnose all": (
        *("diagnose", "judgments.tsv", "keyword.run"),
        *("--queries", "queries.jsonl", "--corpus", "documents.jsonl"),
    ),
    "bench": ("bench", "grid.toml", "--no-cache"),
    "judge": ("judge", "samples.jsonl"),
    "history": ("history",),
    "show": ("show", "one"),
    "compare saved": ("compare", "one", "two"),
    "measures": ("measures",),
    "profiles": ("profiles",),
    "measures nDCG": ("measures", "nDCG"),
    "variants": ("experiment", "variants", "log.jsonl", "--control", "A"),
    "clicks": ("experiment", "clicks", "log.jsonl"),
    "questions check": ("questions", "check", "queries.jsonl", "judgments.tsv"),
}
FULLER = {
    "evaluate",
    "evaluate three",
    "compare three",
    "compare all pairs",
    "audit",
    "diagnose all",
    "bench",
    "judge",
    "measures",
    "measures nDCG",
    "variants",
    "clicks",
}
"""Commands that have more to say than one screen holds."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("screen")
    for path in Path(str(sample.folder())).iterdir():
        if path.is_file():
            (made / path.name).write_bytes(path.read_bytes())
    (made / "grid.toml").write_text(GRID)
    simulate_log(1_500, seed=1, variants=("A", "B", "C")).save(made / "log.jsonl")
    (made / "samples.jsonl").write_text(SAMPLES)
    (made / "one.json").write_text('{"a": 1, "b": 2, "c": 3}')
    (made / "two.json").write_text('{"a": 1, "b": 3, "c": 2}')
    for name, run in zip(("one", "two"), RUNS, strict=False):
        assert rankproof(made, "evaluate", "judgments.tsv", run, "--save", name).returncode == 0
    return made


@cache
def printed(folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    return rankproof(folder, *COMMANDS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_command_prints_is_seen_without_scrolling(folder: Path, name: str) -> None:
    done = printed(folder, name)
    lines = done.stdout.splitlines()
    assert done.returncode in (0, 1, 4), done.stderr
    assert 0 < len(lines) <= ROWS, done.stdout
    assert max(map(width, lines)) <= COLUMNS


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FULLER))
def test_what_a_screen_leaves_out_is_named_and_printed_in_full(folder: Path, name: str) -> None:
    short, full = printed(folder, name).stdout, rankproof(folder, *COMMANDS[name], "--full").stdout
    assert "--full" in short
    assert "--full" not in full
    assert len(full.splitlines()) > len(short.splitlines())


def test_a_file_has_everything_and_is_as_wide_as_any(folder: Path) -> None:
    full = rankproof(folder, *COMMANDS["evaluate"], "--full").stdout
    rankproof(folder, *COMMANDS["evaluate"], "-o", "out.txt")
    assert (folder / "out.txt").read_text() == full


@pytest.mark.slow
def test_numbers_verdict_and_the_first_warning_are_always_there(folder: Path) -> None:
    for name in ("evaluate", "compare two", "compare three"):
        text = rankproof(folder, *COMMANDS[name]).stdout
        assert all(each in text for each in ("nDCG@10", "RR@10", "AP", "P@5", "R@5", "R@100", "Success@5")), name
        assert "4 of 60 judged queries without a ranking" in text


def test_every_measure_profile_and_word_is_described_on_one_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINES", str(ROWS + 1))
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    measures = {**REGISTRY, **{name: each.measure for name, each in METRICS.items()}}
    described = {name: catalogue.measure_page(each) for name, each in measures.items()}
    for each in PROFILES.values():
        described[each.name] = catalogue.reference("", catalogue.profile(each), [catalogue.profile_record(each)])
    described |= {name: catalogue.term(name) for name in read_terms()[0]}
    for name, document in described.items():
        lines = screen(document).splitlines()
        assert len(lines) <= ROWS, name
        assert max(map(width, lines)) <= COLUMNS
        whole = full_text(document).split()
        left = [word for word in " ".join(lines).partition("More with")[0].split() if word not in whole]
        assert not left, name


WORDS = (
    "(utc) about adds after against at before by change clicked cost day document estimate file first "
    "found from group it its kind live look machine measure metric name not of others people queries "
    "query quote rank saved score second set share shown size system test users value what with "
    "mon tue wed thu fri sat sun"
)
PLAIN = frozenset(WORDS.split())
"""Words of headings that mean what they say."""


def unexplained(page: str, names: Collection[str] = ()) -> set[str]:
    """The headings of a page's columns that are neither explained nor plain words, numbers, measures or these names."""
    found = set()
    known = {*REGISTRY, *METRICS, *names}
    for head in re.findall("<thead>(.*?)</thead>", page, re.DOTALL):
        for settings, inner in re.findall("<t[hd]([^>]*)>(.*?)</t[hd]>", head, re.DOTALL):
            text = unescape(re.sub("<[^>]*>", "", inner))
            number = re.fullmatch(r"\.?\d+([.-]\d+|\+)?", text)
            named = known & {text, text.partition("@")[0], text.partition("(")[0].strip()}
            plain = text and set(text.lower().split()) <= PLAIN
            if not (" title=" in settings or number or named or plain):
                found.add(text)
    return found


@pytest.mark.slow
def test_the_words_of_the_outputs_can_be_explained() -> None:
    judged, ranked = sample.judgments(), sample.rankings()
    log = list(simulate_log(800, seed=1, variants=("A", "B")).records())
    found: list[Result] = [
        *(
            evaluate(judged, ranked["keyword"]),
            compare(judged, ranked),
            gate(judged, *list(ranked.values())[:2]),
        ),
        *(leaderboard(judged, ranked), tune(judged, ranked), agreement(*list(ranked.values())[:2])),
        *(
            rank_correlation({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 3, "c": 2}),
            kinship(judged, judged, ranked),
        ),
        *(monitor(log), drift(sample.queries(), log), judge([json.loads(SAMPLES)])),
        diagnose(judged, ranked["keyword"], queries=sample.queries(), corpus=sample.corpus()),
    ]
    pages = [each.html() for each in (*found, report(judged, ranked, by=sample.kinds()))]
    assert set().union(*(unexplained(page, {*ranked, "A", "B"}) for page in pages)) == set()
    tables = [b for each in found for p in each._document().parts_for() for b in p.blocks if isinstance(b, Table)]
    headings = {" ".join(column.heading.split()) for table in tables for column in table.columns}
    names = {*REGISTRY, *(name for each in ranked for name in (each, f"{each}*"))}
    words = {each for each in headings if each.partition("@")[0] not in names and not each.endswith(")")}
    words = {each for each in words if not re.fullmatch("[A-Z][a-z]{2}|by day", each)}  # days of the week
    told = {"estimate, with its 95 % interval", "p (Holm)", *CORRECTIONS, *NORMALISATIONS}
    methods = "BCa, Bayesian bootstrap, Student's t, Gaffke's bounds, Rogan-Gladen, Krippendorff's alpha, Fleiss' kappa"
    named = "randomised Tukey, sign flips, propensity, specificity, RRF, Condorcet, MMD, CUSUM, anytime-valid"
    plain = {"none", "sum", "max", "rank"}
    for word in {*words, *told, *methods.split(", "), *named.split(", ")} - plain:
        known = term_of(word) or all(term_of(part) for part in word.split(", with its "))
        assert known or set(word.split()) <= set(PLAIN), word


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_every_column_of_a_page_is_explained_or_a_plain_word(folder: Path, name: str) -> None:
    done = rankproof(folder, *COMMANDS[name], "-f", "html")
    files = {"one.json", "two.json", *RUNS, *(each.partition(".")[0] for each in RUNS)}
    assert unexplained(done.stdout, files) == set(), done.stderr


def test_every_error_is_shown_however_many_there_are() -> None:
    judged = {f"q{i}": {f"d{i}": 1, "e": 0} for i in range(40)}
    scores = evaluate(judged, {f"q{i}": {f"x{i}": 1.0} for i in range(40)}, [f"P@{k}" for k in range(1, 41)])
    text = str(scores)
    assert all(
        each.message.split(".")[0][:40] in " ".join(text.split()) for each in scores.audit if each.severity == "error"
    )
    assert all(f"P@{k} " in text for k in range(1, 41))


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "columns"),
    [
        *product(["evaluate", "evaluate three", "compare three", "audit"], [40, 60, 120, 200]),
        *product(["diagnose all"], [40, 120]),
    ],
)
def test_the_width_that_is_asked_for_is_kept(
    folder: Path, name: str, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tests.shell

    monkeypatch.setitem(tests.shell.PLAIN, "COLUMNS", str(columns))
    lines = rankproof(folder, *COMMANDS[name]).stdout.splitlines()
    assert max(map(width, lines)) <= columns
    if columns >= 120 and name == "evaluate":
        assert "if the unjudged" in "\n".join(lines)


@pytest.mark.slow
def test_python_prints_the_same_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    judgments, runs = sample.judgments(), sample.rankings()
    for made in (
        evaluate(judgments, runs["keyword"]),
        compare(judgments, runs),
        diagnose(judgments, runs["keyword"], queries=sample.queries(), corpus=sample.corpus()),
    ):
        assert len(str(made).splitlines()) <= ROWS
        assert '.format("full")' in str(made)
        assert len(made.format("full").splitlines()) > ROWS


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("rows", "columns"), [(24, 80), (50, 132), (24, 50)])
def test_a_real_terminal_is_used_as_it_is(folder: Path, rows: int, columns: int) -> None:
    ours, theirs = pty.openpty()
    ioctl(theirs, TIOCSWINSZ, pack("HHHH", rows, columns, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    words = [sys.executable, "-m", "rankproof", *COMMANDS["evaluate"]]
    process = subprocess.Popen(
        words, cwd=folder, stdout=theirs, stderr=subprocess.DEVNULL, env={**environment, "NO_COLOR": "1"}
    )
    os.close(theirs)
    said = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # the other end was closed
            break
        if not chunk:
            break
        said += chunk
    assert process.wait() == 0
    os.close(ours)
    lines = said.decode().replace("\r\n", "\n").splitlines()
    assert max(map(width, lines)) <= columns
    assert max(map(width, lines)) > 0.8 * columns or columns > 100
    if columns == 80:
        assert len(lines) < rows
    if columns == 132:
        assert "if the unjudged" in said.decode()
        assert "Conventions:" in said.decode()


@pytest.mark.slow
def test_a_gate_with_many_groups_shows_its_outcome_and_what_makes_it_doubtful() -> None:
    """Nine groups and five measures are 45 rows: the groups are named, and their tables left to the whole text."""
    judged, runs = sample.judgments(), sample.rankings()
    ended = {
        q: {f"{d}.pdf" if n % 3 else d: s for n, (d, s) in enumerate(docs.items())} for q, docs in runs["dense"].items()
    }
    groups = {query: f"group {n % 9}" for n, query in enumerate(judged)}
    measures = "nDCG@10, R@100, RR, AP, P@5"
    found = gate(judged, runs["keyword"], ended, measures, by=groups)
    text = " ".join(str(found).split())
    assert len(str(found).splitlines()) <= 30
    assert text.startswith("INVALID")
    assert "at their end" in text
    assert "9 groups" in text
    assert all(name in found.format("full") for name in set(groups.values()))


def test_groups_that_were_asked_for_are_on_the_screen_whatever_else_is() -> None:
    """With eight measures and two warnings none was; of a comparison's groups the first by name was, not the worst."""
    judged, runs = sample.judgments(), sample.rankings()
    groups = {query: f"group {n % 3}" for n, query in enumerate(judged)}
    found = evaluate(judged, runs["keyword"], "nDCG@10, RR, AP, P@5, R@5, R@100, Success@5, ERR@10", by=groups)
    screen = str(found)
    assert all(name in screen for name in groups.values())
    worse = {
        q: docs if n % 3 != 2 else dict.fromkeys(["none"], 1.0) for n, (q, docs) in enumerate(runs["dense"].items())
    }
    queries = dict(zip(runs["dense"], (f"group {n % 3}" for n in range(len(judged))), strict=False))
    both = str(compare(judged, {"dense": runs["dense"], "new": worse}, "nDCG@10", by=queries))
    assert both.index("group 2: ") < both.index("More with")


@pytest.mark.slow
def test_many_rankings_are_seen_without_scrolling(folder: Path) -> None:
    names = [f"{n}.run" for n in range(12)]
    for name in names:
        (folder / name).write_bytes((folder / "dense.run").read_bytes())
    lines = rankproof(folder, "evaluate", "judgments.tsv", *names).stdout.splitlines()
    assert len(lines) <= ROWS
    assert max(map(width, lines)) <= COLUMNS
    assert all(any(line.startswith(name) for line in lines) for name in names)
    assert "intervals" in lines[-1] + lines[-2]


@pytest.mark.slow
def test_of_many_outages_the_gravest_are_on_the_screen() -> None:
    log = [
        {"time": f"2026-01-{day:02}T{hour:02}:{minute:02}:00Z", "query": "x", "user": f"u{minute}"}
        for day in range(1, 29)
        for hour in range(24)
        for minute in range(0, 60, 2)
        if not (day % 3 == 0 and 9 <= hour < 12) and not (day == 20 and hour > 3)
    ]
    found = monitor(log)
    assert len(found.outages) > 3
    screen, full = str(found), found.format("full")
    assert "2026-01-20 04:00 to 2026-01-21" in screen
    assert screen.count("no events from") == 3
    assert full.count("no events from") == len(found.outages)
    assert f"And {len(found.outages) - 3} lesser ones." in screen
    assert len(screen.splitlines()) <= ROWS


LOGS: dict[str, dict[str, Any]] = {
    "calm": {},
    "an outage and a crawler": {"outage": (4, 8, 10), "noisy": 0.3, "corrupt": 0.02, "variants": ("A", "B")},
    "a change": {"worse_on": 14, "worse_by": 0.6, "users": 400},
}
ALERTS = [{"metric": name, "above": 0.0001, "over": "log"} for name in ("ctr", "ctr@1", "latency_p95", "margin_p50")]


@pytest.mark.slow
@pytest.mark.parametrize("log", LOGS)
def test_a_log_is_summed_up_on_one_screen(log: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    events = list(simulate_log(2000, seed=5, **LOGS[log]).records())
    for alerts in ([], ALERTS[:1], ALERTS):
        found = monitor(events, by=["variant", "language"], alerts=alerts or None)
        screen, full = str(found), found.format("full")
        lines = screen.splitlines()
        assert len(lines) <= ROWS, screen
        assert max(map(width, lines)) <= COLUMNS
        assert "More with" in screen
        assert screen.count("ALERT") == full.count("ALERT") == len(alerts)
        named, every = ({line.split()[0] for line in text.splitlines() if line} for text in (screen, full))
        assert {each["metric"] for each in alerts} <= named
        assert alerts or {"ctr", "abandonment", "dont_know"} <= named
        assert {each.metric for each in found.estimates} <= every
        if not alerts:
            assert ("Outages:" in screen) == ("Outages:" in full) == ("outage" in log)
            assert ("What changed for good" in screen) == ("What changed for good" in full) == bool(found.changes)
    assert bool(found.changes) == (log == "a change")


@pytest.mark.slow
def test_what_people_ask_is_held_against_the_set_on_one_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    log = list(simulate_log(900, seed=5, users=300, drift_on=0, drift_share=0.5).records())
    own = {each["id"]: each["query"] for each in simulate_log(10).evaluation_set(80)}
    judged = {query: {f"d{n % 14}": 1} for n, query in enumerate(own)}
    run = {query: {f"d{d}": 9.0 - d for d in range(10)} for query in own}
    scored: dict[str, Any] = {"judgments": judged, "ranking": run, "measures": "nDCG@10, RR, AP"}
    for more in ({}, scored, {**scored, "training": list(own.values())}):
        found = drift(own, log, **more)
        screen, full = str(found), found.format("full")
        lines = screen.splitlines()
        assert len(lines) <= ROWS, screen
        assert max(map(width, lines)) <= COLUMNS
        assert screen.startswith("The set does not ask what people ask")
        assert all(name in screen for name in ("wording", "length", "language", "vocabulary", "kinds"))
        assert ("nDCG@10" in screen) == bool(more)
        assert ("Something was trained on 80 queries" in screen) == ("training" in more)
        assert "queries to label next" in " ".join(screen.split())
        assert "To label next" in full
        assert "More with" not in full
