"""`Evidence`: every verdict behind a number, kept on disk once it is much; `Verdicts`: what is in a ledger."""

from __future__ import annotations

import json
import os
import tempfile
import weakref
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from rankproof.document.disk import write_file
from rankproof.document.display import Displayable
from rankproof.errors import DataError, UsageError, check_whole, nearest, old_arguments, shorten
from rankproof.io.trec import MACHINE
from rankproof.judging.blame import Failure, Lost
from rankproof.judging.function_judge import verdict_of
from rankproof.judging.judges import human_judge
from rankproof.judging.run import JudgedSample
from rankproof.judging.verdicts import (
    PLAIN_YES,
    SOFT,
    VALUES,
    Ask,
    Relation,
    Unmeasured,
    Verdict,
    check_verdict,
    entry_of,
    pair_in,
    verdict_in,
)
from rankproof.store.ledger import HUMAN, Ledger, LedgerEntry, read_lines, write_lines

IN_MEMORY = 1 << 20
"""Bytes that are held in memory before they go to a temporary file."""

LENGTH = 8
"""Bytes in which the length of a sample's evidence is written before it."""


@dataclass(frozen=True, slots=True)
class Piece(Displayable):
    """One pair that a sample's metrics looked at, and what was said of it."""

    sample: str
    metrics: tuple[str, ...]
    """The metrics that looked at it."""
    relation: Relation
    left: str
    right: str
    value: int | None
    """None: unmeasured, for the `reason`."""
    judge: str = ""
    quote: str = ""
    probability: float | None = None
    reason: str = ""

    @property
    def measured(self) -> bool:
        """Whether there is a verdict."""
        return not self.reason


@dataclass(slots=True, weakref_slot=True, eq=False)
class Evidence(Displayable):
    """The pieces of evidence, sample by sample, in order."""

    _file: IO[bytes] = field(default_factory=lambda: tempfile.SpooledTemporaryFile(IN_MEMORY))  # noqa: SIM115  (closed with the evidence)
    samples: list[str] = field(default_factory=list)
    """Their ids, in order."""
    _starts: array[int] = field(default_factory=lambda: array("q"))
    """The start of the evidence of each in the file."""
    _found: dict[str, int] = field(default_factory=dict)
    """The place of each sample in the order, once it was needed."""

    def __post_init__(self) -> None:
        weakref.finalize(self, self._file.close)

    def add(self, judged: JudgedSample, names: tuple[str, ...], failure: Failure) -> None:
        """Take the evidence of one sample; `names` are those of its metrics."""
        lost = [(each.claim, each.point) for each in failure.lost]
        plain = {**_plain(judged, names), "failure": (failure.point, lost)}
        data = zlib.compress(json.dumps(plain).encode(), 1)
        self.samples.append(judged.case.sample.id)
        self._starts.append(self._file.seek(0, 2))
        self._file.write(len(data).to_bytes(LENGTH) + data)

    def __iter__(self) -> Iterator[Piece]:
        return (piece for sample in self.samples for piece in self.of(sample))

    def __len__(self) -> int:
        """How many samples there is evidence of."""
        return len(self.samples)

    def __contains__(self, sample: object) -> bool:
        return sample in self._places

    def of(self, sample: str) -> list[Piece]:
        """The evidence of one sample."""
        if sample not in self._places:
            raise UsageError(
                f"no verdicts of a sample {sample!r}.{nearest(sample, self._places)} "
                "Next: name a sample that was judged."
            )
        return _pieces(sample, self._data(sample))

    def query(self, sample: str) -> str:
        """The question of a sample; empty if it has none."""
        return str(self._data(sample)["query"]) if sample in self._places else ""

    @property
    def _places(self) -> dict[str, int]:
        """The place of each sample in the order."""
        if len(self._found) < len(self.samples):
            self._found = {sample: place for place, sample in enumerate(self.samples)}
        return self._found

    def _data(self, sample: str) -> dict[str, Any]:
        self._file.seek(self._starts[self._places[sample]])
        length = int.from_bytes(self._file.read(LENGTH))
        return dict(json.loads(zlib.decompress(self._file.read(length))))

    def failures(self) -> Iterator[Failure]:
        """The outcome of each sample, and where its lost claims were lost."""
        for sample in self.samples:
            point, lost = self._data(sample)["failure"]
            yield Failure(sample, point, tuple(Lost(*each) for each in lost))

    def grades(self) -> Iterator[tuple[str, str, Piece]]:
        """The grade of each retrieved context: sample, id of the context, and the evidence."""
        for sample in self.samples:
            data = self._data(sample)
            texts = [data["texts"][number] for _, number in data["contexts"]]
            by_text = {each.right: each for each in _pieces(sample, data) if each.relation == Relation.CONTEXT_ANSWERS}
            for (name, _), text in zip(data["contexts"], texts, strict=True):
                if text in by_text:
                    yield sample, name, by_text[text]

    @property
    def unmeasured(self) -> list[Piece]:
        """The pairs without a verdict."""
        return [piece for piece in self if not piece.measured]

    def frame(self, backend: str | None = None) -> Any:
        """One row a pair, as a data frame."""
        from rankproof.io.frames import make_frame

        pieces = list(self)
        names = [name for name in Piece.__dataclass_fields__ if name != "metrics"]
        columns = {name: [getattr(piece, name) for piece in pieces] for name in names}
        return make_frame({**columns, "metrics": [", ".join(piece.metrics) for piece in pieces]}, backend)


def _plain(judged: JudgedSample, names: tuple[str, ...]) -> dict[str, Any]:
    """The evidence as JSON: each text once, pairs by the numbers of their texts."""
    texts: dict[str, int] = {}
    users: dict[Ask, list[int]] = {}
    for place, asks in enumerate(judged.used):
        for ask in asks:
            users.setdefault(ask, []).append(place)
    rows = []
    for ask, places in users.items():
        if ask.relation == Relation.TEXT_CLAIMS:
            continue
        said = judged.case.said.get(ask)
        if isinstance(said, Verdict):
            found = [said.value, said.judge, said.quote, said.probability, ""]
        else:
            found = [None, "", "", None, "no judge was asked" if said is None else said.reason]
        left, right = (texts.setdefault(text, len(texts)) for text in (ask.left, ask.right))
        rows.append([ask.relation, left, right, places, found])
    contexts = [[each.id, texts[each.text]] for each in judged.case.contexts if each.text in texts]
    return {"query": judged.case.query, "texts": list(texts), "names": names, "rows": rows, "contexts": contexts}


def _pieces(sample: str, data: dict[str, Any]) -> list[Piece]:
    texts, names = data["texts"], data["names"]
    return [
        Piece(sample, tuple(names[place] for place in places), Relation(relation), texts[left], texts[right], *said)
        for relation, left, right, places, said in data["rows"]
    ]


Grades = dict[str, dict[str, int]]
"""`{query: {document: grade}}`."""


def judgments_from(evidence: Evidence) -> tuple[Grades, list[str]]:
    """The grades of contexts by sample and id, and who gave them; a document of several chunks has its best.

    A context without a verdict is not in it: it stays unjudged.
    """
    found: Grades = {}
    judges: dict[str, None] = {}
    for sample, name, piece in evidence.grades():
        if piece.value is not None:
            graded = found.setdefault(sample, {})
            graded[name] = max(piece.value, graded.get(name, 0))
            judges.setdefault(piece.judge)
    if not found:
        raise DataError(
            "there is no verdict on how well a context answers, so there are no judgments to write. "
            "Next: judge with context_precision among the metrics."
        )
    return found, list(judges)


def write_qrels(evidence: Evidence, path: str | os.PathLike[str], *, force: bool = False) -> int:
    """Write the grades as TREC judgments; how many they are.

    The second column, which trec_eval ignores, says which judge made them: `machine:lexical`.
    """
    found, judges = judgments_from(evidence)
    by_people = all(each.startswith(f"{HUMAN}:") for each in judges)
    mark = "0" if by_people else MACHINE + "+".join("".join(each.split()) for each in judges)
    lines = [f"{q} {mark} {doc} {grade}\n" for q, graded in found.items() for doc, grade in graded.items()]
    for name in (name for q, graded in found.items() for name in (q, *graded)):
        if any(letter.isspace() for letter in name):
            raise DataError(
                f"the id {name!r} has a blank in it, which TREC judgments cannot hold. Next: use other ids."
            )
    write_file(path, "".join(lines), force=force)
    return len(lines)


DEFAULT = "verdicts.db"
"""The default ledger of the command line."""


class Verdicts(Displayable):
    """The verdicts in the file of a ledger."""

    def __init__(self, path: str | os.PathLike[str] | Ledger = DEFAULT) -> None:
        self.ledger = path if isinstance(path, Ledger) else Ledger(Path(path))

    def _in_one_line(self) -> str:
        return f"<Verdicts in {self.ledger.path}>"

    def __iter__(self) -> Iterator[LedgerEntry]:
        return self.ledger.entries()

    def judges(self) -> list[dict[str, Any]]:
        """The judges, and their numbers of verdicts."""
        return self.ledger.judges()

    def where(
        self,
        *,
        judge: str | None = None,
        relation: str | None = None,
        value: int | None = None,
        contains: str | None = None,
        unmeasured: bool | None = None,
    ) -> Iterator[LedgerEntry]:
        """The entries for which all that is given holds; `contains` is looked for in both texts."""
        for what, got in (("judge", judge), ("relation", relation), ("contains", contains)):
            if not isinstance(got, str | None):
                raise UsageError(f"{what}: got {shorten(got)}, expected a text. Next: give one, or leave it out.")
        wanted = None if value is None else check_whole("value", value, least=0)
        sought, open_ones = (contains or "").casefold(), None if unmeasured is None else bool(unmeasured)
        return (
            each
            for each in self
            if judge in (None, each.judge)
            and relation in (None, each.relation)
            and wanted in (None, each.value)
            and open_ones in (None, bool(each.reason))
            and sought in f"{each.left}\n{each.right}".casefold()
        )

    def override(self, pair: str, value: Any, *, by: str, why: str = "") -> LedgerEntry:
        """Add a person's verdict to those of machines; it counts from now on.

        `pair` is the id of a pair, or its beginning; `value` one of its relation, or True or False; `why` is the
        reason, which is kept beside it.
        """
        if not by.strip():
            raise UsageError("by: got no name, expected who overrides. Next: say who you are.")
        found, judge = self._of(pair), human_judge(by.strip())
        said = verdict_of(pair_in(found), value, judge.name)
        if isinstance(said, Unmeasured):
            raise UsageError(
                f"{found.id}: {said.reason} for relation {found.relation}. Next: give a value that the relation has."
            )
        entry = entry_of(said, judge.name)
        if why:
            entry = replace(entry, origin={**entry.origin, "why": why})
        self.ledger.keep(judge.identity, judge.name, [entry])
        return entry

    def _of(self, pair: str) -> LedgerEntry:
        found = {each.id: each for each in self if pair and each.id.startswith(pair)}
        if len(found) != 1:
            what = "no pair" if not found else f"{len(found)} pairs"
            hint = nearest(pair, [each.id for each in self]) if not found else ""
            raise UsageError(
                f"{self.ledger.path}: {what} whose id begins with {shorten(pair)}, expected one.{hint} "
                "Next: 'rankproof verdicts' lists the ids."
            )
        return next(iter(found.values()))

    @old_arguments(target="path")
    def export_to(self, path: str | os.PathLike[str], *, force: bool = False) -> int:
        """Write everything as JSON lines; how many verdicts they are."""
        self.judges()  # if there is no ledger, that is an error
        return write_lines(Path(path), self, force=force)

    def import_from(self, source: str | os.PathLike[str]) -> int:
        """Take in JSON lines, all of them or none; how many they are.

        A line needs relation, left, right, judge and a value; a judge named human:NAME is a person.
        """
        groups: dict[str, tuple[dict[str, Any], str, list[LedgerEntry]]] = {}
        number = 0
        for number, (where, entry) in enumerate(read_lines(Path(source)), 1):  # noqa: B007  (it is returned)
            entry = _softened(entry)
            _check(entry, where)
            kind, _, name = entry.judge.partition(":")
            person = {"kind": HUMAN, "name": name}
            identity = dict(entry.identity) or (person if kind == HUMAN else {"kind": "imported", "name": entry.judge})
            groups.setdefault(f"{identity}", (identity, entry.judge, []))[2].append(entry)
        if groups:
            self.ledger.take(groups.values())
        return number


def _softened(entry: LedgerEntry) -> LedgerEntry:
    """A line with a probability and no value is a soft verdict."""
    if entry.value is not None or entry.probability is None or entry.relation not in PLAIN_YES or entry.reason:
        return entry
    value = PLAIN_YES[Relation(entry.relation)] if entry.probability >= 0.5 else 0
    return replace(entry, value=value, origin={**entry.origin, SOFT: True})


def _check(entry: LedgerEntry, where: str) -> None:
    """Refuse a line that is not a verdict."""
    problem = "" if entry.relation in VALUES else f"got relation {entry.relation!r}"
    if not problem and not entry.reason:
        said = check_verdict(verdict_in(entry, pair_in(entry)))
        problem = said.reason if isinstance(said, Unmeasured) else ""
    if problem:
        known = ", ".join(VALUES)
        raise DataError(
            f"{where}: {problem}; expected a relation ({known}) and a value of it. Nothing was imported."
            " Next: correct the row."
        )
