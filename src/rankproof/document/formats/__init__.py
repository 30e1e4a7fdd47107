"""The formats by name. Each module beside this one registers its own: a new format is a new module, and nothing else.

`Result` is the base of everything that can be printed: it makes its document in `_document`, and inherits every verb.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from rankproof.document.disk import check_free, write_file
from rankproof.document.display import Displayable
from rankproof.document.model import Document
from rankproof.errors import UsageError, one_of

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


def as_text(document: Document, form: OutputFormat) -> str:
    """The document in a text format."""
    made = "" if form.binary else form.render(document)
    if not isinstance(made, str) or form.binary:
        raise UsageError(
            f"format: {form.name} is not a text format. Next: save it to a file, with .save('FILE{form.endings[0]}') "
            "or in the "
            f"shell -o FILE{form.endings[0]}."
        )
    return made


def print_as(result: Result, name: str, **settings: Any) -> str | bytes:
    """The result in a format, which may be one that only a file takes; `settings` as for its `format`."""
    form = check(name, *result.more_formats)
    return form.render(result._document(**settings))


class Result(Displayable):
    """A result of a public function: printed in every format, from its document."""

    __slots__ = ()
    more_formats: ClassVar[tuple[str, ...]] = ()
    """Formats that only results of this kind have."""
    _document: Callable[..., Document]
    """The hook for subclasses: the document to print. Its arguments are those that `format` takes beside the name."""

    @classmethod
    def formats(cls) -> tuple[str, ...]:
        """The names that `format` and `save` take."""
        return names(*cls.more_formats)

    def format(self, name: str = "table") -> str:
        """The result as text in the format of that name, one of `formats()`."""
        return self._printed(name)

    def _printed(self, name: str, **settings: Any) -> str:
        form = check(name, *self.more_formats)
        return as_text(self._document(**settings), form)

    def markdown(self) -> str:
        """The result in markdown."""
        return self.format("markdown")

    def html(self) -> str:
        """The result as one self-contained page."""
        return self.format("html")

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the format that the file's ending names, and return the path.

        An existing file is replaced only with `force`, or if it is a page of ours.
        """
        offered = {ending: name for name in self.formats() for ending in formats_by_name()[name].endings}
        ending = Path(path).suffix.lower()
        if ending not in offered:
            raise one_of("a file's ending", ending, offered)
        check_free(path, force=force)
        return write_file(path, print_as(self, offered[ending]), force=force)

    def __str__(self) -> str:
        return self.format()

    def _repr_html_(self) -> str:
        return str(check(NOTEBOOK, NOTEBOOK).render(self._document()))
