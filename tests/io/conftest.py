"""The same judgments and the same ranking in every form that is read."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rankproof.errors import MissingExtra
from rankproof.io.files import zstd_module

JUDGED = {
    "q1": {"d1": 3, "d2": 0, "café": 1, "cafe\u0301": 2},
    "007": {"7": 1, "007": 2, "日本": 1},
    "q3": {"d1": -1, "d9": 2},
    "q4": {"d1": 1},
}
RANKED = {
    "q1": {"d2": 9.5, "café": 3.25, "x1": 3.25, "cafe\u0301": 3.25, "d1": 1.0},
    "007": {"x7": 2, "007": 1, "7": 0.5, "日本": -1e-3},
    "nobody asked": {"d1": 1.0},
    "q3": {"d9": 1e300, "x": 1e-300, "d1": 0.0},
}
# TREC has no blanks in ids.
RANKED["nobody_asked"] = RANKED.pop("nobody asked")

TrecQrel = namedtuple("TrecQrel", ["query_id", "doc_id", "relevance", "iteration"])
ScoredDoc = namedtuple("ScoredDoc", ["query_id", "doc_id", "score"])


def triples(nested: dict[str, dict[str, float]]) -> list[tuple[str, str, float]]:
    return [(query, doc, value) for query, docs in nested.items() for doc, value in docs.items()]


@dataclass
class Source:
    """One form of the data: what makes its judgments and its ranking in a folder."""

    name: str
    judgments: Callable[[Path], Any]
    ranking: Callable[[Path], Any]

    def __str__(self) -> str:
        return self.name


SOURCES: dict[str, Source] = {}


def _add(name: str, judgments: Callable[[Path], Any], ranking: Callable[[Path], Any]) -> None:
    SOURCES[name] = Source(name, judgments, ranking)


def _add_file(name: str, file: str, judgments: str, ranking: str, pack: Callable[[bytes], bytes] = bytes) -> None:
    def made(what: str, text: str) -> Callable[[Path], Path]:
        def make(folder: Path) -> Path:
            path = folder / f"{what}-{file}"
            path.write_bytes(pack(text.encode()))
            return path

        return make

    _add(name, made("judgments", judgments), made("ranking", ranking))


def zst(content: bytes) -> bytes:
    """The content packed with zstd, where it is installed."""
    try:
        return zstd_module("packing").compress(content)
    except MissingExtra as missing:
        pytest.skip(str(missing))


def _csv(header: str, rows: list[tuple[Any, ...]], by: str = ",") -> str:
    return header.replace(",", by) + "".join(by.join(map(str, row)) + "\n" for row in rows)


def _objects(rows: list[tuple[Any, ...]], *names: str) -> list[dict[str, Any]]:
    return [dict(zip(names, row, strict=True)) for row in rows]


def _lines(objects: list[Any]) -> str:
    return "".join(json.dumps(each) + "\n" for each in objects)


J, R = triples(JUDGED), triples(RANKED)
TREC_J = "".join(f"{q} 0 {d} {g}\n" for q, d, g in J)
TREC_R = "".join(f"{q} Q0 {d} {i} {s!r} run\n" for i, (q, d, s) in enumerate(R))

_add("dict", lambda _: JUDGED, lambda _: RANKED)
_add("pairs", lambda _: JUDGED, lambda _: {q: list(docs.items()) for q, docs in RANKED.items()})
_add("tuples", lambda _: J, lambda _: R)
_add("generator", lambda _: (row for row in J), lambda _: (row for row in R))
_add("named tuples", lambda _: [TrecQrel(*row, "0") for row in J], lambda _: (ScoredDoc(*row) for row in R))
_add("records", lambda _: _objects(J, "qid", "docno", "label"), lambda _: _objects(R, "qid", "docno", "score"))
for ending, packer in {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zst,
}.items():
    _add_file(f"TREC{ending}", "x", TREC_J, TREC_R, packer)
    _add_file(
        f"CSV{ending}",
        "x",
        _csv("query_id,doc_id,relevance\n", J),
        _csv("query_id,doc_id,score\n", R),
        packer,
    )
    _add_file(f"JSON{ending}", "x", json.dumps(JUDGED), json.dumps(RANKED), packer)
_add_file("TREC, CRLF, BOM", "x", "\ufeff" + TREC_J.replace("\n", "\r\n"), "\ufeff" + TREC_R.replace("\n", "\r\n"))
_add_file("TREC, tabs", "x.txt", TREC_J.replace(" ", "\t"), TREC_R.replace(" ", "\t").rstrip("\n"))
_add_file("CSV without header", "x.csv", _csv("", J), _csv("", R))
_add_file(
    "CSV, CRLF, BOM",
    "x.csv",
    "\ufeff" + _csv("qid,docid,rel\n", J).replace("\n", "\r\n"),
    _csv("qid,docid,sim\n", R).rstrip("\n"),
)
_add_file("CSV, semicolons", "x.csv", _csv("qid,docid,rel\n", J, ";"), _csv("qid,docid,sim\n", R, ";"))
_add_file(
    "CSV, quoted",
    "x.csv",
    _csv('"qid","docid","rel"\n', [(f'"{q}"', f'"{d}"', g) for q, d, g in J]),
    _csv("", R),
)
_add_file(
    "CSV, more columns",
    "x.csv",
    _csv(",query,query_id,text,docno,grade\n", [(1, "a b", q, "c d", d, g) for q, d, g in J]),
    _csv("rank,score,docno,topic,tag\n", [(1, s, d, q, "t") for q, d, s in R]),
)
_add_file("TSV", "x.tsv", _csv("query-id,corpus-id,score\n", J, "\t"), _csv("query_id,doc_id,score\n", R, "\t"))
_add_file("TSV without header", "x.tsv", _csv("", J, "\t"), _csv("", R, "\t"))
_add_file(
    "JSON, pairs",
    "x.json",
    json.dumps({q: list(d.items()) for q, d in JUDGED.items()}),
    json.dumps({q: list(d.items()) for q, d in RANKED.items()}, indent=2),
)
_add_file(
    "JSON rows",
    "x.json",
    json.dumps(_objects(J, "query_id", "doc_id", "relevance"), indent=2),
    json.dumps(_objects(R, "query_id", "doc_id", "score")),
)
_add_file("JSON triples", "x.json", json.dumps(J), json.dumps(R))
_add_file(
    "JSONL",
    "x.jsonl",
    _lines(_objects(J, "query_id", "doc_id", "relevance")),
    _lines(_objects(R, "query_id", "doc_id", "score")),
)
_add_file(
    "JSONL, a query a line",
    "x.jsonl",
    _lines([{"query_id": q, "relevant": d} for q, d in JUDGED.items()]),
    _lines([{"query_id": q, "query": "text", "results": list(d.items())} for q, d in RANKED.items()]),
)
_add_file(
    "JSONL, objects in a query",
    "x",
    _lines([{"qid": q, "judgments": _objects(list(d.items()), "doc_id", "grade")} for q, d in JUDGED.items()]),
    _lines([{"qid": q, "hits": _objects(list(d.items()), "id", "score")} for q, d in RANKED.items()]),
)


def _beir(folder: Path) -> Path:
    (folder / "set" / "qrels").mkdir(parents=True)
    for split, rows in {"test": J, "dev": J[:1]}.items():
        (folder / "set" / "qrels" / f"{split}.tsv").write_text(_csv("query-id,corpus-id,score\n", rows, "\t"), "utf-8")
    return folder / "set"


_add("BEIR folder", _beir, lambda _: RANKED)
_add("BEIR split", lambda folder: f"{_beir(folder)}#test", lambda _: RANKED)


def columns(rows: list[tuple[str, str, float]], value: str) -> dict[str, list[Any]]:
    return {
        name: list(column) for name, column in zip(("query_id", "doc_id", value), zip(*rows, strict=True), strict=True)
    }


def _pandas(rows: Any, value: str, **types: str) -> Any:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(columns(rows, value)).astype(types)
    return frame.set_index(pandas.Index(range(len(rows), 0, -1)))


def _polars(rows: Any, value: str) -> Any:
    return pytest.importorskip("polars").DataFrame(columns(rows, value))


def _categories(rows: Any, value: str) -> Any:
    polars = pytest.importorskip("polars")
    return _polars(rows, value).with_columns(polars.col("query_id").cast(polars.Categorical))


def _arrow(rows: Any, value: str) -> Any:
    return pytest.importorskip("pyarrow").table(columns(rows, value))


def _duckdb(rows: Any, value: str) -> Any:
    return pytest.importorskip("duckdb").from_arrow(_arrow(rows, value))  # a connection of its own may be closed


def _parquet(rows: Any, value: str, folder: Path) -> Path:
    path = folder / f"{value}.bin"
    _polars(rows, value).write_parquet(path)
    return path


def _add_frame(name: str, make: Callable[..., Any]) -> None:
    _add(name, lambda _: make(J, "relevance"), lambda _: make(R, "score"))


_add_frame("pandas", _pandas)
_add_frame("pandas, objects", lambda rows, value: _pandas(rows, value, query_id="object", doc_id="object"))
_add_frame("pandas, string[python]", lambda rows, value: _pandas(rows, value, doc_id="string[python]"))
_add_frame("pandas, string[pyarrow]", lambda rows, value: _pandas(rows, value, doc_id="string[pyarrow]"))
_add_frame("pandas, categories", lambda rows, value: _pandas(rows, value, query_id="category", doc_id="category"))
_add_frame("pandas, nullable", lambda rows, value: _pandas(rows, value, **{value: "Float64"}))
_add_frame("Polars", _polars)
_add_frame("Polars, categories", _categories)
_add_frame("Polars, lazy", lambda rows, value: _polars(rows, value).lazy())
_add_frame("PyArrow", _arrow)
_add_frame("PyArrow, batch", lambda rows, value: _arrow(rows, value).to_batches()[0])
_add_frame("PyArrow, reader", lambda rows, value: _arrow(rows, value).to_reader())
_add_frame("DuckDB", _duckdb)
_add("Parquet", lambda folder: _parquet(J, "grade", folder), lambda folder: _parquet(R, "score", folder))


@pytest.fixture(params=SOURCES.values(), ids=str)
def source(request: pytest.FixtureRequest) -> Source:
    """Each form in turn."""
    return request.param


@pytest.fixture
def judged() -> dict[str, dict[str, float]]:
    """The judgments every form holds."""
    return JUDGED


@pytest.fixture
def ranked() -> dict[str, dict[str, float]]:
    """The ranking every form holds."""
    return RANKED


@pytest.fixture(params=[gzip.compress, bz2.compress, lzma.compress, zst], ids=["gz", "bz2", "xz", "zst"])
def pack(request: pytest.FixtureRequest) -> Callable[[bytes], bytes]:
    """Each way to compress."""
    request.param(b"")
    return request.param
