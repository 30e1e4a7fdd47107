"""Orders of systems: how alike two are, and whether one hangs on single queries; in Python and from the shell."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau

from rankproof import History, Scores, evaluate, leaderboard, rank_correlation, report, sample
from rankproof.cli import run
from rankproof.errors import DataError, RankproofError, UsageError
from rankproof.scoring.tables import DISTRUST

JUDGED = {f"q{i}": {"a": 1} for i in range(5)}
AT = {rank: [f"x{i}" for i in range(rank - 1)] + ["a"] for rank in range(1, 6)}


def scores(*ranks: int):
    """Scores of a system that finds the answers at these ranks."""
    return evaluate(JUDGED, {query: AT[rank] for query, rank in zip(JUDGED, ranks, strict=True)}, "RR")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path in sample.folder().iterdir():
        if path.suffix in {".tsv", ".run"}:
            shutil.copy(path, tmp_path / path.name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_one_query_that_makes_a_winner_is_named() -> None:
    lucky, steady = scores(1, 5, 5, 5, 5), scores(4, 4, 4, 4, 4)
    board = leaderboard({"steady": steady, "lucky": lucky})
    assert list(board.means) == ["lucky", "steady"]
    assert (board.moves, board.first_changes, board.least) == (("q0",), 1, -1.0)
    assert board.average == pytest.approx((4 * 1 - 1) / 5)
    assert "(q0), the first place for 1" in " ".join(str(board).split())


def test_the_order_of_systems_and_queries_does_not_matter() -> None:
    systems = {"a": scores(1, 2, 3, 4, 5), "b": scores(2, 2, 2, 2, 2), "c": scores(5, 4, 3, 2, 1)}
    turned = dict(reversed(systems.items()))
    assert leaderboard(systems).to_dict() == leaderboard(turned).to_dict()


def test_where_less_is_better_the_least_comes_first() -> None:
    worse, better = (dict.fromkeys(JUDGED, AT[rank]) for rank in (3, 1))
    found = {name: evaluate(JUDGED, run, "FirstRel") for name, run in {"worse": worse, "better": better}.items()}
    assert list(leaderboard(found).means) == ["better", "worse"]
    assert rank_correlation(found, {"worse": 0.1, "better": 0.9}).tau_b.value == 1


def test_what_went_unanswered_and_unjudged_stands_under_the_order() -> None:
    judged = {f"q{i}": {"a": 1, "x": 0} for i in range(30)}
    systems = {
        "whole": {query: ["x", "a"] for query in judged},
        "one": {"q7": ["a", "x"]},
        "unknown": {query: ["n1", "n2", "a"] for query in judged},
    }
    told = " ".join(str(leaderboard(judged, systems, "RR")).split())
    assert "Unanswered (each counts as nothing found): one 29 of 30 queries." in told
    assert "Nobody judged, of the first 10 documents: whole 0 %, unknown 67 %, one 0 %." in told
    page = " ".join(str(report(judged, {"whole": systems["whole"], "unknown": systems["unknown"]}, "RR")).split())
    assert "unknown 67 %" in page
    assert "found nothing that would mislead" not in page


@pytest.mark.parametrize("seed", range(20))
def test_tau_b_is_scipys(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = (dict(enumerate(rng.integers(0, 6, 12) / 10)) for _ in range(2))
    named = [{f"s{i}": value for i, value in each.items()} for each in (first, second)]
    expected = kendalltau(list(first.values()), list(second.values())).statistic
    assert rank_correlation(*named).tau_b.value == pytest.approx(expected)


def test_two_measures_and_two_sets_of_scores() -> None:
    systems = {name: evaluate(sample.judgments(), each, "nDCG@10, AP") for name, each in sample.rankings().items()}
    by_measure = rank_correlation(systems, None, "nDCG@10", "AP")
    assert by_measure.names == ("nDCG@10", "AP")
    assert by_measure.scores["dense"] == (systems["dense"]["nDCG@10"], systems["dense"]["AP"])
    numbers = {name: -each["AP"] for name, each in systems.items()}
    turned = rank_correlation(systems, numbers, "AP")
    assert (turned.tau_b.value, turned.tau_ap.value) == (-1, -1)
    assert rank_correlation({"a": 1, "b": 2, "z": 3}, {"a": 1, "b": 2}).left_out == ("z",)


def test_equal_scores_leave_tau_open_and_say_so() -> None:
    found = rank_correlation({"a": 1, "b": 1}, {"a": 1, "b": 2})
    assert found.tau_b.value is None
    assert "all scores of one ordering are equal" in str(found)


def test_scores_that_are_equal_but_for_rounding_are_equal() -> None:
    found = rank_correlation({"a": 0.3, "b": 0.1 + 0.2, "c": 0.1}, {"a": 0.5, "b": 0.5, "c": 0.1})
    assert (found.tau_b.value, found.tau_ap.value, found.rbo.value) == (1, 1, pytest.approx(1))
    judged = {f"q{i}": {f"d{n}": 1 for n in range(10)} for i in range(10)}

    def scored(*hits: int) -> Scores:
        found = ([f"{'d' if n < hit else 'x'}{n}" for n in range(10)] for hit in hits)
        return evaluate(judged, dict(zip(judged, found, strict=True)), "P@10")

    one, other = scored(4, 8, 7, 0, 1, 9, 5, 2, 6, 4), scored(3, 8, 8, 0, 1, 9, 5, 2, 6, 4)
    assert one["P@10"] != other["P@10"]  # .46 both, as people count
    for board in (leaderboard({"a": one, "b": other}), leaderboard({"b": one, "a": other})):
        assert list(board.means) == ["a", "b"]
        assert [row["rank"] for row in board._document().records] == [1, 1]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: leaderboard({"a": scores(1, 1, 1, 1, 1)}),
        lambda: rank_correlation({"a": 1, "b": 2}),
        lambda: rank_correlation({"a": 1, "b": float("nan")}, {"a": 1, "b": 2}),
        lambda: rank_correlation({"a": 1, "b": True}, {"a": 1, "b": 2}),
        lambda: rank_correlation({"a": 1}, {"b": 2}),
        lambda: rank_correlation({}, {"b": 2}),
        lambda: rank_correlation({"a": 1, "b": 2}, {"a": 1, "b": 2}, p=1),
        lambda: rank_correlation({"a": scores(1, 1, 1, 1, 1), "b": 2}, {"a": 1, "b": 2}),
        lambda: leaderboard({n: evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RR") for n in "ab"}),
    ],
)
def test_what_cannot_be_ordered_is_an_error(wrong) -> None:
    with pytest.raises((UsageError, DataError)):
        wrong()


FORMS = {
    "tabs": "x\t0.1\ny\t.3\nz z\t2e-1\n",
    "blanks": "x 0.1\ny   .3\nz z 2e-1\n",
    "csv": 'system,score\nx,0.1\ny,0.3\n"z z",0.2\n',
    "mapping": '{"x": 0.1, "y": 0.3, "z z": 0.2}',
    "records": '[{"run": "x", "value": 0.1}, {"run": "y", "value": 0.3}, {"run": "z z", "value": 0.2}]',
    "lines": '{"name": "x", "mean": 0.1}\n{"name": "y", "mean": 0.3}\n\n{"name": "z z", "mean": 0.2}\n',
    "measures": "ranking,slice,measure,mean\nx,,AP,0.1\nx,big,AP,9\nx,,RR,7\ny,,map,0.3\nz z,,AP,0.2\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_files_of_scores_in_any_form(form: str, tmp_path: Path) -> None:
    (tmp_path / form).write_text(FORMS[form])
    found = rank_correlation(
        str(tmp_path / form), {"x": 0.1, "y": 0.3, "z z": 0.2}, "AP" if form == "measures" else None
    )
    assert found.tau_b.value == 1
    assert all(mine == theirs for mine, theirs in found.scores.values())


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("x\tfoo\n", "line 1: got 'foo' as the score"),
        ("x\t1\nx\t2\n", "line 2: a second score of 'x'"),
        ("x\t1\ny\tnan\n", "line 2: got 'nan'"),
        ("alone\n", "expected a system and its score"),
        ("", "empty, it has no rows"),
        ("measure,ranking,mean\n", "no scores in it"),
        ('[{"mean": 1}]', "item 1"),
        ('{"x": [1]}', "as the score"),
        ('{"x": 1}\n{nope\n', "line 2: not valid JSON"),
        ("ranking,measure,mean\nx,AP,1\nx,RR,2\n", "several measures, AP, RR"),
    ],
)
def test_a_bad_file_of_scores_is_named_with_its_place(content: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "bad").write_text(content)
    with pytest.raises(RankproofError, match=r"bad") as error:
        rank_correlation(str(tmp_path / "bad"), {"x": 1, "y": 2})
    assert says in str(error.value)


def test_correlations_of_systems_that_left_much_unanswered_say_so_and_end_with_3(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = Path("keyword.run").read_text().splitlines(keepends=True)
    kept = sorted({line.split()[0] for line in lines})[:45]
    Path("part.run").write_text("".join(line for line in lines if line.split()[0] in kept))
    call = ["rank-correlation", "judgments.tsv", "part.run", "dense.run", "-m", "AP,RR"]
    said = "part.run answered 45 of 60 queries, and 56 (93 %) must be."
    for words in (call, [*call[:-1], "AP", "--judgments", "judgments.tsv"]):
        for form, where in (("table", 0), ("markdown", 0), ("csv", 1)):
            assert run([*words, "-f", form]) == 3
            assert said in " ".join(capsys.readouterr()[where].split()), form
        assert run([*words, "-f", "json"]) == 3
        assert json.loads(capsys.readouterr().out)["missing"][0].startswith(said)
        assert run([*words, "--allow-missing", "0.25"]) == 0
        assert run([*words, "--allow-errors"]) == 3
        assert DISTRUST in capsys.readouterr().out
    Path("odd.run").write_text("".join(f"z{line}" for line in lines))
    call[2] = "odd.run"
    assert run([*call, "--allow-missing", "1"]) == 3
    assert run([*call, "--allow-missing", "1", "--allow-errors"]) == 0


@pytest.mark.slow
def test_the_shell_orders_by_two_measures_two_judgments_files_and_names(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = ["keyword.run", "dense.run", "fused.run"]

    def found(*words: str) -> dict:
        assert run(["rank-correlation", *words, "-f", "json"]) == 0
        return json.loads(capsys.readouterr().out)

    measured = found("judgments.tsv", *runs, "-m", "nDCG@10,RR")
    assert (measured["names"], measured["systems"]) == (["nDCG@10", "RR"], 3)
    shutil.copy("judgments.tsv", "other.tsv")
    assert found("judgments.tsv", *runs, "--judgments", "other.tsv", "-m", "AP")["tau_b"] == 1
    run(["evaluate", "judgments.tsv", *runs, "-m", "AP,RR", "-f", "csv", "-o", "scores.csv"])
    assert found("scores.csv", "scores.csv", "-m", "AP")["tau_b"] == 1
    for name, path in zip("abc", runs, strict=True):
        History().save(evaluate("judgments.tsv", path, "nDCG@10,RR"), name)
    saved = found("a", "b", "c", "-m", "nDCG@10,RR")
    assert saved["tau_b"] == measured["tau_b"]
    capsys.readouterr()
    assert run(["leaderboard", "a", "b", "c"]) == 0
    by_name = capsys.readouterr().out
    assert run(["leaderboard", "judgments.tsv", *runs, "-m", "nDCG@10"]) == 0
    by_file = capsys.readouterr().out
    assert run(["leaderboard", "judgments.tsv", *runs, "-m", "nDCG@10,RR"]) == 0
    told = capsys.readouterr()
    assert (told.out, told.err) == (by_file, "rankproof: note: nDCG@10 alone orders the systems; left out: RR.\n")
    assert [line.split()[1:] for line in by_name.splitlines()[2:5]] == [
        line.split()[1:] for line in by_file.splitlines()[2:5]
    ]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("rank-correlation judgments.tsv keyword.run dense.run -m AP", "expected two to compare"),
        ("rank-correlation judgments.tsv keyword.run --judgments judgments.tsv -m AP", "1 ranking"),
        ("rank-correlation a.tsv b.tsv", "no such file"),
        ("rank-correlation judgments.tsv keyword.run dense.run -m AP,RR --p 2", "p: got 2.0"),
        ("rank-correlation x y -f xml", "format: got 'xml'"),
        ("leaderboard judgments.tsv keyword.run", "1 ranking"),
        ("leaderboard judgments.tsv keyword.run dense.run --alpha 0", "alpha: got 0.0"),
    ],
)
def test_what_cannot_be_is_said(folder: Path, line: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(line.split()) == 2
    assert says in capsys.readouterr().err
