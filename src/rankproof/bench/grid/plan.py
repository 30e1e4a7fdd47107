"""A grid as it is to be run: read, checked in full before anything runs, and laid out in configurations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from rankproof.bench.adapters import adapted
from rankproof.bench.adapters.callables import described
from rankproof.bench.chunk import Chunker
from rankproof.bench.grid import kinds
from rankproof.bench.grid.configuration import NOT_USED, Configuration, combinations, one_at_a_time
from rankproof.bench.grid.parts import Part, parts_of
from rankproof.bench.grid.source import Source
from rankproof.bench.runner import Limits
from rankproof.errors import UsageError, one_of, shorten

DATA = ("benchmark", "corpus", "questions", "judgments")
SETTINGS = ("measure", "measures", "k", "depth", "strategy", "most", "held_out", "seed", "baseline", "cache")
TABLES = ("chunkers", "retrievers", "fusion", "rerankers", "limits")
STRATEGIES = {
    "auto": "all, or halving where there are more than `most`",
    "all": "every combination",
    "one-at-a-time": "the first combination, and for each factor those that differ from it in this one only",
    "halving": "all on few questions, the better third on three times as many, and so on",
}


@dataclass(frozen=True)
class Plan:
    """Everything a grid run needs to know, checked."""

    chunkers: Mapping[str, Part]
    retrievers: Mapping[str, Part]
    fusion: Mapping[str, Part]
    rerankers: Mapping[str, Part]
    k: tuple[int, ...] = (10,)
    depth: int = 100
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

    @property
    def configurations(self) -> list[Configuration]:
        """What is to be run, in order; the first is the baseline where no other is named."""
        levels: Mapping[str, Sequence[str]] = {
            "chunker": list(self.chunkers),
            "retriever": list(self.retrievers),
            "fusion": list(self.fusion),
            "reranker": list(self.rerankers),
        }
        chunked = [name for name in self.retrievers if self.needs_corpus(name)]
        fused = [name for name, part in self.retrievers.items() if part.kind == kinds.HYBRID]
        every = combinations(levels, self.k, chunked, fused)
        return one_at_a_time(every) if self.strategy == "one-at-a-time" else every

    @property
    def halves(self) -> bool:
        """Whether configurations are weeded out on the way."""
        many = self.strategy == "auto" and len(self.configurations) > self.most
        return many or self.strategy == "halving"

    @property
    def reranks(self) -> bool:
        """Whether anything is reranked, which needs texts."""
        return any(part.kind != kinds.NONE for part in self.rerankers.values())

    def needs_corpus(self, name: str) -> bool:
        """Whether a retriever is built of the documents, so that chunking makes a difference."""
        part = self.retrievers[name]
        if part.kind == kinds.HYBRID:
            return any(map(self.needs_corpus, part.of))
        return part.kind not in (kinds.CALL, kinds.GIVEN)

    def finds_chunks(self, name: str) -> bool:
        """Whether what a retriever finds are the pieces of a chunker; one that is only called finds documents."""
        part = self.retrievers[name]
        if part.kind == kinds.HYBRID:
            return all(map(self.finds_chunks, part.of))
        return part.kind not in (kinds.CALL, kinds.GIVEN)

    def cost(self, configuration: Configuration) -> float:
        """What 1,000 questions cost."""
        levels = zip(
            (self.chunkers, self.fusion, self.rerankers), ("chunker", "fusion", "reranker"), strict=True
        )
        used = [parts[configuration.level(f)] for parts, f in levels if configuration.level(f) != NOT_USED]
        return sum(part.cost for part in used) + self._cost_of(configuration.retriever)

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
    retrievers = _retrievers(source)
    return Plan(
        chunkers=_chunkers(source),
        retrievers=retrievers,
        fusion=_fusion(source, [part for part in retrievers.values() if part.kind == kinds.HYBRID]),
        rerankers=_rerankers(source),
        limits=_limits(source),
        **_settings(source),
    )


# --- parts ------------------------------------------------------------------------------------------


def _chunkers(source: Source) -> dict[str, Part]:
    def wrap(name: str, given: Any) -> Part | None:
        made = isinstance(given, Chunker)
        return Part(name, kinds.GIVEN, given.settings, given=given, label=name) if made else None

    parts = parts_of(source, "chunkers", wrap) if source.data.get("chunkers") else [Part("whole", kinds.NONE)]
    for part in parts:
        kinds.check_chunker(source, part)
    return _by_name(parts)


def _retrievers(source: Source) -> dict[str, Part]:
    def wrap(name: str, given: Any) -> Part | None:
        if isinstance(given, (int, float, list)):
            return None
        made = adapted(given)  # what cannot be asked is an error now
        return Part(name, kinds.GIVEN, {"given": name, "settings": made.settings}, given=given, label=name)

    parts = [_located(source, part) for part in parts_of(source, "retrievers", wrap)]
    if not parts:
        raise UsageError(
            f"{source.name}: no retrievers. Next: add a table [retrievers] with a line like  "
            'words = { kind = "keyword" }.'
        )
    labels = {part.label for part in parts}
    for part in parts:
        kinds.check_retriever(source, part)
        _check_of(source, part, labels)
    _check_cycles(source, {part.label: part.of for part in parts})
    return _by_name(_expanded([kinds.with_source(part) for part in parts]))


def _located(source: Source, part: Part) -> Part:
    """The part with the path of an endpoint's file as it is seen from here."""
    call = part.options.get("call")
    if not isinstance(call, str) or not call.lower().endswith(".toml"):
        return part
    return replace(part, options={**part.options, "call": source.path(call)})


def _check_of(source: Source, part: Part, known: set[str]) -> None:
    if part.kind != kinds.HYBRID and part.of:
        raise UsageError(
            f'{source.where("retrievers", part.label, "of")}: only a hybrid is made of others. Next: kind = "hybrid".'
        )
    if part.kind == kinds.HYBRID and len(part.of) < 2:
        raise UsageError(
            f"{source.where('retrievers', part.label)}: a hybrid needs two retrievers or more. Next: add  "
            'of = ["...", "..."].'
        )
    for each in part.of:
        if each not in known:
            raise one_of(source.where("retrievers", part.label, "of"), each, sorted(known))


def _check_cycles(source: Source, of: Mapping[str, Sequence[str]]) -> None:
    """Refuse retrievers that are made of themselves."""

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


def _expanded(parts: Sequence[Part]) -> list[Part]:
    """Hybrids of every variant of what they are made of; parts before wholes."""
    by_label: dict[str, list[Part]] = {}
    for part in parts:
        by_label.setdefault(part.label, []).append(part)

    def variants(label: str) -> list[Part]:
        return [made for part in by_label[label] for made in _of_variants(part)]

    def _of_variants(part: Part) -> list[Part]:
        choices = list(product(*(variants(each) for each in part.of)))
        if len(choices) == 1:
            return [replace(part, of=tuple(each.name for each in choices[0]))]
        return [
            replace(part, name=f"{part.name}[{'+'.join(x.name for x in c)}]", of=tuple(x.name for x in c))
            for c in choices
        ]

    return [made for label in by_label for made in variants(label)]


def _fusion(source: Source, hybrids: Sequence[Part]) -> dict[str, Part]:
    parts = parts_of(source, "fusion", lambda name, given: None) or [Part("rrf", "rrf")]
    for part in parts:
        kinds.check_fusion(source, part, hybrids)
    return _by_name(parts)


def _rerankers(source: Source) -> dict[str, Part]:
    def wrap(name: str, given: Any) -> Part | None:
        if not callable(given):
            return None
        return Part(name, kinds.GIVEN, {"given": name, "settings": described(given)}, given=given, label=name)

    parts = parts_of(source, "rerankers", wrap) or [Part("none", kinds.NONE)]
    for part in parts:
        kinds.check_reranker(source, part)
    return _by_name([kinds.with_source(part) for part in parts])


def _by_name(parts: Sequence[Part]) -> dict[str, Part]:
    return {part.name: part for part in parts}


# --- settings ---------------------------------------------------------------------------------------


def _settings(source: Source) -> dict[str, Any]:
    data = source.data
    ks = _ks(source)
    found: dict[str, Any] = {"k": ks, "measures": _measures(source)}
    found["depth"] = max(_whole(source, "depth", data.get("depth", Plan.depth), 1), *ks)
    if "most" in data:
        found["most"] = _whole(source, "most", data["most"], 1)
    if "seed" in data:
        found["seed"] = _whole(source, "seed", data["seed"], 0)
    if "strategy" in data:
        if data["strategy"] not in STRATEGIES:
            raise one_of(source.where("strategy"), data["strategy"], STRATEGIES)
        found["strategy"] = data["strategy"]
    if "held_out" in data:
        found["held_out"] = _share(source, data["held_out"])
    return found


def _ks(source: Source) -> tuple[int, ...]:
    given = source.data.get("k", 10)
    listed = given if isinstance(given, list) and given else [given]
    return tuple(dict.fromkeys(_whole(source, "k", each, 1) for each in listed))


def _measures(source: Source) -> tuple[str, ...]:
    data = source.data
    more = data.get("measures", [])
    first = [data["measure"]] if "measure" in data else [] if more else ["nDCG@10"]
    return tuple(dict.fromkeys(str(each) for each in [*first, *([more] if isinstance(more, str) else more)]))


def _limits(source: Source) -> dict[str, Any]:
    table = source.data.get("limits", {})
    if not isinstance(table, Mapping):
        raise UsageError(
            f"{source.where('limits')}: got {shorten(table)}, expected a table. Next: write a table."
        )
    if table:
        source.check_keys(Limits.__annotations__, "limits")
    return dict(table)


def _whole(source: Source, name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UsageError(
            f"{source.where(name)}: got {shorten(value)}, expected a whole number of at least {least}."
            " Next: write that many or more."
        )
    return value


def _share(source: Source, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1:
        raise UsageError(
            f"{source.where('held_out')}: got {shorten(value)}, expected a share of the questions like 0.5; 0 holds "
            "none out."
            " Next: write a share."
        )
    return float(value)


def baseline_of(source: Source, plan: Plan, names: Sequence[str]) -> str:
    """The configuration that the others are compared with: the one named, else the first."""
    given = source.data.get("baseline")
    if given is not None and given not in names:
        raise one_of(source.where("baseline"), given, names)
    return given if given is not None else names[0]
