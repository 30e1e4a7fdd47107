"""Small edge cases with what both versions of trec_eval did, and what the drop-in does."""

import json
from pathlib import Path

import pytest

from rankproof.compat.trec_eval import main

pytestmark = pytest.mark.shared_data

CASES = Path(__file__).resolve().parents[4] / "shared" / "data" / "conformance" / "trec_eval_cases.jsonl"

REFUSED = {"junk_grade": 2, "nan_score": 2}
"""trec_eval guesses a number; the drop-in stops with this exit code."""

MENDED = {
    "negative_only_topic": "map                   \tq1\t0.5000\nmap                   \tq2\t0.0000\n"
    "map                   \tall\t0.2500\n",
    "two_comments_qrels": "num_rel               \tall\t1\n",
    "trailing_comment_qrels": "num_rel               \tall\t1\n",
    "blank_line_qrels": "num_rel               \tall\t2\n",
    "comments_run": "num_rel               \tall\t3\nmap                   \tall\t0.3333\n",
    "gains_lt_1": "ndcg_1=0.9,2=0.1,3=0.5\tall\t0.9586\n",
}
"""trec_eval stops, crashes or sorts the gains wrongly; the drop-in prints the right values."""


def cases():
    if not CASES.exists():
        return []
    return [json.loads(line) for line in CASES.read_text().splitlines()]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    def run_case(case, version):
        monkeypatch.chdir(tmp_path)
        Path("cq").write_bytes(case["qrels"].encode())
        Path("cr").write_bytes(case["run"].encode())
        code = main(["--as", version, *case["args"], "cq", "cr"])
        return code, *capsys.readouterr()

    return run_case


@pytest.mark.first_is_quick(6)
@pytest.mark.parametrize("version", ["9", "10"])
@pytest.mark.parametrize("case", cases(), ids=lambda case: case["name"])
def test_edge_case(case, version, run, shared_data):
    theirs = case["results"][{"9": "9.0.8", "10": "10.0"}[version]]
    code, out, err = run(case, version)
    if case["name"] in MENDED:
        assert (code, out) == (0, MENDED[case["name"]])
    elif case["name"] in REFUSED:
        assert (code, out) == (REFUSED[case["name"]], "")
        assert "cq" in err or "cr" in err
    else:
        assert (code, out) == (theirs["rc"], theirs["stdout"])
        assert (err != "") >= (code != 0)
