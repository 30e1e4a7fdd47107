"""Questions drawn from a corpus, checks of a test set, splits."""

from __future__ import annotations

import itertools

import pytest
import scipy.stats

import rankproof
from rankproof import sample
from rankproof.bench.testset.checks import forms, longest_run
from rankproof.errors import DataError, UsageError

CORPUS = {
    "refund": {
        "title": "Refunds",
        "text": "# Money back\n\nWe return the payment within thirty days of purchase.",
    },
    "fees": {
        "title": "Transfer fees",
        "text": "Sending abroad costs four percent. Domestic transfers cost nothing.",
    },
    "copy": {
        "title": "Transfer fees",
        "text": "Sending abroad costs four percent. Domestic transfers cost nothing.",
    },
    "zh": {"title": "退款政策", "text": "购买后三十天内可以申请退款。需要提供订单编号。"},
}


def kinds(audit: rankproof.Audit) -> dict[str, int]:
    return {each.kind: each.count for each in audit}


# --- drawn ---------------------------------------------------------------------------------------------


def test_a_drawn_question_points_to_one_document_and_repeats_no_phrase() -> None:
    documents = sample.corpus()
    drawn = rankproof.draw_questions(documents)
    texts = {name: forms(f"{each['title']}\n{each['text']}") for name, each in documents.items()}
    assert len(drawn) > 100
    for each in drawn:
        words = forms(each.text)
        assert [name for name, found in texts.items() if set(words) <= set(found)] == [each.document]
        assert longest_run(words, texts[each.document]) <= 2
        assert 2 <= len(words) <= 6


def test_documents_that_nothing_tells_apart_are_left_out() -> None:
    drawn = {each.document for each in rankproof.draw_questions(CORPUS)}
    assert drawn == {"refund", "zh"}


def test_the_seed_decides_and_a_longer_draw_goes_on_from_a_shorter_one() -> None:
    documents = sample.corpus()
    first = rankproof.draw_questions(documents, 5, seed=7)
    assert rankproof.draw_questions(documents, 9, seed=7)[:5] == first
    assert rankproof.draw_questions(documents, 5, seed=8) != first


@pytest.mark.parametrize("source", ["title", "heading", "sentence"])
def test_each_source_is_what_it_says(source: str) -> None:
    corpus = {
        "a": {"title": "Alpine meadow flowers", "text": "# Growing season calendar\n\nGentians tolerate limestone gravel."},
        "b": {"title": "Engine oil", "text": "# Changing filters\n\nDrain while warm."},
    }  # fmt: skip
    drawn = {each.document: set(each.text.split()) for each in rankproof.draw_questions(corpus, sources=[source])}
    words = {
        "title": {"alpine", "meadow", "flowers"},
        "heading": {"growing", "season", "calendar"},
        "sentence": {"gentians", "tolerate", "limestone", "gravel"},
    }
    assert drawn["a"] == words[source]


def test_words_are_written_as_they_stand_and_carry_meaning() -> None:
    corpus = {
        "de": "Überweisungen dauern dreißig Tage, oder 30 auf B.",
        "ru": "Возврат денег занимает тридцать дней.",
        "ja": "返金は30日以内に銀行振込で行われます。",
        "numbers": "892 1194 1456 652 1681",
    }
    drawn = {each.document: each.text.split() for each in rankproof.draw_questions(corpus)}
    assert set(drawn) == {"de", "ru", "ja"}
    assert {"überweisungen", "dreißig"} <= set(drawn["de"])
    assert "дней" in drawn["ru"]
    assert all(len(word) > 1 and not word.isdigit() for words in drawn.values() for word in words)


def test_a_callable_writes_questions() -> None:
    drawn = rankproof.draw_questions(
        CORPUS, ask=lambda doc: None if doc.id == "zh" else [f"What of {doc.title}?", "  And\nwhen? "]
    )
    assert len(drawn) == 6
    assert {each.text for each in drawn} >= {"And when?", "What of Refunds?"}
    assert len({each.id for each in drawn}) == 6


def test_a_callable_that_fails_is_said_with_its_document() -> None:
    def write(document: object) -> str:
        raise ConnectionError("no model here")

    with pytest.raises(DataError, match=r"failed for document .*ConnectionError: no model here\. Next: "):
        rankproof.draw_questions(CORPUS, 1, ask=write)


def test_a_callable_that_gives_something_else_is_said() -> None:
    with pytest.raises(UsageError, match="expected a question"):
        rankproof.draw_questions(CORPUS, ask=lambda doc: 7)


@pytest.mark.parametrize("bad", [{"n": 0}, {"sources": ["titel"]}, {"sources": []}])
def test_what_cannot_be_drawn_is_said(bad: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        rankproof.draw_questions(CORPUS, **bad)  # type: ignore[arg-type]


# --- checked -------------------------------------------------------------------------------------------


def test_a_sound_test_set_has_no_findings() -> None:
    questions = {"a": "How do I get my money back?", "b": "What does a transfer abroad cost?"}
    assert len(rankproof.check_questions(questions, {"a": ["refund"], "b": ["fees"]}, corpus=CORPUS)) == 0


def test_twins_and_near_twins_are_told_apart() -> None:
    questions = {
        "a": "How do I close my account?",
        "b": "how do i close my account",
        "c": "How to close accounts?",
        "d": "Where is the invoice?",
    }
    found = kinds(rankproof.check_questions(questions, {query: ["x"] for query in questions}))
    assert found == {"duplicate-questions": 1, "similar-questions": 2}


def test_answers_that_are_nowhere_are_found() -> None:
    audit = rankproof.check_questions({"a": "One?", "b": "Two?"}, {"a": ["gone"], "z": ["fees"]}, corpus=CORPUS)
    assert kinds(audit) == {"relevant-not-in-corpus": 1, "unanswered-questions": 1, "judged-not-asked": 1}
    assert audit[0].severity == "error"


@pytest.mark.parametrize(
    ("text", "leaks"),
    [
        ("We return the payment within thirty days of what?", True),
        ("Return the payment", True),  # short, and copied whole
        ("When is the payment returned after a purchase?", False),
        ("Refunds", False),  # one word is no phrase
    ],
)
def test_a_question_copied_from_its_answer_leaks(text: str, leaks: bool) -> None:
    audit = rankproof.check_questions({"a": text}, {"a": ["refund"]}, corpus=CORPUS)
    assert ("leaked-questions" in kinds(audit)) == leaks


def test_easy_is_what_every_ranking_has_first() -> None:
    judged = {"a": ["x"], "b": ["y"], "c": {"z": 0}}
    runs = [{"a": ["x"], "b": ["w", "y"], "c": ["z"]}, {"a": ["x", "w"], "b": ["y"]}]
    audit = rankproof.check_questions({"a": "A one?", "b": "B two?", "c": "C three?"}, judged, systems=runs)
    easy = audit.of_kind("easy-questions")
    assert easy is not None
    assert (easy.count, easy.severity, easy.examples) == (1, "warning", ("'a'",))


def test_the_longest_shared_run_is_what_a_slow_search_finds() -> None:
    words, text = ["a", "b", "c", "a", "b", "d"], ["x", "a", "b", "d", "a", "b", "c", "y"]
    rows = [words[i:j] for i, j in itertools.combinations(range(len(words) + 1), 2)]
    held = [len(row) for row in rows if any(text[at : at + len(row)] == row for at in range(len(text)))]
    assert longest_run(words, text) == max(held) == 3


# --- split ---------------------------------------------------------------------------------------------


def test_each_kind_is_in_each_part_in_proportion() -> None:
    queries = {f"q{n}": f"text {n}" for n in range(97)}
    groups = {query: "easy" if n % 4 else "hard" for n, query in enumerate(queries)}
    parts = rankproof.split_questions(queries, {"a": 0.2, "b": 0.5, "c": 0.3}, kinds=groups)
    assert sorted(itertools.chain(*parts.values())) == sorted(queries)
    for kind in ("easy", "hard"):
        size = sum(each == kind for each in groups.values())
        for part, share in (("a", 0.2), ("b", 0.5), ("c", 0.3)):
            assert abs(sum(groups[query] == kind for query in parts[part]) - share * size) <= 1.5


def test_a_split_does_not_depend_on_the_order_of_the_questions() -> None:
    queries = [f"q{n}" for n in range(40)]
    there = rankproof.split_questions({q: q for q in queries}, {"a": 0.5, "b": 0.5}, seed=3)
    back = rankproof.split_questions({q: q for q in reversed(queries)}, {"a": 0.5, "b": 0.5}, seed=3)
    assert {part: set(found) for part, found in there.items()} == {part: set(found) for part, found in back.items()}
    other = rankproof.split_questions({q: q for q in queries}, {"a": 0.5, "b": 0.5}, seed=4)
    assert set(other["a"]) != set(there["a"])


@pytest.mark.parametrize("shares", [{}, {"a": 1.5}, {"a": 0.5, "b": 0.4}, {"a": 1.0, "b": 0.0}])
def test_shares_that_are_no_whole_are_refused(shares: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="1 in all"):
        rankproof.split_questions({"q": "text"}, shares)


def test_an_id_twice_is_refused() -> None:
    with pytest.raises(DataError, match="given before"):
        rankproof.split_questions([("a", "x"), ("a", "y")], {"x": 1.0})


# --- needed --------------------------------------------------------------------------------------------


def test_the_questions_needed_follow_from_how_two_rankings_differ() -> None:
    """Differences +-1 in equal parts: with a true one of .5 three in four are wins, and sign flips find it as planned."""
    judged = {f"q{n}": ["x"] for n in range(200)}
    first = {f"q{n}": ["x"] if n % 2 else ["y"] for n in range(200)}
    second = {f"q{n}": ["y"] if n % 2 else ["x"] for n in range(200)}
    plan = rankproof.questions_needed(judged, first, second, "P@1", 0.5)
    assert plan.spread == pytest.approx((200 / 199) ** 0.5)
    few = [n for n in range(plan.needed + 1) if scipy.stats.binomtest(n, plan.needed).pvalue <= 0.05]
    assert 0.75 <= scipy.stats.binom.pmf(few, plan.needed, 0.75).sum() <= 0.9
    assert "there are enough" in str(plan)


def test_one_question_is_no_plan() -> None:
    plan = rankproof.questions_needed({"q": ["x"]}, {"q": ["x"]}, {"q": ["y"]})
    assert plan.needed is None
    assert "too little" in str(plan)


def test_runs_that_never_differ_are_no_plan_and_no_difference_cannot_be_seen() -> None:
    runs = sample.rankings()
    plan = rankproof.questions_needed(sample.judgments(), runs["dense"], runs["dense"], difference=0.05)
    assert plan.needed is None
    assert "Next: give two runs that differ" in str(plan)
    judged = {q: {"a": 1} for q in "abcdefgh"}
    first, second = ({q: list(docs) for q in judged} for docs in ("a", "ba"))
    said = str(rankproof.questions_needed(judged, first, second, "RR", 0.1))
    assert "the same RR" not in said, "each question lost a half"
    assert "in RR is the same on all 8 questions" in " ".join(said.split())
    for difference in (0, float("nan")):
        with pytest.raises(UsageError, match="smallest difference that matters"):
            rankproof.questions_needed(sample.judgments(), runs["keyword"], runs["dense"], difference=difference)


def test_answers_that_are_there_under_another_spelling_are_named() -> None:
    questions = {f"q{i}": f"what about number {i}" for i in range(20)}
    corpus = {f"d-{i:02}": f"All on subject {i}." for i in range(20)}
    found = rankproof.check_questions(questions, {f"q{i}": {f"d-{i}"} for i in range(20)}, corpus=corpus)
    assert kinds(found) == {"relevant-not-in-corpus": 10, "number-ids": 10}
    assert found.of_kind("number-ids").examples[0] == "'d-0' and 'd-00'"  # type: ignore[union-attr]
