"""What every test may ask for."""

from __future__ import annotations

import gc
import os
import shutil
import signal
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

# How long an example takes says more of what else a machine does than of the code.
settings.register_profile("rankproof", deadline=None, max_examples=70)
settings.register_profile("quick", deadline=None, max_examples=25)
settings.load_profile("rankproof")

pytest_plugins = ["pytester"]
collect_ignore_glob = ["golden/*"]  # scripts that make data, each in an environment of its own

SHARED = Path(__file__).resolve().parents[1].parent / "shared" / "data"


TRACED = 1
"""Cases of a slow test that are traced: the others reach what these reach."""

IN_MEMORY, ROOM = Path("/dev/shm"), 2 << 30


def has_room(folder: Path) -> bool:
    """Whether tests can write there, and run what they wrote."""
    if not os.access(folder, os.W_OK) or shutil.disk_usage(folder).free < ROOM:
        return False
    return not os.statvfs(folder).f_flag & os.ST_NOEXEC


def pytest_configure(config: pytest.Config) -> None:
    """Let Ctrl-C interrupt what the tests start, also where they run in the background of a shell.

    Files are written into memory where there is room: the disk is asked thousands of times whether it has them. The
    inner loop tries fewer examples, unless a profile is named.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if has_room(IN_MEMORY):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))
    if config.getoption("markexpr") == "not slow" and not config.getoption("--hypothesis-profile"):
        settings.load_profile("quick")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Examples in docstrings are looked for in the library, not in tests."""
    return [each for each in (yield) if not isinstance(each, DoctestModule)]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Ten thousand tests and what they import are no garbage, and need not be looked through for it again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000, 20, 50)  # a tenth of the time went to look through what tests keep
        gc.enable()


def pytest_unconfigure() -> None:
    gc.unfreeze()  # libraries that count what is left at the end would call it lost


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a function marked `first_is_quick`, every case but the first (as many as the mark says) is slow.

    What is slow is not traced when coverage is measured, unless it is marked `cover`, and one of the first cases:
    tracing takes as long again.
    """
    items.sort(key=lambda item: item.get_closest_marker("timeout") is None)  # none waits for the longest at the end
    met: Counter[str] = Counter()
    for item in items:
        function = item.nodeid.partition("[")[0]
        met[function] += 1
        mark = item.get_closest_marker("first_is_quick")
        if mark is not None and met[function] > (mark.args or (1,))[0]:
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("slow") and (not item.get_closest_marker("cover") or met[function] > TRACED):
            item.add_marker(pytest.mark.no_cover)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real inputs with known outputs, kept beside the checkout."""
    if not (SHARED / "SOURCES.md").exists():
        pytest.skip(f"no reference data at {SHARED}")
    return SHARED
