"""BEIR folders: corpus.jsonl, queries.jsonl, and the judgments of each split in qrels/."""

from __future__ import annotations

from pathlib import Path

from rankproof.errors import DataError, UsageError, nearest

DEFAULT = "test"
"""The split that is meant where none is named."""


def split_of(path: Path) -> tuple[Path, str | None]:
    """A folder and the split named behind `#`, as in `scifact#train`."""
    folder, mark, split = str(path).rpartition("#")
    return (Path(folder), split) if mark and Path(folder).is_dir() and not path.exists() else (path, None)


def judgments_file(folder: Path, split: str | None = None) -> Path:
    """The file with the judgments of a split of a BEIR folder."""
    splits = _splits(folder)
    if split is not None and split not in splits:
        raise UsageError(
            f"{folder}: no split {split!r}, only {_listed(splits)}.{nearest(split, splits)} "
            "Next: name one of them."
        )
    if split is None and len(splits) > 1 and DEFAULT not in splits:
        raise UsageError(
            f"{folder}: there are several splits, {_listed(splits)}. "
            f"Next: name one, as {folder}#{next(iter(splits))}."
        )
    return splits[split or (DEFAULT if DEFAULT in splits else next(iter(splits)))]


def choice_note(folder: Path, chosen: Path) -> str:
    """What was taken from the folder, in a sentence."""
    others = [name for name, path in _splits(folder).items() if path != chosen]
    also = f"; there are also {', '.join(others)}, as {folder}#{others[0]}" if others else ""
    return f"{folder}: a BEIR folder, took the judgments of qrels/{chosen.name}{also}"


def _splits(folder: Path) -> dict[str, Path]:
    """The judgments in a folder by the name of their split."""
    found = {path.name.partition(".")[0]: path for path in sorted(folder.glob("qrels/*.tsv*"))}
    if not found:
        raise DataError(
            f"{folder}: a folder without qrels/*.tsv, so not one of BEIR. "
            "Next: give the path of a file, or of a BEIR folder."
        )
    return found


def _listed(splits: dict[str, Path]) -> str:
    return ", ".join(repr(name) for name in splits)
