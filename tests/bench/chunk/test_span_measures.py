"""Retrieved text against relevant spans: worked values, a slow oracle, and the same uses as other scores."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankproof import Scores, compare_scores, evaluate, evaluate_spans, gate_scores
from rankproof.bench.chunk import fixed, recursive
from rankproof.bench.chunk.chunker import chunked
from rankproof.core.corpus import Corpus
from rankproof.errors import DataError, UsageError

TEXT = "one two three four five six seven eight nine ten"
"""Words at 0, 4, 8, 14, 19, 24, 28, 34, 40, 45."""
CORPUS = Corpus.of({"d": TEXT, "e": "alpha beta gamma", "leer": ""})
SPANS = {"q": [("d", 8, 23)]}  # three four five
ALL = "SpanP, SpanR, SpanF, SpanIoU"


def means(ranking: Any, measures: str = ALL, spans: Any = SPANS, **options: Any) -> list[float]:
    return list(evaluate_spans(spans, ranking, CORPUS, measures, **options).means.values())


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        (["d#8-23"], [1, 1, 1, 1]),
        (["d#0-18"], [2 / 4, 2 / 3, 4 / 7, 2 / 5]),  # one two three four
        (["d#0-18", "d#4-18"], [2 / 4, 2 / 3, 4 / 7, 2 / 5]),  # what overlaps counts once
        (["d#0-18", "e#0-16"], [2 / 7, 2 / 3, 4 / 10, 2 / 8]),
        (["d"], [3 / 10, 1, 6 / 13, 3 / 10]),  # a document stands for the whole of it
        (["e#0-5"], [0, 0, 0, 0]),
        (["leer"], [0, 0, 0, 0]),
        ([], [0, 0, 0, 0]),
        (["d#16-20"], [1, 2 / 3, 4 / 5, 2 / 3]),  # parts of two words are two words
    ],
)
def test_worked_values(chunks: list[str], expected: list[float]) -> None:
    assert means({"q": chunks}) == pytest.approx(expected)


def test_cuts_count_chunks_and_budgets_count_tokens() -> None:
    ranking = {"q": ["d#0-7", "d#8-18", "d#4-23"]}  # one two | three four | two ... five
    assert means(ranking, "SpanR@1, SpanR@2, SpanR@3") == pytest.approx([0, 2 / 3, 1])
    assert means(ranking, "SpanP@1, SpanP@2, SpanP@3") == pytest.approx([0, 2 / 4, 3 / 5])
    budgets = "SpanR(budget=1), SpanR(budget=2), SpanR(budget=3), SpanR(budget=4), SpanR(budget=5)"
    assert means(ranking, budgets) == pytest.approx([0, 0, 0, 2 / 3, 1])
    assert means(ranking, "SpanR(budget=5)@2") == pytest.approx([2 / 3])


def test_grades() -> None:
    graded = {"q": [("d", 8, 23, 1), ("d", 14, 18, 3), ("d", 0, 3, 0)]}
    ranking = {"q": ["d#0-18"]}
    assert means(ranking, "SpanP, SpanP(rel=2), SpanR(rel=2), SpanR(rel=0)", graded) == pytest.approx(
        [2 / 4, 1 / 4, 1, 3 / 4]
    )


def test_scores_decide_the_order_and_equal_ones_are_ordered_as_everywhere() -> None:
    assert means({"q": {"d#0-3": 1.0, "d#8-13": 2.0}}, "SpanP@1") == [1.0]
    chunks = {"d#0-3": 1.0, "d#8-13": 1.0}
    judged = {"q": {"d#8-13": 1}}
    assert means({"q": chunks}, "SpanP@1") == [evaluate(judged, {"q": chunks}, "P@1")["P@1"]]


def test_a_tokenizer_of_ones_own() -> None:
    assert means({"q": ["d#0-18"]}, "SpanP", tokens="characters") == pytest.approx([9 / 15])
    halves = lambda text: [(at, min(at + 2, len(text))) for at in range(0, len(text), 2)]  # noqa: E731
    assert means({"q": ["d#0-18"]}, "SpanP", tokens=halves) == pytest.approx([5 / 9])
    with pytest.raises(UsageError, match="Did you mean 'words'"):
        means({"q": ["d#0-18"]}, tokens="word")
    for wrong in ([(0, 4), (2, 6)], [(3, 3)], [(5, 7), (0, 2)]):
        with pytest.raises(UsageError, match="empty, overlap or are in disorder"):
            means({"q": ["d#0-18"]}, tokens=lambda text, wrong=wrong: wrong)


def test_ids_of_ones_own() -> None:
    chunks = {"x": ("d", 0, 18), "d": ("d", 8, 23)}
    assert means({"q": ["x"]}, "SpanP", chunks=chunks) == [0.5]
    assert means({"q": ["d"]}, "SpanP", chunks=chunks) == [1.0], "chunks come before documents"
    made = chunked(CORPUS, fixed(4))
    assert means({"q": list(made)[:1]}, "SpanP", chunks=made) == [0.5]


def test_queries_without_a_ranking_or_without_spans() -> None:
    spans = {"q": [("d", 8, 23)], "r": [("d", 0, 3)], "s": []}
    ranking = {"q": ["d#8-23"], "s": ["d#0-3"], "unjudged": ["d#0-3"]}
    assert means(ranking, "SpanR", spans) == pytest.approx([1 / 3])
    assert means(ranking, "SpanR", spans, missing="skip") == pytest.approx([1 / 2])
    assert means(ranking, "SpanR", spans, missing="skip", no_relevant="skip") == [1.0]
    scores = evaluate_spans(spans, ranking, CORPUS, "SpanR", no_relevant="skip")
    assert scores.values("SpanR") == {"q": 1.0, "r": 0.0}


# --- the oracle ------------------------------------------------------------------------------------------

SIZES = {"d": 48, "e": 16}


@st.composite
def _span(draw: st.DrawFn) -> tuple[str, int, int]:
    document = draw(st.sampled_from(sorted(SIZES)))
    start = draw(st.integers(0, SIZES[document] - 3))
    return document, start, draw(st.integers(start + 2, SIZES[document]))


def words(place: tuple[str, int, int]) -> set[tuple[str, int]]:
    """The words of a place, each by where it begins: those that have one of their letters in it."""
    document, start, end = place
    text, at = CORPUS[document].text, 0
    found = set()
    for word in text.split():
        at = text.index(word, at)
        if any(start <= letter < end for letter in range(at, at + len(word))):
            found.add((document, at))
        at += len(word)
    return found


def slowly(relevant: list[Any], chunks: list[Any]) -> Iterator[float]:
    wanted = set().union(*map(words, relevant)) if relevant else set()
    shown = set().union(*map(words, chunks)) if chunks else set()
    both = len(wanted & shown)
    yield both / len(shown) if shown else 0.0
    yield both / len(wanted) if wanted else 0.0
    yield 2 * both / (len(shown) + len(wanted)) if shown or wanted else 0.0
    yield both / len(shown | wanted) if shown | wanted else 0.0


@given(st.lists(_span(), max_size=4), st.lists(_span(), max_size=6), st.integers(1, 7))
def test_sets_of_words_give_the_same(relevant: list[Any], chunks: list[Any], k: int) -> None:
    relevant = [each for each in relevant if words(each)]
    ids = list(dict.fromkeys(f"{document}#{start}-{end}" for document, start, end in chunks))
    shown = [chunks[[f"{d}#{s}-{e}" for d, s, e in chunks].index(each)] for each in ids[:k]]
    found = means({"q": ids}, f"SpanP@{k}, SpanR@{k}, SpanF@{k}, SpanIoU@{k}", {"q": relevant})
    assert found == pytest.approx(list(slowly(relevant, shown)))


@given(st.lists(_span(), min_size=1, max_size=4), st.lists(_span(), max_size=8))
def test_laws(relevant: list[Any], chunks: list[Any]) -> None:
    relevant = [each for each in relevant if words(each)] or [("d", 0, 3)]
    ids = list(dict.fromkeys(f"{document}#{start}-{end}" for document, start, end in chunks))
    spans, ranking = {"q": relevant}, {"q": ids}
    recalls = means(ranking, ", ".join(f"SpanR@{k}" for k in range(1, 10)), spans)
    assert recalls == sorted(recalls), "more chunks never show less"
    precision, recall, f, iou = means(ranking, ALL, spans)
    assert 0 <= iou <= f <= max(precision, recall) <= 1
    assert f == pytest.approx(2 * iou / (1 + iou))
    exact = {"q": [f"{document}#{start}-{end}" for document, start, end in relevant]}
    assert means(exact, ALL, spans) == [1, 1, 1, 1]


@pytest.mark.parametrize("size", [1, 2, 3, 50])
def test_all_chunks_together_show_all(size: int) -> None:
    every = list(chunked(CORPUS, recursive(size)))
    assert means({"q": every}, "SpanR, SpanP") == pytest.approx([1.0, 3 / 13])


# --- beside the other scores -----------------------------------------------------------------------------


def many(size: int) -> tuple[dict[str, Any], Scores]:
    texts = {f"d{n}": f"filler {n} " * (3 + n % 7) + "the answer is here " + "filler " * 9 for n in range(30)}
    spans = {f"q{n}": [(f"d{n}", (at := texts[f"d{n}"].index("the answer")), at + 18)] for n in range(30)}
    ids = list(chunked(Corpus.of(texts), fixed(size)))
    ranking = {f"q{n}": [each for each in ids if each.startswith(f"d{n}#")] for n in range(30)}
    scores = evaluate_spans(spans, ranking, texts, f"SpanIoU, SpanR(budget=12), SpanP@{2}")
    return spans, scores


def test_scores_can_be_compared_gated_saved_and_read_back() -> None:
    (_, short), (_, long) = many(4), many(40)
    compared = compare_scores({"4": short, "40": long})
    rows = {(row.system, row.measure): row.verdict for row in compared.rows}
    assert rows["40", "SpanIoU"] in {"better", "worse", "equivalent", "unclear"}
    assert rows["40", "SpanR(budget=12)"] in {"worse", "equivalent", "unclear"}
    assert gate_scores(short, short, ["SpanIoU"], margin=0.5).outcome == "pass"
    again = Scores.from_dict(json.loads(json.dumps(short.to_dict())))
    assert again.means == short.means
    assert again.fingerprint == short.fingerprint != ""
    low, high = short.interval("SpanIoU")
    assert low <= short["IoU"] <= high
    assert "SpanIoU" in str(short)
    assert max(map(len, str(short).splitlines())) <= 80


def test_scores_counted_in_other_tokens_are_not_compared() -> None:
    one = evaluate_spans(SPANS, {"q": ["d#0-18"]}, CORPUS, "SpanP")
    other = evaluate_spans(SPANS, {"q": ["d#0-18"]}, CORPUS, "SpanP", tokens="characters")
    with pytest.raises(UsageError, match="define SpanP differently"):
        compare_scores({"words": one, "characters": other})


def test_groups_of_queries() -> None:
    spans = {"q": [("d", 8, 23)], "r": [("d", 0, 3)]}
    scores = evaluate_spans(spans, {"q": ["d#8-23"]}, CORPUS, "SpanR", by={"q": "long", "r": "short"})
    assert {name: part["SpanR"] for name, part in scores.slices.items()} == {"long": 1.0, "short": 0.0}


def test_everything_may_stand_in_files(tmp_path: Path) -> None:
    (tmp_path / "spans.tsv").write_text("query\tdocument\tstart\tend\nq\td\t8\t23\n")
    (tmp_path / "corpus.jsonl").write_text(json.dumps({"_id": "d", "text": TEXT}) + "\n")
    (tmp_path / "ranking.run").write_text("q Q0 d#0-18 1 2.5 fixed\n")
    paths = [tmp_path / name for name in ("spans.tsv", "ranking.run", "corpus.jsonl")]
    assert evaluate_spans(*paths, "SpanP")["SpanP"] == 0.5


@pytest.mark.parametrize(
    ("spans", "ranking", "message"),
    [
        ({"q": [("x", 0, 4)]}, ["d#0-4"], "query 'q'|'q': document 'x' is not in the corpus of 3.*Next: "),
        ({"q": [("d", 0, 49)]}, ["d#0-4"], "the characters 0 to 49 of 'd', which has 48.*Next: "),
        ({"q": [("d", 3, 4)]}, ["d#0-4"], "only white space in it"),
        (SPANS, ["x#0-4"], "chunk 'x#0-4': document 'x' is not in the corpus"),
        (SPANS, ["d#0-49"], "chunk 'd#0-49': got the characters 0 to 49"),
        (SPANS, ["d#9-4"], "got the characters 9 to 4"),
        (SPANS, ["x"], "expected the id of a chunk like"),
    ],
)
def test_what_does_not_fit_together_is_said(spans: Any, ranking: list[str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        means({"q": ranking}, spans=spans)


def test_a_bad_span_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "spans.tsv"
    path.write_text("q\td\t0\t3\nq\td\t40\t400\n")
    with pytest.raises(DataError, match=r"spans\.tsv, line 2: got the characters 40 to 400"):
        evaluate_spans(path, {"q": ["d#0-3"]}, CORPUS)


def test_other_measures_are_told_apart() -> None:
    with pytest.raises(
        UsageError, match=r"P@5: this measure reads judgments and a ranking, not judged spans of text.*use evaluate"
    ):
        means({"q": ["d"]}, "P@5")
    with pytest.raises(UsageError, match=r"SpanP@5: this measure reads judged spans of text"):
        evaluate({"q": ["d"]}, {"q": ["d"]}, "SpanP@5")
