"""The records of a document for machines, with full precision: CSV, JSON, JSON lines and Parquet."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from rankproof.document.formats import OutputFormat, register
from rankproof.document.model import Document, Record
from rankproof.errors import missing_extra


def as_csv(records: Sequence[Record]) -> str:
    """Records as CSV with a header; nothing stands where there is no value.

    >>> as_csv([{"a": 1}, {"a": None, "b": [2]}])
    'a,b\\n1,\\n,[2]\\n'
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=_fields(records), lineterminator="\n")
    writer.writeheader()
    writer.writerows(_rows(records))
    return out.getvalue()


def as_json(records: Sequence[Record]) -> str:
    """Records as one JSON array, one record a line."""
    lines = ",\n".join(map(_line, records))
    return f"[\n{lines}\n]\n" if records else "[]\n"


def as_jsonl(records: Sequence[Record]) -> str:
    """Records as JSON lines."""
    return "".join(f"{_line(each)}\n" for each in records)


def as_parquet(records: Sequence[Record], kinds: Mapping[str, type] | None = None) -> bytes:
    """Records as the bytes of a Parquet file; `kinds` are the types of fields that their values do not show."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise missing_extra("writing Parquet", "pyarrow", "arrow") from None
    types = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}
    rows = _rows(records)
    fields = {name: (kinds or {}).get(name) or _kind(rows, name) for name in _fields(rows)}
    schema = pa.schema([(name, types[kind]) for name, kind in fields.items()])
    out = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows, schema), out)
    return bytes(out.getvalue())


def _fields(records: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys(chain.from_iterable(records)))


def _rows(records: Sequence[Record]) -> Sequence[Record]:
    """Records whose values a cell holds: lists and mappings become JSON. There may be millions, most of them flat."""
    if not any(isinstance(value, Mapping | list | tuple) for each in records for value in each.values()):
        return records
    return [{name: _flat(value) for name, value in each.items()} for each in records]


def _kind(rows: Sequence[Record], name: str) -> type:
    """The one type that holds every value of a field; numbers where nothing is known."""
    found = {type(each[name]) for each in rows if each.get(name) is not None}
    if found <= {int, float}:
        return int if found == {int} else float
    return bool if found == {bool} else str


def _flat(value: Any) -> Any:
    """A value that one cell holds."""
    return (
        json.dumps(plain_value(value), ensure_ascii=False)
        if isinstance(value, Mapping | list | tuple)
        else value
    )


def _line(record: Record) -> str:
    try:
        return json.dumps(record, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError):  # it holds a NaN, or is no dict
        return json.dumps(plain_value(record), ensure_ascii=False)


def plain_value(value: Any) -> Any:
    """JSON has no NaN and no infinity: they become null.

    >>> plain_value({"a": [1, float("nan")]})
    {'a': [1, None]}
    """
    if isinstance(value, Mapping):
        return {name: plain_value(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _tree(document: Document) -> str:
    if document.tree is None:
        return as_json(document.records)
    return json.dumps(plain_value(document.tree), indent=document.indent, ensure_ascii=False) + "\n"


register(
    OutputFormat("csv", lambda made: as_csv(made.records), (".csv",), records=True),
    OutputFormat("json", _tree, (".json",), records=True),
    OutputFormat("jsonl", lambda made: as_jsonl(made.records), (".jsonl",), records=True),
    OutputFormat(
        "parquet", lambda made: as_parquet(made.records, made.kinds), (".parquet",), binary=True, records=True
    ),
)
