"""The plan of a grid: read, checked completely before anything runs, and expanded to configurations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankproof.bench.adapters import Adapted
from rankproof.bench.grid.configuration import (
    NOT_USED,
    Configuration,
    Levels,
    combinations,
    filters,
    fusions,
    levels_of,
    one_at_a_time,
    retrievers,
)
from rankproof.bench.grid.kinds import OF_CORPUS
from rankproof.bench.grid.source import CALL, GIVEN, HYBRID, NONE, GridPart, GridSource
from rankproof.bench.runner import RunLimits, plan_for
from rankproof.core import DEFAULT_MEASURE
from rankproof.core.measure import Measure
from rankproof.errors import UsageError, check_number, check_whole, one_of, shorten

SETTINGS = ("measure", "measures", "k", "depth", "strategy", "most", "held_out", "seed", "baseline", "cache")
STRATEGIES = {
    "auto": "all, or halving where there are more than `most`",
    "all": "every combination",
    "one-at-a-time": "the first combination, and for each factor those that differ from it in this one only",
    "halving": "all on few questions, the better third on three times as many, and so on",
}

DEPTH = 100
"""Documents that first searches find by default."""


def settings_of(source: GridSource) -> dict[str, Any]:
    """The given `SETTINGS` of a plan, checked."""
    given = source.data.get("k", 10)
    listed = given if isinstance(given, list) and given else [given]
    ks = tuple(dict.fromkeys(check_whole(source.where("k"), each) for each in listed))
    advice = "write a share of the questions, like 0.5; 0 holds none out"
    checks: dict[str, Callable[[str, Any], Any]] = {
        "most": check_whole,
        "seed": lambda where, given: check_whole(where, given, 0),
        "strategy": _strategy,
        "held_out": lambda where, given: check_number(where, given, least=0, below=1, noun="share", advice=advice),
    }
    return {
        "k": ks,
        "measures": _measures(source),
        "depth": max(check_whole(source.where("depth"), source.data.get("depth", DEPTH)), *ks),
        **{name: check(source.where(name), source.data[name]) for name, check in checks.items() if name in source.data},
    }


def _measures(source: GridSource) -> tuple[str, ...]:
    """The one of `measure` first, then those of `measures`."""
    given = [source.data[name] for name in ("measure", "measures") if name in source.data]
    listed = [each for some in given for each in (some if isinstance(some, (list, tuple)) else [some])]
    for each in listed:
        if not isinstance(each, (str, Measure)):
            raise UsageError(
                f"{source.where('measures')}: got {shorten(each)}, expected the name of a measure."
                " Next: write one like nDCG@10."
            )
    return tuple(dict.fromkeys(map(str, listed))) or (DEFAULT_MEASURE,)


def _strategy(where: str, given: Any) -> str:
    if not isinstance(given, str) or given not in STRATEGIES:
        raise one_of(where, given, STRATEGIES)
    return given


def limits_of(source: GridSource) -> dict[str, Any]:
    """How retrievers are asked."""
    table = source.data.get("limits", {})
    if not isinstance(table, Mapping):
        raise UsageError(f"{source.where('limits')}: got {shorten(table)}, expected a table. Next: write a table.")
    if table:
        source.check_keys(RunLimits.__annotations__, "limits")
    for name, value in table.items():
        try:
            plan_for(Adapted(lambda question, k: [], {}), {name: value})
        except UsageError as error:
            said = str(error).removeprefix(f"{name}: ")
            raise type(error)(f"{source.where('limits', name)}: {said}") from error
    return dict(table)


def baseline_of(source: GridSource, names: Sequence[str]) -> str:
    """The configuration that the others are compared with: the named one, or else the first."""
    given = source.data.get("baseline")
    if given is not None and given not in names:
        raise one_of(source.where("baseline"), given, names)
    return given if given is not None else names[0]


DATA = ("benchmark", "corpus", "questions", "queries", "judgments")
TABLES = ("chunkers", "rewriters", "retrievers", "filters", "fusion", "rerankers", "limits")


@dataclass(frozen=True)
class GridPlan:
    """Everything a grid run needs to know, checked."""

    levels: Mapping[str, Levels]
    """The parts of each factor, by name."""
    k: tuple[int, ...] = (10,)
    depth: int = DEPTH
    """Documents that first searches find, for fusion and reranking; never fewer than are passed on."""
    strategy: str = "auto"
    most: int = 64
    """With more configurations than this, `auto` halves."""
    held_out: float = 0.5
    """The share of questions that choose nothing, and say what the winner is worth."""
    seed: int = 0
    measures: tuple[str, ...] = (DEFAULT_MEASURE,)
    """The first decides."""
    limits: Mapping[str, Any] = field(default_factory=dict)
    """How retrievers are asked: concurrency, timeout, retries, rate, as everywhere."""

    def retriever(self, name: str) -> GridPart:
        """The retriever of that name."""
        return self.levels["retriever"][name]

    @property
    def configurations(self) -> list[Configuration]:
        """The configurations to run, in order; the first is the baseline if no other is named."""
        names = {factor: list(levels) for factor, levels in self.levels.items()}
        chunked = [name for name in names["retriever"] if self.needs_corpus(name)]
        fused = [name for name in names["retriever"] if self.retriever(name).kind == HYBRID]
        every = combinations(names, self.k, chunked, fused)
        return one_at_a_time(every) if self.strategy == "one-at-a-time" else every

    @property
    def halves(self) -> bool:
        """Whether weak configurations are dropped on the way."""
        many = self.strategy == "auto" and len(self.configurations) > self.most
        return many or self.strategy == "halving"

    @property
    def reads_documents(self) -> bool:
        """Whether anything is searched, filtered or reranked here, which needs the documents."""
        changing = (*self.levels["filter"].values(), *self.levels["reranker"].values())
        of_corpus = any(each.kind in OF_CORPUS for each in self.levels["question"].values())
        return (
            of_corpus or any(map(self.needs_corpus, self.levels["retriever"])) or any(x.kind != NONE for x in changing)
        )

    def needs_corpus(self, name: str) -> bool:
        """Whether a retriever is built of the documents, so that chunking makes a difference."""
        part = self.retriever(name)
        if part.kind == HYBRID:
            return any(map(self.needs_corpus, part.of))
        return part.kind not in (CALL, GIVEN)

    def finds_chunks(self, name: str) -> bool:
        """Whether what a retriever finds are the chunks of a chunker; one that is only called finds documents."""
        part = self.retriever(name)
        if part.kind == HYBRID:
            return all(map(self.finds_chunks, part.of))
        return part.kind not in (CALL, GIVEN)

    def cost(self, configuration: Configuration) -> float:
        """The cost of 1,000 questions."""

        def cost_of(retriever: GridPart) -> float:
            return retriever.cost + sum(cost_of(self.retriever(name)) for name in retriever.of)

        used = {factor: configuration.level(factor) for factor in self.levels if factor != "retriever"}
        parts = [self.levels[factor][level] for factor, level in used.items() if level != NOT_USED]
        return sum(part.cost for part in parts) + cost_of(self.retriever(configuration.retriever))


def plan_of(source: GridSource) -> GridPlan:
    """The plan for a described grid; whatever is wrong with the description is an error now.

    >>> plan = plan_of(GridSource({"retrievers": {"words": "keyword"}, "k": [5, 10]}))
    >>> [each.k for each in plan.configurations], plan.measures
    ([5, 10], ('nDCG@10',))
    """
    source.check_keys((*DATA, *SETTINGS, *TABLES))
    searched = retrievers(source)
    levels = {
        "chunker": levels_of(source, "chunkers", GridPart("whole", NONE)),
        "retriever": searched,
        "filter": filters(source),
        "fusion": fusions(source, searched),
        "reranker": levels_of(source, "rerankers", GridPart("none", NONE)),
        "question": levels_of(source, "rewriters"),
    }
    return GridPlan(levels, limits=limits_of(source), **settings_of(source))
