"""`compare`: verdicts, families of tests, slices, and what is refused."""

from __future__ import annotations

import html
import json
import math
import random
import re
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from rankproof import RR, audit, compare, compare_scores, diagnose, evaluate, explain, gate, leaderboard, report, sample
from rankproof.core.measure import Measure
from rankproof.errors import DataError, UsageError
from rankproof.io.load import load_judgments
from rankproof.stats.detectable_difference import detectable, needed_or_why
from rankproof.stats.differences import equivalence

Run = dict[str, list[str]]


def systems(seed: int, n: int, gain: float) -> tuple[dict[str, dict[str, int]], dict[str, Run]]:
    """One relevant document a query; the second system has it first more often by `gain`."""
    rnd = random.Random(seed)
    judged = {f"q{i}": {"good": 1} for i in range(n)}

    def ranking(chance: float) -> list[str]:
        return ["good", "x"] if rnd.random() < chance else ["x", "y", "good"]

    return judged, {
        "old": {q: ranking(0.5) for q in judged},
        "new": {q: ranking(0.5 + gain) for q in judged},
    }


@pytest.mark.slow
def test_a_row_agrees_with_what_evaluate_and_scipy_say() -> None:
    judged, runs = systems(1, 40, 0.3)
    row = compare(judged, runs, "RR").row("new", "MRR")
    old, new = (evaluate(judged, runs[name], "RR") for name in ("old", "new"))
    d = np.array([new.per_query["RR"][q] - old.per_query["RR"][q] for q in judged])
    assert row.difference == pytest.approx(new["RR"] - old["RR"])
    assert (row.wins, row.ties, row.losses) == ((d > 0).sum(), (d == 0).sum(), (d < 0).sum())
    expected = stats.permutation_test((d,), np.mean, permutation_type="samples", n_resamples=99_999, random_state=0)
    assert row.p == pytest.approx(expected.pvalue, abs=0.01)
    assert row.effect == pytest.approx(d.mean() / d.std(ddof=1))
    assert row.low is not None
    assert row.high is not None
    assert row.low < row.difference < row.high


@pytest.mark.parametrize(("gain", "verdict"), [(0.45, "better"), (-0.45, "worse"), (0.0, "unclear")])
def test_verdicts(gain: float, verdict: str) -> None:
    judged, runs = systems(2, 80, gain)
    found = compare(judged, runs, "RR, P@1")
    assert found.row("new", "RR").verdict == verdict
    assert found.winner == ("new" if verdict == "better" else None)


def test_the_same_ranking_twice_is_equivalent_within_a_margin_and_else_unclear() -> None:
    judged, runs = systems(3, 60, 0.0)
    same = {"a": runs["old"], "b": runs["old"]}
    assert compare(judged, same, "RR", margin=0.07).row("b", "RR").verdict == "equivalent"
    assert compare(judged, same, "RR", margin=0.01).row("b", "RR").verdict == "unclear"
    assert compare(judged, same, "RR").row("b", "RR").verdict == "unclear"
    assert compare(judged, same, "RR").winner is None


@pytest.mark.slow
def test_equivalence_too_is_claimed_of_a_row_only_beside_all_other_rows() -> None:
    judged, runs = systems(3, 60, 0.0)
    moves = np.array([by for _, by in compare(judged, runs, "RR").moved("new")])
    margin = next(m for m in np.arange(0.0, 1.0, 0.001).tolist() if m > 0 and equivalence(moves, m).p < 0.015)
    assert compare(judged, runs, "RR", margin=margin).row("new", "RR").verdict == "equivalent"
    three = compare(judged, runs, "RR, AP, RR@5", margin=margin)
    assert {row.verdict for row in three} == {"unclear"}
    free = compare(judged, runs, "RR, AP, RR@5", margin=margin, correction="none")
    assert {row.verdict for row in free} == {"equivalent"}


def test_few_queries_decide_nothing() -> None:
    judged, runs = systems(4, 6, 0.5)
    row = compare(judged, runs, "RR").row("new", "RR")
    assert (row.verdict, row.note) == ("unclear", "fewer than 10 queries decide nothing")


def test_lower_is_better_measures_are_turned() -> None:
    judged, runs = systems(5, 80, 0.45)
    row = compare(judged, runs, "FirstRel").row("new", "FirstRel")
    assert row.difference < 0
    assert row.verdict == "better"
    assert row.wins > row.losses
    # An effect is the difference in its standard deviations, so both have one sign.
    assert row.effect is not None
    assert row.effect < 0
    back = compare(judged, runs, "FirstRel", baseline="new").rows[0]
    assert back.effect == pytest.approx(-row.effect)


@pytest.mark.slow
def test_of_many_systems_the_worst_are_named_for_what_limits_them() -> None:
    judged = {f"q{i}": {"a": 1, "x": 0} for i in range(20)}
    runs = {f"s{j:02}": {q: ["new" if i < j else "x", "a"] for i, q in enumerate(judged)} for j in range(20)}
    for j, each in enumerate(runs.values()):
        for query in list(each)[:j]:
            del each[query]
    runs["s00"] = {query: ["n1", "a"] for query in judged}
    for text in (compare(judged, runs, "RR").format("full"), str(leaderboard(judged, runs, "RR"))):
        told = " ".join(text.split())
        assert "s10 10 of 20 queries" in told
        assert "s19 19 of 20 queries, and fewer or as many in 9 more" in told
        assert "s09 9 of 20" not in told
        assert "Nobody judged, of the first 10 documents: 0 % (s01) to 50 % (s00) over 20 systems." in told


def test_correction_is_over_all_queries_and_over_slices_apart() -> None:
    judged, runs = systems(6, 80, 0.3)
    alone = compare(judged, runs, "RR")
    sliced = compare(judged, runs, "RR", by=lambda query: "even" if int(query[1:]) % 2 == 0 else "odd")
    assert sliced.row("new", "RR").p_corrected == alone.row("new", "RR").p_corrected == alone.row("new", "RR").p
    parts = [sliced.row("new", "RR", group) for group in ("even", "odd")]
    assert sorted(p.p_corrected for p in parts) >= sorted(p.p for p in parts)
    assert {p.n for p in parts} == {40}


def test_more_systems_make_a_verdict_harder() -> None:
    judged, runs = systems(7, 60, 0.3)
    few = compare(judged, runs, "RR").row("new", "RR")
    many = compare(judged, {**runs, **{f"copy{i}": runs["old"] for i in range(5)}}, "RR").row("new", "RR")
    assert many.p == few.p
    assert many.p_corrected > few.p_corrected


def test_results_do_not_depend_on_the_order_of_queries_or_the_clock() -> None:
    judged, runs = systems(8, 50, 0.2)
    turned = dict(reversed(judged.items()))
    one, other, again = (compare(each, runs, "RR, AP").rows for each in (judged, turned, judged))
    assert one == again
    for row, same in zip(one, other, strict=True):
        assert (row.p, row.verdict, row.wins) == (same.p, same.verdict, same.wins)
        assert (row.low, row.high) == pytest.approx((same.low, same.high), abs=1e-12)


def test_what_won_most_goes_by_the_measure_that_is_compared() -> None:
    judged = {f"q{n}": {"a": 1, "b": 0} for n in range(12)}
    base = {query: ["a", "b"] for query in judged}
    other = {query: ["b", "a"] for query in judged}
    found = compare(judged, {"base": base, "other": other}, ["num_nonrel_judged_ret", "RR"])  # the first is no mean
    assert found.names == ["RR"]
    assert {each.why for each in found.cases(2)} == {"lost 0.5000"}
    assert {value for _, value in found.moved("other")} == {-0.5}


def test_queries_that_moved_most() -> None:
    judged = {f"q{i}": {"good": 1} for i in range(12)}
    old: dict[str, Any] = {q: ["good"] for q in judged}
    new = {**old, "q3": ["x", "good"], "q7": []}
    assert compare(judged, {"old": old, "new": new}, "RR").moved("new")[:2] == [("q7", -1.0), ("q3", -0.5)]


@pytest.mark.first_is_quick
@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv", "json", "jsonl"])
def test_every_format_names_the_systems(form: str) -> None:
    found = compare(sample.judgments(), sample.rankings(), "nDCG@10", margin=0.01)
    text = found.format(form)
    assert "dense" in text
    assert "fused" in text
    if form == "table":
        assert max(map(len, text.splitlines())) <= 80
    if form == "json":
        assert {each["system"] for each in json.loads(text)} == {"dense", "fused"}


def test_the_words_say_who_wins_and_what_cannot_be_told() -> None:
    text = str(compare(sample.judgments(), sample.rankings(), "nDCG@10", baseline="fused"))
    assert "No winner: no system is shown to beat fused on nDCG@10." in text
    assert "dense against fused: cannot tell yet." in text
    assert "dense is better than keyword on nDCG@10" in str(compare(sample.judgments(), sample.rankings(), "nDCG@10"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"baseline": "odl"}, "Did you mean 'old'"),
        ({"alpha": 0}, "alpha: got 0, expected a number of at least 1e-12 and below 1"),
        ({"alpha": 1.5}, "alpha: got 1.5"),
        ({"margin": -0.1}, "margin: got -0.1, expected a number above 0"),
        ({"correction": "holmes"}, "Did you mean 'holm'"),
        ({"baseline": 3}, "baseline: got 3, expected one of"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], says: str) -> None:
    judged, runs = systems(9, 12, 0.0)
    with pytest.raises(UsageError, match=says):
        compare(judged, runs, "RR", **arguments)


def test_one_system_is_not_enough() -> None:
    with pytest.raises(UsageError, match="got 1, expected 2 or more systems"):
        compare({"q": ["a"]}, {"only": {"q": ["a"]}}, "RR")


@pytest.mark.slow
def test_identical_systems_are_told_apart_no_more_often_than_alpha() -> None:
    alarms = sum(
        compare(*systems(seed, 40, 0.0), "RR", permutations=2_000).row("new", "RR").verdict != "unclear"
        for seed in range(400)
    )
    assert alarms / 400 <= 0.05 + 3 * (0.05 * 0.95 / 400) ** 0.5


def test_a_ranking_of_other_queries_is_said_beside_the_verdict() -> None:
    judged = {f"q{i}": {"a": 1} for i in range(12)}
    found = compare(judged, {"old": {query: ["a"] for query in judged}, "new": {"other": ["a"]}}, "RR")
    for form in ("table", "markdown"):
        assert "None of the 12 judged queries is in the ranking" in " ".join(found.format(form).split())


def test_equal_rankings_are_called_equal() -> None:
    judged = {f"q{i}": {"a": 1} for i in range(12)}
    ranked = {query: ["a"] for query in judged}
    text = str(compare(judged, {"old": ranked, "new": ranked}, "RR"))
    assert "same value on every query" in text
    assert "\n\n\n" not in text


@pytest.mark.parametrize("margin", [0, -1, float("nan"), float("inf")])
def test_a_margin_is_a_size(margin: float) -> None:
    judged = {"q": {"a": 1}}
    with pytest.raises(UsageError, match=r"margin: got .* Next: "):
        compare(judged, {"old": {"q": ["a"]}, "new": {"q": ["a"]}}, "RR", margin=margin)


def test_measures_that_are_no_means_are_left_out_and_alone_refused() -> None:
    systems = {name: sample.rankings()[name] for name in ("keyword", "dense")}
    found = compare(sample.judgments(), systems, "GMAP, RR")
    assert {row.measure for row in found} == {"RR"}
    assert "Left out, as they are not means over the queries: GMAP." in " ".join(str(found).split())
    with pytest.raises(UsageError, match="GMAP: averaged by the geometric mean"):
        compare(sample.judgments(), systems, "GMAP")


def test_a_group_of_which_no_query_counts_is_left_out() -> None:
    judged = {f"q{i}": {"a": 1} for i in range(20)}
    ranked = {query: ["a"] for query in list(judged)[:15]}
    by = {query: "asked" if query in ranked else "not asked" for query in judged}
    found = compare(judged, {"old": ranked, "new": ranked}, "RR", missing="skip", by=by)
    assert {row.slice for row in found} == {"", "asked"}


def test_names_need_not_be_text_and_what_is_no_number_is_refused() -> None:
    judged = {f"q{i}": {"a": 1} for i in range(12)}
    systems = {1: {query: ["a"] for query in judged}, 2: {query: ["x"] for query in judged}}
    assert compare(judged, systems, "RR", baseline=2).winner == "1"  # type: ignore[arg-type, dict-item]
    for wrong in ({"alpha": "0.05"}, {"margin": "0.1"}, {"seed": -1}):
        with pytest.raises(UsageError, match=next(iter(wrong))):
            compare(judged, systems, "RR", **wrong)  # type: ignore[arg-type]


def test_the_table_says_what_would_settle_what_it_cannot_tell() -> None:
    found = compare(sample.judgments(), sample.rankings(), "nDCG@10,P@5", baseline="dense")
    fused = found.row("fused", "nDCG@10")
    first, second = found.format("full").split("\n\n")[1:3]
    assert re.search(r"fused .* cannot tell yet$", first, re.M)
    cells = next(line.split() for line in second.splitlines() if "fused" in line)
    assert cells[1:] == [
        f"{fused.wins}/{fused.ties}/{fused.losses}",
        f"{fused.effect:+.2f}",
        f"{fused.detectable:.4f}",
        f"{fused.p:.3f}"[1:],
        f"{fused.queries_needed:,}",
    ]


def test_the_markdown_table_gives_each_row_its_own_verdict_in_full() -> None:
    found = compare(sample.judgments(), sample.rankings(), "nDCG@10,P@5", baseline="dense", by=sample.kinds())
    lines = [line.split(" | ") for line in found.markdown().splitlines() if re.match(r"\|.*/\d+/", line)]
    needs = {word: [] for word in ("cannot tell yet: ", "worse", "the same", "cannot tell yet", "nothing relevant")}
    for line in lines:
        needs[line[2].partition("needs")[0]].append(line)
    shown = [line[2] for line in needs["cannot tell yet: "]]
    unclear = [row for row in found if row.verdict == "unclear" and row.wins + row.losses]
    assert sorted(shown) == sorted(
        f"cannot tell yet: needs about {row.queries_needed:,} queries" for row in unclear if row.queries_needed
    )
    # Where too few queries moved, nobody can say how many would be needed, and the reason is given.
    assert all(bool(row.needed_note) == (row.queries_needed is None) for row in found)
    assert any(re.match("only [1-9] of .* too few", row.needed_note) for row in found)
    alike = [row for row in found if row.verdict == "unclear" and not row.wins + row.losses]
    assert len(needs["the same"]) == sum(row.n >= 10 for row in alike)  # of fewer nothing can be said
    assert len(needs["worse"]) == sum(row.verdict == "worse" for row in found)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["x", "a name of a run that is far too long for a table of 80 columns"])
def test_a_comparison_keeps_to_80_columns(name: str) -> None:
    rankings = {f"{name} {system}": ranking for system, ranking in sample.rankings().items()}
    measures = "nDCG@10,AP(denominator='found')@100"
    text = compare(sample.judgments(), rankings, measures, margin=0.001, by=sample.kinds()).format()
    assert max(map(len, text.splitlines())) <= 80


def test_every_full_form_has_every_warning_of_the_audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one comparison and one gate: pages, the full text and files say no less than a screen does."""
    monkeypatch.chdir(tmp_path)
    judged = {f"q{i}": {"a": 1, "b": 1} for i in range(12)}
    good, bad = {q: {"a": 2.0, "b": 1.0} for q in judged}, {q: {"x": 1.0, "b": 1.0} for q in list(judged)[:6]}
    compared = compare(judged, {"good": good, "bad": bad}, "RR")
    gated = gate(judged, good, bad, "RR")
    for found, name in ((compared, "bad"), (gated, "candidate")):
        told_of = [each for each in evaluate(judged, bad, "RR").audit if each.severity == "warning"]
        warnings = [str(each) for each in told_of]
        assert len(warnings) > 1
        assert found.to_dict()["data"][name]["warnings"] == [each.message for each in told_of]
        found.save("found.txt", force=True)
        pages = [*map(found.format, ("full", "markdown", "html")), Path("found.txt").read_text()]
        for page in [*pages, *([found.format("junit")] if found is gated else [])]:
            told = " ".join(html.unescape(page).split())
            assert all(f"{name}: {each}" in told for each in warnings)
    assert "warning bad: 6 of 12 judged queries without a ranking" in " ".join(compared.format().split())


def test_judgments_that_are_a_ranking_are_doubted_by_a_gate_too() -> None:
    scored = {f"q{i}": {f"d{j}": i + 1 + j / 7 for j in range(6)} for i in range(40)}
    judged = {q: {**dict.fromkeys(docs, 1), "d9": 0} for q, docs in scored.items()}
    other = {q: {d: -each for d, each in docs.items()} for q, docs in scored.items()}
    found = gate(scored, judged, other, "RR", margin=0.3)
    assert "check the order of the two" in " ".join(str(found).split())
    assert found.outcome == "pass"


def test_no_size_is_detectable_if_all_queries_changed_by_the_same() -> None:
    judged = {f"q{i}": {"a": 1} for i in range(9)}
    runs = {name: {query: [found] for query in judged} for name, found in (("old", "b"), ("new", "a"))}
    row = compare(judged, runs, "RR").row("new", "RR")
    assert (row.difference, row.detectable, row.verdict) == (1.0, None, "unclear")


def test_what_is_detectable_gets_a_verdict_beside_all_other_rows() -> None:
    judged, runs = systems(2, 80, 0.1)
    alone, beside = compare(judged, runs, "P@1"), compare(judged, runs, "P@1, RR, AP")
    row = beside.row("new", "P@1")
    moves = np.array([by for _, by in beside.moved("new", "P@1")])
    assert row.detectable == detectable(moves, 0.05 / 3).value
    assert row.queries_needed == needed_or_why(moves, row.difference, 0.05 / 3)[0]
    assert alone.row("new", "P@1").detectable == detectable(moves, 0.05).value
    free = compare(judged, runs, "P@1, RR, AP", correction="none")
    assert free.row("new", "P@1").detectable == alone.row("new", "P@1").detectable


@pytest.mark.parametrize("function", [compare, gate, report, explain, audit])
def test_an_argument_that_nobody_knows_is_named_with_those_that_are_known(function: Any) -> None:
    with pytest.raises(UsageError) as refused:
        function({}, {}, {}, misssing="skip")
    assert f"{function.__name__}: unknown argument 'misssing'. Did you mean 'missing'?" in str(refused.value)
    assert "no_relevant" in str(refused.value)


@pytest.mark.parametrize("function", [compare, gate, report, explain, diagnose])
@pytest.mark.parametrize("word", ["measure", "measures", "metric", "metrics"])
def test_an_argument_as_others_call_it_is_told_its_name(function: Any, word: str) -> None:
    own = next(name for name in signature(function).parameters if name.startswith("measure"))
    if word == own:
        return
    with pytest.raises(UsageError, match=rf"unknown argument '{word}' \(here '{own}'\)"):
        function({}, {}, *([{}] if function in (gate, explain) else []), **{word: "nDCG@10"})


@pytest.mark.parametrize(("wrong", "says"), [([math.nan, 1.0], "gave nan for query 'q1'"), ([1.0], "shape")])
def test_a_measure_of_the_users_own_that_gives_no_numbers_is_named(wrong: list[float], says: str) -> None:
    judged = {"q1": {"a": 1}, "q2": {"a": 1}}
    runs = {name: {"q1": ["a"], "q2": ["a"]} for name in "xy"}
    spec = RR.spec
    odd = Measure(replace(spec, name="Odd", function=lambda hits, **given: np.array(wrong)))
    for ask in (lambda: evaluate(judged, runs["x"], [odd]), lambda: compare(judged, runs, [odd])):
        with pytest.raises(DataError, match=says):
            ask()


@pytest.mark.slow
def test_what_is_assumed_of_a_measure_without_a_bound_is_said_wherever_it_is_used() -> None:
    judged = {f"q{i}": {"a": 1} for i in range(20)}
    near, far = ({q: [*"xyzuvw"[: i % reach], "a"] for i, q in enumerate(judged)} for reach in (3, 6))
    both, one = "FirstRel, RR", "FirstRel"
    for name, found in {
        "evaluate": evaluate(judged, near, both),
        "compare": compare(judged, {"near": near, "far": far}, measures=both),
        "gate": gate(judged, near, far, measures=both),
        "leaderboard": leaderboard(judged, {"near": near, "far": far}, measure=one),
        "diagnose": diagnose(judged, far, measure=one),
        "report": report(judged, {"near": near, "far": far}, both),
        "report of one": report(judged, {"near": near}, both),
    }.items():
        for form in ("full", "markdown"):
            told = " ".join(found.format(form).split())
            assert "FirstRel: no bound is known, so" in told, (name, form)
            assert "RR: no bound is known" not in told, (name, form)
    these = gate(judged, near, far, measures=both, about="these")
    assert "no bound is known" not in these.format("full")


def test_scores_from_one_set_of_judgments_must_be_made_alike_too() -> None:
    judged = load_judgments({f"q{i}": {"a": 1} for i in range(12)})
    run = {q: ["x", "a"] for q in judged.queries}
    one, same = evaluate(judged, run, "RR"), evaluate(judged, run, "RR")
    assert compare_scores({"one": one, "same": same}).notes == []
    for other, said in (
        (evaluate(judged, run, "RR", ties="id"), "different conventions"),
        (evaluate(judged, run, "RR, P@1"), "do not both have P@1"),
        (evaluate({q: {"a": 1, "b": 0} for q in run}, run, "RR"), "different judgments"),
    ):
        for place in range(3):
            scores = [one, same]
            scores.insert(place, other)
            with pytest.raises(UsageError, match=said):
                compare_scores(dict(zip("abc", scores, strict=True)))
    grouped = evaluate(judged, run, "RR", by=dict.fromkeys(run, "all"))
    assert any("different groups" in note for note in compare_scores({"one": one, "grouped": grouped}).notes)
    with pytest.raises(UsageError, match="'b': got 7"):
        compare_scores({"a": one, "b": 7})  # type: ignore[dict-item]
