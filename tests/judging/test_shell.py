"""`rankproof judge` and `rankproof verdicts`, as they are typed."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankproof.cli import run
from rankproof.judging.judges import Verdicts
from rankproof.judging.verdicts import Relation

pytestmark = pytest.mark.cover

ROWS = [
    {
        "id": "a",
        "user_input": "Where is the tower?",
        "retrieved_contexts": ["The tower is in Paris.", "Bananas grow in Ecuador."],
        "reference": "The tower is in Paris. It is 300 m high.",
        "response": "The tower is in Paris. It is red.",
    },
    {
        "id": "b",
        "user_input": "Who wrote it?",
        "retrieved_contexts": ["Jane wrote it."],
        "reference": "Jane wrote it.",
        "response": "Jane wrote it.",
    },
]
METRICS = "-m context_precision,context_recall,faithfulness"


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Callable[[str], Any]:
    """The command line in a folder with samples and a ledger that `gold` filled."""
    monkeypatch.chdir(tmp_path)
    for name in ("RANKPROOF_LEDGER", "RANKPROOF_HISTORY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines()))

    def call(words: str) -> Any:
        capsys.readouterr()
        code = run(words.split())
        said = capsys.readouterr()
        return code, said.out, said.err

    assert call("verdicts --ledger gold.db --import gold.jsonl")[0] == 0
    return call


def lines() -> list[dict[str, Any]]:
    """Verdicts by a judge called gold on every pair of these samples."""
    from rankproof.judging.case import Case
    from rankproof.judging.evidence import failure_of
    from rankproof.judging.metrics.registry import parse_all
    from rankproof.judging.run import asks_of
    from rankproof.judging.samples import sample_of

    found = []
    for row in ROWS:
        case = Case(sample_of(row))
        asks_of(case, parse_all("context_precision, context_recall, faithfulness"))
        failure_of(case)
        found += [ask for ask in case.asked if ask.relation != Relation.TEXT_CLAIMS]
    return [
        {
            "relation": ask.relation,
            "left": ask.left,
            "right": ask.right,
            "judge": "gold",
            "value": said(*pair),
        }
        for ask in found
        for pair in [(ask.relation, ask.left, ask.right)]
    ]


def said(relation: str, left: str, right: str) -> int:
    if relation == Relation.TEXT_SUPPORTS:
        return int(left.rstrip(".") in right)
    return 0 if "Bananas" in right else 3


REPLAY = "--judge replay --ledger gold.db"


def test_the_table(shell: Any) -> None:
    code, out, err = shell(f"judge s.jsonl {METRICS} {REPLAY}")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    rows = [line.split() for line in out.splitlines()[4:7]]
    assert [(row[0], row[1]) for row in rows] == [
        *(("context_precision", "1.0000"), ("context_recall", "0.7500"), ("faithfulness", "0.7500")),
    ]
    assert "Verdicts: gold" in out
    assert "0 of" in out


def test_the_embedded_judge_is_the_default(shell: Any, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    code, out, _ = shell("judge s.jsonl")
    assert code == 0
    assert "Verdicts: lexical" in out
    assert sorted(tmp_path.iterdir()) == before  # nothing is written unless asked for


@pytest.mark.parametrize("form", ["csv", "json", "jsonl"])
def test_formats_for_machines(shell: Any, form: str) -> None:
    _, out, _ = shell(f"judge s.jsonl {METRICS} {REPLAY} -f {form}")
    read: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "csv": lambda: list(csv.DictReader(io.StringIO(out))),
        "json": lambda: list(json.loads(out)),
        "jsonl": lambda: [json.loads(line) for line in out.splitlines()],
    }
    records = {record["measure"]: record for record in read[form]()}
    assert float(records["context_recall"]["mean"]) == 0.75
    assert float(records["context_recall"]["coverage"]) == 1.0


def test_values_of_single_samples(shell: Any) -> None:
    _, out, _ = shell(f"judge s.jsonl {METRICS} {REPLAY} -q -f csv")
    values = {(r["query"], r["measure"]): float(r["value"]) for r in csv.DictReader(io.StringIO(out))}
    assert values["a", "context_recall"] == 0.5
    assert values["b", "faithfulness"] == 1.0


def test_the_account_of_failures(shell: Any) -> None:
    _, out, _ = shell(f"judge s.jsonl {METRICS} {REPLAY} --blame")
    assert "1 sample of 2 failed: 1 by retrieval, 0 by generation." in out
    assert "it was not retrieved" in out


def test_the_page_and_the_judgments(shell: Any, tmp_path: Path) -> None:
    code, out, err = shell(f"judge s.jsonl {METRICS} {REPLAY} -o page.html --qrels machine.qrels")
    assert (code, out) == (0, "")
    assert err == "Wrote 3 judgments made by gold to machine.qrels.\nWrote page.html.\n"
    assert "<details>" in (tmp_path / "page.html").read_text()
    assert (tmp_path / "machine.qrels").read_text() == "a machine:gold 1 3\na machine:gold 2 0\nb machine:gold 1 3\n"


def test_saved_scores_are_shown_and_gated(shell: Any) -> None:
    code, _, err = shell(f"judge s.jsonl {METRICS} {REPLAY} --save monday --tag run=1")
    assert (code, err) == (0, "Saved as 'monday' in rankproof.db.\n")
    shell(f"judge s.jsonl {METRICS} {REPLAY} --save tuesday")
    shown = shell("show monday")[1]
    assert "context_recall" in shown
    assert ", ranking none." in shown  # verdicts are of no ranking
    assert shell("gate monday tuesday")[0] in (0, 4)
    code, out, _ = shell("compare monday tuesday -m context_recall,faithfulness")
    assert code == 0
    assert "faithfulness" in out


def test_two_systems_side_by_side(shell: Any, tmp_path: Path) -> None:
    short = [{**row, "retrieved_contexts": row["retrieved_contexts"][:1]} for row in ROWS]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in short))
    _, out, _ = shell(f"judge s.jsonl t.jsonl {METRICS} {REPLAY}")
    assert "s.jsonl" in out
    assert "t.jsonl" in out


def test_a_dry_run_asks_nothing(shell: Any, tmp_path: Path) -> None:
    before = (tmp_path / "gold.db").read_bytes()
    code, out, _ = shell(f"judge s.jsonl {METRICS} {REPLAY} --dry-run")
    assert code == 0
    assert out.startswith("s.jsonl: 2 samples; ")
    assert max(map(len, out.splitlines())) <= 80
    assert (tmp_path / "gold.db").read_bytes() == before


def test_verdicts_are_listed_filtered_and_overridden(shell: Any) -> None:
    _, out, _ = shell("verdicts --ledger gold.db --relation R -n 0 -f jsonl")
    records = [json.loads(line) for line in out.splitlines()]
    assert [record["value"] for record in records].count(3) == 2
    bananas = next(record for record in records if "Bananas" in record["right"])
    _, table, _ = shell("verdicts --ledger gold.db --contains bananas --relation R")
    assert table.startswith(f"{bananas['id']}  R  irrelevant by gold\n  question: Where is the tower?\n")
    code, _, err = shell(f"verdicts --ledger gold.db --override {bananas['id'][:8]}=3 --by ana --why quoted")
    assert (code, err) == (0, f"{bananas['id']} is 3 by human:ana from now on.\n")
    assert "human:ana 1" in shell("judge s.jsonl -m context_precision --judge replay:gold --ledger gold.db")[1]
    assert [line.split()[0] for line in shell("verdicts --ledger gold.db --judges")[1].splitlines()[2:]] == [
        *("gold", "human:ana"),
    ]
    assert {each.judge: each.origin.get("why") for each in Verdicts("gold.db").where()} == {
        "gold": None,
        "human:ana": "quoted",
    }
    assert shell("verdicts --ledger gold.db --unmeasured")[1] == "No verdict fits.\n"
    assert shell("verdicts --ledger gold.db --value 7")[1] == "No verdict fits.\n"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("judge none.jsonl", 2, "no such file"),
        ("judge s.jsonl -m context_recal", 2, "Did you mean 'context_recall'?"),
        ("judge s.jsonl -m accuracy", 2, "cannot be computed from the grades"),
        ("judge s.jsonl --judge lexicall", 2, "Did you mean 'lexical'?"),
        ("judge s.jsonl --judge replay", 2, "there is no ledger of verdicts"),
        ("judge s.jsonl --compat raga", 2, "Did you mean 'ragas'?"),
        ("judge s.jsonl -k 0", 2, "k: got 0"),
        ("judge s.jsonl -f xml", 2, "format: got 'xml'"),
        ("judge s.jsonl --save a --save b", 2, "--save: got 2 names for 1"),
        ("judge s.jsonl --set temperature", 2, "--set: got 'temperature'"),
        ("judge s.jsonl --set ledger=kept.db", 2, "--set: got 'ledger=kept.db'"),
        ("judge s.jsonl --set spec=openai:m", 2, "--set: got 'spec=openai:m'"),
        ("judge gold.db", 3, "NUL byte"),
        ("verdicts -n -1", 2, "-n: got -1, expected a whole number of at least 0. Next: "),
        ("verdicts -n 99999999999999999999", 2, "there is no ledger of verdicts"),
        ("verdicts", 2, "verdicts.db: there is no ledger of verdicts"),
        ("verdicts --ledger s.jsonl", 3, "no ledger of verdicts, or a damaged one"),
        ("verdicts --ledger gold.db --override xyz", 2, "expected ID=VALUE"),
        ("verdicts --ledger gold.db --override ffffffffffff=1", 2, "no pair whose id begins"),
        ("verdicts --ledger gold.db --why so", 2, "are of an --override"),
        ("verdicts --ledger gold.db --export x.jsonl --import gold.jsonl", 2, "one at a time"),
        ("verdicts --ledger gold.db --by ana", 2, "are of an --override"),
        ("verdicts --ledger gold.db --relation X", 2, "relation: got 'X'"),
        ("verdicts --ledger gold.db --judge god", 2, "only of gold. Did you mean 'gold'?"),
        ("judge s.jsonl --judge openai:", 2, "expected openai:MODEL. Next: write the name"),
        ("judge s.jsonl --judge lexical>openai", 2, "expected openai:MODEL. Next: write the name"),
        ("verdicts --ledger new.db --import s.jsonl", 3, "s.jsonl, line 1: got"),
    ],
)
def test_errors_name_the_next_step(shell: Any, words: str, code: int, said: str) -> None:
    got, out, err = shell(words)
    assert (got, out) == (code, "")
    assert said in err


@pytest.mark.slow
def test_a_person_at_a_terminal_is_asked(shell: Any, tmp_path: Path) -> None:
    import os
    import pty

    command = [
        sys.executable,
        "-m",
        "rankproof",
        "judge",
        "s.jsonl",
        "-m",
        "context_precision",
        "-j",
        "human:ana",
    ]
    parent, child = pty.openpty()
    running = subprocess.Popen(command, cwd=tmp_path, stdin=child, stderr=child, stdout=subprocess.PIPE, text=True)
    os.write(parent, b"3\n7\n0\n\n")
    out, _ = running.communicate(timeout=60)
    os.close(parent)
    os.close(child)
    assert running.returncode == 0
    assert "human:ana 2; 1 of 3 pairs unmeasured" in out
    assert "human:ana         2" in shell("verdicts --judges")[1]


def test_the_account_names_the_samples_that_failed_and_says_something_of_every_point(
    shell: Callable[[str], Any],
) -> None:
    _, out, _ = shell(f"judge s.jsonl -m faithfulness {REPLAY} --blame")
    account = out[out.index("1 sample of 2 failed") :]
    assert "Samples that failed:" in account
    assert "  a: " in account
    assert "It is 300 m high." in account
    assert "the answer has what the reference claims" in account
    assert not re.search(r"^(fine|unmeasured)\s*$", account, re.MULTILINE)


def test_the_account_is_in_json_beside_the_scores(shell: Callable[[str], Any]) -> None:
    _, out, _ = shell(f"judge s.jsonl -m faithfulness {REPLAY} --blame -f json")
    found = json.loads(out)
    assert [each["measure"] for each in found["scores"]] == ["faithfulness"]
    account = found["blame"]["s.jsonl"]
    assert account["samples"]["b"] == {"point": "fine", "lost": {}}
    assert list(account["samples"]["a"]["lost"]) == ["It is 300 m high."]


def test_a_format_without_a_place_for_the_account_says_so(shell: Callable[[str], Any]) -> None:
    code, out, err = shell(f"judge s.jsonl -m faithfulness {REPLAY} --blame -f csv")
    assert code == 0
    assert "no place for --blame" in err
    assert len([*csv.DictReader(io.StringIO(out))]) == 1


def test_samples_without_a_value_are_listed_with_their_reason(shell: Callable[[str], Any]) -> None:
    _, out, _ = shell("judge s.jsonl -m context_relevance -q")
    part = out[out.index("context_relevance, unmeasured:") :]
    assert re.search(r"^  a: not settled: ", part, re.MULTILINE)
    _, out, _ = shell("judge s.jsonl -m context_relevance -q -f json")
    without = {each["query"]: each["reason"] for each in json.loads(out) if each["value"] is None}
    assert without["a"].startswith("not settled: ")
    assert all(each["reason"] is None for each in json.loads(out) if each["value"] is not None)


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown"])
def test_a_run_that_measured_nothing_does_not_end_with_0(shell: Callable[[str], Any], form: str) -> None:
    """Nobody listens at port 9: every pair is unmeasured, and the reason stands there in full."""
    words = f"judge s.jsonl {METRICS} --judge openai:m --base-url http://127.0.0.1:9 --set tries=1 -f {form}"
    code, out, err = shell(words)
    assert code == 3
    told = " ".join((out + err).split())
    assert "Nothing was measured" in told
    assert "ConnectError" in told
    assert shell("judge s.jsonl -m context_precision --judge replay --ledger gold.db")[0] == 0


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown"])
def test_a_run_whose_every_call_failed_does_not_end_with_0(shell: Callable[[str], Any], form: str) -> None:
    """Rules alone settled the sample without an answer, and it has a value."""
    row = {"id": "c", "user_input": "Who?", "response": "", "retrieved_contexts": ["Jane wrote it."]}
    Path("s.jsonl").write_text("".join(json.dumps(each) + "\n" for each in (*ROWS, row)))
    words = "judge s.jsonl --ledger v.db --judge lexical>openai:m --base-url http://127.0.0.1:9"
    code, out, err = shell(f"{words} -m answer_relevance,faithfulness --set tries=1 -f {form}")
    assert code == 3
    assert "and settled nothing" in " ".join((out + err).split())
    assert ".0000" in out or '"n": 1' in out or ",0.0," in out


def test_claims_are_shown_under_their_text(shell: Callable[[str], Any]) -> None:
    line = {
        "relation": "C",
        "left": "Which?",
        "right": "Red. Tall.",
        "judge": "g",
        "value": None,
        "items": ["It is red."],
    }
    Path("claims.jsonl").write_text(json.dumps(line) + "\n")
    shell("verdicts --ledger claims.db --import claims.jsonl")
    _, out, _ = shell("verdicts --ledger claims.db --relation C")
    assert out.splitlines()[1:4] == ["  question: Which?", "  text: Red. Tall.", "  claim: It is red."]
