"""Whether the ids of two sides meet at all, and what keeps them apart where they do not."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rankproof.core.audit.finding import Finding, count_of
from rankproof.core.audit.ids import Sides, spelt_apart
from rankproof.core.audit.thresholds import NEARLY_NONE
from rankproof.core.judgments import Judgments
from rankproof.errors import DataError, shorten

CORPUS: Sides = ("judgments", "corpus")
NOTHING_SHARED = "no-common-documents"
"""The kind of finding for a ranking without a judged document."""


def relevant_in(judgments: Judgments) -> list[str]:
    """The documents that are relevant to any query, each once."""
    rows = (judgments.grade > 0).nonzero()[0].tolist()
    return list(dict.fromkeys(judgments.docs[row] for row in rows))


def not_in_corpus(relevant: Iterable[str], corpus: Collection[str]) -> Finding | None:
    """A finding where next to none of the relevant documents is in the corpus: the ids do not meet.

    >>> print(not_in_corpus(["fees"], ["fees.md", "help.md"]))
    None of the 1 document judged relevant is in the corpus. The ids of the corpus match those of the judgments \
without '.md' at their end. For example 'fees' and 'fees.md'. Next: spell the ids of both sides alike.
    """
    wanted = list(dict.fromkeys(relevant))
    shared = sum(each in corpus for each in wanted)
    if not wanted or shared > NEARLY_NONE * len(wanted):
        return None
    said = f"{f'Only {shared:,}' if shared else 'None'} of the {count_of(len(wanted), 'document')} judged relevant "
    return _apart("relevant-not-in-corpus", f"{said}is in the corpus.", wanted, corpus, CORPUS)


def without_text(queries: Collection[str], questions: Collection[str]) -> Finding | None:
    """A finding where not one judged query is among the questions.

    >>> without_text(["q1", "q2"], ["q2", "q3"]) is None
    True
    """
    if not queries or not set(queries).isdisjoint(questions):
        return None
    said = f"None of the {count_of(len(queries), 'judged query')} is among the questions."
    return _apart("no-common-questions", said, queries, questions, ("judgments", "questions"))


def ranked_otherwise(judgments: Judgments, ranked: Iterable[str]) -> Finding | None:
    """A finding where ranking and judgments share no document, but would if they were spelt alike."""
    judged, docs = set(judgments.docs), set(ranked)
    rule = spelt_apart(judged, docs) if judged.isdisjoint(docs) else None
    if rule is None:
        return None
    said = f"None of the {count_of(len(judged), 'judged document')} is in the ranking. {rule.message}"
    return Finding("error", NOTHING_SHARED, len(judged), said, rule.examples, rule.advice)


def check_found(finding: Finding | None, source: str = "") -> None:
    """Raise what was found, under the name of what it was found in."""
    if finding is not None:
        raise DataError(f"{source}: {finding}" if source else str(finding))


def _apart(kind: str, said: str, left: Collection[str], right: Collection[str], sides: Sides) -> Finding:
    rule = spelt_apart(left, right, sides)
    if rule is not None:
        return Finding("error", kind, len(left), f"{said} {rule.message}", rule.examples, rule.advice)
    both = zip((left, right), sides, strict=True)
    examples = tuple(f"{shorten(each, 40)} in the {side}" for ids, side in both for each in list(ids)[:2])
    advice = "check which files these are: the ids of the two sides belong to different collections."
    return Finding("error", kind, len(left), said, examples, advice)
