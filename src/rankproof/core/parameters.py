"""What a measure declares beside its formula: the kinds of its parameters, and the sections of its docstring.

A measure names its parameters with these types, which check a value and say what they expect when it is made:

    def precision(h: Hits, k: Cutoff = None, rel: Grade = 1) -> PerQuery: ...
"""

from __future__ import annotations

import ast
import inspect
import math
import re
import sys
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin

from rankproof.document.model import Displayable
from rankproof.errors import UsageError, is_one_of, one_of, shorten


@dataclass(frozen=True)
class Kind(Displayable):
    """How a value is checked, and what the message says was expected."""

    expected: str
    fits: Callable[[Any], bool]
    cast: Callable[[Any], Any]

    def check(self, owner: str, name: str, value: Any) -> Any:
        """The value in its canonical form, or a UsageError."""
        if isinstance(value, bool) or not self.fits(value):
            large = isinstance(value, int | float) and abs(value) > DEEPEST  # its size alone is what is wrong
            smaller = ", and a smaller one" if large else ""
            raise UsageError(
                f"{owner}: {name} is {shorten(value)}, expected {self.expected}{smaller}. Next: give such a value."
            )
        return self.cast(value)


def _number(value: Any) -> Any:
    """An int where the value is whole, so that `rel=1.0` and `rel=1` are one measure."""
    return int(value) if float(value).is_integer() else float(value)


def _real(low: float, high: float, *, open_low: bool = False, open_high: bool = False) -> Callable[[Any], bool]:
    def fits(value: Any) -> bool:
        try:
            number = float(value) if isinstance(value, Real) else math.nan  # which is in no range
        except OverflowError:  # an integer of more than 308 digits
            return False
        above = number > low if open_low else number >= low
        return above and (number < high if open_high else number <= high)

    return fits


def _whole(most: int, *, optional: bool = False) -> Kind:
    def fits(value: Any) -> bool:
        return (optional and value is None) or (isinstance(value, Integral) and 1 <= int(value) <= most)

    return Kind("a whole number of at least 1", fits, lambda value: value and int(value))


def _gain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return bool(value) and all(_anything(x) for pair in value.items() for x in pair)
    return is_one_of(value, ("linear", "exp"))


LARGEST = 10**15
"""The largest number a parameter may be: what is computed with it stays a number."""
MOST = 10**9
"""The largest goal, weight or multiple: it is squared, and counted with."""
DEEPEST = 10**6
"""The deepest cut-off of a measure that weighs every rank down to it, be there a document or not."""

_anything = _real(-LARGEST, LARGEST)
_positive = _real(0, MOST, open_low=True)
_largest = _real(0, LARGEST, open_low=True)

Cutoff: TypeAlias = Annotated[int | None, _whole(LARGEST, optional=True)]
Depth: TypeAlias = Annotated[int | None, _whole(DEEPEST, optional=True)]
Count: TypeAlias = Annotated[int, _whole(DEEPEST)]
Grade: TypeAlias = Annotated[float, Kind("a finite number", _anything, _number)]
Number: TypeAlias = Annotated[float, Kind("a finite number", _anything, _number)]
Positive: TypeAlias = Annotated[float, Kind("a number above 0", _positive, _number)]
Maximum: TypeAlias = Annotated[
    float | None,
    Kind("a number above 0", lambda v: v is None or _largest(v), lambda v: v and _number(v)),
]
Scored: TypeAlias = Literal["any", "positive"]
"""Which documents can count as found: all, or those with a score above 0."""
Threshold: TypeAlias = Literal["rel", "query"]
"""From which grade on a document is relevant: `rel`, or what the grades of its own query say."""
Share: TypeAlias = Annotated[float, Kind("a number from 0 to 1", _real(0, 1), _number)]
Persistence: TypeAlias = Annotated[
    float, Kind("a number above 0 and below 1", _real(0, 1, open_low=True, open_high=True), _number)
]
GAIN = Kind(
    "'linear', 'exp' or a mapping of grade to gain",
    _gain,
    lambda v: {_number(g): _number(v[g]) for g in sorted(v)} if isinstance(v, Mapping) else v,
)
GainOf: TypeAlias = Annotated[Any, GAIN]


@dataclass(frozen=True)
class Parameter(Displayable):
    """One parameter of a measure: its name, default and kind."""

    name: str
    default: Any
    kind: Kind


def parameters_of(function: Callable[..., Any], skip: int = 1) -> dict[str, Parameter]:
    """The parameters of a measure function, those after its first `skip` arguments."""
    listed = list(inspect.signature(function, eval_str=True).parameters.values())[skip:]
    return {each.name: Parameter(each.name, each.default, _kind(function, each)) for each in listed}


def _kind(function: Callable[..., Any], parameter: inspect.Parameter) -> Kind:
    hint = parameter.annotation
    if get_origin(hint) is Annotated:
        kinds = [extra for extra in get_args(hint)[1:] if isinstance(extra, Kind)]
        if kinds:
            return kinds[0]
    if get_origin(hint) is Literal:
        words = get_args(hint)
        return _Choice("|".join(words), lambda value: is_one_of(value, words), str)
    raise UsageError(
        f"{function.__name__}: parameter {parameter.name!r} has no kind that could be checked. Next: annotate it with "
        "one of rankproof's kinds (Cutoff, Grade, Count, Number, Positive, Share, Persistence) or a Literal."
    )


class _Choice(Kind):
    """One of a few words."""

    def check(self, owner: str, name: str, value: Any) -> Any:
        if not self.fits(value):
            raise one_of(f"{owner}: {name}", value, self.expected.split("|"))
        return value


STRIPPED = 2
"""From this level of optimisation on, Python has dropped all docstrings."""


def docstring(thing: Any) -> str:
    """The docstring of a function, class or module; empty if it has none.

    >>> docstring(docstring).partition(";")[0]
    'The docstring of a function, class or module'
    """
    if sys.flags.optimize < STRIPPED:
        return inspect.getdoc(thing) or ""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(thing)))
    except (OSError, TypeError, SyntaxError):
        return ""
    body = tree if inspect.ismodule(thing) else tree.body[0]
    known = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return (ast.get_docstring(body) or "") if isinstance(body, known) else ""


FIELDS = ("Formula", "Range", "Perfect", "Worst", "Blind to", "Use", "Reference")
_START = re.compile(rf"^({'|'.join(FIELDS)}):\s*", re.DOTALL)


def sections(doc: str) -> dict[str, str]:
    """The fields of a docstring, each as one line of text.

    >>> sections("The title.\\n\\nFormula: a /\\nb.\\n\\nRange: 0 to 1.\\n\\n>>> 1\\n1")
    {'Formula': 'a / b.', 'Range': '0 to 1.'}
    """
    found = {}
    for paragraph in doc.split("\n\n"):
        start = _START.match(paragraph)
        if start:
            found[start[1]] = " ".join(paragraph[start.end() :].split())
    return found
