"""Symptoms of a system: bands of its numbers (poor to excellent), its regime of precision and recall, its failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from rankproof.document.model import Displayable, PlainData

if TYPE_CHECKING:
    from rankproof.diagnosing.fixes import Fix

WORDS = ("poor", "acceptable", "good", "excellent")
CUTS: Mapping[str, tuple[float, float, float]] = {
    "P@5": (0.30, 0.50, 0.70),
    "R@5": (0.40, 0.60, 0.80),
    "Success@5": (0.60, 0.80, 0.90),
    "RR@10": (0.40, 0.60, 0.80),
    "nDCG@5": (0.40, 0.60, 0.80),
}
"""For each measure the limits of acceptable, good and excellent."""
NEVER = 0.05
"""Below this RR@10 the first relevant document is, as a rule, beyond the second page."""
PLACES = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]


@dataclass(frozen=True, slots=True)
class Band(Displayable):
    """One measure's mean, its ceiling, and its band."""

    measure: str
    value: float
    ceiling: float
    low: float | None
    high: float | None
    """The ends of the 95 % interval of the mean."""
    word: str
    """poor, acceptable, good or excellent; "" if the ceiling is 0."""
    said: str = ""
    """The number in words, for measures that have some."""

    @property
    def share(self) -> float | None:
        """The value as a share of its ceiling, which decides the band."""
        return min(self.value / self.ceiling, 1.0) if self.ceiling > 0 else None

    def to_dict(self) -> dict[str, Any]:
        """The band as plain data."""
        return {**asdict(self), "share": self.share, "called": self.measure}


def band(measure: str, value: float, ceiling: float, low: float | None = None, high: float | None = None) -> Band:
    """The band of a mean, from its share of the ceiling.

    >>> found = band("P@5", 0.15, 0.20)
    >>> found.word, round(found.share, 4)
    ('excellent', 0.75)
    """
    if ceiling <= 0:
        return Band(measure, value, ceiling, low, high, "")
    said = in_words(value / ceiling) if measure == "RR@10" else ""
    return Band(measure, value, ceiling, low, high, word_of(measure, value / ceiling), said)


def word_of(measure: str, share: float) -> str:
    """The band of a share of the ceiling; the edge of a band belongs to the better one.

    >>> [word_of("RR@10", share) for share in (0.39, 0.4, 0.6, 0.8)]
    ['poor', 'acceptable', 'good', 'excellent']
    """
    return WORDS[sum(share >= cut - 1e-9 for cut in CUTS[measure])]


def in_words(rr: float) -> str:
    """The usual place of the first relevant document, from the mean reciprocal rank.

    >>> [in_words(value) for value in (1.0, 0.5, 0.33, 0.1, 0.0)]
    ['always first', 'about second', 'about third', 'about tenth', 'hardly ever found']
    """
    if rr >= 1 - 1e-9:
        return "always first"
    if rr < NEVER:
        return "hardly ever found"
    place = round(1 / rr)
    return "mostly first" if place == 1 else f"about {PLACES[place - 1] if place <= len(PLACES) else f'{place}th'}"


GOOD = 1
"""The limit of a measure that divides high from low: where good begins."""
MUCH_LOST = 0.15
"""The share of relevant documents never found from which on recall is not high."""


@dataclass(frozen=True, slots=True)
class Regime(Displayable):
    """High or low precision with high or low recall."""

    precision: str
    recall: str
    feels: str
    """The experience of the user of the system."""
    do: str

    @property
    def name(self) -> str:
        """The regime in words."""
        return f"{self.precision} precision, {self.recall} recall"

    def to_dict(self) -> dict[str, Any]:
        """The regime as plain data."""
        return {**asdict(self), "name": self.name}


REGIMES = {
    ("high", "high"): (
        "What is shown is what was needed, and little of it is missing.",
        "watch it: refresh the questions, and gate changes.",
    ),
    ("high", "low"): (
        "What is shown is right, but answers come out incomplete: documents that are needed never appear.",
        "find more: keyword search beside dense search, other chunks, another embedding model, a larger k.",
    ),
    ("low", "high"): (
        "The answer is there, among others: people skim past noise, and a generator is misled by it.",
        "show less: rerank, use a smaller k, or cut at a score.",
    ),
    ("low", "low"): (
        "People meet mostly noise, do not find what they need, and stop asking.",
        "start where documents are found: embedding model, chunks, filters, keyword search; rerank last.",
    ),
}
"""What users meet, and the first remedy, by precision and recall."""
MILDER = {
    ("high", "low"): "What is shown is right; recall is acceptable, not good: some answers come out incomplete.",
    ("low", "high"): "The answer is there; precision is acceptable, not good: people skim past some noise.",
    ("low", "low"): "Both are acceptable, not good: people meet noise beside what they need, and miss a part of it.",
}
"""The experience of users if all that is low (below good) is still acceptable."""


def regime_of(precision: Band, recall: Band, lost: float = 0.0, helps: bool = False) -> Regime | None:
    """The regime of a system; None if the ceiling of precision or recall is 0.

    `lost` is the share of what is relevant that is never found: if large, recall is not high, whatever the first five
    hold. `helps` says that a change was tried and surely helps.

    >>> regime_of(band("P@5", 0.19, 0.2), band("R@5", 0.3, 1.0)).name
    'high precision, low recall'
    """
    if precision.share is None or recall.share is None:
        return None
    found_all = is_high(recall) and lost < MUCH_LOST
    sides = ("high" if is_high(precision) else "low", "high" if found_all else "low")
    found = Regime(*sides, *REGIMES[sides])
    if sides == ("high", "high") and helps:
        found = replace(found, do="try the changes below: what they gain was measured.")
    if is_high(recall) and not found_all:
        lacking = f"{100 * lost:.0f} % of what is relevant is never found"
        return replace(found, feels=f"{found.feels.rstrip('.')}; {lacking}.")
    poor = any(each.share is not None and word_of(each.measure, each.share) == WORDS[0] for each in (precision, recall))
    return found if poor or sides not in MILDER else replace(found, feels=MILDER[sides])


def is_high(found: Band) -> bool:
    """Whether a band is good or better; a ceiling of 0 counts as good."""
    return found.share is None or found.share >= CUTS[found.measure][GOOD] - 1e-9


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
    gone: int | None = None
    """Relevant documents that the corpus does not hold; None without a corpus."""
    respelt: str = ""
    """A sentence on how some of them are spelled in the corpus; "" if they are not there."""
    room: float = 1.0
    """The share of the first documents that judged ones could make up: with one judged a query, a tenth of ten."""


@dataclass(frozen=True, slots=True)
class Failure(PlainData):
    """A failure mode that was found, with its evidence."""

    name: str
    evidence: str
    remedies: tuple[str, ...]


REMEDIES: Mapping[str, Mapping[str, str]] = {
    "low recall": {
        "try another embedding model": "",
        "change the size of chunks": "",
        "add keyword search": "keyword",
    },
    "low precision": {
        "rerank what was found": "reranking",
        "show fewer documents (a smaller k)": "smaller-k",
        "leave out what scores below a threshold": "",
    },
    "judgments and corpus do not belong together": {
        "compare the ids of both sides": "",
        "give the corpus that was judged": "",
    },
    "ids are spelt in two ways": {
        "spell the ids of both sides in the same way, and measure again": "",
    },
    "the evaluation set has drifted": {
        "refresh questions and judgments from the query log": "",
        "judge the top of this system's rankings": "",
    },
}
"""The usual remedies of each failure mode, each with the kind of change that tries it; "" if none can be tried here."""
FIX_FIRST = ("embedding model", "chunking", "metadata filters", "hybrid search", "reranking")
"""The first steps with a weak retriever: those that decide whether a document can be found at all come first."""


def failures(whole: Whole, tried: Sequence[Fix] = ()) -> list[Failure]:
    """The failure modes that the numbers show, with their evidence; a remedy that was tried has its result."""
    precision, recall, relevant, gone = whole.precision, whole.recall, whole.relevant, whole.gone or 0
    evidence = dict.fromkeys(REMEDIES, "")
    if whole.never_found and not is_high(recall):
        evidence["low recall"] = (
            f"{whole.never_found:,} of {relevant:,} relevant documents are nowhere in the rankings; "
            f"{recall.measure} is {recall.value:.2f} of a possible {recall.ceiling:.2f}."
        )
    if not is_high(precision):
        evidence["low precision"] = (
            f"{precision.measure} is {precision.value:.2f} of a possible {precision.ceiling:.2f}."
        )
    if gone > MOST * relevant:
        evidence["judgments and corpus do not belong together"] = (
            f"{gone:,} of {relevant:,} documents judged relevant are not in the corpus."
        )
    evidence["ids are spelt in two ways"] = whole.respelt
    drifted, unjudged = [], whole.unjudged
    if gone and not whole.respelt and GONE * relevant <= gone <= MOST * relevant:
        drifted.append(f"{gone:,} of {relevant:,} documents judged relevant are no longer in the corpus")
    if unjudged is not None and unjudged >= UNJUDGED and 1 - unjudged <= (1 - UNJUDGED) * whole.room:
        drifted.append(f"{100 * unjudged:.0f} % of the first {whole.k} documents were never judged")
    evidence["the evaluation set has drifted"] = f"{'; '.join(drifted)}." if drifted else ""
    known = {each.kind: each for each in tried}
    return [
        Failure(name, said, tuple(_remedy(*each, known) for each in REMEDIES[name].items()))
        for name, said in evidence.items()
        if said
    ]


def _remedy(words: str, kind: str, tried: Mapping[str, Fix]) -> str:
    if kind not in tried or tried[kind].claimed:
        return words
    harm = tried[kind].verdict == "does harm"
    return f"{words} (but tried here it {'does harm' if harm else 'is not sure to help'})"
