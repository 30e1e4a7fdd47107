"""Questions split into parts that are alike: each kind of question in each part, in the same proportion."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from hashlib import blake2b

from rankproof.errors import DataError, UsageError, is_number, shorten


def split(
    queries: Iterable[str], shares: Mapping[str, float], kinds: Mapping[str, str] | None = None, seed: int = 0
) -> dict[str, list[str]]:
    """The queries by part. Of each kind every part gets its share, to the nearest query.

    Which query goes where depends on the ids and `seed`, never on the order they come in.

    >>> parts = split([f"q{n}" for n in range(10)], {"tune": 0.5, "test": 0.5}, seed=1)
    >>> len(parts["tune"]), len(parts["test"]), sorted(parts["tune"] + parts["test"])[:3]
    (5, 5, ['q0', 'q1', 'q2'])
    """
    given = list(queries)
    if kinds is not None and not isinstance(kinds, Mapping):
        raise UsageError(f"kinds: got {shorten(kinds)}, expected {{question: kind}}. Next: give a mapping.")
    _check(given, shares)
    if kinds and given and not any(query in kinds for query in given):
        raise DataError(
            f"kinds: names none of the {len(given)} questions, as {shorten(given[0])}. "
            "Next: check that the ids of both are alike."
        )
    groups: dict[str, list[str]] = {}
    for query in given:
        groups.setdefault(str((kinds or {}).get(query, "")), []).append(query)
    owed = dict.fromkeys(shares, 0.0)
    parts: dict[str, str] = {}
    for kind in sorted(groups):
        for query in sorted(groups[kind], key=lambda each: _hash(f"{seed} {each}")):
            parts[query] = _next_part(owed, shares)
    return {part: [query for query in given if parts[query] == part] for part in shares}


def _next_part(owed: dict[str, float], shares: Mapping[str, float]) -> str:
    """The part that is furthest behind its share gets the next query."""
    for part, share in shares.items():
        owed[part] += share
    chosen = max(owed, key=lambda part: (round(owed[part], 9), shares[part]))
    owed[chosen] -= 1
    return chosen


def _check(queries: list[str], shares: Mapping[str, float]) -> None:
    if len(set(queries)) < len(queries):
        raise DataError("queries: an id comes twice. Next: give each question an id of its own.")
    if not isinstance(shares, Mapping) or not all(is_number(each) for each in shares.values()):
        raise UsageError(
            f"shares: got {shorten(shares)}, expected a share for each name. "
            "Next: give them like {'tune': 0.5, 'test': 0.5}."
        )
    if (
        not shares
        or any(share <= 0 for share in shares.values())
        or not math.isclose(sum(shares.values()), 1)
    ):
        raise UsageError(
            f"shares: got {dict(shares)}, expected a share above 0 for each part, 1 in all. "
            "Next: give them like tune=0.5, test=0.5."
        )


def _hash(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
