"""What is said beside judged numbers: by whom, how much is missing, what it took, what to be careful of."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import cast

from rankproof.api.tally import JudgedColumn
from rankproof.core.audit.finding import Finding, count_of, listed, percent
from rankproof.core.scoring import Column
from rankproof.judging.verdicts import Account

UNMEASURED = "unmeasured"
"""Where pairs without a verdict are counted beside the judges."""
LEXICAL = "lexical"
WORTH = (
    "Verdicts by words alone are given where about nine in ten or more were right on every labelled collection at "
    "hand; docs/lexical-judge.md says how often, by kind of text. The bounds trust them."
)
"""What verdicts of the embedded judge are worth."""
MOST = 3
"""Causes that are told, in full; of others how many there are."""
ENOUGH = 0.9
"""Below this coverage a number is warned of."""


def sentences(by: Mapping[str, int], account: Account, peer: str | None = None) -> list[str]:
    """Who judged how much, what it took, and whose formulas these are."""
    given = [f"{name} {count:,}" for name, count in by.items() if name != UNMEASURED]
    open_ = by.get(UNMEASURED, 0)
    said = f"Verdicts: {', '.join(given) or 'none'}; {open_:,} of {sum(by.values()):,} pairs unmeasured."
    worth = [WORTH] if by.get(LEXICAL) else []
    return [said, *worth, *_cost(account), *([f"Formulas of {peer}."] if peer else [])]


def _cost(account: Account) -> list[str]:
    if not account.prompt_tokens:
        return []
    money = "price not known" if account.money is None else f"${account.money:.4f}"
    tokens = f"{account.prompt_tokens:,} + {account.reply_tokens:,} tokens"
    problems = "; ".join(f"{problem} ({times:,})" for problem, times in account.problems.items())
    told = [f"Went wrong on the way: {problems}."] if problems else []
    return [f"It took {account.calls:,} calls, {tokens}, {money}.", *told]


def findings_of(
    columns: Mapping[str, Column],
    account: Account,
    top: Mapping[str, int],
    emptied: Mapping[str, int] | None = None,
    estimated: Collection[str] = (),
) -> Iterator[Finding]:
    """Findings of judged scores; `top` is the highest grade of a context that each judge gave, `emptied` how many
    samples were without a field that others have, `estimated` which metrics have an estimate."""
    judged = {name: cast(JudgedColumn, column) for name, column in columns.items()}
    # The first is on every screen: what went wrong, else what left the mean.
    yield from _troubled(account)
    yield from _fewer(judged)
    yield from _empty(emptied or {})
    yield from _thin(judged)
    yield from _none(judged, estimated)
    yield from _low(top)


def _thin(columns: Mapping[str, JudgedColumn]) -> Iterator[Finding]:
    thin = {name: each for name, each in columns.items() if each.units.sum() > 0 and each.coverage < ENOUGH}
    if thin:
        shares = listed(f"{name} {percent(each.coverage)}" for name, each in thin.items())
        yield Finding(
            *("warning", "coverage", len(thin)),
            f"Not everything was judged: {shares}.",
            advice="read the columns of what is possible, or let another judge settle the rest (a cascade).",
        )


def _none(columns: Mapping[str, JudgedColumn], estimated: Collection[str]) -> Iterator[Finding]:
    empty = {name: each for name, each in columns.items() if not len(each.counting)}
    if empty and len(empty) == len(columns) and not estimated:
        causes = list(dict.fromkeys(_causes(each) for each in empty.values()))
        yield Finding(
            *("error", "nothing-measured", len(empty)),
            f"Nothing was measured, by {listed(empty)}: {'; '.join(causes[:MOST])}.",
            advice="mend what the reasons name, or let another judge settle it.",
        )
    elif empty:
        yield Finding(
            *("warning", "unmeasured", len(empty)),
            f"No sample could be measured by {listed(empty)}.",
            advice="give what is lacking, let another judge settle it, or leave the metric out.",
        )


def _fewer(columns: Mapping[str, JudgedColumn]) -> Iterator[Finding]:
    """A mean over some of the samples says nothing of the others, and whoever fails must not gain by it."""
    fewer = {name: each for name, each in columns.items() if 0 < len(each.counting) < len(each.values)}
    if fewer:
        counts = (
            f"{name} {len(each.counting):,} of {len(each.values):,} ({_causes(each)})"
            for name, each in fewer.items()
        )
        yield Finding(
            *("warning", "fewer-samples", len(fewer)),
            f"Fewer samples count than there are: {listed(counts)}.",
            advice="compare such means over the samples that count for both, and read the bounds beside them.",
        )


def _causes(column: JudgedColumn) -> str:
    """Why samples do not count, each cause with how many samples."""
    found = list(column.why.items())
    more = f", {len(found) - MOST:,} more causes" if len(found) > MOST else ""
    return ", ".join(f"{why} {times:,}" for why, times in found[:MOST]) + more


def _empty(emptied: Mapping[str, int]) -> Iterator[Finding]:
    if emptied:
        said = listed(f"{count_of(times, 'sample')} without {name}" for name, times in emptied.items())
        yield Finding(
            *("warning", "empty-samples", sum(emptied.values())),
            f"Others have what these lack, so it counts as empty: {said}.",
            advice="if the system was not asked there, judge those samples apart.",
        )


def _troubled(account: Account) -> Iterator[Finding]:
    if account.problems:
        times = sum(account.problems.values())
        yield Finding(
            *("warning", "judge-problems", times),
            f"The judge went wrong {count_of(times, 'time')}; what it did not settle is unmeasured.",
            examples=tuple(sorted(account.problems, key=lambda each: -account.problems[each])[:MOST]),
            advice="look at the verdicts with 'rankproof verdicts', and at the judge.",
        )


def _low(top: Mapping[str, int]) -> Iterator[Finding]:
    """A judge that knows 0 and 1 only may mean yes by 1, which is the grade of what is merely related."""
    low = [name for name, grade in top.items() if grade == 1]
    if low:
        yield Finding(
            *("warning", "low-grades", len(low)),
            f"{listed(low)} gave no context a grade above 1, and 1 says related, not relevant.",
            advice="return 0 to 3, or True and False, or a probability.",
        )
