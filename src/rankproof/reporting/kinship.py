"""Whether a machine's judgments favour a system, as text for people."""

from __future__ import annotations

from typing import Any

from rankproof.reporting.numbers import count, score, share, span
from rankproof.reporting.tables import Column, table, wrap


def kinship_text(found: Any) -> str:
    """The excess of each system, what is to be made of it, and whose model is whose."""
    of_people, of_machine = found.shared
    opening = (
        f"{found.judge or 'The machine'} against people, on {count(found.pairs, 'pair')} that both judged "
        f"({share(of_people)} of people's, {share(of_machine)} of the machine's)."
    )
    level = share(1 - found.alpha)
    lines = [*wrap(opening), "", *table(_columns(found, level)), ""]
    lines += wrap(
        "Excess: what the machine gives a system more than people do, less what it gives the others more on "
        f"average. Its intervals hold together at {level} (Bonferroni), by queries."
    )
    for way in ("favoured", "disfavoured"):
        listed = list(dict.fromkeys(each.system for each in found.rows if each.verdict == way))
        if listed:
            lines += wrap(
                f"The machine {'favours' if way == 'favoured' else 'disfavours'} {', '.join(listed)}. Next: believe "
                "people's judgments, or let a model of another maker judge."
            )
    if not any(each.verdict != "unclear" for each in found.rows):
        widest = max(max(abs(each.low), abs(each.high)) for each in found.rows)
        lines += wrap(
            f"No system shows more than chance; an excess of more than {score(widest)} is ruled out."
        )
    for each in found.findings:
        lines += wrap(f"Warning: {each}")
    return "\n".join(lines) + "\n"


def _columns(found: Any, level: str) -> list[Column]:
    rows = found.rows
    several = len({each.measure for each in rows}) > 1
    return [
        Column("system", [each.system for each in rows]),
        *([Column("measure", [each.measure for each in rows])] if several else []),
        Column("n", [count(each.n) for each in rows], True),
        Column("people", [score(each.people) for each in rows], True),
        Column("machine", [score(each.machine) for each in rows], True),
        Column("excess", [score(each.excess) for each in rows], True),
        Column(f"{level} interval", [span(each.low, each.high) for each in rows], True),
        Column("verdict", [each.verdict for each in rows]),
        *(
            [Column("kin of the judge", [each.kin or "-" for each in rows])]
            if any(e.kin for e in rows)
            else []
        ),
    ]
