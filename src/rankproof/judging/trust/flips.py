"""Verdicts that changed, as text for people: in other company, and since another day."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankproof.document.numbers import ABSENT, count, score, share, span
from rankproof.document.terminal import Column, table, wrap
from rankproof.judging.words import RELATIONS

POOR = 0.6
"""The kappa below which a judge agrees with people moderately at best (Landis and Koch, 1977)."""
Rates = Mapping[str, Mapping[str, Any]]


def stress_text(judge: str, samples: int, rates: Rates, lost: Mapping[str, int], remedy: str) -> str:
    """How often each way of asking again changed a verdict, and what to do about it."""
    opening = f"{judge}, asked again about {count(samples, 'sample')}: how many verdicts changed."
    missing = [f"{way} {n:,}" for way, n in lost.items() if n]
    tail = ["", *wrap(f"With a verdict in only one of both: {', '.join(missing)}.")] if missing else []
    return "\n".join([*wrap(opening), "", *flips_table("asked", rates), *tail, "", *wrap(remedy)]) + "\n"


def trial_text(found: Any) -> str:
    """How a model did on the labelled pairs, one by one and together."""
    opening = f"{found.judge} on {count(found.n, 'labelled pair')} that come with rankproof."
    lines = [
        *wrap(opening),
        "",
        *table(_ways(found)),
        "",
        *table(_relations(found)),
        "",
        *table(_places(found)),
    ]
    told = [_proposal(found)]
    if found.reasons:
        few = "; ".join(f"{reason} ({n:,})" for reason, n in list(found.reasons.items())[:3])
        told.append(f"Without a verdict, which counts as wrong: {few}.")
    if found.alone.kappa < POOR:
        told.append(
            f"Warning: one by one its kappa is {score(found.alone.kappa)} as well, so fewer pairs a call mend little. "
            "Next: try another model."
        )
    if not any(each.asked for each in found.ways):
        told.append("Everything was in the ledger: nothing was asked; costs are those of then.")
    return "\n".join([*lines, "", *(line for each in told for line in wrap(each))]) + "\n"


def _way_name(way: Any) -> str:
    return "one by one" if way.pairs == 1 else f"{way.pairs} a call"


def _ways(found: Any) -> list[Column]:
    ways = found.ways if found.together.pairs > 1 else (found.alone,)
    return [
        Column("asked", [_way_name(each) for each in ways]),
        Column("kappa", [score(each.kappa) for each in ways], True),
        Column("95 % interval", [span(each.low, each.high) for each in ways], True),
        Column("right", [share(each.right.value) for each in ways], True),
        Column("verdicts", [count(each.settled) for each in ways], True),
        Column("calls", [count(each.account.calls) for each in ways], True),
        Column("tokens", [_tokens(each.account) for each in ways], True),
        Column("bytes", [count(each.account.bytes_sent) for each in ways], True),
    ]


def _tokens(account: Any) -> str:
    """Sent and got, as the service counts them."""
    total = account.prompt_tokens + account.reply_tokens
    return count(total) if total else ABSENT


def _relations(found: Any) -> list[Column]:
    rows = list(found.changed)
    return [
        Column("relation", [f"{each}: {', '.join(RELATIONS[each])}" for each in rows]),
        Column("pairs", [count(found.changed[each].n) for each in rows], True),
        Column("kappa\none by one", [score(found.alone.kappas[each]) for each in rows], True),
        Column("kappa\ntogether", [score(found.together.kappas[each]) for each in rows], True),
        Column("changed", [share(found.changed[each].value) for each in rows], True),
        Column("95 % interval", [_ends(found.changed[each]) for each in rows], True),
    ]


def _places(found: Any) -> list[Column]:
    return [
        Column("place in the call", [f"{each.third} third {each.part}" for each in found.places]),
        Column("pairs", [count(each.changed.n) for each in found.places], True),
        Column("changed", [share(each.changed.value) for each in found.places], True),
        Column("95 % interval", [_ends(each.changed) for each in found.places], True),
        Column("wrong\nalone", [share(each.wrong_alone.value) for each in found.places], True),
        Column("wrong\ntogether", [share(each.wrong_together.value) for each in found.places], True),
    ]


def _ends(found: Any) -> str:
    return f"[{share(found.low)}, {share(found.high)}]"


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


def flips_table(heading: str, rates: Rates) -> list[str]:
    """One line for each way and relation."""
    rows = [(way, relation, each) for way, found in rates.items() for relation, each in found.items()]
    return table(
        [
            Column(heading, [way for way, _, _ in rows]),
            Column("relation", [relation for _, relation, _ in rows]),
            Column("pairs", [count(each.n) for *_, each in rows], True),
            Column("changed", [count(each.yes) for *_, each in rows], True),
            Column("share", [share(each.value) for *_, each in rows], True),
            Column("95 % interval", [f"[{share(each.low)}, {share(each.high)}]" for *_, each in rows], True),
        ]
    )


def drift_text(judge: str, found: Any) -> str:
    """How much a judge changed since the fixed pairs were first asked."""
    versions = (
        f"Answered then by {found.before or 'a model that did not say'}, now by {found.now or 'the same'}."
    )
    lines = [*wrap(f"{judge}, {count(found.n, 'fixed pair')} asked again. {versions}"), ""]
    lines += flips_table("since", found.rates)
    lines += ["", *wrap(_judgement(found))]
    return "\n".join(lines) + "\n"


def _judgement(found: Any) -> str:
    flips = sum(each.yes for rates in found.rates.values() for each in rates.values())
    if not flips:
        return "Nothing changed."
    return (
        "Warning: the judge says other things than before, so new scores are not like old ones. "
        "Next: judge old and new again with the same model, or calibrate the new one."
    )
