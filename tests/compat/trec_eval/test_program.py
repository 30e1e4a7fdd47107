"""What the drop-in does with options, odd topics and odd files; values are worked by hand."""

import gzip
import io
import math
import sys
import tracemalloc
from pathlib import Path

import pytest

from rankproof.compat.trec_eval import main

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 c 1\n"
RUN = "q1 Q0 a 1 2.0 one\nq1 Q0 x 2 1.0 two\n"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    def run_program(arguments, qrels=QRELS, results=RUN):
        monkeypatch.chdir(tmp_path)
        Path("qrels").write_text(qrels)
        Path("run").write_text(results)
        code = main([*arguments.split(), "qrels", "run"])
        return code, *capsys.readouterr()

    return run_program


def values(output):
    return {tuple(line.split()[:2]): line.split("\t")[2] for line in output.splitlines()}


def test_a_topic_without_results_has_one_document_nobody_judged_under_c(run):
    code, out, _ = run("-c -q -m num_ret -m relstring.4 -m utility.1,-1,-1,0 -m unj.5 -m yaap -m rbp_resid")
    known = values(out)
    assert code == 0
    assert known["num_ret", "q2"] == "0"
    assert known["relstring_4", "q2"] == "'-'"
    assert known["utility_1,-1,-1,0", "q2"] == "-2.0000"
    assert known["unj_5", "q2"] == "0.0000"
    assert known["rbp_resid", "q2"] == "0.0000"
    assert known["yaap", "q2"] == format(math.log(1 / 2), ".4f")


def test_9_counts_a_topic_without_results_only_in_the_means(run):
    code, out, _ = run("--as 9 -c -q -m map -m num_rel -m num_q -m gm_map")
    known = values(out)
    assert code == 0
    assert ("map", "q2") not in known
    assert (known["map", "all"], known["num_q", "all"], known["num_rel", "all"]) == ("0.5000", "2", "2")
    assert known["gm_map", "all"] == format(math.sqrt(0.00001), ".4f")


def test_measures_of_the_summary_alone_have_no_lines_of_topics(run):
    assert run("-c -q -m num_q -m gm_map")[:2] == (
        0,
        f"num_q                 \tall\t2\ngm_map                \tall\t{math.sqrt(0.00001):.4f}\n",
    )


def test_10_stops_at_a_topic_without_results_after_printing_those_before(run):
    code, out, err = run("-q -m map")
    assert (code, out) == (4, "map                   \tq1\t1.0000\n")
    assert "topic 'q2' is judged but has no results. Next: -c" in err


@pytest.mark.parametrize(("version", "code"), [("9", 7), ("10", 4)])
def test_nothing_in_common(run, version, code):
    got, out, err = run(f"--as {version} -q", results="q7 Q0 a 1 1 t\n")
    assert (got, out) == (code, "")
    assert err


def test_the_run_id_is_that_of_the_last_line(run):
    assert values(run("-c -m runid")[1])["runid", "all"] == "two"
    assert values(run("-c -m runid", results=RUN + "# the end\n\n")[1])["runid", "all"] == "two"


def test_no_summary(run):
    assert run("-c -n -m map")[1] == ""
    assert "all" not in run("-c -n -q -m map")[1]


def test_judged_only_takes_out_unjudged_documents_after_the_cut(run):
    results = "q1 Q0 x 1 9 t\nq1 Q0 a 2 8 t\nq1 Q0 b 3 7 t\n"
    arguments = "-c -J -q -m num_ret -m recip_rank -m num_rel_ret"
    assert values(run(arguments, results=results)[1])["recip_rank", "q1"] == "1.0000"
    known = values(run("-M2 " + arguments, results=results)[1])
    assert (known["num_ret", "q1"], known["num_rel_ret", "q1"]) == ("1", "1")


def test_a_negative_grade_is_no_judgment_for_judged_only(run):
    known = values(run("-J -q -m num_ret", qrels="q1 0 a -1\nq1 0 x 1\n")[1])
    assert known["num_ret", "q1"] == "1"


def test_no_document_left_gives_0(run):
    _, out, _ = run("-J -q -m iprec_at_recall.0 -m set_P -m 11pt_avg", qrels="q1 0 z 1\n")
    assert set(values(out).values()) == {"0.0000"}


def test_relevance_strings_show_what_each_document_is(run):
    qrels = "q1 0 a 12\nq1 0 b -1\nq1 0 c 3\n"
    results = "".join(f"q1 Q0 {doc} 1 {9 - i} t\n" for i, doc in enumerate("abxc"))
    assert values(run("-q -m relstring", qrels=qrels, results=results)[1])["relstring", "q1"] == "'>.-3'"
    assert values(run("-q -m relstring.2", qrels=qrels, results=results)[1])["relstring_2", "q1"] == "'>.'"


def test_utility_counts_the_rest_of_the_collection(run):
    known = values(run("-c -q -N 100 -m utility.1,-1,-2,0.5")[1])
    assert known["utility_1,-1,-2,0.5", "q1"] == format(1 - 1 + 0 + 0.5 * 98, ".4f")


def test_utility_needs_the_size_of_the_collection_for_its_last_price(run):
    code, out, err = run("-c -m utility.1,-1,0,1")
    assert (code, out) == (2, "")
    assert "Next: -N" in err


@pytest.mark.parametrize("gains", ["1=3,2=1", "0=-1,1=2", "0=1,3=0.5", "1=-2,2=-3,3=-1"])
def test_gains_on_the_command_line(run, gains):
    grades = {"a": 1, "b": 0, "c": 3, "d": 2, "e": 2, "f": 0}
    ranking = "bdxafc"
    gain = {
        0: 0,
        1: 1,
        2: 2,
        3: 3,
        **{int(g): float(v) for g, v in (pair.split("=") for pair in gains.split(","))},
    }
    dcg = sum(gain[grades[doc]] / math.log2(i + 2) for i, doc in enumerate(ranking) if doc in grades)
    best = sorted((gain[grade] for grade in grades.values() if gain[grade] > 0), reverse=True)
    ideal = sum(value / math.log2(i + 2) for i, value in enumerate(best))
    qrels = "".join(f"q1 0 {doc} {grade}\n" for doc, grade in grades.items())
    results = "".join(f"q1 Q0 {doc} 0 {-i} t\n" for i, doc in enumerate(ranking))
    known = values(run(f"-m ndcg.{gains} -m dcg.{gains} -m ideal_dcg.{gains}", qrels, results)[1])
    assert known[f"dcg_{gains}", "all"] == f"{dcg:.4f}"
    assert known[f"ideal_dcg_{gains}", "all"] == f"{ideal:.4f}"
    assert known[f"ndcg_{gains}", "all"] == (f"{dcg / ideal:.4f}" if ideal else "0.0000")


@pytest.mark.parametrize("measure", ["G", "Rndcg", "ndcg_rel", "rbp"])
def test_a_gain_below_0_is_refused_where_it_would_count_wrongly(run, measure):
    code, out, err = run(f"-c -m {measure}.1=-2")
    assert (code, out) == (2, "")
    assert "the gain -2 is below 0" in err


def test_the_persistence_of_rbp(run):
    results = "q1 Q0 x 1 9 t\nq1 Q0 a 2 8 t\nq1 Q0 b 3 7 t\n"
    known = values(run("-q -m rbp.p=0.5 -m rbp_resid.p=0.5", "q1 0 a 1\nq1 0 b 3\n", results)[1])
    assert known["rbp_p=0.5", "q1"] == format(0.5 * (0.5 / 3 + 0.25), ".4f")
    assert known["rbp_resid_p=0.5", "q1"] == format(0.5**3 + 0.5, ".4f")


def test_f_without_recall_is_precision(run):
    assert run("-c -m set_F.0")[1].split()[-1] == run("-c -m set_P")[1].split()[-1] == "0.2500"
    code, _, err = run("-c -m set_F.-1")
    assert code == 2
    assert "expected at least 0" in err


def test_grades_with_a_fraction_are_cut_and_counted(run):
    code, out, err = run("-m num_rel", qrels="q1 0 a 0.9\nq1 0 b 1.9\n")
    assert (code, values(out)["num_rel", "all"]) == (0, "1")
    assert "2 grades with a fraction are cut" in err


def test_a_z_score_without_a_norm(run, tmp_path):
    (tmp_path / "norms").write_text("q1 map 0.5 0.25\nq1 num_ret 2 0\nq1 P_5 3 0\n")
    out = run("-q -Z norms -m map -m num_ret -m P.5,10 -m num_q", qrels="q1 0 a 1\n")[1]
    assert values(out) == {
        ("Znum_ret", "q1"): "0.0000",
        ("Zmap", "q1"): "2.0000",
        ("ZP_5", "q1"): "-1000000.0000",
        ("ZP_10", "q1"): "-1000000.0000",
        ("Znum_q", "all"): "1.0000",
        ("Znum_ret", "all"): "0.0000",
        ("Zmap", "all"): "2.0000",
        ("ZP_5", "all"): "-1000000.0000",
        ("ZP_10", "all"): "-1000000.0000",
    }


def test_judgments_of_several_judges_are_averaged(run):
    qrels = "q1 u1 a 1\nq1 u2 a 0\nq1 u2 x 1\nq2 u1 c 1\n"
    known = values(run("-c -q -R qrels_jg -m map_avgjg -m P_avgjg.1", qrels=qrels)[1])
    assert (known["map_avgjg", "q1"], known["P_avgjg_1", "q1"]) == ("0.7500", "0.5000")
    assert (known["map_avgjg", "q2"], known["map_avgjg", "all"]) == ("0.0000", "0.3750")


def test_preferences_of_a_topic_without_results(run):
    qrels = "q1 u a 1\nq1 u x 0\nq2 u c 1\nq2 u d 0\n"
    known = values(run("-c -q -R qrels_prefs -m prefs_simp -m prefs_num_prefs_poss", qrels=qrels)[1])
    assert (known["prefs_simp", "q1"], known["prefs_simp", "q2"]) == ("1.0000", "0.0000")
    assert known["prefs_num_prefs_poss", "all"] == "2"
    known = values(run("--as 9 -c -q -R qrels_prefs -m prefs_num_prefs_poss", qrels=qrels)[1])
    assert known["prefs_num_prefs_poss", "all"] == "1"


def test_preferences_look_at_the_first_documents_only_and_break_ties_by_name_ascending(run):
    results = "q1 Q0 b 1 1.0 t\nq1 Q0 a 2 1.0 t\n"
    arguments = "-q -R qrels_prefs -m prefs_simp_ret -m prefs_num_prefs_ful_ret"
    known = values(run(arguments, qrels="q1 u a 1\nq1 u b 0\n", results=results)[1])
    assert known["prefs_num_prefs_ful_ret", "q1"] == "1"
    known = values(run("-M1 " + arguments, qrels="q1 u a 1\nq1 u b 0\n", results=results)[1])
    assert known["prefs_num_prefs_ful_ret", "q1"] == "0"


@pytest.mark.parametrize(("version", "fulfilled"), [("9", "1"), ("10", "0")])
def test_preferences_of_9_compare_scores_in_single_precision(run, version, fulfilled):
    results = "q1 Q0 b 1 16777217 t\nq1 Q0 a 2 16777216 t\n"
    arguments = f"--as {version} -R qrels_prefs -m prefs_num_prefs_ful_ret"
    known = values(run(arguments, qrels="q1 u a 1\nq1 u b 0\n", results=results)[1])
    assert known["prefs_num_prefs_ful_ret", "all"] == fulfilled


def test_results_from_standard_input(run, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(RUN.encode())))
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text(QRELS)
    assert main(["-c", "-m", "map", "-m", "runid", "qrels", "-"]) == 0
    assert capsys.readouterr().out == "runid                 \tall\ttwo\nmap                   \tall\t0.5000\n"


def test_compressed_files(run, tmp_path):
    run("-c -m map")
    (tmp_path / "run.gz").write_bytes(gzip.compress(RUN.encode()))
    assert main(["-c", "-m", "map", "-m", "runid", str(tmp_path / "qrels"), str(tmp_path / "run.gz")]) == 0


@pytest.mark.parametrize(
    ("qrels", "results", "words"),
    [
        ("q1 0 a yes\n", RUN, ["qrels", "yes"]),
        ("q1 a 1\n", RUN, ["qrels"]),
        ("", RUN, ["qrels"]),
        (QRELS, "", ["run"]),
        (QRELS, "q1 Q0 a 1 high t\n", ["run", "high"]),
        (QRELS, "q1 Q0 a 1 nan t\n", ["run", "nan"]),
        (QRELS, "q1 Q0 a 1 3\n", ["run"]),
        (QRELS, "q1 Q0 a 1 3 t\nq1 Q0 b 1\n", ["run", "2"]),
    ],
)
def test_an_input_that_cannot_be_read(run, qrels, results, words):
    code, out, err = run("-c -q", qrels, results)
    assert (code, out) == (2, "")
    assert all(word in err for word in words), err


@pytest.mark.parametrize(
    ("arguments", "qrels", "code", "words"),
    [
        ("-R prefs", "q1 u s a\n", 2, ["line 1: got 4 fields", "expected 5"]),
        ("-R prefs", "q1 u s a x\n", 2, ["line 1: the level is 'x'"]),
        (
            "-R qrels_prefs",
            "q1 u a 1\n\nq1 u a 2\n",
            4,
            ["lines 1 and 3", "judged twice with different grades, 1 and 2"],
        ),
        ("-R qrels_jg", "q1 u a 1\nq1 u a 0\n", 4, ["judged twice"]),
        ("-R qrels_jg", "\n\n", 2, ["empty"]),
    ],
)
def test_rarer_judgments_that_cannot_be_read(run, arguments, qrels, code, words):
    measure = "-m qrels_jg" if "jg" in arguments else "-m prefs"
    got, out, err = run(f"-c {measure} {arguments}", qrels)
    assert (got, out) == (code, "")
    assert all(word in err for word in words), err


def test_a_document_judged_by_two_judges_needs_the_format_for_that(run):
    qrels = "q1 1 a 1\nq1 2 a 0\n"
    code, out, err = run("-m map", qrels)
    assert (code, out) == (4, "")
    assert "Next: -R qrels_jg" in err
    assert values(run("-m map", "q1 1 a 1\nq1 2 b 0\n")[1])["map", "all"] == "1.0000"


@pytest.mark.parametrize("arguments", ["-c", "-c -R qrels_jg -m qrels_jg", "-c -R qrels_prefs -m prefs"])
def test_a_document_twice_in_the_results(run, arguments):
    code, out, err = run(arguments, results=RUN + "q1 Q0 a 3 0.5 t\n")
    assert (code, out) == (4, "")
    assert "'a'" in err
    assert "twice" in err
    assert "duplicates=" not in err


def test_a_broken_file_of_norms(run, tmp_path):
    (tmp_path / "norms").write_text("q1 map 0.5\n")
    code, out, err = run("-c -Z norms -m map")
    assert (code, out) == (2, "")
    assert "norms, line 1: got 3 fields" in err


@pytest.mark.no_cover
@pytest.mark.slow
def test_a_value_takes_eight_bytes(run):
    """Not the 32 of a number of Python in a list: all measures of all topics are held at once."""
    topics = range(20_000)
    judged = "".join(f"q{at} 0 d 1\n" for at in topics)
    ranked = "".join(f"q{at} Q0 d 1 1.5 t\n" for at in topics)
    tracemalloc.start()
    code, out, _ = run("-m all_trec", judged, ranked)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert code == 0
    assert peak / len(topics) < 24 * out.count("\n")
