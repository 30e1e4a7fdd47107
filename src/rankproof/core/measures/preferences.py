"""Measures over preference judgments: which of two documents a person would rather see first.

Each takes a scope: 'all' pairs; 'implied', without pairs of which neither document was retrieved;
'retrieved', only pairs of which both were.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from rankproof._moved import old_names
from rankproof.core.hits import Array
from rankproof.core.judgments import Group, Preferences
from rankproof.core.names import measure

Scope: TypeAlias = Literal["all", "implied", "retrieved"]


class GradeTally(NamedTuple):
    """How many preferences there are, and how many of them a ranking fulfils."""

    fulfilled: int
    possible: int

    @property
    def ratio(self) -> float:
        """Fulfilled / possible; 0 if nothing is possible."""
        return self.fulfilled / self.possible if self.possible else 0.0


def tally(prefers: Array, retrieved: int, scope: Scope = "all") -> GradeTally:
    """Fulfilled and possible preferences within the scope."""
    shown = prefers[:retrieved, :retrieved] if scope == "retrieved" else prefers[:retrieved]
    possible = np.count_nonzero(shown if scope == "retrieved" else prefers)
    if scope == "implied":
        possible -= np.count_nonzero(prefers[retrieved:, retrieved:])
    return GradeTally(int(np.count_nonzero(np.triu(shown, 1))), int(possible))


def _tallies(p: Preferences, scope: Scope) -> list[GradeTally]:
    return [tally(g.prefers, p.retrieved, scope) for g in p.groups]


def _scopes(name: str) -> dict[str, dict[str, Scope]]:
    """trec_eval's names for the narrower scopes."""
    return {f"{name}_imp": {"scope": "implied"}, f"{name}_ret": {"scope": "retrieved"}}


@measure("PrefsPossible", kind="preference", also=("prefs_num_prefs_poss",), average="sum", bounds=(0.0, math.inf))
def possible_preferences(p: Preferences) -> float:
    """The number of preferences, whether their documents were retrieved or not.

    Formula: the sum over judges of the pairs of which the judge prefers one document.
    Range: 0 upwards.
    Perfect: the judgments alone decide.
    Worst: the judgments alone decide.
    Blind to: the ranking.
    Use: to see how much the other preference measures rest on.
    Reference: C. Buckley, trec_eval (measure `prefs_num_prefs_poss`).

    >>> from rankproof.core.judgments import by_levels
    >>> from rankproof.core.measures.preferences import possible_preferences
    >>> possible_preferences(by_levels([1, 2, 0]))
    3.0
    """
    return float(sum(t.possible for t in _tallies(p, "all")))


@measure(
    "PrefsFulfilled",
    kind="preference",
    also=("prefs_num_prefs_ful",),
    presets={"prefs_num_prefs_ful_ret": {"scope": "retrieved"}},
    average="sum",
    bounds=(0.0, math.inf),
)
def fulfilled_preferences(p: Preferences, scope: Scope = "all") -> float:
    """The number of preferences that the ranking fulfils.

    Formula: the sum over judges of the preferences "i before j" where i stands above j or only i was retrieved; with
        `scope='retrieved'` only those where both were.
    Range: 0 to the number of possible preferences.
    Perfect: all that are possible and do not contradict each other.
    Worst: 0.
    Blind to: how far apart the documents stand.
    Use: with PrefsPossible, as the two parts of Prefs.
    Reference: C. Buckley, trec_eval (measure `prefs_num_prefs_ful`).

    >>> from rankproof.core.judgments import by_levels
    >>> from rankproof.core.measures.preferences import fulfilled_preferences
    >>> fulfilled_preferences(by_levels([1, 2, 0]))
    2.0
    """
    return float(sum(t.fulfilled for t in _tallies(p, scope)))


@measure("Prefs", kind="preference", also=("prefs_simp",), presets=_scopes("prefs_simp"))
def preference_ratio(p: Preferences, scope: Scope = "all") -> float:
    """The share of preferences that the ranking fulfils; contradicting ones count each.

    Formula: fulfilled / possible, both summed over judges.
    Range: 0 to 1.
    Perfect: 1, when every preference is fulfilled; out of reach where judges contradict each other.
    Worst: 0, when none is.
    Blind to: how far apart the documents stand, and documents nobody compared.
    Use: where people said which of two results they prefer.
    Reference: B. Carterette, P. Bennett, D. Chickering, S. Dumais: Here or there, ECIR 2008.

    >>> from rankproof.core.judgments import by_levels
    >>> from rankproof.core.measures.preferences import preference_ratio
    >>> round(preference_ratio(by_levels([1, 2, 0])), 4)
    0.6667
    """
    counts = _tallies(p, scope)
    return GradeTally(sum(t.fulfilled for t in counts), sum(t.possible for t in counts)).ratio


@measure("PrefsPair", kind="preference", also=("prefs_pair",), presets=_scopes("prefs_pair"))
def pair_ratio(p: Preferences, scope: Scope = "all") -> float:
    """The share of judges that are content with the order of a pair, averaged over pairs.

    Formula: mean over the pairs that some judge compared of content judges / judges that compared the pair.
    Range: 0 to 1.
    Perfect: 1, when every preference is fulfilled; out of reach where judges contradict each other.
    Worst: 0, when none is.
    Blind to: how many judges compared a pair.
    Use: where many judges compared a few pairs and few compared many.
    Reference: C. Buckley, trec_eval (measure `prefs_pair`).

    >>> from rankproof.core.judgments import by_levels
    >>> from rankproof.core.measures.preferences import pair_ratio
    >>> pair_ratio(by_levels([1, 0], [1, 0], [0, 1], [0, 1]))
    0.5
    """
    votes = np.sum([g.prefers for g in p.groups], axis=0, dtype=np.int64)
    above, below = np.triu(votes, 1), np.triu(votes.T, 1)
    asked = above + below
    pairs = np.count_nonzero(_within(asked, p.retrieved, scope))
    shown = _within(asked, p.retrieved, "retrieved" if scope == "retrieved" else "implied")
    content = np.divide(above, asked, out=np.zeros(asked.shape), where=shown > 0)
    return float(content.sum() / pairs) if pairs else 0.0


def _within(pairs: Array, retrieved: int, scope: Scope) -> Array:
    """The upper triangle `pairs` with the pairs out of scope set to 0."""
    if scope == "all":
        return pairs
    kept = pairs.copy()
    kept[retrieved:] = 0
    if scope == "retrieved":
        kept[:, retrieved:] = 0
    return kept


@measure("PrefsJudge", kind="preference", also=("prefs_avgjg",), presets=_scopes("prefs_avgjg"))
def group_ratio(p: Preferences, scope: Scope = "all") -> float:
    """The share of a judge's preferences that the ranking fulfils, averaged over judges.

    Formula: mean over judges of fulfilled / possible.
    Range: 0 to 1.
    Perfect: 1, when every preference is fulfilled; out of reach where judges contradict each other.
    Worst: 0, when none is.
    Blind to: how many preferences a judge has.
    Use: where every person counts the same, however many documents each compared.
    Reference: C. Buckley, trec_eval (measure `prefs_avgjg`).

    >>> from rankproof.core.judgments import by_levels
    >>> from rankproof.core.measures.preferences import group_ratio
    >>> round(group_ratio(by_levels([2, 1, 0], [0, 1, None])), 4)
    0.5
    """
    return sum(t.ratio for t in _tallies(p, scope)) / len(p.groups)


@measure(
    "PrefsBalanced",
    kind="preference",
    also=("prefs_avgjg_Rnonrel",),
    presets={"prefs_avgjg_Rnonrel_ret": {"scope": "retrieved"}},
)
def balanced_group_ratio(p: Preferences, scope: Scope = "all") -> float:
    """PrefsJudge with as many not relevant documents for each judge as there are relevant ones.

    Formula: mean over judges of fulfilled / possible. Where a judge has fewer documents at level 0 than above it, each
        that lacks counts as one that stands below all relevant ones retrieved; if more, only the best ranked are kept.
        0 for a query with a judge who then has no preference at all.
    Range: 0 to 1.
    Perfect: 1, when every preference is fulfilled.
    Worst: 0, when none is.
    Blind to: how many wrong documents were judged, which is its purpose.
    Use: where pools of wrong documents differ much from judge to judge.
    Reference: C. Buckley, trec_eval (measure `prefs_avgjg_Rnonrel`).

    >>> from rankproof.core.judgments import by_levels
    >>> from rankproof.core.measures.preferences import balanced_group_ratio
    >>> balanced_group_ratio(by_levels([1]))
    1.0
    """
    counts = [_balanced(g, p.retrieved, scope) for g in p.groups]
    return sum(t.ratio for t in counts) / len(counts) if all(t.possible for t in counts) else 0.0


def _balanced(g: Group, retrieved: int, scope: Scope) -> GradeTally:
    size = retrieved if scope == "retrieved" else len(g.level)
    good, bad = g.level > 0, _not_relevant(g)
    relevant, not_relevant = _count(good[:size]), _count(bad[:size])
    if relevant < not_relevant:
        return tally(
            _total_with_fewer(g, relevant) if g.total else _partial_with_fewer(g, size), min(retrieved, size), scope
        )
    lacking = relevant - not_relevant
    fulfilled, possible = tally(g.prefers, retrieved, scope)
    return GradeTally(fulfilled + _count(good[:retrieved]) * lacking, possible + _count(good) * lacking)


def _count(which: Array) -> int:
    return int(np.count_nonzero(which))


def _not_relevant(g: Group) -> Array:
    """Level 0; in a total order below 0 as well."""
    return (g.level <= 0) if g.total else (g.level == 0)


def _total_with_fewer(g: Group, keep: int) -> Array:
    """Every document before the `keep` best ranked of the lowest level.

    That pairs those also with each other and with the dropped ones: trec_eval's way, kept so that
    figures can be compared.
    """
    lowest = g.level == np.nanmin(g.level)
    prefers: Array = g.prefers & ~lowest[None, :]
    prefers[np.ix_(~np.isnan(g.level), np.flatnonzero(lowest)[:keep])] = True
    return prefers


def _partial_with_fewer(g: Group, size: int) -> Array:
    """No preferences of or over not relevant documents after as many as there are relevant ones."""
    wanted = np.ones(size, dtype=bool)
    wanted[np.flatnonzero(_not_relevant(g)[:size])[_count(g.level > 0) :]] = False
    prefers: Array = g.prefers[:size, :size] & wanted[:, None] & wanted[None, :]
    return prefers


if not TYPE_CHECKING:
    __getattr__ = old_names(__name__, {"possible": "possible_preferences", "fulfilled": "fulfilled_preferences"})
