"""Profiles: the conventions of other tools, so that one word switches a whole set of measures.

They stand in `profiles.json`. A profile sets only what the user did not: parameters given with a measure, and explicit
conventions, are kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pkgutil import get_data
from typing import Any

from rankproof.core.measure import Measure
from rankproof.errors import check_one_of

Parameters = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Profile:
    """The conventions of one tool, and how they are known."""

    name: str
    source: str
    """The version or the commits it was read from and proven against."""
    proof: str
    """How its golden values were made."""
    says: Sequence[str]
    """What the tool does, one sentence each."""
    measures: Parameters = field(default_factory=dict)
    """For each measure the parameters that make it the tool's."""
    conventions: Mapping[str, Any] = field(default_factory=dict)
    """What the tool does with ties, missing queries and the like."""
    beyond: Mapping[str, str] = field(default_factory=dict)
    """Behaviour of the tool that the profile does not follow, and the measures concerned; none named: all."""
    proven: str = ""
    """The measures whose values were shown to be equal, but for what `beyond` says; `@k`: cut off as well."""
    other: str = ""
    """The measures with another number in the tool; `beyond` says how."""
    unproven: str = ""
    """The measures that the tool has as well, without a proof that the numbers are equal."""
    free: str = "rel"
    """The parameters that one may choose in the tool too."""
    free_of: Mapping[str, str] = field(default_factory=dict)
    """Those of single measures, in place of `free`; "" for nDCG in trec_eval, where -l (its rel) leaves it alone."""


_TOLD: Mapping[str, Mapping[str, dict[str, Any]]] = json.loads(get_data(__package__, "profiles.json") or b"")
"""What `profiles.json` says of each tool; what a tool that is `like` another leaves out is as in the other."""


def _profile(name: str) -> Profile:
    told = dict(next(group for group in _TOLD.values() if name in group)[name])
    like = told.pop("like", None)
    return Profile(name, **told) if like is None else replace(_profile(like), name=name, **told)


PROFILES, BUILT_ON = ({name: _profile(name) for name in _TOLD[group]} for group in ("tools", "built on trec_eval"))
"""Every profile by its name; and tools that call trec_eval, by their own names."""


def find(name: str, setting: str = "profile") -> Profile:
    """The profile of that name, which was given under that setting.

    >>> find("quepid").measures["nDCG"]
    {'gain': 'exp', 'ideal': 'uncut'}
    """
    known = {**PROFILES, **BUILT_ON}
    check_one_of(setting, name, known)
    return known[name]


def as_in(profile: Profile, measure: Measure) -> Measure:
    """The measure as the tool computes it; parameters that were given stay.

    >>> from rankproof.core.names import parse
    >>> as_in(find("elasticsearch"), parse("P@5"))
    P(denominator='returned')@5
    >>> as_in(find("elasticsearch"), parse("P(denominator='k')@5"))
    P@5
    """
    params = profile.measures.get(measure.spec.name, {})
    # A grade that the user asked for is never changed.
    stated = measure.stated | ({"threshold"} if "rel" in measure.stated else set())
    return measure.with_params({name: value for name, value in params.items() if name not in stated})
