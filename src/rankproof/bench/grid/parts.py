"""The parts that a grid combines: chunkers, retrievers, fusions, rerankers, each with its variants."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from rankproof.bench.grid.source import Source
from rankproof.errors import UsageError, shorten

OWN = ("kind", "of", "cost")
"""Keys of a part that are not options of its kind."""


CALLING = ("retrievers", "rerankers", "rewriters")
"""Factors whose parts may be functions, endpoints, commands; no kind is written with a colon, a dot or a blank."""

IMPLIED = {"call": "call", "of": "hybrid"}
"""Keys that say what kind a part is where nothing else does."""


@dataclass(frozen=True)
class Part:
    """One level of a factor."""

    name: str
    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)
    of: tuple[str, ...] = ()
    """The retrievers that a hybrid combines."""
    cost: float = 0.0
    """What 1,000 questions cost, in whatever money."""
    given: Any = None
    """What it is, where it was given as an object."""
    label: str = ""
    """The name under which the grid's author knows it; its variants share it."""
    source: str | None = None
    """The digest of the code that it names."""

    @property
    def settings(self) -> dict[str, Any]:
        """What it is, as plain data."""
        more = {"of": list(self.of) or None, "source": self.source}
        return {"kind": self.kind, **self.options, **{key: each for key, each in more.items() if each}}


Wrap = Callable[[str, Any], Part | None]
"""Makes a part of an object that is neither a word nor a table; None where it cannot."""


def parts_of(source: Source, factor: str, wrap: Wrap) -> list[Part]:
    """The parts of one factor: a word is a kind, or what is called; a table has a kind and options, of which a
    list of values makes variants."""
    return [
        part
        for name, given in table_of(source, factor).items()
        for part in _variants(source, factor, name, given, wrap)
    ]


def table_of(source: Source, factor: str) -> Mapping[str, Any]:
    """The table of a factor's levels by name; empty where there is none."""
    table = source.data.get(factor, {})
    if not isinstance(table, Mapping):
        raise UsageError(
            f"{source.where(factor)}: got {shorten(table)}, expected a table of names, like "
            f'[{factor}] and a line  name = {{ kind = "..." }}.'
            " Next: write the table so."
        )
    return table


def _variants(source: Source, factor: str, name: str, given: Any, wrap: Wrap) -> Iterator[Part]:
    if isinstance(given, str):
        calls = factor in CALLING and any(sign in given for sign in ":. ")
        given = {"call" if calls else "kind": given}
    if not isinstance(given, Mapping):
        made = wrap(name, given)
        if made is None:
            raise UsageError(
                f"{source.where(factor, name)}: got {shorten(given)}, expected a kind, or a table with one."
                " Next: write one of these."
            )
        yield made
        return
    kind = given.get("kind", next((each for key, each in IMPLIED.items() if key in given), None))
    if not isinstance(kind, str):
        raise UsageError(f'{source.where(factor, name)}: no kind given. Next: add  kind = "...".')
    of, cost = _of(source, factor, name, given), _cost(source, factor, name, given)
    options = {key: value for key, value in given.items() if key not in OWN}
    for chosen, said in combined(options):
        yield Part(f"{name}{said}", kind, chosen, of, cost, label=name)


def combined(options: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Every combination of options of which some are lists of values, and in brackets what tells it apart.

    >>> list(combined({"size": [50, 100], "unit": "words"}))
    [({'size': 50, 'unit': 'words'}, '[size=50]'), ({'size': 100, 'unit': 'words'}, '[size=100]')]
    """
    many = {key for key, value in options.items() if isinstance(value, list)}
    choices = [value if key in many else [value] for key, value in options.items()]
    for values in product(*choices):
        chosen = dict(zip(options, values, strict=True))
        said = ", ".join(f"{key}={chosen[key]}" for key in options if key in many)
        yield chosen, f"[{said}]" if said else ""


def _of(source: Source, factor: str, name: str, given: Mapping[str, Any]) -> tuple[str, ...]:
    of = given.get("of", [])
    if not isinstance(of, (list, tuple)) or not all(isinstance(each, str) for each in of):
        raise UsageError(
            f"{source.where(factor, name, 'of')}: got {shorten(of)}, expected a list of names."
            " Next: write a list."
        )
    return tuple(of)


def _cost(source: Source, factor: str, name: str, given: Mapping[str, Any]) -> float:
    cost = given.get("cost", 0)
    if isinstance(cost, bool) or not isinstance(cost, (int, float)) or not 0 <= cost < float("inf"):
        raise UsageError(
            f"{source.where(factor, name, 'cost')}: got {shorten(cost)}, expected what 1,000 questions cost."
            " Next: write a number."
        )
    return float(cost)
