"""What the page of types calls does what its types say."""

from __future__ import annotations

import pytest

from tests.typing import api


@pytest.mark.parametrize("name", ["scored", "compared", "shown", "diagnosed", "benched", "judged"])
def test_a_typed_call_runs(name: str) -> None:
    found = getattr(api, name)()
    kinds = (
        [each.__name__ for each in map(type, found)] if isinstance(found, tuple) else [type(found).__name__]
    )
    declared = getattr(api, name).__annotations__["return"]
    assert all(kind in declared for kind in kinds), f"{kinds} is not {declared}"
