"""The source files behind a function that is named by words: its module's, and those it imports from beside it."""

from __future__ import annotations

import ast
import sysconfig
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from types import ModuleType

INSTALLED = ("site-packages", "dist-packages")
"""Folders whose modules come from somewhere else, and change with their version only."""


def module_digest(module: ModuleType) -> str | None:
    """The same while no line of code of the module, and of what it imports from beside it, changes.

    None where the module has no source file, or is installed.
    """
    path = Path(getattr(module, "__file__", None) or "")
    if path.suffix != ".py" or not path.is_file() or _is_installed(path):
        return None
    return files_digest([path], _root(path, module.__name__))


def _is_installed(path: Path) -> bool:
    return bool(set(INSTALLED) & set(path.parts)) or path.is_relative_to(sysconfig.get_path("stdlib"))


def files_digest(paths: Iterable[Path], root: Path) -> str:
    """The digest of these files of code, and of all that they import from the folder `root`.

    Comments, blank lines and where a file is make no difference.
    """
    digest = blake2b(digest_size=12)
    for tree in _reached([path.resolve() for path in paths], root.resolve()):
        digest.update(ast.dump(tree).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


def _root(path: Path, name: str) -> Path:
    """The folder from which the module is imported under its name."""
    above = name.count(".") + (path.name == "__init__.py")
    return path.resolve().parents[above] if above < len(path.resolve().parents) else path.parent


def _reached(waiting: list[Path], root: Path) -> Iterator[ast.Module]:
    seen: set[Path] = set()
    while waiting:
        path = waiting.pop(0)
        if path in seen:
            continue
        seen.add(path)
        tree = _tree(path)
        yield tree
        waiting += _imports(tree, path, root)


def _tree(path: Path) -> ast.Module:
    """The code of a file; of one that is no Python its bytes, since something may import it all the same."""
    content = path.read_bytes()
    try:
        return ast.parse(content)
    except (SyntaxError, ValueError):
        return ast.Module(body=[ast.Expr(ast.Constant(content))], type_ignores=[])


def _imports(tree: ast.Module, path: Path, root: Path) -> Iterator[Path]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _files([root, path.parent], alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            folders = [path.parents[node.level - 1]] if 0 < node.level <= len(path.parents) else []
            parts = node.module.split(".") if node.module else []
            for alias in node.names:
                yield from _files(folders or [root, path.parent], [*parts, alias.name])


def _files(folders: Iterable[Path], parts: list[str]) -> list[Path]:
    """The files that importing this dotted name runs, in the first of the folders that has some."""
    for folder in folders:
        places = [folder.joinpath(*parts[:end]) for end in range(1, len(parts) + 1)]
        either = [(place / "__init__.py", place.with_name(f"{place.name}.py")) for place in places]
        found = [each for pair in either for each in pair if each.is_file()]
        if found:
            return found
    return []
