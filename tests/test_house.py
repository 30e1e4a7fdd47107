"""The house stays easy to live in: what `tests/house.py` counts may only fall.

Lower a ceiling here when a change gets below it, so that the next one cannot climb back.
"""

from __future__ import annotations

import pytest

from tests.house import counts

CEILINGS = {
    "files": 348,  # the wing monitoring is being built: lowered when it stands
    "lines": 80_000,
    "code lines": 53_000,
    "file names used twice": 38,
    "class names in two packages": 9,
    "short helpers used once": 526,
    "circles": 0,
    "modules crossed by evaluate": 43,
    "modules crossed by gate": 50,
    "modules crossed by judge": 57,
}


@pytest.mark.slow
def test_what_makes_a_house_hard_to_live_in_only_falls() -> None:
    found = counts()
    assert set(found) == set(CEILINGS)
    assert {name: number for name, number in found.items() if number > CEILINGS[name]} == {}
