"""The walls: who may import whom, no cycles, and what `import rankproof` loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import rankproof

ROOT = Path(rankproof.__file__).parent

MAY_IMPORT = {
    "errors": set(),
    "display": set(),
    "core": {"errors"},
    "stats": {"errors", "core"},
    "io": {"errors", "core", "outputs"},
    "store": {"errors", "core", "outputs"},
    "sample": {"errors"},
    "progress": {"errors"},
    "outputs": {"errors"},
    "judging": {"errors", "core", "stats", "io", "store", "progress"},
    "advice": {"errors", "core", "stats"},
    "bench": {"errors", "core", "stats", "io", "store", "progress"},
    "reporting": {"errors", "core", "stats", "advice"},
    "api": {
        *("errors", "core", "stats", "io", "store", "judging", "advice", "bench", "reporting", "sample"),
        *("progress", "outputs"),
    },
    "functional": {"errors", "core", "api"},
    "compat": {"errors", "core", "stats", "io", "reporting", "api"},
    "pytest_plugin": {"errors", "api"},
    # The command line is the one face that mounts another: `rankproof trec_eval` hands its words to compat.
    "cli": {
        *("errors", "core", "stats", "io", "store", "judging", "advice", "bench", "reporting", "api"),
        *("sample", "progress", "outputs", "compat"),
    },
}
for _layer in MAY_IMPORT.keys() - {"errors", "display", "progress", "sample"}:
    MAY_IMPORT[_layer].add("display")  # how a result shows itself is the same everywhere
PUBLIC = set(rankproof.__all__)
"""Names of the public face; a result that hands itself to a later wing takes them from there."""
CORE_MAY_LOAD = {"numpy", "rankproof"} | set(sys.stdlib_module_names)
CORE_MUST_NOT_USE = {
    "logging",
    "random",
    "time",
    "datetime",
    "pathlib",
    "os",
    "io",
    "sqlite3",
    "socket",
    "subprocess",
}
ALWAYS_ALLOWED = {"numpy", "rankproof"} | set(sys.stdlib_module_names)
AT_THE_TOP = {"cli": {"click"}, "pytest_plugin": {"pytest"}}


def modules() -> dict[str, Path]:
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = ("rankproof", *path.relative_to(ROOT).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path, *, top_only: bool = False) -> set[str]:
    nodes = parsed(path).body if top_only else list(ast.walk(parsed(path)))
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= inside if inside <= set(MODULES) else inside | {node.module}
    return found


def layer(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def reached(module: str) -> set[str]:
    """The other layers that a module imports from."""
    used = {layer(name) for name in imports(MODULES[module]) if name.startswith("rankproof.")}
    return used - {layer(module), "__version__"} - PUBLIC


@pytest.mark.parametrize("own", sorted({layer(m) for m in MODULES} - {"", "__main__"}))
def test_a_module_imports_only_what_its_layer_may(own: str) -> None:
    over = {m: reached(m) - MAY_IMPORT[own] for m in MODULES if layer(m) == own}
    assert not any(over.values()), f"over a wall: { {m: walls for m, walls in over.items() if walls} }"


def test_the_core_uses_numpy_and_plain_python_only() -> None:
    for module in filter(lambda m: layer(m) == "core", MODULES):
        used = {name.split(".")[0] for name in imports(MODULES[module])}
        assert used <= CORE_MAY_LOAD, f"{module}: {used - CORE_MAY_LOAD}"
        assert not used & CORE_MUST_NOT_USE, f"{module}: {used & CORE_MUST_NOT_USE}"
        calls = [n.func for n in ast.walk(parsed(MODULES[module])) if isinstance(n, ast.Call)]
        called = {call.id for call in calls if isinstance(call, ast.Name)}
        assert not called & {"print", "open", "input"}, f"{module} prints or reads"


def test_heavy_packages_are_imported_inside_functions() -> None:
    for module, path in MODULES.items():
        used = {name.split(".")[0] for name in imports(path, top_only=True)}
        allowed = ALWAYS_ALLOWED | AT_THE_TOP.get(layer(module), set())
        assert used <= allowed, f"{module}: {used - allowed}"


def test_no_import_cycles() -> None:
    graph = {
        m: {name for name in imports(p, top_only=True) if name in MODULES and name != m}
        for m, p in MODULES.items()
    }
    done: set[str] = set()
    path: list[str] = []

    def visit(module: str) -> None:
        assert module not in path, " -> ".join([*path[path.index(module) :], module])
        if module in done:
            return
        path.append(module)
        for other in sorted(graph[module]):
            visit(other)
        path.pop()
        done.add(module)

    for module in sorted(graph):
        visit(module)


def test_no_module_bears_the_name_of_a_public_function() -> None:
    directly_under = {m.split(".")[1] for m in MODULES if m.count(".") >= 1}
    assert not directly_under & set(rankproof.__all__)


def test_no_package_has_a_module_and_something_else_under_one_name() -> None:
    """Importing such a module puts it in place of the function that the package gives under that name."""
    for module, path in MODULES.items():
        if path.name != "__init__.py":
            continue
        below = {m.rpartition(".")[2] for m in MODULES if m.rpartition(".")[0] == module}
        assert not below & _names_bound(parsed(path), module), module


def _names_bound(tree: ast.Module, package: str) -> set[str]:
    """What a module binds at its top, but for modules of its own package."""
    names = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module != package:
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def test_importing_rankproof_loads_nothing_heavy() -> None:
    code = "import sys, rankproof; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"numpy", "narwhals", "click", "rich", "pandas", "polars", "pyarrow"} & set(loaded)


def test_no_assert_and_no_catch_all_in_the_library() -> None:
    for module, path in MODULES.items():
        for node in ast.walk(parsed(path)):
            assert not isinstance(node, ast.Assert), f"{module}:{node.lineno} asserts"
            if isinstance(node, ast.ExceptHandler):
                broad = node.type is None or (
                    isinstance(node.type, ast.Name) and node.type.id in {"Exception", "BaseException"}
                )
                raises_again = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
                assert not broad or raises_again, f"{module}:{node.lineno} catches everything"


def test_the_base_install_is_small() -> None:
    import tomllib

    project = tomllib.loads((ROOT.parents[1] / "pyproject.toml").read_text())["project"]
    names = {d.split(">")[0].split("<")[0].split("[")[0].strip() for d in project["dependencies"]}
    assert names == {"numpy", "narwhals", "click"}, "a new base dependency needs a reason in the changelog"
