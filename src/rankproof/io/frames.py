"""Data frames of any library, through narwhals: pandas, Polars (lazy too), PyArrow, DuckDB, Spark."""

from __future__ import annotations

import importlib.util
import io
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from rankproof.core.judgments import Judgments
from rankproof.core.table import Rankings
from rankproof.errors import DataError, is_one_of, missing_extra, one_of, reason, shorten
from rankproof.io.column_roles import JUDGMENTS, RANKING, Wanted, guess, guess_sentence, is_counted
from rankproof.io.files import read_bytes
from rankproof.io.inputs import PathLike, is_pipe
from rankproof.io.rows import Rows, column_notes, judgments_of, ranking_of, ungraded_note
from rankproof.io.values import BACKENDS
from rankproof.progress import under_way

if TYPE_CHECKING:
    from rankproof.io.columns import ColumnRankings

MAGIC = b"PAR1"
LARGE = 20_000
"""From this many rows on, reading whole columns is faster than reading row by row."""
Choose: TypeAlias = Callable[[list[str]], list[str]]
"""Tells from the names of all columns which to read."""


def _can_import(library: str) -> bool:
    return importlib.util.find_spec(library) is not None


def judgments_in_parquet(path: PathLike, source: str) -> Judgments:
    """The judgments in a Parquet file; those of a large one are read in batches."""
    where = _in_place(path)
    if where is not None and _is_large(where):
        from rankproof.io.arrow_columns import by_role, judgments_in

        took, batches = _streamed(where, JUDGMENTS, source)
        found = judgments_in((by_role(table, took) for table in batches()), source)
        if found is not None:  # nothing in it is out of the ordinary
            return _with_notes(found, took, source)
    return judgments_from_frame(_read_wanted(path, JUDGMENTS, source), source)


def ranking_in_parquet(path: PathLike, source: str) -> Rankings:
    """The rankings in a Parquet file; those of a large one are read in batches, as they are asked for."""
    where = _in_place(path)
    large = stream_parquet(where, source) if where is not None and _is_large(where) else None
    return large or ranking_from_frame(_read_wanted(path, RANKING, source), source)


def begins_as_parquet(path: Path) -> bool:
    """Whether the bytes of the file are Parquet as they are, not compressed."""
    with path.open("rb") as stream:
        return stream.read(len(MAGIC)) == MAGIC


def _in_place(path: PathLike) -> Path | None:
    """The path, if it can be read where it is: not from a pipe or an archive."""
    where = Path(path)
    return where if not is_pipe(path) and where.is_file() and begins_as_parquet(where) else None


def _read_wanted(path: PathLike, wanted: Wanted, source: str) -> Any:
    """The columns of a Parquet file that are wanted, as a frame of pyarrow or Polars."""

    def chosen(names: list[str]) -> list[str]:
        counted = wanted is RANKING and is_counted(names)
        return names if counted else list(guess(names, wanted, source).values())

    return _read(_in_place(path) or io.BytesIO(read_bytes(path)), chosen, source)


def read_every_column(content: bytes, source: str) -> Any:
    """All that the bytes of a Parquet file hold, as a frame of pyarrow or Polars."""
    return _read(io.BytesIO(content), lambda names: names, source)


def _read(where: Path | io.BytesIO, choose: Choose, source: str) -> Any:
    if _library() == "pyarrow":
        return _by_pyarrow(where, choose, source)
    import polars

    try:
        table = polars.scan_parquet(where)
        return table.select(choose(table.collect_schema().names())).collect()
    except (polars.exceptions.PolarsError, OSError) as error:
        raise _damaged(source, error) from error


def write_parquet(columns: dict[str, Any], target: Any) -> None:
    """A Parquet file with these columns."""
    name = _library()
    frame = make_frame(columns, name)
    if name == "pyarrow":
        import pyarrow.parquet

        pyarrow.parquet.write_table(frame, target)
    else:
        frame.write_parquet(target)


def _library() -> str:
    for name in ("pyarrow", "polars"):
        if _can_import(name):
            return name
    raise missing_extra("Parquet", "pyarrow", "arrow")


@contextmanager
def _parquet_file(where: Path | io.BytesIO, source: str, **settings: Any) -> Iterator[Any]:
    """The file for pyarrow; what is wrong with it, then and as it is read, is a DataError."""
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(where, page_checksum_verification=True, **settings) as file:
            yield file
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise _damaged(source, error) from error


def _by_pyarrow(where: Path | io.BytesIO, choose: Choose, source: str) -> Any:
    with _parquet_file(where, source, memory_map=isinstance(where, Path)) as file:
        return file.read(columns=choose(file.schema_arrow.names))


BATCH = 1 << 16
"""About how many documents are read from a Parquet file, or taken from a frame, at a time."""
RELEASED = 16
"""After so many batches, memory is given back to the system: after each, reading would take half as long again."""
BUFFER = 1 << 20
"""How many bytes of a column are read at a time, however large its row groups are."""


def _streamed(path: Path, wanted: Wanted, source: str) -> tuple[dict[str, str], Callable[[], Iterator[Any]]]:
    """The columns of a Parquet file that are wanted, and what reads them in batches, whatever its row groups."""
    import pyarrow

    opened = partial(_parquet_file, path, source, buffer_size=BUFFER, pre_buffer=False)
    with opened() as file:
        took = guess(file.schema_arrow.names, wanted, source)
        columns = list(took.values())
        size = max(1, int(BATCH / _held_in_a_row(file, took["doc"])))

    def batches() -> Iterator[Any]:
        rows = 0
        with opened() as file, under_way(f"reading {source}", lambda: rows / file.metadata.num_rows):
            for number, batch in enumerate(file.iter_batches(batch_size=size, columns=columns, use_threads=False)):
                if number % RELEASED == 0:
                    pyarrow.default_memory_pool().release_unused()  # Arrow keeps what it freed
                batch.validate(full=True)  # bytes that are no UTF-8 pass for text until somebody reads them
                yield pyarrow.Table.from_batches([batch]).select(columns)
                rows += batch.num_rows
            if rows != file.metadata.num_rows:  # where a column is cut short, Arrow ends without an error
                raise OSError(f"{rows:,} rows in it, {file.metadata.num_rows:,} in its footer")

    return took, batches


def stream_parquet(path: Path, source: str) -> ColumnRankings | None:
    """The rankings in a Parquet file, read in batches as they are asked for; None without pyarrow."""
    if not _can_import("pyarrow"):
        return None
    from rankproof.io.columns import ColumnRankings  # few inputs are tables, and most of these small

    took, batches = _streamed(path, RANKING, source)

    def slow() -> Rankings:
        import narwhals as nw

        whole = nw.from_native(_by_pyarrow(path, lambda names: list(took.values()), source))
        return ranking_of(_rows(whole, took, source))

    return ColumnRankings(batches, took, slow, source, column_notes(took, source))


def _with_notes(judgments: Judgments, took: Mapping[str, str], source: str) -> Judgments:
    notes = [guess_sentence(took, source), *([] if "grade" in took else [ungraded_note(source)])]
    return replace(judgments, notes=tuple(notes))


def _is_large(path: Path) -> bool:
    if _can_import("pyarrow"):
        with suppress(DataError), _parquet_file(path, "") as file:  # the reader of the whole file says what it is
            return bool(file.metadata.num_rows >= LARGE or path.stat().st_size >= BUFFER)
    return False


def _held_in_a_row(file: Any, column: str) -> float:
    """How many documents a row of a Parquet file holds on average: more than one in a column of lists.

    The footer says it too, but a damaged one that is asked about a column ends the process (pyarrow 26).
    """
    from pyarrow import types

    kind, groups = file.schema_arrow.field(column).type, file.metadata.num_row_groups
    if not (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)):
        return 1.0
    firsts = [
        file.iter_batches(64, row_groups=[group], columns=[column], use_threads=False)
        for group in range(0, groups, max(1, groups // 8))
    ]
    lists = [batch.column(0) for first in firsts for batch in islice(first, 1)]
    return max([1.0, *(len(each.flatten()) / len(each) for each in lists if len(each))])


def _damaged(source: str, error: Exception) -> DataError:
    return DataError(f"{source}: not valid Parquet ({shorten(reason(error))}). Next: copy or write it again.")


def judgments_from_frame(frame: Any, source: str = "judgments") -> Judgments:
    """Judgments from a frame with a column of queries, one of documents, and one of grades."""
    table = _opened(frame, source)
    names = list(map(str, table.collect_schema().names()))  # pandas may have others than text
    took = guess(names, JUDGMENTS, source)
    chosen = _in_memory(table, took)
    if (arrow := _as_arrow(chosen)) is not None:
        from rankproof.io.arrow_columns import by_query, by_role, judgments_in, tables_of

        columns = by_role(arrow, took)
        found = judgments_in(tables_of(columns), source)
        if found is None and not columns.column("query").null_count:
            found = judgments_in(tables_of(by_query(columns)), source)
        if found is not None:  # nothing in it is out of the ordinary
            return _with_notes(found, took, source)
    return judgments_of(_rows(chosen, took, source))


def ranking_from_frame(frame: Any, source: str = "ranking") -> Rankings:
    """Rankings from a frame with a column of queries, one of documents, and scores or ranks."""
    table = _opened(frame, source)
    names = list(map(str, table.collect_schema().names()))  # pandas may have others than text
    if is_counted(names):
        from rankproof.io.counted import counted_rows

        whole = table.collect() if hasattr(table, "collect") else table
        return counted_rows({name: whole.get_column(name).to_list() for name in names}, source)
    took = guess(names, RANKING, source)
    notes = column_notes(took, source)

    @cache
    def collected() -> Rankings:
        if (batched := _in_batches(table, took, source)) is not None:
            return batched
        chosen = _in_memory(table, took)
        row_by_row = cache(lambda: ranking_of(_rows(chosen, took, source)))
        arrow = _as_arrow(chosen)
        if arrow is None:
            return row_by_row()
        from rankproof.io.arrow_columns import tables_of
        from rankproof.io.columns import ColumnRankings

        return ColumnRankings(lambda: tables_of(arrow), took, row_by_row, source, notes)

    if hasattr(table, "collect"):  # it is lazy: its engine may count, and keep its rows
        from rankproof.io.counted.engines import counted_frame  # few evaluations need it

        return counted_frame(table, took, collected, source, notes) or collected()
    return collected()


def _in_batches(table: Any, took: Mapping[str, str], source: str) -> Rankings | None:
    """The rankings of a lazy frame of Polars, by its own streaming engine; None for other frames.

    Collected as narwhals does it, two million rows took 6.5 GB.
    """
    import narwhals as nw

    lazy: Any = nw.to_native(table)
    if not hasattr(type(lazy), "collect_batches") or not _can_import("pyarrow"):
        return None
    from rankproof.io.columns import ColumnRankings

    chosen = lazy.select(list(took.values()))

    def batches() -> Iterator[Any]:
        import polars

        try:
            for batch in chosen.collect_batches(chunk_size=BATCH, maintain_order=True):
                yield batch.to_arrow()
        except (polars.exceptions.PolarsError, OSError) as error:
            raise DataError(
                f"{source}: the lazy frame cannot be collected ({shorten(reason(error))}). Next: collect it yourself, "
                "and look at what it says."
            ) from error

    def slow() -> Rankings:
        return ranking_of(_rows(_in_memory(table, took), took, source))

    return ColumnRankings(batches, took, slow, source, column_notes(took, source))


def records_of_frame(frame: Any, source: str) -> Iterator[dict[str, Any]]:
    """The rows of a frame as mappings of all its columns; None where pandas has its NA."""
    import narwhals as nw

    table = _opened(frame, source)
    whole: nw.DataFrame[Any] = table.collect() if isinstance(table, nw.LazyFrame) else table
    rows = whole.iter_rows(named=True)
    if not whole.implementation.is_pandas():
        return rows
    absent = sys.modules["pandas"].NA
    return ({name: None if each is absent else each for name, each in row.items()} for row in rows)


def make_frame(columns: Mapping[str, Sequence[Any]], backend: str | None = None) -> Any:
    """A frame with these columns, of the library named or of whichever is there."""
    import narwhals as nw

    if backend is not None and not is_one_of(backend, BACKENDS):
        raise one_of("backend", backend, BACKENDS)
    name = backend or _backend()
    if name is None or not _can_import(name):
        raise missing_extra("A data frame", name or "polars, pandas or pyarrow", "arrow")
    return nw.from_dict(dict(columns), backend=name).to_native()  # type: ignore[arg-type]


def _backend() -> str | None:
    loaded = [name for name in BACKENDS if name in sys.modules]
    return next(iter(loaded or filter(_can_import, BACKENDS)), None)


def _opened(frame: Any, source: str) -> Any:
    """The frame as narwhals sees it; a frame that only exports Arrow is converted first."""
    import narwhals as nw

    try:
        table = nw.from_native(frame, pass_through=True, allow_series=True)
    except (ValueError, TypeError, nw.exceptions.NarwhalsError) as error:
        raise DataError(
            f"{source}: the data frame cannot be used: {' '.join(str(error).split())}. Next: give each column a name "
            "of its own, or turn it into another kind of frame."
        ) from error
    if isinstance(table, (nw.DataFrame, nw.LazyFrame)):
        return table
    if isinstance(table, nw.Series) or not hasattr(frame, "__arrow_c_stream__"):
        raise DataError(
            f"{source}: got a {type(frame).__module__}.{type(frame).__name__}, not a known kind of data "
            "frame. Next: give a pandas, Polars, PyArrow or DuckDB table, a dict, or a path."
        )
    return nw.from_arrow(frame, backend=_backend() or "pyarrow")  # type: ignore[arg-type]


def _in_memory(table: Any, took: Mapping[str, str]) -> Any:
    """The columns that were taken, read into memory."""
    import narwhals as nw

    chosen = table.select(list(took.values()))
    if not isinstance(chosen, nw.LazyFrame):
        return chosen
    native: Any = nw.to_native(chosen)
    if hasattr(type(native), "collect_batches"):  # a Polars that has the streaming engine
        return nw.from_native(native.collect(engine="streaming"))
    return chosen.collect()


def _as_arrow(chosen: Any) -> Any:
    """A large frame as a table of pyarrow; None for a small one, and for columns that Arrow does not have."""
    if len(chosen) < LARGE or not _can_import("pyarrow"):
        return None
    import pyarrow

    try:
        return chosen.to_arrow()
    except (pyarrow.ArrowException, TypeError, ValueError):
        return None


def _rows(chosen: Any, took: Mapping[str, str], source: str) -> Rows:
    try:
        columns = {role: chosen.get_column(name).to_list() for role, name in took.items()}
    except UnicodeDecodeError as error:
        # Arrow takes bytes for text on trust.
        found = f"the bytes {error.object!r} are not valid UTF-8"
        raise DataError(f"{source}: {found}. Next: write the table again.") from error
    return Rows(columns, source, notes=(guess_sentence(took, source),))
