"""The settings of a grid: how much is found, what decides, which combinations are run, how retrievers are asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rankproof.bench.adapters import Adapted
from rankproof.bench.grid.source import Source
from rankproof.bench.runner import Limits, plan_for
from rankproof.core.measure import Measure
from rankproof.errors import UsageError, one_of, shorten

SETTINGS = ("measure", "measures", "k", "depth", "strategy", "most", "held_out", "seed", "baseline", "cache")
STRATEGIES = {
    "auto": "all, or halving where there are more than `most`",
    "all": "every combination",
    "one-at-a-time": "the first combination, and for each factor those that differ from it in this one only",
    "halving": "all on few questions, the better third on three times as many, and so on",
}

DEPTH = 100
"""Documents that first searches find where nobody says."""


def settings_of(source: Source) -> dict[str, Any]:
    """What was set of `SETTINGS` for a plan, checked."""
    ks = _ks(source)
    found = {"k": ks, "measures": _measures(source), "depth": max(_depth(source), *ks)}
    checks: dict[str, Callable[[Source], Any]] = {
        "most": lambda source: _whole(source, "most", source.data["most"], 1),
        "seed": lambda source: _whole(source, "seed", source.data["seed"], 0),
        "strategy": _strategy,
        "held_out": _share,
    }
    return found | {name: check(source) for name, check in checks.items() if name in source.data}


def _ks(source: Source) -> tuple[int, ...]:
    given = source.data.get("k", 10)
    listed = given if isinstance(given, list) and given else [given]
    return tuple(dict.fromkeys(_whole(source, "k", each, 1) for each in listed))


def _depth(source: Source) -> int:
    return _whole(source, "depth", source.data.get("depth", DEPTH), 1)


def _measures(source: Source) -> tuple[str, ...]:
    """The one of `measure` first, then those of `measures`."""
    given = [source.data[name] for name in ("measure", "measures") if name in source.data]
    listed = [each for some in given for each in (some if isinstance(some, (list, tuple)) else [some])]
    for each in listed:
        if not isinstance(each, (str, Measure)):
            raise UsageError(
                f"{source.where('measures')}: got {shorten(each)}, expected the name of a measure."
                " Next: write one like nDCG@10."
            )
    return tuple(dict.fromkeys(map(str, listed))) or ("nDCG@10",)


def _strategy(source: Source) -> str:
    given = source.data["strategy"]
    if not isinstance(given, str) or given not in STRATEGIES:
        raise one_of(source.where("strategy"), given, STRATEGIES)
    return given


def limits_of(source: Source) -> dict[str, Any]:
    """How retrievers are asked."""
    table = source.data.get("limits", {})
    if not isinstance(table, Mapping):
        raise UsageError(
            f"{source.where('limits')}: got {shorten(table)}, expected a table. Next: write a table."
        )
    if table:
        source.check_keys(Limits.__annotations__, "limits")
    for name, value in table.items():
        try:
            plan_for(Adapted(lambda question, k: [], {}), {name: value})
        except UsageError as error:
            said = str(error).removeprefix(f"{name}: ")
            raise type(error)(f"{source.where('limits', name)}: {said}") from error
    return dict(table)


def _whole(source: Source, name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UsageError(
            f"{source.where(name)}: got {shorten(value)}, expected a whole number of at least {least}."
            " Next: write that many or more."
        )
    return value


def _share(source: Source) -> float:
    value = source.data["held_out"]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1:
        raise UsageError(
            f"{source.where('held_out')}: got {shorten(value)}, expected a share of the questions like 0.5; 0 holds "
            "none out."
            " Next: write a share."
        )
    return float(value)


def baseline_of(source: Source, names: Sequence[str]) -> str:
    """The configuration that the others are compared with: the one named, else the first."""
    given = source.data.get("baseline")
    if given is not None and given not in names:
        raise one_of(source.where("baseline"), given, names)
    return given if given is not None else names[0]
