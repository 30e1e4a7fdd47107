"""Values of the wrong kind come with the step that mends them; and lists of documents in cells."""

from __future__ import annotations

import json
import math
import time
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from rankproof import evaluate
from rankproof.errors import DataError
from tests.shell import rankproof

IDS = {"query_id": ["q1", "q1", "q2"], "doc_id": ["d1", "d2", "d3"]}
RUN = {"q1": ["d2", "d1"], "q2": ["x", "d3"]}


def write(frame: pd.DataFrame, path: Path) -> Path:
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in frame.to_dict("records")), encoding="utf-8")
    else:
        frame.to_csv(path, index=False)
    return path


def step(given: Any, run: Any = RUN) -> str:
    with pytest.raises(DataError) as caught:
        evaluate(given, run, "DCG")
    return str(caught.value).partition("Next: ")[2].removesuffix(".")


@pytest.mark.parametrize(
    "values", [[True, False, True], ["1", "x", "2.5"], ["1,5", "0", "-2,25"], [1, None, 2], [float("nan"), 1, 2]]
)
def test_grades_that_are_no_numbers_say_how_to_mend_the_row_or_the_column(values: list[Any], tmp_path: Path) -> None:
    frame = pd.DataFrame({**IDS, "label": pd.Series(values, dtype=object)})
    sources: list[Any] = [frame, list(zip(*IDS.values(), values, strict=True)), write(frame, tmp_path / "j.jsonl")]
    for given in [*sources, write(frame, tmp_path / "j.csv")]:
        assert step(given) == (
            "correct or drop this row, or turn the whole grade column into numbers, like 1 or 0.5"
        ), given


@pytest.mark.parametrize("wrong", [b"q1", 7.0, date(2025, 3, 1)])
def test_ids_that_are_no_text_say_how_to_mend_the_row_or_the_column(wrong: Any, tmp_path: Path) -> None:
    frame = pd.DataFrame({**IDS, "label": [1, 0, 1], "query_id": pd.Series([wrong] * 3, dtype=object)})
    for given in (frame, write(frame, tmp_path / "j.parquet")):
        assert step(given) == (
            "correct or drop this row, or turn the whole query column into text or whole numbers, like 'd1' or 7"
        )


def test_values_of_a_mapping_say_what_to_write() -> None:
    assert step({"q1": {"d1": True}}) == step({"q1": {"d1": False}}) == "write 1 for true and 0 for false, everywhere"
    assert step({"q1": {"d1": "2"}}) == "write numbers without quotes, everywhere"
    assert step({"q1": {"d1": 1}}, {"q1": {"d1": "0.5"}}) == "write numbers without quotes, everywhere"
    assert step({"q1": {"d1": None}}) == "correct the judgment or drop it"


def test_integers_against_text_name_the_side_and_a_command_that_mends_it(tmp_path: Path) -> None:
    write(pd.DataFrame({"query_id": [1, 2], "doc_id": ["d1", "d2"], "score": [2.0, 1.0]}), tmp_path / "run.parquet")
    write(pd.DataFrame({"query_id": ["1", "2"], "doc_id": ["d1", "d2"], "label": [1, 1]}), tmp_path / "j.parquet")
    done = rankproof(tmp_path, "evaluate", "j.parquet", "run.parquet", "-m", "RR")
    assert "those of the ranking as text too" in done.stderr
    command = done.stderr.partition("as 'rankproof ")[2].partition("'")[0].split()
    assert rankproof(tmp_path, *command).returncode == 0
    assert rankproof(tmp_path, "evaluate", "j.parquet", command[-1], "-m", "RR").returncode == 0
    with pytest.raises(DataError, match=r"those of the judgments as text too, .* str\(id\)"):
        evaluate({1: {"d1": 1}}, {"1": ["d1"]}, "RR")


def test_of_names_that_are_known_the_ten_nearest_are_listed() -> None:
    with pytest.raises(DataError) as caught:
        evaluate({"q1": {"d1": 1}}, pd.DataFrame({"query_id": ["q1"], "dokument_id": ["d1"], "score": [1]}), "RR")
    listed = str(caught.value).partition("also known: ")[2].partition(")")[0]
    assert listed.count("'") == 20
    assert "'document_id'" in listed
    assert listed.rpartition(" and ")[2].split()[1:] == ["more"]


LISTED = {"q1": ["d2", "d1"], "q2": [], "q3": ["d3"]}
TO_FIND = {"q1": ["d1"], "q2": ["d9"], "q3": ["d3"]}


def in_csv(rows: dict[str, Any], path: Path) -> Any:
    cells = [json.dumps(docs) if docs else "" for docs in rows.values()]
    pd.DataFrame({"question": list(rows), "retrieved": cells}).to_csv(path, index=False)
    return path


def in_tsv(rows: dict[str, Any], path: Path) -> Any:
    lines = [f"{query}\t{json.dumps(docs) if docs else ''}\n" for query, docs in rows.items()]
    path.write_text("".join(["question\tretrieved\n", *lines]))
    return path


def in_lines(rows: dict[str, Any], path: Path) -> Any:
    path.write_text("".join(json.dumps({"question": q, "retrieved": docs or None}) + "\n" for q, docs in rows.items()))
    return path


def in_frame(rows: dict[str, Any], path: Path, nothing: Any = None) -> Any:
    return pd.DataFrame({"question": list(rows), "retrieved": [docs or nothing for docs in rows.values()]})


def in_parquet(rows: dict[str, Any], path: Path) -> Any:
    in_frame(rows, path).to_parquet(path)
    return path


@pytest.mark.parametrize("first", ["q1", "q2"])
@pytest.mark.parametrize("form", [in_csv, in_tsv, in_lines, in_frame, partial(in_frame, nothing=math.nan), in_parquet])
def test_a_row_of_lists_that_found_nothing_may_be_empty_wherever_it_stands(
    tmp_path: Path, form: Any, first: str
) -> None:
    rows = dict(sorted(LISTED.items(), key=lambda each: each[0] != first))
    assert evaluate(TO_FIND, form(rows, tmp_path / "found"), "RR").means == {"RR": 0.5}


@pytest.mark.parametrize(
    ("cells", "line"),
    [
        (['["d2", "d1"]', "d3"], 3),
        (["d3", '["d2", "d1"]'], 2),
        (['["d2", "d1"]', '["d3"'], 3),
        (["['d2', 'd1']", "['d3']"], 2),
        (['{"d2": 0.9, "d1": 0.1}', '{"d3": 0.5}'], 2),
        (["{'d2': 0.9, 'd1': 0.1}", "d3"], 2),
    ],
)
def test_what_is_no_list_among_lists_is_an_error_and_makes_no_ids_of_them(
    tmp_path: Path, cells: list[str], line: int
) -> None:
    path = tmp_path / "found.csv"
    pd.DataFrame({"question": ["q1", "q3"], "retrieved": cells}).to_csv(path, index=False)
    with pytest.raises(DataError, match=rf"line {line}: got .* as the documents, expected a list"):
        evaluate(TO_FIND, path, "RR")


def test_ids_in_brackets_are_ids(tmp_path: Path) -> None:
    path = tmp_path / "found.csv"
    pd.DataFrame({"question": ["q1", "q1", "q3"], "doc_id": ["[1984]", "{3F-0B}", "[a] d3"]}).to_csv(path, index=False)
    assert evaluate({"q1": ["[1984]", "{3F-0B}"], "q3": ["[a] d3"]}, path, "R@2").means == {"R@2": 1.0}


def test_many_short_rankings_in_rows_take_no_more_time_than_long_ones() -> None:
    """Every ranking counted the documents of all before it: twice as many queries took four times as long."""

    def seconds(number: int) -> float:
        rows = [(f"q{n}", "d1", 1.0) for n in range(number)]
        start = time.process_time()
        assert evaluate({f"q{n}": ["d1"] for n in range(number)}, rows, "RR").means == {"RR": 1.0}
        return time.process_time() - start

    assert seconds(24_000) < 9 * seconds(6_000)  # a square would be 16
