"""Hybrids: what they are made of, and one of them for every variant of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

from rankproof.bench.grid.kinds import HYBRID
from rankproof.bench.grid.parts import Part
from rankproof.bench.grid.source import Source
from rankproof.errors import UsageError, one_of


def check_hybrids(source: Source, parts: Sequence[Part]) -> None:
    """Refuse hybrids of fewer than two, of what there is not, and of themselves."""
    labels = {part.label for part in parts}
    for part in parts:
        _check_of(source, part, labels)
    _check_circles(source, {part.label: part.of for part in parts})


def _check_of(source: Source, part: Part, known: set[str]) -> None:
    if part.kind != HYBRID and part.of:
        raise UsageError(
            f'{source.where("retrievers", part.label, "of")}: only a hybrid is made of others. Next: kind = "hybrid".'
        )
    if part.kind == HYBRID and len(part.of) < 2:
        raise UsageError(
            f"{source.where('retrievers', part.label)}: a hybrid needs two retrievers or more. Next: add  "
            'of = ["...", "..."].'
        )
    for each in part.of:
        if each not in known:
            raise one_of(source.where("retrievers", part.label, "of"), each, sorted(known))


def _check_circles(source: Source, of: Mapping[str, Sequence[str]]) -> None:
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


def expanded(parts: Sequence[Part]) -> list[Part]:
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
