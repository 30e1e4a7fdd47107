"""Two ways to let users decide between systems: interleaved lists, and A/B tests with intervals valid at every look."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import NormalDist
from typing import Any

import numpy as np

from rankproof.document.model import Displayable
from rankproof.document.numbers import count
from rankproof.errors import DataError, UsageError, check_number, check_whole, explain_calls, shorten
from rankproof.monitoring.event_values import Rejected, of_digits, place
from rankproof.monitoring.online_metrics import PERCENTILES
from rankproof.stats.confidence import Anytime, betting, normal_mixture
from rankproof.stats.corrections import holm

UNBOUNDED = frozenset(each.name for each in PERCENTILES)
PLANNED = 10_000
"""The default planned number of users of an A/B test."""
FEWEST = 100
"""With fewer users of a variant nothing is reported, as the intervals of an A/B test need large samples."""
MISMATCH = 0.001
"""If chance alone gives such unequal shares of users with less than this probability, the assignment is broken."""
ROUNDED = 0.0101
"""By so much shares that were rounded, like three of 0.33, may miss a sum of 1."""


@dataclass(frozen=True)
class Interleaved(Displayable):
    """A list made of several rankings, and the team of each document."""

    docs: list[str]
    teams: list[str]


@explain_calls
def team_draft(rankings: Mapping[str, Sequence[str]], k: int, rng: np.random.Generator | int) -> Interleaved:
    """One list of `k` documents from two or more rankings: in each round the teams pick in random order (or by a seed).

    Each picks its best document that is not there yet. With more than two rankings that is team-draft multileaving.

    Reference: F. Radlinski et al.: How does clickthrough data reflect retrieval quality?, CIKM 2008; A. Schuth et al.:
    Multileaved comparisons for fast online evaluation, CIKM 2014.

    >>> found = team_draft({"a": ["d1", "d2"], "b": ["d1", "d3"]}, 3, np.random.default_rng(0))
    >>> found.docs[0], sorted(found.docs[1:])
    ('d1', ['d2', 'd3'])
    """
    check_whole("k", k)
    if not isinstance(rng, np.random.Generator):
        rng = np.random.default_rng(check_whole("rng", rng, least=0, advice="give a seed, or a generator"))
    if len(rankings) < 2:
        raise UsageError(f"rankings: got {len(rankings)}, expected two or more. Next: give {{name: documents}}.")
    names = list(rankings)
    left = {name: iter(dict.fromkeys(docs)) for name, docs in rankings.items()}
    docs: dict[str, str] = {}
    while left and len(docs) < k:
        for at in rng.permutation(len(names)):
            name = names[int(at)]
            if name not in left or len(docs) >= k:
                continue
            best = next((doc for doc in left[name] if doc not in docs), None)
            if best is None:
                del left[name]
            else:
                docs[best] = name
    return Interleaved(list(docs), list(docs.values()))


@dataclass(frozen=True)
class Preference(Displayable):
    """How often users preferred one team to another, with intervals valid at every look."""

    first: str
    second: str
    users: int
    wins: int
    ties: int
    losses: int
    """Lists in which the first got more clicks, as many, or fewer."""
    share: float
    """How often the first wins, by user; a tie counts half."""
    low: float
    high: float
    p: float
    p_corrected: float
    verdict: str
    """"first", "second" or "unclear"."""


@explain_calls
def score_interleaving(shown: Iterable[Any], *, level: float = 0.95) -> list[Preference]:
    """Who wins, from lists as they were shown, in order of time.

    Each is a mapping with `teams` (the team of each rank, None if a document is of none), `clicks` (ranks from 1 on)
    and, if known, `user`; the lists of a user count as one, at the time of the first. Intervals and p-values hold at
    every look (betting), p-values are corrected by Holm over the pairs. A list without any click on a team's document
    says nothing and is left out.

    >>> rows = [{"teams": ["a", "b"], "clicks": [1]}] * 40
    >>> score_interleaving(rows)[0].verdict
    'first'
    """
    credits = [each for each in map(_credit, shown) if any(each[1].values())]
    names = sorted({name for _, found in credits for name in found})
    if len(names) < 2:
        raise DataError(
            f"interleaving: got clicks on lists of {count(len(names), 'team')}, expected two or more. "
            "Next: give rows with teams and clicks."
        )
    drafts: list[tuple[tuple[str, str], int, tuple[int, int, int], Anytime]] = []
    for first, second in combinations(names, 2):
        signs: list[int] = []
        by_user: dict[str, list[float]] = {}
        for user, found in credits:
            if first in found and second in found:
                name = f"#{len(signs)}" if user is None else f"u{user}"
                signs.append(int(np.sign(found[first] - found[second])))
                by_user.setdefault(name, []).append((signs[-1] + 1) / 2)
        told = betting(np.array([float(np.mean(each)) for each in by_user.values()]), level)
        drafts.append(((first, second), len(by_user), (signs.count(1), signs.count(0), signs.count(-1)), told))
    preferences = []
    for (pair, users, counts, told), p in zip(drafts, holm([each[-1].p for each in drafts]), strict=True):
        winner = "unclear" if p > 1 - level else "first" if told.value > 0.5 else "second"
        preferences.append(Preference(*pair, users, *counts, told.value, told.low, told.high, told.p, p, winner))
    return preferences


def _credit(row: Any) -> tuple[str | None, dict[str, int]]:
    """The user, and how many ranks of each team were clicked."""
    teams, clicks = (row.get("teams"), row.get("clicks")) if isinstance(row, Mapping) else (None, None)
    if not isinstance(teams, Sequence) or isinstance(teams, str) or not isinstance(clicks, Sequence):
        raise DataError(
            f'interleaving: got {shorten(row)}, expected {{"teams": [...], "clicks": [ranks]}}. '
            "Next: log which team each rank was of."
        )
    try:
        ranks = {place(of_digits(each.get("rank") if isinstance(each, Mapping) else each)) for each in clicks}
    except Rejected as error:
        raise DataError(
            f"interleaving: {error} among the clicks {shorten(clicks)}. Next: give the ranks of what was clicked."
        ) from error
    found: dict[str, int] = {}
    for rank, team in enumerate(teams, 1):
        if team is not None and str(team):
            found[str(team)] = found.get(str(team), 0) + (rank in ranks)
    return row.get("user"), found


@dataclass(frozen=True)
class VariantDifference(Displayable):
    """How much a variant changed a metric against the control, with intervals valid at every look."""

    metric: str
    control: str
    variant: str
    users: tuple[int, int]
    """The values of the control and of the variant."""
    values: tuple[float, float]
    difference: float
    low: float
    high: float
    p: float
    p_corrected: float
    """By Holm, over the metrics and variants."""
    verdict: str
    """"more", "less" or "unclear"."""


def compare_variants(
    estimates: Iterable[Any], control: str | None = None, *, planned: int = PLANNED, level: float = 0.95
) -> list[VariantDifference]:
    """Each metric of each variant against the control, with intervals that hold at every look.

    `estimates` are those of `monitor` with slice "variant". `planned` is the number of users at which the test is to
    end: there intervals are tightest, and they are valid before and after; fix it before the test. Nothing is said with
    fewer than 100 users in a variant. If no control is named it is the variant "control", else the first by name.
    """
    check_whole("planned", planned, least=2)
    check_number("level", level, above=0, below=1, advice="give a share, like 0.95")
    rows: dict[tuple[str, str], Any] = {(each.metric, each.group): each for each in estimates}
    names = sorted({group for _, group in rows})
    if control is None:
        if len(names) < 2:
            return []
        control = "control" if "control" in names else names[0]
    if control not in names or len(names) < 2:
        raise UsageError(
            f"variants: got {', '.join(names) or 'none'} and the control {control}, expected the control and another. "
            "Next: log the field variant, and name the control."
        )
    drafts = []
    for (metric, group), other in rows.items():
        base = rows.get((metric, control))
        if group == control or base is None or min(base.users, other.users) < FEWEST:
            continue
        error = math.hypot(base.error, other.error)
        if not error > 0 or not math.isfinite(error):
            continue
        at_end = error * math.sqrt((base.users + other.users) / planned)
        moved = normal_mixture(other.value - base.value, error, at_end, level)
        if metric not in UNBOUNDED and all(0 <= each.value <= 1 for each in (base, other)):  # by 1 at most
            moved = replace(moved, low=max(moved.low, -1.0), high=min(moved.high, 1.0))
        drafts.append((metric, group, base, other, moved))
    ps = holm([found.p for *_, found in drafts])
    differences = []
    for (metric, group, base, other, found), p in zip(drafts, ps, strict=True):
        verdict = "unclear" if p > 1 - level else "more" if found.value > 0 else "less"
        users, values = (base.users, other.users), (base.value, other.value)
        effect = (found.value, found.low, found.high, found.p, p)
        differences.append(VariantDifference(metric, control, group, users, values, *effect, verdict))
    return differences


def split_mismatch(users: Mapping[str, int], shares: Mapping[str, float] | None = None) -> float:
    """The p-value that users were assigned by these shares (equal if none are given), by Pearson's chi-squared.

    Below 0.001 the assignment is not random, and no difference can be trusted.

    >>> split_mismatch({"A": 5000, "B": 5050}) > 0.5, split_mismatch({"A": 5000, "B": 5600}) < 0.001
    (True, True)
    """
    total = sum(users.values())
    wanted = dict.fromkeys(users, 1 / len(users)) if shares is None else shares
    if (
        set(wanted) != set(users)
        or not all(isinstance(each, (int, float)) for each in wanted.values())
        or not abs(sum(wanted.values()) - 1) <= ROUNDED
        or min(wanted.values()) <= 0
    ):
        raise UsageError(
            f"shares: got {shorten(wanted)}, expected one above 0 for each of {', '.join(users)}, adding up to 1. "
            "Next: give the shares by which users are assigned."
        )
    expected = {name: total * share / sum(wanted.values()) for name, share in wanted.items()}
    squares = sum((users[name] - expected[name]) ** 2 / expected[name] for name in users) if total else 0.0
    free = max(len(users) - 1, 1)
    # Wilson and Hilferty: the cube root of a chi-squared over its degrees of freedom is nearly normal.
    z = ((squares / free) ** (1 / 3) - (1 - 2 / (9 * free))) / math.sqrt(2 / (9 * free))
    return 2 * (1 - NormalDist().cdf(math.sqrt(squares))) if free == 1 else 1 - NormalDist().cdf(z)
