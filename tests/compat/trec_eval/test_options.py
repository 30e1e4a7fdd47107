"""The command line of the drop-in: options, measure requests, their errors and exit codes."""

import pytest

from rankproof.compat.trec_eval import main
from rankproof.compat.trec_eval.options import parse_options, parse_requests, plan
from rankproof.errors import UsageError


def names(*measures, version=10):
    return [column.name for column in plan(parse_requests(measures, version), version)[0]]


def notes(*measures):
    return tuple(plan(parse_requests(measures, 10), 10)[1])


@pytest.mark.parametrize(
    "arguments",
    [
        ["-q", "-c", "-l", "2", "-M", "100", "-m", "map", "qrels", "run"],
        ["-qc", "-l2", "-M100", "-mmap", "qrels", "run"],
        ["qrels", "run", "-q", "-c", "-l2", "-M100", "-mmap"],
        ["--query", "--complete", "--level_for_rel=2", "--Max_ret", "100", "--measure=map", "qrels", "run"],
    ],
)
def test_options_may_be_joined_abbreviated_and_stand_anywhere(arguments):
    options = parse_options(arguments)
    assert (options.per_query, options.complete, options.level, options.depth) == (True, True, 2, 100)
    assert (options.measures, options.files) == (("map",), ("qrels", "run"))


def test_version_10_is_the_default_and_9_can_be_chosen():
    assert parse_options(["a", "b"]).version == 10
    assert parse_options(["--as", "9", "a", "b"]).version == 9


def test_columns_come_in_printing_order_whatever_the_order_of_requests():
    assert names("ndcg", "P.10,5", "map") == ["map", "P_5", "P_10", "ndcg"]


def test_points_and_lists_are_named_as_trec_eval_names_them():
    assert names("iprec_at_recall..10,1") == ["iprec_at_recall_0.10", "iprec_at_recall_1.00"]
    assert names("set_F.0.5", "utility.2,-1,0,0", "ndcg.1=3.5,2=9") == [
        "utility_2,-1,0,0",
        "ndcg_1=3.5,2=9",
        "set_F_0.5",
    ]


def test_no_request_means_official():
    assert names() == names("official")
    assert names()[:3] == ["runid", "num_q", "num_ret"]


def test_9_knows_no_rbp_and_leaves_it_out_of_all_trec():
    assert "rbp" in names("all_trec")
    assert "rbp" not in names("all_trec", version=9)
    with pytest.raises(UsageError, match="illegal measure 'rbp'"):
        parse_requests(["rbp"], 9)


def test_what_trec_eval_ignores_silently_is_said():
    assert names("P.5", "P.10") == ["P_5"]
    assert "P.10 is ignored" in notes("P.5", "P.10")[0]
    assert "recip_rank takes no parameters" in notes("recip_rank.1")[0]
    assert names("ndcg_cut.23.4") == ["ndcg_cut_23"]
    assert "23.4 is cut to 23" in notes("ndcg_cut.23.4")[0]
    assert notes("P.5,10", "map") == ()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-x", "q", "r"], 1, "option -x not recognized"),
        (["q"], 1, "got 1 files, expected 2"),
        (["-l", "two", "q", "r"], 1, "-l: got 'two', expected a whole number"),
        (["-l", "-1", "q", "r"], 1, "-l: got -1, expected a whole number of at least 0"),
        (["--as", "8", "q", "r"], 1, "expected one of '9', '10'"),
        (["-m", "mapp", "q", "r"], 1, "illegal measure 'mapp'. Did you mean 'map'?"),
        (["-m", "P.", "q", "r"], 1, "nothing follows the point"),
        (["-m", "P.0", "q", "r"], 2, "a cut-off must be at least 1"),
        (["-m", "P.5,5", "q", "r"], 2, "duplicate cut-offs"),
        (["-m", "P.five", "q", "r"], 2, "got parameter 'five', expected a number"),
        (["-m", "ndcg.3", "q", "r"], 2, "got '3', expected grade=gain pairs"),
        (["-", "-"], 1, "standard input can be read once only"),
        (["-m", "ndcg.1=1e308,2=1e308", "q", "r"], 2, "got parameter '1e308', expected a number up to 1e+15"),
        (["-m", "ndcg.+-1=3", "q", "r"], 2, "got '+-1=3', expected grade=gain pairs"),
        (["-m", "ndcg.\uff11=3", "q", "r"], 2, "got '\uff11=3', expected grade=gain pairs"),
        (["-l", "\uff11", "q", "r"], 1, "-l: got '\uff11', expected a whole number"),
        (["-M", "1_0", "q", "r"], 1, "-M: got '1_0', expected a whole number"),
        (["-m", "utility.1,2", "q", "r"], 2, "utility: got 2 numbers, expected 4"),
        (["-R", "qrel", "q", "r"], 2, "Did you mean 'qrels'?"),
        (["-T", "run", "q", "r"], 2, "expected one of 'trec_results'"),
        (
            ["-R", "prefs", "-m", "map", "q", "r"],
            4,
            "can't calculate measure 'map' from prefs. Next: -R qrels",
        ),
        (["-m", "prefs", "q", "r"], 4, "Next: -R prefs or qrels_prefs"),
        (["-D", "1", "q", "r"], 1, "rankproof explain"),
        (["no-such-qrels", "r"], 2, "no-such-qrels"),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong(arguments, code, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


def test_help_names_every_option_and_group(capsys):
    assert main(["-h"]) == 0
    out = capsys.readouterr().out
    for word in ("-q", "-c", "-l LEVEL", "-J", "--as 9|10", "official:", "all_prefs:", "qrels_jg:"):
        assert word in out
    assert max(map(len, out.splitlines())) < 80


def test_the_version_goes_to_standard_error(capsys):
    assert main(["-v"]) == 0
    assert capsys.readouterr() == ("", "trec_eval version 10.0\n")
