"""Parquet files, by whichever library is there."""

from __future__ import annotations

import importlib.util
import io
from typing import Any

from rankproof.errors import DataError, missing_extra, shorten

MAGIC = b"PAR1"


def read_parquet(content: bytes, source: str) -> Any:
    """The table in a Parquet file, as a frame of pyarrow, Polars or pandas."""
    return _reader()(content, source)


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


def _reader() -> Any:
    return _by_pyarrow if _library() == "pyarrow" else _by_polars


def _by_pyarrow(content: bytes, source: str) -> Any:
    import pyarrow
    import pyarrow.parquet

    try:
        return pyarrow.parquet.read_table(pyarrow.BufferReader(content))
    except (pyarrow.ArrowException, OSError) as error:
        raise _damaged(source, error) from error


def _by_polars(content: bytes, source: str) -> Any:
    import polars

    try:
        return polars.read_parquet(io.BytesIO(content))
    except polars.exceptions.PolarsError as error:
        raise _damaged(source, error) from error


def _damaged(source: str, error: Exception) -> DataError:
    return DataError(f"{source}: no valid Parquet ({shorten(str(error))}). Next: copy or write it again.")
