"""The whole diagnosis: where a cause was put into the data, the diagnosis finds it; where none was, it is silent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rankproof import Diagnosis, diagnose, evaluate, progress, report, sample
from rankproof.diagnosing import evidence
from rankproof.diagnosing.words import gain_of
from rankproof.errors import DataError, UsageError

pytestmark = pytest.mark.cover

QUERIES, DEPTH = 24, 30


def judged() -> dict[str, dict[str, int]]:
    return {f"q{i}": {f"d{i}": 1} for i in range(QUERIES)}


def at_rank(rank: int) -> dict[str, list[str]]:
    """Rankings with the one relevant document at a rank."""
    noise = [f"x{j}" for j in range(DEPTH)]
    return {f"q{i}": [*noise[: rank - 1], f"d{i}", *noise[rank - 1 :]][:DEPTH] for i in range(QUERIES)}


@pytest.fixture(scope="module")
def keyword() -> Diagnosis:
    return diagnose(sample.judgments(), sample.rankings()["keyword"], queries=sample.queries(), by=sample.kinds())


# --- gains ------------------------------------------------------------------------------------------


def test_the_headroom_of_reranking_is_what_the_best_order_would_reach() -> None:
    found = diagnose(judged(), at_rank(2), measure="RR")
    fix = next(each for each in found.fixes if each.kind == "reranking")
    assert (fix.before, fix.after, fix.gain) == (0.5, 1.0, 0.5)
    assert fix.claimed
    assert fix.most
    assert "at most +0.5000" in " ".join(str(found).split())


def test_a_larger_k_gains_what_stands_just_below() -> None:
    found = diagnose(judged(), at_rank(15), measure="nDCG@10")
    fix = next(each for each in found.fixes if each.kind == "larger-k")
    assert (fix.measure, fix.before, fix.after, fix.claimed) == ("R@10 to R@20", 0.0, 1.0, True)


@pytest.mark.parametrize("rank", [1, 5, 25])
def test_a_larger_k_is_not_claimed_where_nothing_stands_just_below(rank: int) -> None:
    found = diagnose(judged(), at_rank(rank), measure="nDCG@10")
    assert "larger-k" not in [each.kind for each in found.first]


def test_nothing_is_claimed_of_a_perfect_ranking() -> None:
    found = diagnose(judged(), at_rank(1))
    assert found.first == ()
    assert found.worst == ()
    assert found.failures == ()
    assert "Nothing that was tried is sure to help." in found.format("full")


def test_what_was_never_found_no_reranking_mends() -> None:
    found = diagnose(judged(), {query: ["x", "y"] for query in judged()})
    assert found.first == ()
    assert {each.why for each in found.worst} == {("never-found",)}
    assert [each.name for each in found.failures] == ["low recall", "low precision"]
    assert found.fix_order[0] == "embedding model"
    assert found.fix_order[-1] == "reranking"


def test_few_queries_claim_nothing() -> None:
    few = {query: docs for query, docs in judged().items() if query in ("q1", "q2", "q3")}
    assert diagnose(few, at_rank(3)).first == ()


def test_gains_are_sorted_and_at_most_three_are_recommended(keyword: Diagnosis) -> None:
    gains = [each.gain for each in keyword.fixes if each.claimed and not each.most]
    assert gains == sorted(gains, reverse=True)
    assert len(keyword.first) <= 3
    for each in keyword.first:
        assert each.low is not None
        assert each.low > 0


def test_keyword_search_is_tried_where_the_documents_are_there() -> None:
    """A ranking that finds nothing of half the questions, though their words stand in the documents."""
    texts = {f"d{i}": f"All that there is to know of widget{i} and its parts." for i in range(40)}
    asked = {f"q{i}": f"where do I read about widget{i}" for i in range(QUERIES)}
    poor = {f"q{i}": [f"d{i}"] if i % 2 else ["d38", "d39"] for i in range(QUERIES)}
    found = diagnose(judged(), poor, queries=asked, corpus=texts)
    fix = next(each for each in found.fixes if each.kind == "keyword")
    assert fix.claimed
    assert fix.gain > 0.2
    assert fix.losses == 0
    assert not any(each.kind == "keyword" for each in diagnose(judged(), poor, queries=asked).fixes)


def test_keyword_search_is_not_claimed_for_what_keyword_search_found(whole: Diagnosis) -> None:
    fix = next(each for each in whole.fixes if each.kind == "keyword")
    assert not fix.claimed
    [line] = [each for each in whole.format("full").splitlines() if each.startswith("Add keyword search ")]
    assert line.endswith("unclear")


def test_every_change_that_was_tried_is_shown_with_what_came_of_it() -> None:
    asked = {f"q{i}": f"where is page{i} kept" for i in range(20)}
    corpus = {f"d{i}": f"Page{i} is kept in drawer {i}." for i in range(20)}
    found = diagnose(
        {f"q{i}": {f"d{i}": 1} for i in range(20)},
        {f"q{i}": [f"d{(i + n) % 20}" for n in range(19, 5, -1)] + [f"d{i}"] for i in range(20)},
        queries=asked,
        corpus=corpus,
        k=10,
    )
    helping = [fix for fix in found.fixes if fix.claimed]
    assert len(helping) > len(found.first) == 3
    shown = found.format("full").partition("Also tried")[2].partition("What goes wrong")[0]
    for fix in found.fixes:
        assert (fix.title in shown) is (fix not in found.first and fix not in found.most)
        assert fix.to_dict()["verdict"] == ("helps" if fix.claimed else "unclear")
    assert shown.count("helps") == len(helping) - 3 - len(found.most)


def test_no_interval_of_a_kind_is_wider_than_the_measure() -> None:
    by = {f"q{i}": "odd" if i < 2 else "other" for i in range(12)}
    judged = {query: {f"d-{query}": 1} for query in by}
    ranking = {query: [f"d-{query}"] if query != "q0" else ["x"] for query in by}
    for each in diagnose(judged, ranking, measure="RR", by=by).patterns:
        assert each.low is not None
        assert each.high is not None
        assert -1 <= each.low <= each.high <= 1


def test_near_copies_above_are_why_a_query_does_badly() -> None:
    copies = {
        f"c{i}-{j}": f"The same long sentence about topic{i} which stands here often."
        for i in range(QUERIES)
        for j in range(4)
    }
    texts = copies | {f"d{i}": f"What one really wants to read of topic{i}." for i in range(QUERIES)}
    ranking = {f"q{i}": [*(f"c{i}-{j}" for j in range(4)), f"d{i}"] for i in range(QUERIES)}
    found = diagnose(judged(), ranking, corpus=texts, measure="RR")
    assert all("near-copies" in each.why for each in found.worst)


# --- queries ----------------------------------------------------------------------------------------


def test_the_worst_come_first_and_among_equals_those_that_lost_most(keyword: Diagnosis) -> None:
    values = [each.value for each in keyword.worst]
    assert values == sorted(values)
    assert len(keyword.worst) == 10
    assert all(each.causes for each in keyword.worst)
    assert (
        keyword.worst[0].value == evaluate(sample.judgments(), sample.rankings()["keyword"], "nDCG@10").worst(1)[0][1]
    )


def test_every_query_below_its_ceiling_has_a_cause(keyword: Diagnosis) -> None:
    for each in keyword.served.values():
        assert bool(each.causes) == (each.value < each.ceiling - 1e-9 or each.ceiling == 0)


def test_queries_without_an_answer_are_told_apart(keyword: Diagnosis) -> None:
    without = {query for query, kind in sample.kinds().items() if kind == "no answer"}
    assert keyword.unanswerable == len(without)
    assert all("no-relevant" in keyword.served[query].why for query in without)
    with pytest.raises(KeyError, match=r"query 'q061' is not judged\. Next: "):
        keyword.why("q061")
    assert not any("no-relevant" in each.why for query, each in keyword.served.items() if query not in without)


def test_misspelt_questions_of_the_sample_are_found_out(whole: Diagnosis) -> None:
    misspelt = {query for query, kind in sample.kinds().items() if kind == "typo"}
    accused = {query for query, each in whole.served.items() if "typo" in each.why}
    assert len(misspelt & accused) >= 10
    assert len(accused - misspelt) <= 3


def test_injected_typos_are_found_and_their_queries_are_called_worse() -> None:
    """Every third question of a keyword search that worked gets a swapped pair of letters and finds nothing."""
    texts = {f"d{i}": f"Instructions concerning gadget{chr(97 + i)}xyz machinery." for i in range(QUERIES)}
    right = {f"q{i}": f"where is the gadget{chr(97 + i)}xyz explained" for i in range(QUERIES)}
    wrong = {query: text.replace("gadget", "gdaget") for query, text in list(right.items())[::2]}
    ranking = {query: [] if query in wrong else [f"d{query[1:]}"] for query in right}
    found = diagnose(judged(), ranking, queries=right | wrong, corpus=texts)
    assert {query for query, each in found.served.items() if "typo" in each.why} == set(wrong)
    row = next(each for each in found.patterns if each.kind == "misspelt")
    assert (row.verdict, row.n) == ("worse", len(wrong))


def test_removed_documents_are_told_from_missed_ones() -> None:
    texts = {f"d{i}": f"text number {i}" for i in range(QUERIES) if i % 2}
    found = diagnose(judged(), {query: ["x"] for query in judged()}, corpus=texts)
    for query, each in found.served.items():
        assert each.why == (("never-found",) if int(query[1:]) % 2 else ("not-in-corpus",))
    assert found.failures[-1].name == "the evaluation set has drifted"
    assert "12 of 24" in found.failures[-1].evidence


def test_lower_is_better_measures_are_turned() -> None:
    good, bad = at_rank(1), at_rank(9)
    mixed = {query: (bad if query in ("q3", "q4") else good)[query] for query in good}
    found = diagnose(judged(), mixed, measure="FirstRel")
    assert {each.query for each in found.worst} == {"q3", "q4"}
    late = diagnose(judged(), at_rank(9), measure="FirstRel")
    assert late.first or late.most
    for fix in (*late.first, *late.most):
        assert fix.gain > 0
        assert f"FirstRel {'at most ' if fix.most else ''}-{fix.gain:.4f} [-" in gain_of(fix)


# --- what can be set ----------------------------------------------------------------------------------


def test_k_says_what_counts_as_too_low() -> None:
    deep = diagnose(judged(), at_rank(8), k=5)
    assert all(each.why == ("below-k",) for each in deep.worst)
    assert all(each.why == ("not-on-top",) for each in diagnose(judged(), at_rank(8), k=8).worst)


def test_own_kinds_stand_beside_those_that_are_found(keyword: Diagnosis) -> None:
    kinds = {each.kind: each for each in keyword.patterns}
    assert kinds["easy"].verdict == "better"
    assert "no answer" not in kinds  # nothing is to be found there


def test_more_measures_may_be_asked_for_the_first_decides() -> None:
    found = diagnose(judged(), at_rank(2), measure="RR, P@5, Accuracy", corpus_size=10_000)
    assert found.measure == "RR"
    assert [each.kind for each in found.findings if each.kind == "accuracy-trap"]
    assert "returning nothing at all" in " ".join(found.format("full").split())


@pytest.mark.parametrize("settings", [{"k": 0}, {"worst": 0}, {"k": True}, {"k": 2.5}])
def test_counts_that_are_none_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="expected a whole number of at least 1"):
        diagnose(judged(), at_rank(1), **settings)


def test_what_is_not_judged_and_what_is_unknown_is_an_error_as_everywhere() -> None:
    with pytest.raises(DataError):
        diagnose({}, {})
    with pytest.raises(UsageError, match="Did you mean"):
        diagnose(judged(), at_rank(1), measure="nDCGG@10")


def test_without_texts_it_says_what_it_could_not_look_at(keyword: Diagnosis) -> None:
    bare = " ".join(diagnose(judged(), at_rank(2)).notes)
    assert "queries=" in bare
    assert "corpus=" in bare
    assert "queries=" not in " ".join(keyword.notes)


# --- how it prints ------------------------------------------------------------------------------------


def test_it_fits_the_screen_and_says_the_same_every_time(keyword: Diagnosis) -> None:
    text = str(keyword)
    assert max(map(len, text.splitlines())) <= 80
    again = diagnose(sample.judgments(), sample.rankings()["keyword"], queries=sample.queries(), by=sample.kinds())
    assert str(again) == text


def test_all_formats_hold_the_same_facts(keyword: Diagnosis, tmp_path: Path) -> None:
    data = json.loads(keyword.format("json"))
    assert data == json.loads(json.dumps(keyword.to_dict()))
    assert [each["query"] for each in data["worst"]] == [each.query for each in keyword.worst]
    for text in (keyword.markdown(), keyword.format("full")):
        for fix in keyword.first:
            assert fix.title in " ".join(text.split())
        assert all(each.query in text for each in keyword.worst)
    with pytest.raises(UsageError, match="expected one of"):
        keyword.format("tabel")


def test_texts_cannot_break_out_of_the_page() -> None:
    found = diagnose({"q|1": {"a": 1}}, {"q|1": ["b"]}, queries={"q|1": "what\x1b[31m <b> | is"})
    assert "\x1b" not in str(found)
    assert "\x1b" not in found.markdown()
    assert r"\| is" in found.markdown()


@pytest.mark.slow
def test_it_is_a_page_and_a_part_of_a_report(keyword: Diagnosis) -> None:
    runs = sample.rankings()
    whole = report(sample.judgments(), runs, "nDCG@10", diagnosis=keyword).html()
    for page in (keyword.html(), whole):
        assert "<script" not in page
        assert "Fix this first</h" in page
        assert all(each.title in page for each in keyword.first)
    assert "What to fix first" not in report(sample.judgments(), runs, "nDCG@10").html()
    odd = diagnose({"<q>": {"a": 1}}, {"<q>": ["b"]}, queries={"<q>": "<b>bold</b>"}).html()
    assert "<q>" not in odd
    assert "<b>bold</b>" not in odd


@pytest.mark.parametrize("profile", ["elasticsearch", "trec_eval-9", "ranx"])
def test_a_profile_is_followed(profile: str) -> None:
    ranking, measure = sample.rankings()["dense"], "nDCG@10"
    found = diagnose(sample.judgments(), ranking, measure=measure, profile=profile)
    scores = evaluate(sample.judgments(), ranking, measure, profile=profile)
    assert found.mean == pytest.approx(scores[measure])
    assert len(found.bands) == 5


@pytest.mark.first_is_quick
@pytest.mark.parametrize(
    "conventions",
    [
        {"no_relevant": "skip"},
        {"missing": "skip"},
        {"ties": "expected"},
        {"ties": "best"},
        {"unjudged": "skip"},
    ],
)
def test_conventions_are_those_of_evaluate(conventions: dict[str, Any]) -> None:
    some = ["q01", "q02", "q03", "q18", "q24", "q55", "q56", "q60"]  # two unanswered, two without an answer
    few = {query: sample.judgments()[query] for query in some}
    wanted = {doc for docs in few.values() for doc, grade in docs.items() if grade}
    texts = {doc: sample.corpus()[doc] for doc in wanted}
    ranking = sample.rankings()["keyword"]
    found = diagnose(few, ranking, queries=sample.queries(), corpus=texts, **conventions)
    scores = evaluate(few, ranking, "nDCG@10", **conventions)
    assert found.mean == pytest.approx(scores["nDCG@10"])
    assert found.judged == len(scores.values("nDCG@10"))


@pytest.mark.slow
def test_of_many_queries_a_draw_is_searched_again_and_it_says_so() -> None:
    many = {f"q{i}": {f"d{i % 40}": 1} for i in range(600)}
    texts = {f"d{i}": f"about thing{i} and more" for i in range(40)}
    asked = {f"q{i}": f"where is thing{i % 40}" for i in range(600)}
    ranking = {query: ["d1", "d2"] for query in many}
    found = diagnose(many, ranking, queries=asked, corpus=texts)
    by_kind = {fix.kind: fix for fix in found.fixes}
    assert by_kind["keyword"].n == 500
    assert by_kind["keyword"].claimed
    assert by_kind["reranking"].n == 600
    assert "500 of the 600 queries" in found.format("full")


def test_a_ranking_that_answers_nothing_is_diagnosed_too() -> None:
    texts = {f"d{i}": f"about thing{i} and more" for i in range(QUERIES)}
    asked = {f"q{i}": f"where is thing{i}" for i in range(QUERIES)}
    found = diagnose(judged(), {query: [] for query in judged()}, queries=asked, corpus=texts)
    assert found.first[0].kind in ("keyword", "dense", "keyword-instead", "dense-instead")
    assert {each.why[0] for each in found.worst} == {"never-found"}


def test_a_measure_that_is_no_mean_cannot_decide() -> None:
    with pytest.raises(UsageError, match="cannot decide"):
        diagnose(judged(), at_rank(2), measure="NumRelRet")


def test_a_question_of_several_lines_is_shown_as_one() -> None:
    found = diagnose({"q": {"a": 1}}, {"q": ["b"]}, queries={"q": "how\n  do I\tdo it"})
    assert "how do I do it" in str(found)


def test_a_usual_remedy_that_was_tried_in_vain_says_so(keyword: Diagnosis, whole: Diagnosis) -> None:
    assert "add keyword search (but tried here it is not sure to help)" in whole.failures[0].remedies
    assert "add keyword search" in keyword.failures[0].remedies


def test_every_form_says_what_to_know_before_the_numbers_are_trusted() -> None:
    judged = {f"q{i}": {"a": 1, "b": 0} for i in range(4)}
    found = diagnose(judged, {query: ["a", "b"] for query in list(judged)[1:]})
    page, text = found.html(), found.markdown()
    assert page.count("nDCG@10 is 0.7500") == 1
    for each in (found.format("full"), page, text):
        assert "Before you trust these numbers" in each
        assert "warning" in each
        assert "1 of 4 judged queries" in " ".join(each.split())


def test_few_judged_documents_a_question_are_no_drift_while_they_are_shown() -> None:
    judged = {f"q{i}": {f"d{i}": 1, **({"x": 0} if i % 2 else {})} for i in range(40)}
    others = [f"n{i}" for i in range(9)]
    for shown, drifted in ((32, False), (8, True)):
        ranking = {q: [f"d{i}" if i < shown else "n9", *others] for i, q in enumerate(judged)}
        names = {each.name for each in diagnose(judged, ranking).failures}
        assert ("the evaluation set has drifted" in names) == drifted, shown


def test_the_order_of_judgments_changes_no_evidence() -> None:
    judged = {"q1": {f"d{i}": 1 for i in range(6)}, "q2": {"b": 2, "a": 2, "c": 1}}
    turned = {query: dict(reversed(docs.items())) for query, docs in judged.items()}
    ranking = {"q1": ["d1"], "q2": ["x"]}
    assert diagnose(judged, ranking).served == diagnose(turned, ranking).served


@pytest.mark.parametrize("rows", ["frame", "dicts"])
def test_ids_that_are_integers_are_diagnosed_as_those_of_text(rows: str) -> None:
    texts = {str(d): f"word{d} word{d % 7} and more" for d in range(1, 60)}
    asked = {str(q): f"word{q}" for q in range(1, 31)}
    judged = {q: {q: 1, q + 1: 1} for q in range(1, 31)}
    ranked = {q: {(q + 7 * n) % 59 + 1: 30 - n for n in range(30)} for q in judged}
    spelled = ({str(q): {str(d): g for d, g in docs.items()} for q, docs in side.items()} for side in (judged, ranked))
    expected = diagnose(*spelled, queries=asked, corpus=texts)
    given: list[Any] = [judged, ranked]
    if rows == "frame":
        frame = pytest.importorskip("pandas").DataFrame
        given = [
            frame(
                [(q, d, value) for q, docs in side.items() for d, value in docs.items()],
                columns=["qid", "docno", name],
            )
            for side, name in ((judged, "grade"), (ranked, "score"))
        ]
    found = diagnose(*given, queries=asked, corpus=texts)
    assert {each.kind for each in found.fixes} >= {"larger-k", "keyword", "keyword-instead"}
    assert found.to_dict() == expected.to_dict()


def test_ids_with_other_zeros_are_no_drift() -> None:
    corpus = {f"d-{i:03}": f"Page {i} of the book." for i in range(60)}
    judged = {f"q{i}": {f"d-{i:03}" if i >= 10 else f"d-{i}": 1} for i in range(40)}
    found = diagnose(judged, {query: ["d-050"] for query in judged}, corpus=corpus)
    said = {each.name: each.evidence for each in found.failures}
    assert "the evaluation set has drifted" not in said
    assert "10 ids differ between judgments and corpus only in zeros" in said["ids are spelt in two ways"]
    assert "'d-0' and 'd-000'" in said["ids are spelt in two ways"]
    for i in range(10):
        del corpus[f"d-{i:03}"]
    names = {each.name for each in diagnose(judged, {query: ["d-050"] for query in judged}, corpus=corpus).failures}
    assert "the evaluation set has drifted" in names
    assert "ids are spelt in two ways" not in names


def test_what_holds_for_all_queries_is_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lowest relevant grade was looked for among all judgments again for each query."""
    asked = []
    known = evidence.relevant_from
    monkeypatch.setattr(evidence, "relevant_from", lambda scores: (asked.append(scores), known(scores))[1])
    diagnose(judged(), at_rank(5))
    assert len(asked) == 1


def test_a_single_query_has_no_interval_and_no_dash_for_one() -> None:
    said = str(diagnose({"q": {"a": 1}}, {"q": ["a"]}))
    assert "nDCG@10 is 1.0000 of a possible 1.0000, over 1 query." in said


def test_a_long_diagnosis_says_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "FIRST", 0.0)
    diagnose(judged(), at_rank(5))
    assert f"diagnosing: 0 of {QUERIES} queries" in capsys.readouterr().err


def test_a_kind_of_your_own_stands_beside_one_of_the_same_name() -> None:
    texts = sample.queries()
    by = dict.fromkeys(list(texts)[:20], "misspelt")
    found = diagnose(sample.judgments(), sample.rankings()["keyword"], queries=texts, corpus=sample.corpus(), by=by)
    sizes = {each.kind: each.n for each in found.patterns}
    assert (sizes["misspelt"], sizes["misspelt (your own)"]) == (14, 20)
