"""`drift`: whether an evaluation set still asks what people ask, its score if it did, and how it has aged."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import numpy as np

from rankproof.core.corpus import Corpus
from rankproof.core.defaults import DEFAULT_MEASURE
from rankproof.core.judgments import Judgments
from rankproof.document.model import Displayable, Document, Result
from rankproof.document.numbers import count, for_face
from rankproof.errors import DataError, UsageError, check_whole, shorten, warn_caller
from rankproof.io.corpora import load_corpus, load_questions, silent_note
from rankproof.io.files import read_bytes, text_of
from rankproof.io.load import load_judgments
from rankproof.io.read import rows_of
from rankproof.monitoring import coverage, drift_words
from rankproof.monitoring import query_similarity as similarity
from rankproof.monitoring.events import Event
from rankproof.monitoring.log_samples import LiveQueries, live_queries, normal_form
from rankproof.monitoring.query_similarity import Shift, content_words
from rankproof.scoring.evaluate import evaluate
from rankproof.scoring.protocol import ScoresLike
from rankproof.text.words import digest

ALIKE = 0.8
"""Of all content words of two queries this share must be in both, so that they ask nearly the same."""
FEW_WORDS = 2
"""Queries with fewer content words are alike only if they are the same."""
ALPHA = 0.05
FEWEST_OWN, FEWEST_LIVE = 5, 20
NEEDS = (
    ("ranking", "judgments", "--judgments"),
    ("measures", "ranking", "--run"),
    ("corpus", "judgments", "--judgments"),
    ("hashes", "corpus", "--corpus"),
)
"""Arguments that say nothing without another, and the option of the other."""


@dataclass(frozen=True)
class Stale(Displayable):
    """Judged documents that are not what was judged."""

    judged: int
    """Documents with a judgment."""
    vanished: list[str]
    """Documents that the corpus does not have any more."""
    changed: list[str]
    """Documents whose text has changed since they were judged."""
    compared: int
    """Documents with a hash of the text that was judged."""
    queries: list[str]
    """Queries with a relevant document that vanished or changed: look at their judgments again."""


@dataclass(frozen=True)
class Twin(Displayable):
    """A query of the set that is asked elsewhere as well."""

    query: str
    other: str
    """The id of another query of the set, or the text of a training query."""
    same: bool
    """Whether the words are the same; else nearly the same."""


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
        """Whether a test finds a drift, with false alarms of all tests together at 5 %."""
        return any(each.p_corrected <= ALPHA for each in self.shifts)

    @property
    def effective(self) -> float:
        """The effective number of queries in the set, when weighted by live traffic."""
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
        return drift_words.drift(self)

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
    seed: int = 0,
    **old: Any,
) -> Drift:
    """Compare the queries of an evaluation set with those of a log.

    `queries` are `{id: text}`, texts, a path or a BEIR folder; `log` is a list of texts, records or events, a data
    frame, or a path. With `judgments` and a `ranking` (or with `scores`) measures are re-weighted to what people ask;
    with `judgments` and a `corpus` vanished documents are found, with earlier `hashes` changed ones too;
    `training` holds the training queries of a model. `embed` turns texts into vectors; without it n-grams of
    characters are compared. `change` is called with each event before anything of it is kept, and may alter or drop it
    (see `events.py`). `label` is the number of queries to label next.

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
    given = {"judgments": judgments, "ranking": ranking, "measures": measures, "corpus": corpus, "hashes": hashes}
    for name, needed, option in NEEDS:
        if given[name] is not None and given[needed] is None:
            lacking = for_face(f"{needed}=", option)
            raise UsageError(f"drift: got {name} without {needed}. Next: give {lacking} as well.")
    graded = None if judgments is None else load_judgments(judgments)
    own, notes = _own(queries, graded)
    live = live_queries(log, seed, change)
    if len(own) < FEWEST_OWN or len(live.texts) < FEWEST_LIVE:
        raise DataError(
            f"drift: got {count(len(own), 'query')} of the set and {count(len(live.texts))} live, expected "
            f"at least {FEWEST_OWN} and {FEWEST_LIVE}. Next: give "
            f"{'more queries' if len(own) < FEWEST_OWN else 'a longer log'}."
        )
    known = None if hashes is None else read_hashes(hashes)
    rng = np.random.default_rng(seed)
    texts = [*own.values(), *live.texts]
    rows = similarity.rows_of_texts(texts, embed, rng)
    kind, middles = similarity.kinds_of(rows, coverage.number_of_kinds(len(own)), rng)
    users = np.unique(live.users, return_inverse=True)[1]
    if scores is None and ranking is not None:
        scores = evaluate(graded, ranking, measures or DEFAULT_MEASURE)
    found = coverage.strata(kind[: len(own)], kind[len(own) :], users)
    return Drift(
        n=len(own),
        live=live,
        shifts=similarity.shifts(list(own.values()), live, rows, kind, rng),
        kinds=coverage.kinds_between(list(own.values()), live, rows, kind, middles),
        nearness=coverage.nearness(len(own), live, rows, rng),
        unspoken=found.unspoken,
        weights=dict(zip(own, found.weights.tolist(), strict=True)),
        scores=[
            coverage.live_score(name, values, list(own), kind, users, ends)
            for name, values, ends in coverage.measured_values(scores, list(own), notes)
        ],
        label=coverage.next_queries(own, live, rows, kind, label),
        stale=None if graded is None or corpus is None else stale_judgments(graded, load_corpus(corpus), known),
        duplicates=twins_within(own),
        leaked=None if training is None else twins_with(own, training),
        notes=notes,
        wrong=scores.wrong if isinstance(scores, ScoresLike) else [],
    )


def _judge_drift(ledger: Any, options: Mapping[str, Any]) -> Any:
    """Refuse calls of `drift` as in the last release, with a ledger and no log."""
    from rankproof import judge_drift
    from rankproof.store.ledger import is_ledger

    if not is_ledger(ledger) and not options:
        raise UsageError("drift: got no log to compare the queries with. Next: drift(queries, log).")
    warn_caller(
        "drift(LEDGER) is now judge_drift(LEDGER); drift(QUERIES, LOG) compares an evaluation set with a log. "
        "Next: call judge_drift.",
        DeprecationWarning,
    )
    return judge_drift(ledger, **options)


def _own(queries: Any, judgments: Judgments | None) -> tuple[dict[str, str], list[str]]:
    """The texts of the set; of judged queries alone if there are judgments."""
    silent: list[str] = []
    given = load_questions(queries, silent)
    texts = {name: text for name, text in given.items() if normal_form(text)}  # as those of the log
    silent += [name for name in given if name not in texts]
    notes = [f"Left out: {silent_note(silent, len(texts) + len(silent), 'words')}"] if silent else []
    if judgments is None:
        return texts, notes
    judged = set(judgments.queries)
    own = {name: text for name, text in texts.items() if name in judged}
    if not own:
        raise DataError(
            f"drift: none of {len(texts):,} queries is among the {len(judged):,} that are judged. "
            "Next: check that both use the same query ids."
        )
    if len(own) < len(texts):
        notes.append(f"{len(texts) - len(own):,} queries without judgments are left out.")
    if unknown := judged - own.keys() - set(silent):
        notes.append(f"{len(unknown):,} judged queries have no text, so they are left out.")
    return own, notes


def stale_judgments(judgments: Judgments, corpus: Corpus, hashes: Mapping[str, str] | None = None) -> Stale:
    """The judged documents that vanished from the corpus, or changed since `hashes` were taken."""
    known = hashes or {}
    docs = list(dict.fromkeys(judgments.docs))
    vanished = {doc for doc in docs if doc not in corpus}
    compared = [doc for doc in docs if doc in known and doc not in vanished]
    changed = {doc for doc in compared if hash_of(corpus[doc].whole) != known[doc]}
    touched = [
        query
        for query, grades in judgments.as_dict().items()
        if any(grade > 0 and (doc in vanished or doc in changed) for doc, grade in grades.items())
    ]
    return Stale(len(docs), sorted(vanished), sorted(changed), len(compared), touched)


def hash_of(text: str) -> str:
    """The hash of a document's text; blanks do not count."""
    return digest(" ".join(text.split())).hex()


def hashes_of(judgments: Judgments, corpus: Corpus) -> dict[str, str]:
    """The hash of each judged document, to be kept with the judgments."""
    return {doc: hash_of(corpus[doc].whole) for doc in judgments.docs if doc in corpus}


def read_hashes(source: str | os.PathLike[str] | Mapping[str, str]) -> dict[str, str]:
    """Hashes by document, from a mapping or from the JSON file that `rankproof drift --keep-hashes` wrote."""
    where = "hashes" if isinstance(source, Mapping) else str(source)
    step = "name the file that 'rankproof drift --keep-hashes' wrote."
    try:
        found = source if isinstance(source, Mapping) else json.loads(text_of(read_bytes(source), where))
    except ValueError as error:
        raise DataError(f"{where}: not valid JSON ({error}). Next: {step}") from error
    if not isinstance(found, Mapping) or not all(isinstance(each, str) for each in found.values()):
        raise DataError(f"{where}: got {shorten(found)}, expected {{document: hash}}. Next: {step}")
    return dict(found)


def twins_within(own: Mapping[str, str]) -> list[Twin]:
    """The queries of the set that repeat an earlier one."""
    known, found = KnownQueries(), []
    for name, text in own.items():
        found += known.twin(name, text)
        known.add(text, name)
    return found


def twins_with(own: Mapping[str, str], trained: Any) -> list[Twin]:
    """The queries of the set that are also training or tuning queries."""
    known = KnownQueries()
    for text in _texts(trained):
        known.add(text, text)
    return [twin for name, text in own.items() for twin in known.twin(name, text)]


class KnownQueries:
    """Queries to compare others with; only those that share a word are compared."""

    def __init__(self) -> None:
        self._exact: dict[str, str] = {}
        self._holding: dict[str, list[tuple[frozenset[str], str]]] = {}

    def add(self, text: str, shown: str) -> None:
        """Add a query with its name."""
        self._exact.setdefault(normal_form(text), shown)
        said = frozenset(content_words(text))
        for word in said if len(said) >= FEW_WORDS else ():
            self._holding.setdefault(word, []).append((said, shown))

    def twin(self, name: str, text: str) -> list[Twin]:
        """The first known query that asks the same, if there is one."""
        if (other := self._exact.get(normal_form(text))) is not None:
            return [Twin(name, other, True)]
        said = frozenset(content_words(text))
        near = (
            shown
            for word in sorted(said)
            for words, shown in self._holding.get(word, ())
            if len(said & words) >= ALIKE * len(said | words)
        )
        return [Twin(name, other, False) for other in islice(near, 1)]


def _texts(source: Any) -> Iterable[str]:
    by_id = isinstance(source, Mapping) and all(isinstance(each, str) for each in source.values())
    for row in rows_of(list(source.values()) if by_id else source, "the training queries"):
        record = row.value
        if isinstance(record, Mapping):
            named = (record.get(name) for name in ("query", "text", "question", "anchor"))
            record = next((text for text in named if text is not None), None)
        if not isinstance(record, str):
            raise DataError(
                f"{row.where}: got {shorten(row.value)}, expected a query's text. "
                'Next: give records like {"query": ...}, or a list of texts.'
            )
        yield record
