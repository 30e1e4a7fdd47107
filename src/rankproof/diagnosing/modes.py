"""Failure modes of a system: their signs and their remedies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rankproof.diagnosing.bands import Band, is_high
from rankproof.diagnosing.fixes import Fix
from rankproof.diagnosing.patterns import Cause
from rankproof.document.model import Displayable

GONE = 0.05
"""The share of relevant documents missing in the corpus from which on the judgments are of another corpus."""

MOST = 0.5
"""With more than half of them missing, it is another corpus or has other ids, and did not just change."""

UNJUDGED = 0.5
"""With half of what is shown unjudged, and half of the judged that could be shown not there, the judgments were made
for other systems than this one."""


@dataclass(frozen=True, slots=True)
class Whole:
    """The facts about a system over all queries."""

    precision: Band
    recall: Band
    relevant: int
    """Relevant documents of all queries."""
    never_found: int
    """Relevant documents that are nowhere in the rankings."""
    unjudged: float | None
    """The share of the first documents that nobody judged; None if only relevant documents ever are."""
    k: int
    """The number of first documents."""
    gone: int | None = None
    """Relevant documents that the corpus does not hold; None without a corpus."""
    respelt: str = ""
    """A sentence on how some of them are spelled in the corpus; "" if they are not there."""
    room: float = 1.0
    """The share of the first documents that judged ones could make up: with one judged a query, a tenth of ten."""


@dataclass(frozen=True, slots=True)
class Mode:
    """One way to fail: its signs, and its remedies in their order."""

    name: str
    tells: Callable[[Whole], str]
    """The evidence in a sentence; "" if there is none."""
    remedies: Mapping[str, str]
    """The usual remedies, each with the kind of change that tries it; "" if none can be tried here."""


@dataclass(frozen=True, slots=True)
class Failure(Displayable):
    """A failure mode that was found, with its evidence."""

    name: str
    evidence: str
    remedies: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The failure as plain data."""
        return {**asdict(self), "remedies": list(self.remedies)}


def _low_recall(whole: Whole) -> str:
    if is_high(whole.recall) or not whole.never_found:
        return ""
    return (
        f"{whole.never_found:,} of {whole.relevant:,} relevant documents are nowhere in the rankings; "
        f"{whole.recall.measure} is {whole.recall.value:.2f} of a possible {whole.recall.ceiling:.2f}."
    )


def _low_precision(whole: Whole) -> str:
    low = whole.precision
    return "" if is_high(low) else f"{low.measure} is {low.value:.2f} of a possible {low.ceiling:.2f}."


def _another_corpus(whole: Whole) -> str:
    if not whole.gone or whole.gone <= MOST * whole.relevant:
        return ""
    return f"{whole.gone:,} of {whole.relevant:,} documents judged relevant are not in the corpus."


def _drift(whole: Whole) -> str:
    said = []
    if whole.gone and not whole.respelt and GONE * whole.relevant <= whole.gone <= MOST * whole.relevant:
        said.append(f"{whole.gone:,} of {whole.relevant:,} documents judged relevant are no longer in the corpus")
    unjudged = whole.unjudged
    if unjudged is not None and unjudged >= UNJUDGED and 1 - unjudged <= (1 - UNJUDGED) * whole.room:
        said.append(f"{unjudged:.0%} of the first {whole.k} documents were never judged")
    return f"{'; '.join(said)}.".replace("%", " %") if said else ""


MODES = (
    Mode(
        "low recall",
        _low_recall,
        {"try another embedding model": "", "change the size of chunks": "", "add keyword search": "keyword"},
    ),
    Mode(
        "low precision",
        _low_precision,
        {
            "rerank what was found": "reranking",
            "show fewer documents (a smaller k)": "smaller-k",
            "leave out what scores below a threshold": "",
        },
    ),
    Mode(
        "judgments and corpus do not belong together",
        _another_corpus,
        {"compare the ids of both sides": "", "give the corpus that was judged": ""},
    ),
    Mode(
        "ids are spelt in two ways",
        lambda whole: whole.respelt,
        {"spell the ids of both sides in the same way, and measure again": ""},
    ),
    Mode(
        "the evaluation set has drifted",
        _drift,
        {"refresh questions and judgments from the query log": "", "judge the top of this system's rankings": ""},
    ),
)

FIX_FIRST = ("embedding model", "chunking", "metadata filters", "hybrid search", "reranking")
"""The first steps with a weak retriever: those that decide whether a document can be found at all come first."""


def failures(whole: Whole, tried: Sequence[Fix] = ()) -> list[Failure]:
    """The failure modes that the numbers show; a remedy that was tried has its result."""
    found = ((each, each.tells(whole)) for each in MODES)
    known = {each.kind: each for each in tried}
    return [
        Failure(mode.name, evidence, tuple(_remedy(*each, known) for each in mode.remedies.items()))
        for mode, evidence in found
        if evidence
    ]


def _remedy(words: str, kind: str, tried: Mapping[str, Fix]) -> str:
    if kind not in tried or tried[kind].claimed:
        return words
    harm = tried[kind].verdict == "does harm"
    return f"{words} (but tried here it {'does harm' if harm else 'is not sure to help'})"


@dataclass(frozen=True, slots=True)
class Served(Displayable):
    """One query, its value, and the causes of its loss."""

    query: str
    text: str
    """The question in words; "" where it is not known."""
    value: float
    ceiling: float
    causes: tuple[Cause, ...]

    @property
    def why(self) -> tuple[str, ...]:
        """The kinds of causes."""
        return tuple(each.kind for each in self.causes)

    def to_dict(self) -> dict[str, Any]:
        """The query as plain data."""
        return {
            "query": self.query,
            "text": self.text,
            "value": self.value,
            "ceiling": self.ceiling,
            "causes": [each.to_dict() for each in self.causes],
        }
