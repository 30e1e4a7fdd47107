"""A retriever that composes: one class for every kind of search here, with its settings and its way to answer.

Below: several fused into one (`+`, `hybrid`), and search among only the documents that match (`where`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from os import PathLike
from typing import Any, TypeAlias

import numpy as np

from rankproof.bench.adapters import adapt
from rankproof.bench.adapters.adapter import DEPTH, OneByOne
from rankproof.bench.fusion import Recipe, Weights, fused_scores, recipe
from rankproof.bench.fusion.pool import pool_of
from rankproof.bench.retriever import Found, Retriever
from rankproof.core.corpus import Corpus, Document, passing_documents
from rankproof.core.table import RankingTable
from rankproof.document.model import Displayable
from rankproof.errors import DataError, RankproofError, UsageError, check_whole, not_known, shorten
from rankproof.io.corpora import load_corpus
from rankproof.net.retries import Failed


def check_questions(questions: Sequence[str]) -> None:
    """Questions are a list of texts."""
    wrong = [questions] if isinstance(questions, str) else [q for q in questions if not isinstance(q, str)]
    if wrong:
        raise UsageError(
            f"questions: got {shorten(wrong[0])}, expected a list of texts. Next: call the retriever with one text, or "
            "its search() with a list."
        )


def with_options(name: str, options: dict[str, Any], usual: dict[str, Any]) -> str:
    """A call as one would write it: what is as usual is left out.

    >>> with_options("keyword", {"k1": 0.9, "b": 0.75}, {"k1": 1.2, "b": 0.75})
    'keyword(k1=0.9)'
    """
    said = changed_options(options, usual)
    return f"{name}({', '.join(said)})" if said else name


def changed_options(options: dict[str, Any], usual: dict[str, Any]) -> list[str]:
    """The options that are not as usual, as one would write them."""
    return [f"{key}={value!r}" for key, value in options.items() if usual.get(key) != value]


Allowed: TypeAlias = frozenset[str] | None
"""The documents that may be found; None: all."""
Answer: TypeAlias = Callable[[Sequence[str], int, Allowed], list[Found]]
Terms: TypeAlias = Mapping[str, float]
"""Index terms with their weights: a question as keyword search sees it."""


@dataclass(frozen=True)
class Vocabulary(Displayable):
    """The part of a keyword search that rewriters of questions use."""

    terms: Callable[[str], list[str]]
    """The index terms of a text, in order."""
    frequency: Callable[[str], int]
    """The number of documents with a term."""
    search: Callable[[Sequence[Terms], int, Allowed], list[Found]]
    """Like `answer`, for questions that are weighted terms already."""


@dataclass(frozen=True, eq=False, repr=False)
class Search(OneByOne):
    """A retriever: call it with a question, or `search` many; combine with `+`, rerank with `>>`.

    >>> from rankproof.bench.retrieve import keyword
    >>> pages = keyword({"d1": "Refunds within 30 days.", "d2": "Opening hours."})
    >>> [document for document, score in pages("refunds?")]
    ['d1']
    """

    name: str
    describe: Callable[[], dict[str, Any]]
    """Makes the settings, when they are asked for."""
    answer: Answer
    corpus: Corpus | None = None
    """The corpus that it searches, if that is known."""
    vocabulary: Vocabulary | None = None
    """The function that makes its questions, if it is a keyword search."""
    parts: tuple[Search, ...] = ()
    """The searches whose plain sum it is."""
    reranked: bool = False
    """Whether its name ends with a reranker."""

    @cached_property
    def settings(self) -> Mapping[str, Any]:
        """All that shapes the answers, as plain data: two with equal settings give equal answers."""
        return self.describe()

    def search(self, questions: Sequence[str], k: int = DEPTH, allowed: Allowed = None) -> list[Found]:
        """For each question at most `k` documents, of those `allowed`, best first.

        Equal scores come by id, the highest first.
        """
        check_questions(questions)
        check_whole("k", k)
        return self.answer(questions, k, allowed) if questions else []

    def __add__(self, other: Any) -> Search:
        """Both, their rankings fused."""
        return hybrid([part for each in (self, as_search(other)) for part in (each.parts or (each,))])

    def __radd__(self, other: Any) -> Search:
        """The same, with another kind of retriever to the left."""
        return as_search(other) + self

    def __rshift__(self, scorer: Any) -> Search:
        """The documents that this finds, in the order of a reranker."""
        from rankproof.bench.retrieve.reranking import Rerank

        made = scorer if isinstance(scorer, Rerank) else Rerank()(scorer)
        return made.rerank(self)

    def __repr__(self) -> str:
        return self.name


def as_search(anything: Any, corpus: Corpus | None = None) -> Search:
    """Anything that answers questions, as a `Search`; `corpus` is what it searches, if known."""
    if isinstance(anything, Search):
        return anything
    found = adapt(anything)  # it is asked, and its answers are read and refused, as where a retriever is run
    words = isinstance(anything, str | PathLike)
    name = str(anything) if words else getattr(anything, "__name__", type(anything).__name__)
    return Search(name, lambda: dict(found.settings), _deepening(found, name), corpus)


def shared_corpus(searches: Sequence[Search]) -> Corpus | None:
    """The corpus that all of them search whose corpus is known, if it is one."""
    known = [each.corpus for each in searches if each.corpus is not None]
    alike = all(each is known[0] or each.fingerprint == known[0].fingerprint for each in known[1:])
    return known[0] if known and alike else None


class AnswerError(Failed, DataError):
    """A retriever of somebody's own gave no usable answer."""


def _deepening(retriever: Retriever, name: str) -> Answer:
    def ask(questions: Sequence[str], k: int) -> list[Found]:
        try:
            return retriever.search(questions, k)
        except Failed as failed:
            if isinstance(failed, RankproofError):
                raise
            advice = "" if " Next: " in failed.reason else ". Next: call it with one question by hand."
            said = f"{name}: {failed.reason}{advice}"
            raise AnswerError(said, again=failed.again, wait=failed.wait, late=failed.late) from failed

    return cut_to_allowed(ask)


def cut_to_allowed(ask: Callable[[Sequence[str], int], list[Found]]) -> Answer:
    """The answers of what knows nothing of documents that are allowed, cut to these."""

    def answer(questions: Sequence[str], k: int, allowed: Allowed) -> list[Found]:
        if allowed is None:
            return ask(questions, k)

        def one(question: str) -> Found:
            return deepen(lambda n: ask([question], n)[0], k, allowed)

        return list(map(one, questions))

    return answer


def deepen(search: Callable[[int], Found], k: int, allowed: frozenset[str]) -> Found:
    """The `k` best that are allowed, asking for more until they are all there or nothing more comes.

    >>> ranking = [("a", 3.0), ("b", 2.0), ("c", 1.0)]
    >>> deepen(lambda n: ranking[:n], 1, frozenset({"c"}))
    [('c', 1.0)]
    """
    asked, before = k, -1
    while True:
        found = search(asked)
        kept = [pair for pair in found if pair[0] in allowed]
        if len(kept) >= min(k, len(allowed)) or len(found) < asked or len(found) == before:
            return kept[:k]
        asked, before = asked * 4, len(found)


def best_documents(scores: Mapping[str, float], k: int) -> Found:
    """The `k` best of `{document: score}`; equal scores by id, the highest first.

    >>> best_documents({"a": 1.0, "b": 1.0, "c": 2.0}, 2)
    [('c', 2.0), ('b', 1.0)]
    """
    return sorted(scores.items(), key=lambda pair: (pair[1], pair[0]), reverse=True)[:k]


# --- several as one ---------------------------------------------------------------------------------


def search_of_lists(lists: Mapping[str, Found], corpus: Corpus) -> Search:
    """A search that answers each question, by its text, with the list there is.

    >>> search_of_lists({"fees?": [("d2", 2.0), ("d1", 1.0)]}, Corpus.of({"d1": "Hours.", "d2": "Fees."}))("fees?", 1)
    [('d2', 2.0)]
    """

    def answer(questions: Sequence[str], k: int, allowed: Allowed) -> list[Found]:
        known = (lists.get(question, []) for question in questions)
        return [[pair for pair in found if allowed is None or pair[0] in allowed][:k] for found in known]

    return Search("what was found before", dict, answer, corpus)


def blend_lists(lists: Mapping[str, Mapping[str, Found]], made: Recipe) -> dict[str, Found]:
    """Lists of several retrievers as one list a question; a question that one has nothing for is the others'.

    >>> lists = {"one": {"q": [("a", 2.0), ("b", 1.0)]}, "other": {"q": [("b", 9.0)], "r": [("c", 1.0)]}}
    >>> {q: [doc for doc, _ in found] for q, found in blend_lists(lists, recipe(["one", "other"], "rrf")).items()}
    {'q': ['b', 'a'], 'r': ['c']}
    """
    tables = {
        name: RankingTable(
            query=[query for query, found in each.items() for _ in found],
            doc=[doc for found in each.values() for doc, _ in found],
            score=np.array([score for found in each.values() for _, score in found], dtype=np.float64),
            source="a search",
        )
        for name, each in lists.items()
    }
    pool = pool_of(tables)
    return {query: list(docs.items()) for query, docs in pool.order_documents(fused_scores(made, pool)).items()}


METHOD = "rrf"


def hybrid(
    retrievers: Mapping[str, Any] | Sequence[Any],
    method: str = METHOD,
    *,
    weights: Weights | None = None,
    normalise: str | None = None,
    depth: int = DEPTH,
    **parameters: Any,
) -> Search:
    """One retriever of several, their rankings fused; `a + b` is `hybrid([a, b])`.

    `retrievers` is a list or `{name: retriever}`. `method`, `weights`, `normalise` and `parameters` are those of
    `rankproof.fuse`. Each retriever gives its `depth` best documents, or as many as are asked for in the end.

    >>> from rankproof.bench.retrieve import hybrid, keyword, lsa
    >>> pages = {"d1": "Refunds within 30 days.", "d2": "Opening hours."}
    >>> hybrid([keyword(pages), lsa(pages)], "weighted-sum", weights=[1, 2])
    hybrid([keyword, lsa], 'weighted-sum', weights=[1.0, 2.0])
    """
    named = _by_name(retrievers)
    made = recipe(list(named), method, normalise, weights, parameters)
    if made.method.learn is not None:
        raise UsageError(
            f"{made.method.name} learns from judged queries, which a retriever lacks. Next: choose another method; "
            "settings found with 'tune' are good here."
        )
    check_whole("depth", depth)
    searches = tuple(named.values())
    # The settings, as JSON has them.
    options = {name: list(v) if isinstance(v, tuple) else v for name, v in made.settings.items()} | {"depth": depth}
    plain = made.method.name == METHOD and depth == DEPTH and weights is None and not parameters
    if plain:
        name = " + ".join(f"({each})" if each.reranked else repr(each) for each in searches)
    else:
        usual = {name: each.default for name, each in made.method.parameters.items()}
        said = changed_options(options, {**usual, "depth": DEPTH, "normalise": "min-max"})
        name = f"hybrid({', '.join([repr(list(searches)), repr(made.method.name), *said])})"

    def answer(questions: Sequence[str], k: int, allowed: Allowed) -> list[Found]:
        found = {name: each.search(questions, max(k, depth), allowed) for name, each in named.items()}
        blended = blend_lists({name: dict(zip(questions, each, strict=True)) for name, each in found.items()}, made)
        return [blended.get(question, [])[:k] for question in questions]

    return Search(
        name=name,
        describe=lambda: {
            "kind": "hybrid",
            "retrievers": {name: dict(each.settings) for name, each in named.items()},
            "method": made.method.name,
            **options,
        },
        answer=answer,
        corpus=shared_corpus(searches),
        parts=searches if plain else (),
    )


def _by_name(retrievers: Mapping[str, Any] | Sequence[Any]) -> dict[str, Search]:
    if isinstance(retrievers, Mapping):
        named = {str(name): as_search(each) for name, each in retrievers.items()}
    else:
        every = [as_search(each) for each in retrievers]
        printed = [repr(each) for each in every]
        named = {  # a name that stands twice gets a number
            name if printed.count(name) == 1 else f"{name} {printed[: n + 1].count(name)}": every[n]
            for n, name in enumerate(printed)
        }
    if len(named) < 2:
        raise UsageError(f"hybrid: got {len(named)} retrievers, expected at least two. Next: give another retriever.")
    return named


Predicate = Callable[[Document], Any]


def where(retriever: Any, *predicates: Predicate, corpus: Any = None, **values: Any) -> Search:
    """The best of those documents that fit all that is said: not the best of all, cut.

    `values` are metadata by name: a value, a list or set of them, a table of `from`, `to` and `not`, or a function of
    the value; if a document has several values, one match is enough. `predicates` are functions of a whole
    `Document`. `corpus` are the documents, if the retriever does not know them.

    >>> from rankproof.bench.retrieve import keyword, where
    >>> pages = {"d1": {"text": "fees and fees", "year": 2020}, "d2": {"text": "fees", "year": 2024}}
    >>> recent = where(keyword(pages), year=lambda year: year > 2021)
    >>> [document for document, score in recent("fees")]
    ['d2']
    """
    search = as_search(retriever)
    documents = search.corpus if corpus is None else load_corpus(corpus)
    if documents is None:
        raise UsageError(
            f"where: the documents that {search} searches are not known. Next: where(..., corpus=...) with them."
        )
    _check_conditions(documents, predicates, values)

    fitting = passing_documents(documents, predicates, values)
    said = [*map(_said, predicates), *(f"{name}={_said(value)}" for name, value in values.items())]

    def answer(questions: Sequence[str], k: int, allowed: Allowed) -> list[Found]:
        both = fitting if allowed is None else fitting & allowed
        return search.search(questions, k, both) if both else [[] for _ in questions]

    def settings() -> dict[str, Any]:
        digest = blake2b(digest_size=16)
        for each in sorted(fitting):
            digest.update(f"{len(each)}:{each}".encode("utf-8", "surrogatepass"))
        return {"kind": "where", "retriever": dict(search.settings), "documents": digest.hexdigest()}

    return Search(f"where({', '.join([repr(search), *said])})", settings, answer, documents)


def _check_conditions(corpus: Corpus, predicates: Sequence[Predicate], values: dict[str, Any]) -> None:
    if not predicates and not values:
        raise UsageError('where: got no condition. Next: say one, like where(retriever, topic="billing").')
    for each in predicates:
        if not callable(each):
            raise UsageError(
                f"where: got {shorten(each)}, expected a function of a document, or a value by its name."
                " Next: give one of these."
            )
    known = {key for each in corpus.values() for key in each.metadata} if values else set()
    for name in values:
        if name not in known:
            there = f"there are {', '.join(map(repr, sorted(known)))}" if known else "there are none at all"
            said = f"where: no document has {name!r} in its metadata; {there}"
            raise not_known(said, name, sorted(known), "name a field that documents have")


def _said(condition: Any) -> str:
    return str(getattr(condition, "__name__", None) or shorten(condition))
