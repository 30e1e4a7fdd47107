"""What differs in a log, in words: between rankings, variants and clicks, and over time, with changes and outages."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from rankproof.core.arrays import by_key
from rankproof.document.charts import timeline
from rankproof.document.model import Block, Bullets, Chart, Document, Paragraph, Part, Table, first_rows
from rankproof.document.numbers import count, probability, setting, share
from rankproof.document.terminal import bin_means, page_height, spark
from rankproof.monitoring.online_metrics import OnlineEstimate, value_of

if TYPE_CHECKING:
    from rankproof.monitoring.change_point import MetricChange
    from rankproof.monitoring.interleave import VariantDifference
    from rankproof.monitoring.monitor import Monitor
    from rankproof.monitoring.online_tests import Clicks, Interleavings, Variants
    from rankproof.monitoring.outages import Outage
    from rankproof.monitoring.sessions_and_windows import Calendar

WIDE = 20
"""The width of a series."""
SHOWN = 3
"""The number of outages, and of changed metrics, on a screen."""
ALONE = "valid at every look; p and verdict corrected (Holm), intervals not"
"""What the intervals and the p-values of variants are."""


def unread(rejected: Mapping[str, int], what: str = "line") -> str:
    """How many lines could not be read, and why; nothing if all could."""
    why = ", ".join(f"{reason} ({number:,})" for reason, number in rejected.items())
    return f" {count(sum(rejected.values()), what)} could not be read: {why}." if rejected else ""


def interleavings(found: Interleavings) -> Document:
    """Each pair of teams: who wins how often."""
    verdicts = {"first": "{0} wins", "second": "{1} wins", "unclear": ""}
    headings = ("first", "second", "users", "won", "tied", "lost", "first wins", "95 %", "p (Holm)", "verdict")
    rows = []
    for each in found.preferences:
        counts = map(count, (each.users, each.wins, each.ties, each.losses))
        interval, verdict = f"[{share(each.low)}, {share(each.high)}]", verdicts[each.verdict]
        told = (share(each.share), interval, probability(each.p_corrected), verdict.format(each.first, each.second))
        rows.append((each.first, each.second, *counts, *told))
    table = Table.of(headings, rows, ("first", "second", "verdict"), shrink=(0, 1))
    left = f" {count(found.without, 'event')} without teams or clicks left out." if found.without else ""
    text = (
        f"{count(found.lists, 'interleaved list')}, {count(found.clicked)} of them with a click. Won, tied and lost "
        f"count lists; the share is by user, whose lists count as one.{left}{unread(found.rejected)}"
    )
    ends = Paragraph("Intervals and p-values hold at every look (betting); a tie counts half.")
    return Document(
        "Which ranking do users prefer?",
        [Part(Paragraph(text)), Part(table), Part(ends)],
        [asdict(each) for each in found.preferences],
        found.to_dict(),
    )


def variants(found: Variants) -> Document:
    """The assignment of users, and the effects of each variant."""
    total = sum(found.users.values())
    shared = Table.of(
        ("variant", "users", "share", "planned"),
        [(name, count(n), share(n / total), share(found.shares[name])) for name, n in found.users.items()],
        ("variant",),
    )
    text = f"Shares as far from the planned ones come by chance with p {probability(found.mismatch)}."
    text += unread(found.rejected)
    parts = [Part(shared), Part(Paragraph(text))]
    if found.broken:
        text = (
            "Assignment is not random: no difference below can be trusted. "
            "Next: find out why users are missing, or give the shares that were planned."
        )
        parts.append(Part(Paragraph(text)))
    if found.several:
        parts.append(Part(Paragraph(f"{count(found.several, 'user')} met more than one variant; they count in each.")))
    if found.differences:
        table = differences_table(found.differences)
        parts.append(Part(Paragraph(f"Against {found.control}, {ALONE}:")))
        parts += first_rows(table, page_height() - 15, 1, "the other differences")
    else:
        parts.append(Part(Paragraph("Nothing can be said yet: a variant has fewer than 100 users, or nothing varies.")))
    end = f"{count(found.planned, 'user')}, where the test is to end ({setting('planned')})"
    parts.append(Part(Paragraph(f"Intervals are tightest at {end}.")))
    moved = {(each.metric, each.variant): each for each in found.differences}
    records = []
    for each in found.estimates:
        record = {"metric": each.metric, "variant": each.group, "users": each.users, "n": each.n}
        record |= {name: getattr(each, name) for name in ("value", "low", "high")}
        for name in ("difference", "low", "high", "p", "p_corrected", "verdict"):
            key = f"difference_{name}" if name in ("low", "high") else name
            record[key] = getattr(moved.get((each.metric, each.group)), name, None)
        records.append(record)
    return Document("Which variant is better?", parts, records, found.to_dict(), kinds={"verdict": str})


def clicks(found: Clicks) -> Document:
    """Clicks by rank, and their estimates if every document were looked at."""
    columns = zip(found.shown, found.rates, found.propensities, strict=False)  # propensities of more ranks may be given
    ranks = [(str(at), count(n), share(rate), share(looked)) for at, (n, rate, looked) in enumerate(columns, 1)]
    table = Table.of(("rank", "shown", "clicked", "looked at"), ranks, ())
    name, main = f"attraction@{found.k}", found.attraction
    value, low, high, naive = (value_of("", of) for of in (main.value, main.low, main.high, main.naive))
    row = (name, value, f"[{low}, {high}]", naive)
    values = Table.of(("estimate", "value", "95 %", "with the bias"), [row], ("estimate",), shrink=(0,))
    opening = (
        f"{count(main.searches, 'search', 'searches')} of {count(main.users, 'user')}. How often a rank is looked at, "
        f"compared with the first, is {found.source}.{unread(found.rejected)}"
    )
    if found.guessed:
        opening += (
            " That is right if they moved for any reason but being the better answer when they stood higher; swap some "
            "results at random to be sure."
        )
    model = (
        f"The model is {main.model}. Attraction is the share of documents that would be clicked if each were looked "
        "at. Intervals take how often a rank is looked at as known."
    )
    if main.clipped:
        model += f" {share(main.clipped)} of the clicks are at ranks that count as looked at in 2 % of cases."
    return Document(
        "What do clicks say without position bias?",
        [
            Part(Paragraph(opening)),
            *first_rows(table, page_height() - 16, 1, "the other ranks"),
            Part(values),
            Part(Paragraph(model), rank=2, name="the model"),
        ],
        [{"estimate": name, **asdict(main)}],
        found.to_dict(),
    )


def differences_table(differences: Sequence[VariantDifference]) -> Table:
    """Differences of variants from the control, the surest first."""
    rows = []
    for each in sorted(differences, key=lambda each: each.p_corrected):
        values = each.difference, each.low, each.high
        off, low, high = (("-" if value < 0 else "+") + value_of(each.metric, abs(value)) for value in values)
        verdict = "" if each.verdict == "unclear" else each.verdict
        rows.append((each.metric, each.variant, off, f"[{low}, {high}]", probability(each.p_corrected), verdict))
    headings = ("metric", "variant", "difference", "95 %", "p", "verdict")
    return Table.of(headings, rows, ("metric", "variant", "verdict"), shrink=(0,))


def outages(found: Monitor, most: int | None = None) -> Iterator[Block]:
    """All outages or those that cost most events, in order of time, and how many there are beside them."""
    worst = set(sorted(found.outages, key=lambda each: each.seen - each.usual)[:most])
    if worst:
        yield Paragraph("Outages:")
        yield Bullets([f"{outage_sentence(each, found.calendar)}." for each in found.outages if each in worst])
    if left := len(found.outages) - len(worst):
        yield Paragraph(f"And {count(left, 'lesser one')}.")


def minute_of(calendar: Calendar, time: int) -> str:
    """A time as people write it, without its seconds."""
    return calendar.stamp(time)[:16].replace("T", " ")


def series_by_metric(found: Monitor) -> dict[str, list[OnlineEstimate]]:
    """The windows of each metric, all events together."""
    return by_key((each.metric, each) for each in found.windows if not each.slice)


def sparkline(values: Sequence[float]) -> str:
    """A series between its least and its greatest value; a series that hardly moves is flat."""
    kept = bin_means([each for each in values if not math.isnan(each)], WIDE)
    if not kept:
        return ""
    low, high = min(kept), max(kept)
    room = max(high - low, 0.1 * abs(high))
    flat = 1 - (high - low) / (room or 1)  # what is constant is one line in the middle, whatever its level
    return spark([0.1 + flat / 2 + (each - low) / (room or 1) for each in kept], 1.1)


def charts_over_time(found: Monitor) -> Iterator[Chart]:
    """Each metric over time, with its intervals, the day it changed, and outages."""
    for name, series in series_by_metric(found).items():
        if len(series) > 1:
            labels = [found.calendar.label(e.start or 0) for e in series]
            ends = [e.value if math.isinf(e.high) else e.high for e in series]
            points = [(label, e.value, e.low, high) for label, e, high in zip(labels, series, ends, strict=True)]
            marks = list(_marks(found, name, series, labels))
            told = f"; {'; '.join(dict.fromkeys(mark[-1] for mark in marks))}" if marks else ""
            yield Chart(f"{name} by {found.settings['window']}{told}", picture=partial(timeline, name, points, marks))


def _marks(
    found: Monitor, metric: str, series: Sequence[OnlineEstimate], labels: list[str]
) -> Iterator[tuple[str, int, int, str]]:
    """Changes of a metric; outages of everything, and bursts of this metric, on the windows that they touch."""
    for each in found.changes:
        if each.metric == metric and not each.slice and each.window in labels:
            at = labels.index(each.window)
            before, after = (value_of(metric, value) for value in (each.before, each.after))
            yield "change", at, at, f"from {each.window} on {after} instead of {before}"
    for outage in found.outages:
        if outage.kind == "source" or outage.what not in ("", metric):
            continue
        touched = [at for at, e in enumerate(series) if (e.start or 0) < outage.end and outage.start < (e.end or 0)]
        # A window without any event has no point: the mark stands between its neighbours.
        later = sum((e.start or 0) < outage.start for e in series)
        first, last = (touched[0], touched[-1]) if touched else (later - 1, min(later, len(series) - 1))
        yield "outage", max(first, 0), last, outage_sentence(outage, found.calendar)


def outage_sentence(each: Outage, calendar: Calendar) -> str:
    """What failed, from when to when."""
    start, end = (minute_of(calendar, time) for time in (each.start, each.end))
    who = {"burst": each.what, "source": f"{each.what} silent"}.get(each.kind)
    who = who or ("hardly any events" if each.seen else "no events")
    when = f"from {start} " + ("to the end of the log" if each.lasts else f"to {end}")
    return f"{who} {when}: {count(each.seen)}, usually {count(round(each.usual))}"


def lasting_changes(found: Monitor) -> list[MetricChange]:
    """The metrics that moved for good, the first first; a slice only if its metric did not move as a whole."""
    whole = {each.metric for each in found.changes if not each.slice}
    return [each for each in found.changes if not each.slice or each.metric not in whole]


def changes(found: Monitor, most: int | None = None) -> Iterator[Block]:
    """All of them, or the first in few words and how many there are beside them."""
    changed = lasting_changes(found)
    told = []
    for each in changed[:most]:
        name = f"{each.metric} {each.slice}={each.group}" if each.slice else each.metric
        between = f" (between {each.low} and {each.high})" if most is None and each.low != each.high else ""
        before, after = (value_of(each.metric, value) for value in (each.before, each.after))
        told.append(f"{name} from {each.window}{between} on: {after} instead of {before}, p {probability(each.p)}.")
    if told:
        yield Paragraph("What changed for good (weekdays and hours taken out; false alarms of all at 5 %, by Holm):")
        yield Bullets(told)
    if left := len(changed) - len(told):
        yield Paragraph(f"And {left} more.")
