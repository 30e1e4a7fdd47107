"""A column that is wrong as a whole comes with the step that mends it, and the step does."""

from __future__ import annotations

import json
import math
import subprocess
import time
from collections.abc import Iterator
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from rankproof import evaluate
from rankproof.document.numbers import FACE
from rankproof.errors import DataError
from tests.shell import rankproof

IDS = {"query_id": ["q1", "q1", "q2"], "doc_id": ["d1", "d2", "d3"]}
GRADES: dict[str, tuple[list[Any], list[float]]] = {
    "truth values": ([True, False, True], [1, 0, 1]),
    "truth values as text": (["True", "false", "true"], [1, 0, 1]),
    "numbers as text": (["1", "0", "2.5"], [1, 0, 2.5]),
    "decimal commas": (["1,5", "0", "-2,25"], [1.5, 0, -2.25]),
}
RUN = {"q1": ["d2", "d1"], "q2": ["x", "d3"]}


@pytest.fixture
def in_shell() -> Iterator[None]:
    FACE.set("shell")
    yield
    FACE.set("python")


def write(frame: pd.DataFrame, path: Path) -> Path:
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in frame.to_dict("records")), encoding="utf-8")
    else:
        frame.to_csv(path, index=False, sep=";" if path.stem == "semicolons" else ",")
    return path


def step(given: Any, run: Any = RUN) -> str:
    with pytest.raises(DataError) as caught:
        evaluate(given, run, "DCG")
    return str(caught.value).partition("Next: ")[2].removesuffix(".")


def mended(command: str, folder: Path) -> Path:
    """The file that the command writes."""
    if command.startswith("duckdb -c "):
        with duckdb.connect() as connection:
            connection.execute(f"set file_search_path = '{folder}'")
            connection.execute(command.split('"')[1].replace("to 'mended", f"to '{folder}/mended"))
    else:
        subprocess.run(command, shell=True, check=True, cwd=folder)
    return next(folder.glob("mended.*"))


@pytest.mark.parametrize("kind", GRADES)
def test_the_step_in_python_mends_the_column(kind: str, tmp_path: Path) -> None:
    wrong, right = GRADES[kind]
    frame = pd.DataFrame({**IDS, "label": wrong})
    expected = dict(evaluate(pd.DataFrame({**IDS, "label": right}), RUN, "DCG").means)
    sources: list[Any] = [frame, write(frame, tmp_path / "j.parquet"), write(frame, tmp_path / "j.jsonl")]
    for each in [*sources, *([] if kind == "numbers as text" else [write(frame, tmp_path / "j.csv")])]:
        what, _, code = step(each).partition(", like ")
        assert what.startswith("turn the whole column into ")
        repaired = frame.assign(label=eval(code, {"frame": frame}))
        assert dict(evaluate(repaired, RUN, "DCG").means) == expected
    (_, _, code), tuples = step(list(zip(*IDS.values(), wrong, strict=True))).partition(", like "), wrong
    values = [eval(code.removesuffix(" in each row"), {"value": each}) for each in tuples]
    assert values == right


@pytest.mark.usefixtures("in_shell")
@pytest.mark.parametrize("kind", GRADES)
def test_the_step_in_the_shell_mends_the_file(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong, right = GRADES[kind]
    frame = pd.DataFrame({**IDS, "label": wrong})
    expected = dict(evaluate(pd.DataFrame({**IDS, "label": right}), RUN, "DCG").means)
    monkeypatch.chdir(tmp_path)
    for name in ("j.parquet", "j.jsonl", "j.csv", "semicolons.csv"):
        if kind == "numbers as text" and name.endswith("csv"):
            continue  # CSV holds no other numbers
        command = step(str(write(frame, Path(name)))).partition(", like ")[2]
        path = mended(command, tmp_path)
        assert dict(evaluate(path, RUN, "DCG").means) == expected, command
        path.unlink()


def test_ids_as_bytes_are_turned_into_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"query_id": [b"q1", b"q2"], "doc_id": ["a", "b"], "score": [2.0, 1.0]})
    judged = {"q1": {"a": 1}, "q2": {"b": 1}}
    code = step(judged, frame).partition(", like ")[2]
    assert evaluate(judged, frame.assign(query_id=eval(code, {"frame": frame})), "RR")["RR"] == 1
    FACE.set("shell")
    try:
        command = step(judged, str(write(frame, Path("run.parquet")))).partition(", like ")[2]
    finally:
        FACE.set("python")
    assert evaluate(judged, mended(command, tmp_path), "RR")["RR"] == 1


@pytest.mark.usefixtures("in_shell")
def test_ids_that_pandas_made_floats_are_turned_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"query_id": ["q1", "q2"], "doc_id": [7.0, 12.0], "score": [2.0, 1.0]})
    judged = {"q1": {7: 1}, "q2": {12: 1}}
    for name in ("run.parquet", "run.jsonl"):
        path = mended(step(judged, str(write(frame, Path(name)))).partition(", like ")[2], tmp_path)
        assert evaluate(judged, path, "RR")["RR"] == 1
        path.unlink()


def test_ids_that_are_dates_are_turned_into_text(in_shell: None, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    wrong = pd.DataFrame({**IDS, "grade": [1, 0, 1], "query_id": [date(2025, 3, day) for day in (1, 1, 2)]})
    run = {"2025-03-01": ["d1"], "2025-03-02": ["d3"]}
    path = mended(step(str(write(wrong, Path("j.parquet"))), run).partition(", like ")[2], tmp_path)
    FACE.set("python")
    for given in (path, wrong.assign(query_id=eval(step(wrong, run).partition(", like ")[2], {"frame": wrong}))):
        assert evaluate(given, run, "RR")["RR"] == 1


def test_values_of_a_mapping_say_what_to_write() -> None:
    assert step({"q1": {"d1": True}}) == step({"q1": {"d1": False}}) == "write 1 for true and 0 for false, everywhere"
    assert step({"q1": {"d1": "2"}}) == "write numbers without quotes, everywhere"
    assert step({"q1": {"d1": 1}}, {"q1": {"d1": "0.5"}}) == "write numbers without quotes, everywhere"
    assert step({"q1": {"d1": None}}) == "correct the judgment or drop it"


def test_only_a_row_that_is_wrong_is_to_be_corrected(tmp_path: Path) -> None:
    for values in ([1, None, 2], ["high", "1", "2"], [True, 2, 1], ["1", "nan", "2"], [float("nan"), 1, 2]):
        frame = pd.DataFrame({**IDS, "label": pd.Series(values, dtype=object)})
        assert step(frame) == "correct or drop this row", values
    assert step(write(pd.DataFrame({**IDS, "label": ["1", "nan", "x"]}), tmp_path / "j.csv")) == (
        "correct or drop this row"
    )


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
