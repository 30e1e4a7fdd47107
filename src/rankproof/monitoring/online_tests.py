"""Experiments in a log as printable results: interleaved lists, variants and a control, clicks without position bias.

print(interleaving("lists.jsonl")); print(variants("search.jsonl")); print(clicks("search.jsonl"))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from rankproof.document.model import Document, PlainData, Result
from rankproof.document.numbers import count
from rankproof.errors import DataError, UsageError, check_whole, explain_calls
from rankproof.monitoring import difference_words
from rankproof.monitoring.clicks import ClickEstimate, ClickTable, attraction, fit_propensities, swap_propensities
from rankproof.monitoring.event_block import USER
from rankproof.monitoring.event_values import Rejected, is_nan, list_of, place_clicks
from rankproof.monitoring.events import Event, EventSchema, Hook, Rejects, changed_events
from rankproof.monitoring.interleave import (
    MISMATCH,
    PLANNED,
    Preference,
    VariantDifference,
    compare_variants,
    score_interleaving,
    split_mismatch,
)
from rankproof.monitoring.monitor import monitor, read_twice
from rankproof.monitoring.online_metrics import OnlineEstimate
from rankproof.monitoring.read import LogReader, read_events
from rankproof.monitoring.rows import RowMaker
from rankproof.monitoring.sessions_and_windows import zone_named
from rankproof.monitoring.words import no_event

VARY = "from documents that were shown at several ranks"


@dataclass(frozen=True)
class Interleavings(PlainData, Result):
    """The rankings that users prefer in interleaved lists."""

    preferences: list[Preference]
    lists: int
    """Events with teams and clicks that are known."""
    clicked: int
    """Events with a click on a team's document; others do not count."""
    without: int
    """Events without teams or clicks."""
    rejected: dict[str, int]

    def _document(self) -> Document:
        return difference_words.interleavings(self)

    def _in_one_line(self) -> str:
        return f"<Interleavings of {self.lists:,} lists: {', '.join(e.verdict for e in self.preferences)}>"


def _events(log: Any, schema: EventSchema, rejects: Rejects, change: Hook | None) -> Iterator[Event]:
    """The events of a log as a hook leaves them, in order of time; a log without any is an error that says why.

    The lines of one event are put together by the rule of `monitor`: those with its id, and equal ones of a user.
    """
    found: dict[Any, Event] = {}
    for event in changed_events(change, read_events(log, schema, rejects)):
        key = event.id or ((event.session or event.user) and repr(event)) or object()
        event.answer, event.other = None, {"teams": event.other.get("teams")}  # no experiment reads more
        first = found.setdefault(key, event)
        if first.query and event.query and first.query != event.query:
            found[object()] = event  # another search under the same id
        elif first is not event:
            _complete(first, event)
    if not found:
        raise no_event(rejects)
    ordered = sorted(found.values(), key=lambda each: each.ts)[::-1]
    found.clear()
    while ordered:  # what is made of an event takes its place in memory
        yield ordered.pop()


def _complete(event: Event, line: Event) -> None:
    """Take what an event lacks from another of its lines; the earliest line says when it was."""
    for name in ("session", "user", "query", "results", "clicks"):
        if getattr(line, name) is not None and not getattr(event, name):
            setattr(event, name, getattr(line, name))
    event.ts = min(event.ts, line.ts)
    if not event.other["teams"]:
        event.other = line.other
    if event.clicks is not None:
        event.clicks = place_clicks(event.clicks, event.results)


class TeamSchema(EventSchema):
    """Events with the team of each rank: a field `teams`, or `team` of each result."""

    def event(self, record: Any) -> Event:
        """The event; `other` has its teams if they are known."""
        event = super().event(record)
        teams = record.get("teams")
        if isinstance(teams, Mapping):
            raise Rejected("bad teams", f"teams: got {teams!r}, expected a list with the team of each rank")
        event.other["teams"] = () if teams is None or is_nan(teams) else list_of(teams, "teams")
        if event.results and not event.other["teams"]:
            hits = list_of(record[self.places(record)[0]["results"]], "results")
            named = all(isinstance(each, Mapping) and "team" in each for each in hits)
            ranked = sorted(zip(event.results, hits, strict=True), key=lambda pair: pair[0].rank) if named else ()
            event.other["teams"] = [each["team"] for _, each in ranked]
        return event


@explain_calls
def interleaving(
    log: Any,
    *,
    columns: Mapping[str, str] | None = None,
    timezone: str = "UTC",
    level: float = 0.95,
    change: Hook | None = None,
) -> Interleavings:
    """Who wins in interleaved lists that a log has: `teams` (the team of each rank) and `clicks` of each event.

    >>> shown = [{"ts": 1.7e9 + i, "user": f"u{i}", "teams": ["new", "old"], "clicks": [1]} for i in range(40)]
    >>> interleaving(shown).preferences[0].verdict
    'first'
    """
    rejects, without = Rejects(silent=change is not None), 0
    rows: list[dict[str, Any]] = []
    schema = TeamSchema(columns, timezone=zone_named(timezone))
    for event in _events(log, schema, rejects, change):
        teams = event.other.get("teams")
        if teams and event.clicks is not None:
            clicks = [each.rank for each in event.clicks if each.rank]
            rows.append({"teams": teams, "clicks": clicks, "user": event.user or event.session})
        else:
            without += 1
    if not rows:
        raise DataError(
            "interleaving: no event has teams and clicks. Next: log the team of each rank as teams, "
            "or as team of each result."
        )
    clicked = sum(any(rank <= len(row["teams"]) for rank in row["clicks"]) for row in rows)
    found = score_interleaving(rows, level=level)
    return Interleavings(found, len(rows), clicked, without, dict(rejects.reasons))


@dataclass(frozen=True)
class Variants(Result):
    """Variants against a control, with intervals that may be looked at every day."""

    control: str
    users: dict[str, int]
    """Different users of each variant."""
    shares: dict[str, float]
    """The planned shares of users."""
    mismatch: float
    """The p-value of the planned shares."""
    several: int
    """Users who met more than one variant."""
    differences: list[VariantDifference]
    rejected: dict[str, int]
    estimates: list[OnlineEstimate]
    """Each metric of each variant."""
    planned: int

    @property
    def broken(self) -> bool:
        """Whether the shares of users show that no difference can be trusted."""
        return self.mismatch < MISMATCH

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        names = ("control", "users", "shares", "mismatch", "broken", "several", "planned", "rejected")
        plain = {name: getattr(self, name) for name in names}
        return plain | {"differences": [asdict(each) for each in self.differences]}

    def _document(self) -> Document:
        return difference_words.variants(self)

    def _in_one_line(self) -> str:
        moved = [f"{e.metric} of {e.variant}" for e in self.differences if e.verdict != "unclear"]
        return f"<Variants against {self.control}: {', '.join(moved) or 'nothing clear'}>"


@explain_calls
def variants(
    log: Any,
    *,
    control: str | None = None,
    shares: Mapping[str, float] | None = None,
    planned: int = PLANNED,
    **settings: Any,
) -> Variants:
    """Each variant that a log names against the control, by users; `settings` are those of `monitor`.

    `shares`, which add up to 1, are those by which users were assigned (alike if none are given), and `planned` the
    users at whom the test is to end. A log from standard input is read twice, so it cannot be one.

    >>> from rankproof import simulate_log
    >>> found = variants(list(simulate_log(900, seed=1, variants=("A", "B"), lift=0.2).records()))
    >>> found.control, found.broken, sorted(found.users)
    ('A', False, ['A', 'B'])
    """
    log = read_twice(log, "variants")
    found = monitor(log, by=("variant",), **settings)
    users, several = _users(log, settings)
    of_variants = [each for each in found.estimates if each.slice == "variant"]
    if len(users) < 2:
        nobody = ", ".join(sorted({each.group for each in of_variants} - set(users)))
        missing = f" with users (the events of {nobody} name neither user nor session)" if nobody else ""
        advice = "log the field user, or session, or name its column" if nobody else "log the field variant"
        raise DataError(f"variants: got {', '.join(users) or 'none'}{missing}, expected two or more. Next: {advice}.")
    estimates = [replace(each, users=users[each.group]) for each in of_variants if each.group in users]
    differences = compare_variants(estimates, control, planned=planned, level=found.settings["level"])
    chosen = control or ("control" if "control" in users else min(users))
    wanted = dict.fromkeys(users, 1 / len(users)) if shares is None else dict(shares)
    return Variants(
        chosen, users, wanted, split_mismatch(users, wanted), several, differences, found.rejected, estimates, planned
    )


def _users(log: Any, settings: Mapping[str, Any]) -> tuple[dict[str, int], int]:
    """How many users each variant has, and how many met several."""
    schema = EventSchema(
        settings.get("columns"), timezone=zone_named(settings.get("timezone", "UTC")), sparse=settings.get("sparse", ())
    )
    maker = RowMaker(schema, ("variant",), (), settings.get("change"))
    pairs: set[tuple[int, int]] = set()
    for block in LogReader(maker, Rejects()).blocks(log):
        user = np.where(block.ids[USER] != 0, block.ids[USER], block.ids[1])
        known = (user != 0) & (block.slices[0] >= 0)
        pairs.update(zip(user[known].tolist(), block.slices[0][known].tolist(), strict=True))
    names = maker.codes[0].names
    users = {name: sum(code == at for _, code in pairs) for at, name in enumerate(names)}
    return {name: n for name, n in sorted(users.items()) if n}, len(pairs) - len({who for who, _ in pairs})


@dataclass(frozen=True)
class Clicks(PlainData, Result):
    """Clicks on documents, corrected for position bias."""

    propensities: list[float]
    source: str
    """Where they come from: given, ranks that vary, or results in random order."""
    shown: list[int]
    """Documents that were shown at each rank."""
    rates: list[float]
    """The share of those documents that was clicked."""
    attraction: ClickEstimate
    """The share that would be clicked if each were looked at."""
    k: int
    rejected: dict[str, int]

    @property
    def guessed(self) -> bool:
        """Whether propensities come from ranks that vary by themselves."""
        return self.source == VARY

    def _document(self) -> Document:
        return difference_words.clicks(self)

    def _in_one_line(self) -> str:
        return f"<Clicks on {count(sum(self.shown), 'document')}: attraction {self.attraction.value:.3g}>"


@explain_calls
def clicks(
    log: Any,
    *,
    propensities: Sequence[float] | None = None,
    swapped: bool = False,
    k: int | None = None,
    columns: Mapping[str, str] | None = None,
    timezone: str = "UTC",
    change: Hook | None = None,
) -> Clicks:
    """Clicks of a log, corrected for position bias by the position-based model.

    `propensities` are known, or found from documents that were shown at several ranks, or (`swapped`) from results in
    random order; those of the first `k` ranks are enough.

    >>> from rankproof import simulate_log
    >>> log = simulate_log(500, seed=1)
    >>> found = clicks(log.records(), propensities=log.propensities, k=3)
    >>> found.attraction.value > found.attraction.naive
    True
    """
    if k is not None:
        check_whole("k", k)
    if propensities is not None and swapped:
        raise UsageError("clicks: got propensities and swapped, expected one of them at most. Next: leave one out.")
    schema = EventSchema(columns, timezone=zone_named(timezone))
    rejects = Rejects(silent=change is not None)
    table = ClickTable.of(_events(log, schema, rejects, change))
    if propensities is not None:
        source, found = "given", [float(each) for each in propensities]
        if k is not None and len(found) < table.depth:
            table = table.top(k)  # the others need no propensity
    elif swapped:
        source, found = "from results in random order", swap_propensities(table)
    else:
        source, found = VARY, fit_propensities(table)
    cut = min(k or table.depth, table.depth)
    shown = np.bincount(table.rank, minlength=table.depth)
    rates = np.bincount(table.rank, table.click, table.depth) / np.maximum(shown, 1)
    main, why = attraction(table, found, k=cut), dict(rejects.reasons)
    return Clicks(found, source, shown.tolist(), rates.tolist(), main, cut, why)
