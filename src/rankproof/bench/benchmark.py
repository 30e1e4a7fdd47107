"""`Benchmark`: labelled questions, and the retrievers that answer them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Unpack

from rankproof import sample
from rankproof.bench.adapters import Adapted, adapt
from rankproof.bench.retriever import AnswerReading, IdOf
from rankproof.bench.runner import RunLimits, RunPlan, RunRow, Told, answer_all, plan_for
from rankproof.bench.runs import Run, Standings, standings, usual_measures
from rankproof.comparing.compare import DecidingArguments, compare_scores
from rankproof.core.audit.ids import check_found, not_in_corpus, relevant_in
from rankproof.core.conventions import ScoringArguments
from rankproof.core.corpus import Corpus
from rankproof.core.judgments import Judgments
from rankproof.document.model import Displayable
from rankproof.document.numbers import count
from rankproof.errors import DataError, UsageError, check_one_of, check_whole, shorten, warn_caller
from rankproof.io.corpora import load_corpus, load_questions, texts_of_judged
from rankproof.io.groups import Grouping
from rankproof.io.judgments import LabelledQuestions, load_labelled, save_labelled
from rankproof.io.load import Columns, load_judgments, with_columns
from rankproof.io.values import as_text, judged_kinds, plain_digits
from rankproof.progress import LiveFile, Progress, is_told
from rankproof.scoring.evaluate import Measures
from rankproof.store.answers import open_answers

if TYPE_CHECKING:
    from rankproof.diagnosing import Diagnosis


class RunCompareArguments(DecidingArguments, ScoringArguments, total=False):
    """The arguments of `compare` that `Benchmark.compare` hands on."""

    by: Grouping | None


class DiagnoseArguments(ScoringArguments, total=False):
    """The arguments of `diagnose` that `Benchmark.diagnose` hands on."""

    measure: Measures
    k: int | None
    worst: int
    by: Grouping | None
    alpha: float
    seed: int


class Benchmark(Displayable):
    """Questions, what is relevant to them, and the documents if they are given.

    `queries` are what `load_questions` takes, `judgments` what `evaluate` takes, `corpus` what `load_corpus`
    takes. Without queries the ids of the judgments are the questions. `columns` gives the roles of columns whose
    names do not show them: `{"query": "search_key", "question": "phrase", "doc": "sku"}`.

    >>> bench = Benchmark()
    >>> bench.add_query("q1", "Can I get a refund?", ["terms-4"])
    >>> run = bench.run("keyword", lambda text: ["faq-1", "terms-4"])
    >>> run.scores["RR@10"]
    0.5
    """

    @with_columns
    def __init__(
        self, queries: Any = None, judgments: Any = None, corpus: Any = None, *, columns: Columns = None
    ) -> None:
        self.queries: dict[str, str] = {} if queries is None else load_questions(queries)
        self.corpus: Corpus | None = None if corpus is None else load_corpus(corpus)
        self.runs: dict[str, Run] = {}
        """The last run of each name."""
        self._integers: bool | None = None
        self._judgments = None if judgments is None else self._as_text(load_judgments(judgments))
        self._added: dict[str, Judgments] = {}

    @classmethod
    def sample(cls) -> Benchmark:
        """The embedded sample: 60 questions to the support of a backup service, judged, and its pages."""
        return cls(sample.queries(), sample.judgments(), sample.corpus())

    @classmethod
    @with_columns
    def load(cls, source: Any, *, corpus: Any = None, columns: Columns = None) -> Benchmark:
        """A benchmark from a BEIR folder, labelled questions in a file or frame, an ir_datasets object, or "sample".

        A file is JSON Lines, JSON, CSV, TSV or Parquet: one question per row, with its id, its text, and `relevant`
        (a list of ids, or `{id: grade}`); or one judged document per row. `corpus` adds documents; `columns` names the
        columns of each role, as in `Benchmark(...)`.

        >>> rows = [{"id": "q1", "text": "Refund?", "relevant": ["terms-4"]}]
        >>> Benchmark.load(rows).queries
        {'q1': 'Refund?'}
        """
        if isinstance(source, str) and source == "sample":
            return cls.sample()
        found = load_labelled(source)
        made = cls(found.questions, found.judgments)
        made.corpus = found.corpus if corpus is None else load_corpus(corpus)
        return made

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write a BEIR folder, or only the labelled questions if the name ends in .jsonl; `load` reads both.

        Existing files are replaced only with `force`.
        """
        judgments = self.judgments if self.judgments is not None else load_judgments({})
        save_labelled(LabelledQuestions(self.queries, judgments, self.corpus), path, force=force)

    def add_query(self, query_id: str, text: str, relevant: Any) -> None:
        """Add a question; `relevant` is a list or set of documents, or `{document: grade}`."""
        ((name, words),) = load_questions([(query_id, text)]).items()
        if name in self.queries:
            raise DataError(f"question {shorten(name)} exists already. Next: give each question its own id.")
        if isinstance(relevant, (str, bytes)) or not hasattr(relevant, "__iter__"):
            raise DataError(
                f"question {shorten(name)}, relevant: got {shorten(relevant)}, expected a list or set of document ids, "
                "or {id: grade}. Next: give one of these."
            )
        given = relevant if isinstance(relevant, Mapping) else list(relevant)
        self._added[name] = self._as_text(load_judgments({name: given}))
        self.queries[name] = words

    @property
    def judgments(self) -> Judgments | None:
        """The relevant documents of each question; None if there are no judgments."""
        if self._added:
            first = load_judgments({}) if self._judgments is None else self._judgments
            if first.facets is not None:
                raise UsageError("add_query: these judgments have aspects. Next: give the judgments all at once.")
            every = (first, *self._added.values())
            known = {name: judged for each in every for name, judged in each.as_dict().items()}
            self._judgments, self._added = load_judgments(known), {}
        return self._judgments

    def _as_text(self, judgments: Judgments) -> Judgments:
        """The judgments with ids as answers are read: text. Whether they were integers is remembered."""
        integers = judged_kinds(judgments)[1]
        if None not in (integers, self._integers) and integers != self._integers:
            raise DataError("relevant: got ids that are integers and ids that are text. Next: give all as text.")
        self._integers = self._integers if integers is None else integers
        return as_text(judgments)

    def __len__(self) -> int:
        return len(self.queries if self.judgments is None else self.judgments.queries)

    def _in_one_line(self) -> str:
        documents = "" if self.corpus is None else f", {count(len(self.corpus), 'document')}"
        return f"<Benchmark of {count(len(self), 'question')}{documents}; runs: {', '.join(self.runs) or 'none'}>"

    def run(
        self,
        name: str,
        retriever: Any,
        k: int = 100,
        *,
        batch: bool | int | None = None,
        id: IdOf = None,
        settings: Mapping[str, Any] | None = None,
        cache: str | os.PathLike[str] | None = None,
        progress: bool | None = None,
        **limits: Unpack[RunLimits],
    ) -> Run:
        """Ask a retriever every question, and keep the run under a name; it replaces an earlier run of that name.

        `retriever` is any callable `text -> [id] | [(id, score)] | [documents]`, sync or async; with `batch=True`
        it takes a list of texts (with `batch=50` at most 50); a retriever of LangChain, LlamaIndex or Haystack; an
        endpoint.toml, `module:function` or a command. `id` names the field of the id in documents, if it is not a
        usual one.

        `cache` is a file that keeps answers: an interrupted run continues from there. `settings` are everything that
        affects a retriever's answers; a function has none, and is identified by its name, its code and the name of
        the run. `limits` are concurrency, timeout, retries, backoff, rate and warm_up.
        """
        if not isinstance(name, str) or not name:
            raise UsageError(f"run: name: got {shorten(name)}, expected a text that is not empty. Next: name the run.")
        asked: dict[str, Any] = dict(limits)
        if batch is not None and not isinstance(batch, bool):  # so many questions a call
            asked["batch"], batch = batch, True
        found = adapt(retriever, batch=batch, id=id, settings=settings)
        plan = plan_for(found, asked)
        if self.judgments is not None and self.corpus is not None:
            check_found(not_in_corpus(relevant_in(self.judgments), self.corpus))
        questions, reading = self._questions(), self._reading(k, found.id)
        began = perf_counter()
        rows = self._answer_rows(name, questions, found, reading, plan, cache, progress)
        rest = len(self.queries) - len(questions)
        said = f"{rest} of {len(self.queries)} questions were not asked: nobody has judged anything for them."
        if name in self.runs:
            warn_caller(f"run {name!r} replaces the one before. Next: choose another name to keep both.")
        self.runs[name] = Run(
            name=name,
            k=reading.k,
            rows=rows,
            seconds=perf_counter() - began,
            settings=found.settings,
            plan=plan,
            batched=found.batch and found.stream is None and plan.batch != 1,
            streamed=found.stream is not None,
            judgments=self.judgments,
            corpus=self.corpus,
            said=[said] if rest > 0 else [],
        )
        return self.runs[name]

    def _answer_rows(
        self,
        name: str,
        questions: Mapping[str, str],
        retriever: Adapted,
        reading: AnswerReading,
        plan: RunPlan,
        cache: str | os.PathLike[str] | None,
        progress: bool | None,
    ) -> list[RunRow]:
        """A row for each question; questions with an answer in `cache` are not asked again."""
        with ExitStack() as opened:
            memory = None if cache is None else opened.enter_context(open_answers(Path(cache)))
            # Inputs that change the answers, beside settings and question.
            about = {} if memory is None else {"corpus": None if self.corpus is None else self.corpus.fingerprint}
            if memory is not None and not retriever.known:
                about["run"] = name
            line = opened.enter_context(closing(Progress(name, len(questions)))) if is_told(progress) else None
            told: Told = line.tell if line else lambda done, failed: None
            # Where answers are written as they come, so that the app can show first means.
            live = opened.enter_context(closing(LiveFile(name, ".partial.jsonl")))

            def show(rows: Mapping[str, RunRow]) -> None:
                answered = [(query, row.answer) for query, row in rows.items() if row.answer is not None]
                live.write({"query": query, "results": [doc for doc, _ in answer.found]} for query, answer in answered)

            shown = show if live else None
            return answer_all(questions, retriever, reading, plan, memory=memory, about=about, told=told, show=shown)

    def _questions(self) -> dict[str, str]:
        """The questions that are judged, or all where none is."""
        if not self.queries and self.judgments is None:
            raise UsageError("there is no question to ask. Next: add_query, or Benchmark(queries, judgments).")
        if self.judgments is None:
            return self.queries
        if not self.queries:
            return {name: name for name in self.judgments.queries}
        return texts_of_judged(self.judgments.queries, self.queries)

    def _reading(self, k: int, id: IdOf) -> AnswerReading:
        check_whole("k", k, advice="give one, like 10")
        # A corpus keeps its ids as text, and so do the answers of searches over it.
        either = self._integers and self.corpus is not None and plain_digits(self.corpus)
        return AnswerReading(int(k), id, lambda text: self._ids_by_text.get(text), None if either else self._integers)

    @cached_property
    def _ids_by_text(self) -> dict[str, str | None]:
        """The id of the only document with a text, for documents that come without one."""
        found: dict[str, str | None] = {}
        for document in (self.corpus or {}).values():
            for text in {document.text, document.whole}:
                found[text] = document.id if text not in found else None
        return found

    def compare(
        self,
        measures: Measures | None = None,
        *,
        baseline: str | None = None,
        runs: Sequence[str] | None = None,
        **settings: Unpack[RunCompareArguments],
    ) -> Standings:
        """Compare the runs: which is better, beyond chance, and how fast each is.

        Differences are from `baseline` (by default the first run); a winner is named only if it is
        better than every other run. `settings` are those of `rankproof.compare`.
        """
        chosen = {name: self._run(name) for name in (self.runs if runs is None else runs)}
        if len(chosen) < 2:
            raise UsageError(f"compare needs two runs or more, there are {len(chosen)}. Next: run another retriever.")
        first = baseline or next(iter(chosen))
        run = chosen.get(first)
        if run is not None and 2 * len(run.failures) > len(run.rows):  # a difference to it says nothing of the others
            warn_caller(
                f"the baseline {first!r} is broken: {len(run.failures)} of its {len(run.rows)} questions failed. "
                "Next: name another with baseline=, or mend it and run it again."
            )
        # Every question was asked: one without an answer is a failure of the retriever, not a gap of the data.
        conventions: dict[str, Any] = {"allow_missing": 1.0, **settings}
        deciding = {key: conventions.pop(key) for key in DecidingArguments.__annotations__ if key in conventions}
        asked = usual_measures(min(run.k for run in chosen.values())) if measures is None else measures
        scores = {
            name: replace(run, judgments=self.judgments).evaluate(asked, **conventions) for name, run in chosen.items()
        }
        comparison = compare_scores(scores, baseline=baseline, **deciding)
        return standings(comparison, chosen, **deciding)

    def diagnose(self, name: str, **settings: Unpack[DiagnoseArguments]) -> Diagnosis:
        """Say which questions a run fails and why, and which changes are worth trying first.

        `settings` are those of `rankproof.diagnose`.
        """
        from rankproof import diagnose  # a later wing, by the public face

        run = self._run(name)
        return diagnose(run.scored_by, run, queries=self.queries or None, corpus=self.corpus, **settings)

    def _run(self, name: str) -> Run:
        check_one_of("run", name, self.runs)
        return self.runs[name]
