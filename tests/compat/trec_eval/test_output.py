"""The drop-in prints what trec_eval prints, byte for byte."""

import gzip
from pathlib import Path

import pytest

from rankproof.compat.trec_eval import main

pytestmark = pytest.mark.shared_data

PARAMETERS = (
    "-q -miprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 -m Rprec_mult.5.0,0.2,0.35 "
    "-mutility.2,-1,0,0 -m 11pt_avg..25,.5,.75 -mndcg.1=3,2=9,4=4.5 -mndcg_cut.10,20,23.4 -msuccess.2,5,20 "
    "qrels.test results.test"
)
COMMANDS = [
    ("out.test", "qrels.test results.test"),
    ("out.test", "qrels.test.with-comments results.test"),
    ("out.test.a", "-m all_trec qrels.test results.test"),
    ("out.test.aq", "-m all_trec -q qrels.test results.test"),
    ("out.test.aqc", "-m all_trec -q -c qrels.test results.trunc"),
    ("out.test.aqcM", "-m all_trec -q -c -M100 qrels.test results.trunc"),
    ("out.test.aql", "-m all_trec -mrelstring.20 -q -l2 qrels.rel_level results.test"),
    ("out.test.prefs", "-m all_prefs -q -R prefs prefs.test prefs.results.test"),
    ("out.test.prefs", "-m all_prefs -q -R prefs prefs.comment.test prefs.results.test"),
    ("out.test.qrels_prefs", "-m all_prefs -q -R qrels_prefs qrels.test results.test"),
    ("out.test.qrels_jg", "-m qrels_jg -q -R qrels_jg qrels.123 results.test"),
    ("out.test.qrels_jg", "-m qrels_jg -q -R qrels_jg qrels.comments.123 results.test"),
    ("out.test.meas_params", PARAMETERS),
]
ONLY_10 = [
    ("out.comment.test", "qrels.comment.test results.comment.test"),
    ("out.test.aqZ", "-q -m all_trec -Z zscores_file qrels.test results.test"),
]
RUNS = [
    ("cacm-bm25", "cacm/qrels.cacm.txt", "cacm/cacm-bm25.run.txt"),
    ("dl20-doc.d_bm25", "dl20-doc/qrels.dl20-doc.txt", "dl20-doc/d_bm25"),
    ("dl20-doc.d_bm25rm3", "dl20-doc/qrels.dl20-doc.txt", "dl20-doc/d_bm25rm3"),
]


@pytest.mark.first_is_quick(3)
@pytest.mark.parametrize(("expected", "arguments"), [*COMMANDS, *ONLY_10])
def test_the_commands_of_trec_eval_10(expected, arguments, shared_data, monkeypatch, capsys):
    monkeypatch.chdir(shared_data / "trec_eval")
    assert main(arguments.split()) == 0
    assert capsys.readouterr().out == Path(expected).read_text()


@pytest.mark.first_is_quick(3)
@pytest.mark.parametrize(("expected", "arguments"), COMMANDS)
def test_the_commands_of_trec_eval_9(expected, arguments, shared_data, monkeypatch, capsys):
    monkeypatch.chdir(shared_data / "trec_eval")
    assert main(["--as", "9", *arguments.split()]) == 0
    assert capsys.readouterr().out == Path("v9.0.8-expected", expected).read_text()


def test_zscores_of_9_are_those_of_10_wherever_the_values_are_the_same(shared_data, monkeypatch, capsys):
    monkeypatch.chdir(shared_data / "trec_eval")
    main(["--as", "9", "-q", "-m", "all_trec", "-Z", "zscores_file", "qrels.test", "results.test"])
    ours = capsys.readouterr().out.splitlines()
    changed = ("Ziprec", "Z11pt", "Zrbp", "Zunj")
    theirs = Path("out.test.aqZ").read_text().splitlines()
    same = [line for line in theirs if not line.startswith(changed)]
    assert [line for line in ours if not line.startswith(changed)] == same
    assert len(same) > 250


@pytest.mark.first_is_quick(2)
@pytest.mark.parametrize("version", ["9", "10"])
@pytest.mark.parametrize(("name", "qrels", "run"), RUNS)
def test_real_runs_with_every_measure(name, qrels, run, version, shared_data, capsys):
    full = {"9": "9.0.8", "10": "10.0"}[version]
    with gzip.open(shared_data / "expected" / f"{name}.trec_eval-{full}.c.q.txt.gz", "rt") as file:
        expected = file.read()
    files = [str(shared_data / qrels), str(shared_data / run)]
    assert main(["--as", version, "-c", "-q", "-m", "all_trec", *files]) == 0
    assert without_relstring(capsys.readouterr().out) == expected


def without_relstring(output):
    """The stored outputs leave this measure out."""
    return "".join(line for line in output.splitlines(keepends=True) if not line.startswith("relstring"))
