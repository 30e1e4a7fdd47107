"""Memory does not grow with the number of samples, but for a few numbers a sample."""

from __future__ import annotations

import gc
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from rankproof import judge
from rankproof.judging.verdicts import Relation
from tests.memory import MOST_HELD, needs_kernel_count

SIX = "context_precision, context_recall, context_relevance, faithfulness, answer_relevance, answer_correctness"

SCRIPT = (
    MOST_HELD
    + """
import sys
from rankproof import judge

def rows(n):
    for i in range(n):
        texts = [f"Thing {i} lies in place {j}. " * 20 for j in range(3)]
        yield {"question": f"Where is {i}?", "contexts": texts, "answer": f"Thing {i} is there."}

judge(rows(int(sys.argv[1])), "context_precision, P@2", judge=lambda relation, left, right: True)
print(most_held())
"""
)


@needs_kernel_count
@pytest.mark.slow
def test_memory_stays_flat() -> None:
    few, many = (
        int(subprocess.run([sys.executable, "-c", SCRIPT, str(n)], capture_output=True, text=True, check=True).stdout)
        for n in (4_000, 9_000)
    )
    assert (many - few) / 5_000 < 512, "bytes a sample; its texts alone are 2,000"


@pytest.mark.slow
def test_a_sample_leaves_its_id_and_a_few_numbers_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankproof.judging.evidence.IN_MEMORY", 1)
    monkeypatch.setattr("rankproof.judging.run.BATCH", 100)
    monkeypatch.setattr("rankproof.judging.run.TEXTS", 1_000)
    taken: list[int] = []

    def samples(n: int) -> Iterator[dict[str, Any]]:
        for i in range(n):
            if i in (100, 700):  # a batch was judged, and the next is not read yet
                gc.collect()
                taken.append(tracemalloc.get_traced_memory()[0])
            texts = {"reference": "It is red. It is big.", "answer": "It is red, they say."}
            yield {"id": f"id-{i:03}", "question": "What is it?", "contexts": ["It is red.", "No."], **texts}

    def one_lacks(relation: str, left: str, right: str) -> bool | None:
        return None if relation == Relation.ANSWER_ADDRESSES else left < right

    tracemalloc.start()
    try:
        scores = judge(samples(701), SIX, judge=one_lacks)
    finally:
        tracemalloc.stop()
    before, after = taken
    assert (after - before) / 600 < 350
    assert len(scores.queries) == 701
    assert scores.unmeasured["answer_relevance"] == {"not settled: the judge could not tell": 701}
