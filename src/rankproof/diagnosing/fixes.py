"""What to change first: each change that can be tried here, its measured gain, and a claim only if it is beyond chance.

A change is tried at once, on every query, or on `MOST_ASKED` of them if it must search again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from rankproof.bench.fusion import recipe
from rankproof.bench.retrieve.search import blend_lists, search_of_lists
from rankproof.bench.retriever import Found
from rankproof.core.conventions import FEWEST_TO_DECIDE
from rankproof.core.corpus import Corpus
from rankproof.core.hits import Array
from rankproof.core.measure import Measure
from rankproof.core.names import parse
from rankproof.core.scoring import split
from rankproof.diagnosing.evidence import Evidence, Library, ids_of
from rankproof.diagnosing.symptoms import Whole, is_high
from rankproof.document.model import Displayable
from rankproof.io.values import as_text
from rankproof.scoring.evaluate import evaluate
from rankproof.stats.confidence import Ends, agree_with_test
from rankproof.stats.differences import difference_interval
from rankproof.stats.paired import paired_differences, sign_flips, total

TIMES = 2
"""The factors by which more, or fewer, documents are tried."""
MOST_PLACED = 10_000
"""Dense search is tried up to this number of documents: with more it takes too long."""
RERANKED = 50
Rankings: TypeAlias = Mapping[str, Any]


class Change(NamedTuple):
    """Something that can be changed about a retriever, and how its gain is measured."""

    title: str
    how: str
    """How the gain was measured; `{...}` are filled in by whoever measured it."""
    do: str
    most: bool = False
    """Whether the gain is the most that the change could bring: that of a perfect one."""


CHANGES: Mapping[str, Change] = {
    "reranking": Change(
        "Rerank what is found",
        "the best order of the {depth} documents returned; a real reranker reaches a part of it",
        "rerank the first {depth} documents with a cross-encoder, and measure again",
        most=True,
    ),
    "lexical-reranking": Change(
        "Rerank by the words of the question",
        "the first {depth} documents reordered by the embedded lexical reranker",
        "rerank the first {depth} documents; a cross-encoder usually does better than words",
    ),
    "larger-k": Change(
        "Show {more} documents instead of {k}",
        "the documents at ranks {next} to {more}",
        "pass {more} documents on, if the generator or the page has room for them",
    ),
    "smaller-k": Change(
        "Show {fewer} documents instead of {k}",
        "the ranking cut at rank {fewer}",
        "pass only {fewer} documents on, if noise does harm",
    ),
    "keyword": Change(
        "Add keyword search",
        "keyword search over the corpus, fused with this ranking by reciprocal rank",
        "build a keyword index beside this retriever, and fuse both",
    ),
    "dense": Change(
        "Add dense search",
        "latent semantic search over the corpus, fused with this ranking by reciprocal rank",
        "add an embedding index beside this retriever, and fuse both; a trained model usually does better",
    ),
    "hole": Change(
        "Bring back documents that no question returns",
        "the {lost} documents that no question returned inserted where keyword search over the corpus ranks them",
        "find out why they are never returned (a filter, an old index), and put them in",
    ),
    "keyword-instead": Change(
        "Search by keywords instead",
        "keyword search over the corpus in place of this ranking",
        "find out what this retriever loses; a plain keyword index does better on these questions",
    ),
    "dense-instead": Change(
        "Search by meaning instead",
        "latent semantic search over the corpus in place of this ranking",
        "find out what this retriever loses; plain latent semantic search does better on these questions",
    ),
    "spelling": Change(
        "Correct the spelling of questions",
        "keyword search with {changed} questions corrected by the words of the corpus, beside the same as typed",
        "correct questions by the words of the corpus before they are asked",
    ),
}


@dataclass(frozen=True, eq=False)
class Trial:
    """A change that was tried: the values of each query before and after."""

    kind: str
    measure: str
    after_measure: str
    before: Array
    after: Array
    higher: bool
    words: Mapping[str, Any]
    """The values for the placeholders of the description."""


def trials(evidence: Evidence, whole: Whole) -> Iterator[Trial]:
    """Every change that can be tried with the given data."""
    yield from _perfect_order(evidence)
    k, more, fewer = evidence.k, min(TIMES * evidence.k, evidence.depth), evidence.k // TIMES
    if more > k:
        yield _cut(evidence, "larger-k", "R", more, {"k": k, "more": more, "next": k + 1})
    if fewer and not is_high(whole.precision) and is_high(whole.recall):
        yield _cut(evidence, "smaller-k", "P", fewer, {"k": k, "fewer": fewer})
    if evidence.corpus is not None and evidence.library is not None and evidence.questions:
        yield from _other_searches(evidence, evidence.corpus, evidence.library)


def _perfect_order(evidence: Evidence) -> Iterator[Trial]:
    """The gain of the best order of the same documents."""
    measure = evidence.measure
    parts = split(measure, evidence.hits) if evidence.scores.split(measure) is not None else None
    if parts is None:
        return
    column = evidence.scores.column(measure)
    added = parts.ranked_too_low if column.counted is None else parts.ranked_too_low[column.counted]
    after, words = column.counting + evidence.sign * added, {"depth": evidence.depth}
    yield Trial("reranking", measure.name, measure.name, column.counting, after, measure.spec.higher, words)


def _cut(evidence: Evidence, kind: str, name: str, at: int, words: Mapping[str, Any]) -> Trial:
    """A measure of the ranking at k, and at another cut."""
    cuts = [parse(name) @ each for each in (evidence.k, at)]
    cuts = cuts if evidence.rel == 1 else [each.with_params({"rel": evidence.rel}) for each in cuts]
    before, after = (_values(evidence, evidence.scores.ranking, each) for each in cuts)
    return Trial(kind, cuts[0].name, cuts[1].name, before, after, cuts[0].spec.higher, words)


def _other_searches(evidence: Evidence, corpus: Corpus, library: Library) -> Iterator[Trial]:
    """Searches over the corpus in place of the ranking and fused with it, and the ranking reordered by words."""
    from rankproof.bench.retrieve import Speller, keyword, lsa

    by_words = evidence.found_by_words
    if evidence.hole is not None:
        yield _other(evidence, "hole", _filled(evidence, by_words), lost=evidence.hole.lost)
    yield _other(evidence, "keyword-instead", {**evidence.rankings, **by_words})
    yield _other(evidence, "keyword", _fused(evidence, by_words))
    corrected = Speller(library.counts)
    spelt = {query: corrected(text) for query, text in evidence.texts.items()}
    changed = {query: text for query, text in spelt.items() if text != evidence.texts[query]}
    if changed:
        typed = {**evidence.rankings, **by_words}
        after = {**typed, **evidence.search(keyword(corpus), changed)}
        yield _other(evidence, "spelling", after, typed, changed=len(changed))
    if len(corpus) <= MOST_PLACED:
        by_meaning = evidence.search(lsa(corpus), evidence.texts)
        yield _other(evidence, "dense-instead", {**evidence.rankings, **by_meaning})
        yield _other(evidence, "dense", _fused(evidence, by_meaning))
    yield _other(evidence, "lexical-reranking", _reranked(evidence, corpus), depth=RERANKED)


def _reranked(evidence: Evidence, corpus: Corpus) -> Rankings:
    """The ranking with its first documents in the order of the embedded reranker; those without a text come last."""
    from rankproof.bench.retrieve import rerank

    asked = {query: text for query, text in evidence.texts.items() if query in evidence.rankings}
    known = {query: [doc for doc in evidence.rankings[query] if doc in corpus] for query in asked}
    first = search_of_lists({asked[query]: _scored(docs) for query, docs in known.items()}, corpus)
    answers = (first >> rerank(depth=RERANKED)).search(list(asked.values()), max(evidence.depth, RERANKED))
    found = ids_of(dict(zip(asked, answers, strict=True)))
    unknown = {query: [doc for doc in evidence.rankings[query] if doc not in corpus] for query in asked}
    return {**evidence.rankings, **{query: [*found[query], *unknown[query]] for query in asked}}


def _scored(docs: Sequence[str]) -> Found:
    """Documents with scores that give their order."""
    return [(doc, float(len(docs) - place)) for place, doc in enumerate(docs)]


def _fused(evidence: Evidence, others: Mapping[str, Sequence[str]]) -> Rankings:
    """The ranking fused with the results of another retriever for the same questions."""
    own = {query: _scored(evidence.rankings.get(query, [])) for query in others}
    found = {query: _scored(docs) for query, docs in others.items()}
    lists = blend_lists({"own": own, "other": found}, recipe(["own", "other"], "rrf"))
    return {**evidence.rankings, **ids_of(lists)}


def _filled(evidence: Evidence, others: Mapping[str, Sequence[str]]) -> Rankings:
    """The ranking with the documents that no question returned, each at its place in keyword search."""
    lost = set() if evidence.hole is None else set(evidence.hole.documents)
    filled = {}
    for query, found in others.items():
        docs = list(evidence.rankings.get(query, []))
        for place, doc in enumerate(found):
            if doc in lost:
                docs.insert(place, doc)
        filled[query] = docs
    return {**evidence.rankings, **filled}


def _other(evidence: Evidence, kind: str, ranking: Rankings, instead_of: Rankings | None = None, **words: Any) -> Trial:
    """The deciding measure on another ranking of the same queries."""
    measure, drawn = evidence.measure, evidence.drawn
    own = evidence.scores.column(measure).counting if instead_of is None else _values(evidence, instead_of, measure)
    after = _values(evidence, ranking, measure)[drawn]
    return Trial(kind, measure.name, measure.name, own[drawn], after, measure.spec.higher, words)


def _values(evidence: Evidence, ranking: Any, measure: Measure) -> Array:
    """The values of the queries that count, in the order of the judgments."""
    # The rankings made here have ids of text; that which was given has its own.
    judged = evidence.judgments if ranking is evidence.scores.ranking else as_text(evidence.judgments)
    found = evaluate(judged, ranking, measure, **evidence.conventions)
    counted = evidence.scores.column(evidence.measure).counted
    values = found.column(measure).values
    return values if counted is None else values[counted]


@dataclass(frozen=True, slots=True)
class Fix(Displayable):
    """A change with its measured gain."""

    kind: str
    title: str
    measure: str
    before: float
    after: float
    gain: float
    """The gain, with its sign turned so that more is better."""
    low: float | None
    high: float | None
    """The ends of the gain's interval, wide enough to hold for all changes at once."""
    n: int
    claimed: bool
    """Whether the interval rules out that it does not help."""
    most: bool
    """Whether the gain is an upper bound."""
    how: str
    do: str
    wins: int = 0
    losses: int = 0

    @property
    def verdict(self) -> str:
        """Whether it helps, in a word or two."""
        if self.n < FEWEST_TO_DECIDE:
            return "too few"
        if self.claimed:
            return "helps"
        return "does harm" if self.high is not None and self.high < 0 else "unclear"

    def to_dict(self) -> dict[str, Any]:
        """The fix as plain data."""
        return {**asdict(self), "verdict": self.verdict}


def fixes(trials: Iterable[Trial], rng: np.random.Generator, alpha: float = 0.05) -> list[Fix]:
    """The changes that were tried: those that surely help first, causes before symptoms, then by their gains.

    The intervals are those of all trials together (Bonferroni), as the best of several is looked for.

    >>> ones, zeros = np.ones(12), np.zeros(12)
    >>> trial = Trial("keyword", "RR", "RR", zeros, np.append(ones[:11], 0.5), True, {})
    >>> [(each.title, each.claimed) for each in fixes([trial], np.random.default_rng(0))]
    [('Add keyword search', True)]
    """
    tried = [each for each in trials if len(each.before)]
    turned = [paired_differences(each.after, each.before) * (1 if each.higher else -1) for each in tried]
    share = alpha / max(1, len(tried))
    spans = [difference_interval(each, level=1 - share) for each in turned]
    ps = [each.p for each in sign_flips(turned, rng)]
    found = [
        _fix(each, gains, agree_with_test((span.low, span.high), total(gains) / len(gains), p, share))
        for each, gains, span, p in zip(tried, turned, spans, ps, strict=True)
    ]
    # Sure changes come first, bounds after all measured ones, and causes before what covers them up.
    return sorted(found, key=lambda fix: (not fix.claimed, fix.most, fix.kind != "hole", -fix.gain))


def _fix(trial: Trial, gains: Array, span: Ends) -> Fix:
    low, high = span
    change, n = CHANGES[trial.kind], len(gains)
    said = {name: getattr(change, name).format(**trial.words) for name in ("title", "how", "do")}
    same = trial.measure == trial.after_measure
    return Fix(
        kind=trial.kind,
        measure=trial.measure if same else f"{trial.measure} to {trial.after_measure}",
        before=float(trial.before.mean()),
        after=float(trial.after.mean()),
        gain=float(gains.mean()),
        low=low if np.isfinite(low) else None,
        high=high if np.isfinite(high) else None,
        n=n,
        claimed=bool(n >= FEWEST_TO_DECIDE and np.isfinite(low) and low > 0),
        most=change.most,
        wins=int((gains > 0).sum()),
        losses=int((gains < 0).sum()),
        **said,
    )
