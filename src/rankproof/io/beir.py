"""BEIR folders, also as ZIP archives: corpus.jsonl, queries.jsonl, and the judgments of each split in qrels/."""

from __future__ import annotations

from pathlib import Path

from rankproof.errors import DataError, UsageError, nearest
from rankproof.io.files import archive_of, folders, is_zip, matching

DEFAULT = "test"
"""The split that is meant where none is named."""


BEIR_CORPUS = "corpus.jsonl*"
BEIR_QUESTIONS = "queries.jsonl*"
JUDGMENTS = "qrels/*.tsv*"


def folder_at(path: Path) -> Path | None:
    """The folder that a path names, or the one in the ZIP archive that it names; None if it is neither.

    >>> folder_at(Path("run.txt")) is None
    True
    """
    if path.is_dir():
        return path
    try:
        if not is_zip(path):
            return path if archive_of(path) and _is_beir(path) else None
        found = [folder for folder in folders(path) if _is_beir(folder)]
    except DataError:
        if path.suffix.lower() == ".zip":
            raise
        return None  # whoever reads the file says what it is
    if len(found) > 1 and len(found[0].parts) == len(found[1].parts):
        names = _listed({each.relative_to(path).as_posix(): each for each in found})
        raise UsageError(
            f"{path}: there are several BEIR folders in it, {names}. Next: name one, as {found[0]}."
        )
    return found[0] if found else None


def _is_beir(folder: Path) -> bool:
    return any(matching(folder, each) for each in (BEIR_CORPUS, BEIR_QUESTIONS, JUDGMENTS))


def split_of(path: Path) -> tuple[Path, str | None]:
    """A folder and the split named behind `#`, as in `scifact#train`."""
    folder, mark, split = str(path).rpartition("#")
    return (Path(folder), split) if mark and not path.exists() and folder_at(Path(folder)) else (path, None)


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
    found = {path.name.partition(".")[0]: path for path in matching(folder, JUDGMENTS)}
    if not found:
        raise DataError(
            f"{folder}: a folder without qrels/*.tsv, so not one of BEIR. "
            "Next: give the path of a file, or of a BEIR folder."
        )
    return found


def _listed(splits: dict[str, Path]) -> str:
    return ", ".join(repr(name) for name in splits)
