"""Measures as values: declared once by a function, named, checked, and found in the registry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from types import MappingProxyType
from typing import Any, Literal, overload

from rankproof.core.corpus import ShownDocument
from rankproof.core.hits import Hits, PerQuery
from rankproof.core.judgments import Preferences
from rankproof.core.parameters import GAIN, Parameter, docstring, parameters_of
from rankproof.document.model import Displayable
from rankproof.errors import UsageError, blame, nearest, shorten

Function = Callable[..., Any]
Kind = Literal["ranking", "pair", "preference", "judged", "span"]
"""What a measure reads: the hits of a ranking, two rankings, preferences between documents, verdicts,
or spans of text."""


READS: Mapping[str, type] = {"ranking": Hits, "preference": Preferences, "span": ShownDocument}
"""What a measure of each kind is called with; one of a pair is called with two lists."""


DividesBy = Literal["none", "all", "returned", "shown"]
"""No relevant documents; all that are judged; those of the ranking; those down to the cut-off."""


@dataclass(frozen=True, eq=False)
class Spec(Displayable):
    """The declaration of a measure in the registry, without the parameters of one use."""

    name: str
    kind: Kind
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

    def under(self, params: Mapping[str, Any]) -> Spec:
        """The spec of one use of the measure, with what its parameters change."""
        base = self.declared or self
        changes = [other for (name, value), other in base.when.items() if params.get(name) == value]
        merged = {name: value for other in changes for name, value in other.items()}
        return replace(base, **merged, declared=base) if merged else base

    @property
    def doc(self) -> str:
        """The docstring of the measure's function."""
        return docstring(self.function)

    @property
    def title(self) -> str:
        """The first line of the docstring."""
        return self.doc.partition("\n")[0]


ELSEWHERE = {
    "judged_only": "unjudged='skip' (--unjudged skip) leaves unjudged documents out of every measure; else ",
    "dcg": "gain='exp' is what dcg='exp-log2' is; else ",
    "gains": "gain={grade: gain} is what gains= is; else ",
}
"""Parameters of ir_measures that are written otherwise here."""


@dataclass(frozen=True, eq=False)
class Measure:
    """A measure with its parameters: `P @ 5`, `nDCG(gain='exp') @ 10`.

    Called with Hits it gives one number a query; called with parameters it gives another measure.
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
        """What it measures, as plain data."""
        return {"measure": self.spec.name, "title": self.spec.title, "params": self.params}

    # What others may ask about the parameters, whichever of them a measure has.

    @property
    def cutoff(self) -> int | None:
        """The rank below which it does not look; None: it has no cut-off."""
        return self.params.get("k")

    @property
    def rel(self) -> float | None:
        """The grade from which on a document is relevant; None: it does not ask for one."""
        return self.params.get("rel")

    @property
    def threshold(self) -> str:
        """What sets that grade: "rel", or "query" for the grades of each query."""
        return str(self.params.get("threshold", "rel"))

    @property
    def gain(self) -> Any:
        """What a grade is worth, as a word or a mapping; None if this is not for the user to say."""
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
                expected = ", ".join(known) or "none"
                elsewhere = ELSEWHERE.get(name, "") if name == "judged_only" or "gain" in known else ""
                raise UsageError(
                    f"{self.spec.name}: unknown parameter {name!r}, expected {expected}.{nearest(name, known)} "
                    f"Next: {elsewhere}see 'rankproof measures {self.spec.name}'."
                )
        checked = {name: known[name].kind.check(self.spec.name, name, value) for name, value in params.items()}
        merged = {**self.given, **checked}
        given = {name: merged[name] for name in known if name in merged and merged[name] != known[name].default}
        return Measure(self.spec.under(given), MappingProxyType(given), self.stated.union(params))

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
        expected = READS.get(self.spec.kind)
        if expected is not None and not isinstance(args[0], expected):
            raise UsageError(
                f"{self.spec.name}: got {shorten(args[0])}, expected parameters by name, or {expected.__name__}. "
                "Next: write name=value."
            )
        if self.spec.kind == "pair" and not (len(args) == 2 and all(isinstance(each, list | tuple) for each in args)):
            raise UsageError(
                f"{self.spec.name}: got {shorten(args)}, expected parameters by name, or two lists of document ids. "
                "Next: write name=value, or give two lists."
            )
        if params and self.spec.kind != "ranking":  # measures of rankings call each other often
            return self.with_params(params)(*args)
        given = {**self._arguments, **params} if params else self._arguments
        try:
            return self.spec.function(*args, **given)  # type: ignore[no-any-return]
        except Exception as error:
            blame(error, self.spec.function, f"what the measure {self.spec.name} is given")
            raise

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

    def __reduce__(self) -> tuple[Callable[..., Measure], tuple[str, dict[str, Any]]]:
        # In its module the function's name stands for the measure, so pickle cannot find the function.
        return _restored, (self.spec.name, {name: self.params[name] for name in sorted(self.stated)})


def _restored(name: str, given: Mapping[str, Any]) -> Measure:
    if name not in REGISTRY:
        raise UsageError(f"unknown measure {name!r}. Next: import the module that declares it, then load again.")
    return REGISTRY[name].with_params(given)


class Registry(MutableMapping[str, Measure]):
    """Measures by their canonical names, in the order in which they are listed; everyday ones are there at once.

    Whoever asks for another, or looks at all of them, has the rest loaded: few evaluations need it.
    """

    def __init__(self) -> None:
        self.loaded: dict[str, Measure] = {}
        """The loaded ones."""
        self.rest: Sequence[str] = ()
        """The modules that declare measures, in their order, until all of them are loaded."""

    def _whole(self) -> dict[str, Measure]:
        if self.rest:
            modules, self.rest = self.rest, ()
            for module in modules:
                import_module(module)
            places = {name: place for place, name in enumerate(modules)}
            place_of = lambda each: places.get(each[1].spec.function.__module__, len(places))  # noqa: E731
            self.loaded = dict(sorted(self.loaded.items(), key=place_of))
        return self.loaded

    def __getitem__(self, name: str) -> Measure:
        return self.loaded[name] if name in self.loaded else self._whole()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole())

    def __len__(self) -> int:
        return len(self._whole())

    def __setitem__(self, name: str, made: Measure) -> None:
        self.loaded[name] = made

    def __delitem__(self, name: str) -> None:
        del self._whole()[name]


REGISTRY = Registry()
"""Every measure by its canonical name, in the order of declaration."""

JUDGED: dict[str, Measure] = {}
"""Metrics over verdicts by name; they are declared where judges are, and are found after all measures."""

ALIASES: dict[str, Measure] = {}
"""Every other name, with the measure (and parameters) it stands for."""

CHANGES: list[str] = []
"""What was added to the registry or taken out of it, in order; its length tells caches that they are stale."""


def measure(
    name: str,
    *,
    kind: Kind = "ranking",
    also: Iterable[str] = (),
    presets: Mapping[str, Mapping[str, Any]] | None = None,
    at: str | None = "k",
    higher: bool = True,
    ceiling: Callable[..., PerQuery] | None = None,
    aspects: bool = False,
    additive: bool = False,
    expected: Callable[..., PerQuery] | None = None,
    worth: Literal["gain", "judged"] | None = "gain",
    reorder: bool = True,
    optimistic: bool = False,
    average: Literal["mean", "sum", "geometric"] = "mean",
    undefined: bool = True,
    bounds: tuple[float, float] = (0.0, 1.0),
    divides_by: DividesBy | None = None,
    unjudged: Callable[..., tuple[PerQuery, PerQuery]] | None = None,
    capped_by: Sequence[Literal["fewer", "more"]] = (),
    when: Mapping[tuple[str, Any], Mapping[str, Any]] | None = None,
) -> Callable[[Function], Measure]:
    """Make a function from Hits to one number per query a measure, known by its name everywhere.

    >>> from rankproof.core.hits import Hits, PerQuery
    >>> from rankproof.core.measure import forget
    >>> from rankproof.core.parameters import Cutoff
    >>> @measure("Depth", higher=False)
    ... def depth(h: Hits, k: Cutoff = None) -> PerQuery:
    ...     "How many judged documents were found."
    ...     return h.top(k).count()
    >>> depth @ 5
    Depth@5
    >>> forget("Depth")
    """

    def register(function: Function) -> Measure:
        parameters = parameters_of(function, skip=2 if kind == "pair" else 1)
        names = {**{other: {} for other in also}, **(presets or {})}
        made = Measure(
            Spec(
                name=name,
                kind=kind,
                function=function,
                parameters=parameters,
                also=names,
                at=at if at in parameters else None,
                higher=higher,
                ceiling=ceiling,
                aspects=aspects,
                additive=additive,
                expected=expected,
                worth=worth,
                reorder=reorder,
                optimistic=optimistic,
                average=average,
                undefined=undefined,
                bounds=bounds,
                divides_by=divides_by,
                unjudged=unjudged,
                capped_by=capped_by,
                when=when or {},
            )
        )
        _add(made)
        return made

    return register


def _add(made: Measure) -> None:
    CHANGES.append(made.name)
    spec = made.spec
    own = spec.function.__module__.startswith("rankproof.core.measures.")
    listed = REGISTRY.loaded if own else dict(REGISTRY)  # the names of those not loaded yet are taken too
    for taken in (spec.name, *spec.also):
        if taken in listed or taken in ALIASES:
            raise UsageError(f"a measure named {taken!r} exists already. Next: choose another name.")
    REGISTRY[spec.name] = made
    for other, params in spec.also.items():
        ALIASES[other] = made.with_params(params)


def forget(name: str) -> None:
    """Take a measure out of the registry again, with its other names."""
    CHANGES.append(name)
    for other in REGISTRY.pop(name).spec.also:
        del ALIASES[other]


def seen_by(measure: Measure, hits: Hits) -> Hits:
    """The hits as the measure reads them: by aspect or by document."""
    return hits.aspects if measure.spec.aspects else hits
