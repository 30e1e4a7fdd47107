"""The source of a grid's description, and the parts that it describes."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from rankproof.bench.adapters import adapt
from rankproof.bench.adapters.adapter import describe
from rankproof.bench.chunk import Chunker
from rankproof.errors import DataError, UsageError, check_number, nearest, shorten
from rankproof.io.files import read_bytes, text_of

TABLE = re.compile(r"\s*\[+\s*([^\]]+?)\s*\]+")


@dataclass(frozen=True, slots=True)
class GridSource:
    """The description of a grid, which knows the lines of its keys."""

    data: Mapping[str, Any]
    name: str = "grid"
    text: str = ""
    folder: Path = Path()
    """The folder that relative paths start from."""

    def where(self, *keys: str) -> str:
        """The place of a key, with its line if there is one.

        >>> GridSource({}, "bench.toml", "k = 5\\n[chunkers]\\nsmall = 1\\n").where("chunkers", "small")
        'bench.toml, line 3, chunkers.small'
        """
        line = line_of(self.text, keys)
        return f"{self.name}{f', line {line}' if line else ''}, {'.'.join(map(str, keys))}"

    def path(self, given: str) -> str:
        """A path in the description, which is relative to its folder, as a path from the working folder."""
        return given if os.path.isabs(given) else str(self.folder / given)

    def check_keys(self, known: Iterable[str], *keys: str) -> None:
        """Refuse an unknown key in the table at `keys`."""
        table: Any = self.data
        for key in keys:
            table = table[key]
        expected = list(known)
        for key in table:
            if key not in expected:
                raise UsageError(
                    f"{self.where(*keys, key)}: unknown key {key!r}, expected one of "
                    f"{', '.join(expected)}.{nearest(key, expected)} Next: leave it out, or write one of these."
                )


def source_of(given: Any) -> GridSource:
    """The grid in a TOML file or a mapping.

    >>> source_of({"k": 5}).data
    {'k': 5}
    """
    if isinstance(given, Mapping):
        return GridSource(given)
    if not isinstance(given, (str, os.PathLike)):
        raise UsageError(
            f"grid: got {shorten(given)}, expected the path of a TOML file, or a mapping. Next: give one of these."
        )
    name = os.fspath(given)
    text = text_of(read_bytes(name), name)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{name}: not TOML: {error}. Next: correct that line.") from error
    return GridSource(data, name, text, Path(name).parent)


def line_of(text: str, keys: Iterable[str]) -> int | None:
    """The line on which a key is set; if that is not known, the line of its table.

    >>> line_of("a = 1\\n[b]\\nc = 2\\n[b.d]\\ne = 3\\n", ("b", "d", "e"))
    5
    """
    path, table, best = list(keys), [], None
    depth = 0
    for number, line in enumerate(text.splitlines(), start=1):
        header = TABLE.match(line)
        own = line.split("#")[0].partition("=")
        if header:
            table = _names(header[1])
            full = table
        else:
            full = [*table, *_names(own[0])] if own[1] else []
        if full and full == path[: len(full)] and len(full) > depth:
            best, depth = number, len(full)
    return best


def _names(dotted: str) -> list[str]:
    return [each.strip().strip("\"'") for each in dotted.split(".")]


OWN = ("kind", "of", "cost")
"""Keys of a part that are not options of its kind."""

CALLING = ("retrievers", "rerankers", "rewriters")
"""Factors whose parts may be functions, endpoints, commands; no kind is written with a colon, a dot or a blank."""

NONE, CALL, GIVEN, HYBRID = "none", "call", "given", "hybrid"
IMPLIED = {"call": CALL, "of": HYBRID}
"""Keys that say what kind a part is where nothing else does."""


@dataclass(frozen=True)
class GridPart:
    """One level of a factor."""

    name: str
    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)
    of: tuple[str, ...] = ()
    """The retrievers that a hybrid combines."""
    cost: float = 0.0
    """The cost of 1,000 questions, in any currency."""
    given: Any = None
    """The object, if it was given as one."""
    label: str = ""
    """The name under which the grid's author knows it; its variants share it."""
    source: str | None = None
    """The digest of the code that it names."""

    @property
    def settings(self) -> dict[str, Any]:
        """Its description as plain data."""
        more = {"of": list(self.of) or None, "source": self.source}
        return {"kind": self.kind, **self.options, **{key: each for key, each in more.items() if each}}


def parts_of(source: GridSource, factor: str) -> Iterator[GridPart]:
    """The parts of one factor: a word is a kind, or what is called; a table has a kind and options, of which a
    list of values makes variants."""
    for name, given in table_of(source, factor).items():
        if isinstance(given, str):
            calls = factor in CALLING and any(sign in given for sign in ":. ")
            given = {"call" if calls else "kind": given}
        if isinstance(given, Mapping):
            yield from _variants(source, factor, name, given)
        elif (part := _given(factor, name, given)) is not None:
            yield part
        else:
            raise UsageError(
                f"{source.where(factor, name)}: got {shorten(given)}, expected a kind, or a table with one."
                " Next: write one of these."
            )


def table_of(source: GridSource, factor: str) -> Mapping[str, Any]:
    """The table of a factor's levels by name; empty if there is none."""
    table = source.data.get(factor, {})
    if not isinstance(table, Mapping):
        raise UsageError(
            f"{source.where(factor)}: got {shorten(table)}, expected a table of names, like "
            f'[{factor}] and a line  name = {{ kind = "..." }}.'
            " Next: write the table so."
        )
    return table


def _given(factor: str, name: str, given: Any) -> GridPart | None:
    """The part of an object that is neither a word nor a table; None if the factor takes no such object."""
    if factor == "chunkers" and isinstance(given, Chunker):
        return GridPart(name, GIVEN, given.settings, given=given, label=name)
    if factor == "retrievers" and not isinstance(given, (int, float, list)):
        settings = adapt(given).settings  # what cannot be asked is an error now
    elif factor in ("rerankers", "rewriters") and callable(given):
        settings = describe(given)
    else:
        return None
    return GridPart(name, GIVEN, {"given": name, "settings": settings}, given=given, label=name)


def _variants(source: GridSource, factor: str, name: str, given: Mapping[str, Any]) -> Iterator[GridPart]:
    kind = given.get("kind", next((each for key, each in IMPLIED.items() if key in given), None))
    if not isinstance(kind, str):
        raise UsageError(f'{source.where(factor, name)}: no kind given. Next: add  kind = "...".')
    of = given.get("of", [])
    if not isinstance(of, (list, tuple)) or not all(isinstance(each, str) for each in of):
        raise UsageError(
            f"{source.where(factor, name, 'of')}: got {shorten(of)}, expected a list of names. Next: write a list."
        )
    where = source.where(factor, name, "cost")
    cost = check_number(where, given.get("cost", 0), least=0, advice="write what 1,000 questions cost")
    options = {key: value for key, value in given.items() if key not in OWN}
    for chosen, said in option_combinations(options):
        yield GridPart(f"{name}{said}", kind, chosen, tuple(of), cost, label=name)


def option_combinations(options: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Every combination of options of which some are lists of values, and in brackets what tells it apart.

    >>> list(option_combinations({"size": [50, 100], "unit": "words"}))
    [({'size': 50, 'unit': 'words'}, '[size=50]'), ({'size': 100, 'unit': 'words'}, '[size=100]')]
    """
    many = {key for key, value in options.items() if isinstance(value, list)}
    choices = [value if key in many else [value] for key, value in options.items()]
    for values in product(*choices):
        chosen = dict(zip(options, values, strict=True))
        said = ", ".join(f"{key}={chosen[key]}" for key in options if key in many)
        yield chosen, f"[{said}]" if said else ""
