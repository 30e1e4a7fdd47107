"""Judged metrics as values: declared once by a function that says of a sample what is counted, named, found.

A metric is a `Measure` of kind "judged": `context_recall@5` is spelled, checked and described as `P@5` is. What it
counts comes as `Units`: lists in which None stands for what nobody judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from rankproof.core.hits import PerQuery
from rankproof.core.measure import CHANGES, JUDGED, Measure, Spec
from rankproof.core.parameters import parameters_of
from rankproof.judging.metrics.units import Units

Score = Callable[[Sequence[Units]], PerQuery]
"""From units without gaps, one a sample, to one number a sample."""


@dataclass(frozen=True, slots=True)
class Metric:
    """What is known of a judged metric beyond its name and parameters."""

    measure: Measure
    read: Callable[..., Any]
    """What is counted in a `Case`, given the metric's parameters: `Units`, or `Nothing`."""
    needs: tuple[str, ...]
    """The fields a sample must have."""
    score: Score
    monotone: bool
    """Whether no yes more ever lowers it, so that its ends are found without trying."""
    choices: tuple[Any, ...]
    """What may stand where nothing is known."""
    limits: Callable[[Units], tuple[float, float]]
    """The lowest and the highest value that is possible at all."""
    soft_by: str = "left"
    """Which soft verdicts fall together: those of one claim by several contexts, or of one context ("right")."""


METRICS: dict[str, Metric] = {}
"""Every metric by its name."""
ALIASES: dict[str, Measure] = {}
"""Every other name, with the metric (and parameters) it stands for."""
PEERS: dict[str, dict[str, Metric]] = {}
"""The formulas of other tools: `PEERS["ragas"]["faithfulness"]`."""


def from_0_to_1(units: Units) -> tuple[float, float]:
    """The limits of a share."""
    return 0.0, 1.0


def metric(
    name: str,
    *,
    needs: Iterable[str],
    score: Score,
    also: Iterable[str] = (),
    presets: Mapping[str, Mapping[str, Any]] | None = None,
    at: str | None = "k",
    higher: bool = True,
    monotone: bool = True,
    choices: tuple[Any, ...] = (False, True),
    limits: Callable[[Units], tuple[float, float]] = from_0_to_1,
    peer: str | None = None,
    soft_by: str = "left",
) -> Callable[[Callable[..., Any]], Measure]:
    """Make a function from a `Case` to what it counts a metric."""

    def register(function: Callable[..., Any]) -> Measure:
        others = {**{other: {} for other in also}, **(presets or {})}
        made = Measure(_spec(name, function, others, at, higher))
        found = Metric(made, function, tuple(needs), score, monotone, choices, limits, soft_by)
        if peer is not None:
            PEERS.setdefault(peer, {})[name] = found
            return made
        METRICS[name] = found
        JUDGED[name] = made
        CHANGES.append(name)
        ALIASES.update({other: made.with_params(params) for other, params in others.items()})
        return made

    return register


def _spec(
    name: str,
    function: Callable[..., Any],
    also: Mapping[str, Mapping[str, Any]],
    at: str | None,
    higher: bool,
) -> Spec:
    parameters = parameters_of(function)
    return Spec(
        name=name,
        kind="judged",
        function=function,
        parameters=parameters,
        also=MappingProxyType(dict(also)),
        at=at if at in parameters else None,
        higher=higher,
        ceiling=None,
        aspects=False,
        additive=False,
        expected=None,
        worth=None,
        reorder=False,
        optimistic=False,
        average="mean",
        undefined=True,
        bounds=(0.0, 1.0),
        divides_by=None,
        unjudged=None,
        capped_by=(),
        when={},
    )
