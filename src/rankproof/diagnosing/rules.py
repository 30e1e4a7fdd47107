"""The rules by name: what each looks for, what it needs to know, and what helps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from rankproof.diagnosing import causes as copies
from rankproof.diagnosing import causes as found
from rankproof.diagnosing import causes as wording
from rankproof.diagnosing.query import Asked
from rankproof.document.display import Displayable

Needs = Literal["rankings", "questions", "corpus"]
"""What a rule looks at: rankings and judgments alone, the texts of questions, or those of documents too."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One reason for a query to fare badly."""

    kind: str
    title: str
    tells: Callable[[Asked], str]
    """The evidence in half a sentence; "" where the rule does not apply."""
    needs: Needs
    do: str
    feature: str = ""
    """Where it is a property of the question: the kind of queries that have it."""


@dataclass(frozen=True, slots=True)
class Cause(Displayable):
    """A rule that applies to a query, with the evidence."""

    kind: str
    title: str
    evidence: str
    do: str

    def to_dict(self) -> dict[str, Any]:
        """The cause as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        """Title and evidence."""
        return f"{self.title}: {self.evidence}"


RULES = (
    Rule(
        "no-relevant",
        "no relevant document exists",
        found.none_exists,
        "rankings",
        "judge more documents, write the missing one, or leave the query out (no_relevant='skip')",
    ),
    Rule(
        "not-in-corpus",
        "not in the corpus",
        found.not_in_corpus,
        "corpus",
        "index the documents, or take them out of the judgments",
    ),
    Rule(
        "never-found",
        "never found",
        found.never_found,
        "rankings",
        "retrieve in another way too: keyword search, other chunks, another embedding model",
    ),
    Rule(
        "below-k",
        "found, but too low",
        found.below_k,
        "rankings",
        "rerank, or show more documents",
    ),
    Rule(
        "not-on-top",
        "shown, but not on top",
        found.not_on_top,
        "rankings",
        "rerank",
    ),
    Rule(
        "near-copies",
        "beaten by near-copies",
        copies.beaten_by_copies,
        "corpus",
        "remove near-copies, or judge them like their originals",
        "near-copies on top",
    ),
    Rule(
        "wrong-language",
        "another language",
        wording.wrong_language,
        "corpus",
        "use a multilingual embedding model, or translate the question",
        "another language",
    ),
    Rule(
        "typo",
        "perhaps misspelt",
        wording.typo,
        "corpus",
        "correct spelling before searching, or add a retriever that works on letters or meaning",
        "misspelt",
    ),
    Rule(
        "vocabulary-gap",
        "other words than its documents",
        wording.vocabulary_gap,
        "corpus",
        "add dense search, synonyms or query expansion",
        "other words",
    ),
    Rule(
        "number",
        "a number, date or code in it",
        wording.number,
        "questions",
        "add keyword search, which matches numbers as they are, or filter by metadata",
        "number, date, code",
    ),
    Rule(
        "short",
        "a short question",
        wording.short,
        "questions",
        "ask back, or expand the query",
        "short",
    ),
    Rule(
        "long",
        "a long question",
        wording.long,
        "questions",
        "search for its parts, or for a summary of it",
        "long",
    ),
)
"""What became of the relevant documents first, then why that may be."""


def causes(asked: Asked) -> tuple[Cause, ...]:
    """Every rule that applies to a query, in the order of the rules.

    >>> [each.kind for each in causes(Asked("q", ["x", "a"], {"a": 1, "b": 1}, k=1, text="fees in 2024"))]
    ['never-found', 'below-k', 'number']
    """
    told = ((rule, rule.tells(asked)) for rule in RULES)
    return tuple(Cause(rule.kind, rule.title, evidence, rule.do) for rule, evidence in told if evidence)


FEATURES = {rule.kind: rule.feature for rule in RULES if rule.feature}
"""The rules that are about the question, with what such questions are called."""
