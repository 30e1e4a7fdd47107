"""Documents without an id: what they have instead, and where the id may be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rankproof.bench.adapters.failed import Failed
from rankproof.errors import nearest
from rankproof.io.fields import DOCUMENT_TEXT, METADATA

SHOWN = 12
"""Fields that are named."""
NO_ID = (*DOCUMENT_TEXT, *METADATA, "score", "_score")
"""Fields that are something else, whatever is in them."""


def fields_of(item: Any) -> list[str]:
    """The names under which a document has something: keys, or attributes, slots and properties of an object.

    >>> class Page:
    ...     __slots__ = ("path",)
    ...     @property
    ...     def body(self): return ""
    >>> fields_of(Page()), fields_of({"path": "a", "metadata": {"row": 1}}), fields_of(7)
    (['path', 'body'], ['path', 'metadata', 'row'], [])
    """
    if isinstance(item, Mapping):
        return [*map(str, item), *_inside(item)]
    if type(item).__module__ == "builtins":
        return []
    names = [name for name in _attributes(item) if not name.startswith("_")]
    return list(dict.fromkeys([*names, *_inside(getattr(item, "__dict__", {}))]))


def _inside(record: Mapping[str, Any]) -> list[str]:
    """The names in its metadata, where ids are looked for too."""
    found: Any = next((record[place] for place in METADATA if isinstance(record.get(place), Mapping)), {})
    return list(map(str, found))


def _attributes(item: Any) -> Iterator[str]:
    yield from getattr(item, "__dict__", ())
    kinds = [kind for kind in type(item).__mro__ if kind.__module__ != "builtins"]
    for kind in kinds:
        slots = vars(kind).get("__slots__", ())
        yield from (slots,) if isinstance(slots, str) else slots
    for kind in kinds:
        yield from _properties(kind)


def _properties(kind: type) -> Iterable[str]:
    return [name for name, value in vars(kind).items() if isinstance(value, property)]


def no_id(item: Any, asked: object) -> Failed:
    """The failure for a document whose id is not where it was looked for."""
    fields = fields_of(item)
    what = "a document without an id" if not isinstance(asked, str) else f"a document without {asked!r}"
    near = nearest(asked, fields) if isinstance(asked, str) else ""
    return Failed(f"{what} (it has {_listed(fields)}).{near} Next: {_next(item, fields, asked)}")


def _listed(fields: list[str]) -> str:
    more = ", ..." if len(fields) > SHOWN else ""
    return ", ".join(fields[:SHOWN]) + more if fields else "no fields"


def _next(item: Any, fields: list[str], asked: object) -> str:
    """How to name the field that may have it."""
    able = [name for name in fields if name not in NO_ID and name != asked and _may_be_id(item, name)]
    if callable(asked) or not able:
        return "give the documents ids"
    near = nearest(asked, able) if isinstance(asked, str) else ""
    name = next((each for each in able if repr(each) in near), able[0])
    return f'give the documents ids, or name the field with it: id="{name}", in the shell --id {name}'


def _may_be_id(item: Any, name: str) -> bool:
    own = item if isinstance(item, Mapping) else getattr(item, "__dict__", {})
    return isinstance(own.get(name, ""), (str, int)) and not isinstance(own.get(name), bool)
