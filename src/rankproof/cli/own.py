"""Measures of the user's own on the command line: the Python code that declares them is run first."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from rankproof.errors import RankproofError, UsageError


def declare(sources: Iterable[str]) -> None:
    """Run Python files, or import modules, each once; what they declare is known to every command."""
    for source in sources:
        try:
            load = _run if source.endswith(".py") else _import
            load(source)
        except RankproofError:
            raise
        except (Exception, SystemExit) as error:  # a user's code may raise anything
            raise UsageError(
                f"{source}: cannot be run: {type(error).__name__}: {error}. Next: mend it, or leave --import out."
            ) from error


def _run(source: str) -> None:
    path = Path(source)
    name = f"measures of {path.resolve()}"
    if name in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(name, path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise UsageError(f"{path}: no such file. Next: name a Python file that declares measures.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:  # whatever ended it, a module that is half run is none
        del sys.modules[name]
        raise


def _import(module: str) -> None:
    """Import it from the working folder too, as `python -m` does."""
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    importlib.import_module(module)
