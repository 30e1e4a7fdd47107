"""A judge asked again, in words: in other company, later, and about pairs one by one and together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rankproof.document.model import Column, Document, Paragraph, Part, Record, Table
from rankproof.document.numbers import ABSENT, count, score, share, span
from rankproof.judging.words import RELATIONS

if TYPE_CHECKING:
    from rankproof.judging.trial import Trial
    from rankproof.judging.trust.drift import JudgeDrift
    from rankproof.judging.trust.stress import Stress

POOR = 0.6
"""The kappa below which a judge agrees with people moderately at best (Landis and Koch, 1977)."""
Rates = Mapping[str, Mapping[str, Any]]


def stress(found: Stress) -> Document:
    """How often each way of asking again changed a verdict, and what to do about it."""
    opening = f"{found.judge}, asked again about {count(found.samples, 'sample')}: how many verdicts changed."
    missing = [f"{way} {n:,}" for way, n in found.lost.items() if n]
    tail = [f"With a verdict in only one of both: {', '.join(missing)}."] if missing else []
    told = [*tail, "", found.remedy] if tail else [found.remedy]
    parts = Part(Paragraph(opening), _flips("asked", found.rates), *map(Paragraph, told))
    return Document(f"Stress of {found.judge}", [parts], _flip_records(found.rates), found.to_dict())


def judge_drift(found: JudgeDrift) -> Document:
    """How much a judge changed since the fixed pairs were first asked."""
    versions = f"Answered then by {found.before or 'a model that did not say'}, now by {found.now or 'the same'}."
    opening = f"{found.judge}, {count(found.n, 'fixed pair')} asked again. {versions}"
    told = "Nothing changed."
    if any(each.yes for rates in found.rates.values() for each in rates.values()):
        told = (
            "Warning: the judge says other things than before, so new scores are not like old ones. "
            "Next: judge old and new again with the same model, or calibrate the new one."
        )
    parts = Part(Paragraph(opening), _flips("since", found.rates), Paragraph(told))
    return Document(f"Drift of {found.judge}", [parts], _flip_records(found.rates), found.to_dict())


def _flips(heading: str, rates: Rates) -> Table:
    """One line for each way and relation."""
    rows = [(way, relation, each) for way, found in rates.items() for relation, each in found.items()]
    cells = [
        (way, relation, count(each.n), count(each.yes), share(each.value), _range_of(each))
        for way, relation, each in rows
    ]
    headings = (heading, "relation", "pairs", "changed", "share", "95 % interval")
    return Table.of(headings, cells, headings[:2])


def _range_of(found: Any) -> str:
    return f"[{share(found.low)}, {share(found.high)}]"


def _flip_records(rates: Rates) -> list[Record]:
    return [
        {
            "asked": way,
            "relation": str(relation),
            "pairs": each.n,
            "changed": each.yes,
            "share": each.value if each.n else None,
            "low": each.low,
            "high": each.high,
        }
        for way, found in rates.items()
        for relation, each in found.items()
    ]


def trial(found: Trial) -> Document:
    """How a model did on the labelled pairs, one by one and together."""
    opening = f"{found.judge} on {count(found.n, 'labelled pair')} that come with rankproof."
    told = [_proposal(found)]
    if found.reasons:
        few = "; ".join(f"{reason} ({n:,})" for reason, n in list(found.reasons.items())[:3])
        told.append(f"Without a verdict, which counts as wrong: {few}.")
    if found.alone.kappa < POOR:
        told.append(
            f"Warning: one by one its kappa is {score(found.alone.kappa)} as well, so fewer pairs a call help little. "
            "Next: try another model."
        )
    if not any(each.asked for each in found.ways):
        told.append("Everything was in the ledger: nothing was asked; costs are those of then.")
    records = [
        {
            "pairs": each.pairs,
            "kappa": each.kappa,
            "low": each.low,
            "high": each.high,
            "right": each.right.value,
            "verdicts": each.settled,
            "calls": each.account.calls,
            "tokens": each.account.prompt_tokens + each.account.reply_tokens,
            "bytes": each.account.bytes_sent,
        }
        for each in found.ways
    ]
    tables = _ways(found), _relations(found), _third_places(found)
    parts = Part(Paragraph(opening), *tables, *map(Paragraph, told))
    return Document(f"Trial of {found.judge}", [parts], records, found.to_dict())


def _ways(found: Any) -> Table:
    ways = found.ways if found.together.pairs > 1 else (found.alone,)
    tokens = [each.account.prompt_tokens + each.account.reply_tokens for each in ways]  # as the service counts them
    return Table(
        [
            Column("asked", ["one by one" if each.pairs == 1 else f"{each.pairs} a call" for each in ways]),
            Column("kappa", [score(each.kappa) for each in ways], True),
            Column("95 % interval", [span(each.low, each.high) for each in ways], True),
            Column("right", [share(each.right.value) for each in ways], True),
            Column("verdicts", [count(each.settled) for each in ways], True),
            Column("calls", [count(each.account.calls) for each in ways], True),
            Column("tokens", [count(n) if n else ABSENT for n in tokens], True),
            Column("bytes", [count(each.account.bytes_sent) for each in ways], True),
        ]
    )


def _relations(found: Any) -> Table:
    rows = list(found.changed)
    return Table(
        [
            Column("relation", [f"{each}: {', '.join(RELATIONS[each])}" for each in rows]),
            Column("pairs", [count(found.changed[each].n) for each in rows], True),
            Column("kappa\none by one", [score(found.alone.kappas[each]) for each in rows], True),
            Column("kappa\ntogether", [score(found.together.kappas[each]) for each in rows], True),
            Column("changed", [share(found.changed[each].value) for each in rows], True),
            Column("95 % interval", [_range_of(found.changed[each]) for each in rows], True),
        ]
    )


def _third_places(found: Any) -> Table:
    return Table(
        [
            Column("place in the call", [f"{each.third} third {each.part}" for each in found.places]),
            Column("pairs", [count(each.changed.n) for each in found.places], True),
            Column("changed", [share(each.changed.value) for each in found.places], True),
            Column("95 % interval", [_range_of(each.changed) for each in found.places], True),
            Column("wrong\nalone", [share(each.wrong_alone.value) for each in found.places], True),
            Column("wrong\ntogether", [share(each.wrong_together.value) for each in found.places], True),
        ]
    )


def _proposal(found: Any) -> str:
    """How many pairs a call to ask for, and why."""
    if found.together.pairs == 1:
        return "It is asked one by one already (pairs=1)."
    loss, low, high = found.loss
    lost = f"{score(loss)} of kappa ({span(low, high)})"
    if found.pairs == found.together.pairs:
        return (
            f"Asking together costs {lost}: no loss shows, and more than {score(max(high, 0.0))} is ruled out. "
            f"Proposed: pairs={found.pairs}, as now."
        )
    option = f"--set pairs={found.pairs} (in Python pairs={found.pairs})"
    return f"Asking together costs {lost}. Proposed: {option}; verdicts made so are kept apart in the ledger."
