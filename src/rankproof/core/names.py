"""The registry: measures are declared under a name, and found by it, by other common names and those of other tools."""

from __future__ import annotations

import ast
import copyreg
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from functools import lru_cache
from importlib import import_module
from threading import RLock
from typing import Any, Literal

from rankproof.core.hits import PerQuery
from rankproof.core.measure import DividesBy, Function, Measure, MeasureKind, Spec, parameters_of
from rankproof.errors import UsageError, in_order, not_known, shorten


class Registry(MutableMapping[str, Measure]):
    """Measures by their canonical names, in the order in which they are listed; everyday ones are there at once.

    Whoever asks for another, or looks at all of them, has the rest loaded: few evaluations need it.
    """

    def __init__(self) -> None:
        self.loaded: dict[str, Measure] = {}
        """The loaded ones."""
        self.rest: Sequence[str] = ()
        """The modules that declare measures, in their order, until all of them are loaded."""
        self._loading = RLock()
        """Held while they are: others wait, and modules may ask for measures meanwhile."""

    def everyday(self) -> dict[str, Measure]:
        """Those that most evaluations need, and whatever else is loaded."""
        import_module("rankproof.core.measures")
        return self.loaded

    def _whole(self) -> dict[str, Measure]:
        self.everyday()
        with self._loading:
            if self.rest:
                modules, self.rest = self.rest, ()
                for module in modules:
                    import_module(module)
                places = {name: place for place, name in enumerate(modules)}
                place_of = lambda each: places.get(each[1].spec.function.__module__, len(places))  # noqa: E731
                self.loaded = dict(sorted(self.loaded.items(), key=place_of))
        return self.loaded

    def __getitem__(self, name: str) -> Measure:
        return self.loaded[name] if name in self.everyday() else self._whole()[name]

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
    kind: MeasureKind = "ranking",
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
    bounds_at: Callable[[int], tuple[float, float]] | None = None,
    divides_by: DividesBy | None = None,
    unjudged: Callable[..., tuple[PerQuery, PerQuery]] | None = None,
    capped_by: Sequence[Literal["fewer", "more"]] = (),
    when: Mapping[tuple[str, Any], Mapping[str, Any]] | None = None,
) -> Callable[[Function], Measure]:
    """Make a function from Hits to one number per query a measure, known by its name everywhere.

    `also` are other names, `presets` names that stand for parameters, `bounds` the least and greatest value of a query;
    with `higher=False` less is better. docs/own-measure.md explains these and all other arguments.

    >>> from rankproof.core.hits import Hits, PerQuery
    >>> from rankproof.core.measure import Cutoff
    >>> from rankproof.core.names import forget
    >>> @measure("Depth", higher=False)
    ... def depth(h: Hits, k: Cutoff = None) -> PerQuery:
    ...     "How many judged documents were found."
    ...     return h.top(k).count()
    >>> depth @ 5
    Depth@5
    >>> forget("Depth")
    """

    if not (isinstance(name, str) and name.strip()):
        raise UsageError(f"measure: got {shorten(name)}, expected a name. Next: write @measure('NAME').")

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
                bounds_at=bounds_at,
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


def _reduced(made: Measure) -> tuple[Callable[..., Measure], tuple[str, dict[str, Any]]]:
    return _restored, (made.spec.name, {name: made.params[name] for name in sorted(made.stated)})


def _restored(name: str, given: Mapping[str, Any]) -> Measure:
    if name not in REGISTRY:
        raise UsageError(f"unknown measure {name!r}. Next: import the module that declares it, then load again.")
    return REGISTRY[name].with_params(given)


# In its module the function's name stands for the measure, so pickle cannot find the function.
copyreg.pickle(Measure, _reduced)


UNREADABLE = (ValueError, TypeError, SyntaxError, MemoryError, RecursionError)
"""What Python's own reader raises for a text that is no value."""

_FORM = re.compile(r"^(?P<name>[^()@\s]+)\s*(?:\((?P<params>.*)\))?\s*(?:@\s*(?P<at>[^@\s]+))?$", re.DOTALL)
_SUFFIX = re.compile(r"^(?P<name>.+?)(?:_at_|[_.])(?P<at>\d+(?:\.\d+)?)$")

_AT = re.compile(r"\d+(?:\.\d+)?")
_CUT = re.compile(rf"(?P<name>.+?[@._]){_AT.pattern}")

WEIGHTED = ("setf", "set_f")
"""The names of F in trec_eval and ir_measures, in lower case: `beta` is a weight there, which F calls beta squared."""

NUMBERED = (
    (r"^\s*(set_?f)[._](\d+(?:\.\d+)?)(?![\w.])", r"\1(beta=\2)"),
    (r"^\s*(rbp)\.(\d+)(?![\w.])", r"\1(p=0.\2)"),
)
"""Names in trec_eval (`set_F.2`) and ranx (`rbp.95`) whose number is no cut-off, and what it means."""


def parse(text: str | Measure) -> Measure:
    """The measure that `text` names.

    >>> parse("nDCG(gain='exp')@10"), parse("ndcg_cut_10"), parse("MRR"), parse("Recall@100")
    (nDCG(gain='exp')@10, nDCG@10, RR, R@100)
    """
    if isinstance(text, Measure):
        return text
    if not isinstance(text, str):
        raise UsageError(
            f"got {shorten(text, 200)} as a measure, expected one like nDCG @ 10, or its name like 'nDCG@10'. "
            "Next: 'rankproof measures' lists all."
        )
    return _parsed(text, len(CHANGES))


def parse_all(texts: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    """Several measures; a string may hold more than one, separated by commas. Repeats are dropped.

    >>> parse_all("P@5, nDCG(gain='exp')@10,MAP")
    [P@5, nDCG(gain='exp')@10, AP]
    """
    return list(dict.fromkeys(parse_each(texts)))


def parse_each(texts: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    """The same with repeats: `P@5` and `P(rel=1)@5` are one measure, but a profile may tell them apart."""
    if isinstance(texts, str):
        return list(_parsed_list(texts, len(CHANGES)))
    return [parse(each) for each in one_by_one("measure", texts, "nDCG@10")]


@lru_cache(maxsize=1024)
def _parsed_list(text: str, _changes: int) -> tuple[Measure, ...]:
    return tuple(parse(each) for each in one_by_one("measure", text, "nDCG@10"))


def one_by_one(noun: str, given: str | Measure | Iterable[str | Measure], like: str) -> list[str | Measure]:
    """The names and measures that were given, at least one; a string may hold several, separated by commas."""
    if not isinstance(given, Iterable | Measure) or isinstance(given, Mapping | bytes):
        then = ", and their values as the argument they are for (margin, floors)" if isinstance(given, Mapping) else ""
        raise UsageError(
            f"{noun}s: got {shorten(given)}, expected names like {like!r}, or measures. Next: give a list{then}."
        )
    several = [given] if isinstance(given, str | Measure) else in_order(given)
    found = [name for each in several for name in (split(each) if isinstance(each, str) else [each])]
    if not found:
        raise UsageError(f"no {noun} was given, expected at least one, like {like!r}. Next: name one.")
    return found


@lru_cache(maxsize=4096)
def _parsed(text: str, _changes: int) -> Measure:
    if len(several := split(text)) > 1:
        got = f"got {len(several)} measures, expected one"
        raise _unreadable(text, got, "name one of them, or ask evaluate or compare for several")
    for numbered, meaning in NUMBERED:
        text = re.sub(numbered, meaning, text, flags=re.IGNORECASE)
    form = _form(text)
    name, at = form["name"], form["at"]
    found, suffixed = find(name), _SUFFIX.match(name)
    if found is None and at is None and suffixed:  # `ndcg_cut_10` carries its cut-off in its name
        found, at = find(suffixed["name"]), suffixed["at"]
    if found is None:
        said, known = f"unknown measure {shorten(name, 200)}", [*REGISTRY, *ALIASES]
        lists = "'rankproof measures' lists all; import the file of one of your own first, or 'rankproof --import FILE'"
        raise not_known(said, name[:100], known, lists)
    return _made(text, form, found, at)


def _unreadable(text: object, problem: str, advice: str) -> UsageError:
    return UsageError(f"measure {shorten(text, 200)}: {problem}. Next: {advice}.")


def parse_with(text: str, find: Callable[[str], Measure]) -> Measure:
    """The measure that `text` names, its bare name being looked up by `find`."""
    form = _form(text)
    return _made(text, form, find(form["name"]), form["at"])


def _form(text: str) -> re.Match[str]:
    form = _FORM.match(text.strip()) if isinstance(text, str) else None
    if form is None:
        forms = "expected NAME, NAME@K, or NAME(parameter=value)@K, like 'nDCG@10'"
        raise _unreadable(text, forms, "write it like one of these, several with commas between them")
    return form


def _made(text: str, form: re.Match[str], base: Measure, at: str | None) -> Measure:
    given = _arguments(text, form["params"]) if form["params"] else {}
    weight = given.get("beta")
    if form["name"].lower() in WEIGHTED and isinstance(weight, (int, float)) and weight > 0:
        given["beta"] = math.sqrt(weight)
    made = base.with_params(given) if given else base
    if at is None:
        return made
    cut: object = _literal(text, at)
    if (name := base.spec.at) in given and given[name] != cut:
        raise _unreadable(text, f"got two cut-offs, {name}={given[name]} and @{at}, expected one", f"write @{at} alone")
    return made @ cut


def find(name: str) -> Measure | None:
    """The measure of that name, canonical or other; None if there is none."""
    REGISTRY.everyday()
    exact = ALIASES.get(name) or REGISTRY.get(name) or ALIASES.get(name)  # looking may have loaded the rest
    return exact or _loosely(len(CHANGES)).get(name.lower().replace("-", "_")) or JUDGED.get(name)


@lru_cache(maxsize=8)
def _loosely(_changes: int) -> dict[str, Measure]:
    """Names in lower case, those that could mean two measures left out."""
    loose: dict[str, Measure | None] = {}
    for name, made in {**REGISTRY, **ALIASES}.items():
        key = name.lower().replace("-", "_")
        loose[key] = made if loose.get(key, made) == made else None
    return {name: made for name, made in loose.items() if made is not None}


def _arguments(text: str, inside: str) -> dict[str, Any]:
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
    except UNREADABLE:
        problem = f"cannot read the parameters {shorten(inside, 200)}, expected name=value"
        raise _unreadable(text, problem, "write them like (rel=2, gain='exp')") from None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):  # of `P(rel=2)(k=5)` a call is called
        raise _unreadable(text, "got parameters twice, expected them once", "write them like (rel=2, gain='exp')")
    if call.args or any(k.arg is None for k in call.keywords):
        raise _unreadable(text, "expected parameters by name", "write them like rel=2")
    found: dict[str, Any] = {}
    for each in call.keywords:
        value = _value(text, each)
        if found.setdefault(str(each.arg), value) != value:
            raise _unreadable(text, f"got {each.arg} with two values, expected one", "leave one of them out")
    return found


def _value(text: str, given: ast.keyword) -> Any:
    """A literal; a bare word is taken as text, so that a shell needs no quotes."""
    if isinstance(given.value, ast.Name):
        return given.value.id
    try:
        return ast.literal_eval(given.value)
    except UNREADABLE:
        raise _unreadable(text, f"what {given.arg} is set to is no plain value", "give a number or a word") from None


def _literal(text: str, at: str) -> Any:
    try:
        return ast.literal_eval(at.lstrip("0") or "0") if at.isdigit() else ast.literal_eval(at)
    except UNREADABLE:
        k, behind, parameters = at.partition("(")
        is_turned = k.isdigit() and behind and parameters.endswith(")")
        turned = f"{text.partition('@')[0]}({parameters}@{k}" if is_turned else "@10"
        raise _unreadable(text, f"the cut-off {shorten(at, 200)} is not a number", f"write it like {turned}") from None


def split(text: str) -> list[str]:
    """The names in a list separated by commas; commas inside parentheses and braces do not count.

    >>> split("ndcg_cut.5,10, RR"), split("nDCG@5,10")
    (['ndcg_cut.5', 'ndcg_cut.10', 'RR'], ['nDCG@5', 'nDCG@10'])
    """
    parts, depth = [""], 0
    for char in text:
        depth += (char in "({[") - (char in ")}]")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    found: list[str] = []
    for part in filter(None, map(str.strip, parts)):
        before = _CUT.fullmatch(found[-1]) if found and _AT.fullmatch(part) else None
        found.append(f"{before['name']}{part}" if before else part)  # a number is one more cut-off, as for trec_eval
    return found
