"""A document for machines, with full precision: CSV, JSON, JSON lines, Parquet; JUnit XML, Prometheus, OpenTelemetry.

JUnit holds the test cases of a document; Prometheus and OpenTelemetry the plain data of one that has `estimates` and
`windows`: rows with a metric, a value and its bounds.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any
from xml.etree import ElementTree

from rankproof.document.formats import OutputFormat, register
from rankproof.document.model import TEXT, Cases, Document, Record
from rankproof.document.terminal import clean
from rankproof.errors import missing_extra


def as_csv(records: Sequence[Record]) -> str:
    """Records as CSV with a header; a missing value is an empty cell.

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
    """Records as the bytes of a Parquet file; `kinds` are the types of fields that do not follow from their values."""
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
    """Records whose values fit a cell: lists and mappings become JSON. There may be millions, most of them flat."""
    if not any(isinstance(value, Mapping | list | tuple) for each in records for value in each.values()):
        return records
    return [{name: _flat(value) for name, value in each.items()} for each in records]


def _kind(rows: Sequence[Record], name: str) -> type:
    """The one type that holds every value of a field; numbers if there are no values."""
    found = {type(each[name]) for each in rows if each.get(name) is not None}
    if found <= {int, float}:
        return int if found == {int} else float
    return bool if found == {bool} else str


def _flat(value: Any) -> Any:
    return json.dumps(plain_value(value), ensure_ascii=False) if isinstance(value, Mapping | list | tuple) else value


def _line(record: Record) -> str:
    try:
        return json.dumps(record, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError):  # it contains a NaN, or is not a dict
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


LABELS = ("metric", "slice", "group")
GAUGES = {
    "value": "The value of an online metric.",
    "low": "The lower end of its interval.",
    "high": "The upper end of its interval.",
    "n": "How many events, sessions or votes it was counted over.",
    "events": "Events of the log, each counted once.",
    "rejected_lines": "Lines that were not events.",
}


def prometheus(document: Document) -> str:
    """The text format of Prometheus: the whole log and its last window."""
    tree = _online(document)
    last = {tuple(row[name] for name in LABELS): row for row in tree["windows"]}
    shown: dict[str, list[str]] = {name: [] for name in GAUGES}
    for scope, rows in (("log", tree["estimates"]), ("window", last.values())):
        for row in rows:
            labels = {"scope": scope, **{key: row[key] for key in LABELS if row[key] is not None}}
            for name in ("value", "low", "high", "n"):
                shown[name] += [] if row[name] is None else [f"{_braces(labels)} {row[name]!r}"]
    shown["events"] = [f" {tree['events']}"]
    rejected = tree["lines"]["rejected"].items()
    shown["rejected_lines"] = [f"{_braces({'reason': reason})} {number}" for reason, number in rejected]
    lines = []
    for name, about in GAUGES.items():
        lines += [f"# HELP rankproof_monitor_{name} {about}", f"# TYPE rankproof_monitor_{name} gauge"]
        lines += [f"rankproof_monitor_{name}{each}" for each in shown[name]]
    return "\n".join(lines) + "\n"


def _online(document: Document) -> dict[str, Any]:
    """The estimates of a document; another kind of result has none."""
    found = document.tree if isinstance(document.tree, dict) else {}
    return {"estimates": [], "windows": [], "events": 0, "lines": {"rejected": {}}, **found}


def _braces(labels: dict[str, str]) -> str:
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    """A label as Prometheus reads it: UTF-8 without a zero, at which some of its readers stop."""
    text = str(value).encode("utf-8", "backslashreplace").decode().replace("\0", r"\x00")
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def otel(document: Document) -> str:
    """OTLP JSON with one `gen_ai.evaluation.result` log record for each estimate: of windows, and of the whole log."""
    tree = _online(document)
    records = [_log_record(row, tree) for row in (*tree["estimates"], *tree["windows"])]
    resource = {"attributes": list(_attributes({"service.name": "rankproof"}))}
    scope = {"scope": {"name": "rankproof.monitoring"}, "logRecords": records}
    return json.dumps({"resourceLogs": [{"resource": resource, "scopeLogs": [scope]}]}, ensure_ascii=False) + "\n"


def _log_record(row: dict[str, Any], tree: dict[str, Any]) -> dict[str, Any]:
    end = datetime.fromisoformat(row["end"] or tree["last"])
    told = {
        "gen_ai.evaluation.name": row["metric"],
        "gen_ai.evaluation.score.value": row["value"],
        "rankproof.interval.low": row["low"],
        "rankproof.interval.high": row["high"],
        "rankproof.n": row["n"],
        "rankproof.users": row["users"],
        "rankproof.slice": row["slice"],
        "rankproof.group": row["group"],
        "rankproof.window.start": row["start"],
    }
    return {
        "timeUnixNano": str(round(end.timestamp() * 1e6) * 1000),
        "eventName": "gen_ai.evaluation.result",
        "severityNumber": 9,
        "attributes": list(_attributes(told)),
    }


def _attributes(told: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for key, value in told.items():
        if isinstance(value, int):
            yield {"key": key, "value": {"intValue": str(value)}}
        elif isinstance(value, float):
            yield {"key": key, "value": {"doubleValue": value}}
        elif value is not None:
            yield {"key": key, "value": {"stringValue": value}}


COUNTED = {"failures": "failure", "skipped": "skipped", "errors": "error"}


def junit(document: Document) -> str:
    """A test suite for each list of cases; XML allows no control characters, so these are escaped."""
    suites = [_suite(block) for block in document.blocks(TEXT) if isinstance(block, Cases)]
    root = suites[0] if len(suites) == 1 else ElementTree.Element("testsuites")
    root.extend(suites if len(suites) != 1 else [])
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(listed: Cases) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", name=clean(listed.name), tests=str(len(listed.cases)))
    for attribute, kind in COUNTED.items():
        suite.set(attribute, str(sum(each.outcome == kind for each in listed.cases)))
    for each in listed.cases:
        said = clean(each.said)
        case = ElementTree.SubElement(suite, "testcase", classname=clean(each.group), name=clean(each.name))
        if each.outcome in COUNTED.values():
            ElementTree.SubElement(case, each.outcome, message=said).text = said
        ElementTree.SubElement(case, "system-out").text = said
    ElementTree.SubElement(suite, "system-out").text = "\n".join(map(clean, listed.about.split("\n")))
    return suite


register(
    OutputFormat("junit", junit, (".xml",), general=False),
    OutputFormat("prometheus", prometheus, (".prom",), general=False),
    OutputFormat("otel", otel, general=False),
)
