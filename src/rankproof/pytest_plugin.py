"""A fixture for gates in a test suite: `pytest -p rankproof.pytest_plugin`, or import it in `conftest.py`.

    def test_search_did_not_get_worse(rankproof_gate):
        rankproof_gate(judgments, baseline, candidate, "nDCG@10", margin=0.01)

The plugin never loads itself: installing rankproof changes no test run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rankproof.comparing.gate import Gate, gate
from rankproof.errors import RankproofError


@pytest.fixture
def rankproof_gate() -> Callable[..., Gate]:
    """`rankproof.gate`: fails the test where the gate fails or the data is bad, skips it where nobody can tell."""
    return check_gate


def check_gate(*arguments: Any, **settings: Any) -> Gate:
    """Run the gate; one that fails, is invalid or cannot be run fails the test, an inconclusive one skips it."""
    try:
        found = gate(*arguments, **settings)
    except RankproofError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    if found.outcome in ("fail", "invalid"):
        pytest.fail(str(found), pytrace=False)
    if found.outcome == "inconclusive":
        pytest.skip(str(found).partition("\n")[0])
    return found
