"""What the examples in the library's docstrings need."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

SOURCE = Path(__file__).parent / "src"
PACKAGE = SOURCE / "rankproof"


def pytest_collect_file(file_path: Path) -> None:
    """Import a module by its name, before pytest looks for examples in it.

    Of a file alone pytest imports the packages above, which may import the module, and then runs it once more: the
    measures in it would be declared twice.
    """
    if file_path.suffix == ".py" and PACKAGE in file_path.parents and not file_path.stem.startswith("__"):
        import_module(".".join(file_path.relative_to(SOURCE).with_suffix("").parts))
