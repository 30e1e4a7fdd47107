"""Verdicts that changed, as text for people: in other company, and since another day."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankproof.reporting.numbers import count, share
from rankproof.reporting.tables import Column, table, wrap

Rates = Mapping[str, Mapping[str, Any]]


def stress_text(judge: str, samples: int, rates: Rates, lost: Mapping[str, int]) -> str:
    """How often each way of asking again changed a verdict."""
    opening = f"{judge}, asked again about {count(samples, 'sample')}: how many verdicts changed."
    missing = [f"{way} {n:,}" for way, n in lost.items() if n]
    tail = ["", *wrap(f"With a verdict in only one of both: {', '.join(missing)}.")] if missing else []
    return "\n".join([*wrap(opening), "", *flips_table("asked", rates), *tail]) + "\n"


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
