"""The methods by name, and what each reads."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from rankproof.bench.fusion import ranks, scores, trained
from rankproof.bench.fusion.majority import condorcet
from rankproof.core.docstring import docstring
from rankproof.core.hits import Array
from rankproof.core.parameters import Parameter, parameters_of
from rankproof.display import Displayable
from rankproof.errors import one_of


@dataclass(frozen=True)
class Method(Displayable):
    """A way to fuse: what its function takes by position it reads from the pool, the rest are its parameters."""

    name: str
    function: Callable[..., Array]
    learn: Callable[..., Array] | None = None
    """What learns from training queries, for the methods that do."""
    weighted: bool = False
    """Whether it makes no sense without weights."""
    also: tuple[str, ...] = ()

    @cached_property
    def reads(self) -> tuple[str, ...]:
        """What it reads: rank, score, query, weights, learned."""
        return reads(self.function)

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """Its parameters."""
        return parameters_of(self.function, skip=len(self.reads))

    @property
    def title(self) -> str:
        """What it is, in words."""
        return docstring(self.function).partition("\n")[0]


def reads(function: Callable[..., Array]) -> tuple[str, ...]:
    """The names of the arguments that are given by position."""
    listed = inspect.signature(function).parameters.values()
    return tuple(each.name for each in listed if each.kind is not each.KEYWORD_ONLY)


_ALL = (
    Method("rrf", ranks.rrf),
    Method("isr", ranks.isr),
    Method("log-isr", ranks.log_isr),
    Method("logn-isr", ranks.logn_isr),
    Method("rbc", ranks.rbc),
    Method("borda", ranks.borda, also=("bordafuse", "w_bordafuse")),
    Method("condorcet", condorcet, also=("w_condorcet",)),
    Method("combsum", scores.comb_sum, also=("sum",)),
    Method("combmnz", scores.comb_mnz, also=("mnz",)),
    Method("combgmnz", scores.comb_gmnz, also=("gmnz",)),
    Method("combmin", scores.comb_min, also=("min",)),
    Method("combmax", scores.comb_max, also=("max",)),
    Method("combmed", scores.comb_med, also=("med",)),
    Method("combanz", scores.comb_anz, also=("anz",)),
    Method("weighted-sum", scores.weighted_sum, weighted=True, also=("wsum",)),
    Method("wmnz", scores.wmnz, weighted=True),
    Method("mixed", scores.mixed, weighted=True),
    Method("bayesfuse", trained.bayes, trained.learn_bayes),
    Method("mapfuse", trained.mapfuse, trained.learn_map),
    Method("posfuse", trained.posfuse, trained.learn_pos),
    Method("probfuse", trained.probfuse, trained.learn_prob),
    Method("segfuse", trained.segfuse, trained.learn_seg),
    Method("slidefuse", trained.slidefuse, trained.learn_pos),
)

METHODS: dict[str, Method] = {each.name: each for each in _ALL}
"""Every method by name."""

_SPELLINGS = {other: each for each in _ALL for other in (each.name, *each.also)}


def find_method(name: str) -> Method:
    """The method of that name, however it is spelled; an unknown one is met with the nearest.

    >>> find_method("CombSUM").name, find_method("log_isr").name, find_method("wsum").name
    ('combsum', 'log-isr', 'weighted-sum')
    """
    plain = {_plain(spelling): method for spelling, method in _SPELLINGS.items()}
    if _plain(str(name)) not in plain:
        raise one_of("method", name, METHODS)
    return plain[_plain(str(name))]


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
