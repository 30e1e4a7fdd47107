"""A grid as it is to be run: read, checked in full before anything runs, and laid out in configurations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankproof.bench.grid import kinds, levels
from rankproof.bench.grid.configuration import NOT_USED, Configuration, combinations, one_at_a_time
from rankproof.bench.grid.parts import Part
from rankproof.bench.grid.settings import DEPTH, SETTINGS, limits_of, settings_of
from rankproof.bench.grid.source import Source

DATA = ("benchmark", "corpus", "questions", "queries", "judgments")
TABLES = ("chunkers", "rewriters", "retrievers", "filters", "fusion", "rerankers", "limits")


@dataclass(frozen=True)
class Plan:
    """Everything a grid run needs to know, checked."""

    chunkers: Mapping[str, Part]
    retrievers: Mapping[str, Part]
    filters: Mapping[str, Part]
    fusion: Mapping[str, Part]
    rerankers: Mapping[str, Part]
    k: tuple[int, ...] = (10,)
    depth: int = DEPTH
    """Documents that first searches find, for fusion and reranking; never fewer than are passed on."""
    strategy: str = "auto"
    most: int = 64
    """With more configurations than this, `auto` halves."""
    held_out: float = 0.5
    """The share of questions that choose nothing, and say what the winner is worth."""
    seed: int = 0
    measures: tuple[str, ...] = ("nDCG@10",)
    """The first decides."""
    limits: Mapping[str, Any] = field(default_factory=dict)
    """How retrievers are asked: concurrency, timeout, retries, rate, as everywhere."""
    rewriters: Mapping[str, Part] = field(default_factory=dict)
    """What is made of questions before they are asked."""

    @property
    def configurations(self) -> list[Configuration]:
        """What is to be run, in order; the first is the baseline where no other is named."""
        names: Mapping[str, Sequence[str]] = {
            "chunker": list(self.chunkers),
            "retriever": list(self.retrievers),
            "filter": list(self.filters),
            "fusion": list(self.fusion),
            "reranker": list(self.rerankers),
            "question": list(self.rewriters),
        }
        chunked = [name for name in self.retrievers if self.needs_corpus(name)]
        fused = [name for name, part in self.retrievers.items() if part.kind == kinds.HYBRID]
        every = combinations(names, self.k, chunked, fused)
        return one_at_a_time(every) if self.strategy == "one-at-a-time" else every

    @property
    def halves(self) -> bool:
        """Whether configurations are weeded out on the way."""
        many = self.strategy == "auto" and len(self.configurations) > self.most
        return many or self.strategy == "halving"

    @property
    def reads_documents(self) -> bool:
        """Whether anything is searched, filtered or reranked here, which needs the documents."""
        changing = (*self.filters.values(), *self.rerankers.values())
        of_corpus = any(each.kind in kinds.OF_CORPUS for each in self.rewriters.values())
        searched = of_corpus or any(map(self.needs_corpus, self.retrievers))
        return searched or any(x.kind != kinds.NONE for x in changing)

    def needs_corpus(self, name: str) -> bool:
        """Whether a retriever is built of the documents, so that chunking makes a difference."""
        part = self.retrievers[name]
        if part.kind == kinds.HYBRID:
            return any(map(self.needs_corpus, part.of))
        return part.kind not in (kinds.CALL, kinds.GIVEN)

    def finds_chunks(self, name: str) -> bool:
        """Whether what a retriever finds are the chunks of a chunker; one that is only called finds documents."""
        part = self.retrievers[name]
        if part.kind == kinds.HYBRID:
            return all(map(self.finds_chunks, part.of))
        return part.kind not in (kinds.CALL, kinds.GIVEN)

    def cost(self, configuration: Configuration) -> float:
        """What 1,000 questions cost."""
        factors = {
            "chunker": self.chunkers,
            "fusion": self.fusion,
            "reranker": self.rerankers,
            "question": self.rewriters,
        }
        used = {factor: configuration.level(factor) for factor in factors}
        parts = [factors[factor][level] for factor, level in used.items() if level != NOT_USED]
        return sum(part.cost for part in parts) + self._cost_of(configuration.retriever)

    def _cost_of(self, name: str) -> float:
        part = self.retrievers[name]
        return part.cost + sum(map(self._cost_of, part.of))


def plan_of(source: Source) -> Plan:
    """The plan that a grid's description comes to; whatever is wrong with it is an error now.

    >>> plan = plan_of(Source({"retrievers": {"words": "keyword"}, "k": [5, 10]}))
    >>> [each.k for each in plan.configurations], plan.measures
    ([5, 10], ('nDCG@10',))
    """
    source.check_keys((*DATA, *SETTINGS, *TABLES))
    retrievers = levels.retrievers(source)
    return Plan(
        chunkers=levels.chunkers(source),
        retrievers=retrievers,
        filters=levels.filters(source),
        fusion=levels.fusions(source, retrievers.values()),
        rerankers=levels.rerankers(source),
        rewriters=levels.rewriters(source),
        limits=limits_of(source),
        **settings_of(source),
    )
