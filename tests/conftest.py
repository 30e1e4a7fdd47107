"""What every test may ask for."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes says more of what else a machine does than of the code.
settings.register_profile("rankproof", deadline=None)
settings.load_profile("rankproof")

pytest_plugins = ["pytester"]
collect_ignore_glob = ["golden/*"]  # scripts that make data, each in an environment of its own

SHARED = Path(__file__).resolve().parents[1].parent / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real inputs with known outputs, kept beside the checkout."""
    if not (SHARED / "SOURCES.md").exists():
        pytest.skip(f"no reference data at {SHARED}")
    return SHARED
