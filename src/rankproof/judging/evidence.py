"""The evidence for a number: `Evidence`, every verdict, on disk if there are many; `Blame`, where samples failed."""

from __future__ import annotations

import json
import os
import tempfile
import weakref
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

from rankproof.core.arrays import by_key
from rankproof.document.disk import write_file
from rankproof.document.model import Displayable
from rankproof.errors import DataError, not_known
from rankproof.io.trec import MACHINE
from rankproof.judging.case import Case, all_of, any_of
from rankproof.judging.verdicts import Relation, Verdict
from rankproof.store.ledger import HUMAN

if TYPE_CHECKING:
    from rankproof.judging.run import JudgedSample

# --- which half failed ----------------------------------------------------------------------------------
#
# For each claim that an answer lacks, at which step between the corpus and the answer it was lost. The points are the
# seven of S. Barnett et al. (Seven failure points when engineering a retrieval augmented generation system, CAIN 2024),
# read off the same verdicts as the metrics; retrieval comes first.

POINTS: dict[str, str] = {
    "corpus": "the corpus lacks the answer",
    "retrieval": "it was not retrieved",
    "ranking": "it was retrieved, below what the prompt takes",
    "use": "it was in the prompt, and not used",
    "contradiction": "it was in the prompt, and the answer contradicts it",
    "form": "the answer does not address the question",
    "specificity": "the answer is too general or too specific",
    "incomplete": "the answer leaves out a part",
}
"""The points of failure in the order of the way."""
RETRIEVAL = ("corpus", "retrieval", "ranking")
"""Those that are retrieval's; the others are generation's."""
FINE, UNKNOWN, NOTHING = "fine", "unmeasured", "nothing to compare"
WORDS = POINTS | {
    FINE: "the answer has what the reference claims",
    UNKNOWN: "too little was judged to tell",
    NOTHING: "reference, answer or contexts are lacking",
}
"""The meaning of each point, and of samples that did not fail."""


@dataclass(frozen=True, slots=True)
class Lost(Displayable):
    """A claim of the reference that the answer lacks, and where it was lost."""

    claim: str
    point: str


@dataclass(frozen=True, slots=True)
class Failure(Displayable):
    """The outcome of one sample."""

    sample: str
    point: str
    """The first point at which something was lost; "fine", "unmeasured" or "nothing to compare"."""
    lost: tuple[Lost, ...] = ()

    @property
    def half(self) -> str:
        """retrieval, generation, or neither ("").

        >>> [Failure("s1", point).half for point in ("ranking", "use", "fine")]
        ['retrieval', 'generation', '']
        """
        return "" if self.point not in POINTS else "retrieval" if self.point in RETRIEVAL else "generation"


@dataclass(slots=True)
class Blame(Displayable):
    """The account over all samples: how many failures are retrieval's, how many generation's, and at which point."""

    counts: Counter[str] = field(default_factory=Counter)
    """How many samples ended at each point."""
    each: Callable[[], Iterable[Failure]] = tuple
    """The outcome of each sample; empty for scores that were read back."""
    asked: bool = False
    """Whether everything was judged that the account needs, not only what the metrics needed."""

    @property
    def failures(self) -> list[Failure]:
        """The outcome of each sample, in order."""
        return list(self.each())

    @property
    def points(self) -> dict[str, int]:
        """How many samples failed at each point, in the order of the way, then how many did not fail."""
        return {point: self.counts[point] for point in (*POINTS, FINE, UNKNOWN, NOTHING) if self.counts[point]}

    @property
    def halves(self) -> dict[str, int]:
        """How many failures are retrieval's, and how many generation's."""
        retrieval = sum(self.counts[point] for point in RETRIEVAL)
        return {"retrieval": retrieval, "generation": sum(self.counts[point] for point in POINTS) - retrieval}

    def to_dict(self) -> dict[str, Any]:
        """The account as plain data."""
        samples = {
            each.sample: {"point": each.point, "lost": {lost.claim: lost.point for lost in each.lost}}
            for each in self.failures
        }
        return {"halves": self.halves, "points": self.points, "samples": samples}


def failure_of(case: Case) -> Failure:
    """The outcome of a sample, as far as it is known."""
    if not all(map(case.sample.has, ("reference", "answer", "contexts"))) or not case.reference_claims:
        return Failure(case.sample.id, NOTHING)
    lost = tuple(Lost(claim, point) for claim in case.reference_claims if (point := _point(case, claim)) != FINE)
    found = {each.point for each in lost}
    return Failure(case.sample.id, (min(found, key=(*POINTS, UNKNOWN).index) if found else FINE), lost)


def _point(case: Case, claim: str) -> str:
    """Where a claim was lost; fine where the answer has it. Every pair is looked at, so that each is asked for."""
    answered, place = case.supports(case.sample.answer, claim), _place(case, claim)
    against, generation = case.contradicts(case.sample.answer, claim), _generation(case)
    if answered is not False:
        return UNKNOWN if answered is None else FINE
    if place != "prompt":
        return place
    return UNKNOWN if against is None else "contradiction" if against else generation


def _place(case: Case, claim: str) -> str:
    """How far the claim came: "prompt", or the point of retrieval at which it was lost."""
    size = case.k or case.sample.prompt_k
    contexts = case.sample.contexts or ()
    inside = any_of(case.supports(each.text, claim) for each in contexts[:size])
    below = any_of(case.supports(each.text, claim) for each in contexts[size:] if size is not None)
    # Whether the corpus holds it, as far as reference contexts tell; one of which only the id is known is trusted.
    known = case.sample.reference_contexts
    somewhere = None if known is None else any_of(not each.text or case.supports(each.text, claim) for each in known)
    if inside:
        return "prompt"
    if inside is None or below is None:
        return UNKNOWN
    if below:
        return "ranking"
    return "corpus" if somewhere is False else "retrieval"


def _generation(case: Case) -> str:
    """The failure of an answer that had the contexts it needed."""
    grade, abstains = case.address_grade(), case.abstains()
    said = [case.supports(case.sample.answer, claim) for claim in case.reference_claims]
    true = all_of(case.supports(case.sample.reference, claim) for claim in case.answer_claims)
    if abstains:
        return "use"
    if any_of(said):
        return "incomplete"
    if grade == 0:
        return "form"
    return "specificity" if true and case.answer_claims else "use"


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
            raise not_known(f"no verdicts of a sample {sample!r}", sample, self._places, "name one that was judged")
        return _pieces(sample, self._data(sample))

    def query(self, sample: str) -> str:
        """The question of a sample; empty if it has none."""
        return str(self._data(sample)["query"]) if sample in self._places else ""

    @property
    def _places(self) -> dict[str, int]:
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


def _plain(judged: JudgedSample, names: tuple[str, ...]) -> dict[str, Any]:
    """The evidence as JSON: each text once, pairs by the numbers of their texts."""
    texts: dict[str, int] = {}
    users = by_key((ask, place) for place, asks in enumerate(judged.used) for ask in asks)
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
        left = sum(1 for _ in evidence.grades())
        why = f" (the judge left all {left:,} contexts open)" if left else ""
        step = "let another judge settle them (a cascade)" if left else "judge with context_precision among the metrics"
        raise DataError(f"no verdict on how well a context answers{why}, so no judgments to write. Next: {step}.")
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
            raise DataError(f"the id {name!r} has a blank, which TREC judgments cannot hold. Next: use other ids.")
    write_file(path, "".join(lines), force=force)
    return len(lines)
