"""The online metrics, each declared once: its meaning, the fields it needs, and its two sums.

A metric is the sum of `of` over the sum of `by`. Both are columns with a number for each event; `by` is 0 if the
event does not have what the metric needs, so that nothing is guessed about it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from rankproof.core.hits import Array
from rankproof.document.model import Displayable
from rankproof.errors import UsageError, check_each, check_whole, nearest

Columns = Mapping[str, Array]
Sum = Callable[[Columns], Array]
CUTOFFS = (1, 3, 5, 10)


@dataclass(frozen=True)
class _Declared(Displayable):
    name: str
    sentence: str
    """Its meaning."""
    needs: tuple[str, ...]
    """The fields without which an event does not count."""
    counted: str
    """The denominator in words."""
    higher: bool
    """Whether more is better."""


@dataclass(frozen=True)
class OnlineMetric(_Declared):
    """A share or a mean between 0 and 1."""

    of: Sum
    by: Sum


@dataclass(frozen=True)
class Percentile(_Declared):
    """A percentile of a column, read from a histogram whose bins are 5 % wide."""

    column: str
    share: float


def _known(*names: str) -> Sum:
    def known(e: Columns) -> Array:
        return np.asarray(~np.isnan(sum(e[name] for name in names)))

    return known


def _shown(e: Columns) -> Array:
    """Searches whose clicks are known, but for those that showed nothing."""
    return np.asarray(~np.isnan(e["clicks"]) & (e["results"] != 0))


def clicked_or_placed(e: Columns) -> Array:
    """Of these searches, those without a click, and those with one whose rank is known."""
    return np.asarray(_shown(e) & ((e["clicks"] == 0) | (e["top_click"] > 0)))


def _click_at(k: int) -> OnlineMetric:
    return OnlineMetric(
        f"ctr@{k}",
        f"searches with results that got a click among the first {k}",
        ("clicks",),
        "searches",
        True,
        lambda e: (e["top_click"] > 0) & (e["top_click"] <= k),
        clicked_or_placed,
    )


METRICS: tuple[OnlineMetric, ...] = (
    OnlineMetric(
        "thumbs_up", "votes that are thumbs up", ("thumb",), "votes", True, lambda e: e["thumb"] > 0,
        lambda e: np.abs(e["thumb"]) > 0,
    ),
    OnlineMetric(
        "vote_share", "events with a thumb, up or down", ("thumb",), "events", True,
        lambda e: np.abs(e["thumb"]) > 0, _known("thumb"),
    ),
    OnlineMetric(
        "ctr", "searches with results that got a click", ("clicks",), "searches", True,
        lambda e: _shown(e) & (e["clicks"] > 0), _shown,
    ),
    OnlineMetric(
        "mrr_first_click", "1 / rank of the first click, where there is one", ("clicks",),
        "searches with a click", True,
        lambda e: np.where(e["first_click"] > 0, 1 / np.maximum(e["first_click"], 1), 0),
        lambda e: e["first_click"] > 0,
    ),
    OnlineMetric(
        "ctr_citation", "answers with citations of which one was clicked", ("clicks", "citations"),
        "answers with citations", True, lambda e: e["cited_click"] > 0, _known("cited_click"),
    ),
    OnlineMetric(
        "abandonment", "sessions without a click and a thumb up", ("session or user", "clicks"), "sessions",
        False, lambda e: e["abandoned"] > 0, _known("abandoned"),
    ),
    OnlineMetric(
        "reformulation", "searches asked again in similar words within 5 minutes",
        ("session or user", "query"), "searches", False, lambda e: e["reformulated"] > 0,
        _known("reformulated"),
    ),
    OnlineMetric(
        "dont_know", 'answers that say "I don\'t know", by flag or by their words', ("abstained or answer",),
        "answers", False, lambda e: e["abstained"] > 0, _known("abstained"),
    ),
    OnlineMetric(
        "no_result", "searches that found nothing", ("results",), "searches", False,
        lambda e: e["results"] == 0, _known("results"),
    ),
    OnlineMetric(
        "citation_coverage", 'answers, "I don\'t know" left out, that cite a document',
        ("answer", "citations"), "answers", True,
        lambda e: (e["citations"] > 0) & (e["answered"] > 0) & (e["abstained"] == 0),
        lambda e: ~np.isnan(e["citations"]) & (e["answered"] > 0) & (e["abstained"] == 0),
    ),
)  # fmt: skip
"""Those without a cutoff, in the order they are shown."""

PERCENTILES: tuple[Percentile, ...] = (
    *(
        Percentile(
            f"latency_p{q}", f"milliseconds that {q} % of events stay below", ("latency_ms",), "events", False,
            "latency_ms", q / 100,
        )
        for q in (50, 95, 99)
    ),
    *(
        Percentile(
            f"margin_p{q}", f"best score minus second best, {q} % of searches lie below", ("results with scores",),
            "searches", True, "margin", q / 100,
        )
        for q in (10, 50, 90)
    ),
)  # fmt: skip
COLUMNS = ("latency_ms", "margin")
"""The columns that have histograms."""


def metrics(cutoffs: Sequence[int] = CUTOFFS, fields: Sequence[str] = ()) -> tuple[OnlineMetric, ...]:
    """All shares and means, click-through at these cutoffs and the means of these fields among them.

    >>> [each.name for each in metrics([3])][2:5]
    ['ctr', 'ctr@3', 'mrr_first_click']
    """
    at = [
        _click_at(check_whole("cutoffs", k))
        for k in dict.fromkeys(check_each("cutoffs", cutoffs, Integral, "whole numbers"))
    ]
    return (*METRICS[:3], *at, *METRICS[3:], *map(_mean_of, fields))


def _mean_of(name: str) -> OnlineMetric:
    """The mean of a field of numbers that the log has, such as a judge's score."""
    needs, known = (f"a number in {name}",), _known(name)
    return OnlineMetric(
        name, f"mean of the field {name}", needs, "events", True, lambda e: np.nan_to_num(e[name]), known
    )


def by_name(name: str, known: Sequence[OnlineMetric | Percentile]) -> OnlineMetric | Percentile:
    """The metric of that name; for an unknown one the nearest is suggested."""
    found = next((each for each in known if each.name == name), None)
    if found is None:
        names = [each.name for each in known]
        raise UsageError(
            f"metric: got {name!r}, expected one of {', '.join(names)}.{nearest(name, names)} Next: choose one."
        )
    return found
