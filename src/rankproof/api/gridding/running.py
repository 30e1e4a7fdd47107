"""Running configurations: one after the other, on all questions or on more and more of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rankproof.api.evaluate import evaluate
from rankproof.api.gridding.data import Data
from rankproof.api.scores import Scores
from rankproof.bench.grid.choosing import kept
from rankproof.bench.grid.configuration import Configuration, rungs
from rankproof.bench.grid.rows import Rows
from rankproof.bench.grid.steps import Steps
from rankproof.bench.runner.outcome import Outcome
from rankproof.core.hits import Array
from rankproof.core.measure import Measure


@dataclass(eq=False)
class Tried:
    """One configuration and what became of it on the questions it was run on."""

    configuration: Configuration
    name: str
    scores: Scores | None = None
    """None: it failed."""
    rows: Rows = field(default_factory=dict)
    failure: str = ""

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

    def run(self, configuration: Configuration, questions: list[str]) -> Tried:
        """One configuration on these questions; whatever goes wrong is said in its row."""
        found = Tried(configuration, self.names[configuration])
        judgments, texts = self.data.part(questions)
        with Outcome() as outcome:
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

    def all(self, configurations: Sequence[Configuration], questions: list[str]) -> list[Tried]:
        """Every configuration on every question."""
        return [self.run(each, questions) for each in configurations]

    def halving(self, configurations: Sequence[Configuration], questions: list[str]) -> list[Tried]:
        """All on a few questions, the better third on three times as many, and so on; in the order they came.

        Each has the last row it got: those that were weeded out know fewer questions.
        """
        last: dict[Configuration, Tried] = {}
        running = list(configurations)
        for size, asked in rungs(len(configurations), len(questions)):
            usable = [each for each in running if each not in last or last[each].scores is not None]
            means = [self._mean(last[each]) for each in usable if each in last]
            running = [usable[i] for i in kept(means, size, self._higher)] if means else usable
            last |= {each: self.run(each, questions[:asked]) for each in running}
        return [last[each] for each in configurations]

    @property
    def _higher(self) -> bool:
        return self.measures[0].spec.higher

    def _mean(self, tried: Tried) -> float:
        """The mean of the deciding measure; what failed comes last."""
        if tried.scores is None:
            return float("-inf") if self._higher else float("inf")
        return tried.scores[self.measures[0]]


def shared(every: Sequence[Tried], measure: Measure) -> tuple[list[Configuration], Array]:
    """The configurations that did not fail, with their values on the questions that all of them were run on."""
    usable = [each for each in every if each.scores is not None]
    columns = list(_columns(usable, measure))
    if not columns:
        return [], np.zeros((0, 0))
    both = [query for query in columns[0] if all(query in column for column in columns)]
    table = np.array([[column[query] for column in columns] for query in both])
    return [each.configuration for each in usable], table


def _columns(usable: Sequence[Tried], measure: Measure) -> Iterator[dict[str, float]]:
    for each in usable:
        if each.scores is not None:
            yield each.scores.values(measure)
