"""Memory does not grow with the number of samples, but for a few numbers a sample."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import resource, sys
from rankproof import judge

def rows(n):
    for i in range(n):
        texts = [f"Thing {i} lies in place {j}. " * 20 for j in range(3)]
        yield {"question": f"Where is {i}?", "contexts": texts, "answer": f"Thing {i} is there."}

judge(rows(int(sys.argv[1])), "context_precision, P@2", judge=lambda relation, left, right: True)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_memory_stays_flat() -> None:
    few, many = (
        int(
            subprocess.run(
                [sys.executable, "-c", SCRIPT, str(n)], capture_output=True, text=True, check=True
            ).stdout
        )
        for n in (5_000, 14_000)
    )
    grown = (many - few) / 9_000  # KiB a sample; its texts alone are 2 KiB
    assert grown < 1.5
