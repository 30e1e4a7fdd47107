"""The command line: `rankproof COMMAND ...`; each command is a thin skin over one public function."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rankproof.errors import RankproofError

if TYPE_CHECKING:
    from click import ClickException

INTERRUPTED = 130
"""What shells call a program that was stopped by Ctrl-C."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with its exit code."""
    try:
        sys.exit(run(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        gc.freeze()  # or Python looks over all that was imported, several times, before it ends


def run(arguments: Sequence[str]) -> int:
    """Do what the arguments say and return the exit code; errors become one message on standard error."""
    from click import Abort, ClickException

    from rankproof.cli.group import rankproof
    from rankproof.cli.output import as_options
    from rankproof.document.terminal import lay_out_for

    lay_out_for("shell")
    _show_to_nobody()
    _show_any_character()
    try:
        code = rankproof.main(list(arguments) or ["--help"], prog_name="rankproof", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        return _reader_left()
    except (Abort, KeyboardInterrupt):
        return INTERRUPTED
    except ClickException as error:
        return _fail(_helped(error), error.exit_code)
    except RankproofError as error:
        return _fail(as_options(str(error)), error.exit_code)
    except OSError as error:
        return _fail(f"{error.filename or 'input or output'}: {error.strerror or error}", 1)
    finally:
        lay_out_for("python")
    return code if isinstance(code, int) else 0


def _helped(error: ClickException) -> str:
    """The message, and where to read how the command is used."""
    context = getattr(error, "ctx", None)
    hint = "" if context is None else f" Next: '{context.command_path} --help' says what there is."
    return f"{error.format_message().rstrip('.')}.{hint}"


def _show_to_nobody() -> None:
    """A process may be started with its output closed: what it says then goes nowhere, and does not fail."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (open to the end)


def _show_any_character() -> None:
    """An id that the terminal cannot show is written in escapes; it is no reason to fail."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _fail(message: str, code: int) -> int:
    print(f"rankproof: {message}", file=sys.stderr)
    return code


def _reader_left() -> int:
    """Whoever read our output has seen enough; Python must not complain about it when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1
