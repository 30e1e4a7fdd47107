"""Scores as records for machines: full precision, one flat record a line."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from typing import Any

from rankproof.core.scoring import Pair, ScoreRow, Summary
from rankproof.errors import missing_extra

Record = dict[str, Any]
Values = dict[str, dict[str, dict[str, float]]]
"""`{ranking: {measure: {query: value}}}`."""


Reasons = dict[str, dict[str, dict[str, str]]]
"""The same, with why a query has no value in its place."""


TEXTS = (
    "ranking",
    "query",
    "slice",
    "measure",
    "interval",
    "note",
    "reason",
    "profile",
    "conventions",
    "errors",
)
"""The fields of records that are text; the others are numbers."""


def records(summaries: Sequence[Summary]) -> list[Record]:
    """One record for each measure of each ranking, and of each slice of it.

    >>> summary = Summary("a.run", [ScoreRow("RR", 0.5, n=2)], queries=2, documents=3, tied=0.0)
    >>> [(r["ranking"], r["slice"], r["measure"], r["mean"]) for r in records([summary])]
    [('a.run', None, 'RR', 0.5)]
    """
    wrong = {
        summary.name: " ".join(str(each) for each in summary.findings if each.severity == "error")
        for summary in summaries
    }
    return [
        _record(summary, group, row) | ({"errors": wrong[summary.name]} if any(wrong.values()) else {})
        for summary in summaries
        for group, rows in [(None, summary.rows), *summary.slices.items()]
        for row in rows
    ]


def _record(summary: Summary, group: str | None, row: ScoreRow) -> Record:
    return {
        "ranking": summary.name,
        "slice": group,
        "measure": row.measure,
        "mean": None if math.isnan(row.mean) else row.mean,
        "n": row.n,
        "low": row.low,
        "high": row.high,
        "interval": row.method,
        "ceiling": row.ceiling,
        **_ends("ties", row.ties),
        **_ends("unjudged", row.unjudged),
        "never_found": row.never_found,
        "ranked_too_low": row.ranked_too_low,
        **({} if row.coverage is None else _judged(row)),
        "note": row.note,
        "profile": summary.profile,
        "conventions": "; ".join(each.partition(":")[0] for each in summary.conventions),
    }


def _judged(row: ScoreRow) -> Record:
    """What is known of a mean of verdicts."""
    corrected = {"corrected": row.corrected, **_ends("corrected", row.corrected_ends)}
    return {
        "coverage": row.coverage,
        "measurable": row.measurable,
        **_ends("possible", row.possible),
        "estimate": None if row.estimate is None else row.estimate[0],
        **_ends("estimate", None if row.estimate is None else row.estimate[1:]),
        **corrected,
    }


def _ends(name: str, pair: Pair | None) -> Record:
    low, high = pair or (None, None)
    return {f"{name}_low": low, f"{name}_high": high}


def query_records(values: Values, reasons: Reasons | None = None) -> list[Record]:
    """One record for each query, measure and ranking; with reasons those too that have no value.

    >>> query_records({"a.run": {"RR": {"q1": 0.5}}})
    [{'ranking': 'a.run', 'query': 'q1', 'measure': 'RR', 'value': 0.5}]
    """
    found: list[Record] = [
        {"ranking": ranking, "query": query, "measure": measure, "value": value}
        for ranking, measures in values.items()
        for measure, by_query in measures.items()
        for query, value in by_query.items()
    ]
    return found if reasons is None else [*({**each, "reason": None} for each in found), *_without(reasons)]


def _without(reasons: Reasons) -> list[Record]:
    """What has no value, and why."""
    return [
        {"ranking": ranking, "query": query, "measure": measure, "value": None, "reason": reason}
        for ranking, measures in reasons.items()
        for measure, by_query in measures.items()
        for query, reason in by_query.items()
    ]


def queries_in(by_measure: dict[str, dict[str, float]]) -> list[str]:
    """Every query that some measure has a value for, in the order they came."""
    return list(dict.fromkeys(query for by_query in by_measure.values() for query in by_query))


def as_csv(found: Sequence[Record]) -> str:
    """Records as CSV with a header; nothing stands where there is no value."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(found[0]) if found else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    return out.getvalue()


def as_json(found: Sequence[Record]) -> str:
    """Records as one JSON array, one record a line."""
    lines = ",\n".join(map(_line, found))
    return f"[\n{lines}\n]\n" if found else "[]\n"


def as_jsonl(found: Sequence[Record]) -> str:
    """Records as JSON lines."""
    return "".join(f"{_line(each)}\n" for each in found)


def _line(record: Record) -> str:
    return json.dumps({name: _plain(value) for name, value in record.items()}, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """JSON has no NaN and no infinity: they become null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_parquet(found: Sequence[Record]) -> bytes:
    """Records as the bytes of a Parquet file; a column has its type even where nothing is known."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise missing_extra("writing Parquet", "pyarrow", "arrow") from None
    kinds = {True: pa.string(), False: pa.float64()}
    schema = pa.schema([(name, pa.int64() if name == "n" else kinds[name in TEXTS]) for name in found[0]])
    out = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(list(found), schema), out)
    return bytes(out.getvalue())
