"""`drift`: whether an evaluation set still asks what people ask, and what it would score if it did."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np

from rankproof.core import DEFAULT_MEASURE
from rankproof.core.corpus import Corpus
from rankproof.core.hits import Array
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure
from rankproof.document.model import Document, Result
from rankproof.document.numbers import count
from rankproof.document.terminal import for_face
from rankproof.errors import DataError, UsageError, check_whole, is_number, one_of, shorten, warn_caller
from rankproof.io.corpora import load_corpus, load_questions
from rankproof.io.load import load_judgments
from rankproof.monitoring import coverage, vectors
from rankproof.monitoring.ageing import Stale, Twin, read_hashes, stale_judgments, twins_with, twins_within
from rankproof.monitoring.events import Event
from rankproof.monitoring.live_queries import LiveQueries, live_queries
from rankproof.monitoring.shifts import AT_MOST, TESTS, Shift, shifts
from rankproof.scoring.evaluate import evaluate
from rankproof.scoring.protocol import ScoresLike

ALPHA = 0.05
ENOUGH_USERS = 100
"""From this number of users on, the tests take one query of each."""
FEWEST_OWN, FEWEST_LIVE = 5, 20
SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True)
class Drift(Result):
    """An evaluation set compared with the queries of a log."""

    n: int
    """Queries of the set."""
    live: LiveQueries
    shifts: list[Shift]
    kinds: list[coverage.QueryKind]
    nearness: coverage.Nearness
    unspoken: float
    """The share of live queries of kinds that no query of the set has."""
    weights: dict[str, float]
    """How much each query of the set counts in live traffic; they add up to 1."""
    scores: list[coverage.LiveScore]
    label: list[coverage.NextQuery]
    """Live queries to label next, the most informative first."""
    stale: Stale | None
    duplicates: list[Twin]
    leaked: list[Twin] | None
    """Queries of the set that something was trained on; None if no such queries were given."""
    notes: list[str]
    wrong: list[str] = field(default_factory=list)
    """Errors of the audit, which make numbers of the ranking wrong."""

    @property
    def drifted(self) -> bool:
        """Whether a test finds that people ask other things, false alarms of all tests together at 5 %."""
        return any(each.p_corrected <= ALPHA for each in self.shifts)

    @property
    def effective(self) -> float:
        """The effective number of queries of the set for live traffic."""
        squares = sum(weight**2 for weight in self.weights.values())
        return 1 / squares if squares else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        parts = {name: getattr(self, name) for name in ("shifts", "kinds", "scores", "label", "duplicates")}
        return {
            "queries": self.n,
            "live": {
                "events": self.live.events,
                "without_query": self.live.without,
                "rejected": self.live.rejected,
                "unit": self.live.unit,
                "askers": self.live.askers,
                "sample": len(self.live.texts),
                "first": iso(self.live.first),
                "last": iso(self.live.last),
            },
            "drifted": self.drifted,
            **{name: [asdict(each) for each in found] for name, found in parts.items()},
            "nearness": asdict(self.nearness),
            "unspoken": self.unspoken,
            "effective_queries": self.effective,
            "weights": self.weights,
            "stale": None if self.stale is None else asdict(self.stale),
            "leaked": None if self.leaked is None else [asdict(each) for each in self.leaked],
            "notes": self.notes,
            "wrong": self.wrong,
        }

    def _document(self) -> Document:
        from rankproof.monitoring.drift_words import drift as words

        return words(self)

    def _in_one_line(self) -> str:
        return f"<Drift of {count(self.n, 'query')} against {self.live.events:,} live ones: drifted={self.drifted}>"

    def label_lines(self) -> str:
        """The queries to label next as JSON Lines, for `rankproof run` and `rankproof label --queries`."""
        records = (
            {"_id": each.id, "text": each.text, "metadata": {"stands_for": each.stands_for, "nearest": each.nearest}}
            for each in self.label
        )
        return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)

    def label_run(self) -> dict[str, list[str]]:
        """The documents that the log lists for these queries, best first, as a ranking for `pool`."""
        return {each.id: self.live.shown[each.text] for each in self.label if each.text in self.live.shown}


def iso(seconds: float | None) -> str | None:
    """A time in UTC."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def drift(
    queries: Any,
    log: Any = None,
    *,
    judgments: Any = None,
    ranking: Any = None,
    measures: Any = None,
    scores: ScoresLike | Mapping[str, Mapping[str, float]] | None = None,
    corpus: Any = None,
    hashes: str | os.PathLike[str] | Mapping[str, str] | None = None,
    training: Any = None,
    embed: Callable[[list[str]], Any] | None = None,
    change: Callable[[Event], Event | None] | None = None,
    label: int = 30,
    test: str = TESTS[0],
    seed: int = 0,
    **old: Any,
) -> Drift:
    """Compare the queries of an evaluation set with those of a log.

    `queries` are `{id: text}`, texts, a path or a BEIR folder; `log` is a list of texts, records or events, a data
    frame, or a path. With `judgments` and a `ranking` (or with `scores`) measures are re-weighted to what people ask;
    with `judgments` and a `corpus` documents that vanished are found, with `hashes` of then those that changed;
    `training` holds queries that something was trained on. `embed` turns texts into vectors; without it n-grams of
    characters are compared. `change` is called with each event before anything of it is kept, and may alter or drop it
    (see `events.py`). `label` queries are proposed to be labelled next. `test` holds wording against wording by a
    "kernel" (maximum mean discrepancy) or by a cross-validated "classifier".

    >>> asked = [f"refund for order {i}" for i in range(30)] + [f"opening hours in week {i}" for i in range(30)]
    >>> found = drift([f"refund of order {i}" for i in range(20)], asked)
    >>> found.drifted, found.label[0].text.split()[0]
    (True, 'opening')
    """
    if log is None:
        judged: Drift = _judge_drift(queries, old)
        return judged
    if old:
        raise UsageError(f"drift: got {', '.join(old)}, which it does not know. Next: judge_drift asks a judge again.")
    label = check_whole("label", label, least=0)
    check_whole("seed", seed, 0)
    if test not in TESTS:
        raise one_of("test", test, TESTS)
    graded = None if judgments is None else load_judgments(judgments)
    own, notes = _own(queries, graded)
    live = live_queries(log, seed, change)
    if len(own) < FEWEST_OWN or len(live.texts) < FEWEST_LIVE:
        raise DataError(
            f"drift: got {count(len(own), 'query')} of the set and {count(len(live.texts))} live, expected "
            f"at least {FEWEST_OWN} and {FEWEST_LIVE}. Next: give "
            f"{'more queries' if len(own) < FEWEST_OWN else 'a longer log'}."
        )
    rng = np.random.default_rng(seed)
    texts = [*own.values(), *live.texts]
    rows = vectors.embed_texts(texts, embed) if embed else vectors.condense_rows(vectors.ngram_vectors(texts), rng)
    kind, middles = vectors.kinds_of(rows, coverage.number_of_kinds(len(own)), rng)
    users = np.unique(live.users, return_inverse=True)[1]
    if scores is None and ranking is not None:
        if graded is None:
            raise _lacks("a ranking without judgments", "judgments")
        scores = evaluate(graded, ranking, measures or DEFAULT_MEASURE)
    found = coverage.strata(kind[: len(own)], kind[len(own) :], users)
    return Drift(
        n=len(own),
        live=live,
        shifts=_shifts(list(own.values()), live, rows, kind, rng, test),
        kinds=coverage.kinds_between(list(own.values()), live, rows, kind, middles),
        nearness=coverage.nearness(len(own), live, rows, rng),
        unspoken=found.unspoken,
        weights=dict(zip(own, found.weights.tolist(), strict=True)),
        scores=[
            coverage.live_score(name, values, list(own), kind, users, ends)
            for name, values, ends in _values(scores, list(own), notes)
        ],
        label=coverage.next_queries(own, live, rows, kind, label),
        stale=_stale(graded, corpus, hashes),
        duplicates=twins_within(own),
        leaked=None if training is None else twins_with(own, training),
        notes=notes,
        wrong=scores.wrong if isinstance(scores, ScoresLike) else [],
    )


def _judge_drift(ledger: Any, options: Mapping[str, Any]) -> Any:
    """Refuse calls of `drift` as in the last release, with a ledger and no log."""
    from rankproof import judge_drift

    path = getattr(ledger, "path", ledger)
    is_ledger = isinstance(path, str | os.PathLike) and os.path.isfile(path)
    if is_ledger:
        with open(path, "rb") as file:
            is_ledger = file.read(len(SQLITE)) == SQLITE
    if not is_ledger and not options:
        raise UsageError("drift: got no log to compare the queries with. Next: drift(queries, log).")
    warn_caller(
        "drift(LEDGER) is now judge_drift(LEDGER); drift(QUERIES, LOG) compares an evaluation set with a log. "
        "Next: call judge_drift.",
        DeprecationWarning,
    )
    return judge_drift(ledger, **options)


def _own(queries: Any, judgments: Judgments | None) -> tuple[dict[str, str], list[str]]:
    """The texts of the set; of judged queries alone if there are judgments."""
    texts = load_questions(queries)
    if judgments is None:
        return texts, []
    judged = set(judgments.queries)
    own = {name: text for name, text in texts.items() if name in judged}
    if not own:
        raise DataError(
            f"drift: none of {len(texts):,} queries is among the {len(judged):,} that are judged. "
            "Next: check that both use the same query ids."
        )
    notes = []
    if len(own) < len(texts):
        notes.append(f"{len(texts) - len(own):,} queries without judgments are left out.")
    if len(own) < len(judged):
        notes.append(f"{len(judged) - len(own):,} judged queries have no text, so they are left out.")
    return own, notes


def _shifts(
    own: list[str], live: LiveQueries, rows: Array, kind: Array, rng: np.random.Generator, test: str
) -> list[Shift]:
    """The tests, on at most so many queries of each side and one of each user if there are enough users."""
    mine = rng.permutation(len(own))[:AT_MOST]
    firsts = np.flatnonzero(np.array(live.turn) == 0)
    theirs = firsts if len(firsts) >= ENOUGH_USERS else np.arange(len(live.texts))
    theirs = rng.permutation(theirs)[:AT_MOST]
    places = np.concatenate([mine, len(own) + theirs])
    features = rows[places] if test == "kernel" else vectors.condense_rows(rows[places], rng)
    return shifts([own[i] for i in mine], [live.texts[i] for i in theirs], features, kind[places], rng, test)


def _values(
    scores: Any, own: Sequence[str], notes: list[str]
) -> Sequence[tuple[str, Mapping[str, float], tuple[float, float]]]:
    """Each measure with its value for each query, and its bounds."""
    if scores is None:
        return []
    if not isinstance(scores, ScoresLike):
        return [(name, values, _ends(values)) for name, values in _given(scores, own)]
    found = []
    for name, column in scores.columns.items():
        if column.measure.spec.average == "mean":
            found.append((str(name), scores.values(name), _ends(scores.values(name), column.measure)))
        else:
            notes.append(f"{name} is not a mean over queries, so it is not re-weighted.")
    return found


def _given(scores: Any, own: Sequence[str]) -> Iterator[tuple[str, dict[str, float]]]:
    """Values that somebody else worked out, {measure: {query: value}}; a NaN is not known."""
    form = "{measure: {query id: value}}"
    if not isinstance(scores, Mapping) or not all(isinstance(each, Mapping) for each in scores.values()):
        raise UsageError(f"scores: got {shorten(scores)}, expected {form}. Next: give such a mapping.")
    for name, given in scores.items():
        for query, value in given.items():
            if value is not None and not (is_number(value) and abs(value) < np.inf) and value == value:
                raise DataError(
                    f"scores: {name} of {query!r} is {shorten(value)}, expected a finite number. Next: mend it."
                )
        values = {query: np.nan if value is None else float(value) for query, value in given.items()}
        if all(np.isnan(values.get(query, np.nan)) for query in own):
            raise DataError(
                f"scores: none of {count(len(own), 'query')} of the set has a value of {name}. "
                "Next: check that the query ids of both are alike."
            )
        yield str(name), values


def _ends(values: Mapping[str, float], measure: Measure | None = None) -> tuple[float, float]:
    low, high = (0.0, 1.0) if measure is None else measure.spec.bounds
    given = [value for value in values.values() if value == value]
    return min([low, *given]), high if np.isfinite(high) else max(given, default=1.0)


def _lacks(given: str, missing: str) -> UsageError:
    return UsageError(f"drift: got {given}. Next: give {for_face(f'{missing}=', f'--{missing}')} as well.")


def _stale(judgments: Judgments | None, corpus: Any, hashes: Any) -> Stale | None:
    if corpus is None:
        if hashes is not None:
            raise _lacks("hashes without a corpus", "corpus")
        return None
    if judgments is None:
        raise _lacks("a corpus without judgments", "judgments")
    documents = corpus if isinstance(corpus, Corpus) else load_corpus(corpus)
    return stale_judgments(judgments, documents, None if hashes is None else read_hashes(hashes))
