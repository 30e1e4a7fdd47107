"""The formats: each module of this package registers those that it prints. A format is a function of a document."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rankproof.errors import UsageError, check_one_of, in_order, one_of

if TYPE_CHECKING:
    from rankproof.document.model import Document

FULL, NOTEBOOK = "full", "notebook"
"""The formats of a text with everything, and of what a notebook shows."""


class OutputFormat(NamedTuple):
    """A format: its name, how it prints a document, and the endings of its files."""

    name: str
    render: Callable[[Document], str | bytes]
    endings: tuple[str, ...] = ()
    binary: bool = False
    """Whether it produces bytes, which only a file takes."""
    records: bool = False
    """Whether it has the records, rather than text about them."""
    general: bool = True
    """Whether every result has it; others name it in `more_formats`."""


_REGISTRY: dict[str, OutputFormat] = {}
ORDER = ("table", FULL, "markdown", "latex", "html", "pdf", "csv", "json", "jsonl", "parquet")
"""The order in which formats are listed; others follow by their names."""


def register(*formats: OutputFormat) -> None:
    """Register formats."""
    _REGISTRY.update({each.name: each for each in formats})


@cache
def _load(name: str = "") -> None:
    """Import the modules of formats until that one is known; without a name all of them."""
    if name.isidentifier():
        with suppress(ModuleNotFoundError):
            import_module(f"{__name__}.{name}")
    if name not in _REGISTRY:
        from pkgutil import iter_modules  # which takes as long as importing a format

        for each in iter_modules(__path__):
            if name in _REGISTRY:
                return
            import_module(f"{__name__}.{each.name}")


def formats_by_name() -> dict[str, OutputFormat]:
    """Every format by its name."""
    _load()
    names = sorted(_REGISTRY, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
    return {name: _REGISTRY[name] for name in names}


def names(*more: str) -> tuple[str, ...]:
    """The formats that every result has, and these."""
    return tuple(name for name, each in formats_by_name().items() if each.general or name in more)


def check(name: str, *more: str) -> OutputFormat:
    """The format of that name, if every result has it or it is one of `more`, before any work is done."""
    if isinstance(name, str) and name not in _REGISTRY:
        _load(name)
    found = _REGISTRY.get(name) if isinstance(name, str) else None
    if found is None or not (found.general or name in more):
        raise one_of("format", name, names(*more))
    return found


def of_ending(path: str | os.PathLike[str] | None) -> str | None:
    """The format that the ending of a file names; None if it names none.

    >>> of_ending("out.HTML"), of_ending("table.tex"), of_ending("notes.txt"), of_ending("what.xlsx")
    ('html', 'latex', 'full', None)
    """
    ending = Path(os.fspath(path or "")).suffix.lower()
    return next((name for name, each in formats_by_name().items() if ending in each.endings), None)


def from_ending(path: str | os.PathLike[str], offered: Iterable[str], what: str = "a file's ending") -> str:
    """The one of the formats `offered` that the ending of a file names; an error if it names none of them."""
    endings = {ending: name for name in offered for ending in formats_by_name()[name].endings}
    ending = Path(path).suffix.lower()
    check_one_of(what, ending, endings)
    return endings[ending]


def plain_data(value: Any) -> Any:
    """A result in the very types of JSON, and with its keys: other formats of data refuse more.

    >>> plain_data({"ends": (0.5, 1), True: 2, frozenset("ba"): {3}})
    {'ends': [0.5, 1], 'true': 2, '["a", "b"]': [3]}
    """
    if is_dataclass(value):
        return {each.name: plain_data(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        keys = (name if isinstance(name, str) else json.dumps(name) for name in map(plain_data, value))
        return dict(zip(keys, map(plain_data, value.values()), strict=True))
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_data(each) for each in in_order(value)]
    if isinstance(value, str):
        return str(value)
    return value.tolist() if hasattr(value, "tolist") else value  # of NumPy


def as_text(document: Document, form: OutputFormat) -> str:
    """The document in a text format."""
    made = None if form.binary else form.render(document)
    if not isinstance(made, str):
        raise UsageError(
            f"format: {form.name} is not a text format. Next: save it to a file, with .save('FILE{form.endings[0]}') "
            f"or in the shell -o FILE{form.endings[0]}."
        )
    return made
