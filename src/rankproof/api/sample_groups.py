"""Groups of samples: whatever `by=` may be for queries, or the name of a column of the samples themselves."""

from __future__ import annotations

from typing import Any

from rankproof.api.grouping import grouped, groups_of
from rankproof.core.hits import Array
from rankproof.errors import UsageError, nearest
from rankproof.judging.samples import Sample


class SampleGroups:
    """The groups of samples while these are read one by one."""

    def __init__(self, by: Any) -> None:
        from rankproof.io.groups import by_name

        self._column = by if isinstance(by, str) and by_name(by) is None else None
        self._by = None if self._column is not None else groups_of(by)
        self._found: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._columns: dict[str, None] = {}

    def add(self, sample: Sample) -> None:
        """Take the group of one sample, if a column holds it."""
        if self._column is None:
            return
        self._columns.update(dict.fromkeys(sample.others))
        if self._column in sample.others:
            group = str(sample.others[self._column])
            self._found[sample.id] = self._names.setdefault(group, group)

    def of(self, samples: tuple[str, ...]) -> dict[str, Array]:
        """For each group where its samples stand."""
        if self._column is None:
            return grouped(samples, self._by)
        if not self._found:
            known = ", ".join(self._columns) or "none beside the fields of a sample"
            raise UsageError(
                f"by: {self._column!r} is no file and no column of the samples; their columns are {known}."
                f"{nearest(self._column, self._columns)} Next: name one of them, or a file of lines ID<TAB>GROUP."
            )
        return grouped(samples, self._found)
