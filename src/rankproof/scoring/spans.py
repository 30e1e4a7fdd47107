"""`evaluate_spans`: the share of the text of ranked chunks that was judged relevant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from rankproof.core.arrays import Array
from rankproof.core.audit import Audit
from rankproof.core.audit.queries import beyond_queries, unanswered_queries, unjudged_queries
from rankproof.core.conventions import Conventions, count_queries
from rankproof.core.corpus import UNJUDGED, Corpus, JudgedSpan, Place, ShownDocument, SpanJudgments, place_of
from rankproof.core.defaults import SPAN_MEASURES
from rankproof.core.names import parse_all
from rankproof.core.scoring import ScoreColumn
from rankproof.core.table import best_first
from rankproof.errors import DataError, UsageError, check_one_of, shorten
from rankproof.io.corpora import load_corpus
from rankproof.io.groups import Grouping, group_places, groups_of
from rankproof.io.inputs import pipes_kept
from rankproof.io.judgments import load_spans
from rankproof.io.load import load_ranking
from rankproof.scoring.evaluate import Measures, check_kind
from rankproof.scoring.scores import Scores
from rankproof.text.tokens import tokens

Tokens: TypeAlias = "str | Callable[[str], Iterable[tuple[int, int]]]"
"""'words', 'characters', or what gives the (start, end) of each token of a text."""
Row: TypeAlias = tuple[int, int, float, int]
"""A query, a rank, a grade, and a number of tokens."""


def characters(text: str) -> list[tuple[int, int]]:
    """Every character that is not white space."""
    return [(place, place + 1) for place, character in enumerate(text) if not character.isspace()]


TOKENS: dict[str, Callable[[str], Iterable[tuple[int, int]]]] = {"words": tokens, "characters": characters}


def shown_document(
    judgments: SpanJudgments,
    ranking: Mapping[str, Sequence[str]],
    corpus: Corpus,
    chunks: Mapping[str, Any] | None = None,
    tokens: Tokens = "words",
) -> ShownDocument:
    """The tokens that the rankings `{query: [chunks, best first]}` show, and those of the judged spans."""
    texts = SpanTexts(corpus, tokens)
    rows: list[Row] = []
    judged: list[Row] = []
    for number, (query, spans) in enumerate(judgments.by_query.items()):
        grades = _grades(spans, texts, lambda span, query=query: judgments.where(query, span))  # type: ignore[misc]
        judged += [(number, 0, grade, n) for grade, n in _counted(grades.values())]
        places = [texts.place(name, chunks) for name in ranking.get(query, ())]
        rows += ((number, *row) for row in _first_shown(places, grades, texts))
    n = len(judgments.by_query)
    return _table(rows, n, _table(judged, n))


def _table(rows: list[Row], n: int, judged: ShownDocument | None = None) -> ShownDocument:
    query, rank, grade, count = np.array(rows, dtype=float).reshape(-1, 4).T
    return ShownDocument(query.astype(int), rank.astype(int), grade, count.astype(int), n, judged)


class SpanTexts:
    """The tokens of the documents of a corpus, each document tokenised once."""

    def __init__(self, corpus: Corpus, tokens: Tokens) -> None:
        self.corpus = corpus
        if not callable(tokens):
            check_one_of("tokens", tokens, TOKENS)
        self._tokens = tokens if callable(tokens) else TOKENS[tokens]
        self.ends = cache(self._ends)

    def _ends(self, document: str) -> tuple[Array, Array]:
        made = self._tokens(self.corpus[document].text)
        try:
            starts, ends = np.array([tuple(each)[:2] for each in made], dtype=np.intp).reshape(-1, 2).T
        except (TypeError, ValueError, OverflowError) as error:
            raise UsageError(
                f"tokens: got {shorten(made)} for document {shorten(document)} ({error}), expected the (start, end) "
                "of each token. Next: check what tokens= returns."
            ) from None
        if (starts >= ends).any() or (starts[1:] < ends[:-1]).any():
            raise UsageError(
                f"tokens: those of document {shorten(document)} are empty, overlap or are in disorder, expected "
                "the (start, end) of each in turn. Next: check what tokens= returns."
            )
        return starts, ends

    def within(self, document: str, start: int, end: int) -> slice:
        """The tokens that share a character with a part of a document."""
        starts, ends = self.ends(document)
        return slice(int(ends.searchsorted(start, "right")), int(starts.searchsorted(end, "left")))

    def size(self, document: str) -> int:
        """How many tokens a document has."""
        return len(self.ends(document)[0])

    def place(self, name: str, chunks: Mapping[str, Any] | None) -> Place:
        """The place of a chunk; the id of a document means all of it."""
        if (chunks is None or name not in chunks) and name in self.corpus:
            return Place(name, 0, len(self.corpus[name].text))
        found = place_of(name, chunks)
        self.check(found, f"chunk {shorten(name)}")
        return found

    def check(self, place: Place, where: str) -> None:
        """Refuse a place that is not in the corpus."""
        if place.document not in self.corpus:
            raise DataError(
                f"{where}: document {shorten(place.document)} is not in the corpus of {len(self.corpus)}. "
                "Next: give the corpus that was cut."
            )
        length = len(self.corpus[place.document].text)
        if not 0 <= place.start <= place.end <= length:
            raise DataError(
                f"{where}: got the characters {shorten(place.start)} to {shorten(place.end)} of "
                f"{shorten(place.document)}, which has {length}. "
                "Next: give the texts as they were cut and judged, without their titles."
            )


def _grades(spans: Iterable[JudgedSpan], texts: SpanTexts, where: Callable[[JudgedSpan], str]) -> dict[str, Array]:
    """For each document with judged spans the grade of each token, the highest where spans overlap."""
    found: dict[str, Array] = {}
    for span in spans:
        texts.check(Place(*span[:3]), where(span))
        part = texts.within(*span[:3])
        if part.start >= part.stop:
            raise DataError(f"{where(span)}: there is only white space in it. Next: leave this span out.")
        grades = found.setdefault(span.document, np.full(texts.size(span.document), UNJUDGED))
        np.maximum(grades[part], span.grade, out=grades[part])
    return found


def _counted(grades: Iterable[Array]) -> list[tuple[float, int]]:
    """The number of tokens of each grade; tokens without a grade are left out."""
    count: Counter[float] = Counter()
    for each in grades:
        count.update(each[each > UNJUDGED].tolist())
    return sorted(count.items())


def _first_shown(
    places: Sequence[Place], grades: Mapping[str, Array], texts: SpanTexts
) -> Iterable[tuple[int, float, int]]:
    """For each rank the tokens that no better rank shows: (rank, grade, how many)."""
    seen: dict[str, Array] = {}
    for rank, place in enumerate(places, 1):
        if place.document not in seen:
            seen[place.document] = np.zeros(texts.size(place.document), dtype=bool)
        part = texts.within(*place)
        new = ~seen[place.document][part]
        seen[place.document][part] = True
        own = grades.get(place.document)
        judged = [] if own is None else _counted([own[part][new]])
        yield from ((rank, grade, n) for grade, n in judged)
        yield rank, UNJUDGED, int(new.sum()) - sum(n for _, n in judged)


@pipes_kept()
def evaluate_spans(
    judgments: Any,
    ranking: Any,
    corpus: Any,
    measures: Measures | None = None,
    *,
    chunks: Mapping[str, Any] | None = None,
    tokens: Tokens = "words",
    missing: str = "zero",
    no_relevant: str = "zero",
    by: Grouping | None = None,
) -> Scores:
    """Score a ranking of chunks against judged spans of the documents they were cut from.

    `judgments` is `{query: [(document, start, end, grade), ...]}`, rows, a data frame or a path (see
    `rankproof.io.judgments`); `ranking` is one of chunks in any form that `evaluate` takes, their ids
    `DOCUMENT#START-END` or explained by `chunks`, `{id: (document, start, end)}` or a corpus of chunks; the id of a
    document stands for the whole document. `corpus` has the documents as they were cut. The unit is `tokens`:
    'words', 'characters', or a function that gives the (start, end) of each token of a text.

    >>> corpus = {"d1": "Refunds within 30 days. Fees are low."}
    >>> scores = evaluate_spans({"q1": [("d1", 15, 22)]}, {"q1": ["d1#0-23", "d1#24-37"]}, corpus, "SpanR@1, SpanP@1")
    >>> scores.means
    {'SpanR@1': 1.0, 'SpanP@1': 0.5}
    """
    asked = parse_all(SPAN_MEASURES if measures is None else measures)
    check_kind(asked, "span", f"ask for {SPAN_MEASURES}, or judge chunks or documents and use evaluate")
    conventions = Conventions(missing=missing, no_relevant=no_relevant)
    grouped = groups_of(by, judgments)
    judged, opened = load_spans(judgments), load_ranking(ranking)
    found = best_first(opened.table())
    counted = shown_document(judged, found, load_corpus(corpus), chunks, tokens)
    queries = tuple(judged.by_query)
    answered = np.array([query in found for query in queries], dtype=bool)
    documents = {(query, span.document) for query, spans in judged.by_query.items() for span in spans}
    unit = tokens if isinstance(tokens, str) else getattr(tokens, "__qualname__", type(tokens).__name__)
    kept = count_queries(conventions, answered, (counted.relevant_tokens(each.rel or 0) > 0 for each in asked))
    unanswered = [query for query in queries if query not in found]
    extra = [query for query in found if query not in judged.by_query]
    findings = [*unanswered_queries(queries, unanswered, extra, conventions.missing == "skip")]
    if answered.any():
        findings += unjudged_queries(len(extra), extra)
    definition = {
        "conventions": conventions.to_dict(),
        "measures": {each.name: {**each.to_dict(), "tokens": unit} for each in asked},
        "judgments": judged.source,
        "fingerprint": judged.fingerprint,
        "ranking": opened.source,
        "notes": [],
    }
    return Scores(
        query_ids=queries,
        columns={each.name: ScoreColumn(each, each(counted), kept) for each in asked},
        conventions=conventions,
        groups=group_places(queries, grouped),
        beyond=beyond_queries(queries, grouped),
        stored={
            "definition": definition,
            "facts": {"documents": len(documents), "tied": 0.0, "unjudged": {}},
            "audit": Audit.of(findings).to_dict(),
        },
    )
