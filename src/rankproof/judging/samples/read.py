"""Samples from whatever they are kept in, one after the other, each checked as it is read."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import chain
from string import digits as DIGITS
from typing import Any

from rankproof.errors import DataError, UsageError, nearest, shorten
from rankproof.io.streamed import Row, rows_of
from rankproof.judging.samples import sample as values
from rankproof.judging.samples.fields import NAMES, fields_in, others_in
from rankproof.judging.samples.sample import Sample
from rankproof.judging.samples.spans import are_spans, rows_of_spans


def read_samples(source: Any) -> Iterator[Sample]:
    """The samples of a path, a data frame, or an iterable of rows, `Sample`s or objects.

    A row without an id is called by its number. Two samples of one id are an error that names both places.

    >>> [sample.query for sample in read_samples([{"question": "why?"}, {"user_input": "how?"}])]
    ['why?', 'how?']
    """
    seen = Places()
    for number, (where, value) in enumerate(_rows(source), 1):
        sample = value if isinstance(value, Sample) else sample_of(value, where, str(number))
        if (before := seen.take(sample.id, where)) is not None:
            raise DataError(
                f"{where}: sample {shorten(sample.id)} was given before ({before}). "
                "Next: give each sample an id of its own."
            )
        yield sample


OF_OBJECTS = ("inputs", "outputs", "reference_outputs", "messages", "expected_output", "context")
"""Parts of rows that are objects."""


class Places:
    """Where each sample was read, in few bytes: numbers at the end apart from the words before them."""

    def __init__(self) -> None:
        self._words: dict[str, str] = {}
        self._seen: dict[str, str] = {}
        self._numbers = array("q")

    def take(self, sample: str, where: str) -> str | None:
        """Take one sample; where it was given before, the place of that.

        >>> places = Places()
        >>> places.take("a", "x.jsonl, line 7"), places.take("a", "x.jsonl, line 9")
        (None, 'x.jsonl, line 7')
        """
        if sample in self._seen:
            number = self._numbers[list(self._seen).index(sample)]
            return f"{self._seen[sample]}{number if number >= 0 else ''}"
        words = where.rstrip(DIGITS)
        self._seen[sample] = self._words.setdefault(words, words)
        self._numbers.append(int(where[len(words) :] or -1))
        return None


def _rows(source: Any) -> Iterator[Row]:
    """The rows; spans are gathered into one row a trace."""
    rows = rows_of(_opened(source), "samples")
    first = next(rows, None)
    if first is None:
        raise DataError("samples: empty, there is not one sample. Next: check how they were made.")
    whole = chain([first], rows)
    return rows_of_spans(whole) if are_spans(first.value) else whole


def _opened(source: Any) -> Any:
    """The rows behind a dataset of another library that holds its samples in a list."""
    held = [getattr(source, name, None) for name in ("samples", "test_cases", "goldens", "examples")]
    lists = [each for each in held if isinstance(each, list)]
    if lists:
        return next((each for each in lists if each), lists[0])
    if (
        isinstance(source, Mapping)
        and source
        and all(hasattr(each, "column_names") for each in source.values())
    ):
        if len(source) > 1:  # a DatasetDict of Hugging Face
            splits = ", ".join(map(repr, source))
            raise UsageError(
                f"samples: got {len(source)} splits ({splits}), expected one. Next: give one, like "
                f"dataset[{next(iter(source))!r}]."
            )
        return next(iter(source.values()))
    return source


def sample_of(row: Any, where: str = "sample", number: str = "1") -> Sample:
    """One sample from a row: a mapping or an object with fields under any name that is known.

    >>> sample = sample_of({"user_input": "why?", "retrieved_contexts": ["since"], "retrieved_context_ids": [7]})
    >>> sample.query, sample.contexts
    ('why?', (Context(id='7', text='since'),))
    """
    plain = values.of_trec(_as_mapping(row, where))
    found = fields_in(plain, where)
    if not set(found) - {"id", "prompt_k"}:
        raise _nothing_known(row, where)
    return _cited(replace(_made(found, where, number), others=others_in(plain)))


def _as_mapping(row: Any, where: str) -> Mapping[str, Any]:
    if isinstance(row, Mapping):
        return row
    if hasattr(row, "model_dump"):
        return dict(row.model_dump())
    if is_dataclass(row) and not isinstance(row, type):
        return {each.name: getattr(row, each.name) for each in fields(row)}
    known = [name for names in NAMES.values() for name in names]
    found = {name: getattr(row, name) for name in (*known, *OF_OBJECTS) if hasattr(row, name)}
    if isinstance(row, str | int | float | list | tuple) or not found:
        raise DataError(
            f"{where}: got {shorten(row)} ({type(row).__name__}), expected a row with fields like "
            "query, contexts, reference, answer. Next: correct this row."
        )
    return found


def _nothing_known(row: Any, where: str) -> DataError:
    names = list(_as_mapping(row, where))
    known = [name for names in NAMES.values() for name in names]
    guess = next((hint for name in names if (hint := nearest(str(name), known))), "")
    return DataError(
        f"{where}: none of the fields {shorten(names)} is known, expected some of query, contexts, reference, "
        f"answer.{guess} Next: rename them."
    )


def _made(found: Mapping[str, Any], where: str, number: str) -> Sample:
    def text(field: str) -> str | None:
        return values.text(found[field], field, where) if field in found else None

    return Sample(
        id=values.identifier(found["id"], where) if "id" in found else number,
        query=text("query"),
        contexts=values.contexts(found["contexts"], found.get("context_ids"), "contexts", where)
        if "contexts" in found
        else None,
        reference=text("reference"),
        answer=text("answer"),
        reference_contexts=values.wanted(
            found.get("reference_contexts"), found.get("reference_context_ids"), where
        )
        if {"reference_contexts", "reference_context_ids"} & set(found)
        else None,
        citations=values.citations(found["citations"], where) if "citations" in found else None,
        nuggets=values.nuggets(found["nuggets"], where) if "nuggets" in found else None,
        prompt_k=values.count(found["prompt_k"], "prompt_k", where) if "prompt_k" in found else None,
        where=where,
    )


def _cited(sample: Sample) -> Sample:
    """With the marks like [1] in its answer as citations, where none were given."""
    from rankproof.judging.samples.sample import marks_in

    if sample.citations is not None or sample.answer is None or not sample.contexts:
        return sample
    plain, found = marks_in(sample.answer, sample.contexts)
    return replace(sample, answer=plain, citations=found) if found else sample


def all_samples(source: Any) -> Iterable[Sample]:
    """The samples as often as they are needed: a source that can be read once only is read into memory."""
    return (
        source
        if isinstance(source, list) and all(isinstance(each, Sample) for each in source)
        else [*read_samples(source)]
    )
