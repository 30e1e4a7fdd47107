"""The steps that configurations share: chunks, indexes, first searches, fused and reranked lists, each made once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, TypeVar

from rankproof.bench.adapters import Adapted, adapted
from rankproof.bench.adapters.answers import Answer, Reading
from rankproof.bench.chunk.chunked import chunked
from rankproof.bench.chunk.documents import documents_found
from rankproof.bench.grid import kinds
from rankproof.bench.grid.configuration import NOT_USED, Configuration
from rankproof.bench.grid.plan import Plan
from rankproof.bench.listed import listed, together
from rankproof.bench.retriever import Found
from rankproof.bench.runner import Row, answer_all, plan_for
from rankproof.bench.runner.answering import Memory, Told
from rankproof.core.corpus import Corpus
from rankproof.errors import DataError

T = TypeVar("T")
Rows = dict[str, Row]
"""What became of each question, by its id."""


@dataclass(eq=False)
class Steps:
    """Everything that was made on the way to some configuration, kept for the others.

    Answers are kept question by question, so that the same step on more questions asks only for the new ones.
    """

    plan: Plan
    corpus: Corpus | None
    memory: Memory | None = None
    told: Callable[[str, int], Told] = lambda what, total: lambda done, failed: None
    """Who is told of progress, for a step on so many questions."""
    answers: list[Row] = field(default_factory=list)
    """What came of every question that was asked, or known from before."""
    _made: dict[Any, Any] = field(default_factory=dict)
    _rows: dict[Any, Rows] = field(default_factory=dict)

    def run(self, configuration: Configuration, questions: Mapping[str, str]) -> Rows:
        """The documents that a configuration finds for each question, with the seconds of all its steps."""
        c = configuration
        found = self._searched(c.chunker, c.retriever, c.fusion, questions)
        found = self._reranked(c, found, questions)
        cut = self._cut(c.chunker, c.retriever)
        return {name: _at_most(c.k, self._as_documents(cut, row)) for name, row in found.items()}

    # --- steps ---------------------------------------------------------------------------------

    def documents(self, chunker: str) -> Corpus:
        """The corpus as a chunker cuts it."""
        if self.corpus is None:
            raise DataError("there is no corpus to search. Next: name one with  corpus = ...")
        corpus = self.corpus
        made = None if chunker == NOT_USED else kinds.chunker(self.plan.chunkers[chunker])
        return self._once(("chunks", chunker), lambda: corpus if made is None else chunked(corpus, made))

    def _searched(self, chunker: str, retriever: str, fusion: str, questions: Mapping[str, str]) -> Rows:
        part = self.plan.retrievers[retriever]
        own = chunker if self.plan.needs_corpus(retriever) else NOT_USED
        if part.kind != kinds.HYBRID:
            return self._asked(("search", own, retriever), self._retriever(own, retriever), own, questions)
        parts = {each: self._searched(chunker, each, fusion, questions) for each in part.of}
        if not self.plan.finds_chunks(retriever):
            parts = {each: self._whole(self._cut(chunker, each), rows) for each, rows in parts.items()}
        return self._kept(
            ("fused", own, retriever, fusion), questions, lambda some: self._fused(fusion, parts, some)
        )

    def _cut(self, chunker: str, retriever: str) -> str:
        """The chunker whose pieces a retriever finds; none where some of it finds whole documents."""
        return chunker if self.plan.finds_chunks(retriever) else NOT_USED

    def _whole(self, chunker: str, rows: Rows) -> Rows:
        """Lists of pieces as those of documents, which can be fused with what finds documents."""
        return {name: self._as_documents(chunker, row) for name, row in rows.items()}

    def _retriever(self, chunker: str, name: str) -> Adapted:
        """A retriever as it is asked; its index is built when the first question comes that is not remembered."""
        part = self.plan.retrievers[name]
        if part.kind in (kinds.CALL, kinds.GIVEN):
            found = adapted(kinds.retriever(part, Corpus([])), id=part.options.get("id"))
            return replace(found, settings={**found.settings, "name": name})
        cut = {} if chunker == NOT_USED else self.plan.chunkers[chunker].settings

        def search(texts: Sequence[str], k: int) -> Any:
            built = self._once(
                ("index", chunker, name), lambda: adapted(kinds.retriever(part, self.documents(chunker)))
            )
            return built.search(texts, k)

        return Adapted(search, {**part.settings, "chunker": cut, "name": part.label}, batch=True)

    def _asked(
        self, key: Any, retriever: Adapted, chunker: str, questions: Mapping[str, str], k: int | None = None
    ) -> Rows:
        """The questions that were not asked before, asked now."""

        def ask(some: Mapping[str, str]) -> Rows:
            limits = {**retriever.limits, **self._limits(retriever)}
            rows = answer_all(
                some,
                retriever,
                Reading(k or self.plan.depth, retriever.id),
                plan_for(retriever, limits),
                memory=self.memory,
                about={"corpus": None if self.corpus is None else self.corpus.fingerprint},
                told=self.told(key[-1], len(some)),
            )
            self.answers += rows
            return {row.question: row for row in rows}

        return self._kept(key, questions, ask)

    def _limits(self, retriever: Adapted) -> dict[str, Any]:
        """What is built here is asked question by question in this thread, and once before the clock runs, so that
        it is timed as a user waits for it, its index made."""
        own = {"batch": 1, "timeout": None, "warm_up": 1} if retriever.batch else {}
        return {**own, **self.plan.limits}

    def _fused(self, fusion: str, parts: Mapping[str, Rows], questions: Mapping[str, str]) -> Rows:
        """Several lists as one; a question that failed in all of them fails."""
        start = perf_counter()
        lists = together(
            {name: _lists(rows, questions) for name, rows in parts.items()},
            kinds.fusion(self.plan.fusion[fusion], list(parts)),
        )
        share = (perf_counter() - start) / max(len(questions), 1)
        return {
            name: _joined([rows[name] for rows in parts.values()], lists.get(name, []), share)
            for name in questions
        }

    def _reranked(self, c: Configuration, found: Rows, questions: Mapping[str, str]) -> Rows:
        """The lists reordered; a question that failed before stays so."""
        scorer = self._once(("reranker", c.reranker), lambda: kinds.reranker(self.plan.rerankers[c.reranker]))
        if scorer is None:
            return found
        lists = {questions[name]: row.answer.found for name, row in found.items() if row.answer is not None}
        first = listed(lists, self.documents(self._cut(c.chunker, c.retriever)))
        whole = Adapted(
            (first >> scorer).search,
            {"reranker": self.plan.rerankers[c.reranker].settings, "over": self._about(c)},
            batch=True,
        )
        key = ("rerank", c.chunker, c.retriever, c.fusion, c.reranker)
        asked = {name: text for name, text in questions.items() if text in lists}
        again = self._asked(key, whole, c.chunker, asked)
        return {name: _after(row, again.get(name)) for name, row in found.items()}

    def _about(self, c: Configuration) -> dict[str, Any]:
        """What a first list came of, as plain data."""
        chunker = {} if c.chunker == NOT_USED else self.plan.chunkers[c.chunker].settings
        fusion = {} if c.fusion == NOT_USED else self.plan.fusion[c.fusion].settings
        return {"chunker": chunker, "retriever": self._described(c.retriever), "fusion": fusion}

    def _described(self, name: str) -> dict[str, Any]:
        part = self.plan.retrievers[name]
        return {**part.settings, "label": part.label, "parts": [self._described(each) for each in part.of]}

    def _as_documents(self, chunker: str, row: Row) -> Row:
        """Chunks as the documents they are of."""
        part = None if chunker == NOT_USED else self.plan.chunkers[chunker]
        if row.answer is None or part is None or part.kind == kinds.NONE:
            return row
        how = part.options.get("map", "best") if part.kind != kinds.GIVEN else "best"
        found = documents_found(row.answer.found, how, self.documents(chunker))
        return replace(row, answer=replace(row.answer, found=found))

    # --- what was made before -------------------------------------------------------------------

    def _once(self, key: Any, make: Callable[[], T]) -> T:
        """What was made under a key, made now where it was not; what failed fails again, without another try."""
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
        known = self._rows.setdefault(key, {})
        new = {name: text for name, text in questions.items() if name not in known}
        if new:
            known.update(ask(new))
        return {name: known[name] for name in questions}


def _at_most(k: int, row: Row) -> Row:
    """A row with no more than k documents."""
    return row if row.answer is None else replace(row, answer=replace(row.answer, found=row.answer.found[:k]))


def _lists(rows: Rows, questions: Mapping[str, str]) -> dict[str, Found]:
    """What was found for the questions that did not fail."""
    return {name: answer.found for name in questions if (answer := rows[name].answer) is not None}


def _joined(rows: Sequence[Row], found: Found, seconds: float) -> Row:
    """One row of several: the seconds of all, and a failure only where nothing else answered."""
    total = seconds + sum(row.seconds for row in rows)
    if all(row.answer is None for row in rows):
        return replace(rows[0], seconds=total)
    return Row(rows[0].question, Answer(found), total)


def _after(first: Row, second: Row | None) -> Row:
    """A row after another step."""
    if second is None:
        return first
    return replace(second, seconds=first.seconds + second.seconds)
