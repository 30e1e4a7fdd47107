"""The audit: what to know about judgments and a ranking before trusting any number.

Here are findings, the thresholds from which on they are reported, their evidence, and kinship of models.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import Any, Literal

import numpy as np

from rankproof.core.arrays import narrow, offsets
from rankproof.core.conventions import USUAL, Conventions
from rankproof.core.hits import Array, Hits
from rankproof.core.join import Census
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure
from rankproof.core.table import RankingTable
from rankproof.document.model import Bullets, Document, Paragraph, Part, PlainData, Result
from rankproof.document.numbers import count
from rankproof.errors import shorten

EXAMPLES = 5
"""The number of examples shown with a finding: enough to see a pattern, few enough to read."""
SCALE_ROWS = 20
"""With fewer documents than this, few different scores mean nothing."""
READ_WHOLE = 2_000_000
"""Up to so many ranked documents all are looked at, if a part of them showed that ids are spelt otherwise."""
Severity = Literal["error", "warning", "note"]
"""An error makes the numbers wrong, a warning can mislead their readers, a note is good to know."""
SEVERITIES = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class Finding(PlainData):
    """One fact to know about the data."""

    severity: Severity
    kind: str
    """The kind, as a stable word: `missing-queries`."""
    count: int
    """The number of cases."""
    message: str
    """One sentence with the figures."""
    examples: tuple[str, ...] = ()
    advice: str = ""
    """What to do next, in one sentence."""

    def __str__(self) -> str:
        """Message, examples and next step as running text."""
        shown = f" For example {', '.join(self.examples)}." if self.examples else ""
        return f"{self.message}{shown}" + (f" Next: {self.advice}" if self.advice else "")


@dataclass(frozen=True, slots=True)
class Audit(Result):
    """Findings, the most serious first; false if there are none."""

    findings: tuple[Finding, ...] = ()

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> Audit:
        """An audit of findings in any order."""
        return cls(tuple(sorted(findings, key=lambda each: SEVERITIES.index(each.severity))))

    def __iter__(self) -> Iterator[Finding]:
        """The findings, the most serious first."""
        return iter(self.findings)

    def __len__(self) -> int:
        """How many findings there are."""
        return len(self.findings)

    def __getitem__(self, at: int) -> Finding:
        """The finding at a place."""
        return self.findings[at]

    @property
    def serious(self) -> tuple[Finding, ...]:
        """Errors and warnings."""
        return tuple(each for each in self.findings if each.severity != "note")

    def of_kind(self, kind: str) -> Finding | None:
        """The finding of that kind, if there is one."""
        return next((each for each in self.findings if each.kind == kind), None)

    def to_dict(self) -> dict[str, Any]:
        """The audit as plain data that JSON can hold."""
        return {"findings": [each.to_dict() for each in self.findings]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Audit:
        """An audit as `to_dict` wrote it."""
        found = data["findings"] if data else []
        return cls(tuple(Finding(**{**each, "examples": tuple(each["examples"])}) for each in found))

    def _in_one_line(self) -> str:
        return f"<Audit: {', '.join(f'{each.severity} {each.kind}' for each in self) or 'nothing to report'}>"

    def format(self, name: str = "table") -> str:
        """The audit as text in the format of that name, one of `formats()`; a table is one screen of it."""
        return self._printed(name).rstrip("\n")

    def _document(self) -> Document:
        times = Counter(each.severity for each in self)
        told = [count(times[each], each) for each in times]
        parts = [
            Part(
                Bullets([str(each)], [each.severity]),
                rank=SEVERITIES.index(each.severity),
                name=f"more {each.severity}",
            )
            for each in self
        ]
        opening = Paragraph(f"{', '.join(told)}:" if told else "Nothing to report.")
        return Document("Audit", [Part(opening, Paragraph("")), *parts], [each.to_dict() for each in self])


def few_examples(texts: Iterable[object]) -> tuple[str, ...]:
    """The first few examples, as a finding quotes them."""
    return tuple(shorten(text, 40) for text, _ in zip(texts, range(EXAMPLES), strict=False))


def list_words(words: Iterable[object]) -> str:
    """Words joined by commas and "and".

    >>> list_words(["P@5"]), list_words(["P@5", "R@5", "AP"])
    ('P@5', 'P@5, R@5 and AP')
    """
    texts = [str(word) for word in words]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


@dataclass(frozen=True, eq=False)
class FindingCase:
    """Judgments, the hits of a ranking, and the measures and conventions."""

    judgments: Judgments
    hits: Hits
    census: Census = field(default_factory=Census)
    measures: Sequence[Measure] = ()
    conventions: Conventions = USUAL

    @property
    def n(self) -> int:
        """The number of judged queries."""
        return len(self.judgments.query_ids)

    @property
    def answered(self) -> Array:
        """Which judged queries the ranking answers."""
        return np.ones(self.hits.n, dtype=bool) if self.hits.answered is None else self.hits.answered

    @property
    def at_k(self) -> list[Measure]:
        """The measures with a cut-off, those with the smallest first."""
        return sorted((m for m in self.measures if m.cutoff), key=lambda m: m.cutoff or 0)

    def names(self, which: Array) -> list[str]:
        """The ids of the queries that `which` (booleans) picks."""
        return [self.judgments.query_ids[i] for i in np.flatnonzero(which).tolist()]


@dataclass(frozen=True, eq=False)
class WholeRankings:
    """The rows of a table, gathered by query."""

    table: RankingTable
    queries: list[str]
    """The queries in the order they appear."""
    code: Array
    """Which query each row of the table belongs to."""
    order: Array
    """The rows query by query, each query's in the order they stand."""
    start: Array
    """Where each query begins in `order`; one more entry than there are queries."""

    @property
    def sizes(self) -> Array:
        """How many documents each ranking holds."""
        return np.diff(self.start)

    def __iter__(self) -> Iterator[tuple[str, list[int]]]:
        """Each query with its rows, one at a time: all of them as lists would take more than the table."""
        for number, query in enumerate(self.queries):
            yield query, self.order[self.start[number] : self.start[number + 1]].tolist()


def gather_queries(table: RankingTable) -> WholeRankings:
    """The table with its rows gathered by query.

    >>> from rankproof.core.table import RankingTable
    >>> list(gather_queries(RankingTable(["b", "a", "b"], ["x", "y", "z"], empty=("c",))))
    [('c', []), ('b', [0, 2]), ('a', [1])]
    """
    index = {query: i for i, query in enumerate(dict.fromkeys(chain(table.empty, table.query)))}
    code = np.fromiter(map(index.__getitem__, table.query), dtype=np.int32, count=len(table.query))
    start = offsets(np.bincount(code, minlength=len(index)))
    return WholeRankings(table, list(index), code, narrow(np.argsort(code, kind="stable")), start)


# Do two names mean the same model? A judge that ranked, embedded or wrote what it judges is biased towards it.
#
# Names are compared without what a provider puts before them, a date, and what else stands behind them, but for words
# that name another model: `openai:gpt-4o`, `azure/gpt-4o-2024-08-06` and a system called `rerank-gpt4o-top50` are of
# one model; `gpt-4o-mini` is of its family.
#
# Reference: A. Panickssery, S. Bowman, S. Feng: LLM evaluators recognize and favor their own generations, NeurIPS 2024.

SAME, FAMILY = "one model", "one family"
DATE = r"[-_@]?(?<!\d)20\d\d[-_.]?[01]\d(?:[-_.]?[0-3]\d)?(?!\d)|[-_]\d\d[-_](?:20)?\d\d(?!\d)|[-_]\d{4}(?![\da-z])"
"""The date of a state of a model."""
VARIANTS = {
    *("mini", "nano", "micro", "small", "medium", "large", "xl", "xxl", "base", "tiny", "lite", "light"),
    *("pro", "max", "flash", "turbo", "ultra", "haiku", "sonnet", "opus", "coder", "code", "vision", "vl"),
    *("o", "plus", "premier", "thinking", "reasoner", "nemo", "r", "a", "b", "high", "low", "audio"),
    *("search", "deep", "fable", "codex"),
}
"""Words that make a name mean another model."""


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """Patterns of the names of each maker's models, read and compiled only when models are compared."""
    from pkgutil import get_data  # few evaluations need it

    lines = (get_data(__package__, "model_names.txt") or b"").decode().splitlines()
    makers = dict(line.split() for line in lines if not line.startswith("#"))
    return {maker: re.compile(f"(?<![a-z])(?:{names})") for maker, names in makers.items()}


def model_of(name: str) -> tuple[str, tuple[str, ...]]:
    """The family that a name is of ("" if none is known), and the words of the model without a date.

    >>> model_of("bedrock/us.anthropic.claude-3-5-sonnet-20240620")
    ('Anthropic', ('claude', '3', '5', 'sonnet'))
    """
    plain = unicodedata.normalize("NFKC", name).casefold().strip()
    places = {maker: [each.start() for each in pattern.finditer(plain)] for maker, pattern in _patterns().items()}
    family = min((maker for maker, found in places.items() if found), key=lambda maker: places[maker][0], default="")
    # The maker's name may stand before that of the model, as in mistral:mistral-large.
    own = plain[places[family][-1] :] if family else re.split(r"[/:]", plain, maxsplit=1)[-1]
    return family, tuple(re.findall(r"[^\W\d_]+|\d+", re.sub(DATE, "-", own)))


def kinship_of(one: str, other: str) -> str:
    """Whether two names are of one model or of one family; "" if neither. Either may stand within a longer name.

    >>> kinship_of("openai:gpt-4o", "rerank-gpt4o-top50"), kinship_of("gpt-4o-mini", "gpt-4.1")
    ('one model', 'one family')
    >>> kinship_of("bm25", "gpt-4o")
    ''
    """
    (family, words), (others_family, others) = model_of(one), model_of(other)
    if not words or not others or family != others_family:
        return ""
    if not family:
        return SAME if words == others and len("".join(words)) > 2 else ""
    short, long = sorted((words, others), key=len)
    rest = long[len(short) :]
    alike = sorted(long[: len(short)]) == sorted(short)
    return SAME if alike and not (rest and (rest[0] in VARIANTS or rest[0].isdigit())) else FAMILY


def kin_of(judges: Iterable[str], makers: Mapping[str, Iterable[str]]) -> Iterator[Finding]:
    """A warning if a judge is of the model, or the family, of what made the things that it judges.

    `makers` names models by what they made: a system, "answers", "embedder".
    """
    found: dict[str, list[str]] = {SAME: [], FAMILY: []}
    for judge in judges:
        for role, names in makers.items():
            for name in dict.fromkeys(names):
                if kind := kinship_of(judge, name):
                    found[kind].append(f"{judge} judges {role}" + (f" ({name})" if name != role else ""))
    for kind, listed in found.items():
        if listed:
            yield Finding(
                *("warning", "judge-kin", len(listed)),
                f"The judge and what it judges are of {kind}: {'; '.join(listed[:3])}. A judge may be partial to its "
                "own.",
                advice="let a model of another maker judge, or test it against people: 'rankproof compare HUMAN RUNS "
                "--machine FILE'.",
            )
