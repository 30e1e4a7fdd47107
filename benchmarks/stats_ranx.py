"""How long does ranx's Fisher randomisation test take? Run in an environment of its own:

    python -m venv env && env/bin/pip install ranx && env/bin/python benchmarks/stats_ranx.py
    python benchmarks/stats.py --ranx env/bin/python

Prints seconds for one test of 1,000 queries and 100,000 permutations, its compilation left out.
"""

from __future__ import annotations

import time

import numpy as np
from ranx.statistical_tests import fisher_randomization_test

QUERIES, PERMUTATIONS, TESTS = 1000, 100_000, 2


def main() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.random(QUERIES), rng.random(QUERIES)
    fisher_randomization_test(first, second, n_permutations=10)
    start = time.perf_counter()
    for _ in range(TESTS):
        fisher_randomization_test(first, second, n_permutations=PERMUTATIONS)
    print((time.perf_counter() - start) / TESTS)


if __name__ == "__main__":
    main()
