"""The app in a browser: the content of a folder, page by page, from the same results as the command line.
Here are its settings and its data: the files of the folder, read on demand, and the results computed from them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

from rankproof.bench.testset.labels import Labels, QuestionLabel, last_labels, merge_labels, read_labels
from rankproof.comparing.compare import compare_scores
from rankproof.comparing.comparison import Comparison, first_measure, sign_of
from rankproof.comparing.gate import Gate, gate_scores
from rankproof.core.arrays import by_key
from rankproof.core.corpus import Document
from rankproof.core.judgments import Judgments
from rankproof.core.names import parse_all
from rankproof.core.table import RankingTable
from rankproof.document.numbers import FACE, first_of
from rankproof.errors import DataError, RankproofError, UsageError, not_known, shorten
from rankproof.io.corpora import load_corpus, load_questions
from rankproof.io.groups import groups_of
from rankproof.io.judgments import with_grades
from rankproof.io.load import load_judgments, load_ranking
from rankproof.io.trec import TrecRankings
from rankproof.scoring.evaluate import Measures, check_margin, evaluate
from rankproof.scoring.scores import Scores
from rankproof.stats.intervals import Interval
from rankproof.web.folder import FileKind, FoundFile, find_files, judgments_of_most, kinds_of_texts, named_by_stem

LABELS = "app-labels.jsonl"
"""The file of the grades given in the app, in the first folder that was named."""
TABLES, RESULTS = 8, 64
"""The numbers of rankings whose documents are cached, and of comparisons and other results; the rest is made again."""
T = TypeVar("T")


@dataclass(frozen=True)
class Settings:
    """The options of the command line."""

    places: tuple[str, ...]
    measures: Measures | None = None
    judgments: str | None = None
    queries: str | None = None
    corpus: str | None = None
    by: str | None = None
    baseline: str | None = None
    labels: str | None = None
    margin: float = 0.01
    highest: int = 3
    read_only: bool = False
    conventions: Mapping[str, Any] = field(default_factory=dict)
    allowances: Mapping[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class Workspace:
    """The folder as the pages see it. Everything is read lazily, and read again when its file has changed."""

    settings: Settings
    files: list[FoundFile] = field(default_factory=list)
    runs: Mapping[str, FoundFile] = field(default_factory=dict)
    unreadable: dict[FoundFile, str] = field(default_factory=dict)
    """Files of texts that could not be read when they were needed, with their errors."""
    labelling: dict[tuple[str, str], list[Any]] = field(default_factory=dict)
    """What each person decided on the pairs of a ledger since the start, for what is skipped and taken back."""
    _results: dict[Any, tuple[Any, Future[Any]]] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    writing: threading.Lock = field(default_factory=threading.Lock)
    """Held while a grade is written."""
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(2, "app", FACE.set, (FACE.get(),)))
    """Its threads write settings for whoever started the app: a new thread knows nothing of that."""

    def __post_init__(self) -> None:
        self.refresh()
        _ = self.labels  # a file of something else is refused before a grade is written to it
        given = self.settings
        check_margin(given.margin, zero=True)
        if given.measures is not None:
            parse_all(given.measures)
        _ = [self._at(each) for each in (given.judgments, given.queries, given.corpus) if each is not None]
        with suppress(DataError):  # what the file holds is shown on the pages
            _ = self.groups
        unread = {each.path.stem for each in self.files if each.kind in (FileKind.DAMAGED, FileKind.UNCLEAR)}
        if given.baseline is not None and given.baseline not in unread:
            self.run(given.baseline)

    def refresh(self) -> bool:
        """Read the folder again; returns whether anything has changed."""
        gone = [Path(place) for place in self.settings.places if self.files and not Path(place).exists()]
        found = find_files([place for place in self.settings.places if Path(place) not in gone], self.files)
        found += [FoundFile(each.name, each, FileKind.DAMAGED, 0, 0.0, "is no longer there") for each in gone]
        changed = [each.stamp for each in found] != [each.stamp for each in self.files]
        self.files = found
        self.runs = named_by_stem(self.of_kind(FileKind.RUN))
        return changed

    def of_kind(self, kind: FileKind) -> list[FoundFile]:
        """The files of this kind."""
        return [each for each in self.files if each.kind is kind]

    def run(self, name: str) -> FoundFile:
        """The ranking of that name."""
        runs = self.runs  # the folder may be read again meanwhile
        if name not in runs:
            advice = f"choose one of {first_of([*runs])}" if runs else "put one into the folder"
            raise not_known(f"there is no ranking {shorten(name)} here", name, runs, advice)
        return runs[name]

    @property
    def judgments_file(self) -> FoundFile | None:
        """The judgments of all rankings: those that were named, else those of most queries of a ranking."""
        found = self.of_kind(FileKind.JUDGMENTS)
        if self.settings.judgments is not None:
            return self._at(self.settings.judgments)
        if len(found) < 2:
            return found[0] if found else None
        runs = list(self.runs.values())
        stamp = [each.stamp for each in (*found, *runs)]
        return self.compute_once(("judged by",), stamp, lambda: judgments_of_most(found, self._judged, runs))

    def _at(self, place: str) -> FoundFile | None:
        return next(iter(find_files([place], self.files)), None)

    def _judged(self, file: FoundFile) -> Judgments:
        return self.compute_once(("judgments", file.path), file.stamp, lambda: load_judgments(file.path))

    @cached_property
    def labels_path(self) -> Path:
        """The file for grades: a separate one, never the user's; the same from the start to the end."""
        if self.settings.labels is not None:
            return Path(self.settings.labels)
        first = Path(self.settings.places[0])
        return (first if first.is_dir() else first.parent) / LABELS

    def compute_once(self, key: Any, stamp: Any, make: Callable[[], T]) -> T:
        """The cached result of this key and stamp, else computed now; concurrent requests wait for the same result."""
        return self.later(key, stamp, make, here=True).result()

    def later(self, key: Any, stamp: Any, make: Callable[[], T], *, here: bool = False) -> Future[T]:
        """The same in the background, or `here`: a future. A result of another stamp replaces the one before."""
        with self._lock:
            before, cached = self._results.pop(key, (None, None))
            own: Future[T] = Future() if cached is None or before != stamp else cached
            self._results[key] = stamp, own  # the one used last is the last
            if own is cached:
                return own
            done = [key for key, (_, each) in self._results.items() if each.done()]
            documents = [key for key in done if key[0] == "documents"]
            # Scores and intervals are small, and every first page shows all of them.
            others = [key for key in done if key[0] not in ("documents", "scores", "interval")]
            for old in (*documents[:-TABLES], *others[:-RESULTS]):
                del self._results[old]
        if here:
            _fulfil(own, make)
        else:
            self._pool.submit(_fulfil, own, make)
        return own

    def close(self) -> None:
        """Start no new work."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def judgments(self, corrected: bool = False) -> Judgments:
        """The judgments; `corrected` includes the grades given here."""
        file = self.judgments_file
        if file is None:
            raise UsageError(
                "there are no judgments here. Next: put a file of them into the folder, or name one: "
                "rankproof app FOLDER --judgments FILE."
            )
        plain = self._judged(file)
        if not corrected or not self.grades:
            return plain
        stamp = file.stamp, self._labels_stamp
        return self.compute_once(("corrected", file.path), stamp, lambda: with_grades(plain, self.grades))

    @property
    def other_labels(self) -> list[FoundFile]:
        """The files of labels in the folder beside that of the grades given here."""
        return [each for each in self.of_kind(FileKind.LABELS) if each.path != self.labels_path]

    @property
    def _labels_stamp(self) -> tuple[Any, ...]:
        others = tuple(each.stamp for each in self.other_labels)
        with suppress(OSError):
            about = self.labels_path.stat()
            return *others, about.st_size, about.st_mtime
        return others

    @property
    def labels(self) -> Labels:
        """The last grade of each person for each document, of all files here; a damaged one adds none."""

        def read() -> Labels:
            found: list[QuestionLabel] = []
            for path in (*(each.path for each in self.other_labels), self.labels_path):
                try:
                    found += read_labels(path)
                except RankproofError as error:
                    if path == self.labels_path and not self.settings.read_only:
                        raise
                    self.unreadable |= dict.fromkeys(find_files([path]), str(error))
            return last_labels(found)

        return self.compute_once(("labels",), self._labels_stamp, read)

    @property
    def grades(self) -> dict[str, dict[str, int]]:
        """One grade for each document that was graded here; none counts if judgments name aspects, as it has none."""
        if self.judgments_file is not None and self._judged(self.judgments_file).facets is not None:
            return {}
        return self.compute_once(("grades",), self._labels_stamp, lambda: merge_labels(self.labels))

    def scores(self, name: str, corrected: bool = False) -> Scores:
        """The scores of a ranking."""
        return self.compute_once(*self._scoring(name, corrected))

    def uncertainty(self, name: str) -> Interval:
        """The interval of the mean of a ranking's first measure."""
        return self._interval(*self._scoring(name, False)[:2], self.scores(name))

    def _interval(self, key: Any, stamp: Any, scores: Scores) -> Interval:
        return self.compute_once(("interval", *key[1:]), stamp, lambda: scores.uncertainty(first_measure(scores)))

    def scores_if_ready(self, name: str) -> Scores | RankproofError | None:
        """The scores if they are ready, the error if they cannot be computed, None while they are being computed."""
        found = self.later(*self._scoring(name, False))
        if not found.done():
            return None
        error = found.exception()
        if error is None or isinstance(error, RankproofError):
            return error or found.result()
        return DataError(f"{name}: {error}. Next: look at the file, or take it out of the folder.")

    def _scoring(self, name: str, corrected: bool) -> tuple[Any, Any, Callable[[], Scores]]:
        file, judged_by = self.run(name), self.judgments_file
        given = self._labels_stamp if corrected and self.grades else None
        key, stamp = ("scores", file.path, given is None), (file.stamp, judged_by and judged_by.stamp, given)

        def make() -> Scores:
            judged, named = self.judgments(corrected), self.settings.conventions
            found = evaluate(judged, load_ranking(file.path), self.settings.measures, by=self.groups, **named)
            _ = found.wrong, self._interval(key, stamp, found)  # the first page asks for it for every ranking
            found.hits = found.hits and replace(found.hits)  # without its cache, half of the memory
            return found

        return key, stamp, make

    @property
    def groups(self) -> Any:
        """The groups of queries that were named."""
        by, judged = self.settings.by, self.judgments_file
        read = partial(groups_of, by, judged and os.fspath(judged.path))
        return None if by is None else self.compute_once(("groups",), judged and judged.stamp, read)

    def comparison(self, baseline: str, system: str, corrected: bool) -> Future[Comparison]:
        """The comparison of two rankings on all measures."""
        scores = {name: self.scores(name, corrected) for name in (baseline, system)}
        keys, stamps, _ = zip(*(self._scoring(name, corrected) for name in scores), strict=True)
        allowed = self.settings.allowances
        return self.later(
            ("compared", *keys), stamps, lambda: compare_scores(scores, baseline=baseline, by=self.groups, **allowed)
        )

    def gate(self, baseline: str, candidate: str, corrected: bool) -> Future[Gate]:
        """The gate of a candidate against the baseline."""
        old, new = (self.scores(name, corrected) for name in (baseline, candidate))
        keys, stamps, _ = zip(*(self._scoring(name, corrected) for name in (baseline, candidate)), strict=True)
        how = {"margin": self.settings.margin, **self.settings.allowances}
        return self.later(("gated", *keys), stamps, lambda: gate_scores(old, new, [first_measure(old)], **how))

    def ready(self) -> dict[str, Scores]:
        """The scores that are ready, by name."""
        return {name: each for name in self.runs if isinstance(each := self.scores_if_ready(name), Scores)}

    def problems(self) -> dict[str, list[str]]:
        """Errors in data and unreadable files, each with its rankings and files."""
        scored = [(name, self.scores_if_ready(name)) for name in self.runs]
        wrong = [
            (name, each.wrong if isinstance(each, Scores) else [each]) for name, each in scored if each is not None
        ]
        damaged = ((problem, file.name) for file, problem in self.damaged_files().items())
        return by_key((*((str(error), name) for name, errors in wrong for error in errors), *damaged))

    def damaged_files(self) -> dict[FoundFile, str]:
        """The files that cannot be read, with their errors."""
        now = {each.path: each.stamp for each in self.files}  # a file of grades may lie outside
        texts = {file: why for file, why in self.unreadable.items() if now.get(file.path, file.stamp) == file.stamp}
        return {file: file.problem for file in self.of_kind(FileKind.DAMAGED)} | texts

    def error(self, name: str) -> RankproofError | None:
        """Why this ranking cannot be scored; None if it can."""
        with suppress(Exception):
            self.scores(name)
        found = self.scores_if_ready(name)
        return found if isinstance(found, RankproofError) else None

    def scorable(self) -> list[str]:
        """The names of the rankings that can be scored."""
        return [name for name in self.runs if self.error(name) is None]

    def baseline(self) -> str:
        """The ranking that others are compared with: the one that was named, else the first that can be scored."""
        if self.settings.baseline is not None:
            self.run(self.settings.baseline)
            return self.settings.baseline
        if not self.runs:
            raise UsageError("there is no ranking here. Next: put one into the folder.")
        return next((name for name in self.runs if self.error(name) is None), next(iter(self.runs)))

    def rival(self, baseline: str) -> str | None:
        """The best of the others that are ready, else the first."""
        ready = {name: each for name, each in self.ready().items() if name != baseline}
        if not ready:
            return next((name for name in self.scorable() if name != baseline), None)
        return max(ready, key=lambda name: sign_of(ready[name]) * ready[name][first_measure(ready[name])])

    @property
    def questions(self) -> Mapping[str, str]:
        """The texts of the queries; empty if they are not known."""
        return self._texts_of(FileKind.QUERIES, load_questions)

    @property
    def corpus(self) -> Mapping[str, Document]:
        """The documents; empty if they are not known."""
        return self._texts_of(FileKind.CORPUS, load_corpus)

    def _texts_of(self, kind: FileKind, load: Callable[[str], Mapping[str, T]]) -> Mapping[str, T]:
        if (file := self.text_file(kind)) is not None:
            try:
                return self.compute_once((kind, file.path), file.stamp, lambda: load(os.fspath(file.path)))
            except RankproofError as error:
                self.unreadable[file] = str(error)  # the numbers are shown without the texts
        return {}

    def text_file(self, kind: FileKind) -> FoundFile | None:
        """The file of the queries' or the documents' texts: the one that was named, else that of most of their ids."""
        given = self.settings.queries if kind is FileKind.QUERIES else self.settings.corpus
        if given is not None:
            return self._at(given)
        return next((file for file, own in self.texts().items() if own is kind), None)

    def texts(self) -> dict[FoundFile, FileKind]:
        """Each file of texts as queries or documents, by the ids that are judged; the file with most of them first."""
        files = [each for each in self.files if each.kind in (FileKind.QUERIES, FileKind.CORPUS)]
        try:
            used = self.judgments_file or next(iter(self.runs.values()), None)
            stamp = (used and used.stamp, *(each.stamp for each in files))
            return self.compute_once(("texts",), stamp, lambda: kinds_of_texts(files, *self._ids()))
        except (RankproofError, OSError):
            return {each: each.kind for each in files}

    def _ids(self) -> tuple[Collection[str], Collection[str]]:
        """The queries and the documents of the judgments, without them those of the first ranking."""
        if self.judgments_file is not None:
            return self.judgments().index, self.judgments().doc_ids
        for file in self.runs.values():
            rows = load_ranking(file.path).table()
            return set(rows.query), set(rows.doc)
        return (), ()

    def table(self, name: str, query: str) -> RankingTable:
        """The documents of one query in a ranking."""
        return self.documents(name, here=True).result()(query)

    def documents(self, name: str, *, here: bool = False) -> Future[Callable[[str], RankingTable]]:
        """The documents of each query in a ranking; a run as text stays text, which takes a tenth of the memory."""
        file = self.run(name)

        def read() -> Callable[[str], RankingTable]:
            ranking = load_ranking(file.path)
            if isinstance(ranking, TrecRankings):
                runs, nothing = ranking.by_query(), RankingTable([], [], source=ranking.source)
                return lambda query: runs[query].table() if query in runs else nothing
            whole = ranking.table()
            rows = whole.by_query()
            return lambda query: whole.take(rows.get(query, []))

        return self.later(("documents", file.path), file.stamp, read, here=here)


def _fulfil(future: Future[T], make: Callable[[], T]) -> None:
    try:
        future.set_result(make())
    except BaseException as error:
        future.set_exception(error)  # other requests for the result get it
        raise
