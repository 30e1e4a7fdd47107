"""How fast rankproof is beside its peers: `python benchmarks/run.py [NAME ...]`.

Each pair does the same work on the same data in one run, in turns; the ratio of the medians is what counts.
"""

from __future__ import annotations

import argparse
import platform
import sys

import logs  # noqa: F401  its cases enter the table as it is loaded
import reports  # noqa: F401  the same
import retrieve  # noqa: F401  the same
import runner  # noqa: F401  the same
from cases import CASES
from timing import Result, compare

HEADING = ("work", "peer", "ours", "peer's", "ratio", "promised", "")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(".")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(CASES)}; all without")
    names = parser.parse_args().names or list(CASES)
    unknown = [name for name in names if name not in CASES]
    if unknown:
        parser.error(f"no case {unknown[0]!r}; there are {', '.join(CASES)}")
    results = [result for name in names for result in _run(name)]
    print(_table(results))
    return 0 if all(result.kept for result in results) else 1


def _run(name: str) -> list[Result]:
    """The results of a case; a peer that is not installed is said and left out."""
    print(f"{name} ...", file=sys.stderr, flush=True)
    try:
        return [compare(pair) for pair in CASES[name]()]
    except ModuleNotFoundError as error:
        print(f"{name}: left out, {error.name} is not installed", file=sys.stderr)
        return []


def _table(results: list[Result]) -> str:
    rows = [HEADING, *map(_row, results)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    said = f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}; medians"
    return "\n".join([*lines, "", said])


def _row(result: Result) -> tuple[str, ...]:
    pair = result.pair
    return (
        pair.what,
        pair.peer,
        _amount(result.ours),
        _amount(result.theirs),
        f"{result.ratio:.2f} x",
        f"{pair.promised:.2f} x",
        "" if result.kept else "NOT KEPT",
    )


def _amount(value: float) -> str:
    if value > 100_000:
        return f"{value / 2**20:.0f} MiB"
    return f"{value:.3f} s" if value >= 0.1 else f"{value * 1000:.3f} ms"


if __name__ == "__main__":
    sys.exit(main())
