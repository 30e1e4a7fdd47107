"""Verdicts written down by hand, and a ledger that holds them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from rankproof import Verdicts

Line = tuple[str, str, str, object]
Written = Callable[[Iterable[Line]], Path]


@pytest.fixture
def ledger(tmp_path: Path) -> Written:
    """A ledger with these verdicts (relation, left, right, value) of a judge called `gold`."""

    def write(lines: Iterable[Line], judge: str = "gold") -> Path:
        source, target = tmp_path / "lines.jsonl", tmp_path / "ledger.db"
        names = ("relation", "left", "right", "value", "judge")
        source.write_text("".join(json.dumps(dict(zip(names, (*line, judge), strict=True))) + "\n" for line in lines))
        Verdicts(target).import_from(source)
        return target

    return write
