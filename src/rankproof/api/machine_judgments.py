"""Verdicts as judgments, so that rank measures run on them; marked as made by a machine."""

from __future__ import annotations

import os

from rankproof.api.evidence import Evidence
from rankproof.errors import DataError
from rankproof.io.trec.qrels import MACHINE
from rankproof.outputs import write_file
from rankproof.store.ledger import HUMAN

Judged = dict[str, dict[str, int]]
"""`{query: {document: grade}}`."""


def judgments_from(evidence: Evidence) -> tuple[Judged, list[str]]:
    """The grades of contexts by sample and id, and who gave them; a document of several chunks has its best.

    A context without a verdict is not in it: it stays unjudged.
    """
    found: Judged = {}
    judges: dict[str, None] = {}
    for sample, name, piece in evidence.grades():
        if piece.value is not None:
            graded = found.setdefault(sample, {})
            graded[name] = max(piece.value, graded.get(name, 0))
            judges.setdefault(piece.judge)
    if not found:
        raise DataError(
            "there is no verdict on how well a context answers, so there are no judgments to write. "
            "Next: judge with context_precision among the metrics."
        )
    return found, list(judges)


def write_qrels(evidence: Evidence, path: str | os.PathLike[str], *, force: bool = False) -> int:
    """Write the grades as TREC judgments; how many they are.

    The second column, which trec_eval ignores, says which judge made them: `machine:lexical`.
    """
    found, judges = judgments_from(evidence)
    mark = _mark(judges)
    lines = [f"{q} {mark} {doc} {grade}\n" for q, graded in found.items() for doc, grade in graded.items()]
    for name in (name for q, graded in found.items() for name in (q, *graded)):
        if any(letter.isspace() for letter in name):
            raise DataError(
                f"the id {name!r} has a blank in it, which TREC judgments cannot hold. Next: use other ids."
            )
    write_file(path, "".join(lines), force=force)
    return len(lines)


def _mark(judges: list[str]) -> str:
    """Who judged, as one word; what only people judged is not marked."""
    machines = [each for each in judges if not each.startswith(f"{HUMAN}:")]
    return MACHINE + "+".join("".join(each.split()) for each in judges) if machines else "0"
