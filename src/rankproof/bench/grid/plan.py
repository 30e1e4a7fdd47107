"""The plan of a grid: read, checked completely before anything runs, and expanded to configurations.

A configuration is one level of every factor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from rankproof.bench.adapters import Adapted, adapt, loaded_module
from rankproof.bench.adapters.adapter import DEPTH, describe
from rankproof.bench.adapters.code import module_digest
from rankproof.bench.grid.parts import (
    CALL,
    GIVEN,
    HYBRID,
    NONE,
    OF_CORPUS,
    GridPart,
    GridSource,
    check_part,
    fusion_recipe,
    parts_of,
    table_of,
)
from rankproof.bench.runner import RunLimits, plan_for
from rankproof.core.arrays import by_key
from rankproof.core.corpus import CONDITIONS
from rankproof.core.defaults import DEFAULT_MEASURE
from rankproof.core.measure import Measure
from rankproof.core.names import parse_all
from rankproof.errors import UsageError, check_number, check_one_of, check_whole, not_known, shorten

SETTINGS = ("measure", "measures", "k", "depth", "strategy", "most", "held_out", "seed", "baseline", "cache")
STRATEGIES = ("auto", "all", "one-at-a-time", "halving")
DATA = ("benchmark", "corpus", "questions", "queries", "judgments")
TABLES = ("chunkers", "rewriters", "retrievers", "filters", "fusion", "rerankers", "limits")
NOT_USED = "-"
"""The level of a factor that a configuration has no use for: no fusion where nothing is fused."""
FACTORS = ("chunker", "retriever", "filter", "fusion", "reranker", "k", "question")


@dataclass(frozen=True, slots=True)
class Configuration:
    """One level of every factor."""

    chunker: str
    retriever: str
    filter: str
    fusion: str
    reranker: str
    k: int
    question: str = NOT_USED
    """The rewriting of a question before it is asked."""

    def level(self, factor: str) -> str:
        """Its level of a factor, as text."""
        return str(getattr(self, factor))

    def level_name(self, factors: Sequence[str]) -> str:
        """A name of the levels of these factors.

        >>> Configuration("small", "hybrid", "none", "rrf", "none", 10).level_name(["chunker", "retriever", "k"])
        'small / hybrid / k=10'
        """
        levels = [(factor, self.level(factor)) for factor in factors]
        said = [f"k={level}" if factor == "k" else level for factor, level in levels if level != NOT_USED]
        return " / ".join(said) or self.retriever


def combinations(
    levels: Mapping[str, Sequence[str]], ks: Sequence[int], chunked: Sequence[str], fused: Sequence[str]
) -> list[Configuration]:
    """Every combination once; retrievers that are not in `chunked` use no chunker, those not in `fused` no fusion.

    >>> levels = {"chunker": ["whole", "small"], "retriever": ["web"], "filter": ["none"], "reranker": ["none"]}
    >>> [each.chunker for each in combinations({**levels, "fusion": []}, [10], chunked=[], fused=[])]
    ['-']
    """
    found: dict[Configuration, None] = {}
    factors = [levels.get(factor) or [NOT_USED] for factor in FACTORS if factor != "k"]
    for chunker, retriever, filter_, fusion, reranker, question in product(*factors):
        own_chunker = chunker if retriever in chunked else NOT_USED
        own_fusion = fusion if retriever in fused else NOT_USED
        own = (own_chunker, retriever, filter_, own_fusion, reranker)
        found |= {Configuration(*own, k, question): None for k in ks}
    return list(found)


def one_at_a_time(every: Sequence[Configuration]) -> list[Configuration]:
    """The first configuration, and for each factor those that differ from it in this one only.

    A factor that the first has no use for is varied on the first configuration that has.

    >>> every = [Configuration(c, r, "none", "-", "none", 10) for c in "ab" for r in "xy"]
    >>> [(each.chunker, each.retriever) for each in one_at_a_time(every)]
    [('a', 'x'), ('b', 'x'), ('a', 'y')]
    """
    kept: dict[Configuration, None] = {}
    for factor in FACTORS:
        base = next((each for each in every if each.level(factor) != NOT_USED), every[0])
        levels: dict[str, Configuration] = {}
        for each in every:
            # Whether all other factors that both have a use for are at the same level.
            others = ((each.level(other), base.level(other)) for other in FACTORS if other != factor)
            if all(mine == theirs or NOT_USED in (mine, theirs) for mine, theirs in others):
                levels.setdefault(each.level(factor), each)
        kept |= dict.fromkeys([base, *levels.values()])
    return list(kept)


def varied_factors(configurations: Sequence[Configuration]) -> list[str]:
    """The factors with several levels; the retriever always."""
    levels = {factor: {each.level(factor) for each in configurations} - {NOT_USED} for factor in FACTORS}
    return [factor for factor in FACTORS if factor == "retriever" or len(levels[factor]) > 1]


Levels = Mapping[str, GridPart]


@dataclass(frozen=True)
class GridPlan:
    """Everything a grid run needs to know, checked."""

    levels: Mapping[str, Levels]
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
        return self.strategy == "halving" or (self.strategy == "auto" and len(self.configurations) > self.most)

    @property
    def reads_documents(self) -> bool:
        """Whether anything is searched, filtered or reranked here, which needs the documents."""
        changing = {part.kind for factor in ("filter", "reranker") for part in self.levels[factor].values()} - {NONE}
        rewriting = {part.kind for part in self.levels["question"].values()}.intersection(OF_CORPUS)
        return bool(changing or rewriting) or any(map(self.needs_corpus, self.levels["retriever"]))

    def needs_corpus(self, name: str) -> bool:
        """Whether a retriever is built of the documents, so that chunking makes a difference."""
        return any(self._built(name))

    def finds_chunks(self, name: str) -> bool:
        """Whether what a retriever finds are the chunks of a chunker; one that is only called finds documents."""
        return all(self._built(name))

    def _built(self, name: str) -> list[bool]:
        """Whether it is built of the documents; of a hybrid, whether each of its parts is."""
        part = self.retriever(name)
        return [each for own in part.of for each in self._built(own)] or [part.kind not in (CALL, GIVEN)]

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
    searched = _retrievers(source)
    levels = {
        "chunker": _levels(source, "chunkers", GridPart("whole", NONE)),
        "retriever": searched,
        "filter": _by_name(list(filter_parts(source)) or [GridPart("none", NONE)]),
        "fusion": _fusions(source, searched),
        "reranker": _levels(source, "rerankers", GridPart("none", NONE)),
        "question": _levels(source, "rewriters"),
    }
    return GridPlan(levels, limits=_limits(source), **_settings(source))


def _by_name(parts: Iterable[GridPart]) -> Levels:
    return {part.name: part for part in parts}


def _levels(source: GridSource, factor: str, *usual: GridPart) -> Levels:
    """The levels of a factor, checked; the usual ones where none is described."""
    parts = list(parts_of(source, factor)) or usual
    for part in parts:
        check_part(source, factor, part)
    return _by_name(map(_with_source, parts))


def _with_source(part: GridPart) -> GridPart:
    """The part with a digest of its code, so that answers of changed code are not reused."""
    words = str(part.options.get("call", part.options.get("embedder", "")))
    module = loaded_module(words.rpartition(":")[0])
    if module is not None:
        return replace(part, source=module_digest(module))
    return replace(part, source=adapt(words).settings.get("source")) if part.kind == CALL else part


def _retrievers(source: GridSource) -> Levels:
    """The retrievers; hybrids once for every variant of their parts."""
    parts = []
    for part in parts_of(source, "retrievers"):
        call = part.options.get("call")
        if isinstance(call, str) and call.lower().endswith(".toml"):  # its path starts from the grid's folder
            part = replace(part, options={**part.options, "call": source.path(call)})
        parts.append(part)
    if not parts:
        raise UsageError(
            f"{source.name}: no retrievers. Next: add a table [retrievers] with a line like  "
            'words = { kind = "keyword" }.'
        )
    for part in parts:
        check_part(source, "retrievers", part)
    _check_hybrids(source, parts)
    return _by_name(_expand_hybrids(source, list(map(_with_source, parts))))


def _check_hybrids(source: GridSource, parts: Sequence[GridPart]) -> None:
    """Refuse hybrids of fewer than two retrievers, and of unknown ones."""
    labels = {part.label for part in parts}
    for part in parts:
        where = source.where("retrievers", part.label, "of")
        if part.kind != HYBRID and part.of:
            raise UsageError(f'{where}: only a hybrid is made of others. Next: kind = "hybrid".')
        if part.kind == HYBRID and len(part.of) < 2:
            raise UsageError(
                f"{source.where('retrievers', part.label)}: a hybrid needs two retrievers or more. Next: add  "
                'of = ["...", "..."].'
            )
        for each in part.of:
            check_one_of(where, each, sorted(labels))


def _expand_hybrids(source: GridSource, parts: Sequence[GridPart]) -> list[GridPart]:
    """Hybrids of every variant of what they are made of; parts before wholes. A hybrid of itself is refused."""
    by_label = by_key((part.label, part) for part in parts)

    def variants(label: str, path: tuple[str, ...]) -> Iterator[GridPart]:
        if label in path:
            circle = " -> ".join((*path[path.index(label) :], label))
            raise UsageError(
                f"{source.where('retrievers', label, 'of')}: a circle: {circle}. Next: take one of them out."
            )
        for part in by_label[label]:
            choices = list(product(*([each.name for each in variants(own, (*path, label))] for own in part.of)))
            for names in choices:
                name = part.name if len(choices) == 1 else f"{part.name}[{'+'.join(names)}]"
                yield replace(part, name=name, of=names)

    return [made for label in by_label for made in variants(label, ())]


WHERE = "where"


def filter_parts(source: GridSource) -> Iterator[GridPart]:
    """The filters that are described: "none", a table of fields and what they must be, or a function."""
    for name, given in table_of(source, "filters").items():
        if given == NONE:
            yield GridPart(name, NONE, label=name)
        elif callable(given):
            yield GridPart(name, WHERE, {"given": name, "settings": describe(given)}, given=given, label=name)
        elif isinstance(given, Mapping) and given:
            for key, wanted in given.items():
                for each in wanted if isinstance(wanted, (list, tuple)) else [wanted]:
                    _check_condition(source.where("filters", name, key), each, alone=each is wanted)
            yield GridPart(name, WHERE, dict(given), label=name)
        else:
            raise UsageError(
                f'{source.where("filters", name)}: got {shorten(given)}, expected "none", or a table of fields and '
                "what they must be. Next: write it like  recent = { year = { from = 2023 } }."
            )


def _check_condition(where: str, given: Any, alone: bool) -> None:
    for condition in given if isinstance(given, Mapping) else ():
        if condition not in CONDITIONS or not alone:
            said = f"{where}: got {shorten(given)}, expected a value, a list of values, or a table of from, to, not"
            raise not_known(said, condition, CONDITIONS, "write one of these")


def _fusions(source: GridSource, searched: Levels) -> Levels:
    """How hybrids combine their parts; a fusion must be one that `fuse` knows, and fit each of them."""
    parts = list(parts_of(source, "fusion")) or [GridPart("rrf", "rrf")]
    hybrids = [part.of for part in searched.values() if part.kind == HYBRID]
    for part in parts:
        weights = part.options.get("weights")
        # Without a hybrid a fusion is not used, but a typo in it is told: it combines as many names as it has weights.
        several = weights if isinstance(weights, Mapping | list | tuple) else ("", "")
        some = several if isinstance(weights, Mapping) else [f"r{n}" for n in range(len(several))]
        for names in hybrids or [tuple(some)]:
            with source.errors_at("fusion", part.label or part.name):
                fusion_recipe(part, names)
    return _by_name(parts)


def _settings(source: GridSource) -> dict[str, Any]:
    """The given `SETTINGS` of a plan, checked."""
    given = source.data.get("k", 10)
    listed = given if isinstance(given, list) and given else [given]
    ks = tuple(dict.fromkeys(check_whole(source.where("k"), each) for each in listed))
    advice = "write a share of the questions, like 0.5; 0 holds none out"
    checks: dict[str, Callable[[str, Any], Any]] = {
        "most": check_whole,
        "seed": lambda where, given: check_whole(where, given, 0),
        "held_out": lambda where, given: check_number(where, given, least=0, below=1, noun="share", advice=advice),
    }
    strategy = source.data.get("strategy", "auto")
    check_one_of(source.where("strategy"), strategy, STRATEGIES)
    return {
        "k": ks,
        "strategy": strategy,
        "measures": _measures(source),
        "depth": max(check_whole(source.where("depth"), source.data.get("depth", DEPTH)), *ks),
        **{name: check(source.where(name), source.data[name]) for name, check in checks.items() if name in source.data},
    }


def _measures(source: GridSource) -> tuple[str, ...]:
    """The one of `measure` first, then those of `measures`."""
    found: list[Measure] = []
    for key in ("measure", "measures"):
        given = source.data.get(key, [])
        with source.errors_at(key, argument="measures"):
            found += parse_all(given) if given != [] else []
    return tuple(dict.fromkeys(map(str, found))) or (DEFAULT_MEASURE,)


def _limits(source: GridSource) -> dict[str, Any]:
    """How retrievers are asked."""
    table = source.data.get("limits", {})
    if not isinstance(table, Mapping):
        raise UsageError(f"{source.where('limits')}: got {shorten(table)}, expected a table. Next: write a table.")
    if table:
        source.check_keys(RunLimits.__annotations__, "limits")
    for name, value in table.items():
        with source.errors_at("limits", name, argument=name):
            plan_for(Adapted(lambda question, k: [], {}), {name: value})
    return dict(table)
