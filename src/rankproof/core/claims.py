"""What may be said of a number under a profile: that it is the tool's, but for what, or only by its conventions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from rankproof.core.measure import Measure
from rankproof.core.names import parse
from rankproof.core.profiles import Beyond, Profile, as_in, find
from rankproof.display import Displayable

Kind = Literal["proven", "but", "other", "unproven", "own", "absent"]


@dataclass(frozen=True, slots=True)
class Claim(Displayable):
    """Whether a measure under a profile is the tool's."""

    kind: Kind
    """proven: its values were shown to be equal; but: with exceptions; other: the tool has another number;
    unproven: it has the measure, equality was not shown; own: with parameters that are not the tool's;
    absent: it has no such measure."""
    note: str = ""
    """What is to be said beside the number, a sentence without its full stop; "" where nothing is."""

    @property
    def equal(self) -> bool:
        """Whether the number may be called the tool's."""
        return self.kind in ("proven", "but")


def claim(profile: str, measure: Measure) -> Claim:
    """What is known of a measure, as the profile made it, and the tool.

    >>> from rankproof.core.names import parse
    >>> claim("quepid", parse("nDCG(gain='exp', ideal='uncut')@10")).kind, claim("ranx", parse("RBP")).kind
    ('but', 'other')
    >>> claim("ranx", parse("ERR@10")).note
    'ranx has no such measure; only its conventions are followed'
    """
    known, name = find(profile), measure.spec.name
    limits = "; ".join(_about(known, name))
    forms = [each for each in _forms(profile) if each[0].spec.name == name]
    if name in known.other.split():
        return Claim("other", f"not the number of {profile}: {limits}")
    if not forms and name in known.unproven.split():
        apart = f"; not followed: {limits}" if limits else ""
        return Claim("unproven", f"{profile} has this too; that the numbers are equal was not shown{apart}")
    if not forms:
        return Claim("absent", f"{profile} has no such measure; only its conventions are followed")
    own = min((_own(known, measure, *form) for form in forms), key=len)
    if own:
        asked = ", ".join(f"{each}={measure.params[each]!r}" for each in own)
        return Claim("own", f"not the number of {profile}, which does not compute it with {asked}")
    return Claim("but", f"not followed of {profile}: {limits}") if limits else Claim("proven")


def noted(note: str, profile: str | None, measure: Measure) -> str:
    """What is to be said beside a number, that of the profile it was made under included."""
    return "; ".join(each for each in (note, claim(profile, measure).note if profile else "") if each)


@lru_cache(maxsize=64)
def _forms(profile: str) -> tuple[tuple[Measure, bool], ...]:
    """The measures that were proven, as the profile makes them, and whether with cut-offs as well."""
    known = find(profile)
    texts = known.proven.split()
    return tuple((as_in(known, parse(text.removesuffix("@k"))), text.endswith("@k")) for text in texts)


def _own(profile: Profile, measure: Measure, form: Measure, cut: bool) -> list[str]:
    """The parameters that are neither the tool's nor among those that it lets one choose."""
    free = profile.free_of.get(measure.spec.name, profile.free).split() + ["k"] * cut
    return [
        name for name, value in measure.params.items() if name not in free and form.params.get(name) != value
    ]


def _about(profile: Profile, name: str) -> list[str]:
    """What of the tool is not followed, as far as it concerns a measure."""
    return [each for each in profile.beyond if _concerns(each, name)]


def _concerns(limit: str, name: str) -> bool:
    about = limit.about if isinstance(limit, Beyond) else ()
    return not about or name in about
