"""What every make_*.py shares: reading cases.json and writing one tool's file.

A tool's file is `{"tool", "version", "made", "cases": {case: {"per_query": {measure: {query: value}}, "mean": {measure: value}}}}`.
A case, or one measure of a case, on which the tool fails has its message under "error" or "errors".
Numbers are written with all their digits; a NaN of the tool is written as null.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CUTS = (1, 3, 5, 10, 100)


def cases() -> list[dict[str, Any]]:
    return json.loads((HERE / "cases.json").read_text(encoding="utf-8"))


def verdicts() -> list[list[int]]:
    """Lists of 0 and 1: is each retrieved chunk (or each claim of the reference) fine?"""
    return json.loads((HERE / "verdicts.json").read_text(encoding="utf-8"))


def ordered(run: dict[str, float]) -> list[str]:
    """Documents by falling score, equal scores in the order they were given."""
    return sorted(run, key=lambda doc: -run[doc])


def shared_queries(case: dict[str, Any]) -> Iterator[tuple[str, dict[str, int], dict[str, float]]]:
    """The queries that are both judged and in the run."""
    for query, judged in case["judgments"].items():
        if query in case["run"]:
            yield query, judged, case["run"][query]


def per_query(case: dict[str, Any], value: Callable[[dict[str, int], dict[str, float]], float]) -> dict[str, float]:
    return {query: value(judged, run) for query, judged, run in shared_queries(case)}


def message(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def plain(value: Any) -> Any:
    """The value as JSON can hold it: NaN is null, NumPy scalars are Python's."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and math.isnan(value) else value


def write(tool: str, **content: Any) -> None:
    """One case to a line, so that a change of the tool shows as a readable difference."""
    named = plain(content.pop("cases"))
    lines = [f'"{key}":{json.dumps(plain(value), ensure_ascii=False)}' for key, value in content.items()]
    rows = [f"{json.dumps(name, ensure_ascii=False)}:{json.dumps(each, ensure_ascii=False, separators=(',', ':'))}"
            for name, each in named.items()]  # fmt: skip
    text = "{" + ",\n".join([f'"tool":"{tool}"', *lines, '"cases":{\n' + ",\n".join(rows) + "}"]) + "}\n"
    json.loads(text)
    (HERE / f"{tool}.json").write_text(text, encoding="utf-8")
    print(tool, len(named), "cases", len(text), "bytes")


def attempt(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What a tool gives for a case, or the message it fails with."""
    try:
        return work()
    except Exception as error:  # any failure of a foreign tool is a result here
        return {"error": message(error)}
