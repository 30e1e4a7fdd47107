"""Experiments as one JSON file, to be kept elsewhere or given to others."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from rankproof.errors import UsageError
from rankproof.outputs import write_file
from rankproof.store.experiments import Entry, Experiment, Values, check_name, check_tags, misread

FORMAT = "rankproof history"
VERSION = 1


def write(target: Path, found: list[Experiment], *, force: bool = False) -> None:
    """Write experiments to a file; compressed if its name ends in .gz."""
    plain = {"format": FORMAT, "version": VERSION, "experiments": [_plain(each) for each in found]}
    data = json.dumps(plain, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace")
    write_file(target, gzip.compress(data, mtime=0) if target.suffix == ".gz" else data, force=force)


def read(source: Path) -> list[Experiment]:
    """The experiments in a file that `write` made."""
    data = _data(source)
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise misread(source, "no exported history")
    if data.get("version") != VERSION:
        raise misread(
            source, f"version {data.get('version')!r} of the format, this rankproof reads {VERSION}"
        )
    try:
        return [_experiment(each) for each in data["experiments"]]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise misread(
            source, f"an experiment that lacks something or has it in another form ({error})"
        ) from error


def _data(source: Path) -> Any:
    try:
        raw = source.read_bytes()
        return json.loads(gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw)
    except FileNotFoundError:
        raise UsageError(f"{source}: there is no such file. Next: check the path.") from None
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise misread(source, f"a broken archive ({error})") from error
    except ValueError as error:
        raise misread(source, f"no JSON ({error})") from error


def _plain(experiment: Experiment) -> dict[str, Any]:
    return {
        **experiment.entry.to_dict(),
        "facts": experiment.facts,
        "queries": list(experiment.queries),
        "values": {name: _column(each) for name, each in experiment.columns.items()},
    }


def _column(column: Values) -> dict[str, Any]:
    counted = None if column.counted is None else column.counted.tolist()
    return {"values": column.values.tolist(), "counted": counted, "note": column.note}


def _experiment(plain: dict[str, Any]) -> Experiment:
    facts, queries, values = (plain[key] for key in ("facts", "queries", "values"))
    entry = Entry(**{key: plain[key] for key in Entry.__dataclass_fields__})
    check_name("name", entry.name)
    check_tags(entry.tags)
    columns = {name: _values(each, len(queries)) for name, each in values.items()}
    if not set(entry.means) <= set(columns):
        raise ValueError("means and values are of different measures")
    return Experiment(entry, tuple(queries), columns, facts)


def _values(plain: dict[str, Any], queries: int) -> Values:
    values = np.array(plain["values"], dtype=np.float64)
    counted = None if plain["counted"] is None else np.array(plain["counted"], dtype=bool)
    if values.shape != (queries,) or (counted is not None and counted.shape != (queries,)):
        raise ValueError(f"not one value for each of the {queries} queries")
    return Values(values, counted, plain["note"])
