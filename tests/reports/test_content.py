"""What a report says, worked out by hand on small inputs."""

from __future__ import annotations

from typing import Any

import pytest

from rankproof import evaluate, explain, report, sample
from rankproof.errors import UsageError
from rankproof.reports.content import BUCKETS, Content
from rankproof.reports.words import summary_sentences

from .conftest import of_the_sample

RELEVANT = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"a": 1, "d": 1}, "q3": {"e": 1}}
OLD = {"q1": ["a", "c", "b"], "q2": ["x", "a"], "q3": ["x", "y", "e"]}
NEW = {"q1": ["c", "x", "a"], "q2": ["a", "d"], "q3": ["e"]}


def content(**settings: Any) -> Content:
    return report(RELEVANT, {"old": OLD, "new": NEW}, "RR, AP", **settings).content


def test_differences_are_sorted_from_the_greatest_gain_to_the_greatest_loss() -> None:
    ((system, moved),) = content().moved.items()
    assert system == "new"
    assert moved == [
        ("q3", pytest.approx(2 / 3)),
        ("q2", pytest.approx(1 / 2)),
        ("q1", pytest.approx(-2 / 3)),
    ]


@pytest.mark.parametrize("systems", [{"new": NEW}, {"old": OLD, "new": NEW}])
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"baseline": "zzz"}, "baseline: got 'zzz', expected one of"),
        ({"margin": -1}, "margin: got -1"),
        ({"correction": "sidak"}, "correction: got 'sidak'"),
        ({"alpha": 7}, "alpha: got 7"),
        ({"seed": -1}, "seed: got -1"),
    ],
)
def test_one_system_or_two_what_cannot_be_is_refused(
    systems: dict[str, Any], settings: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        report(RELEVANT, systems, **settings)


def test_the_matrix_counts_won_and_lost_queries() -> None:
    assert content().duels == (((0, 0), (1, 2)), ((2, 1), (0, 0)))


def test_relevant_documents_are_counted_where_they_stand() -> None:
    ranks = [1, 2, 3, 4, 10, 11, 50, 51, 100, 101, 200]
    documents = {f"d{rank}": 1 for rank in ranks} | {"nowhere": 1, "also": 1}
    ranking = [f"d{rank}" for rank in range(1, 201)]
    found = report({"q": documents}, {"one": {"q": ranking}}, "AP").content
    assert BUCKETS[0] == (1, 1)
    assert found.buckets == {"one": (1, 2, 1, 1, 1, 1, 2, 2, 2)}


def test_the_curves_are_interpolated_precision_and_success() -> None:
    judged, ranking = {"q": {"a": 1, "b": 1}, "p": {"a": 1}}, {"q": ["x", "a", "y", "b"], "p": ["a"]}
    (system,) = report(judged, {"one": ranking}, "AP").content.systems
    assert system.precision == pytest.approx([0.75] * 11)
    assert system.success[:3] == (0.5, 1.0, 1.0)


def test_what_is_lost_adds_up_to_the_ceiling() -> None:
    for system in report(sample.judgments(), sample.rankings()).content.systems:
        for bar in system.bars:
            assert bar.never_found is not None
            assert bar.ranked_too_low is not None
            assert bar.mean + bar.never_found + bar.ranked_too_low == pytest.approx(bar.ceiling)
            assert bar.low <= bar.mean <= bar.high


def test_the_summary_names_a_winner_only_where_there_is_one() -> None:
    judged = {f"q{i}": {"a": 1} for i in range(20)}
    old, new = {q: ["x", "a"] for q in judged}, {q: ["a"] for q in judged}
    better = summary_sentences(report(judged, {"old": old, "new": new}, "RR").content)
    same = summary_sentences(report(judged, {"old": old, "copy": old}, "RR").content)
    assert better[0] == "new is better than old on RR, by +0.5000."
    assert same[0] == "No winner: no system is shown to beat old on RR."


def test_a_best_mean_that_others_have_too_is_not_that_of_one() -> None:
    said = summary_sentences(report(RELEVANT, {"old": OLD, "new": OLD, "third": OLD}, "RR").content)
    assert any("old has the best mean RR of 0.6111 (shared with 2 other systems), with" in each for each in said), said
    assert not any("shared" in each for each in summary_sentences(content()))


def test_a_measure_by_which_less_is_better_is_led_by_the_lowest() -> None:
    judged = {"q1": {"a": 1}, "q2": {"b": 1}}
    deep, high = {"q1": ["x", "y", "a"], "q2": ["b"]}, {"q1": ["a"], "q2": ["b"]}
    found = report(judged, {"deep": deep, "high": high}, "FirstRel").content
    assert found.leader == "high"
    assert found.moved["high"] == [("q1", 2.0), ("q2", 0.0)]
    assert found.duels[1][0] == (1, 0)


def test_queries_that_lost_most_come_first_with_both_lists() -> None:
    case = content().cases[0]
    assert (case.query, case.why) == ("q1", "lost most")
    assert [name for name, _ in case.sides] == ["old", "new"]
    assert [line.document for line in case.sides[1][1].lines] == ["c", "x", "a"]


def test_queries_that_either_system_misses_are_looked_at_and_perfect_ones_are_not() -> None:
    judged = {f"q{i}": {"a": 1} for i in range(14)}
    perfect = {query: ["a"] for query in judged}
    misses = perfect | {query: ["x"] for query in ("q5", "q11")} | {"q13": ["x", "a"]}
    for systems in ({"old": misses, "new": perfect}, {"one": misses}):
        cases = report(judged, systems, "RR").content.cases
        assert [each.query for each in cases] == ["q5", "q11", "q13"]
    assert not report(judged, {"old": perfect, "new": perfect}, "RR").content.cases


def test_intervals_are_those_of_the_other_commands() -> None:
    systems = sample.rankings()
    found = report(sample.judgments(), systems, "nDCG@10, RR").content
    for each in found.systems:
        scores = evaluate(sample.judgments(), systems[each.name], "nDCG@10, RR")
        assert [(bar.low, bar.high) for bar in each.bars] == [scores.interval(name) for name in scores]
    assert "Bayesian bootstrap" in found.method


def test_what_is_left_out_is_said() -> None:
    judged = {f"q{i}": {"a": 1} for i in range(60)}
    page = report(judged, {"one": {q: ["x", "a"] for q in judged}}, "RR").html()
    assert "the 40 hardest queries; 20 others left out" in page
    assert "The other 50 queries are left out." in page


def test_groups_are_counted_and_small_ones_not_decided() -> None:
    page = report(RELEVANT, {"old": OLD, "new": NEW}, "RR", by={"q1": "long", "q2": "short", "q3": "short"})
    assert page.content.systems[0].slices == {"long": (1, 1.0), "short": (2, pytest.approx(5 / 12))}
    assert "Groups of queries" in page.html()
    assert {row.verdict for row in page.content.comparison or () if row.slice} == {"unclear"}


def test_a_finding_stands_once_with_the_systems_it_is_about() -> None:
    found = report(sample.judgments(), sample.rankings()).content.findings
    sentences = [str(finding) for finding, _ in found]
    assert len(set(sentences)) == len(sentences)
    missing = [systems for finding, systems in found if finding.kind == "missing-queries"]
    assert missing == [["keyword"]]


def test_texts_and_titles_are_shown(sample_page: str) -> None:
    assert "What does error FH-301 mean?" in sample_page
    assert "FH-301: certificate not trusted" in sample_page


@pytest.mark.slow
def test_the_same_input_gives_the_same_page(sample_page: str) -> None:
    of_the_sample.cache_clear()
    assert of_the_sample() == sample_page


@pytest.mark.parametrize(
    ("settings", "counts"),
    [
        ({"measure": "P@3"}, (1, 2, 2, None, 1)),
        ({"measure": "P@3", "corpus_size": 20}, (1, 2, 2, 15, 1)),
        ({"measure": "P"}, (2, 3, 1, None, 2)),
        ({"measure": "P(rel=2)@3"}, (1, 2, 0, None, 1)),
        ({"measure": "P@3", "unjudged": "skip"}, (2, 1, 1, None, 0)),
        ({"measure": "P@3", "unjudged": "relevant"}, (2, 1, 3, None, 0)),
    ],
)
def test_the_two_sets_are_counted(settings: dict[str, Any], counts: tuple[int | None, ...]) -> None:
    judged = {"q": {"a": 2, "b": 1, "c": 1, "n": 0}}
    found = explain(judged, {"q": ["n", "a", "x", "b", "y"]}, "q", **settings)
    tp, fp, fn, tn, unjudged = counts
    page = found.html()
    assert f"TP {tp}, FP {fp}, FN {fn}, TN {'not known' if tn is None else tn}" in page
    assert (f"Of FP, {unjudged} document" in page) == bool(unjudged)


def test_the_ideal_stands_beside_the_list_with_what_it_would_add() -> None:
    judged = {"q": {"a": 1, "b": 3, "n": 0}}
    own = explain(judged, {"q": ["a", "x", "b"]}, "q", "nDCG@3").own
    assert [(line.rank, line.document) for line in own.ideal] == [(1, "b"), (2, "a")]
    assert sum(line.adds or 0 for line in own.ideal) == pytest.approx(1)
    assert sum(line.adds or 0 for line in own.lines) == pytest.approx(own.value)


@pytest.mark.parametrize("systems", [{}, [], ["a.run"], None])
def test_a_report_needs_named_rankings(systems: Any) -> None:
    with pytest.raises(UsageError, match="expected 1 or more systems by name"):
        report(RELEVANT, systems)


def test_a_notebook_shows_the_page_in_a_frame_of_its_own() -> None:
    shown = report(RELEVANT, {"old": OLD}, "RR", title='"><b>')._repr_html_()
    assert shown.startswith('<iframe title="&quot;&gt;&lt;b&gt;"')
    assert shown.count("<") == 2


def test_the_page_says_how_its_numbers_were_made() -> None:
    page = content()
    assert page.permutations == 100_000
    assert (
        "Bayesian bootstrap, part of a query at either end of the range"
        in report(RELEVANT, {"old": OLD, "new": NEW}, "RR").html()
    )


def test_every_form_of_a_report_says_over_how_many_comparisons_p_is_corrected() -> None:
    systems = {name: sample.rankings()[name] for name in ("keyword", "dense")}
    two = report(sample.judgments(), systems, ["nDCG@10", "RR"])
    for form in ("full", "markdown", "latex", "html"):
        shown = " ".join(two.format(form).split())
        assert "query by query, corrected over 2 comparisons (holm); verdicts" in shown, form
    assert "corrected over" not in report(sample.judgments(), systems, ["RR"]).format("full")
    grouped = report(sample.judgments(), systems, ["nDCG@10", "RR"], by=sample.kinds())
    tests = 2 * len(set(sample.kinds().values()))
    for form in ("full", "markdown", "latex", "html"):
        shown = " ".join(grouped.format(form).split())
        assert f"corrected over 2 comparisons (holm), those in groups apart over {tests};" in shown, form
    assert "A group of fewer than 10 queries is shown" in grouped.html()
