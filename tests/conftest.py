"""What every test may ask for."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes says more of what else a machine does than of the code.
settings.register_profile("rankproof", deadline=None)
settings.load_profile("rankproof")

pytest_plugins = ["pytester"]
collect_ignore_glob = ["golden/*"]  # scripts that make data, each in an environment of its own

SHARED = Path(__file__).resolve().parents[1].parent / "shared" / "data"


def pytest_configure() -> None:
    """Let Ctrl-C interrupt what the tests start, also where they run in the background of a shell."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real inputs with known outputs, kept beside the checkout."""
    if not (SHARED / "SOURCES.md").exists():
        pytest.skip(f"no reference data at {SHARED}")
    return SHARED
