"""A pool as a file: one line that says how it is gone through, then one line a document."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rankproof.bench.testset.orders import ORDERS
from rankproof.bench.testset.pool import Pool
from rankproof.errors import DataError, UsageError, shorten

VERSION = 1


def pool_lines(pool: Pool) -> Iterator[str]:
    """The lines of the file, each with its end."""
    head = {"pool": VERSION, "order": pool.order, "per_query": pool.per_query, "systems": list(pool.systems)}
    yield _line(head)
    for query, found in pool.ranks.items():
        for document, ranks in found.items():
            yield _line({"query": query, "document": document, "ranks": dict(ranks)})


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def read_pool(path: str | os.PathLike[str]) -> Pool:
    """The pool that a file holds."""
    try:
        lines = Path(path).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path}: cannot be read ({error}). Next: name a file of 'rankproof pool'."
        ) from error
    records = [
        (f"{path}, line {n}", _record(line, path, n)) for n, line in enumerate(lines, 1) if line.strip()
    ]
    head = _head(records[0][1] if records else {}, path)
    ranks: dict[str, dict[str, dict[str, int]]] = {}
    for where, record in records[1:]:
        query, document, found = _item(record, where)
        ranks.setdefault(query, {})[document] = found
    return Pool(tuple(head["systems"]), ranks, head["order"], head["per_query"])


def _record(line: str, path: Any, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError:
        record = None
    if not isinstance(record, dict):
        raise DataError(
            f"{path}, line {number}: got {shorten(line)}, expected a JSON record of a pool. "
            "Next: make the pool with 'rankproof pool'."
        )
    return record


def _head(record: Mapping[str, Any], path: Any) -> Mapping[str, Any]:
    cut = record.get("per_query")
    known = record.get("pool") == VERSION and record.get("order") in ORDERS
    if not known or not isinstance(record.get("systems"), list) or not (cut is None or type(cut) is int):
        raise DataError(
            f"{path}: not a pool of version {VERSION}: its first line says how it is gone through. "
            "Next: make the pool with 'rankproof pool'."
        )
    return record


def _item(record: Mapping[str, Any], where: str) -> tuple[str, str, dict[str, int]]:
    query, document, ranks = record.get("query"), record.get("document"), record.get("ranks")
    named = isinstance(query, str) and isinstance(document, str)
    if named and isinstance(ranks, dict) and all(type(rank) is int and rank > 0 for rank in ranks.values()):
        return str(query), str(document), ranks
    raise DataError(
        f"{where}: got {shorten(record)}, expected query, document, and ranks by system. "
        "Next: make the pool with 'rankproof pool'."
    )
