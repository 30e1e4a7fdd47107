"""Docstrings, which are part of what is shown: found also where Python runs without them (`-OO`)."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from typing import Any

STRIPPED = 2
"""From this level of optimisation on, Python has dropped all docstrings."""


def docstring(thing: Any) -> str:
    """The docstring of a function, class or module; empty where it has none.

    >>> docstring(docstring).partition(";")[0]
    'The docstring of a function, class or module'
    """
    if sys.flags.optimize < STRIPPED:
        return inspect.getdoc(thing) or ""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(thing)))
    except (OSError, TypeError, SyntaxError):
        return ""
    body = tree if inspect.ismodule(thing) else tree.body[0]
    known = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return (ast.get_docstring(body) or "") if isinstance(body, known) else ""
