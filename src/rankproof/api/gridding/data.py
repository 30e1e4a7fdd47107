"""The questions, judgments and documents that a grid names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rankproof import sample
from rankproof.bench.grid.filters import check_filters
from rankproof.bench.grid.plan import Plan
from rankproof.bench.grid.source import Source
from rankproof.core.audit.meeting import check_found, not_in_corpus, relevant_in
from rankproof.core.corpus import Corpus
from rankproof.core.judgments import Judgments
from rankproof.errors import DataError, UsageError, shorten
from rankproof.io.corpora import load_corpus
from rankproof.io.labelled import load_labelled
from rankproof.io.load import load_judgments
from rankproof.io.questions import load_questions

SAMPLE = "sample"


@dataclass(frozen=True, eq=False)
class Data:
    """What every configuration is run on."""

    questions: dict[str, str]
    """The texts of the judged questions."""
    judgments: Judgments
    corpus: Corpus | None

    def part(self, names: list[str]) -> tuple[Judgments, dict[str, str]]:
        """The judgments and the texts of some questions."""
        judged = {name: self.judgments.of(name) for name in names}
        return load_judgments(judged), {name: self.questions[name] for name in names}


def data_of(source: Source, plan: Plan) -> Data:
    """The data, read; whatever is missing is an error."""
    whole = source.data.get("benchmark")
    if whole is not None:
        questions, judgments, corpus = _together(_at(source, whole))
    else:
        asked = "queries" if "queries" in source.data else "questions"
        questions = load_questions(_needed(source, asked, sample.queries))
        judgments = load_judgments(_needed(source, "judgments", sample.judgments))
        corpus = None
    if source.data.get("corpus") is not None:
        corpus = load_corpus(_needed(source, "corpus", sample.documents))
    if corpus is None and plan.reads_documents:
        raise UsageError(
            f"{source.name}: it searches, filters or reranks documents, and no corpus is named. "
            'Next: add  corpus = "...".'
        )
    judged = replace(judgments, prepared={**judgments.prepared, "integer_ids": (False, False)})
    if corpus is not None:
        check_found(not_in_corpus(relevant_in(judged), corpus), source.name)
        check_filters(source, plan.filters, corpus)
    return Data(_judged(source, questions, judged), judged, corpus)


def _together(given: Any) -> tuple[dict[str, str], Judgments, Corpus | None]:
    if isinstance(given, str) and given == SAMPLE:
        return sample.queries(), load_judgments(sample.judgments()), load_corpus(sample.documents())
    found = load_labelled(given)
    return dict(found.questions), found.judgments, found.corpus


def _needed(source: Source, key: str, own: Any) -> Any:
    """What a key names; "sample" is the embedded sample."""
    if key not in source.data:
        raise UsageError(
            f'{source.name}: no {key} named. Next: add  {key} = "..."  (or  benchmark = "sample"  to try).'
        )
    given = source.data[key]
    return own() if isinstance(given, str) and given == SAMPLE else _at(source, given)


def _at(source: Source, given: Any) -> Any:
    """A path as it is seen from here; whatever else was given as it is."""
    return source.path(given) if isinstance(given, str) and given != SAMPLE else given


def _judged(source: Source, questions: dict[str, str], judgments: Judgments) -> dict[str, str]:
    missing = [name for name in judgments.queries if name not in questions]
    if missing:
        raise DataError(
            f"{source.name}: {len(missing)} judged questions have no text, as {shorten(missing[0])}. "
            "Next: add them to the questions, or take them out of the judgments."
        )
    if not judgments.queries:
        raise DataError(
            f"{source.name}: there are no judgments, so nothing can be chosen. Next: give judgments."
        )
    return {name: questions[name] for name in judgments.queries}
