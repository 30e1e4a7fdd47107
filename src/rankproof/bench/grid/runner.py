"""Running configurations on the questions, judgments and documents that a grid names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np

from rankproof import sample
from rankproof.bench.grid.configuration import Configuration, check_filters, rungs
from rankproof.bench.grid.plan import GridPlan
from rankproof.bench.grid.source import GridSource
from rankproof.bench.grid.steps import Rows, Steps
from rankproof.bench.runner.work import RunOutcome
from rankproof.core.audit.ids import check_found, not_in_corpus, relevant_in
from rankproof.core.corpus import Corpus
from rankproof.core.hits import Array
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure
from rankproof.errors import DataError, UsageError, shorten
from rankproof.io.corpora import load_corpus, load_questions
from rankproof.io.judgments import load_labelled
from rankproof.io.load import load_judgments
from rankproof.io.values import as_text
from rankproof.scoring.evaluate import evaluate
from rankproof.scoring.scores import Scores

FEWEST = 8
"""With fewer questions none are held out: two halves of them would say nothing."""


def split_queries(queries: Sequence[str], held_out: float, seed: int) -> tuple[list[str], list[str]]:
    """The questions that choose the winner, and those held out; the order of the questions makes no difference.

    >>> [len(part) for part in split_queries([f"q{i}" for i in range(10)], 0.3, seed=0)]
    [7, 3]
    """
    if not held_out or len(queries) < FEWEST:
        return list(queries), []
    drawn = np.random.default_rng(seed).permutation(sorted(queries)).tolist()
    cut = min(max(round((1 - held_out) * len(drawn)), 2), len(drawn) - 2)
    return drawn[:cut], drawn[cut:]


def pareto_front(points: Array) -> list[bool]:
    """Which points are on the Pareto front: no other is at least as good in every column and better in one.

    >>> pareto_front(np.array([[0.9, -30.0], [0.8, -5.0], [0.7, -10.0], [0.9, -40.0]]))
    [True, True, False, False]
    """
    return [not ((points >= point).all(axis=1) & (points > point).any(axis=1)).any() for point in points]


SAMPLE = "sample"


@dataclass(frozen=True, eq=False)
class Data:
    """The data that every configuration is run on."""

    questions: dict[str, str]
    """The texts of the judged questions."""
    judgments: Judgments
    corpus: Corpus | None

    def part(self, names: list[str]) -> tuple[Judgments, dict[str, str]]:
        """The judgments and the texts of some questions."""
        judged = {name: self.judgments.of(name) for name in names}
        return load_judgments(judged), {name: self.questions[name] for name in names}


def data_of(source: GridSource, plan: GridPlan) -> Data:
    """The data, read; whatever is missing is an error."""
    whole = source.data.get("benchmark")
    corpus: Corpus | None = None
    if whole is None:
        asked = "queries" if "queries" in source.data else "questions"
        questions = load_questions(_needed(source, asked, sample.queries))
        judgments = load_judgments(_needed(source, "judgments", sample.judgments))
    elif isinstance(whole, str) and whole == SAMPLE:
        questions, judgments = sample.queries(), load_judgments(sample.judgments())
        corpus = load_corpus(sample.corpus())
    else:
        found = load_labelled(_at(source, whole))
        questions, judgments, corpus = dict(found.questions), found.judgments, found.corpus
    if source.data.get("corpus") is not None:
        corpus = load_corpus(_needed(source, "corpus", sample.corpus))
    if corpus is None and plan.reads_documents:
        raise UsageError(
            f"{source.name}: it searches, filters or reranks documents, and no corpus is named. "
            'Next: add  corpus = "...".'
        )
    judged = as_text(judgments)
    if corpus is not None:
        check_found(not_in_corpus(relevant_in(judged), corpus), source.name)
        check_filters(source, plan.levels["filter"], corpus)
    return Data(_judged(source, questions, judged), judged, corpus)


def _needed(source: GridSource, key: str, own: Any) -> Any:
    """The file that a key names; "sample" is the embedded sample."""
    if key not in source.data:
        raise UsageError(
            f'{source.name}: no {key} named. Next: add  {key} = "..."  (or  benchmark = "sample"  to try).'
        )
    given = source.data[key]
    return own() if isinstance(given, str) and given == SAMPLE else _at(source, given)


def _at(source: GridSource, given: Any) -> Any:
    """A path relative to the grid's folder; anything else unchanged."""
    return source.path(given) if isinstance(given, str) and given != SAMPLE else given


def _judged(source: GridSource, questions: dict[str, str], judgments: Judgments) -> dict[str, str]:
    missing = [name for name in judgments.queries if name not in questions]
    if missing:
        raise DataError(
            f"{source.name}: {len(missing)} judged questions have no text, for example {shorten(missing[0])}. "
            "Next: add them to the questions, or take them out of the judgments."
        )
    if not judgments.queries:
        raise DataError(f"{source.name}: there are no judgments, so nothing can be chosen. Next: give judgments.")
    return {name: questions[name] for name in judgments.queries}


@dataclass(eq=False)
class TriedConfiguration:
    """One configuration and its results on the questions it was run on."""

    configuration: Configuration
    name: str
    scores: Scores | None = None
    """None: it failed."""
    rows: Rows = field(default_factory=dict)
    failure: str = ""

    def worth(self, measure: Measure) -> float:
        """The mean, its sign turned so that more is better; one that failed comes last."""
        return -inf if self.scores is None else measure.spec.sign * self.scores[measure]

    @property
    def seconds(self) -> list[float]:
        """How long each answered question took, all steps together."""
        return [row.seconds for row in self.rows.values() if row.answer is not None]

    @property
    def failures(self) -> dict[str, int]:
        """Why questions have no answer, and how many for each reason, the most frequent first."""
        return dict(Counter(row.failure for row in self.rows.values() if row.answer is None).most_common())

    @property
    def ranking(self) -> dict[str, list[str]]:
        """The documents of each question, best first; none where it failed."""
        return {
            name: [doc for doc, _ in row.answer.found] if row.answer is not None else []
            for name, row in self.rows.items()
        }


@dataclass(eq=False)
class Runner:
    """Runs configurations on parts of the data."""

    data: Data
    steps: Steps
    measures: Sequence[Measure]
    names: Mapping[Configuration, str]

    def run(self, configuration: Configuration, questions: list[str]) -> TriedConfiguration:
        """Run one configuration on these questions; errors are kept in its result."""
        found = TriedConfiguration(configuration, self.names[configuration])
        judgments, texts = self.data.part(questions)
        with RunOutcome() as outcome:
            outcome.value = self.steps.run(configuration, texts)
        if outcome.failure is not None:
            found.failure = outcome.failure.reason
            return found
        found.rows = outcome.value
        failures = found.failures
        # Where the rest found nothing either, there is nothing to score: zeros would look like a result.
        if failures and not any(found.ranking.values()):
            found.failure = next(iter(failures))
        else:
            found.scores = evaluate(judgments, found.ranking, list(self.measures))
        return found

    def run_all(self, configurations: Sequence[Configuration], questions: list[str]) -> list[TriedConfiguration]:
        """Every configuration on every question."""
        return [self.run(each, questions) for each in configurations]

    def halving(self, configurations: Sequence[Configuration], questions: list[str]) -> list[TriedConfiguration]:
        """Run all configurations on a few questions, the better third on three times as many, and so on.

        Each has the last row it got: those that were weeded out know fewer questions.
        """
        last: dict[Configuration, TriedConfiguration] = {}
        running = list(configurations)
        for size, asked in rungs(len(configurations), len(questions)):
            if last:
                usable = [each for each in running if last[each].scores is not None]
                best = sorted(usable, key=lambda each: -last[each].worth(self.measures[0]))[:size]
                running = [each for each in usable if each in best]
            last |= {each: self.run(each, questions[:asked]) for each in running}
        return [last[each] for each in configurations]


def shared_values(every: Sequence[TriedConfiguration], measure: Measure) -> tuple[list[Configuration], Array]:
    """The configurations that did not fail, with their values on the questions that all of them were run on."""
    usable = [each for each in every if each.scores is not None]
    columns = [each.scores.values(measure) for each in usable if each.scores is not None]
    if not columns:
        return [], np.zeros((0, 0))
    both = [query for query in columns[0] if all(query in column for column in columns)]
    table = np.array([[column[query] for column in columns] for query in both])
    return [each.configuration for each in usable], table
