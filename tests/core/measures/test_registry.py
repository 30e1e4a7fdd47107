"""Measures that few evaluations need are loaded when they are asked for, and nobody can tell."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest

from rankproof.core.names import parse

FIRST = {
    "a late measure": "rankproof.core.names.parse('RBO')",
    "another name of one": "rankproof.core.names.parse('ERR_IA@20')",
    "the module of one": "import rankproof.core.measures.novelty",
    "a measure of one's own": "rankproof.measure('Own')(lambda h: h.count())",
    "how many there are": "len(REGISTRY)",
}


def told(first: str, then: str) -> list[str]:
    code = f"import rankproof, rankproof.core.names\nfrom rankproof.core.names import REGISTRY\n{first}\n{then}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.slow
def test_the_measures_and_their_order_are_the_same_whatever_was_asked_for_first() -> None:
    every = told("", "print(*REGISTRY)")
    assert "RBO" in every
    for what, first in FIRST.items():
        listed = told(first, "print(*REGISTRY)")
        assert [each for each in listed if each != "Own"] == every, what
        assert ("Own" in listed) == ("own" in what), what


@pytest.mark.slow
def test_the_name_of_a_measure_that_is_not_loaded_yet_is_taken() -> None:
    for name in ("RBO", "ERR_IA", "nDCG"):
        then = f"""
try:
    rankproof.measure({name!r})(lambda h: h.count())
except rankproof.errors.UsageError as error:
    print(error)
"""
        assert {"exists", "already."} <= set(told("", then)), name


@pytest.mark.slow
def test_threads_that_ask_for_late_measures_at_once_all_get_them() -> None:
    first = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
sys.setswitchinterval(1e-5)
together = threading.Barrier(16)
names = ["ERR@10", "RBP", "Bpref", "alpha_nDCG@10", "infAP", "INST", "SDCG@5", "RBO"] * 2
def ask(name):
    together.wait()
    return rankproof.core.names.parse(name)
with ThreadPoolExecutor(16) as pool:
    found = list(pool.map(ask, names))
"""
    assert told(first, "print(len(found))") == ["16"]


@pytest.mark.parametrize(
    ("name", "bounds"),
    [
        *[
            ("TP@5", (0, 5)),
            ("FP(rel=2)@5", (0, 5)),
            ("FirstRel@5", (1, 6)),
            ("NumRet@5", (0, 5)),
            ("NumRelRet@3", (0, 3)),
        ],
        *[("FP", (0, math.inf)), ("FN@5", (0, math.inf)), ("FirstRel", (1, math.inf))],
    ],
)
def test_what_is_counted_down_to_a_cutoff_is_bounded_by_it(name: str, bounds: tuple[float, float]) -> None:
    assert parse(name).spec.bounds == bounds
