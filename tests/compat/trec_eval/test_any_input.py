"""Whatever the files and the arguments hold, the drop-in ends with an exit code of its own and a message."""

import contextlib
import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankproof.compat.trec_eval import main

CODES = {0, 1, 2, 4, 7}
WORDS = st.sampled_from(["q1", "q2", "0", "Q0", "a", "b", "é", "1", "2", "-1", "0.5", "nan", "1e400", "#", "t", "\x00"])
LINES = st.lists(WORDS, max_size=8).map(" ".join)
FILES = st.lists(LINES, max_size=6).map(lambda lines: "\n".join(lines).encode())
GOOD = {
    "qrels": b"q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n",
    "qrels_jg": b"q1 u a 1\nq1 v b 0\n",
    "prefs": b"q1 u s a 1\nq1 u s b 0\n",
    "qrels_prefs": b"q1 u a 1\nq1 u b 0\n",
}
MEASURES = {"qrels": "all_trec", "qrels_jg": "qrels_jg", "prefs": "all_prefs", "qrels_prefs": "all_prefs"}
RUN = b"q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\nq2 Q0 c 1 1 t\n"


def run(arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    assert code in CODES
    assert (err.getvalue() != "") >= (code != 0)
    lines = [line for line in out.getvalue().splitlines() if not line.startswith("runid")]
    assert not {"nan", "-nan", "inf", "-inf"}.intersection(line.split()[-1] for line in lines)
    return code


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("any_input")


def files(folder, qrels, results):
    (folder / "qrels").write_bytes(qrels)
    (folder / "run").write_bytes(results)
    return [str(folder / "qrels"), str(folder / "run")]


@pytest.mark.first_is_quick
@pytest.mark.parametrize("form", GOOD)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.one_of(FILES, st.binary(max_size=60)), version=st.sampled_from(["9", "10"]))
def test_any_judgments(folder, form, content, version):
    run(["--as", version, "-c", "-q", "-R", form, "-m", MEASURES[form], *files(folder, content, RUN)])


@pytest.mark.first_is_quick
@pytest.mark.parametrize("form", GOOD)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.one_of(FILES, st.binary(max_size=60)))
def test_any_results(folder, form, content):
    run(["-c", "-q", "-R", form, "-m", MEASURES[form], *files(folder, GOOD[form], content)])


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.one_of(FILES, st.binary(max_size=60)))
def test_any_norms(folder, content):
    (folder / "norms").write_bytes(content)
    run(["-q", "-Z", str(folder / "norms"), *files(folder, GOOD["qrels"], RUN)])


PARAMETERS = st.sampled_from(
    [
        ".5",
        ".0",
        ".-1",
        ".5,10",
        ".1=2,2=3",
        ".0=1,1=-5",
        ".+-1=3",
        ".1=1e308,2=1e308",
        ".p=0.5",
        ".p=1",
        ".x",
        ".",
        "..5",
        ".1e400",
        ".nan",
        ".5,5",
        ".1,2,3,4",
        "",
    ]
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    measure=st.sampled_from(
        [
            "P",
            "map",
            "ndcg",
            "iprec_at_recall",
            "11pt_avg",
            "utility",
            "set_F",
            "rbp",
            "rbp_resid",
            "G",
            "Rndcg",
            "relstring",
            "Rprec_mult",
            "unj",
            "official",
        ]
    ),
    parameters=PARAMETERS,
    options=st.lists(
        st.sampled_from(["-q", "-c", "-J", "-n", "-M0", "-M1", f"-M{10**20}", "-l0", "-l3", "-N", "5", "-x", "--as=9"]),
        max_size=4,
    ),
)
def test_any_arguments(folder, measure, parameters, options):
    run([*options, "-m", measure + parameters, *files(folder, GOOD["qrels"], RUN)])
