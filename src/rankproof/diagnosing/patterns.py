"""The kinds of queries that a system serves worse, and the rules that say why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from rankproof.core.conventions import FEWEST_TO_DECIDE
from rankproof.diagnosing.causes import (
    Asked,
    below_k,
    copies_above,
    few_words,
    many_words,
    missing_from_ranking,
    none_exists,
    not_in_corpus,
    not_on_top,
    number,
    typo,
    vocabulary_gap,
    wrong_language,
)
from rankproof.document.model import Displayable, PlainData
from rankproof.stats.confidence import agree_with_test
from rankproof.stats.corrections import correct
from rankproof.stats.intervals import UNIT, Bounds
from rankproof.stats.variance import gap

TOO_FEW = "too few"


@dataclass(frozen=True, slots=True)
class Pattern(Displayable):
    """One kind of query against all others."""

    kind: str
    n: int
    others: int
    mean: float
    mean_of_others: float
    difference: float
    low: float | None
    high: float | None
    p: float | None
    """Corrected over all kinds that are decided; None if there are too few queries."""
    verdict: str
    """worse, better, unclear or "too few"."""
    examples: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        """The verdict in words: of which there are too few, the kind or the others beside it."""
        few_others = self.verdict == TOO_FEW and self.n >= FEWEST_TO_DECIDE
        return f"too few others ({self.others})" if few_others else self.verdict

    def to_dict(self) -> dict[str, Any]:
        """The pattern as plain data."""
        return {**asdict(self), "examples": list(self.examples)}


def patterns(
    kinds: Mapping[str, Sequence[str]],
    values: Mapping[str, float],
    rng: np.random.Generator,
    *,
    higher: bool = True,
    alpha: float = 0.05,
    bounds: Bounds = UNIT,
) -> list[Pattern]:
    """Each kind of query against the others: the worst first, those with too few queries last.

    `kinds` says which queries are of each kind; `values` has the value of every query that counts; `bounds` are
    what a query can score.

    >>> values = {f"q{i}": 0.1 if i < 10 else 0.9 for i in range(30)}
    >>> kinds = {"short": [f"q{i}" for i in range(10)], "typo": ["q12"]}
    >>> [(each.kind, each.verdict) for each in patterns(kinds, values, np.random.default_rng(0))]
    [('short', 'worse'), ('typo', 'too few')]
    """
    groups = {kind: [query for query in named if query in values] for kind, named in kinds.items()}
    # Each kind has its own random draws, so that neither the order nor the choice of kinds changes an answer.
    seed = int(rng.integers(1 << 62))
    gaps = {}
    for kind, named in groups.items():
        if 0 < len(named) < len(values):
            inside = set(named)
            mine = np.array([values[query] for query in named])
            others = np.array([value for query, value in values.items() if query not in inside])
            gaps[kind] = gap(mine, others, np.random.default_rng(seed), 1 - alpha, bounds)
    decided = [kind for kind, found in gaps.items() if min(found.n, found.others) >= FEWEST_TO_DECIDE]
    corrected = dict(zip(decided, correct([gaps[kind].p for kind in decided]), strict=True))
    sign = 1 if higher else -1
    found = []
    for kind, each in gaps.items():
        mean, p = float(np.mean([values[query] for query in groups[kind]])), corrected.get(kind)
        low, high, verdict = each.low, each.high, TOO_FEW
        if p is not None:
            low, high = agree_with_test((low, high), each.difference, p, alpha)
            verdict = "unclear" if p > alpha else "better" if sign * each.difference > 0 else "worse"
        worst = sorted(groups[kind], key=lambda query: (sign * values[query], query))
        found.append(
            Pattern(
                kind=kind,
                n=each.n,
                others=each.others,
                mean=mean,
                mean_of_others=mean - each.difference,
                difference=each.difference,
                low=low if np.isfinite(low) else None,
                high=high if np.isfinite(high) else None,
                p=p,
                verdict=verdict,
                examples=tuple(worst[:3]),
            )
        )
    return sorted(found, key=lambda each: (each.p is None, sign * each.difference, each.kind))


Needs = Literal["rankings", "questions", "corpus"]
"""The data that a rule needs: rankings and judgments alone, the texts of questions, or those of documents too."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One reason for a query to be served badly."""

    kind: str
    title: str
    tells: Callable[[Asked], str]
    """The evidence in half a sentence; "" where the rule does not apply."""
    needs: Needs
    do: str
    feature: str = ""
    """If it is a property of the question: the name of the queries that have it."""


@dataclass(frozen=True, slots=True)
class Cause(PlainData):
    """A rule that applies to a query, with the evidence."""

    kind: str
    title: str
    evidence: str
    do: str

    def __str__(self) -> str:
        """Title and evidence."""
        return f"{self.title}: {self.evidence}"


RULES = (
    Rule(
        "no-relevant",
        "no relevant document exists",
        none_exists,
        "rankings",
        "judge more documents, write the missing one, or leave the query out (no_relevant='skip')",
    ),
    Rule(
        "not-in-corpus",
        "not in the corpus",
        not_in_corpus,
        "corpus",
        "index the documents, or take them out of the judgments",
    ),
    Rule(
        "never-found",
        "never found",
        missing_from_ranking,
        "rankings",
        "retrieve in another way too: keyword search, other chunks, another embedding model",
    ),
    Rule("below-k", "found, but too low", below_k, "rankings", "rerank, or show more documents"),
    Rule("not-on-top", "shown, but not on top", not_on_top, "rankings", "rerank"),
    Rule(
        "near-copies",
        "beaten by near-copies",
        copies_above,
        "corpus",
        "remove near-copies, or judge them like their originals",
        "near-copies on top",
    ),
    Rule(
        "wrong-language",
        "another language",
        wrong_language,
        "corpus",
        "use a multilingual embedding model, or translate the question",
        "another language",
    ),
    Rule(
        "typo",
        "perhaps misspelt",
        typo,
        "corpus",
        "correct spelling before searching, or add a retriever that works on letters or meaning",
        "misspelt",
    ),
    Rule(
        "vocabulary-gap",
        "other words than its documents",
        vocabulary_gap,
        "corpus",
        "add dense search, synonyms or query expansion",
        "other words",
    ),
    Rule(
        "number",
        "a number, date or code in it",
        number,
        "questions",
        "add keyword search, which matches numbers as they are, or filter by metadata",
        "number, date, code",
    ),
    Rule("short", "a short question", few_words, "questions", "ask back, or expand the query", "short"),
    Rule("long", "a long question", many_words, "questions", "search for its parts, or for a summary of it", "long"),
)
"""The fate of the relevant documents first, then its possible reasons."""


def causes(asked: Asked) -> tuple[Cause, ...]:
    """Every rule that applies to a query, in the order of the rules.

    >>> [each.kind for each in causes(Asked("q", ["x", "a"], {"a": 1, "b": 1}, k=1, text="fees in 2024"))]
    ['never-found', 'below-k', 'number']
    """
    told = ((rule, rule.tells(asked)) for rule in RULES)
    return tuple(Cause(rule.kind, rule.title, evidence, rule.do) for rule, evidence in told if evidence)


FEATURES = {rule.kind: rule.feature for rule in RULES if rule.feature}
"""The rules about the question, with the names of such questions."""
