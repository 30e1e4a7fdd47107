"""Verdict tables for the tools that judge text: written once, from a seed, and read by the make_judged_*.py.

python make_judged_cases.py
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

CASES = 60


def case(rng: random.Random) -> dict[str, Any]:
    """What contexts say of the claims of answer and reference, these of each other, and how contexts are graded."""
    answer, reference, contexts, statements = (rng.randint(1, most) for most in (5, 5, 5, 6))

    def says(rows: int, columns: int) -> list[list[int]]:
        return [[rng.choice((-1, 0, 0, 1, 1)) for _ in range(columns)] for _ in range(rows)]

    return {
        "grades": [rng.choice((0, 1, 2, 3)) for _ in range(contexts)],
        "answer_by_contexts": says(answer, contexts),
        "reference_by_contexts": says(reference, contexts),
        "answer_by_reference": [row[0] for row in says(answer, 1)],
        "reference_by_answer": [row[0] for row in says(reference, 1)],
        "answer_bears": [rng.choice((0, 1)) for _ in range(answer)],
        "statements_bear": [[rng.choice((0, 1)) for _ in range(statements)] for _ in range(contexts)],
    }


if __name__ == "__main__":
    rng = random.Random(5)
    cases = {f"case {number}": case(rng) for number in range(CASES)}
    lines = ",\n".join(f"{json.dumps(name)}:{json.dumps(each)}" for name, each in cases.items())
    Path(__file__).with_name("judged_cases.json").write_text(f"{{\n{lines}\n}}\n")
