"""Configurations: one level of every factor, filters on metadata among them, and the order in which they are run."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from itertools import product
from typing import Any

from rankproof.bench.adapters.adapter import describe
from rankproof.bench.grid.kinds import check_fusion, check_part, with_source
from rankproof.bench.grid.source import HYBRID, NONE, GridPart, GridSource, parts_of, table_of
from rankproof.core.corpus import Corpus, Document
from rankproof.errors import DataError, UsageError, nearest, one_of, shorten

WHERE = "where"
CONDITIONS = ("from", "to", "not")
"""The operators of a condition beside equality."""


def filter_parts(source: GridSource) -> list[GridPart]:
    """The filters that are described: "none", a table of fields and what they must be, or a function.

    >>> [part] = filter_parts(GridSource({"filters": {"recent": {"year": {"from": 2023}}}}))
    >>> passes = predicate(part)
    >>> [passes(Document("d", "", metadata={"year": year})) for year in (2022, 2023, "2024")]
    [False, True, True]
    """
    return [_filter(source, name, given) for name, given in table_of(source, "filters").items()]


def _filter(source: GridSource, name: str, given: Any) -> GridPart:
    if given == NONE:
        return GridPart(name, NONE, label=name)
    if callable(given):
        return GridPart(name, WHERE, {"given": name, "settings": describe(given)}, given=given, label=name)
    if not isinstance(given, Mapping) or not given:
        raise UsageError(
            f'{source.where("filters", name)}: got {shorten(given)}, expected "none", or a table of fields and what '
            "they must be. Next: write it like  recent = { year = { from = 2023 } }."
        )
    conditions = [(field, wanted, each) for field, wanted in given.items() for each in _listed(wanted)]
    for field, wanted, each in conditions:
        for condition in each if isinstance(each, Mapping) else ():
            if condition not in CONDITIONS or each is not wanted:
                raise UsageError(
                    f"{source.where('filters', name, field)}: got {shorten(each)}, expected a value, a list of values, "
                    f"or a table of from, to, not.{nearest(condition, CONDITIONS)} Next: write one of these."
                )
    return GridPart(name, WHERE, dict(given), label=name)


def predicate(part: GridPart) -> Callable[[Document], bool]:
    """Whether a document may be found."""
    if part.given is not None:
        return lambda document: bool(part.given(document))
    return lambda document: all(_fits(document.metadata.get(name), wanted) for name, wanted in part.options.items())


def _fits(value: Any, wanted: Any) -> bool:
    """Whether one of a document's values in a field, of which it may have several or none, is as wanted."""
    values = value if isinstance(value, (list, tuple, set, frozenset)) else [] if value is None else [value]
    if isinstance(wanted, Mapping):
        return all(_holds(condition, values, bound) for condition, bound in wanted.items())
    return any(_alike(value, each) == _plain(each) for value in values for each in _listed(wanted))


def _holds(condition: str, values: Collection[Any], bound: Any) -> bool:
    """Whether no value is the one excluded; whether one of them is within the bound."""
    if condition == "not":
        return not _fits(values, bound)
    beyond = operator.lt if condition == "from" else operator.gt
    for value in values:
        with suppress(TypeError):  # what cannot be compared is not within
            if not beyond(_alike(value, bound), _plain(bound)):
                return True
    return False


def _listed(wanted: Any) -> Sequence[Any]:
    return wanted if isinstance(wanted, (list, tuple)) else [wanted]


def _plain(wanted: Any) -> Any:
    """A value as it is compared: dates as text."""
    return wanted.isoformat() if isinstance(wanted, date) else wanted


def _alike(value: Any, wanted: Any) -> Any:
    """A document's value as what is wanted is: files may hold numbers as text, and dates with a time."""
    if isinstance(wanted, date):
        return str(_plain(value))[: len(wanted.isoformat())]
    if isinstance(wanted, bool) and isinstance(value, str):
        return {"true": True, "false": False}.get(value.lower(), value)
    if isinstance(wanted, (int, float)) and isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return value


def matching_documents(corpus: Corpus, part: GridPart) -> frozenset[str]:
    """The documents that may be found."""
    passes = predicate(part)
    return frozenset(name for name, document in corpus.items() if passes(document))


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


def check_hybrids(source: GridSource, parts: Sequence[GridPart]) -> None:
    """Refuse hybrids of fewer than two retrievers, of unknown ones, and of themselves."""
    of = {part.label: part.of for part in parts}
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
            if each not in of:
                raise one_of(where, each, sorted(of))

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            circle = " -> ".join((*path[path.index(name) :], name))
            raise UsageError(
                f"{source.where('retrievers', name, 'of')}: a circle: {circle}. Next: take one of them out."
            )
        for each in of[name]:
            visit(each, (*path, name))

    for name in of:
        visit(name, ())


def expand_hybrids(parts: Sequence[GridPart]) -> list[GridPart]:
    """Hybrids of every variant of what they are made of; parts before wholes."""
    by_label: dict[str, list[GridPart]] = {}
    for part in parts:
        by_label.setdefault(part.label, []).append(part)

    def variants(label: str) -> Iterator[GridPart]:
        for part in by_label[label]:
            choices = list(product(*([each.name for each in variants(own)] for own in part.of)))
            for names in choices:
                name = part.name if len(choices) == 1 else f"{part.name}[{'+'.join(names)}]"
                yield replace(part, name=name, of=names)

    return [made for label in by_label for made in variants(label)]


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


def rungs(configurations: int, queries: int, least: int = 10, keep: int = 3) -> Iterator[tuple[int, int]]:
    """Successive halving: for each round how many configurations are run on how many questions in all.

    Each round keeps one in `keep` and gives it `keep` times the questions, the last one all of them.

    >>> list(rungs(90, 270))
    [(90, 10), (30, 30), (10, 90), (4, 270)]
    """
    left, sizes = configurations, []
    while left > 2 * keep:
        sizes.append(left)
        left = -(-left // keep)
    sizes.append(left)
    for n, size in enumerate(sizes):
        part = queries / keep ** (len(sizes) - 1 - n)
        yield size, queries if n == len(sizes) - 1 else min(queries, max(least, round(part)))


Levels = Mapping[str, GridPart]
"""The levels of one factor, by name."""


def levels_of(source: GridSource, factor: str, *usual: GridPart) -> Levels:
    """The levels of a factor, checked; the usual ones where none is described."""
    parts = list(parts_of(source, factor)) or usual
    for part in parts:
        check_part(source, factor, part)
    return _by_name(map(with_source, parts))


def retrievers(source: GridSource) -> Levels:
    """The retrievers; hybrids once for every variant of their parts."""
    parts = [_located(source, part) for part in parts_of(source, "retrievers")]
    if not parts:
        raise UsageError(
            f"{source.name}: no retrievers. Next: add a table [retrievers] with a line like  "
            'words = { kind = "keyword" }.'
        )
    for part in parts:
        check_part(source, "retrievers", part)
    check_hybrids(source, parts)
    return _by_name(expand_hybrids([with_source(part) for part in parts]))


def _located(source: GridSource, part: GridPart) -> GridPart:
    """The part with the path of an endpoint's file relative to here."""
    call = part.options.get("call")
    if not isinstance(call, str) or not call.lower().endswith(".toml"):
        return part
    return replace(part, options={**part.options, "call": source.path(call)})


def filters(source: GridSource) -> Levels:
    """Which documents may be found; all where nothing is said."""
    return _by_name(filter_parts(source) or [GridPart("none", NONE)])


def fusions(source: GridSource, searched: Levels) -> Levels:
    """How hybrids combine their parts."""
    hybrids = [part for part in searched.values() if part.kind == HYBRID]
    parts = list(parts_of(source, "fusion")) or [GridPart("rrf", "rrf")]
    for part in parts:
        check_fusion(source, part, hybrids)
    return _by_name(parts)


def _by_name(parts: Iterable[GridPart]) -> Levels:
    return {part.name: part for part in parts}
