"""Ids that would match if they were spelt alike."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from itertools import takewhile
from typing import NamedTuple

from rankproof.core.audit import ENOUGH_SHARED, EXAMPLES, NEARLY_NONE, Finding, Severity
from rankproof.core.judgments import Judgments
from rankproof.document.numbers import count, none_of
from rankproof.errors import DataError, shorten

CORPUS: Sides = ("judgments", "corpus")
NOTHING_SHARED = "no-common-documents"
"""The kind of finding for a ranking without a judged document."""


def relevant_in(judgments: Judgments) -> list[str]:
    """The documents that are relevant to any query, each once."""
    rows = (judgments.grade > 0).nonzero()[0].tolist()
    return list(dict.fromkeys(judgments.doc_ids[row] for row in rows))


def not_in_corpus(relevant: Iterable[str], corpus: Collection[str]) -> Finding | None:
    """A finding if almost none of the relevant documents is in the corpus: the ids do not match.

    >>> print(not_in_corpus(["fees"], ["fees.md", "help.md"]))
    The only document judged relevant is not in the corpus. The ids of the corpus match those of the judgments \
without '.md' at their end. For example 'fees' and 'fees.md'. Next: spell the ids of both sides alike.
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
    judged, docs = set(judgments.doc_ids), set(ranked)
    rule = spelling_between(judged, docs) if judged.isdisjoint(docs) else None
    if rule is None:
        return None
    said = f"{none_of(len(judged), 'judged document')} in the ranking. {rule.message}"
    return Finding("error", NOTHING_SHARED, len(judged), said, rule.examples, rule.advice)


def check_found(finding: Finding | None, source: str = "") -> None:
    """Raise the finding as an error, with the name of its source."""
    if finding is not None:
        raise DataError(f"{source}: {finding}" if source else str(finding))


def _apart(kind: str, said: str, left: Collection[str], right: Collection[str], sides: Sides) -> Finding:
    rule = spelling_between(left, right, sides)
    if rule is not None:
        return Finding("error", kind, len(left), f"{said} {rule.message}", rule.examples, rule.advice)
    both = zip((left, right), sides, strict=True)
    examples = tuple(f"{shorten(each, 40)} in the {side}" for ids, side in both for each in list(ids)[:2])
    advice = "check which files these are: the ids of the two sides belong to different collections."
    return Finding("error", kind, len(left), said, examples, advice)


Sides = tuple[str, str]
"""The names of the two sides."""

JOINED: Sides = ("judgments", "ranking")

_NUMBER = re.compile(r"\d+(\.0+)?")
_ZEROS = re.compile(r"(?<![\d.])0+(?=\d)")
_ENDING = re.compile(r"(?<=[^/])\.[A-Za-z][A-Za-z0-9]{0,9}$")

_ALIKE = "spell the ids of both sides alike."


class Spelling(NamedTuple):
    """One way in which two spellings of an id can differ."""

    kind: str
    differ: str
    same: Callable[[str], str]
    """Equal for two ids that differ in this way only."""
    changes: Callable[[str], object]
    """A fast test whether `same` could change an id at all: most of millions need no closer look."""
    advice: str = _ALIKE
    severity: Severity = "error"


SPELLINGS = (
    Spelling(
        "number-ids",
        "leading zeros or a decimal point",
        lambda text: text.partition(".")[0].lstrip("0") or "0" if _NUMBER.fullmatch(text) else text,
        re.compile(r"0|\d+\.").match,
        "keep ids as text when files are read and written: a number loses its leading zeros.",
    ),
    Spelling(
        "case-of-ids",
        "upper and lower case",
        str.casefold,
        re.compile(r"[^a-z0-9_.:/-]").search,
        "write the ids of both sides in the same case.",
    ),
    Spelling(
        "spaces-in-ids",
        "spaces",
        lambda text: "".join(text.split()),
        re.compile(r"\s").search,
        "take the spaces out of the ids.",
    ),
    Spelling(
        "unicode-forms",
        "how an accented letter is stored (NFC or NFD)",
        partial(unicodedata.normalize, "NFC"),
        lambda text: not text.isascii(),
        "bring the ids of both sides into one Unicode form; they are compared as they are.",
        "note",
    ),
)


def _file_name(text: str) -> str:
    return text.rpartition("/")[2]


FILE_NAMES = (
    Spelling("affixes-of-ids", "the endings of their file names", partial(_ENDING.sub, ""), _ENDING.search),
    Spelling("affixes-of-ids", "the folders before their names", _file_name, re.compile("/").search),
    Spelling(
        "affixes-of-ids",
        "the folders before their names and the endings of these",
        lambda text: _ENDING.sub("", _file_name(text)),
        re.compile(r"/|\.").search,
    ),
)
"""Spellings of the names of one file: tried only for sides that share almost nothing."""
PADDED = Spelling(
    "number-ids", "zeros before their numbers", partial(_ZEROS.sub, ""), re.compile(r"(?<![\d.])0+\d").search
)
"""Tried only for ids that one side has and the other should have."""


def twins(judged: Iterable[str], ranked: Iterable[str], sides: Sides = JOINED) -> Iterator[Finding]:
    """A finding for each way in which ids that only one side has differ from one of the other side.

    >>> for finding in twins({"7", "x"}, {"007", "y"}):
    ...     print(finding.message, *finding.examples)
    1 id differs between judgments and ranking only in leading zeros or a decimal point. '7' and '007'
    """
    alone, others = set(judged), dict.fromkeys(ranked)
    shared = alone & others.keys()
    alone -= shared
    for each in shared:
        del others[each]
    for spelling in SPELLINGS:
        # Two ids that look the same are odd even if one of them is found; 7 beside 007 need not be.
        met = set(filter(spelling.changes, shared)) if spelling.kind == "unicode-forms" else set()
        pairs = _pairs(spelling, alone | met, others) if alone or met else []
        if pairs:
            yield _twin_finding(spelling, pairs, sides)


def _pairs(spelling: Spelling, alone: set[str], others: Collection[str]) -> list[tuple[str, str]]:
    """The ids that are the same but for the spelling: at least one of two is changed by it."""
    known = {spelling.same(each): each for each in sorted(alone)}
    found = {form for form, each in known.items() if form != each and form in others}
    found.update(each for each in filter(spelling.changes, others) if spelling.same(each) in known)
    return sorted((known[spelling.same(each)], each) for each in found)


def _twin_finding(spelling: Spelling, pairs: list[tuple[str, str]], sides: Sides) -> Finding:
    number, examples = len(pairs), tuple(side_by_side(*pair) for pair in pairs[:EXAMPLES])
    message = f"{count(number, 'id differs', 'ids differ')} between {' and '.join(sides)} only in {spelling.differ}."
    return Finding(spelling.severity, spelling.kind, number, message, examples, spelling.advice)


def side_by_side(one: str, other: str) -> str:
    """Two ids that may look the same: then as their escapes."""
    same = unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)
    return f"{one!a} and {other!a}" if same else f"{shorten(one, 40)} and {shorten(other, 40)}"


def affixes(left: Iterable[str], right: Iterable[str], sides: Sides = JOINED) -> Finding | None:
    """For sides that share no id: the prefix or ending to remove or add so that they do.

    >>> print(affixes(["doc_1", "doc_2"], ["1", "2", "3"]).message)
    The ids of the judgments match those of the ranking without 'doc_' at their start.
    """
    one, other = set(left), set(right)
    found = _affixed(one, other, sides) or _affixed(other, one, (sides[1], sides[0]))
    return found or next(_many(FILE_NAMES, one, other, sides), None)


def spelling_between(left: Iterable[str], right: Iterable[str], sides: Sides = JOINED) -> Finding | None:
    """For sides that share almost no id: the one difference in spelling between them, if there is one.

    >>> print(spelling_between(["a", "b"], ["a.md", "b.txt"], ("judgments", "corpus")).message)
    2 ids differ between judgments and corpus only in the endings of their file names.
    """
    one, other = set(left), set(right)
    return affixes(one, other, sides) or next(_many(SPELLINGS, one, other, sides), None)


def respelt(missing: Iterable[str], there: Iterable[str], sides: Sides) -> Finding | None:
    """For ids that one side lacks: the spelling under which most of them are there after all.

    >>> print(respelt(["CACM-74", "x"], ["CACM-0074", "CACM-0075"], ("judgments", "corpus")).message)
    1 id differs between judgments and corpus only in zeros before their numbers.
    """
    lost, others = set(missing), set(there)
    found = ((spelling, _pairs(spelling, lost, others)) for spelling in (*SPELLINGS, PADDED, *FILE_NAMES))
    spelling, pairs = max(found, key=lambda each: len(each[1]))
    return _twin_finding(spelling, pairs, sides) if pairs else None


def _many(ways: Iterable[Spelling], left: set[str], right: set[str], sides: Sides) -> Iterator[Finding]:
    """Each way of spelling in which more ids differ than by accident."""
    for spelling in ways:
        pairs = _pairs(spelling, left, right)
        if pairs and len(pairs) >= ENOUGH_SHARED * min(len(left), len(right)):
            yield _twin_finding(spelling, pairs, sides)


def _affixed(long: set[str], short: set[str], sides: Sides) -> Finding | None:
    """The ids in `long` all start or end with something that makes them match some of `short`."""
    start = _common_start(long).rstrip("0123456789")
    end = _common_start({each[::-1] for each in long})[::-1].lstrip("0123456789")
    for affix, where, cut in ((start, "start", str.removeprefix), (end, "end", str.removesuffix)):
        bare = {cut(each, affix): each for each in long} if affix else {}
        if bare and len(set(bare) & short) >= ENOUGH_SHARED * min(len(set(bare)), len(short)):
            said = f"The ids of the {sides[0]} match those of the {sides[1]} without {affix!r} at their {where}."
            pairs = sorted((each, bare[each]) for each in bare.keys() & short)[:2]
            examples = tuple(side_by_side(*pair) for pair in pairs)
            return Finding("error", "affixes-of-ids", len(long), said, examples, _ALIKE)
    return None


def _common_start(texts: set[str]) -> str:
    first, last = min(texts, default=""), max(texts, default="")
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return "".join(letter for letter, _ in same)
