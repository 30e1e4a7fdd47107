"""Ids that would match if they were spelt alike."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import takewhile

from rankproof.core.audit import Finding, list_words
from rankproof.core.audit.spelling import (
    ENDINGS,
    FOLDERS,
    SpellingRule,
    affix_rule,
    respell_ids,
    spelling_finding,
    unmet_sets,
    ways,
)
from rankproof.core.judgments import Judgments
from rankproof.document.numbers import count, none_of
from rankproof.errors import DataError, shorten

Sides = tuple[str, str]
"""The names of the two sides."""

CORPUS: Sides = ("judgments", "corpus")
JOINED: Sides = ("judgments", "ranking")
ENOUGH_SHARED = 0.1
"""Numbers of two collections meet by accident now and then, not in a tenth of the ids."""
NEARLY_NONE = 0.05
"""With at most one in twenty relevant documents in a corpus, it is another corpus or has other spellings of ids."""
NOTHING_SHARED = "no-common-documents"
"""The kind of finding for a ranking without a judged document."""


def relevant_in(judgments: Judgments) -> list[str]:
    """The documents that are relevant to any query, each once."""
    rows = (judgments.grade > 0).nonzero()[0].tolist()
    return list(dict.fromkeys(judgments.doc_ids[row] for row in rows))


def not_in_corpus(relevant: Iterable[str], corpus: Collection[str]) -> Finding | None:
    """A finding if almost none of the relevant documents is in the corpus: the ids do not match.

    >>> print(not_in_corpus(["fees"], ["fees.md", "help.md"]))
    The only document judged relevant is not in the corpus. 1 id differs between judgments and corpus only in \
'.md' at their end. For example 'fees' and 'fees.md'. Next: spell the ids of both sides alike, and measure again.
    """
    wanted = list(dict.fromkeys(relevant))
    shared = sum(each in corpus for each in wanted)
    if not wanted or shared > NEARLY_NONE * len(wanted):
        return None
    words = "document judged relevant", "documents judged relevant"
    some = f"Only {shared:,} of the {count(len(wanted), *words)} is" if shared else none_of(len(wanted), *words)
    return _apart("relevant-not-in-corpus", f"{some} in the corpus.", wanted, corpus, CORPUS)


def without_text(queries: Collection[str], questions: Collection[str]) -> Finding | None:
    """A finding if no judged query is among the questions.

    >>> without_text(["q1", "q2"], ["q2", "q3"]) is None
    True
    """
    if not queries or not set(queries).isdisjoint(questions):
        return None
    said = f"{none_of(len(queries), 'judged query')} among the questions."
    return _apart("no-common-questions", said, queries, questions, ("judgments", "questions"))


def ranked_otherwise(judgments: Judgments, ranked: Iterable[str]) -> Finding | None:
    """A finding if ranking and judgments share no document, but would if ids were spelled in the same way."""
    judged, docs = dict.fromkeys(judgments.doc_ids), dict.fromkeys(ranked)
    rule = misspelt_between(judged, docs, JOINED) if judged.keys().isdisjoint(docs) else None
    if rule is None:
        return None
    said = f"{none_of(len(judged), 'judged document')} in the ranking. {rule.message}"
    return Finding("error", NOTHING_SHARED, len(judged), said, rule.examples, rule.advice)


def check_found(finding: Finding | None, source: str = "") -> None:
    """Raise the finding as an error, with the name of its source."""
    if finding is not None:
        raise DataError(f"{source}: {finding}" if source else str(finding))


def _apart(kind: str, said: str, left: Collection[str], right: Collection[str], sides: Sides) -> Finding:
    rule = misspelt_between(left, right, sides)
    if rule is not None:
        return Finding("error", kind, len(left), f"{said} {rule.message}", rule.examples, rule.advice)
    both = zip((left, right), sides, strict=True)
    examples = tuple(f"{shorten(each, 40)} in the {side}" for ids, side in both for each in list(ids)[:2])
    advice = "check which files these are: the ids of the two sides belong to different collections."
    return Finding("error", kind, len(left), said, examples, advice)


def misspelt_between(left: Iterable[str], right: Iterable[str], sides: Sides) -> Finding | None:
    """For ids that the right side lacks: the one way of spelling under which more than by accident are there.

    >>> print(misspelt_between(["a", "b"], ["a.md", "b.txt"], ("judgments", "corpus")).message)
    2 ids differ between judgments and corpus only in the endings of their file names.
    """
    one, other = dict.fromkeys(left), dict.fromkeys(right)
    missing, extra = [each for each in one if each not in other], [each for each in other if each not in one]
    unmet, fewer = unmet_sets(missing, extra, list(one)), min(len(missing), len(extra))
    # Of a single id no second one can confirm that it is the name of a file.
    files = [rule._replace(strict=True) for rule in (FOLDERS, ENDINGS) if fewer == 1]
    for way in ways(unmet, [*_common_affixes(missing, extra), *_common_affixes(extra, missing), *files]):
        met = sorted({one: other for _, one, other in unmet.met(way)}.items())
        if len(met) >= ENOUGH_SHARED * fewer:
            differ = list_words(rule.differ for rule in way)
            ids = count(len(met), "id differs", "ids differ")
            return spelling_finding(True, way, met, f"{ids} between {' and '.join(sides)} only in {differ}.")
    return None


def _common_affixes(ids: Sequence[str], others: Collection[str]) -> Iterator[SpellingRule]:
    """What all ids begin or end with, but for digits, if some are among the others without it."""
    start = _common_start(ids).rstrip("0123456789")
    end = _common_start([each[::-1] for each in ids])[::-1].lstrip("0123456789")
    for affix in ((start, ""), ("", end), (start, end)):
        if any(affix) and len(ids) > 1:
            rule = affix_rule(*affix)._replace(strict=True)
            if not set(others).isdisjoint(respell_ids((rule,), ids)):
                yield rule


def _common_start(ids: Sequence[str]) -> str:
    first, last = min(ids, default=""), max(ids, default="")
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return "".join(letter for letter, _ in same)
