"""`diagnose`: what is wrong with a ranking, why, and which change is worth trying first."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from typing import Any, Unpack

import numpy as np

from rankproof.core.arrays import by_key
from rankproof.core.audit import Finding
from rankproof.core.audit.ids import CORPUS, check_found, misspelt_between, not_in_corpus, relevant_in, without_text
from rankproof.core.audit.queries import beyond_queries, ungrouped_queries
from rankproof.core.conventions import ScoringArguments
from rankproof.core.defaults import DEFAULT_MEASURE
from rankproof.core.expected_and_extreme_values import by_id
from rankproof.core.names import parse_all
from rankproof.core.scoring import ScoreRow
from rankproof.diagnosing.causes import RULES, Cause, Pattern, causes, patterns
from rankproof.diagnosing.evidence import Evidence
from rankproof.diagnosing.fixes import MOST_PLACED, Fix, fixes, trials
from rankproof.diagnosing.holes import Hole
from rankproof.diagnosing.symptoms import (
    CUTS,
    FIX_FIRST,
    WORDS,
    Band,
    Failure,
    Regime,
    Whole,
    band,
    failures,
    regime_of,
)
from rankproof.document.model import Displayable, Document, Result
from rankproof.document.numbers import count, setting
from rankproof.errors import NotThere, check_whole, old_arguments, shorten
from rankproof.io.corpora import load_corpus, load_questions, silent_note
from rankproof.io.groups import Grouping, group_places, groups_of
from rankproof.io.load import Columns, load_ranking, with_columns
from rankproof.progress import Progress
from rankproof.scoring.evaluate import (
    Measures,
    check_averages,
    check_conventions,
    check_one,
    check_spelling,
    evaluate,
    prepare,
)
from rankproof.scoring.protocol import ends
from rankproof.scoring.tables import unbounded_notes
from rankproof.stats.paired import check_alpha

K = 10
"""The number of documents that are seen, if neither `k` nor the measure sets it."""
ENOUGH = 1e-9
"""Values nearer to their ceiling than this count as perfect."""
MOST_SHOWN = 3
"""The number of changes that are recommended: as many as one can try before measuring again."""


@dataclass(frozen=True, slots=True)
class Served(Displayable):
    """One query, its value, and the causes of its loss."""

    query: str
    text: str
    value: float
    ceiling: float
    causes: tuple[Cause, ...]

    @property
    def why(self) -> tuple[str, ...]:
        """The kinds of causes."""
        return tuple(each.kind for each in self.causes)

    def to_dict(self) -> dict[str, Any]:
        """The query as plain data."""
        return {**asdict(self), "causes": [each.to_dict() for each in self.causes]}


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(Result):
    """What is wrong with a ranking, and what to do first."""

    measure: str
    """The measure that decides."""
    mean: float
    low: float | None
    high: float | None
    """The ends of the 95 % interval of the mean."""
    ceiling: float
    never_found: float | None
    """How much of the measure is lost because documents were never found; None if it cannot be split."""
    ranked_too_low: float | None
    k: int
    """The number of documents that the user sees."""
    judged: int
    """Queries with judgments."""
    unanswerable: int
    """Those without a relevant document."""
    bands: tuple[Band, ...]
    regime: Regime | None
    failures: tuple[Failure, ...]
    served: Mapping[str, Served]
    """Every query with its causes."""
    worst: tuple[Served, ...]
    patterns: tuple[Pattern, ...]
    fixes: tuple[Fix, ...]
    """All changes that were tried: those that surely help first, by their gains."""
    fix_order: tuple[str, ...]
    """The first steps with a weak retriever; empty if it is not weak."""
    findings: tuple[Finding, ...]
    """Findings of the audit that can mislead: the accuracy trap, missing queries, unjudged documents."""
    hole: Hole | None
    """The documents that no question returns, and what they share."""
    notes: tuple[str, ...]
    """The checks that were left out, and what they need."""

    @property
    def first(self) -> tuple[Fix, ...]:
        """The changes most worth trying, with a proven gain: the one that mends the cause first, then by gain."""
        return tuple(each for each in self.fixes if each.claimed and not each.most)[:MOST_SHOWN]

    @property
    def most(self) -> tuple[Fix, ...]:
        """The most that a perfect change could bring: a bound, not a gain."""
        return tuple(each for each in self.fixes if each.claimed and each.most)

    def why(self, query: str) -> tuple[Cause, ...]:
        """The reasons why a query was not served better."""
        if query not in self.served:
            raise NotThere(f"query {shorten(query)} is not judged. Next: name one of served.")
        return self.served[query].causes

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data that JSON can hold."""
        plain = ("measure", "mean", "low", "high", "ceiling", "never_found", "ranked_too_low", "k")
        listed = ("bands", "failures", "worst", "patterns", "fixes", "findings")
        return {
            **{name: getattr(self, name) for name in plain},
            "queries": self.judged,
            "without_relevant": self.unanswerable,
            "regime": None if self.regime is None else self.regime.to_dict(),
            **{name: [each.to_dict() for each in getattr(self, name)] for name in listed},
            "first": [each.kind for each in self.first],
            "fix_order": list(self.fix_order),
            "hole": None if self.hole is None else self.hole.to_dict(),
            "notes": list(self.notes),
            "served": {query: list(each.why) for query, each in self.served.items()},
        }

    def format(self, name: str = "table", worst: int | None = None) -> str:
        """The diagnosis as text in the format of that name; a screen lists three queries, or `worst`."""
        return self._printed(name, worst=worst)

    def _document(self, worst: int | None = None) -> Document:
        from rankproof.diagnosing.words import diagnosis as words

        return words(self, worst)

    def _in_one_line(self) -> str:
        found = ", ".join(each.kind for each in self.first) or "none"
        return f"<Diagnosis of {count(self.judged, 'query')}: {self.measure}={self.mean:.4f}, first: {found}>"


@old_arguments("corpus", corpus="corpus_size")
@with_columns
def diagnose(
    judgments: Any,
    ranking: Any,
    measure: Measures = DEFAULT_MEASURE,
    *,
    queries: Any = None,
    corpus: Any = None,
    k: int | None = None,
    worst: int = 10,
    by: Grouping | None = None,
    alpha: float = 0.05,
    seed: int = 0,
    columns: Columns = None,
    **conventions: Unpack[ScoringArguments],
) -> Diagnosis:
    """Say how good a ranking is, which queries it fails and why, and which changes are worth trying first.

    `queries` are the texts of the questions and `corpus` the documents, each as a mapping or a path: with them
    words, typos, languages and copies are checked, and other searches are tried at once. The first measure
    decides. `k` is how many documents the user sees (the measure's cut-off, else 10). `by` maps queries to kinds
    of your own. The other arguments are conventions of `evaluate`.

    >>> judged = {"q1": {"a": 1}, "q2": {"b": 1}}
    >>> found = diagnose(judged, {"q1": ["a"], "q2": ["x", "y"]}, measure="RR")
    >>> found.worst[0].query, found.worst[0].why
    ('q2', ('never-found',))
    """
    check_conventions(conventions, diagnose)
    check_one(ranking)
    asked = parse_all(measure)
    check_alpha(alpha)
    check_whole("seed", seed, 0)
    check_averages(asked[:1])
    seen = asked[0].cutoff or K if k is None else check_whole("k", k, advice="give one, like 10")
    check_whole("worst", worst, advice="give one, like 10")
    documents = None if corpus is None else load_corpus(corpus)
    if documents is not None:
        conventions.setdefault("corpus_size", len(documents))
    questions = {} if queries is None else load_questions(queries, silent=[])
    judged, rules = prepare(judgments), conventions
    opened = load_ranking(ranking, rules.get("damaged", "error"))
    # Judgments, questions and documents of different collections make every conclusion false.
    if documents is not None:
        check_found(not_in_corpus(relevant_in(judged), documents))
    if questions:
        check_found(without_text(judged.queries, questions))
    scores = evaluate(
        judged, opened, [*asked, *[each for each in parse_all(list(CUTS)) if each not in asked]], by=None, **rules
    )
    check_spelling(scores, opened.source)
    evidence = Evidence(scores, judged, seen, rules, questions, documents)
    return _diagnosis(evidence, worst, by, alpha, np.random.default_rng(seed))


def _diagnosis(
    evidence: Evidence, worst: int, by: Grouping | None, alpha: float, rng: np.random.Generator
) -> Diagnosis:
    scores = evidence.scores
    rows = {name: scores.row(name) for name in CUTS}
    bands = {name: band(name, each.mean, each.ceiling or 0.0, each.low, each.high) for name, each in rows.items()}
    by_machine = bool(evidence.judgments.machine)
    whole = _whole(evidence, bands["P@5"], bands["R@5"])
    row = scores.row(evidence.measure)
    gap = evidence.hole
    tried = fixes(trials(evidence, whole), rng, alpha)
    helps = any(each.claimed and not each.most for each in tried)
    regime = None if by_machine else regime_of(bands["P@5"], bands["R@5"], _lost(whole, row), helps)
    if gap is not None and regime is not None:  # the hole explains it better than any rule
        regime = replace(regime, do="find out why the documents named above are never returned; then measure again.")
    grouped = groups_of(by, evidence.judgments)
    groups = group_places(scores.queries, grouped)
    left = (ungrouped_queries(scores.queries, groups), beyond_queries(scores.queries, grouped))
    why = _causes(evidence)
    served = _served(evidence, why)
    # The queries of each kind, among those with a relevant document.
    features = {rule.kind: rule.feature for rule in RULES if rule.feature}
    values = {query: each.value for query, each in evidence.asked.items() if each.relevant}
    kinds = by_key((features[each.kind], query) for query in values for each in why[query] if each.kind in features)
    for name, own in groups.items():
        kinds[f"{name} (your own)" if name in kinds else name] = [scores.queries[i] for i in own.tolist()]
    bounds = ends(scores, evidence.measure)
    return Diagnosis(
        measure=row.measure,
        mean=row.mean,
        low=row.low,
        high=row.high,
        ceiling=row.ceiling or 0.0,
        never_found=row.never_found,
        ranked_too_low=row.ranked_too_low,
        k=evidence.k,
        judged=len(evidence.asked),
        unanswerable=sum(not each.relevant for each in evidence.asked.values()),
        # judgments of a machine may be off, so their levels are not called good or poor
        bands=tuple(replace(each, word="", said="") if by_machine else each for each in bands.values()),
        regime=regime,
        failures=tuple(failures(whole, tried)),
        served=served,
        worst=_worst(served, evidence.sign, worst),
        patterns=tuple(patterns(kinds, values, rng, higher=evidence.sign > 0, alpha=alpha, bounds=bounds)),
        fixes=tuple(tried),
        fix_order=FIX_FIRST if bands["R@5"].word in WORDS[:2] else (),
        findings=(*scores.audit.serious, *(each for each in left if each is not None)),
        hole=gap,
        notes=(*unbounded_notes([row]), *_notes(evidence)),
    )


def _causes(evidence: Evidence) -> dict[str, tuple[Cause, ...]]:
    """The causes that apply to each query, however well it was served."""
    found: dict[str, tuple[Cause, ...]] = {}
    with closing(Progress("diagnosing", len(evidence.asked), noun="queries")) as progress:
        for query, each in evidence.asked.items():
            progress.tell(len(found), 0)
            found[query] = causes(each)
    return found


def _served(evidence: Evidence, why: Mapping[str, tuple[Cause, ...]]) -> dict[str, Served]:
    """Each query with the causes of what it lost; one that lost nothing has none."""
    found = {}
    for query, each in evidence.asked.items():
        lost = evidence.sign * (each.ceiling - each.value) > ENOUGH or not each.relevant
        found[query] = Served(query, each.text, each.value, each.ceiling, why[query] if lost else ())
    return found


def _worst(served: Mapping[str, Served], sign: int, n: int) -> tuple[Served, ...]:
    """The queries with the worst values; among equals those that lost most first, then by their ids."""

    def place(each: Served) -> tuple[float, float, tuple[int, str]]:
        return sign * each.value, -sign * (each.ceiling - each.value), by_id(each.query)

    return tuple(sorted((each for each in served.values() if each.causes), key=place)[:n])


def _lost(whole: Whole, row: ScoreRow) -> float:
    """The share that is never found: of the relevant documents, or of the measure, whichever is less."""
    shares = [whole.never_found / whole.relevant] if whole.relevant else []
    if row.never_found is not None and row.ceiling:
        shares.append(row.never_found / row.ceiling)
    return min(shares, default=0.0)


def _whole(evidence: Evidence, precision: Band, recall: Band) -> Whole:
    asked = evidence.asked.values()
    # The spelling of missing documents in the corpus.
    gone = {doc for each in evidence.asked.values() for doc in each.gone}
    found = misspelt_between(sorted(gone), evidence.corpus or (), CORPUS) if gone else None
    return Whole(
        precision=precision,
        recall=recall,
        relevant=sum(len(each.relevant) for each in asked),
        never_found=sum(len(each.missing) for each in asked),
        unjudged=evidence.unjudged_share(),
        room=evidence.room(),
        k=evidence.k,
        gone=None if evidence.corpus is None else sum(len(each.gone) for each in asked),
        respelt="" if found is None else f"{found.message} For example {found.examples[0]}.",
    )


def _notes(evidence: Evidence) -> list[str]:
    texts = any(evidence.questions.get(query) for query in evidence.asked)
    said = []
    if evidence.judgments.machine:
        said.append("A machine made these judgments, so its levels may be off, and no band is named.")
    if not texts:
        said.append(f"Without the texts of the questions ({setting('queries')}), their words were not looked at.")
    if evidence.corpus is None:
        said.append(
            f"Without the documents ({setting('corpus')}), spelling, vocabulary, languages and copies "
            "were not looked at, and no other search was tried."
        )
    if texts and evidence.corpus is not None and len(evidence.corpus) > MOST_PLACED:
        said.append(f"Dense search was not tried: that takes long with more than {MOST_PLACED:,} documents.")
    if evidence.corpus is not None and not evidence.drawn.all():
        few, every = int(evidence.drawn.sum()), len(evidence.asked)
        said.append(f"Other searches were tried on {few:,} of the {every:,} queries, drawn at random.")
    if texts and (silent := [query for query in evidence.asked if not evidence.questions.get(query)]):
        said.append(silent_note(silent, len(evidence.asked)))
    return said
