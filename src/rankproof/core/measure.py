"""Measures as values: what a function declares, its parameters, and one use of it.

A measure names its parameters with types, which check a value and say what they expect when it is made:

    def precision(h: Hits, k: Cutoff = None, rel: Grade = 1) -> PerQuery: ...
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral, Real
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin, overload

import numpy as np

from rankproof.core.arrays import gains
from rankproof.core.corpus import ShownDocument
from rankproof.core.hits import Array, Hits, PerQuery
from rankproof.core.judgments import Preferences
from rankproof.document.model import Displayable
from rankproof.errors import UsageError, UserCode, is_one_of, not_known, one_of, shorten
from rankproof.suggestions import docstring


@dataclass(frozen=True)
class ParameterKind(Displayable):
    """How a value is checked, and what the message says was expected."""

    expected: str
    fits: Callable[[Any], bool]
    cast: Callable[[Any], Any]
    words: tuple[str, ...] = ()
    """The words to choose from, if it is one of a few."""

    def check(self, owner: str, name: str, value: Any) -> Any:
        """The value in its canonical form, or a UsageError."""
        if self.words and not self.fits(value):
            raise one_of(f"{owner}: {name}", value, self.words)
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


def _whole(most: int, *, optional: bool = False) -> ParameterKind:
    def fits(value: Any) -> bool:
        return (optional and value is None) or (isinstance(value, Integral) and 1 <= int(value) <= most)

    return ParameterKind("a whole number of at least 1", fits, lambda value: value and int(value))


def _gain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return bool(value) and all(_anything(grade) and _not_negative(gain) for grade, gain in value.items())
    return is_one_of(value, ("linear", "exp"))


LARGEST = 10**15
"""The largest number a parameter may be: what is computed with it stays a number."""
MOST = 10**9
"""The largest goal, weight or multiple: it is squared, and counted with."""
DEEPEST = 10**6
"""The deepest cut-off of a measure that weighs every rank down to it, be there a document or not."""

_anything, _not_negative = _real(-LARGEST, LARGEST), _real(0, LARGEST)
_largest = _real(0, LARGEST, open_low=True)

Cutoff: TypeAlias = Annotated[int | None, _whole(LARGEST, optional=True)]
Depth: TypeAlias = Annotated[int | None, _whole(DEEPEST, optional=True)]
Count: TypeAlias = Annotated[int, _whole(DEEPEST)]
Grade: TypeAlias = Annotated[float, ParameterKind("a finite number", _anything, _number)]
Number: TypeAlias = Grade
Positive: TypeAlias = Annotated[float, ParameterKind("a number above 0", _real(0, MOST, open_low=True), _number)]
Maximum: TypeAlias = Annotated[
    float | None, ParameterKind("a number above 0", lambda v: v is None or _largest(v), lambda v: v and _number(v))
]
Scored: TypeAlias = Literal["any", "positive"]
"""Which documents can count as found: all, or those with a score above 0."""
Threshold: TypeAlias = Literal["rel", "query"]
"""From which grade on a document is relevant: `rel`, or what the grades of its own query say."""
Share: TypeAlias = Annotated[float, ParameterKind("a number from 0 to 1", _real(0, 1), _number)]
Persistence: TypeAlias = Annotated[
    float, ParameterKind("a number above 0 and below 1", _real(0, 1, open_low=True, open_high=True), _number)
]
GAIN = ParameterKind(
    "'linear', 'exp' or a mapping of grade to a gain of at least 0, others gaining themselves",
    _gain,
    lambda v: {_number(g): _number(v[g]) for g in sorted(v)} if isinstance(v, Mapping) else v,
)
GainOf: TypeAlias = Annotated[Any, GAIN]


@dataclass(frozen=True)
class Parameter(Displayable):
    """One parameter of a measure: its name, default and kind."""

    name: str
    default: Any
    kind: ParameterKind


def parameters_of(function: Callable[..., Any], skip: int = 1) -> dict[str, Parameter]:
    """The parameters of a measure function, those after its first `skip` arguments."""
    listed = list(inspect.signature(function, eval_str=True).parameters.values())[skip:]
    return {each.name: Parameter(each.name, each.default, _kind(function, each)) for each in listed}


def _kind(function: Callable[..., Any], parameter: inspect.Parameter) -> ParameterKind:
    inside = get_args(parameter.annotation)
    for extra in inside:
        if isinstance(extra, ParameterKind):
            return extra
    if get_origin(parameter.annotation) is Literal:
        return ParameterKind("|".join(inside), lambda value: is_one_of(value, inside), str, inside)
    raise UsageError(
        f"{function.__name__}: parameter {parameter.name!r} has no kind that could be checked. Next: annotate it with "
        "one of the kinds in rankproof.core.measure (Cutoff, Grade, Count, Number, Positive, Share, Persistence) or a "
        "Literal."
    )


Function = Callable[..., Any]
MeasureKind = Literal["ranking", "pair", "preference", "judged", "span"]
"""What a measure reads: hits of a ranking, two rankings, preferences between documents, verdicts, or spans of text."""

READS = {"ranking": (Hits,), "preference": (Preferences,), "span": (ShownDocument,), "pair": (list, tuple)}
"""What a measure of each kind is called with; one of a pair is called with two of them."""

DividesBy = Literal["none", "all", "returned", "shown"]
"""No relevant documents; all that are judged; those of the ranking; those down to the cut-off."""


@dataclass(frozen=True, eq=False)
class Spec(Displayable):
    """The declaration of a measure in the registry, without the parameters of one use."""

    name: str
    kind: MeasureKind
    function: Function
    parameters: Mapping[str, Parameter]
    also: Mapping[str, Mapping[str, Any]]
    """Other names, each with the parameters it stands for."""
    at: str | None
    """The parameter that `@` sets."""
    higher: bool
    """Whether more is better."""
    ceiling: Callable[..., PerQuery] | None = None
    """The highest reachable value; None: the measure on `h.ideal`."""
    aspects: bool = False
    """Whether it reads rows by aspect."""
    additive: bool = False
    """Whether it is a sum over rows divided by what no order changes: then means over ties are exact."""
    expected: Callable[..., PerQuery] | None = None
    """A closed form of the mean over tie orders."""
    worth: Literal["gain", "judged"] | None = None
    """The documents that come first in the best order: with high gains, or judged ones; None: no bounds are known."""
    reorder: bool = False
    """Whether a better order never hurts, so that the loss splits into retrieval and ranking."""
    optimistic: bool = False
    """Whether taking the unjudged as relevant bounds it from above."""
    average: Literal["mean", "sum", "geometric"] = "mean"
    """How the values of queries become one."""
    undefined: bool = True
    """Whether it has no value (0/0) for a query without relevant documents."""
    bounds: tuple[float, float] = (0.0, 1.0)
    """The least and the greatest value that a query can have; infinite if there is none."""
    bounds_at: Callable[[int], tuple[float, float]] | None = None
    """The same of one cut-off, where that sets them."""
    divides_by: DividesBy | None = None
    """Which relevant documents its divisor counts; None: it counts something else."""
    unjudged: Callable[..., tuple[PerQuery, PerQuery]] | None = None
    """Where it lies if unjudged documents are relevant, given hits, a grade and its parameters. None: it is bounded
    by the values with none and all of them relevant, where `optimistic` says so."""
    capped_by: Sequence[Literal["fewer", "more"]] = ()
    """The reason for a ceiling below 1 at k: queries with fewer relevant documents than k, or with more."""
    when: Mapping[tuple[str, Any], Mapping[str, Any]] = field(default_factory=dict)
    """What of the above is otherwise where a parameter has a certain value: {(name, value): {field: ...}}."""
    declared: Spec | None = None
    """The spec as it was declared, where parameters changed something."""

    @property
    def sign(self) -> int:
        """1 if more is better, else -1: values times the sign are compared so that more is better."""
        return 1 if self.higher else -1

    def with_parameters(self, params: Mapping[str, Any]) -> Spec:
        """The spec of one use of the measure, with what its parameters change."""
        base = self.declared or self
        merged: dict[str, Any] = {"bounds": base.bounds_at(params["k"])} if base.bounds_at and params.get("k") else {}
        for changed in (other for (name, value), other in base.when.items() if params.get(name) == value):
            merged |= changed
        return replace(base, **merged, declared=base) if merged else base

    @property
    def doc(self) -> str:
        """The docstring of the measure's function."""
        return docstring(self.function)

    @property
    def title(self) -> str:
        """The first line of the docstring."""
        return self.doc.partition("\n")[0]


@dataclass(frozen=True, eq=False)
class Measure:
    """A measure with its parameters: `P @ 5`, `nDCG(gain='exp') @ 10`.

    Called with Hits, it returns one number per query; called with parameters, it returns another measure.
    """

    spec: Spec
    given: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """The parameters that differ from their defaults, in the order of the function."""
    stated: frozenset[str] = frozenset()
    """The parameters that were written out, be it with their defaults: a profile leaves them alone."""

    @property
    def params(self) -> dict[str, Any]:
        """Every parameter with its value."""
        return {name: self.given.get(name, p.default) for name, p in self.spec.parameters.items()}

    def to_dict(self) -> dict[str, Any]:
        """What it measures, as plain data: the grades of a mapping are text, as JSON writes them."""
        params = self.params
        if isinstance(self.gain, Mapping):
            params["gain"] = {str(grade): gain for grade, gain in self.gain.items()}
        return {"measure": self.spec.name, "title": self.spec.title, "params": params}

    # What others may ask about the parameters, whichever of them a measure has.

    @property
    def cutoff(self) -> int | None:
        """The last rank that it looks at; None if it has no cut-off."""
        return self.params.get("k")

    @property
    def rel(self) -> float | None:
        """The grade from which on a document is relevant; None if it does not use one."""
        return self.params.get("rel")

    @property
    def threshold(self) -> str:
        """What sets that grade: "rel", or "query" for the grades of each query."""
        return str(self.params.get("threshold", "rel"))

    @property
    def gain(self) -> Any:
        """The gain of a grade, as a word or a mapping; None if the user cannot choose it."""
        own = self.spec.parameters.get("gain")
        return None if own is None or own.kind is not GAIN else self.given.get("gain", own.default)

    @property
    def scales_by_judgments(self) -> bool:
        """Whether the highest grade of the judgments sets what each grade is worth."""
        return "top_grade" in self.params and self.params["top_grade"] is None

    @property
    def steady(self) -> bool:
        """Whether its divisor is the same in every order, which one counted over the top k is not."""
        return self.spec.divides_by != "shown" or self.cutoff is None

    @cached_property
    def name(self) -> str:
        """The canonical name: it round-trips through `rankproof.core.names.parse`."""
        inside = {name: value for name, value in self.given.items() if name != self.spec.at}
        written = ", ".join(f"{name}={value!r}" for name, value in inside.items())
        at = self.given.get(self.spec.at) if self.spec.at else None
        return self.spec.name + (f"({written})" if written else "") + ("" if at is None else f"@{at}")

    def with_params(self, params: Mapping[str, Any]) -> Measure:
        """The same measure with these parameters set, each checked."""
        known = self.spec.parameters
        for name in params:
            if name not in known:
                said = f"{self.spec.name}: unknown parameter {name!r}, expected {', '.join(known) or 'none'}"
                judged = "--judged " if self.spec.kind == "judged" else ""
                raise not_known(said, name, known, f"see 'rankproof measures {judged}{self.spec.name}'")
        checked = {name: known[name].kind.check(self.spec.name, name, value) for name, value in params.items()}
        given = {name: value for name, value in {**self.params, **checked}.items() if value != known[name].default}
        return Measure(self.spec.with_parameters(given), MappingProxyType(given), self.stated.union(params))

    def __matmul__(self, at: Any) -> Measure:
        if self.spec.at is None:
            raise UsageError(f"{self.spec.name}: got @{at}, but this measure has no cut-off. Next: leave @{at} out.")
        if at is None:
            raise UsageError(
                f"{self.spec.name}: got @None, expected a cut-off; leave @ away for the whole list. "
                "Next: give a number like @10."
            )
        return self.with_params({self.spec.at: at})

    @overload
    def __call__(self, hits: Any, /, *args: Any, **params: Any) -> PerQuery: ...
    @overload
    def __call__(self, /, **params: Any) -> Measure: ...
    def __call__(self, /, *args: Any, **params: Any) -> Measure | PerQuery:
        """The values over hits, or the measure with these parameters."""
        if not args:
            return self.with_params(params)
        kinds, pair = READS.get(self.spec.kind, (object,)), self.spec.kind == "pair"
        fits = isinstance(args[0], kinds) and (not pair or (len(args) == 2 and isinstance(args[1], kinds)))
        if not fits:
            what = "two lists of document ids" if pair else kinds[0].__name__
            raise UsageError(
                f"{self.spec.name}: got {shorten(args if pair else args[0])}, expected parameters by name, or {what}. "
                "Next: write name=value, or give what it reads."
            )
        if params and self.spec.kind != "ranking":  # measures of rankings call each other often
            return self.with_params(params)(*args)
        given = {**self._arguments, **params} if params else self._arguments
        with UserCode(self.spec.function, "what is given to the measure", self.spec.name):
            return self.spec.function(*args, **given)  # type: ignore[no-any-return]

    @cached_property
    def _arguments(self) -> dict[str, Any]:
        """What is given, as the dict that a call is made from fastest."""
        return dict(self.given)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measure) and self.spec.function is other.spec.function and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return self.name


def seen_by(measure: Measure, hits: Hits) -> Hits:
    """The hits as the measure reads them: by aspect or by document."""
    return hits.aspects if measure.spec.aspects else hits


def worth(measure: Measure, hits: Hits) -> Array | None:
    """The gain of each row for the measure; None if no best order is known."""
    if measure.spec.worth is None or not measure.steady:
        return None
    return np.ones(len(hits.grade)) if measure.spec.worth == "judged" else row_gains(measure, hits)


def row_gains(measure: Measure, hits: Hits) -> Array:
    """What each row gains in the measure's own sense, whether or not a best order is known."""
    rel, gain = measure.rel, measure.gain
    if gain is not None or rel is None:
        counts = hits.grade >= rel if rel is not None and rel > 0 else True
        return np.where(counts, gains(hits.grade, gain or "linear"), 0.0)
    return np.where(hits.grade >= rel, hits.grade - rel + 1, 0.0)


def known_extremes(measure: Measure, hits: Hits) -> tuple[PerQuery, PerQuery] | None:
    """The lowest and highest values where it is known which order is best; else None."""
    value = worth(measure, hits)
    if value is None:
        return None
    orders = hits.tied_by(value), hits.tied_by(value, against=True)
    one, other = (measure(each.aspects if measure.spec.aspects else each) for each in orders)
    return np.minimum(one, other), np.maximum(one, other)
