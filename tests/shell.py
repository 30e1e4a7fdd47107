"""The command line run in this process, for what a process of its own would add nothing to but time."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from rankproof import progress
from rankproof.cli import run

PLAIN = {"COLUMNS": "80", "NO_COLOR": "1"}
FIRST, QUIET = progress.FIRST, 60.0
"""Seconds before a command says how far it is: on a busy machine all take longer. A test may set others."""


def rankproof(folder: Path, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """What `rankproof WORDS...` comes to in the folder, as `subprocess.run` would tell it."""
    out, err = _stream(), _stream()
    with (
        chdir(folder),
        patch.dict(os.environ, PLAIN),
        patch.object(sys, "stdin", _stream(stdin)),
        patch.object(progress, "FIRST", QUIET if progress.FIRST == FIRST else progress.FIRST),
        own_modules(folder),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        code = run(words)
    return subprocess.CompletedProcess(words, code, _text(out), _text(err))


def _stream(text: str = "") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8", write_through=True)


def _text(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


@contextmanager
def own_modules(folder: Path) -> Iterator[None]:
    """Forget the modules of the folder afterwards, as the end of a process would."""
    path, before = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    sys.path_importer_cache.pop(str(folder), None)
    for name in {each for each in sys.modules if not each.startswith("rankproof.")} - before:  # ours may be in it
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(folder)):
            del sys.modules[name]
