"""`mirage`: how a generator uses its contexts, by its answers without any, with the right one, and with a mix.

Each question is answered three times: from nothing (base), from the one right context (oracle), and from the contexts
as they were retrieved (mixed). Which of the three are right shows the effect of the contexts.

Reference: C. Park et al.: MIRAGE: a metric-intensive benchmark for retrieval-augmented generation evaluation, 2025.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Unpack, cast

from rankproof.document.model import Document, Paragraph, Part, Result, Table
from rankproof.document.numbers import ABSENT, count, score, span
from rankproof.errors import DataError, UsageError, check_number, shorten
from rankproof.judging.judge import Judge
from rankproof.judging.judged_scores import JudgedScores
from rankproof.judging.metrics.counting import SAME, JudgedColumn
from rankproof.judging.models import ModelArguments
from rankproof.judging.samples import Sample, read_samples
from rankproof.judging.trust.agreement import plain_share
from rankproof.stats.judge_error import Share, share_of

SETTINGS = ("base", "oracle", "mixed")
METRIC = "completeness"
LABELS = ("EM_label", "correct")
"""Columns in which a row says whether its answer is right, so that no judge is asked."""
Right = dict[str, bool | None]
"""For each question whether the answer is right; None if that is not known."""
RATES = {
    "noise_vulnerability": "right from the right context, wrong from the mix",
    "context_acceptability": "right from the right context, and from the mix",
    "context_insensitivity": "wrong from the right context, as without any",
    "context_misinterpretation": "wrong from the right context, right without any",
}


@dataclass(frozen=True)
class Mirage(Result):
    """The four rates of how a generator uses its contexts; they add up to 1."""

    rates: dict[str, Share]
    """Over the questions of which all that a rate needs is known."""
    bounds: dict[str, tuple[float, float]]
    """The rates with what is not known at its worst and best."""
    patterns: dict[str, int]
    """How many questions had which answers right: `101` is base and mixed, in the order base, oracle, mixed."""
    accuracy: dict[str, Share]
    """The share of right answers in each setting."""
    n: int
    """Questions that are measured."""
    questions: int
    """Questions with all three answers."""
    judge: str
    correct: str
    """When an answer is right, in words."""
    left_out: int = 0
    """Questions without all three answers."""

    def __getitem__(self, name: str) -> float:
        return self.rates[name].value

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            **{name: getattr(self, name) for name in ("n", "questions", "left_out", "judge", "correct", "patterns")},
            "rates": {n: {**plain_share(each), "bounds": list(self.bounds[n])} for n, each in self.rates.items()},
            "accuracy": {name: plain_share(each) for name, each in self.accuracy.items()},
        }

    def _document(self) -> Document:
        headings = ("rate", "share", "95 % interval", "questions", "with the rest at\nworst and best")
        rows = [
            (
                *(name.replace("_", " "), score(each.value) if each.n else ABSENT),
                *(span(each.low, each.high) if each.n else ABSENT, f"{each.yes:,}"),
                ABSENT if self.n == self.questions else span(*self.bounds[name]),
            )
            for name, each in self.rates.items()
        ]
        right = ", ".join(f"{name} {score(each.value) if each.n else ABSENT}" for name, each in self.accuracy.items())
        said = [
            f"{count(self.questions, 'question')}, {self.n:,} of them measured. Right answers: {right}.",
            f"An answer is right if {self.correct}. Judge: {self.judge}.",
            *(f"{name.replace('_', ' ').capitalize()}: {RATES[name]}." for name in self.rates),
        ]
        if self.left_out:
            said.append(f"{count(self.left_out, 'question')} without all three answers left out.")
        records = [
            {
                "rate": name,
                "share": each.value if each.n else None,
                "low": each.low,
                "high": each.high,
                "questions": each.yes,
                "n": each.n,
                "lowest": self.bounds[name][0],
                "highest": self.bounds[name][1],
            }
            for name, each in self.rates.items()
        ]
        parts = [Part(Table.of(headings, rows, ("rate",)), *map(Paragraph, said))]
        return Document("Rates of a generator", parts, records, self.to_dict())

    def _in_one_line(self) -> str:
        shown = ", ".join(f"{name} {score(each.value)}" for name, each in self.rates.items() if each.n)
        return f"<Mirage of {count(self.n, 'question')}: {shown}>"


def mirage(
    samples: Any = None,
    *,
    base: Any = None,
    oracle: Any = None,
    mixed: Any = None,
    metric: str = METRIC,
    correct: float = 1.0,
    judge: Any = "lexical",
    ledger: Any = None,
    **options: Unpack[ModelArguments],
) -> Mirage:
    """How a generator uses its contexts: MIRAGE's four rates.

    `base`, `oracle` and `mixed` are samples with the answers given without contexts, with the right context, and
    with the retrieved ones; their ids (or their questions) must be the same. Or `samples` are rows with `base_answer`,
    `oracle_answer` and `mixed_answer`. An answer is right if `metric` gives it at least `correct`; rows that say so
    themselves (`correct` or `EM_label`) are not judged. `judge`, `ledger` and `options` are those of `judge`.

    >>> row = {"query": "When does it open?", "reference": "It opens in May.", "base_answer": "It opens in June."}
    >>> three = {**row, "oracle_answer": "It opens in May.", "mixed_answer": "It opens in July."}
    >>> found = mirage([three], judge=lambda relation, left, right: left == right)
    >>> found["noise_vulnerability"], found.patterns
    (1.0, {'010': 1})
    """
    check_number("correct", correct, above=0, most=1, advice="give one, like 0.5")
    given = _given(samples, {"base": base, "oracle": oracle, "mixed": mixed})
    asking = Judge(judge, ledger=ledger, **options)
    keys = _keys(given)
    right = {name: _right(keys[name], rows, asking, metric, correct) for name, rows in given.items()}
    shared = [key for key in right["base"] if all(key in each for each in right.values())]
    every = {key for each in right.values() for key in each}
    if not shared:
        raise DataError(
            f"mirage: no question has all three answers ({', '.join(f'{n} {len(e):,}' for n, e in right.items())}). "
            "Next: give the three settings the same ids."
        )
    judged = any(not _labelled(rows) for rows in given.values())
    return _counted(
        [[right[name][key] for name in SETTINGS] for key in shared],
        judge=asking.name if judged else "the labels in the rows",
        correct=f"its {metric} is at least {correct:g}" if judged else "its row says so",
        left_out=len(every) - len(shared),
    )


def _given(samples: Any, settings: Mapping[str, Any]) -> dict[str, list[Sample]]:
    there = [name for name, each in settings.items() if each is not None]
    if samples is None:
        if len(there) < len(SETTINGS):
            raise UsageError(
                f"mirage: got {', '.join(there) or 'nothing'}, expected base, oracle and mixed. "
                "Next: give the answers of all three."
            )
        return {name: list(read_samples(each)) for name, each in settings.items()}
    if there:
        raise UsageError(f"mirage: got samples and {there[0]}. Next: give rows with three answers, or three settings.")
    found: dict[str, list[Sample]] = {name: [] for name in SETTINGS}
    for each in read_samples(samples):
        for name in SETTINGS:
            answer = each.others.get(f"{name}_answer")
            if answer is None:
                raise DataError(
                    f"{each.where or 'samples'}: no {name}_answer, expected base_answer, oracle_answer and "
                    "mixed_answer in each row. Next: add it, or give three files of rows with an answer each."
                )
            found[name].append(Sample(each.id, each.query, reference=each.reference, answer=str(answer)))
    return found


def _label(sample: Sample) -> Any:
    return next((sample.others[name] for name in LABELS if name in sample.others), None)


def _labelled(samples: Sequence[Sample]) -> bool:
    return bool(samples) and all(_label(each) is not None for each in samples)


def _right(keys: list[str], samples: list[Sample], judge: Judge, metric: str, correct: float) -> Right:
    """Which answers are right, by their rows or by the judge."""
    if _labelled(samples):
        return {key: _as_yes(each) for key, each in zip(keys, samples, strict=True)}
    plain = [
        Sample(key, each.query, each.contexts, each.reference, each.answer or "")
        for key, each in zip(keys, samples, strict=True)
    ]
    scores: JudgedScores = judge(plain, metric)
    column = cast(JudgedColumn, next(iter(scores.columns.values())))
    # What is open may be sure to be right, or wrong, all the same: the ends say so.
    ends = zip(
        scores.queries, (column.low >= correct - SAME).tolist(), (column.high < correct - SAME).tolist(), strict=True
    )
    return {key: True if yes else False if no else None for key, yes, no in ends}


def _as_yes(sample: Sample) -> bool:
    given = str(_label(sample)).strip().lower()
    if given not in ("0", "1", "true", "false", "0.0", "1.0"):
        raise DataError(f"{sample.where}: got {shorten(given)} as its label, expected 0 or 1. Next: correct this row.")
    return given in ("1", "true", "1.0")


def _keys(given: Mapping[str, list[Sample]]) -> dict[str, list[str]]:
    """The ids of all rows; the questions, if the ids of a setting may be no more than the numbers of its rows."""
    ids = {name: [each.id for each in rows] for name, rows in given.items()}
    questions = {name: [each.query for each in rows if each.query] for name, rows in given.items()}
    numbered = any(set(each) == {str(at + 1) for at in range(len(each))} for each in ids.values())
    return questions if numbered and all(len({*questions[name]}) == len(ids[name]) for name in ids) else ids


def _counted(listed: Sequence[Sequence[bool | None]], **about: Any) -> Mirage:
    """The rates of answers that are right, wrong, or not known."""
    ways = (product(*([False, True] if each is None else [each] for each in row)) for row in listed)
    kinds = [{_kind(*way) for way in each} for each in ways]
    known = [each for each in kinds if len(each) == 1]
    often = Counter(next(iter(each)) for each in known)
    sure = {name: sum(each == {name} for each in kinds) for name in RATES}
    possible = {name: sum(name in each for each in kinds) for name in RATES}
    whole = [row for row in listed if None not in row]
    return Mirage(
        rates={name: share_of(often[name], len(known)) for name in RATES},
        bounds={name: (sure[name] / len(listed), possible[name] / len(listed)) for name in RATES},
        patterns=dict(sorted(Counter("".join(str(int(bool(each))) for each in row) for row in whole).items())),
        accuracy={
            name: share_of(sum(row[i] is True for row in listed), sum(row[i] is not None for row in listed))
            for i, name in enumerate(SETTINGS)
        },
        n=len(known),
        questions=len(listed),
        **about,
    )


def _kind(base: bool, oracle: bool, mixed: bool) -> str:
    """Which of the four it is, as MIRAGE counts them."""
    if oracle:
        return "context_acceptability" if mixed else "noise_vulnerability"
    return "context_misinterpretation" if base else "context_insensitivity"
