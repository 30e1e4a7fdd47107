"""Typed integers and the plain digits of a file without types are the same ids."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankproof import evaluate
from rankproof.errors import RankproofError

GRADES = {7: {12: 1, 13: 0}, 80: {15: 2}, 9: {0: 1}}
SCORES = {7: {13: 2.0, 12: 1.0}, 80: {15: 3.0}, 9: {4: 3.0, 0: 2.0}}
Writer = Callable[[Path, dict[int, dict[int, Any]]], Any]


def rows(table: dict[int, dict[int, Any]]) -> list[tuple[int, int, Any]]:
    return [(query, doc, value) for query, docs in table.items() for doc, value in docs.items()]


def frame(kind: str) -> Writer:
    def write(path: Path, table: dict[int, dict[int, Any]]) -> Any:
        library = pytest.importorskip(kind)
        query, doc, value = zip(*rows(table), strict=True)
        make = library.table if kind == "pyarrow" else library.DataFrame
        name = "score" if isinstance(value[0], float) else "grade"
        return make({"query_id": list(query), "doc_id": list(doc), name: list(value)})

    return write


def csv(path: Path, table: dict[int, dict[int, Any]]) -> Any:
    name = "score" if isinstance(rows(table)[0][2], float) else "grade"
    lines = "".join(f"{q},{d},{v}\n" for q, d, v in rows(table))
    (path / f"{name}.csv").write_text(f"query_id,doc_id,{name}\n{lines}")
    return path / f"{name}.csv"


def trec(path: Path, table: dict[int, dict[int, Any]]) -> Any:
    ranking = isinstance(rows(table)[0][2], float)
    line = "{0} Q0 {1} 1 {2} t\n" if ranking else "{0} 0 {1} {2}\n"
    file = path / ("a.run" if ranking else "a.qrels")
    file.write_text("".join(line.format(*each) for each in rows(table)))
    return file


def nested(path: Path, table: dict[int, dict[int, Any]]) -> Any:
    file = path / ("a.json" if isinstance(rows(table)[0][2], float) else "b.json")
    file.write_text(json.dumps(table))
    return file


def lines(path: Path, table: dict[int, dict[int, Any]]) -> Any:
    name = "score" if isinstance(rows(table)[0][2], float) else "grade"
    records = ({"query_id": q, "doc_id": d, name: v} for q, d, v in rows(table))
    (path / f"{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records))
    return path / f"{name}.jsonl"


TYPED: dict[str, Writer] = {
    "mapping": lambda path, table: table,
    "lists": lambda path, table: {q: sorted(docs.items(), key=lambda each: -each[1]) for q, docs in table.items()},
    "rows": lambda path, table: rows(table),
    "jsonl": lines,
    **{name: frame(name) for name in ("pandas", "polars", "pyarrow")},
}
UNTYPED: dict[str, Writer] = {"csv": csv, "trec": trec, "json": nested}


@pytest.mark.parametrize("untyped", UNTYPED)
@pytest.mark.parametrize("typed", TYPED)
def test_digits_of_a_file_meet_integers(tmp_path: Path, typed: str, untyped: str) -> None:
    expected = evaluate(GRADES, SCORES, "nDCG@10").per_query
    if typed != "lists":
        judged = TYPED[typed](tmp_path, GRADES)
        assert evaluate(judged, UNTYPED[untyped](tmp_path, SCORES), "nDCG@10").per_query == expected
    ranked = TYPED[typed](tmp_path, SCORES)
    assert evaluate(UNTYPED[untyped](tmp_path, GRADES), ranked, "nDCG@10").per_query == expected


@pytest.mark.parametrize("untyped", ["csv", "trec"])
def test_a_leading_zero_speaks_against_it(tmp_path: Path, untyped: str) -> None:
    for table, other in ((GRADES, SCORES), (SCORES, GRADES)):
        file = UNTYPED[untyped](tmp_path, table)
        file.write_text(file.read_text().replace("12", "012"))
        given = (file, other) if table is GRADES else (other, file)
        with pytest.raises(RankproofError, match="convert"):
            evaluate(*given, "nDCG@10")
