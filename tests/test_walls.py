"""The walls: who may import whom, no circles, and what `import rankproof` loads."""

from __future__ import annotations

import ast
import gc
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import rankproof
from tests.each import with_each

ROOT = Path(rankproof.__file__).parent

ORDER = (
    {"_moved"},
    {"suggestions"},
    {"errors"},
    {"progress", "sample"},
    {"text"},
    {"document"},
    {"core"},
    {"stats", "io", "net"},
    {"store"},
    {"scoring"},
    {"comparing"},
    {"bench", "judging", "monitoring"},
    {"diagnosing"},
    {"reports"},
    {"functional", "demo", "pytest_plugin", "compat", "spark", "web"},
    {"cli"},
    {"__main__"},
)
"""A module imports from its own wing and from wings further up in this list, never from one beside it."""
PLACE = {wing: place for place, wings in enumerate(ORDER) for wing in wings}
LAZY_DOORS = {
    ("scoring.scores", "JudgedScores"): "saved scores may be judged ones, which a later wing reads back",
    (
        "monitoring.drift",
        "judge_drift",
    ): "the last release called that `drift`; the old form is handed on for one more",
    ("bench.benchmark", "diagnose"): "a benchmark hands itself to a later wing",
    ("bench.retrieve.search", "Rerank"): "`search >> scorer` makes what is itself a search",
}
"""Names taken inside a function from a wing, or from a module, that stands later; each with its reason."""
CORE_MAY_LOAD = {"numpy", "rankproof"} | set(sys.stdlib_module_names)
CORE_MUST_NOT_USE = {
    *("logging", "random", "time", "datetime", "pathlib", "os", "io", "sqlite3", "socket", "subprocess")
}
ALWAYS_ALLOWED = {"numpy", "rankproof"} | set(sys.stdlib_module_names)
AT_THE_TOP = {
    "cli": {"click"},
    "pytest_plugin": {"pytest"},
    "monitoring.arrow": {"pyarrow"},
    "monitoring.arrow_columns": {"pyarrow"},
}
"""What a wing, or a module that is loaded only where its package is installed, needs as a whole."""


def modules() -> dict[str, Path]:
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = ("rankproof", *path.relative_to(ROOT).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


@cache
def parsed(path: Path) -> ast.Module:
    gc.disable()  # two thirds of the time would go to look for garbage among what is just being made
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    finally:
        gc.freeze()  # what is kept for good need not be looked through again and again
        gc.enable()


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Everything in a module: to walk it costs as much as to parse it, and many walls do."""
    return tuple(ast.walk(parsed(path)))


def for_types_alone(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def statements(path: Path, *, top_only: bool = False) -> Iterator[ast.AST]:
    """Everything that runs, what is imported for types alone left out."""
    for node in parsed(path).body:
        if not for_types_alone(node):
            yield from [node] if top_only else ast.walk(node)


@cache
def imported(path: Path, *, top_only: bool = False) -> frozenset[tuple[str, str]]:
    """Modules, and the names that are taken from them; "" for a module as a whole."""
    found = set()
    for node in statements(path, top_only=top_only):
        if isinstance(node, ast.Import):
            found |= {(alias.name, "") for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add((whole, "") if whole in MODULES else (node.module, alias.name))
    return frozenset(found)


def wing(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def inner(module: str) -> str:
    return module.removeprefix("rankproof.")


@with_each("own", sorted({wing(m) for m in MODULES} - {""}))
def test_a_module_imports_only_from_wings_before_its_own(own: str) -> None:
    over = [
        f"{inner(module)} takes {name or 'all'} of {inner(other)}"
        for module, path in MODULES.items()
        if wing(module) == own
        for other, name in imported(path)
        if other.startswith("rankproof.") and wing(other) != own and PLACE[wing(other)] >= PLACE[own]
    ]
    assert not over


def test_what_is_taken_from_the_public_face_inside_is_a_named_lazy_door() -> None:
    taken = {(inner(m), name) for m, path in MODULES.items() for other, name in imported(path) if other == "rankproof"}
    faces = {"cli", "demo", "compat", "functional", "pytest_plugin", "__main__", ""}
    within = {(m, name) for m, name in taken if m.split(".")[0] not in faces and name not in ("", "__version__")}
    assert within <= set(LAZY_DOORS)


def test_no_circles_of_imports_those_inside_functions_counted() -> None:
    graph: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        taken = {other for other, name in imported(path) if (inner(module), name) not in LAZY_DOORS}
        graph[module] = taken & set(MODULES) - {module, "rankproof"}
    done: set[str] = set()
    way: list[str] = []

    def visit(module: str) -> None:
        assert module not in way, " -> ".join([*way[way.index(module) :], module])
        if module in done:
            return
        way.append(module)
        for other in sorted(graph[module]):
            visit(other)
        way.pop()
        done.add(module)

    for module in sorted(graph):
        visit(module)


def test_every_lazy_door_is_still_used() -> None:
    used = {(inner(module), name) for module, path in MODULES.items() for _, name in imported(path)}
    assert set(LAZY_DOORS) <= used


def test_the_core_uses_numpy_and_plain_python_only() -> None:
    for module in filter(lambda m: wing(m) in ("core", "text"), MODULES):
        used = {name.split(".")[0] for name, _ in imported(MODULES[module])}
        assert used <= CORE_MAY_LOAD, f"{module}: {used - CORE_MAY_LOAD}"
        assert not used & CORE_MUST_NOT_USE, f"{module}: {used & CORE_MUST_NOT_USE}"
        calls = [n.func for n in nodes(MODULES[module]) if isinstance(n, ast.Call)]
        called = {call.id for call in calls if isinstance(call, ast.Name)}
        assert not called & {"print", "open", "input"}, f"{module} prints or reads"


def test_heavy_packages_are_imported_inside_functions() -> None:
    for module, path in MODULES.items():
        used = {name.split(".")[0] for name, _ in imported(path, top_only=True)}
        allowed = ALWAYS_ALLOWED | AT_THE_TOP.get(wing(module), set()) | AT_THE_TOP.get(inner(module), set())
        assert used <= allowed, f"{module}: {used - allowed}"


def test_only_one_wing_speaks_http() -> None:
    speakers = {"http", "httpx2", "email", "requests", "socket", "ssl"}
    for module, path in MODULES.items():
        spoken = {name for name, _ in imported(path) if name.split(".")[0] in speakers}
        spoken |= {name for name, _ in imported(path) if name.startswith("urllib.re")}
        # `web` answers a browser on this machine and asks nobody.
        assert not spoken or wing(module) in ("net", "web"), f"{module}: {spoken}"


def test_no_module_bears_the_name_of_a_public_function() -> None:
    directly_under = {m.split(".")[1] for m in MODULES if m.count(".") >= 1}
    assert not directly_under & set(rankproof.__all__)


def test_importing_rankproof_loads_nothing_heavy() -> None:
    code = "import sys, rankproof; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "narwhals", "click", "rich", "pandas", "polars", "pyarrow"} & set(loaded)


def test_importing_rankproof_loads_two_modules_of_ours() -> None:
    code = "import sys, rankproof; print(*(m for m in sys.modules if m.startswith('rankproof')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"rankproof", "rankproof._moved"}


SLOW_TO_LOAD = {
    *("numpy.ma", "numpy.random", "hashlib", "secrets", "html", "narwhals", "sqlite3", "asyncio", "shutil"),
    *("rankproof.core.explanation", "rankproof.core.profiles"),
    *("rankproof.core.measures.census", "rankproof.core.measures.novelty"),
}
"""What takes a millisecond or more to load, and few evaluations need."""


@pytest.mark.parametrize(
    ("arguments", "others", "most"),
    [
        (["--help"], {"scoring", "comparing", "stats"}, 13),
        (["evaluate", "q.qrels", "r.run"], {"comparing", "store"}, 82),
    ],
)
def test_a_command_loads_little(tmp_path: Path, arguments: list[str], others: set[str], most: int) -> None:
    (tmp_path / "q.qrels").write_text("q1 0 d1 1\n")
    (tmp_path / "r.run").write_text("q1 Q0 d1 1 2.0 x\nq1 Q0 d2 2 1.0 x\n")
    code = (
        "import sys; from rankproof.cli import run; assert run(sys.argv[1:]) == 0; print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    loaded = done.stderr.splitlines()[-1].split()
    late = {"bench", "judging", "monitoring", "diagnosing", "reports"}
    ours = [m for m in loaded if m.startswith("rankproof")]
    assert not {m for m in ours if wing(m) in late | others}
    by_click = {"shutil"} if arguments == ["--help"] else set()  # to lay out help
    assert not (SLOW_TO_LOAD - by_click) & set(loaded)
    assert len(ours) <= most


def test_no_assert_and_no_catch_all_in_the_library() -> None:
    for module, path in MODULES.items():
        for node in nodes(path):
            assert not isinstance(node, ast.Assert), f"{module}:{node.lineno} asserts"
            if isinstance(node, ast.ExceptHandler):
                broad = node.type is None or (
                    isinstance(node.type, ast.Name) and node.type.id in {"Exception", "BaseException"}
                )
                raises_again = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
                assert not broad or raises_again, f"{module}:{node.lineno} catches everything"


def test_the_base_install_is_small() -> None:
    import tomllib

    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    names = {d.split(">")[0].split("<")[0].split("[")[0].strip() for d in project["dependencies"]}
    assert names == {"numpy", "narwhals", "click"}, "a new base dependency needs a reason in the changelog"


ASK_THE_METRIC = {
    (
        "judging.run",
        "contexts",
    ): "what one metric asks of several contexts together changes the rounds of asking",
    ("judging.trust.correcting", "ADDS_UP"): "metrics over verdicts say nowhere else that they add up",
    (
        "judging.trust",
        "CERTAIN",
    ): "metrics over verdicts say nowhere else that they ask for more than a yes",
}
"""Where a parameter is read by its name, or a measure told by its own, outside the measures; each with its reason."""


def named_measures(path: Path) -> Iterator[str]:
    """The parameters of measures read by name here, and what the name of a measure is compared with."""
    for node in nodes(path):
        match node:
            case ast.Subscript(value=ast.Attribute(attr="params"), slice=ast.Constant(value=str(name))):
                yield name
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(attr="params"), attr="get"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield name
            case ast.Compare(
                left=ast.Attribute(value=ast.Attribute(attr="spec"), attr="name"),
                comparators=[ast.Constant() | ast.Name() | ast.Tuple() as other],
            ) if not isinstance(other, ast.Name) or other.id.isupper():
                yield ast.unparse(other)


def test_what_a_measure_can_do_is_declared_beside_its_formula() -> None:
    inside = ("rankproof.core.measure", "rankproof.core.measures")
    found = {
        (module.removeprefix("rankproof."), name)
        for module, path in MODULES.items()
        if not module.startswith(inside)
        for name in named_measures(path)
    }
    assert found == set(ASK_THE_METRIC)


def test_default_measures_stand_in_one_place() -> None:
    """No module but `core/defaults.py` gives a measure a name as a constant, or as the default of an argument."""
    from rankproof.core.names import parse_all

    def fits(node: ast.expr | None) -> bool:
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or "@" not in node.value:
            return False
        try:
            return bool(parse_all(node.value))
        except rankproof.errors.UsageError:
            return False

    found = set()
    for module, path in MODULES.items():
        name = module.removeprefix("rankproof.")
        for node in nodes(path):
            values = []
            if isinstance(node, ast.Assign | ast.AnnAssign):
                values = [node.value]
            elif isinstance(node, ast.FunctionDef):
                values = [*node.args.defaults, *node.args.kw_defaults]
            elif isinstance(node, ast.keyword) and node.arg == "default":
                values = [node.value]
            found |= {name for value in values if fits(value)}
    assert found == {"core.defaults", "demo"}  # the demo shows its own choice


def test_conventions_are_applied_in_one_place() -> None:
    """What decides a query out of a mean, or a mean off the page, is written in `core/conventions.py` alone."""
    found = set()
    for module, path in MODULES.items():
        name = module.removeprefix("rankproof.")
        for node in nodes(path):
            match node:
                case ast.Compare(left=ast.Attribute(attr="missing" | "no_relevant"), comparators=[ast.Constant()]):
                    found.add(name)
    assert found == {"core.conventions", *SAYS_SO}


SAYS_SO = ("core.audit.queries", "core.audit.hit_checks", "scoring.spans", "comparing.alignment")
"""What says in words that queries are left out, and leaves none out."""
