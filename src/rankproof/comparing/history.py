"""`History`: scores saved under a name, with everything needed to trust and compare them later."""

from __future__ import annotations

import math
import os
import platform
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypedDict, Unpack, overload

import numpy as np

import rankproof
from rankproof.comparing.alignment import align_scores, counted_by_all, without_groups
from rankproof.comparing.compare import DecidingArguments, compare_scores
from rankproof.comparing.comparison import Comparison
from rankproof.comparing.gate import MEAN_OF, Gate, gate_scores
from rankproof.core.audit import Audit
from rankproof.core.audit.queries import UNANSWERED
from rankproof.document.model import Document, Result
from rankproof.document.numbers import for_face
from rankproof.errors import DataError, UsageError, check_whole, shorten
from rankproof.io.groups import Grouping
from rankproof.scoring.evaluate import Measures
from rankproof.scoring.protocol import ScoresLike
from rankproof.scoring.scores import Scores
from rankproof.store import TIMEOUT, damage_error, experiments, open_to_read, open_to_write
from rankproof.store.answers import git_commit, of_ranking
from rankproof.store.experiments import Experiment, HistoryEntry, Values

SAME = 1e-9
"""The largest difference between a stored mean and the mean of the stored values."""
DEFAULT = "rankproof.db"
"""The default path of the history."""


class CompareArguments(DecidingArguments, total=False):
    """The arguments of `compare_scores` that `History.compare` hands on."""

    measures: Measures | None
    baseline: str | None
    by: Grouping | None
    anyway: bool
    all_pairs: bool


class GateArguments(TypedDict, total=False):
    """The arguments of `gate_scores` that `History.gate` hands on."""

    measures: Measures | None
    margin: float | Mapping[str, float]
    alpha: float
    strict: bool
    about: str
    floors: Mapping[str, float] | None
    coverage: float | None
    minimum: int
    allow_missing: float
    allow_errors: bool
    anchor_margin: float | Mapping[str, float] | None
    by: Grouping | None
    anyway: bool
    seed: int


class History(Result):
    """Results by name in one SQLite file. Nothing is written until something is saved.

    >>> import tempfile
    >>> from rankproof import evaluate
    >>> history = History(Path(tempfile.mkdtemp()) / "results.db")
    >>> scores = evaluate({"q1": {"d1": 1}}, {"q1": ["d2", "d1"]}, "RR")
    >>> history.save(scores, "first try", tags={"model": "small"}).tags
    {'model': 'small'}
    >>> history.scores("first try")["RR"]
    0.5
    """

    def __init__(self, path: str | os.PathLike[str] = DEFAULT, *, timeout: float = TIMEOUT) -> None:
        if not isinstance(path, (str, os.PathLike)):
            raise UsageError(f"history: got {shorten(path)}, expected the path of a file. Next: give its name.")
        self.path = Path(path)
        self.timeout = timeout
        """Seconds to wait for another program that is writing."""

    def _in_one_line(self) -> str:
        return f"<History in {self.path}>"

    def to_dict(self) -> dict[str, Any]:
        """Every entry as plain data, the oldest first."""
        return {"entries": [each.to_dict() for each in self.entries()] if self.path.exists() else []}

    def format(self, name: str = "table") -> str:
        """What is saved as text in the format of that name, one of `formats()`; a table has the last ones."""
        return self._printed(name, whole=name != "table")

    def _document(self, whole: bool = True) -> Document:
        from rankproof.comparing.orders_words import history, rows_shown

        if not self.path.exists():
            return history([])
        listed = [each.to_dict() for each in self.entries(None if whole else rows_shown())]
        return history(listed, len(self) - len(listed))

    @overload
    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path: ...

    @overload
    def save(
        self, scores: ScoresLike, name: str, *, tags: Mapping[str, str] | None = None, replace: bool = False
    ) -> HistoryEntry: ...

    def save(  # type: ignore[misc]  # the first argument has another name in each
        self,
        scores: Any = None,
        name: str | None = None,
        *,
        path: Any = None,
        tags: Mapping[str, str] | None = None,
        replace: bool = False,
        force: bool = False,
    ) -> HistoryEntry | Path:
        """Save the scores under a new name, or replace what has that name.

        With only the path of a file, write the saved results there, as any result does.
        """
        if name is None:
            return super().save(scores if path is None else path, force=force)
        if not isinstance(scores, ScoresLike):
            raise UsageError(f"save: got {shorten(scores)}, expected scores. Next: pass what evaluate returns.")
        found = _experiment(scores, _named(name), experiments.check_tags(tags or {}))
        self._insert([found], replace)
        return found.entry

    def entries(self, last: int | None = None) -> list[HistoryEntry]:
        """All entries, or the `last` ones, the oldest first: names, times, versions, fingerprints, means, tags."""
        with open_to_read(self.path, self.timeout) as connection:
            return experiments.entries(connection, self.path, last)

    def __len__(self) -> int:
        with open_to_read(self.path, self.timeout) as connection:
            return experiments.count(connection)

    def __bool__(self) -> bool:
        return True  # there may be no file yet

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str) or not self.path.exists():
            return False
        with open_to_read(self.path, self.timeout) as connection:
            return experiments.has_name(connection, unicodedata.normalize("NFC", name))

    def show(self, name: str) -> HistoryEntry:
        """The entry of that name."""
        with open_to_read(self.path, self.timeout) as connection:
            return experiments.entry(connection, _named(name), self.path)

    def scores(self, name: str) -> ScoresLike:
        """The scores of that name, value for value as they were saved."""
        with open_to_read(self.path, self.timeout) as connection:
            return _scores(experiments.read(connection, _named(name), self.path), self.path)

    def remove(self, *names: str) -> None:
        """Remove what has these names: all of them, or none if one is unknown."""
        len(self)  # if there is no history, none is made
        with open_to_write(self.path, self.timeout) as connection:
            for name in _each_once(names):
                if not experiments.remove(connection, name):
                    raise experiments.unknown_error(connection, self.path, name)

    def compare(self, *names: str, **settings: Unpack[CompareArguments]) -> Comparison:
        """Compare saved results, as `compare_scores` does; by default the first is the baseline."""
        if isinstance(baseline := settings.get("baseline"), str):
            settings["baseline"] = _named(baseline)
        return compare_scores(self.scores_of(names), **settings)

    def gate(
        self, baseline: str, candidate: str, *, anchors: Iterable[str] = (), **settings: Unpack[GateArguments]
    ) -> Gate:
        """Decide between two saved results, as `gate_scores` does; `anchors` are names of fixed releases."""
        return gate_scores(self.scores(baseline), self.scores(candidate), anchors=self.scores_of(anchors), **settings)

    def gate_last(
        self, n: int, candidate: str, *, like: str = "*", anchors: Iterable[str] = (), **settings: Unpack[GateArguments]
    ) -> Gate:
        """Decide as `gate` does, with the mean of the last `n` results saved before the candidate as the baseline."""
        new, anyway = self.scores(candidate), settings.get("anyway", False)
        old = self.mean(self.last(n, before=candidate, like=like), list(new), anyway=anyway)
        return gate_scores(old, new, anchors=self.scores_of(anchors), **settings)

    def last(self, n: int, *, before: str | None = None, like: str = "*") -> list[str]:
        """The names of the last `n` results, the oldest first; only those saved before `before`, or matching `like`."""
        n = check_whole("last", n, advice="give one, like 5")
        with open_to_read(self.path, self.timeout) as connection:
            names = experiments.names(connection, self.path)
        if before is not None and _named(before) in names:
            names = names[: names.index(_named(before))]
        found = [name for name in names if fnmatchcase(name, unicodedata.normalize("NFC", like))]
        if not found:
            raise UsageError(
                f"{self.path}: nothing is saved{'' if like == '*' else f' like {shorten(like)}'}"
                f"{'' if before is None else f' before {shorten(before)}'}. "
                f"Next: {for_face('entries()', repr('rankproof history'))} lists what is."
            )
        return found[-n:]

    def mean(self, names: Iterable[str], measures: Sequence[str] | None = None, *, anyway: bool = False) -> ScoresLike:
        """The mean of saved results query by query, as scores to compare others with: steadier than any one of them.

        What is unjudged and tied is the mean of theirs too. Definitions are those of the last; what the audit says of
        each is told of each.
        """
        alone = {name: without_groups(each) for name, each in self.scores_of(names).items()}
        if not alone:
            raise UsageError("mean: got no names, expected one or more. Next: name the results to take the mean of.")
        alike, _ = align_scores(alone, list(alone)[-1], measures, None, anyway)
        last = list(alike.values())[-1]
        found = last.only(list(last), last.queries)
        if isinstance(found, Scores):
            found.hits = None
        for name in list(found.columns):
            columns = [each.column(name) for each in alike.values()]
            mean = np.mean([each.values for each in columns], axis=0)
            found.columns[name] = replace(found.columns[name], values=mean, counted=counted_by_all(columns))
        found.stored |= _mean_facts(found, list(alike.values())) | {MEAN_OF: alike}
        return found

    def scores_of(self, names: Iterable[str]) -> dict[str, ScoresLike]:
        """The scores of several names, each given once."""
        return {name: self.scores(name) for name in _each_once(names)}

    def export_to(self, path: str | os.PathLike[str], *names: str, force: bool = False) -> int:
        """Write these results (by default all) to one JSON file, compressed for `.gz`; returns their number."""
        with open_to_read(self.path, self.timeout) as connection:
            chosen = _each_once(names)
            for name in chosen:  # before anything is written
                experiments.entry(connection, name, self.path)
            chosen = chosen or experiments.names(connection, self.path)
            found = (experiments.read(connection, name, self.path) for name in chosen)
            experiments.write(Path(path), found, force=force)
        return len(chosen)

    def import_from(self, source: str | os.PathLike[str], *, replace: bool = False) -> list[str]:
        """Read a file that `export_to` wrote, all of it or nothing; returns the names."""
        found = experiments.read_transfer(Path(source))
        first = list(islice(found, 1))  # a file of something else makes no history
        return self._insert(chain(first, found), replace)

    def check(self, name: str, replace: bool = False) -> None:
        """Raise an error for an invalid name, before any work is done."""
        name = _named(name)
        if self.path.exists() and not replace:
            with open_to_read(self.path, self.timeout) as connection:
                experiments.check_free(connection, name, self.path)

    def _insert(self, found: Iterable[Experiment], replace: bool) -> list[str]:
        names = []
        with open_to_write(self.path, self.timeout) as connection:
            for each in found:
                names.append(each.entry.name)
                if replace:
                    experiments.remove(connection, each.entry.name)
                experiments.check_free(connection, each.entry.name, self.path, "remove it there first")
                experiments.insert(connection, each)
        return names


def _named(name: str) -> str:
    """The name in the one form that looks the same: accents composed."""
    return experiments.check_name("name", unicodedata.normalize("NFC", name))


def _each_once(names: Iterable[str]) -> list[str]:
    """The names, or the only one; one that is given twice is refused, as a file is."""
    counts = Counter(map(_named, [names] if isinstance(names, str) else names))
    for twice in (name for name, times in counts.items() if times > 1):
        raise UsageError(f"{shorten(twice)}: given more than once. Next: give each name once.")
    return list(counts)


def _experiment(scores: ScoresLike, name: str, tags: dict[str, str]) -> Experiment:
    """The scores as they are saved, with where and by what they were made."""
    facts = {key: each for key, each in scores.to_dict().items() if key not in ("queries", "per_query")}
    ranking = str(scores.stored.get("ranking", ""))  # that of scores that were read back
    if isinstance(scores, Scores) and scores.ranking is not None:
        ranking = of_ranking(scores.ranking.table(), by_rank=scores.conventions.ties == "rank")
    entry = HistoryEntry(
        name=name,
        saved_at=datetime.now(UTC).isoformat(timespec="seconds"),
        rankproof=rankproof.__version__,
        python=platform.python_version(),
        commit=git_commit(Path.cwd()),
        judgments=scores.fingerprint,
        ranking=ranking,
        means={name: mean for name, mean in scores.items() if math.isfinite(mean) and not scores.thin(name)},
        tags=tags,
    )
    columns = {m: Values(c.values, c.counted, c.note) for m, c in scores.columns.items() if math.isfinite(c.mean)}
    return Experiment(entry, tuple(scores.queries), columns, facts)


def _scores(experiment: Experiment, path: Path) -> ScoresLike:
    """The scores as they were when they were saved."""
    facts = {**experiment.facts, "ranking": experiment.entry.ranking}
    try:
        scores = Scores.from_dict({**facts, "queries": experiment.queries, "per_query": {}})
        for name, each in experiment.columns.items():
            scores.put(name, each.values, each.counted, each.note)
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{shorten(experiment.entry.name)} was saved by rankproof {experiment.entry.rankproof} in a way that "
            f"this one does not read ({error}). Next: pip install --upgrade rankproof."
        ) from error
    saved, found = experiment.entry.name, scores.means
    for name, mean in experiment.entry.means.items():
        own = found.get(name, math.nan)
        if not math.isclose(mean, own, rel_tol=SAME, abs_tol=SAME):
            said = f"measured.mean ({name}) of {shorten(saved)} is {mean!r}, but its values have the mean {own!r}"
            raise damage_error(path, said, saved=saved)
    return scores


def _mean_facts(found: ScoresLike, scores: Sequence[ScoresLike]) -> dict[str, Any]:
    """The limits of a mean of results; the warnings and notes of the last, but for unanswered queries."""
    rows: dict[str, dict[str, Any]] = {name: {} for name in found}
    for name, row in rows.items():
        for of in ("ties", "unjudged") if isinstance(found, Scores) else ():
            ends = [each.bounds(name, of=of) for each in scores]
            row[of] = None if None in ends else np.mean(ends, axis=0).tolist()  # type: ignore[arg-type]
    shares = [each.unjudged for each in scores]
    depths = sorted(set(shares[0]).intersection(*shares))
    unjudged = {str(depth): float(np.mean([each[depth] for each in shares])) for depth in depths}
    tied = [each.facts["tied"] for each in scores]
    facts = scores[-1].facts | {"unjudged": unjudged, "tied": None if None in tied else max(tied)}
    kept = [each for each in scores[-1].audit if each.severity != "error" and each.kind not in UNANSWERED]
    return {"rows": rows, "facts": facts, "audit": Audit.of(kept).to_dict()}
