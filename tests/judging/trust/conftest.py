"""Samples whose truth is known, and a machine that is wrong in a known way."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankproof import judge
from rankproof.judging.verdicts import Ask

METRICS = "P@3, context_precision"


def lot(text: str) -> float:
    """A number from 0 to 1 that follows from a text."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest()) / 2**48


def truth(relation: str, left: str, right: str) -> int:
    return 3 if lot(f"truth {left} {right}") < 0.3 else 0


def machine(relation: str, left: str, right: str) -> int:
    """Finds most of what is relevant, and a third of the rest as well."""
    return 3 if lot(f"machine {left} {right}") < (0.9 if truth(relation, left, right) else 0.33) else 0


def person(ask: Ask) -> int:
    return truth(ask.relation, ask.left, ask.right)


def rows(n: int = 200) -> list[dict[str, Any]]:
    return [{"id": f"s{i}", "query": f"q{i}", "contexts": [f"c{i} {j}." for j in range(1 + i % 6)]} for i in range(n)]


@pytest.fixture(scope="session")
def judged_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ledger") / "verdicts.db"
    judge(rows(), METRICS, judge=machine, ledger=path)
    return path.parent


@pytest.fixture
def ledger(judged_once: Path, tmp_path: Path) -> Path:
    """A ledger of one's own in which the machine judged everything."""
    shutil.copytree(judged_once, tmp_path, dirs_exist_ok=True)
    return tmp_path / "verdicts.db"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Path]:
    monkeypatch.chdir(tmp_path)
    for name in ("RANKPROOF_LEDGER", "RANKPROOF_HISTORY"):
        monkeypatch.delenv(name, raising=False)
    return lambda: tmp_path
