"""Why single queries fail: the evidence about one query (what was asked, is relevant, was returned), and the rules."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from rankproof.core.corpus import Document
from rankproof.core.orders import by_id
from rankproof.document.numbers import first_of
from rankproof.errors import shorten
from rankproof.text.languages import COMMON, NAMES, STOP_WORDS, are_alike, language
from rankproof.text.numbers_and_dates import dates
from rankproof.text.words import UNSPACED, intended_words, stem, words

NEARLY = 0.8
"""Documents that share this much of their word triples count as near-copies."""
SHINGLE = 3
"""Words that are compared together, so that order counts."""
ENOUGH = 300
"""The number of documents that the language of the corpus is detected from."""


def forms(text: str) -> list[str]:
    """The words of a text in a form that unites spellings of the same word."""
    return [word.form for word in words(text)]


class Library:
    """A corpus in the form that the rules need; everything is computed on first use."""

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self.documents = documents
        self._words: dict[str, list[str]] = {}
        self._shingles: dict[str, frozenset[int]] = {}

    def words(self, doc: str) -> list[str]:
        """The words of a document, title first; none for one that the corpus does not hold."""
        if doc not in self._words:
            self._words[doc] = forms(self.documents[doc].whole) if doc in self.documents else []
        return self._words[doc]

    @cached_property
    def counts(self) -> Counter[str]:
        """How many documents each word is in."""
        found: Counter[str] = Counter()
        for doc in self.documents:
            found.update(set(self.words(doc)))
        return found

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of all words."""
        return frozenset(map(stem, self.counts))

    @cached_property
    def by_letter(self) -> dict[str, list[str]]:
        """The words by their first letter."""
        found: dict[str, list[str]] = {}
        for word in self.counts:
            found.setdefault(word[0], []).append(word)
        return found

    @cached_property
    def language(self) -> str:
        """The language of the corpus, as a code."""
        return language(" ".join(each.whole for each in islice(self.documents.values(), ENOUGH)))

    def knows(self, word: str) -> bool:
        """Whether the corpus has the word, in whatever form."""
        return word in self.counts or stem(word) in self.stems

    def are_alike(self, one: str, other: str) -> bool:
        """Whether two documents are nearly the same."""
        first, second = self._shingled(one), self._shingled(other)
        small, large = sorted((len(first), len(second)))
        if not small or small < NEARLY * large:
            return False
        shared = len(first & second)
        return shared >= NEARLY * (small + large - shared)

    def _shingled(self, doc: str) -> frozenset[int]:
        if doc not in self._shingles:
            own = self.words(doc)
            runs = [own[i : i + SHINGLE] for i in range(max(1, len(own) - SHINGLE + 1))] if own else []
            self._shingles[doc] = frozenset(hash(tuple(run)) for run in runs)
        return self._shingles[doc]


@dataclass(frozen=True)
class Asked:
    """One query with its ranking and judgments, and the texts where they are known."""

    query: str
    returned: Sequence[str]
    """The documents of the ranking, best first."""
    grades: Mapping[str, float]
    k: int
    """The number of documents that the user, or the generator, sees."""
    rel: float = 1
    text: str = ""
    """The question in words; "" where it is not known."""
    library: Library | None = None
    """The corpus; None if none was given."""
    value: float = 0.0
    ceiling: float = 0.0
    titles: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def relevant(self) -> tuple[str, ...]:
        """The relevant documents, the best first; equally good ones by their ids."""
        good = [doc for doc, grade in self.grades.items() if grade >= self.rel]
        return tuple(sorted(good, key=lambda doc: (-self.grades[doc], by_id(doc))))

    @cached_property
    def rank(self) -> dict[str, int]:
        """The rank of each document that was returned and is relevant or shown."""
        wanted = {*self.relevant, *self.shown}
        return {doc: place for place, doc in enumerate(self.returned, start=1) if doc in wanted}

    @cached_property
    def shown(self) -> Sequence[str]:
        """The first k documents."""
        return self.returned[: self.k]

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """The relevant documents that were not returned at all."""
        return tuple(doc for doc in self.relevant if doc not in self.rank)

    @cached_property
    def below(self) -> tuple[str, ...]:
        """The relevant documents that were returned below the first k, the best placed first."""
        low = [doc for doc in self.relevant if self.rank.get(doc, 0) > self.k]
        return tuple(sorted(low, key=lambda doc: self.rank[doc]))

    @cached_property
    def telling(self) -> tuple[str, ...]:
        """The words of the question that carry meaning, each once."""
        return tuple(word for word in dict.fromkeys(forms(self.text)) if word not in STOP_WORDS)

    @cached_property
    def typos(self) -> dict[str, str]:
        """The words that the corpus does not have, with the words of it that they are a slip away from."""
        library = self.library
        if library is None:
            return {}
        likely = {word for doc in self.readable for word in library.words(doc)}
        unknown = [word for word in self.telling if word not in COMMON and not library.knows(word)]
        found = {word: intended_words(word, library.by_letter, library.counts, likely) for word in unknown}
        return {word: other for word, other in found.items() if other}

    @cached_property
    def gone(self) -> tuple[str, ...]:
        """The relevant documents that the corpus does not hold."""
        if self.library is None:
            return ()
        return tuple(doc for doc in self.relevant if doc not in self.library.documents)

    @cached_property
    def readable(self) -> tuple[str, ...]:
        """The relevant documents whose texts are known."""
        if self.library is None:
            return ()
        return tuple(doc for doc in self.relevant if doc in self.library.documents)


# --- rules -----------------------------------------------------------------------------------------------

NAMED = 3
"""The number of documents that are named in a sentence."""


def none_exists(asked: Asked) -> str:
    """No document is judged relevant, so there is nothing to find."""
    if asked.relevant:
        return ""
    judged = len(asked.grades)
    seen = f"none of its {judged} judged documents is relevant" if judged > 1 else "nothing relevant is judged"
    return f"{seen}: no ranking can score here"


def not_in_corpus(asked: Asked) -> str:
    """Relevant documents that the corpus does not hold: no retriever can find them."""
    if not asked.gone:
        return ""
    return f"{_of(asked.gone, asked)} {_are(asked.gone)} not in the corpus: {documents_in_words(asked.gone, asked)}"


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
    return f"{_of(lost, asked)} {_are(lost)} not {held}: {documents_in_words(lost, asked)}"


def below_k(asked: Asked) -> str:
    """Relevant documents that were found, but ranked below those shown."""
    if not asked.below:
        return ""
    ranks = [asked.rank[doc] for doc in asked.below]
    places = f"rank {ranks[0]:,}" if len(ranks) == 1 else f"ranks {_listed(ranks)}"
    return f"found at {places}, below the first {asked.k:,}: {documents_in_words(asked.below, asked)}"


def not_on_top(asked: Asked) -> str:
    """All relevant documents are shown, but others or less relevant ones are above them."""
    if not asked.relevant or asked.missing or asked.below:
        return ""
    ranks = sorted(asked.rank[doc] for doc in asked.relevant)
    best_first = [asked.grades.get(doc, 0.0) for doc in asked.returned[: len(ranks)]]
    if ranks[-1] == len(ranks) and best_first == sorted(best_first, reverse=True):
        return ""
    if ranks[-1] == len(ranks):
        return "documents of lower grade are ranked above better ones"
    return f"shown at rank{'s' if len(ranks) > 1 else ''} {_listed(ranks)}, below others"


def documents_in_words(docs: Sequence[str], asked: Asked) -> str:
    """The documents by id, with titles where they are known, and how many more there are.

    >>> documents_in_words(["a", "b", "c", "d"], Asked("q", [], {}, 5, titles={"a": "Refunds"}))
    "'a' (Refunds), 'b', 'c' and 1 more"
    """
    titles = asked.titles
    return first_of(docs, NAMED, lambda doc: f"{shorten(doc, 40)}{f' ({titles[doc]})' if titles.get(doc) else ''}")


def _of(docs: Sequence[str], asked: Asked) -> str:
    """How many of the relevant documents these are."""
    whole = len(asked.relevant)
    if whole == 1:
        return "its only relevant document"
    if len(docs) == whole:
        return "both of its relevant documents" if whole == 2 else f"all {whole:,} of its relevant documents"
    return f"{len(docs):,} of its {whole:,} relevant documents"


def _are(docs: Sequence[str]) -> str:
    return "is" if len(docs) == 1 else "are"


def _listed(ranks: Sequence[int]) -> str:
    shown = ", ".join(f"{rank:,}" for rank in ranks[:5])
    return shown if len(ranks) <= 5 else f"{shown}, ..."


CROWD = 2
"""The number of near-copies of each other from which on places are wasted."""


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
    crowd = max(near_copies(above, library), key=len, default=[])
    if len(crowd) < CROWD:
        return ""
    return (
        f"{len(crowd)} of the first {min(asked.k, len(asked.returned))} are near-copies of one another: "
        f"{documents_in_words(crowd, asked)}"
    )


def near_copies(docs: Sequence[str], library: Library) -> list[list[str]]:
    """The documents in groups of near-copies; each is compared with the first of a group."""
    groups: list[list[str]] = []
    for doc in docs:
        own = next((group for group in groups if library.are_alike(group[0], doc)), None)
        if own is None:
            groups.append(own := [])
        own.append(doc)
    return groups


def without_copies(docs: Sequence[str], library: Library) -> list[str]:
    """The ranking with only the first of each group of near-copies."""
    return [group[0] for group in near_copies(docs, library)]


SHORT = 2
"""A question of so few words is short."""
LONG = 20
"""A question of so many words is long."""
GAP = 0.5
"""With this share of its content words in none of the relevant documents, a question has another vocabulary."""
NUMBER = re.compile(rf"[^\s{UNSPACED}]*\d[^\s{UNSPACED}]*")
"""A word with a digit in it; if writing has no spaces, the digits alone."""
EDGES = ".,;:!?()[]{}'\"“”„‚‘’«»…"


def few_words(asked: Asked) -> str:
    """A question of very few words."""
    count = len(forms(asked.text))
    return f"only {count} word{'s' if count > 1 else ''}" if 0 < count <= SHORT else ""


def many_words(asked: Asked) -> str:
    """A question of very many words."""
    count = len(forms(asked.text))
    return f"{count:,} words" if count >= LONG else ""


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
    others = {each.start(): each.end() for each in NUMBER.finditer(text)}
    apart = {
        start: end
        for start, end in others.items()
        if not any(start < last and first < end for first, last in days.items())
    }
    return [text[start:end].strip(EDGES) for start, end in sorted({**days, **apart}.items())]


def typo(asked: Asked) -> str:
    """Words that are probably misspelled."""
    if wrong_language(asked):
        return ""
    found = asked.typos.items()
    return "; ".join(f"{word!r} is not in the corpus, {other!r} is" for word, other in found)


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


def _quoted(found: Sequence[str]) -> str:
    return first_of(found, 5, lambda each: shorten(each, 30))
