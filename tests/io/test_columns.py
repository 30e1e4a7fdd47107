"""Large data frames: the fast way over the columns' bytes gives what the slow way gives, and leaves it the odd ones."""

from __future__ import annotations

import itertools
import random

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from rankproof.core.conventions import Conventions
from rankproof.core.join import Census, join
from rankproof.errors import DataError
from rankproof.io import columns, frames
from rankproof.io.columns import ColumnRankings
from rankproof.io.counted import CountedRankings
from rankproof.io.load import load_ranking
from rankproof.io.mappings import judgments_from_mapping

NO = Conventions()


@pytest.fixture(autouse=True)
def every_frame_is_large(monkeypatch):
    monkeypatch.setattr(frames, "LARGE", 1)
    monkeypatch.setattr(columns, "ROWS", 50)


def found_by(rankings, judgments, conventions=NO, census=None):
    hits = join(judgments, rankings.blocks(judgments, conventions, census or Census()), conventions, census)
    ties = [hits.rank if hits.first is None else hits.first, hits.rank if hits.last is None else hits.last]
    found = [hits.query, hits.rank, hits.doc, hits.grade, hits.retrieved, hits.answered, *ties]
    return [column.tolist() for column in found]


def check(rankings, judgments, conventions=NO):
    """The fast way, which must not give up, finds what the slow one finds."""
    assert isinstance(rankings, ColumnRankings)
    slow, census, expected = rankings.slow(), Census(), Census()
    object.__setattr__(rankings, "_row_by_row", lambda piece, scan: pytest.fail("too odd"))
    found = found_by(rankings, judgments, conventions, census)
    assert found == found_by(slow, judgments, conventions, expected)
    assert census == expected


def random_case(seed, *, together=True, repeat=False):
    rnd = random.Random(seed)
    rows, judgments = [], {}
    for number in range(rnd.randrange(1, 12)):
        query = rnd.choice(["q", "é", "a-long-name-of-a-query-"]) + str(number)
        docs = [f"{rnd.choice(['d', 'document-', '日本'])}{i}" for i in range(rnd.choice([1, 7, 130]))]
        rnd.shuffle(docs)
        if rnd.random() < 0.8:
            judgments[query] = {doc: rnd.randrange(4) for doc in rnd.sample(docs, min(5, len(docs)))}
        score = rnd.choice([rnd.random, lambda: float(rnd.randrange(5))])
        scores = sorted((score() for _ in docs), reverse=True)
        rows += [(query, doc, score, rank) for rank, (doc, score) in enumerate(zip(docs, scores, strict=True))]
        if repeat:
            rows.append((query, docs[0], score(), len(docs)))
    if not together:
        rnd.shuffle(rows)
    names = ["query_id", "doc_id", "score", "rank"]
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)), judgments_from_mapping(judgments)


MAKE = {
    "polars": pl.DataFrame,
    "lazy polars": lambda data: pl.DataFrame(data).lazy(),
    "pandas": pd.DataFrame,
    "pandas objects": lambda data: pd.DataFrame(data).astype({"query_id": object, "doc_id": object}),
    "arrow": pa.table,
    "arrow in pieces": lambda data: pa.concat_tables([pa.table(data)[:3], pa.table(data)[3:]]),
    "categories": lambda data: pl.DataFrame(data).with_columns(pl.col("query_id").cast(pl.Categorical)),
    "duckdb": lambda data: duckdb.from_arrow(pa.table(data)),
}


@pytest.mark.first_is_quick(2)
@pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)
def test_each_library_gives_what_the_slow_way_gives(make):
    for seed in range(6):
        data, judgments = random_case(seed, together=seed % 2 == 0)
        rankings = load_ranking(make(data))
        check(rankings.slow() if isinstance(rankings, CountedRankings) else rankings, judgments)


@pytest.mark.first_is_quick
@pytest.mark.parametrize(
    ("ties", "kept"),
    [
        *itertools.product(["trec", "input", "expected"], [("score", "rank"), ("score",), ("rank",), ()]),
        ("rank", ("score", "rank")),
        ("rank", ("rank",)),
    ],
)
def test_every_order(ties, kept):
    for seed in range(8):
        data, judgments = random_case(seed, together=seed % 2 == 0)
        names = ["query_id", "doc_id", *kept]
        check(load_ranking(pl.DataFrame(data).select(names)), judgments, Conventions(ties=ties))


@pytest.mark.parametrize("rule", ["first", "best"])
def test_repeated_documents_are_settled_by_the_rule(rule):
    for seed in range(8):
        data, judgments = random_case(seed, repeat=True)
        check(load_ranking(pl.DataFrame(data)), judgments, Conventions(duplicates=rule))


def test_integers_on_both_sides():
    data = {"query_id": [7, 7, 8], "doc_id": [10, 9, 10], "score": [1, 1, 2]}
    check(load_ranking(pl.DataFrame(data)), judgments_from_mapping({7: {9: 1}, 8: {10: 2}}))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"score": [3.0, None, 1.0]}, "row 2"),
        ({"score": [3.0, float("nan"), 1.0]}, "row 2: got nan"),
        ({"score": ["3", "2", "x"]}, "as the score, expected a number"),
        ({"score": [True, False, True]}, "as the score, expected a number"),
        ({"doc_id": ["a", "b", "a"]}, "document 'a' comes twice for query 'q' (rows 1 and 3)"),
        ({"doc_id": ["a", "", "c"]}, "row 2: got '' as the doc"),
        ({"doc_id": ["a", None, "c"]}, "row 2: got None"),
        ({"doc_id": [1.5, 2.5, 3.5]}, "got 1.5 (float) as the doc"),
        ({"doc_id": [1, 2, 3]}, "ids that are integers where the judgments have text"),
        ({"query_id": [1, 1, 1]}, "ids that are integers where the judgments have text"),
    ],
)
def test_what_is_odd_is_worded_by_the_slow_way(change, said):
    data = {"query_id": ["q", "q", "q"], "doc_id": ["a", "b", "c"], "score": [3.0, 2.0, 1.0]} | change
    with pytest.raises(DataError) as error:
        found_by(load_ranking(pl.DataFrame(data)), judgments_from_mapping({"q": {"a": 1}}))
    assert said in str(error.value)


def test_a_slice_of_arrow_columns_begins_where_it_begins():
    data, judgments = random_case(5)
    table = pa.table(data)
    rows = np.arange(table.num_rows)
    check(load_ranking(table.slice(10)), judgments)
    check(load_ranking(table.filter(pc.greater(pa.array(rows), 9))), judgments)


def test_small_frames_take_the_slow_way(monkeypatch):
    monkeypatch.setattr(frames, "LARGE", 10_000)
    assert not isinstance(load_ranking(pl.DataFrame(random_case(1)[0])), ColumnRankings)
