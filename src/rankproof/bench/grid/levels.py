"""The levels of each factor, read from a grid's description and checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from rankproof.bench.adapters import adapted
from rankproof.bench.adapters.callables import described
from rankproof.bench.chunk import Chunker
from rankproof.bench.grid import kinds
from rankproof.bench.grid.filters import filter_parts
from rankproof.bench.grid.hybrids import check_hybrids, expanded
from rankproof.bench.grid.parts import Part, parts_of
from rankproof.bench.grid.source import Source
from rankproof.errors import UsageError

Levels = dict[str, Part]
"""The levels of one factor, by name."""


def chunkers(source: Source) -> Levels:
    """How documents are cut; whole where nothing is said."""

    def wrap(name: str, given: Any) -> Part | None:
        made = isinstance(given, Chunker)
        return Part(name, kinds.GIVEN, given.settings, given=given, label=name) if made else None

    parts = parts_of(source, "chunkers", wrap) or [Part("whole", kinds.NONE)]
    for part in parts:
        kinds.check_chunker(source, part)
    return _by_name(parts)


def retrievers(source: Source) -> Levels:
    """What searches; hybrids once for every variant of what they are made of."""

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
    for part in parts:
        kinds.check_retriever(source, part)
    check_hybrids(source, parts)
    return _by_name(expanded([kinds.with_source(part) for part in parts]))


def _located(source: Source, part: Part) -> Part:
    """The part with the path of an endpoint's file as it is seen from here."""
    call = part.options.get("call")
    if not isinstance(call, str) or not call.lower().endswith(".toml"):
        return part
    return replace(part, options={**part.options, "call": source.path(call)})


def filters(source: Source) -> Levels:
    """Which documents may be found; all where nothing is said."""
    return _by_name(filter_parts(source) or [Part("none", kinds.NONE)])


def fusions(source: Source, searched: Iterable[Part]) -> Levels:
    """How hybrids combine what they are made of."""
    hybrids = [part for part in searched if part.kind == kinds.HYBRID]
    parts = parts_of(source, "fusion", lambda name, given: None) or [Part("rrf", "rrf")]
    for part in parts:
        kinds.check_fusion(source, part, hybrids)
    return _by_name(parts)


def rerankers(source: Source) -> Levels:
    """What reorders the documents found; nothing where nothing is said."""

    def wrap(name: str, given: Any) -> Part | None:
        if not callable(given):
            return None
        return Part(name, kinds.GIVEN, {"given": name, "settings": described(given)}, given=given, label=name)

    parts = parts_of(source, "rerankers", wrap) or [Part("none", kinds.NONE)]
    for part in parts:
        kinds.check_reranker(source, part)
    return _by_name([kinds.with_source(part) for part in parts])


def rewriters(source: Source) -> Levels:
    """What is made of a question before it is asked; nothing where nothing is said."""

    def wrap(name: str, given: Any) -> Part | None:
        if not callable(given):
            return None
        return Part(name, kinds.GIVEN, {"given": name, "settings": described(given)}, given=given, label=name)

    parts = parts_of(source, "rewriters", wrap)
    for part in parts:
        kinds.check_rewriter(source, part)
    return _by_name([kinds.with_source(part) for part in parts])


def _by_name(parts: Sequence[Part]) -> Levels:
    return {part.name: part for part in parts}
