"""What CI and monitoring systems read: JUnit XML, Prometheus text and OpenTelemetry events.

JUnit holds the test cases of a document; the other two the plain data of one that has `estimates` and `windows`: rows
with a metric, a value and its bounds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from xml.etree import ElementTree

from rankproof.document.formats import OutputFormat, register
from rankproof.document.model import Cases, Document
from rankproof.document.terminal import clean

LABELS = ("metric", "slice", "group")
GAUGES = {
    "value": "The value of an online metric.",
    "low": "The lower end of its interval.",
    "high": "The upper end of its interval.",
    "n": "How many events, sessions or votes it was counted over.",
}


def prometheus(document: Document) -> str:
    """The text format of Prometheus: the whole log and its last window."""
    tree = _online(document)
    last: dict[tuple[Any, ...], Any] = {}
    for row in tree["windows"]:
        last[tuple(row[name] for name in LABELS)] = row
    scopes = [("log", row) for row in tree["estimates"]] + [("window", row) for row in last.values()]
    lines = []
    for name, about in GAUGES.items():
        lines += [f"# HELP rankproof_monitor_{name} {about}", f"# TYPE rankproof_monitor_{name} gauge"]
        for scope, row in scopes:
            if row[name] is not None:
                labels = {"scope": scope, **{key: row[key] for key in LABELS if row[key] is not None}}
                lines.append(f"rankproof_monitor_{name}{_braces(labels)} {row[name]!r}")
    lines += ["# HELP rankproof_monitor_events Events of the log, each counted once."]
    lines += ["# TYPE rankproof_monitor_events gauge", f"rankproof_monitor_events {tree['events']}"]
    lines += ["# HELP rankproof_monitor_rejected_lines Lines that were no event."]
    lines += ["# TYPE rankproof_monitor_rejected_lines gauge"]
    for reason, number in tree["lines"]["rejected"].items():
        lines.append(f"rankproof_monitor_rejected_lines{_braces({'reason': reason})} {number}")
    return "\n".join(lines) + "\n"


def _online(document: Document) -> dict[str, Any]:
    """The estimates of a document; another kind of result has none."""
    found = document.tree if isinstance(document.tree, dict) else {}
    return {"estimates": [], "windows": [], "events": 0, "lines": {"rejected": {}}, **found}


def _braces(labels: dict[str, str]) -> str:
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return str(value).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def otel(document: Document) -> str:
    """OTLP JSON with one `gen_ai.evaluation.result` log record for each estimate: of windows, and of the whole log."""
    tree = _online(document)
    records = [_log_record(row, tree) for row in (*tree["estimates"], *tree["windows"])]
    resource = {"attributes": list(_attributes({"service.name": "rankproof"}))}
    scope = {"scope": {"name": "rankproof.monitoring"}, "logRecords": records}
    return (
        json.dumps({"resourceLogs": [{"resource": resource, "scopeLogs": [scope]}]}, ensure_ascii=False)
        + "\n"
    )


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
    """A test suite for each list of cases; XML holds no control characters, so these are written out."""
    suites = [_suite(each) for each in document.cases()]
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
