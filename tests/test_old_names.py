"""Modules that moved are found by their old names, with a warning, and are what stands at the new place."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from rankproof._moved import MOVED


@pytest.mark.parametrize("old", sorted(MOVED))
def test_an_old_name_gives_what_stands_at_the_new_place(old: str) -> None:
    code = f"""
import importlib, warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    old = importlib.import_module({old!r})
new = importlib.import_module({MOVED[old]!r})
names = [name for name in vars(new) if not name.startswith("__")]
assert names and all(getattr(old, name) is getattr(new, name) for name in names)
print(*(str(each.message) for each in told if each.category is DeprecationWarning))
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == f"{old} is now {MOVED[old]}. Next: import it from there."


def test_what_never_was_is_still_not_found() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"rankproof\.api\.nothing"):
        __import__("rankproof.api.nothing")


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("core.paper", "wanted", "relevant_step"),
        ("core.paper", "summed", "sum_step"),
        ("stats.paired", "paired", "paired_differences"),
        ("core.measures.preferences", "possible", "possible_preferences"),
    ],
)
def test_a_function_of_the_docs_is_found_by_its_old_name(module: str, old: str, new: str) -> None:
    found = importlib.import_module(f"rankproof.{module}")
    with pytest.warns(
        DeprecationWarning, match=f"{module}.{old} is now {new}. Next: use the new name."
    ) as told:
        assert getattr(found, old) is getattr(found, new)
    assert told[0].filename == __file__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        assert found.nothing
