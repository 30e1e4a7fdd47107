"""The formats of scores by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rankproof.core.scoring import Summary
from rankproof.errors import UsageError, is_one_of, one_of
from rankproof.scoring import latex, markdown, words
from rankproof.scoring import records as data
from rankproof.scoring.records import Values

TEXTS: dict[str, Callable[[Sequence[Summary]], str]] = {
    "table": words.text,
    "full": words.full_text,
    "markdown": markdown.text,
    "latex": latex.text,
}
_QUERY_TEXTS: dict[str, Callable[[Values], str]] = {
    "table": words.queries,
    "full": words.queries,
    "markdown": markdown.queries,
    "latex": latex.queries,
}
_RECORDS: dict[str, Callable[[Sequence[data.Record]], str]] = {
    "csv": data.as_csv,
    "json": data.as_json,
    "jsonl": data.as_jsonl,
}
FORMATS = (*TEXTS, *_RECORDS, "parquet")


def check(name: str) -> None:
    """Whether there is a format of that name, before any work is done."""
    if name not in FORMATS:
        raise one_of("format", name, FORMATS)


def render(summaries: list[Summary], name: str) -> str:
    """One ranking's scores, or several side by side, as text in the named format."""
    if not is_one_of(name, FORMATS):
        raise one_of("format", name, FORMATS)
    if name in TEXTS:
        return TEXTS[name](summaries)
    return _as_records(data.records(summaries), name)


def render_queries(values: Values, name: str, reasons: data.Reasons | None = None) -> str:
    """The values of single queries, as text in the named format; records also of those without, if told why."""
    if name in _QUERY_TEXTS:
        return _QUERY_TEXTS[name](values)
    return _as_records(data.query_records(values, reasons), name)


def _as_records(records: list[data.Record], name: str) -> str:
    if name == "parquet":
        raise UsageError(
            "format: Parquet is no text. Next: 'rankproof evaluate -f parquet -o FILE' writes it."
        )
    check(name)
    return _RECORDS[name](records)
