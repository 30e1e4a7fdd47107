"""Parquet files, by whichever library is there."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from rankproof.errors import DataError, missing_extra, shorten
from rankproof.io.files import read_bytes
from rankproof.io.guess import Wanted, guess
from rankproof.io.pipes import PathLike, is_pipe

MAGIC = b"PAR1"
Choose: TypeAlias = Callable[[list[str]], list[str]]
"""Tells from the names of all columns which to read."""


def read_parquet(path: PathLike, wanted: Wanted, source: str) -> Any:
    """The columns of a Parquet file that are wanted, as a frame of pyarrow or Polars."""
    in_place = not is_pipe(path) and _begins_as_parquet(Path(path))
    where = Path(path) if in_place else io.BytesIO(read_bytes(path))
    return _read(where, lambda names: list(guess(names, wanted, source).values()), source)


def _begins_as_parquet(path: Path) -> bool:
    """Whether the bytes of the file are Parquet as they are, not compressed."""
    with path.open("rb") as stream:
        return stream.read(len(MAGIC)) == MAGIC


def read_every_column(content: bytes, source: str) -> Any:
    """All that the bytes of a Parquet file hold, as a frame of pyarrow or Polars."""
    return _read(io.BytesIO(content), lambda names: names, source)


def _read(where: Path | io.BytesIO, choose: Choose, source: str) -> Any:
    read = _by_pyarrow if _library() == "pyarrow" else _by_polars
    return read(where, choose, source)


def write_parquet(columns: dict[str, Any], target: Any) -> None:
    """A Parquet file with these columns."""
    from rankproof.io.frames import make_frame

    name = _library()
    frame = make_frame(columns, name)
    if name == "pyarrow":
        import pyarrow.parquet

        pyarrow.parquet.write_table(frame, target)
    else:
        frame.write_parquet(target)


def _library() -> str:
    for name in ("pyarrow", "polars"):
        if importlib.util.find_spec(name) is not None:
            return name
    raise missing_extra("Parquet", "pyarrow", "arrow")


def _by_pyarrow(where: Path | io.BytesIO, choose: Choose, source: str) -> Any:
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(where, memory_map=isinstance(where, Path)) as file:
            return file.read(columns=choose(file.schema_arrow.names))
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise _damaged(source, error) from error


def _by_polars(where: Path | io.BytesIO, choose: Choose, source: str) -> Any:
    import polars

    try:
        table = polars.scan_parquet(where)
        return table.select(choose(table.collect_schema().names())).collect()
    except (polars.exceptions.PolarsError, OSError) as error:
        raise _damaged(source, error) from error


def _damaged(source: str, error: Exception) -> DataError:
    return DataError(f"{source}: no valid Parquet ({shorten(str(error))}). Next: copy or write it again.")
