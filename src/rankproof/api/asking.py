"""Asking a retriever the questions of a benchmark: what it is, where answers are kept, where progress is told."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from rankproof.bench.adapters import Adapted, adapted
from rankproof.bench.adapters.answers import IdOf, Reading
from rankproof.bench.runner import Plan, Row, answer_all
from rankproof.bench.runner.answering import Told
from rankproof.core.corpus import Corpus
from rankproof.progress import Progress
from rankproof.store.answers import Answers, opened


def as_asked(
    retriever: Any, batch: bool | int | None, id: IdOf, settings: Mapping[str, Any] | None, limits: Any
) -> Adapted:
    """The retriever as it can be asked; a number of questions a call goes to the limits."""
    if batch is not None and not isinstance(batch, bool):
        limits["batch"] = batch
        batch = True
    return adapted(retriever, batch=batch, id=id, settings=settings)


def asked(
    name: str,
    questions: Mapping[str, str],
    retriever: Adapted,
    reading: Reading,
    plan: Plan,
    *,
    corpus: Corpus | None,
    cache: str | os.PathLike[str] | None,
    progress: bool | None,
) -> list[Row]:
    """A row for each question; answers kept in `cache` are not asked for again."""
    with _memory(cache) as memory, _told(name, len(questions), progress) as told:
        about = {} if memory is None else _about(name, retriever, corpus)
        return answer_all(questions, retriever, reading, plan, memory=memory, about=about, told=told)


def _about(name: str, retriever: Adapted, corpus: Corpus | None) -> dict[str, Any]:
    """What shapes the answers beside settings and question."""
    found = {"corpus": None if corpus is None else corpus.fingerprint}
    return found if retriever.known else {**found, "run": name}


@contextmanager
def _memory(cache: str | os.PathLike[str] | None) -> Iterator[Answers | None]:
    with nullcontext() if cache is None else opened(Path(cache)) as found:
        yield found


@contextmanager
def _told(name: str, total: int, wanted: bool | None) -> Iterator[Told]:
    """Where progress goes: to standard error where a person looks at it, or it was asked for."""
    if wanted is False or (wanted is None and not sys.stderr.isatty()):
        yield lambda done, failed: None
        return
    progress = Progress(name, total)
    try:
        yield progress.tell
    finally:
        progress.close()
