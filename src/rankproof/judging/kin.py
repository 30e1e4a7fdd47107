"""Which models made what a judge judges: as somebody says, and as the columns of the samples say themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rankproof.core.audit.finding import Finding, kin_of
from rankproof.errors import UsageError, shorten
from rankproof.judging.samples import Sample
from rankproof.judging.verdicts import Judge

ROLES = {
    "what it judges": ("model", "model_name", "model_id", "llm", "llm_model", "ls_model_name", "made_by"),
    "the answers": ("generator", "generator_model", "answer_model", "generation_model"),
    "the ranking": (
        *(
            "ranker",
            "ranker_model",
            "reranker",
            "reranker_model",
            "rerank_model",
            "retriever",
            "retriever_model",
        ),
        *("embedder", "embedder_model", "embedding_model", "embeddings", "embedding"),
    ),
}
"""The columns that name a model, by what it made."""
ROLE_OF = {column: role for role, columns in ROLES.items() for column in columns}
MOST = 20
"""Names remembered of each role: a column with more names no model."""


class Makers:
    """The models behind samples, while these are read one by one."""

    def __init__(self, made_by: Any = None) -> None:
        self.found: dict[str, dict[str, None]] = {}
        for role, names in _told(made_by):
            self.found.setdefault(role, {}).update(dict.fromkeys(names))

    def add(self, sample: Sample) -> None:
        """Take the names of models in the columns of a sample."""
        for column, value in sample.others.items():
            role = ROLE_OF.get(column.casefold().rpartition(".")[2])
            if role and isinstance(value, str) and value.strip():
                names = self.found.setdefault(role, {})
                if len(names) < MOST:
                    names[value.strip()] = None

    def kin(self, judges: Sequence[Judge]) -> list[Finding]:
        """A warning if a judge that is a model is of the model, or the family, of what it judges."""
        models = [each.name for each in judges if each.identity.get("kind") == "model"]
        return list(kin_of(models, self.found))


def _told(made_by: Any) -> Iterator[tuple[str, Iterable[str]]]:
    """What somebody says: names, or names by role."""
    given = made_by if isinstance(made_by, Mapping) else {"what it judges": made_by}
    for role, names in given.items():
        listed = [names] if isinstance(names, str) else [] if names is None else names
        if (
            isinstance(listed, bytes)
            or not isinstance(listed, Iterable)
            or not all(isinstance(e, str) for e in listed)
        ):
            raise UsageError(
                f"made_by: got {shorten(names)}, expected the name of a model, several, or a mapping like "
                "{'generator': 'gpt-4o'}. Next: give one of these."
            )
        yield f"the {role}" if isinstance(made_by, Mapping) else str(role), listed
