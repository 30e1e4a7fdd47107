"""Labels of people: one line per decision, the session that collects them, and how far people agree.

A file of labels only grows: an undo is one more line. So nothing is lost if a session is interrupted,
several people can write to one file, and several files count as one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import combinations
from operator import itemgetter
from pathlib import Path

from rankproof.bench.testset.pool import ORDERS, Item, Pool
from rankproof.core.arrays import by_key
from rankproof.document.model import Document, PlainData, Result
from rankproof.document.numbers import count
from rankproof.errors import DataError, UsageError, check_one_of, check_whole, shorten
from rankproof.stats.agreement import cohen_kappa, krippendorff_alpha
from rankproof.store.answers import LabellingSession


@dataclass(frozen=True, slots=True)
class LabelPair:
    """Two people, and the items that both graded."""

    first: str
    second: str
    n: int
    same: float | None
    """The share of these with the same grade."""
    kappa: float | None
    """Cohen's kappa, with quadratic weights if there are more than two grades."""
    apart: tuple[Item, ...]
    """The items graded differently, the furthest apart first."""


def pairs(labels: Labels) -> list[LabelPair]:
    """Each two people who graded something in common."""
    given = {
        who: {item: label.grade for item, label in own.items() if label.grade is not None}
        for who, own in labels.items()
    }
    found = []
    for a, b in combinations(sorted(given), 2):
        both = sorted(given[a].keys() & given[b].keys())
        if both:
            mine, theirs = [given[a][item] for item in both], [given[b][item] for item in both]
            graded = zip(both, mine, theirs, strict=True)
            apart = sorted((-abs(one - other), item) for item, one, other in graded if one != other)
            scale = list(range(max(*mine, *theirs, 1) + 1))
            kappa = cohen_kappa(mine, theirs, "quadratic" if len(scale) > 2 else "none", scale).value
            same = 1 - len(apart) / len(both)
            found.append(LabelPair(a, b, len(both), same, kappa, tuple(item for _, item in apart)))
    return found


@dataclass(frozen=True)
class LabelAgreement(PlainData, Result):
    """How far people agree on what they graded."""

    pairs: list[LabelPair]
    alpha: float | None
    """Krippendorff's alpha (interval) of all; None if no item has two grades."""

    @classmethod
    def of(cls, labels: Labels) -> LabelAgreement:
        """The agreement of everyone whose labels these are."""
        items = {item for own in labels.values() for item, label in own.items() if label.grade is not None}
        lines = [[own[item].grade if item in own else None for own in labels.values()] for item in sorted(items)]
        lines = [line for line in lines if sum(each is not None for each in line) > 1]
        return cls(pairs(labels), krippendorff_alpha(lines, "interval").value if lines else None)

    def _document(self) -> Document:
        from rankproof.bench.words import label_agreement as words

        return words(self)

    def _in_one_line(self) -> str:
        return f"<LabelAgreement of {count(len(self.pairs), 'pair')} of people: alpha {self.alpha}>"


GRADED, SKIPPED, UNDONE = "graded", "skipped", "undone"
BEGINNING = '{"query": '


@dataclass(frozen=True, slots=True)
class QuestionLabel:
    """One decision of one person."""

    query: str
    document: str
    who: str
    what: str
    """graded, skipped or undone."""
    grade: int | None = None
    when: str = ""

    @property
    def item(self) -> Item:
        """The item that was decided."""
        return Item(self.query, self.document)


Labels = dict[str, dict[Item, QuestionLabel]]
"""The current decisions, by person and item, in the order given."""


def last_labels(labels: Iterable[QuestionLabel]) -> Labels:
    """The final decisions of each person: the last on each item by when it was made, undone ones left out.

    A decision that does not say when, as one written by hand, was made just after the one above it.
    """
    found: Labels = {}
    moment, timed = "", list[tuple[str, QuestionLabel]]()
    for label in labels:
        moment = str(label.when) or moment
        timed.append((moment, label))
    for _, label in sorted(timed, key=itemgetter(0)):
        own = found.setdefault(label.who, {})
        own.pop(label.item, None)
        if label.what != UNDONE:
            own[label.item] = label
    return found


def merge_labels(labels: Labels) -> dict[str, dict[str, int]]:
    """One grade for each item: the one most people gave; of equally many, the lowest.

    >>> made = [QuestionLabel("q", "d", who, GRADED, grade) for who, grade in (("ana", 2), ("ben", 0), ("eva", 2))]
    >>> merge_labels(last_labels(made))
    {'q': {'d': 2}}
    """
    every = (pair for own in labels.values() for pair in own.items())
    given = by_key((item, label.grade) for item, label in every if label.grade is not None)
    grades: dict[str, dict[str, int]] = {}
    for item, votes in given.items():
        grades.setdefault(item.query, {})[item.document] = max(sorted(set(votes)), key=votes.count)
    return grades


def read_labels(path: str | os.PathLike[str]) -> Iterator[QuestionLabel]:
    """The decisions in a file, oldest first; none if there is no file yet.

    A line that begins as ours and does not end is what an interrupted write left behind: it is passed over.
    """
    if not Path(path).exists():
        return
    try:
        text = Path(path).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}. Next: name a file that can be read.") from error
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip() and (line.endswith("}") or not line.startswith(BEGINNING)):
            yield _label(line, f"{path}, line {number}")


def _label(line: str, where: str) -> QuestionLabel:
    try:
        label = QuestionLabel(**json.loads(line))
        texts = (label.query, label.document, label.who)
        if not all(isinstance(each, str) for each in texts) or label.what not in (GRADED, SKIPPED, UNDONE):
            raise ValueError("a field of the wrong kind")
        if (label.what == GRADED) != (type(label.grade) is int):
            raise ValueError("a grade goes with what is graded, and with nothing else")
        return label
    except (ValueError, TypeError, KeyError) as error:
        why = "" if isinstance(error, (json.JSONDecodeError, TypeError)) else f" ({error})"
        raise DataError(
            f"{where}: got {shorten(line)}, expected a label: query, document, who, what, grade{why}. "
            "Next: name a file that 'rankproof label' wrote."
        ) from error


def write_label(path: str | os.PathLike[str], label: QuestionLabel) -> None:
    """Add one decision to the file, safely on the disk before the next question is asked."""
    line = json.dumps(asdict(label), ensure_ascii=False) + "\n"
    try:
        with open(path, "a+b") as stream:
            # Ours begins on a line of its own, though an interrupted write may not have come to the end of its line.
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(size - 1, 0))
            end = b"" if stream.read(1) in (b"", b"\n") else b"\n"
            stream.write(end + line.encode("utf-8", "surrogateescape"))
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}. Next: name a file that can be written.") from error


@dataclass
class LabelSession(LabellingSession[Item]):
    """The state of a person in a pool; every decision goes through `keep` at once.

    >>> from rankproof.bench.testset.pool import pool_rankings
    >>> kept = []
    >>> session = LabelSession(pool_rankings({"keyword": {"q": ["a", "b"]}}, depth=2), "ana", {}, kept.append)
    >>> session.next(), session.grade(2), session.next()
    (Item(query='q', document='a'), None, Item(query='q', document='b'))
    >>> session.undo(), session.next(), [label.what for label in kept]
    (Item(query='q', document='a'), Item(query='q', document='a'), ['graded', 'undone'])
    """

    pool: Pool
    who: str
    own: dict[Item, QuestionLabel]
    keep: Callable[[QuestionLabel], None]
    highest: int = 3
    clock: Callable[[], str] = lambda: ""

    at_end = "everything in the pool is judged. Next: make a deeper pool."

    def __post_init__(self) -> None:
        self.steps += [(item, label.grade) for item, label in self.own.items()]
        check_one_of("order", self.pool.order, ORDERS)

    def next(self) -> Item | None:
        """The item to judge now: questions in turn, one finished before the next; None at the end."""
        return next((item for query in self.pool.ranks if (item := self._next_of(query))), None)

    def _next_of(self, query: str) -> Item | None:
        decided = self._decided(query)
        if self.pool.per_query is not None and len(decided) >= self.pool.per_query:
            return None
        document = ORDERS[self.pool.order](self.pool.ranks[query], decided)
        return None if document is None else Item(query, document)

    def _decided(self, query: str) -> dict[str, int]:
        """The grades of a query's documents; what was skipped counts as not relevant for what comes next."""
        ranks = self.pool.ranks[query]
        return {
            item.document: label.grade or 0
            for item, label in self.own.items()
            if item.query == query and item.document in ranks
        }

    def _check(self, item: Item, value: int) -> None:
        check_whole("grade", value, 0, self.highest, advice="press one of these")

    def _keep_step(self, item: Item, value: int | None) -> None:
        label = QuestionLabel(*item, self.who, SKIPPED if value is None else GRADED, value, self.clock())
        self.keep(label)
        self.own[item] = label

    def _take_back(self, item: Item, value: int | None) -> None:
        self.keep(QuestionLabel(*item, self.who, UNDONE, None, self.clock()))
        del self.own[item]

    @property
    def done(self) -> int:
        """How many of the pool's items need nothing more from this person."""
        cut = self.pool.per_query
        decided = ((len(self._decided(query)), len(found)) for query, found in self.pool.ranks.items())
        return sum(min(done, size if cut is None else min(size, cut)) for done, size in decided)
