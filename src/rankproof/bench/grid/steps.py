"""The steps that configurations share: chunks, indexes, first searches, fused and reranked lists, each made once.

Below: which documents pass a filter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter, time
from typing import Any, TypeVar

from rankproof.bench.adapters import Adapted, adapt
from rankproof.bench.chunk import documents_found
from rankproof.bench.chunk.chunker import chunked
from rankproof.bench.grid.parts import CALL, GIVEN, HYBRID, NONE, GridPart, GridSource, fusion_recipe, make
from rankproof.bench.grid.plan import FACTORS, NOT_USED, Configuration, GridPlan
from rankproof.bench.retrieve.rewriting import rewrite_question
from rankproof.bench.retrieve.search import blend_lists, search_of_lists, where
from rankproof.bench.retriever import Answer, AnswerReading, Found
from rankproof.bench.runner import RunRow, Told, answer_all, plan_for
from rankproof.bench.runs import repaired_answers
from rankproof.core.corpus import Corpus, Document, passing_documents
from rankproof.errors import DataError
from rankproof.store.answers import Answers
from rankproof.suggestions import nearest

Rows = dict[str, RunRow]


def change_found(row: RunRow, change: Callable[[Found], Found]) -> RunRow:
    """The row with another list as its answer; unchanged if it has no answer."""
    return row if row.answer is None else replace(row, answer=replace(row.answer, found=change(row.answer.found)))


def join_rows(rows: Sequence[RunRow], found: Found, seconds: float) -> RunRow:
    """One row for several: the seconds of all, and a failure only if none of them answered."""
    total = seconds + sum(row.seconds for row in rows)
    if all(row.answer is None for row in rows):
        return replace(rows[0], seconds=total)
    return RunRow(rows[0].question, Answer(found), total)


T = TypeVar("T")


@dataclass(eq=False)
class Steps:
    """The results of all steps so far, shared by all configurations.

    Answers are kept question by question, so that the same step on more questions asks only for the new ones.
    """

    plan: GridPlan
    corpus: Corpus | None
    memory: Answers | None = None
    told: Callable[[str, int], Told] = lambda what, total: lambda done, failed: None
    """The progress reporter of a step on this many questions."""
    began: float = field(default_factory=time)
    """The time in seconds since 1970; answers kept later are those that configurations share."""
    answers: list[RunRow] = field(default_factory=list)
    """The result of every question that was asked, or known from before."""
    odd: dict[str, Counter[str]] = field(default_factory=dict)
    """Notes on odd answers of each part, with counts."""
    _made: dict[Any, Any] = field(default_factory=dict)
    _rows: dict[Any, Rows] = field(default_factory=dict)
    _asking: str = NOT_USED
    """The level of what is made of questions: rows of one are none of another."""

    def run(self, configuration: Configuration, questions: Mapping[str, str]) -> Rows:
        """The documents that a configuration finds for each question, with the seconds of all its steps."""
        c = configuration
        self._asking = c.question
        start, spent = perf_counter(), 0.0
        if c.question != NOT_USED:
            part = self.plan.levels["question"][c.question]
            change = self._once(("rewriter", c.question), lambda: make("rewriters", part, self.corpus))
            if change is not None:
                questions = {name: rewrite_question(change, text) for name, text in questions.items()}
            spent = (perf_counter() - start) / max(len(questions), 1)
        chunker = self._cut(c.chunker, c.retriever)
        found = self._reranked(c, self._searched(c, c.retriever, questions), questions)
        return {
            name: replace(change_found(row, lambda found: found[: c.k]), seconds=row.seconds + spent)
            for name, row in self._whole(chunker, found).items()
        }

    def documents(self, chunker: str) -> Corpus:
        """The corpus as a chunker cuts it."""
        if self.corpus is None:
            raise DataError("there is no corpus to search. Next: name one with  corpus = ...")
        corpus = self.corpus
        made = None if chunker == NOT_USED else make("chunkers", self.plan.levels["chunker"][chunker])
        return self._once(("chunks", chunker), lambda: corpus if made is None else chunked(corpus, made))

    def _searched(self, c: Configuration, retriever: str, questions: Mapping[str, str]) -> Rows:
        """The results of one of a configuration's retrievers among the documents that pass the filter."""
        part = self.plan.retriever(retriever)
        own = c.chunker if self.plan.needs_corpus(retriever) else NOT_USED
        if part.kind in (CALL, GIVEN):  # with documents of its own, and called unchanged
            called = adapt(make("retrievers", part), id=part.options.get("id"))
            called = replace(called, settings={**called.settings, "name": retriever})
            rows = self._asked(("search", retriever), called, questions, self.corpus)
            passing = self._fitting(c.filter)
            if passing is not None:
                rows = {
                    name: change_found(row, lambda found: [pair for pair in found if pair[0] in passing])
                    for name, row in rows.items()
                }
            return rows
        if part.kind != HYBRID:
            return self._asked(("search", own, c.filter, retriever), self._built(own, c.filter, retriever), questions)
        parts = {each: self._searched(c, each, questions) for each in part.of}
        if not self.plan.finds_chunks(retriever):
            parts = {each: self._whole(self._cut(c.chunker, each), rows) for each, rows in parts.items()}
        return self._kept(
            ("fused", own, c.filter, retriever, c.fusion), questions, lambda some: self._fused(c.fusion, parts, some)
        )

    def _cut(self, chunker: str, retriever: str) -> str:
        """The chunker whose chunks a retriever finds; none if a part of it finds whole documents."""
        return chunker if self.plan.finds_chunks(retriever) else NOT_USED

    def _whole(self, chunker: str, rows: Rows) -> Rows:
        """Lists of chunks as lists of documents, which can be fused with other lists of documents."""
        part = None if chunker == NOT_USED else self.plan.levels["chunker"][chunker]
        if part is None or part.kind == NONE:
            return rows
        how, chunks = part.options.get("map", "best") if part.kind != GIVEN else "best", self.documents(chunker)
        return {
            name: change_found(row, lambda found: documents_found(found, how, chunks)) for name, row in rows.items()
        }

    def _fitting(self, filter_: str) -> frozenset[str] | None:
        """The documents that pass a filter; None: all."""
        part = self.plan.levels["filter"][filter_]
        if part.kind == NONE:
            return None
        return self._once(("fitting", filter_), lambda: matching_documents(self.documents(NOT_USED), part))

    def _built(self, chunker: str, filter_: str, name: str) -> Adapted:
        """A retriever over the corpus; its index is built when the first question comes that is not remembered.

        It is built once for all filters, and finds only documents that pass this one: their best, not what is left of
        the best of all.
        """
        part = self.plan.retriever(name)

        def filtered() -> Adapted:
            documents, passing = self.documents(chunker), self._fitting(filter_)
            built = self._once(("index", chunker, name), lambda: make("retrievers", part, documents))
            if passing is None:
                return adapt(built)

            def passes(document: Document) -> bool:
                return (document.id if documents is self.corpus else document.metadata["document"]) in passing

            return adapt(where(built, passes, corpus=documents))

        def search(texts: Sequence[str], k: int) -> Any:
            return self._once(("search", chunker, name, filter_), filtered).search(texts, k)

        about = {"chunker": self._cut_as(chunker), "name": part.label, **self._filtered_as(filter_)}
        return Adapted(search, {**part.settings, **about}, batch=True)

    def _asked(self, key: Any, retriever: Adapted, questions: Mapping[str, str], corpus: Corpus | None = None) -> Rows:
        """Ask the questions that were not asked before; `corpus` should hold what is found."""

        def ask(some: Mapping[str, str]) -> Rows:
            # What is built here is asked question by question in this thread, and once before the clock runs, so that
            # it is timed as a user waits for it, its index made.
            own = {"batch": 1, "timeout": None, "warm_up": 1} if retriever.batch and retriever.stream is None else {}
            limits = {**retriever.limits, **own, **self.plan.limits}
            rows = answer_all(
                some,
                retriever,
                AnswerReading(self.plan.depth, retriever.id),
                plan_for(retriever, limits),
                memory=self.memory,
                about={"corpus": None if self.corpus is None else self.corpus.fingerprint},
                told=self.told(key[-1], len(some)),
            )
            self.answers += rows
            answers = [row.answer for row in rows if row.answer is not None]
            unknown = [x for x in answers if corpus is not None and any(doc not in corpus for doc, _ in x.found)]
            odd = repaired_answers(answers, self.plan.depth)
            odd["held documents that are not in the corpus; they stayed in, as not relevant"] = len(unknown)
            self.odd.setdefault(key[-1], Counter()).update(+Counter(odd))
            return {row.question: row for row in rows}

        return self._kept(key, questions, ask)

    def _fused(self, level: str, parts: Mapping[str, Rows], questions: Mapping[str, str]) -> Rows:
        """Several lists as one; a question that failed in all of them fails."""
        start = perf_counter()
        lists = blend_lists(
            {
                name: {query: answer.found for query in questions if (answer := rows[query].answer) is not None}
                for name, rows in parts.items()
            },
            fusion_recipe(self.plan.levels["fusion"][level], list(parts)),
        )
        share = (perf_counter() - start) / max(len(questions), 1)
        return {
            name: join_rows([rows[name] for rows in parts.values()], lists.get(name, []), share) for name in questions
        }

    def _reranked(self, c: Configuration, found: Rows, questions: Mapping[str, str]) -> Rows:
        """The lists reordered; a question that failed before stays so."""
        part = self.plan.levels["reranker"][c.reranker]
        scorer = self._once(("reranker", c.reranker), lambda: make("rerankers", part))
        if scorer is None:
            return found
        lists = {questions[name]: row.answer.found for name, row in found.items() if row.answer is not None}
        first = search_of_lists(lists, self.documents(self._cut(c.chunker, c.retriever)))
        fused = {} if c.fusion == NOT_USED else self.plan.levels["fusion"][c.fusion].settings
        over = {"chunker": self._cut_as(c.chunker), "retriever": self._described(c.retriever), "fusion": fused}
        over |= self._filtered_as(c.filter)
        whole = Adapted((first >> scorer).search, {"reranker": part.settings, "over": over}, batch=True)
        key = ("rerank", *(c.level(factor) for factor in FACTORS if factor != "k"))
        again = self._asked(key, whole, {name: text for name, text in questions.items() if text in lists})
        return {
            name: replace(again[name], seconds=row.seconds + again[name].seconds) if name in again else row
            for name, row in found.items()
        }

    # --- what answers are known by --------------------------------------------------------------

    def _cut_as(self, chunker: str) -> dict[str, Any]:
        return {} if chunker == NOT_USED else self.plan.levels["chunker"][chunker].settings

    def _filtered_as(self, filter_: str) -> dict[str, Any]:
        """The settings of the filter; empty if there is none."""
        part = self.plan.levels["filter"][filter_]
        return {} if part.kind == NONE else {"filter": part.settings}

    def _described(self, name: str) -> dict[str, Any]:
        part = self.plan.retriever(name)
        return {**part.settings, "label": part.label, "parts": [self._described(each) for each in part.of]}

    def _once(self, key: Any, make: Callable[[], T]) -> T:
        """The result kept under a key, made now if there is none; what failed before fails again at once."""
        if key not in self._made:
            try:
                self._made[key] = make(), None
            except Exception as error:
                self._made[key] = None, error
                raise
        made, failure = self._made[key]
        if failure is not None:
            raise failure
        found: T = made
        return found

    def _kept(self, key: Any, questions: Mapping[str, str], ask: Callable[[Mapping[str, str]], Rows]) -> Rows:
        """The rows of these questions under a key; `ask` is called for those that are new."""
        known = self._rows.setdefault((self._asking, key), {})
        new = {name: text for name, text in questions.items() if name not in known}
        if new:
            known.update(ask(new))
        return {name: known[name] for name in questions}


# --- filters -----------------------------------------------------------------------------------------


def matching_documents(corpus: Corpus, part: GridPart) -> frozenset[str]:
    """The documents that may be found."""
    given = part.given is not None
    return passing_documents(corpus, [part.given] if given else [], {} if given else part.options)


def check_filters(source: GridSource, parts: Mapping[str, GridPart], corpus: Corpus) -> None:
    """Refuse filters on what no document has, and those that no document passes."""
    for part in parts.values():
        if part.kind == NONE:
            continue
        known = {key for document in corpus.values() for key in document.metadata}
        for key in part.options if part.given is None else ():
            if key not in known:
                raise DataError(
                    f"{source.where('filters', part.label)}: no document has {key!r} in its metadata, expected one of "
                    f"{', '.join(sorted(known)) or 'none'}.{nearest(key, known)} Next: name a field of the documents."
                )
        if not matching_documents(corpus, part):
            raise DataError(
                f"{source.where('filters', part.label)}: no document passes it. Next: look at what the documents have "
                "in these fields, and how it is written."
            )
