"""`grid`: many configurations of a retriever on the same questions, and what the best of them is worth."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankproof import sample
from rankproof.bench.fusion.tune import split
from rankproof.bench.grid.outcome import (
    Effect,
    GridRow,
    Held,
    Level,
    Runner,
    TriedConfiguration,
    main_effects,
    mark_front,
    row_of,
    score_held_out,
    shared_values,
    variance,
)
from rankproof.bench.grid.parts import GridSource, source_of
from rankproof.bench.grid.plan import GridPlan, plan_of, varied_factors
from rankproof.bench.grid.steps import Steps, check_filters
from rankproof.bench.runner import Told
from rankproof.bench.runs import kept_answers_note
from rankproof.core.arrays import by_key
from rankproof.core.audit.ids import check_found, not_in_corpus, relevant_in
from rankproof.core.corpus import Corpus
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure
from rankproof.core.names import parse, parse_all
from rankproof.document.formats import plain_data
from rankproof.document.model import Document, Result
from rankproof.errors import DataError, UsageError, check_one_of, one_of
from rankproof.io.corpora import load_corpus, load_questions, texts_of_judged
from rankproof.io.judgments import load_labelled
from rankproof.io.load import load_judgments
from rankproof.io.values import as_text
from rankproof.progress import Progress, is_told
from rankproof.scoring.evaluate import check_averages
from rankproof.store.answers import open_answers


@dataclass(frozen=True, eq=False, repr=False)
class Grid(Result):
    """The result of a grid: rows, effects, the front, and the winner with its score; `print` shows it."""

    measure: str
    rows: tuple[GridRow, ...]
    effects: tuple[Effect, ...]
    shares: Mapping[str, float]
    """How much of all that varies comes from each factor, their interactions, the questions, the rest: 1 in all."""
    baseline: str
    winner: str
    """The best on the questions that choose; whether it really is better, `held` says."""
    chosen_on: int
    held: Held | None
    """None if no questions were held out."""
    notes: tuple[str, ...]
    rankings: Mapping[str, Mapping[str, list[str]]]
    """The documents that each configuration found for each question it was run on."""
    wrong: tuple[str, ...] = ()
    """The errors of the audit of each configuration, which make its numbers wrong."""
    remembered: str = ""
    """How many answers were known from an earlier run, and of when they are; "" where none was."""

    @property
    def higher(self) -> bool:
        """Whether more of the measure is better."""
        return parse(self.measure).spec.higher

    @property
    def front(self) -> list[str]:
        """The configurations that no other beats in quality, latency and cost at once."""
        return [each.name for each in self.rows if each.front]

    def row(self, name: str) -> GridRow:
        """The row of one configuration."""
        known = {each.name: each for each in self.rows}
        check_one_of("configuration", name, known)
        return known[name]

    def to_dict(self) -> dict[str, Any]:
        """Everything but the rankings as plain data."""
        names = ("measure", "higher", "rows", "effects", "shares", "front", "baseline", "winner", "chosen_on")
        parts = {name: getattr(self, name) for name in names}
        return dict(plain_data({**parts, "held_out": self.held, "notes": self.notes, "wrong": self.wrong}))

    def _document(self) -> Document:
        from rankproof.bench.words import grid as words

        return words(self)

    def _in_one_line(self) -> str:
        return f"<Grid of {len(self.rows)} configurations by {self.measure}; winner: {self.winner}>"


def saved_grid(data: Mapping[str, Any]) -> Grid:
    """The grid that `to_dict` was taken of, without its rankings; other data are a `DataError`."""
    try:
        return Grid(
            measure=parse(data["measure"]).name,
            rows=tuple(GridRow(**each) for each in data["rows"]),
            effects=tuple(
                Effect(**{**each, "levels": tuple(Level(**level) for level in each["levels"])})
                for each in data["effects"]
            ),
            shares=data["shares"],
            baseline=data["baseline"],
            winner=data["winner"],
            chosen_on=data["chosen_on"],
            held=None if data["held_out"] is None else Held(**data["held_out"]),
            notes=tuple(data["notes"]),
            rankings={},
            wrong=tuple(data["wrong"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"no grid that was saved: {error}. Next: save it again, as JSON (`rankproof bench FILE -o grid.json`)."
        ) from None


def grid(plan: Any, *, cache: str | os.PathLike[str] | None = None, progress: bool | None = None) -> Grid:
    """Run a grid of configurations, and say which is best and what it is worth on questions held out.

    `plan` is the path of a TOML file, or the same as a mapping: `corpus`, `questions`, `judgments` (or
    `benchmark`, like "sample"), `chunkers`, `retrievers`, `filters`, `fusion`, `rerankers`, `k`, `measure`,
    `strategy`, `held_out`; in a mapping retrievers, filters and rerankers may be functions, chunkers objects.
    `cache` is a file that keeps answers: an interrupted run continues from there.

    >>> found = grid({"benchmark": "sample", "retrievers": {"words": "keyword", "dense": "lsa"}})
    >>> [row.name for row in found.rows], found.held.n
    (['words', 'dense'], 30)
    """
    source = source_of(plan)
    made = plan_of(source)
    measures = parse_all(list(made.measures))
    check_averages(measures[:1])
    factors = varied_factors(made.configurations)
    names = {each: each.level_name(factors) for each in made.configurations}
    baseline = source.data.get("baseline")
    if baseline is not None and baseline not in names.values():
        raise one_of(source.where("baseline"), baseline, list(names.values()))
    questions, judgments, documents = data_of(source, made)
    seen, held = split_queries(list(questions), made.held_out, made.seed)
    if cache is None and source.data.get("cache") is not None:
        cache = source.path(str(source.data["cache"]))
    with ExitStack() as shown, nullcontext() if cache is None else open_answers(Path(cache)) as memory:

        def told(what: str, total: int) -> Told:
            shown.close()  # what was told of the step before
            return shown.enter_context(closing(Progress(what, total))).tell

        steps = Steps(made, documents, memory)
        if is_told(progress):
            steps.told = told
        runner = Runner(questions, judgments, steps, measures, names)
        every = runner.halving(list(names), seen) if made.halves else [runner.run(each, seen) for each in names]
        return _summed_up(made, runner, every, baseline or every[0].name, seen, held)


FEWEST = 8
"""With fewer questions none are held out: two halves of them would say nothing."""


def split_queries(queries: Sequence[str], held_out: float, seed: int) -> tuple[list[str], list[str]]:
    """The questions that choose the winner, and those held out; the order of the questions makes no difference.

    >>> [len(part) for part in split_queries([f"q{i}" for i in range(10)], 0.3, seed=0)]
    [7, 3]
    """
    if not held_out or len(queries) < FEWEST:
        return list(queries), []
    return split(queries, 1 - held_out, np.random.default_rng(seed))


def data_of(source: GridSource, plan: GridPlan) -> tuple[dict[str, str], Judgments, Corpus | None]:
    """The texts of the judged questions, the judgments and the documents; whatever is missing is an error."""

    def named(key: str) -> Any:
        if key not in source.data:
            raise UsageError(
                f'{source.name}: no {key} named. Next: add  {key} = "..."  (or  benchmark = "sample"  to try).'
            )
        return source.path(source.data[key])

    whole = source.data.get("benchmark")
    corpus: Corpus | None = None
    if whole is None:
        questions = load_questions(named("queries" if "queries" in source.data else "questions"))
        judgments = load_judgments(named("judgments"))
    elif isinstance(whole, str) and whole == "sample":
        questions, judgments = sample.queries(), load_judgments(sample.judgments())
        corpus = load_corpus(sample.corpus())
    else:
        found = load_labelled(source.path(whole))
        questions, judgments, corpus = dict(found.questions), found.judgments, found.corpus
    if source.data.get("corpus") is not None:
        corpus = load_corpus(named("corpus"))
    if corpus is None and plan.reads_documents:
        raise UsageError(
            f"{source.name}: it searches, filters or reranks documents, and no corpus is named. "
            'Next: add  corpus = "...".'
        )
    judged = as_text(judgments)
    if corpus is not None:
        check_found(not_in_corpus(relevant_in(judged), corpus), source.name)
        check_filters(source, plan.levels["filter"], corpus)
    asked = texts_of_judged(judged.queries, questions, f"{source.name}: ")
    if not asked:
        raise DataError(f"{source.name}: there are no judgments, so nothing can be chosen. Next: give judgments.")
    return asked, judged, corpus


def _summed_up(
    plan: GridPlan, runner: Runner, every: Sequence[TriedConfiguration], baseline: str, seen: list[str], held: list[str]
) -> Grid:
    measure = runner.measures[0]
    usable = [each for each in every if each.scores is not None]
    if not usable:
        fault, _, remedy = every[0].failure.partition(" Next: ")
        raise DataError(
            f"every configuration failed; the first, {every[0].name}: {fault.removesuffix('.')}. "
            f"Next: {remedy.removesuffix('.') or 'correct it, run again'}; what was answered is kept."
        )
    finalists = [each for each in usable if len(each.rows) == len(seen)] or usable
    winner = _best(finalists, measure)
    first = next((each for each in usable if each.name == baseline), usable[0])
    others = [each for each in finalists if each is not winner]
    rival = _best(others, measure) if winner is first and others else first
    worth = score_held_out(runner, winner, rival, held) if held else None
    configurations, values = shared_values(usable, measure)
    rng = np.random.default_rng(plan.seed)
    return Grid(
        measure=measure.name,
        rows=tuple(mark_front([row_of(plan, each, runner.measures) for each in every], measure)),
        effects=tuple(main_effects(configurations, values, rng)),
        shares=variance(configurations, values),
        baseline=first.name,
        winner=winner.name,
        chosen_on=len(seen),
        held=worth,
        notes=tuple(_notes(plan, runner.steps, every, baseline, first, held, worth)),
        rankings={each.name: each.ranking for each in usable},
        wrong=tuple(_wrong(usable)),
        remembered=kept_answers_note(runner.steps.answers, runner.steps.began),
    )


def _best(some: Sequence[TriedConfiguration], measure: Measure) -> TriedConfiguration:
    """The one with the best mean; the first if several are equal."""
    return max(some, key=lambda each: round(each.worth(measure), 12))


def _notes(
    plan: GridPlan,
    steps: Steps,
    every: Sequence[TriedConfiguration],
    baseline: str,
    first: TriedConfiguration,
    held: Sequence[str],
    worth: Held | None,
) -> Iterator[str]:
    failed = [each for each in every if each.failure]
    if failed:
        yield f"{len(failed)} of {len(every)} configurations failed; the others were run all the same."
    if first.name != baseline:
        yield f"The baseline {baseline} failed; {first.name} is used in its place."
    if not held and len(every) > 1:
        why = "held_out is 0" if not plan.held_out else "there are too few"
        yield (
            f"No questions were held out ({why}): the winner's mean is that of the luckiest of {len(every)}, and "
            "flatters it."
        )
    elif held and worth is None:
        yield (
            "The winner or what it is compared with failed on all questions held out, so nothing says what the winner "
            "is worth."
        )
    if plan.halves:
        yield "Configurations were weeded out on the way: n says on how many questions each was run."
    for name, odd in steps.odd.items():
        for what, number in odd.items():
            yield f"{name}: {number:,} answer{'s' if number > 1 else ''} {what}."


def _wrong(usable: Sequence[TriedConfiguration]) -> Iterator[str]:
    """Each error once, with the configurations it is about."""
    about = by_key((each, tried.name) for tried in usable if tried.scores is not None for each in tried.scores.wrong)
    for each, names in about.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield f"{names[0]}{more}: {each}"
