"""How results are shown: `repr` in one short line, in a notebook as text.

`Displayable` is the base of all results of public functions. A class has its one-line form in `_in_one_line`
and its text in `__str__`; the rest follows. Tables are shown by `Result`, whose base it is.
"""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import asdict, fields, is_dataclass
from typing import Any

from rankproof.document.terminal import first_columns, width

LONGEST = 100
"""The largest width of the `repr` of a result."""
VALUE, FEW = 32, 4
"""The largest width of one value in it; the number of parts that are written out."""
TEXT = "white-space:pre-wrap;margin:.5em 0;background:none"


class Displayable:
    """A result that is shown: `repr` is one short line, and a notebook shows its text."""

    __slots__ = ()

    def __init_subclass__(cls, **settings: Any) -> None:
        # Here rather than by inheritance, as @dataclass keeps only a `__repr__` of the class itself.
        super().__init_subclass__(**settings)
        if "__repr__" not in vars(cls):
            cls.__repr__ = Displayable.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        return one_line(self._in_one_line())

    def _in_one_line(self) -> str:
        """Its description in one line; long ones are cut."""
        this: Any = self
        if not is_dataclass(this):
            count = f" of {len(this):,}" if isinstance(this, Sized) else ""
            return f"<{type(self).__name__}{count}>"
        shown = (f"{f.name}={brief_repr(getattr(self, f.name))}" for f in fields(this) if f.repr and f.name[0] != "_")
        return f"{type(self).__name__}({', '.join(shown)})"

    def _repr_html_(self) -> str:
        from html import escape  # imported here, as it loads all HTML entities

        if type(self).__str__ is not object.__str__:
            return f'<div><pre style="{TEXT}">{escape(str(self))}</pre></div>'
        return f"<code>{escape(repr(self))}</code>"


class PlainData(Displayable):
    """A row, an entry or the like: a dataclass whose fields are plain data."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        this: Any = self
        return asdict(this)


def one_line(text: str, limit: int = LONGEST) -> str:
    """The text in one line of at most `limit` columns, with its last character kept.

    >>> one_line("<Scores of 3 queries: RR=0.5, AP=0.25>", 30)
    '<Scores of 3 queries: RR= ...>'
    """
    text = "".join(each if each.isprintable() else " " for each in text)
    if width(text) <= limit:
        return text
    return f"{first_columns(text, limit - 5).rstrip(' ,')} ...{text[-1]}"


def brief_repr(value: Any) -> str:
    """A value inside a line; a long one is described by its type and size, without writing it out first.

    >>> brief_repr("a"), brief_repr((1, 2)), brief_repr(["long"] * 9), brief_repr(dict.fromkeys(range(99)))
    ("'a'", '(1, 2)', '<list of 9>', '<dict of 99>')
    """
    if isinstance(value, str):
        return repr(value if len(value) <= VALUE else f"{value[: VALUE - 3]}...")
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    if isinstance(value, Displayable):
        return f"<{type(value).__name__}>"
    if _small(value):
        return repr(value)
    if isinstance(value, Sized) and getattr(value, "shape", None) != ():
        return f"<{type(value).__name__} of {len(value):,}>"
    return one_line(repr(value), VALUE)


def _small(value: Any, deep: int = 4) -> bool:
    """Whether a value is written out: a word, a number, or a few of them."""
    if isinstance(value, dict | tuple | list):
        within = value.items() if isinstance(value, dict) else value
        return len(value) <= FEW and deep > 0 and all(_small(each, deep - 1) for each in within)
    return value is None or isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) < 20)
