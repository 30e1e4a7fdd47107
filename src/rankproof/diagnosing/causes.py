"""Why queries fail: a rule for each reason, with its evidence, and the kinds of queries that fail more often."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from rankproof.bench.testset.checks import forms
from rankproof.core.conventions import FEWEST_TO_DECIDE
from rankproof.diagnosing.evidence import Asked, Library
from rankproof.document.model import PlainData
from rankproof.document.numbers import first_of, setting
from rankproof.errors import shorten
from rankproof.stats.confidence import agree_with_test
from rankproof.stats.corrections import correct
from rankproof.stats.intervals import UNIT, Bounds
from rankproof.stats.variance import gap
from rankproof.text.languages import NAMES, are_alike, language
from rankproof.text.numbers_and_dates import dates
from rankproof.text.words import UNSPACED, stem

Tells: TypeAlias = Callable[[Asked], str]
"""The evidence in half a sentence; "" where a rule does not apply."""


class Rule(NamedTuple):
    """One reason for a query to be served badly."""

    kind: str
    title: str
    tells: Tells
    do: str
    feature: str
    """If it is a property of the question: the name of the queries that have it."""


RULES: list[Rule] = []
"""The fate of the relevant documents first, then its possible reasons."""


def rule(kind: str, title: str, do: str, feature: str = "") -> Callable[[Tells], Tells]:
    """The function under it is a rule; rules apply in the order in which they stand here."""

    def register(tells: Tells) -> Tells:
        RULES.append(Rule(kind, title, tells, do, feature))
        return tells

    return register


@dataclass(frozen=True, slots=True)
class Cause(PlainData):
    """A rule that applies to a query, with the evidence."""

    kind: str
    title: str
    evidence: str
    do: str

    def __str__(self) -> str:
        return f"{self.title}: {self.evidence}"


def causes(asked: Asked) -> tuple[Cause, ...]:
    """Every rule that applies to a query, in the order of the rules.

    >>> [each.kind for each in causes(Asked("q", ["x", "a"], {"a": 1, "b": 1}, k=1, text="fees in 2024"))]
    ['never-found', 'below-k', 'number']
    """
    told = ((each, each.tells(asked)) for each in RULES)
    skip = setting("no_relevant", "skip")
    return tuple(Cause(each.kind, each.title, said, each.do.format(skip=skip)) for each, said in told if said)


@rule(
    "no-relevant", "no relevant document exists", "judge more, write the missing one, or leave the query out ({skip})"
)
def none_exists(asked: Asked) -> str:
    """No document is judged relevant, so there is nothing to find."""
    if asked.relevant:
        return ""
    judged = len(asked.grades)
    seen = f"none of its {judged} judged documents is relevant" if judged > 1 else "nothing relevant is judged"
    return f"{seen}: no ranking can score here"


@rule("not-in-corpus", "not in the corpus", "index the documents, or take them out of the judgments")
def not_in_corpus(asked: Asked) -> str:
    """Relevant documents that the corpus does not hold: no retriever can find them."""
    if not asked.gone:
        return ""
    return f"{_these_are(asked.gone, asked)} not in the corpus: {documents_in_words(asked.gone, asked)}"


@rule(
    "never-found", "never found", "retrieve in another way too: keyword search, other chunks, another embedding model"
)
def missing_from_ranking(asked: Asked) -> str:
    """Relevant documents that are nowhere in the ranking."""
    lost = tuple(doc for doc in asked.missing if doc not in asked.gone)
    if not lost:
        return ""
    if not asked.returned:
        return "nothing was returned at all"
    held = f"among the {len(asked.returned):,} returned"
    if len(lost) == len(asked.relevant) > 1:
        return f"none of its {len(lost):,} relevant documents is {held}: {documents_in_words(lost, asked)}"
    return f"{_these_are(lost, asked)} not {held}: {documents_in_words(lost, asked)}"


@rule("below-k", "found, but too low", "rerank, or show more documents")
def below_k(asked: Asked) -> str:
    """Relevant documents that were found, but ranked below those shown."""
    if not asked.below:
        return ""
    ranks = [asked.rank[doc] for doc in asked.below]
    places = f"rank {ranks[0]:,}" if len(ranks) == 1 else f"ranks {_listed(ranks)}"
    return f"found at {places}, below the first {asked.k:,}: {documents_in_words(asked.below, asked)}"


@rule("not-on-top", "shown, but not on top", "rerank")
def not_on_top(asked: Asked) -> str:
    """All relevant documents are shown, but others or less relevant ones are above them."""
    if not asked.relevant or asked.missing or asked.below:
        return ""
    ranks = sorted(asked.rank[doc] for doc in asked.relevant)
    if ranks[-1] > len(ranks):
        return f"shown at rank{'s' if len(ranks) > 1 else ''} {_listed(ranks)}, below others"
    grades = [asked.grades.get(doc, 0.0) for doc in asked.returned[: len(ranks)]]
    return "" if grades == sorted(grades, reverse=True) else "documents of lower grade are ranked above better ones"


NAMED = 3


def documents_in_words(docs: Sequence[str], asked: Asked) -> str:
    """The documents by id, with titles where they are known, and how many more there are.

    >>> documents_in_words(["a", "b", "c", "d"], Asked("q", [], {}, 5, titles={"a": "Refunds"}))
    "'a' (Refunds), 'b', 'c' and 1 more"
    """
    titles = asked.titles
    return first_of(docs, NAMED, lambda doc: f"{shorten(doc, 40)}{f' ({titles[doc]})' if titles.get(doc) else ''}")


def _these_are(docs: Sequence[str], asked: Asked) -> str:
    """How many of the relevant documents these are, with the verb."""
    whole = len(asked.relevant)
    if whole == 1:
        return "its only relevant document is"
    if len(docs) == whole:
        return f"{'both' if whole == 2 else f'all {whole:,}'} of its relevant documents are"
    return f"{len(docs):,} of its {whole:,} relevant documents {'is' if len(docs) == 1 else 'are'}"


def _listed(ranks: Sequence[int]) -> str:
    shown = ", ".join(f"{rank:,}" for rank in ranks[:5])
    return shown if len(ranks) <= 5 else f"{shown}, ..."


CROWD = 2
"""The number of near-copies of each other from which on places are wasted."""


@rule(
    "near-copies",
    "beaten by near-copies",
    "remove near-copies, or judge them like their originals",
    "near-copies on top",
)
def copies_above(asked: Asked) -> str:
    """Near-copies are ranked above a relevant document, or take the places where it would be shown."""
    if asked.library is None or not asked.relevant:
        return ""
    return _copy_of_relevant(asked, asked.library) or _crowded_out(asked, asked.library)


def _copy_of_relevant(asked: Asked, library: Library) -> str:
    """A copy that is not judged relevant is ranked above the document that it copies."""
    others = [doc for doc in asked.shown if doc not in asked.relevant]
    for doc in asked.readable:
        above = others if doc not in asked.rank else [x for x in others if asked.rank[x] < asked.rank[doc]]
        copies = [each for each in above if library.are_alike(each, doc)]
        if copies:
            place = f"at rank {asked.rank[doc]:,}" if doc in asked.rank else "nowhere in the ranking"
            return (
                f"{documents_in_words(copies[:1], asked)} at rank {asked.rank[copies[0]]} is a near-copy of "
                f"{documents_in_words([doc], asked)}, which counts as relevant and stands {place}"
            )
    return ""


def _crowded_out(asked: Asked, library: Library) -> str:
    """Several copies of one another, none of them relevant, above a relevant document."""
    last = max((asked.rank.get(doc, len(asked.returned) + 1) for doc in asked.relevant), default=0)
    above = [doc for doc in asked.shown if doc not in asked.relevant and asked.rank[doc] < last]
    crowd = max(library.groups_of_copies(above), key=len, default=[])
    if len(crowd) < CROWD:
        return ""
    return (
        f"{len(crowd)} of the first {min(asked.k, len(asked.returned))} are near-copies of one another: "
        f"{documents_in_words(crowd, asked)}"
    )


@rule(
    "wrong-language",
    "another language",
    "use a multilingual embedding model, or translate the question",
    "another language",
)
def wrong_language(asked: Asked) -> str:
    """The question is in another language than the documents that answer it, or than the corpus."""
    library = asked.library
    if library is None:
        return ""
    own = language(asked.text)
    answers = language(" ".join(library.documents[doc].whole for doc in asked.readable))
    theirs = answers or library.language
    if are_alike(own, theirs):
        return ""
    whose = "its relevant documents are" if answers else "the corpus is"
    return f"the question is in {NAMES.get(own, own)}, {whose} in {NAMES.get(theirs, theirs)}"


@rule(
    "typo",
    "perhaps misspelt",
    "correct spelling before searching, or add a retriever that works on letters or meaning",
    "misspelt",
)
def typo(asked: Asked) -> str:
    """Words that are probably misspelled."""
    if wrong_language(asked):
        return ""
    return "; ".join(f"{word!r} is not in the corpus, {other!r} is" for word, other in asked.typos.items())


GAP = 0.5
"""With this share of its content words in none of the relevant documents, a question has another vocabulary."""


@rule(
    "vocabulary-gap", "other words than its documents", "add dense search, synonyms or query expansion", "other words"
)
def vocabulary_gap(asked: Asked) -> str:
    """Most of the question's content words are in none of the relevant documents."""
    if asked.library is None or not asked.readable:
        return ""
    known = {stem(word) for doc in asked.readable for word in asked.library.words(doc)}
    absent = [word for word in asked.telling if stem(word) not in known and word not in asked.typos]
    if not absent or len(absent) < GAP * len(asked.telling):
        return ""
    what = "its relevant document" if len(asked.readable) == 1 else "any of its relevant documents"
    return f"{_quoted(absent)} not in {what}"


NUMBER = re.compile(rf"[^\s{UNSPACED}]*\d[^\s{UNSPACED}]*")
"""A word with a digit in it; if writing has no spaces, the digits alone."""
EDGES = ".,;:!?()[]{}'\"“”„‚‘’«»…"


@rule(
    "number",
    "a number, date or code in it",
    "add keyword search, which matches numbers as they are, or filter by metadata",
    "number, date, code",
)
def number(asked: Asked) -> str:
    """A number, a date or a code, which embeddings blur; and whether the documents shown have it."""
    found = _numbered(asked.text)
    if not found:
        return ""
    quoted = _quoted(found)
    if asked.library is None or not asked.shown:
        return quoted
    sought, held = [set(forms(each)) for each in found], (set(asked.library.words(doc)) for doc in asked.shown)
    having = sum(any(each <= own for each in sought) for own in held)
    return f"{quoted}: {having} of the first {len(asked.shown)} documents contain it"


def _numbered(text: str) -> list[str]:
    """The dates of a text, and all other words with a digit, as they are written.

    >>> _numbered("Was error E-404 fixed on May 5, 2024?")
    ['E-404', 'May 5, 2024']
    """
    days = {date.start: date.end for date in dates(text)}
    spans = dict(each.span() for each in NUMBER.finditer(text))
    for first, last in days.items():
        spans = {start: end for start, end in spans.items() if start >= last or first >= end}
    return [text[start:end].strip(EDGES) for start, end in sorted({**days, **spans}.items())]


def _quoted(found: Sequence[str]) -> str:
    return first_of(found, 5, lambda each: shorten(each, 30))


SHORT, LONG = 2, 20
"""A question of at most so many words is short; of at least so many, long."""


@rule("short", "a short question", "ask back, or expand the query", "short")
def few_words(asked: Asked) -> str:
    """A question of very few words."""
    count = len(forms(asked.text))
    return f"only {count} word{'s' if count > 1 else ''}" if 0 < count <= SHORT else ""


@rule("long", "a long question", "search for its parts, or for a summary of it", "long")
def many_words(asked: Asked) -> str:
    """A question of very many words."""
    count = len(forms(asked.text))
    return f"{count:,} words" if count >= LONG else ""


@dataclass(frozen=True, slots=True)
class Pattern(PlainData):
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
    sign, found = 1 if higher else -1, []
    for kind, each in gaps.items():
        mean, p = float(np.mean([values[query] for query in groups[kind]])), corrected.get(kind)
        low, high, verdict = each.low, each.high, "too few"
        if p is not None:
            low, high = agree_with_test((low, high), each.difference, p, alpha)
            verdict = "unclear" if p > alpha else "better" if sign * each.difference > 0 else "worse"
        worst = sorted(groups[kind], key=lambda query: (sign * values[query], query))
        ends = [end if np.isfinite(end) else None for end in (low, high)]
        other, off = mean - each.difference, each.difference
        found.append(
            Pattern(kind, each.n, each.others, mean, other, off, ends[0], ends[1], p, verdict, tuple(worst[:3]))
        )
    return sorted(found, key=lambda each: (each.p is None, sign * each.difference, each.kind))
