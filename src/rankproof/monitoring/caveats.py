"""What a reader of the numbers must know: users who send most of a log, fields that are not there, an empty log."""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankproof.core.hits import Array
from rankproof.document.model import Displayable
from rankproof.document.numbers import count
from rankproof.document.terminal import for_face
from rankproof.errors import DataError
from rankproof.monitoring.block import MOST_VALUES, count_hashes
from rankproof.monitoring.events import Rejects
from rankproof.monitoring.rows import RowMaker

if TYPE_CHECKING:
    from rankproof.monitoring.monitor import Monitor
    from rankproof.monitoring.sums import Sums

KNOWN = 0.95
"""If fewer clicks than this share have a rank, metrics by rank mislead."""
HEAVY, TIMES = 0.05, 5.0
"""A user is named who sends this share of all events, and so many times as much as the mean user."""
FOLLOWED = 1000
"""The number of users whose events are counted individually."""
BUCKETS = 1 << 16
"""Parts that users fall into by their hashes before they are counted."""


@dataclass(frozen=True)
class HeavyUser(Displayable):
    """A user who sends so many events that the metrics mostly describe this user."""

    user: str
    events: int
    share: float
    without: dict[str, float]
    """Each share and mean without this user."""


class Senders:
    """How many events the users who send most of a log have sent."""

    def __init__(self) -> None:
        self._users: Counter[int] = Counter()

    def add(self, ids: Array) -> None:
        """Count the users of some events."""
        bucket = (ids & np.uint64(BUCKETS - 1)).astype(np.int64)
        # Whoever sends much is in a bucket with much in it: to count the others of a long block takes long.
        users, counts = count_hashes(ids[(np.bincount(bucket, minlength=BUCKETS) * FOLLOWED > len(ids))[bucket]])
        if len(users) > FOLLOWED:
            most = np.argpartition(counts, -FOLLOWED)[-FOLLOWED:]
            users, counts = users[most], counts[most]
        self._users.update(dict(zip(users.tolist(), counts.tolist(), strict=True)))
        if len(self._users) > 10 * FOLLOWED:
            self._users = Counter(dict(self._users.most_common(FOLLOWED)))

    def heavy(self, sums: Sums, maker: RowMaker, events: int) -> list[HeavyUser]:
        """Users who send so many of these events that the metrics mostly describe them."""
        del self._users[0]
        users = max(int((sums.total[("", "")].by.sum(0) > 0).sum()), 1)
        least = max(HEAVY, TIMES / users) * events
        return [
            HeavyUser(maker.name_of(user), sent, sent / events, sums.without(user))
            for user, sent in self._users.most_common(3)
            if sent >= least
        ]


class Absent(str):
    """A note on what was asked for by name and is not in the log: it is on every screen."""

    __slots__ = ()


def no_event(rejects: Rejects) -> DataError:
    """The error of a log without events: what was rejected, and why."""
    if not rejects.total:
        dropped = ", or the hook dropped all of it" if rejects.silent else ""
        return DataError(
            f"the log holds no event: it is empty{dropped}. Next: check the path, and how the log was made."
        )
    reason, lines = next(iter(rejects.examples.items()))
    timed = re.search("; '(.+)' holds times$", lines[0])
    return DataError(
        f"the log holds no event: all {rejects.total:,} lines were rejected, most as {reason!r}. {lines[0]}. "
        f"Next: name the columns, like {columns_named('ts', timed[1] if timed else 'when')}, or mend the log."
    )


def columns_named(field: str, column: str) -> str:
    """How the column of a field is named, in Python and on the command line."""
    return for_face(f"columns={{{field!r}: {column!r}}}", f"--columns {shlex.quote(f'{field}={column}')}")


SPARSE_NOTES = {
    "vote_share": "thumb is logged only where somebody voted, so the share who vote is not known. Next: say sparse "
    "thumb if an event without one had no vote.",
    "ctr": "clicks are logged only where somebody clicked, so click-through is not known. Next: say sparse clicks if "
    "an event without them had none.",
}
"""The notes on metrics that are 1, as what they count is logged only where it happened."""


def notes_on(found: Monitor, maker: RowMaker) -> Iterator[str]:
    """Warnings for readers of the numbers."""
    counts = found.counts
    values = {each.metric: each for each in found.estimates if not each.slice}
    for metric, told in SPARSE_NOTES.items():
        each = values.get(metric)
        if each is not None and each.value == 1 and each.n >= 10 and each.n < 0.9 * counts.events:
            yield told
    click, first = values.get("ctr"), values.get("mrr_first_click")
    ranked, clicked = first.n if first else 0, click.n * click.value if click else 0.0
    if ranked < KNOWN * clicked:
        if not ranked:  # searches without a click would be all that ctr@k counts
            for listed in (found.estimates, found.windows, found.profile):
                listed[:] = [each for each in listed if not each.metric.startswith("ctr@")]
        share = "no click has a rank" if not ranked else f"only {ranked / clicked:.0%} of the clicks have a rank"
        left = "ctr@k and mrr_first_click are left out" if not ranked else "ctr@k is too low"
        yield f"{share}, so {left}. Next: log results, or clicks as numbers or objects with a rank."
    if counts.reused:
        yield (
            f"{count(counts.reused, 'event')} with the id of an earlier event and another query: kept apart. "
            "Next: name the field that holds the id of an event."
        )
    if counts.late:
        yield (
            f"{count(counts.late, 'event')} came after the window was closed: counted in the whole log only. "
            "Next: allow more lateness."
        )
    if not counts.sessions:
        yield (
            "no event names a session or a user, so each counts as one of its own: intervals are too short if "
            "some people sent many. Next: log a session or a (hashed) user."
        )
    for name, key in maker.schema.unmet.items():
        yield Absent(f"no event has the column {key}, which was named for {name}. Next: check its name.")
    for name, codes in zip(maker.by, maker.codes, strict=True):
        if len(codes.names) > MOST_VALUES:
            yield f"{name} has more than {MOST_VALUES} values; those met later are one, '(other values)'."
        if not codes.names and name != "variant":
            yield Absent(f"no event has the field {name}. Next: check its name.")
    for name in maker.fields:
        if all(each.metric != name for each in found.estimates):
            role = maker.schema.field_of(name)
            yield Absent(
                f"{name} is read as {role}, not as a field of its own. Next: check what {role} says."
                if role
                else f"no event has a number in the field {name}. Next: check its name and what it holds."
            )
    if math.isnan(found.estimates[0].low) and counts.events:
        yield "all events come from one user (or session), so it is not known how far others differ: no intervals."
