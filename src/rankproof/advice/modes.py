"""Failure modes: what goes wrong with retrievers and their tests, how one sees it, and what helps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rankproof.advice.bands import Band
from rankproof.advice.fixes import Fix
from rankproof.advice.regimes import is_high
from rankproof.display import Displayable

GONE = 0.05
"""From this share of judged relevant documents missing in the corpus on, the judgments are of another corpus."""

MOST = 0.5
"""With more than half of them missing, it is another corpus, or it has other ids, rather than one that changed."""

UNJUDGED = 0.5
"""With half of what is shown unjudged, the judgments were made for other systems than this one."""


@dataclass(frozen=True, slots=True)
class Whole:
    """What is known of a system over all queries."""

    precision: Band
    recall: Band
    relevant: int
    """Relevant documents of all queries."""
    never_found: int
    """Those that are nowhere in the rankings."""
    unjudged: float | None
    """The share of the first documents that nobody judged; None where only relevant documents ever are."""
    k: int
    """How many documents are the first."""
    gone: int | None = None
    """Relevant documents that the corpus does not hold; None where there is no corpus to look at."""
    respelt: str = ""
    """How some of them are spelt in the corpus, in a sentence; "" where they are not."""


@dataclass(frozen=True, slots=True)
class Mode:
    """One way to fail: how it shows, and what helps, first things first."""

    name: str
    tells: Callable[[Whole], str]
    """The evidence in a sentence; "" where there is none."""
    remedies: Mapping[str, str]
    """What usually helps, each with the kind of change that tries it; "" where none can be tried here."""


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
    if is_high(whole.precision):
        return ""
    return f"{whole.precision.measure} is {whole.precision.value:.2f} of a possible {whole.precision.ceiling:.2f}."


def _another_corpus(whole: Whole) -> str:
    if not whole.gone or whole.gone <= MOST * whole.relevant:
        return ""
    return f"{whole.gone:,} of {whole.relevant:,} documents judged relevant are not in the corpus."


def _two_spellings(whole: Whole) -> str:
    return whole.respelt


def _drift(whole: Whole) -> str:
    said = []
    if whole.gone and not whole.respelt and GONE * whole.relevant <= whole.gone <= MOST * whole.relevant:
        said.append(
            f"{whole.gone:,} of {whole.relevant:,} documents judged relevant are no longer in the corpus"
        )
    if whole.unjudged is not None and whole.unjudged >= UNJUDGED:
        said.append(f"{whole.unjudged:.0%} of the first {whole.k} documents were never judged")
    return f"{'; '.join(said)}.".replace("%", " %") if said else ""


MODES = (
    Mode(
        "low recall",
        _low_recall,
        {
            "try another embedding model": "",
            "change the size of chunks": "",
            "add keyword search": "keyword",
        },
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
        {
            "compare the ids of both sides": "",
            "give the corpus that was judged": "",
        },
    ),
    Mode(
        "ids are spelt in two ways",
        _two_spellings,
        {
            "spell the ids of both sides alike, and measure again": "",
        },
    ),
    Mode(
        "the evaluation set has drifted",
        _drift,
        {
            "refresh questions and judgments from the query log": "",
            "judge the top of this system's rankings": "",
        },
    ),
)

FIX_FIRST = (
    "embedding model",
    "chunking",
    "metadata filters",
    "hybrid search",
    "reranking",
)
"""Where to begin with a weak retriever: what decides whether a document can be found at all comes first."""


def failures(whole: Whole, tried: Sequence[Fix] = ()) -> list[Failure]:
    """The failure modes that the numbers show; a remedy that was tried says what came of it."""
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
