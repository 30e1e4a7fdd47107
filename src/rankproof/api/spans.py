"""`evaluate_spans`: how much of what a ranking of chunks shows is what was judged relevant, and the reverse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankproof.api.agreement import ordered
from rankproof.api.evaluate import Measures
from rankproof.api.grouping import Grouping, grouped, groups_of
from rankproof.api.scores import Scores
from rankproof.bench.chunk.shown import Tokens, shown
from rankproof.core.audit import Audit
from rankproof.core.audit.queries import unanswered, unjudged
from rankproof.core.conventions import Conventions
from rankproof.core.hits import Array
from rankproof.core.judged_spans import SpanJudgments
from rankproof.core.measure import Measure
from rankproof.core.names import parse_all
from rankproof.core.scoring import Column
from rankproof.core.shown import Shown
from rankproof.errors import UsageError
from rankproof.io.corpora import load_corpus
from rankproof.io.load import load_ranking
from rankproof.io.pipes import pipes_kept
from rankproof.io.spans import load_spans

DEFAULT_MEASURES = "SpanP@5, SpanR@5, SpanF@5, SpanIoU@5"


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
    `rankproof.io.spans`); `ranking` is one of chunks in any form that `evaluate` takes, their ids
    `DOCUMENT#START-END` or told by `chunks`, `{id: (document, start, end)}` or a corpus of chunks; the id of a
    document stands for the whole of it. `corpus` has the documents as they were cut. Counted is in `tokens`:
    'words', 'characters', or what gives the (start, end) of each token of a text.

    >>> corpus = {"d1": "Refunds within 30 days. Fees are low."}
    >>> scores = evaluate_spans({"q1": [("d1", 15, 22)]}, {"q1": ["d1#0-23", "d1#24-37"]}, corpus, "SpanR@1, SpanP@1")
    >>> scores.means
    {'SpanR@1': 1.0, 'SpanP@1': 0.5}
    """
    asked = _span_measures(parse_all(DEFAULT_MEASURES if measures is None else measures))
    conventions = Conventions(missing=missing, no_relevant=no_relevant)
    judged, opened = load_spans(judgments), load_ranking(ranking)
    found = ordered(opened.table())
    counted = shown(judged, found, load_corpus(corpus), chunks, tokens)
    queries = tuple(judged.by_query)
    kept = _counting(asked, counted, queries, found, conventions)
    return Scores(
        queries=queries,
        columns={each.name: Column(each, each(counted), kept) for each in asked},
        conventions=conventions,
        groups=grouped(queries, groups_of(by, judgments)),
        stored={
            **_stored(judged, opened.source, asked, conventions, tokens),
            "audit": _audit(queries, list(found), conventions).to_dict(),
        },
    )


def _audit(judged: Sequence[str], ranked: Sequence[str], conventions: Conventions) -> Audit:
    """Whether both sides are of the same queries."""
    known, seen = set(judged), set(ranked)
    missing = [query for query in judged if query not in seen]
    extra = [query for query in ranked if query not in known]
    skipped = conventions.missing == "skip"
    findings = [*unanswered(judged, missing, extra, skipped)]
    if len(missing) < len(judged):
        findings += unjudged(len(extra), extra)
    return Audit.of(findings)


def _counting(
    measures: list[Measure],
    counted: Shown,
    queries: tuple[str, ...],
    found: Mapping[str, Any],
    conventions: Conventions,
) -> Array | None:
    """Which queries count in the means, the same for all measures; None: all."""
    kept = np.ones(len(queries), dtype=bool)
    if conventions.missing == "skip":
        kept &= np.array([query in found for query in queries])
    if conventions.no_relevant == "skip":
        for measure in measures:
            kept &= counted.wanted(measure.params["rel"]) > 0
    return None if kept.all() else kept


def _stored(
    judged: SpanJudgments, source: str, measures: list[Measure], conventions: Conventions, tokens: Tokens
) -> dict[str, Any]:
    """What is to be known of such scores beside their numbers, as plain data."""
    counted = tokens if isinstance(tokens, str) else getattr(tokens, "__qualname__", type(tokens).__name__)
    definition = {
        "conventions": conventions.to_dict(),
        "measures": {each.name: _defined(each, counted) for each in measures},
        "judgments": judged.source,
        "fingerprint": judged.fingerprint,
        "ranking": source,
        "notes": [],
    }
    documents = {(query, span.document) for query, spans in judged.by_query.items() for span in spans}
    facts: dict[str, Any] = {"documents": len(documents), "tied": 0.0, "unjudged": {}}
    return {"definition": definition, "facts": facts}


def _defined(measure: Measure, tokens: str) -> dict[str, Any]:
    spec = measure.spec
    return {"measure": spec.name, "title": spec.title, "params": measure.params, "tokens": tokens}


def _span_measures(measures: list[Measure]) -> list[Measure]:
    for each in measures:
        if each.spec.kind != "span":
            raise UsageError(
                f"{each}: this measure does not read spans of text. Next: ask for {DEFAULT_MEASURES}, or judge "
                "chunks or documents and use evaluate."
            )
    return measures
