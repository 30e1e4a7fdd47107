"""Counts that say how easy the house is to live in: `python -m tests.house` prints them.

`test_house.py` holds them to ceilings that may only fall.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from tests.test_walls import LAZY_DOORS, MODULES, ROOT, imported, inner, nodes, parsed

SHORT = 4
"""Lines of a helper that only cuts a thought in two if it is used once."""


def counts() -> dict[str, int]:
    """Every number by its name; the fewer, the better."""
    crossed = modules_crossed()
    lines = [len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES.values()]
    return {
        "files": len(MODULES),
        "lines": sum(lines),
        "modules of over 400 lines": sum(each > 400 for each in lines),
        "code lines": sum(code_lines(path) for path in MODULES.values()),
        "file names used twice": len(file_names_used_twice()),
        "class names in two packages": len(class_names_in_two_packages()),
        "short helpers used once": len(short_helpers_used_once()),
        "circles": len(circles()),
        **{f"modules crossed by {name}": len(found) for name, found in crossed.items()},
    }


def code_lines(path: Path) -> int:
    """Lines that hold a token of code: no blank lines, comments or docstrings."""
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    lines: set[int] = set()
    text = path.read_text(encoding="utf-8")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in {*skipped, tokenize.ENDMARKER}:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in nodes(path):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is not ...:
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def file_names_used_twice() -> set[str]:
    names = Counter(path.stem for path in MODULES.values())
    return {name for name, times in names.items() if times > 1 and not name.startswith("__")}


def class_names_in_two_packages() -> set[str]:
    packages: dict[str, set[Path]] = defaultdict(set)
    for path in MODULES.values():
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef):
                packages[node.name].add(path.parent)
    return {name for name, inside in packages.items() if len(inside) > 1}


def names_used(path: Path) -> Iterator[str]:
    for node in nodes(path):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def short_helpers_used_once() -> set[str]:
    """Private functions and methods of a few lines, the decorated ones left out, that one place uses."""
    found = set()
    for module, path in MODULES.items():
        used = Counter(names_used(path))
        for node in nodes(path):
            if (
                isinstance(node, ast.FunctionDef)
                and node.name.startswith("_")
                and not node.name.startswith("__")
                and not node.decorator_list
                and lines_of(node) <= SHORT
                and used[node.name] == 1
            ):
                found.add(f"{inner(module)}.{node.name}")
    return found


def lines_of(node: ast.FunctionDef) -> int:
    """Lines of a function without its docstring."""
    whole = (node.end_lineno or node.lineno) - node.lineno + 1
    first = node.body[0]
    documented = ast.get_docstring(node) is not None
    return whole - ((first.end_lineno or first.lineno) - first.lineno + 1 if documented else 0)


def circles() -> list[set[str]]:
    """Groups of modules that import each other, imports inside functions counted, named lazy doors not."""
    graph = {
        module: {
            other for other, name in imported(path) if (inner(module), name) not in LAZY_DOORS and other in MODULES
        }
        - {module, "rankproof"}
        for module, path in MODULES.items()
    }
    reach = {module: reached_from(graph, module) for module in graph}
    groups = {frozenset(o for o in reach[m] if m in reach[o]) for m in graph if m in reach[m]}
    return [set(group) for group in groups]


def reached_from(graph: dict[str, set[str]], module: str) -> set[str]:
    found: set[str] = set()
    left = list(graph[module])
    while left:
        each = left.pop()
        if each not in found:
            found.add(each)
            left.extend(graph[each])
    return found


def crossed_by(call: Callable[[], Any]) -> set[str]:
    """The modules of ours in which a function runs during a call; what runs while one is imported is left out."""
    found: set[str] = set()
    importing = 0

    def note(frame: FrameType, event: str, _: Any) -> None:
        nonlocal importing
        if frame.f_code.co_name == "<module>":
            importing += {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and not importing and frame.f_code.co_filename.startswith(str(ROOT)):
            found.add(frame.f_globals["__name__"])

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def modules_crossed() -> dict[str, set[str]]:
    """What one call of each verb on the sample crosses: the numbers alone, then with the table of them."""
    import rankproof
    from rankproof import sample

    judgments, rankings, texts = sample.judgments(), sample.rankings(), sample.corpus()
    samples = [
        {"query": query, "answer": texts[found[0]]["text"], "contexts": [texts[d]["text"] for d in found[:3]]}
        for query, found in ((q, list(ranked)) for q, ranked in list(rankings["keyword"].items())[:1])
    ]
    calls: dict[str, Callable[[], Any]] = {
        "evaluate": lambda: rankproof.evaluate(judgments, rankings["keyword"], "nDCG@10, P@5"),
        "gate": lambda: rankproof.gate(judgments, rankings["keyword"], rankings["fused"], "nDCG@10", margin=0.05),
        "judge": lambda: rankproof.judge(samples, "context_relevance, faithfulness"),
    }
    for name in calls:
        getattr(rankproof, name)  # a public name is looked up once, like an import
    numbers = {name: crossed_by(call) for name, call in calls.items()}
    return numbers | {
        f"{name} and its table": crossed_by(lambda call=call: str(call())) for name, call in calls.items()
    }


if __name__ == "__main__":
    for label, number in counts().items():
        print(f"{label:42} {number:7,}")
    if "-v" in sys.argv:
        print("file names:", *sorted(file_names_used_twice()))
        print("classes:", *sorted(class_names_in_two_packages()))
        print("circles:", *circles())
        print("helpers:", *sorted(short_helpers_used_once()), sep="\n  ")
        for label, places in modules_crossed().items():
            print(label, *sorted(map(inner, places)), sep="\n  ")
