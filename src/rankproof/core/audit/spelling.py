"""Ranked documents that nobody judged under this id, though the same document was judged under another spelling.

The search goes query by query: a ranked id and a judged id that differ only by a rule count if both belong
to one query. So it finds a mismatch in four topics of ten, and ignores ids that only happen to be similar.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, combinations
from typing import NamedTuple
from unicodedata import normalize
from urllib.parse import unquote_plus

from rankproof.core.audit import EXAMPLES, Finding, Severity, gather_queries, list_words
from rankproof.core.judgments import Judgments
from rankproof.core.table import RankingTable
from rankproof.document.numbers import count, share
from rankproof.errors import shorten

RULES_AT_ONCE = 3
"""The number of differences in spelling that are combined: upper case, an ending and a percent sign."""
LOOKED_AT = 200
"""The number of pairs of ids from which rules are found; how often each holds is then counted on all."""
SAME_AFFIX = 3
"""This many documents with the same additional prefix or ending are no accident."""
ASKED = 40
"""The number of queries in which a prefix or an ending is looked for."""
COLLIDE = 0.05
"""A rule under which more than one judged document in twenty is mistaken for another is wrong."""
MATTERS = 0.01
"""From one in a hundred relevant documents on, the numbers are wrong in the second decimal."""

# Patterns as text: `re` compiles one when it is first looked for, and most rules are never needed.
_FOREIGN = r"[^\x00-\x7f]"
_ODD_NUMBER = r"(?m)0(?:(?<=^0)|(?<=\d\.0))"
_WHOLE_NUMBER = r"(?m)^0+(?=\d+(\.0+)?$)|(?<=\d)\.0+$"
# Most of these begin with the character that all they match begin with, and look behind it from there: the search
# runs to that character in one go, and a million characters take milliseconds.
_ZEROS = r"0(?<![\d.]0)0*(?=\d)"
_ENDING = r"(?m)\.(?<=[^/\\\n].)[A-Za-z][A-Za-z0-9]{0,9}$"
_HOST = r"(?m)^(?:(?:[A-Za-z][A-Za-z0-9+.-]*:)?//[^/\n]*/*|www\.[^/\n]*/+|/+)|/+$"
_QUERY = r"(?m)[?#].*$"
_FOLDERS = r"(?m)^.*[/\\](?=.)"
_PART = (
    r"(?im)[-_:. /#@|](?:(?:(?<=[#@|])|(?<=:):)[\w.:-]*$"
    r"|(?<![#@|])(?:chunk|part|passage|seg|sent|p|c|s)?[-_]?\d+$)"
)
_ANYTHING = ""
_BETWEEN = r"[\s;|,]+"
_PUNCTUATION = r"(?:[^\w\n]|_)+"
_ASCII_PUNCTUATION = {code: None for code in range(128) if not chr(code).isalnum() and chr(code) != "\n"}
_BLANKS = r"[^\S\n]+|[\u200b-\u200f\u2060\ufeff\u00ad]+"


class SpellingRule(NamedTuple):
    """One way in which two spellings of an id differ."""

    kind: str
    differ: str
    same: Callable[[str], str]
    """Equal for two ids that differ in this way only; it takes many ids at once, one a line."""
    sign: str
    """A pattern of what ids hold (one a line) where the rule could matter: one look at all ids rules most out."""
    strict: bool = True
    """Whether a single pair is enough: what the rule leaves out is no part of a name."""


def _without_punctuation(text: str) -> str:
    """The same for both; a table of single characters is a hundred times faster, but knows no letters beyond ASCII."""
    return text.translate(_ASCII_PUNCTUATION) if text.isascii() else re.sub(_PUNCTUATION, "", text)


def _unescaped(text: str) -> str:
    from html import unescape  # imported here, as it loads all HTML entities

    return unescape(text)


def _mended(text: str) -> str:
    """UTF-8 that was read as Latin-1 or Windows-1252, line by line."""
    return text if text.isascii() else "\n".join(map(_mended_line, text.split("\n")))


def _mended_line(text: str) -> str:
    for wrong in () if text.isascii() else ("cp1252", "latin-1"):
        try:
            return text.encode(wrong).decode("utf-8")
        except UnicodeError:
            pass
    return text


_in_one_form = partial(normalize, "NFKC")


def _without(pattern: str) -> Callable[[str], str]:
    return partial(re.sub, pattern, "")


FOLDERS = SpellingRule("affixes-of-ids", "the folders before their names", _without(_FOLDERS), r"[/\\]", strict=False)
ENDINGS = SpellingRule(
    "affixes-of-ids", "the endings of their file names", _without(_ENDING), r"\.[A-Za-z]", strict=False
)
RULES = (
    SpellingRule("encoding-of-ids", "HTML entities", _unescaped, "&"),
    SpellingRule("encoding-of-ids", "escapes of URLs, like %20", unquote_plus, "[%+]"),
    SpellingRule("encoding-of-ids", "text read in the wrong encoding", _mended, _FOREIGN),
    SpellingRule("unicode-forms", "how accented or wide letters are stored (Unicode forms)", _in_one_form, _FOREIGN),
    SpellingRule("spaces-in-ids", "spaces", _without(_BLANKS), r"[^\0-\x08\n\x0e-\x1b!-\x7f]"),
    SpellingRule("case-of-ids", "upper and lower case", str.casefold, r"[^\0-@\[-\x7f]"),
    SpellingRule("affixes-of-ids", "what follows ? or # in a URL", _without(_QUERY), "[?#]", strict=False),
    SpellingRule("affixes-of-ids", "scheme, host and slashes of a URL", _without(_HOST), "/|www", strict=False),
    FOLDERS,
    SpellingRule("affixes-of-ids", "the numbers of parts at their end", _without(_PART), "[-#@|:_. /]", strict=False),
    ENDINGS,
    SpellingRule("spaces-in-ids", "punctuation", _without_punctuation, r"[^A-Za-z0-9\n]", strict=False),
    SpellingRule("number-ids", "zeros before their numbers", _without(_ZEROS), r"0(?<!\d0)\d", strict=False),
    SpellingRule("number-ids", "leading zeros or a decimal point", _without(_WHOLE_NUMBER), _ODD_NUMBER),
)
"""In the order in which they are applied where several are needed."""

Way = tuple[SpellingRule, ...]
PART = 100_000
"""The number of ranked ids that are respelt at once."""


def respell_ids(way: Way, ids: Sequence[str]) -> list[str]:
    """Ids as all rules of a way leave them; one of which nothing is left stays as it is."""
    text = "\n".join(ids)
    for rule in way:
        text = rule.same(text)
    left = text.split("\n")
    if len(left) != len(ids):  # an id with a line end in it
        return [respell_ids(way, [each])[0] if "\n" not in each and "%0" not in each else each for each in ids]
    return [form or each for form, each in zip(left, ids, strict=True)]


@dataclass(frozen=True, eq=False)
class Unmet:
    """The judged documents that a ranking lacks, and the ranked ones that nobody judged, query by query."""

    lost: Mapping[str, Sequence[str]]
    relevant: frozenset[tuple[str, str]]
    """Those of the lost ones that are relevant, with their query."""
    wanted: int
    """How many relevant ones there are, lost or not."""
    unjudged: Mapping[str, Sequence[str]]
    judged: Sequence[str]
    """All ids of judged documents: a rule must not join these."""

    def met(self, way: Way) -> list[tuple[str, str, str]]:
        """Query, judged id and ranked id of all that are one under these rules."""
        queries, docs = self.flat_lost
        lost = respell_ids(way, docs)
        spelt = set(lost)
        known: dict[tuple[str, str], str] = {}
        found = []
        for owners, some in self.parts():
            ranked = respell_ids(way, some)
            if spelt.isdisjoint(ranked):
                continue
            known = known or dict(zip(zip(queries, lost, strict=True), docs, strict=True))
            found += [
                (query, known[query, form], doc)
                for query, form, doc in zip(owners, ranked, some, strict=True)
                if form in spelt and (query, form) in known
            ]
        return found

    @cached_property
    def flat_lost(self) -> tuple[list[str], list[str]]:
        """The queries and documents that are lost, one entry a document."""
        return [q for q, docs in self.lost.items() for _ in docs], [doc for docs in self.lost.values() for doc in docs]

    def parts(self) -> Iterator[tuple[list[str], list[str]]]:
        """The queries and documents that nobody judged, some ten thousand at a time."""
        queries: list[str] = []
        some: list[str] = []
        for query, docs in self.unjudged.items():
            queries += [query] * len(docs)
            some += docs
            if len(some) > PART:
                yield queries, some
                queries, some = [], []
        yield queries, some

    def joins_others(self, way: Way) -> bool:
        """Whether the rules take judged documents for one another."""
        ids = list(dict.fromkeys(self.judged[:: max(1, len(self.judged) // 2000)]))
        return len(ids) - len(set(respell_ids(way, ids))) > COLLIDE * len(ids)


def unmet_ids(judgments: Judgments, table: RankingTable) -> Unmet:
    """What of judgments and ranking does not meet, in the queries that both have."""
    lost, unjudged = dict[str, list[str]](), dict[str, list[str]]()
    relevant, wanted = set[tuple[str, str]](), 0
    for query, rows in gather_queries(table):
        if query not in judgments.index:
            continue
        ranked, grades = dict.fromkeys(map(table.doc.__getitem__, rows)), judgments.of(query)
        lost[query] = [doc for doc in grades if doc not in ranked]
        unjudged[query] = [doc for doc in ranked if doc not in grades]
        wanted += sum(grade > 0 for grade in grades.values())
        relevant.update((query, doc) for doc in lost[query] if grades[doc] > 0)
    return Unmet(lost, frozenset(relevant), wanted, unjudged, judgments.doc_ids)


def unmet_sets(missing: Sequence[str], extra: Sequence[str], judged: Sequence[str]) -> Unmet:
    """The ids that either side lacks, whatever query they belong to."""
    return Unmet({"": missing}, frozenset(("", each) for each in missing), len(judged), {"": extra}, judged)


def ways(sides: Unmet, known: Iterable[SpellingRule] = ()) -> list[Way]:
    """The ways of spelling under which documents meet: the simplest first, of these what explains most."""
    signs: set[str] = set()
    for _, docs in chain([sides.flat_lost], sides.parts()):
        ids = "\n".join(docs)
        signs.update(rule.sign for rule in RULES if rule.sign not in signs and re.search(rule.sign, ids))
    rules = [rule for rule in RULES if rule.sign in signs and (rule.strict or not sides.joins_others((rule,)))]
    normal = tuple(rule for rule in rules if rule.strict and rule.kind != "number-ids")
    learnt = [*known, *_affixes(sides, ()), *(_affixes(sides, normal) if normal else ())]
    rules[len(normal) : len(normal)] = {rule.differ: rule for rule in learnt}.values()
    pairs, found = _candidates(sides, tuple(rules)), list[Way]()
    for size in range(1, RULES_AT_ONCE + 1):
        paired = [each for _, *both in pairs for each in both]
        some = list(combinations([rule for rule in rules if respell_ids((rule,), paired) != paired], size))
        while pairs and some:
            explained = [_same(way, pairs) for way in some]
            best = max(explained, key=sum)
            way = some.pop(explained.index(best))
            if not any(best):
                break
            # More than an accident would explain, and what was judged apart is kept apart.
            met = {pair[1] for pair, same in zip(pairs, best, strict=True) if same}
            sure = all(rule.strict for rule in way) or len(met) >= min(SAME_AFFIX, max(2, len(sides.relevant)))
            if sure and not sides.joins_others(way):
                found.append(way)
                pairs = [pair for pair, same in zip(pairs, best, strict=True) if not same]
    return found


Pair = tuple[str, str, str]
"""A query, a judged document, a ranked one."""


def _same(way: Way, pairs: list[Pair]) -> list[bool]:
    """Which of the pairs are one under these rules."""
    one, other = (respell_ids(way, side) for side in ([y for _, y, _ in pairs], [x for _, _, x in pairs]))
    return [left == right for left, right in zip(one, other, strict=True)]


def _candidates(sides: Unmet, rules: Way) -> list[Pair]:
    """Pairs that are one under all rules, under one, or under one and all that need no second pair."""
    tries = [rules, *((each,) for each in rules)]
    tries += [tuple(r for r in rules if r.strict or r is each) for each in (None, *rules)]
    found: dict[Pair, None] = {}
    for way in dict.fromkeys(each for each in tries if each):
        found.update(dict.fromkeys(sides.met(way)))
    every = list(found)
    return every[:: max(1, len(every) // LOOKED_AT)]


def _affixes(sides: Unmet, before: Way) -> list[SpellingRule]:
    """Constant text before or behind an id on one side, found from ids that hold those of the other."""
    counts: dict[tuple[str, str], set[str]] = {}
    queries = [query for query, docs in sides.lost.items() if docs and sides.unjudged[query]]
    for query in queries[:: max(1, len(queries) // ASKED)]:
        lost = [doc for doc in sides.lost[query] if (query, doc) in sides.relevant] or sides.lost[query]
        left, right = respell_ids(before, lost[:20]), respell_ids(before, sides.unjudged[query][:50])
        for short, longer in _inside(left, right):
            start, _, end = longer.partition(short)
            if not (_splits_number(start, short) or _splits_number(short, end)):
                counts.setdefault((start, end), set()).add(short)
    wanted = min(SAME_AFFIX, max(2, len(sides.relevant)))
    often = Counter({affix: len(docs) for affix, docs in counts.items() if len(docs) >= wanted})
    return [affix_rule(*affix) for affix, _ in often.most_common(3)]


def _inside(left: list[str], right: list[str]) -> Iterator[tuple[str, str]]:
    """Each id of one side with each of the other that holds it and more."""
    for some, others in ((left, right), (right, left)):
        every = "\n".join(others)
        for short in some:
            if short and short in every:
                yield from ((short, longer) for longer in others if short in longer and short != longer)


def _splits_number(left: str, right: str) -> bool:
    return left[-1:].isdigit() and right[:1].isdigit()


def affix_rule(start: str, end: str) -> SpellingRule:
    """Ids with and without this text before and behind them."""
    said = [f"{affix!r} at their {where}" for affix, where in ((start, "start"), (end, "end")) if affix]
    whole = re.compile(f"^{re.escape(start)}(.+){re.escape(end)}$", re.MULTILINE)
    return SpellingRule("affixes-of-ids", list_words(said), partial(whole.sub, r"\1"), _ANYTHING, strict=False)


def misspelt_documents(sides: Unmet, partly: bool = False) -> Iterator[Finding]:
    """For each way of spelling what would be judged if ids were compared by it; `partly`: some were looked at."""
    yield from _several_in_one(sides)
    unjudged = sum(map(len, sides.unjudged.values()))
    for way in ways(sides):
        met = sides.met(way)
        queries, found = {query for query, _, _ in met}, {(query, judged) for query, judged, _ in met}
        relevant = len(found & sides.relevant)
        looked = " looked at" if partly else ""
        message = (
            f"{count(len(met), 'ranked document counts', 'ranked documents count')} as never judged only because "
            f"of {list_words(rule.differ for rule in way)}: {share(len(met) / unjudged)} of the unjudged ones"
            f"{looked}, in {count(len(queries), 'query')}; "
            f"{count(relevant, 'relevant document is', 'relevant documents are')} missed by it."
        )
        serious = relevant > 0 and relevant >= MATTERS * sides.wanted
        yield spelling_finding(serious, way, [(one, other) for _, one, other in met], message)


def _several_in_one(sides: Unmet) -> Iterator[Finding]:
    """Judged ids that are several, as in a cell 'a; b', where the ranking has them one by one."""
    if not re.search(_BETWEEN, "\0".join(sides.flat_lost[1])):  # one look at all rules out nearly every ranking
        return
    marked = [(q, doc) for q, doc in zip(*sides.flat_lost, strict=True) if re.search(_BETWEEN, doc)]
    judged, found, whole = frozenset(sides.judged), list[tuple[str, str]](), 0
    for query, doc in marked:
        ranked, parts = frozenset(sides.unjudged[query]), re.split(_BETWEEN, doc.strip("[](){} "))
        known = [each.strip("\"'") in ranked for each in parts]
        if any(known) and len(parts) > 1:
            found.append((query, doc))
            whole += sum(yes or each in judged for yes, each in zip(known, parts, strict=True)) > 1
    if whole >= min(2, len(sides.relevant)) > 0:
        relevant = len(sides.relevant.intersection(found))
        severity: Severity = "error" if relevant >= MATTERS * sides.wanted else "warning"
        message = (
            f"{count(len(found), 'judged id names', 'judged ids name')} several documents, which the ranking has "
            "one by one."
        )
        examples = tuple(shorten(doc, 60) for _, doc in found[:EXAMPLES])
        advice = 'write them as a list, ["a", "b"], or one in a row, and measure again.'
        yield Finding(severity, "several-ids-in-one", len(found), message, examples, advice)


def misspelt_queries(missing: Sequence[str], extra: Sequence[str], judged: Sequence[str]) -> Iterator[Finding]:
    """For each way of spelling the judged queries that are answered under another id."""
    sides = unmet_sets(missing, extra, judged)
    for way in ways(sides):
        met = {one: other for _, one, other in sides.met(way)}
        message = (
            f"{count(len(met), 'judged query has', 'judged queries have')} no ranking only because of "
            f"{list_words(rule.differ for rule in way)}."
        )
        yield spelling_finding(True, way, [*met.items()], message)


def side_by_side(one: str, other: str) -> str:
    """Two ids that may look the same: then as their escapes."""
    same = normalize("NFC", one) == normalize("NFC", other)
    return f"{one!a} and {other!a}" if same else f"{shorten(one, 40)} and {shorten(other, 40)}"


def spelling_finding(serious: bool, way: Way, pairs: list[tuple[str, str]], message: str) -> Finding:
    """The finding for ids that are one under these rules."""
    kind = way[0].kind if len(way) == 1 else "spelling-of-ids"
    examples = tuple(side_by_side(*pair) for pair in pairs[:EXAMPLES])
    advice = "spell the ids of both sides alike, and measure again."
    if kind == "number-ids":
        advice = f"keep ids as text when files are read and written, or {advice}"
    return Finding("error" if serious else "warning", kind, len(pairs), message, examples, advice)
