"""The results of experiments in a log, in words and tables."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from rankproof.document.model import Column, Document, Paragraph, Part, Table, first_rows
from rankproof.document.numbers import count, score, share
from rankproof.document.terminal import page_height
from rankproof.monitoring.words import differences_table, value_of

if TYPE_CHECKING:
    from rankproof.monitoring.clicks import ClickEstimate
    from rankproof.monitoring.online_tests import Clicks, Interleavings, Variants


def interleavings(found: Interleavings) -> Document:
    """Each pair of teams: who wins how often."""
    rows = found.preferences
    verdicts = {"first": "{0} wins", "second": "{1} wins", "unclear": ""}
    table = Table(
        [
            Column("first", [each.first for each in rows]),
            Column("second", [each.second for each in rows]),
            Column("users", [count(each.users) for each in rows], right=True),
            Column("won", [count(each.wins) for each in rows], right=True),
            Column("tied", [count(each.ties) for each in rows], right=True),
            Column("lost", [count(each.losses) for each in rows], right=True),
            Column("first wins", [share(each.share) for each in rows], right=True),
            Column("95 %", [f"[{share(each.low)}, {share(each.high)}]" for each in rows], right=True),
            Column("p (Holm)", [score(each.p_corrected) for each in rows], right=True),
            Column("", [verdicts[each.verdict].format(each.first, each.second) for each in rows]),
        ],
        shrink=(0, 1),
    )
    left = f" {count(found.without, 'event')} without teams or clicks left out." if found.without else ""
    if found.rejected:
        left += f" {count(sum(found.rejected.values()), 'line')} could not be read."
    text = (
        f"{count(found.lists, 'interleaved list')}, {count(found.clicked)} of them with a click; the lists of a user "
        f"count as one.{left}"
    )
    ends = Paragraph("Intervals and p-values hold at every look (betting); a tie counts half.")
    return Document(
        "Which ranking do users prefer?",
        [Part(Paragraph(text)), Part(table), Part(ends)],
        [asdict(each) for each in rows],
        found.to_dict(),
    )


def variants(found: Variants) -> Document:
    """The assignment of users, and the effects of each variant."""
    total = sum(found.users.values())
    shared = Table(
        [
            Column("variant", list(found.users)),
            Column("users", [count(n) for n in found.users.values()], right=True),
            Column("share", [share(n / total) for n in found.users.values()], right=True),
            Column("planned", [share(found.shares[name]) for name in found.users], right=True),
        ]
    )
    text = f"That users were assigned as planned has a p-value of {score(found.mismatch)}."
    parts = [Part(shared), Part(Paragraph(text))]
    if found.broken:
        parts.append(
            Part(
                Paragraph(
                    "Assignment is not random: no difference below can be trusted. "
                    "Next: find out why users are missing, or give the shares that were planned."
                )
            )
        )
    if found.several:
        parts.append(Part(Paragraph(f"{count(found.several, 'user')} met more than one variant; they count in each.")))
    if found.differences:
        text = f"Against {found.control}; intervals and p-values (by Holm) hold at every look:"
        table = differences_table(found.differences)
        parts += [Part(Paragraph(text)), *first_rows(table, page_height() - 15, 1, "the other differences")]
    else:
        parts.append(Part(Paragraph("Nothing can be said yet: a variant has fewer than 100 users, or nothing varies.")))
    end = f"The test is planned to end at {count(found.planned, 'user')}: there intervals are tightest."
    parts.append(Part(Paragraph(end)))
    moved = {(each.metric, each.variant): each for each in found.differences}
    records = []
    for each in found.estimates:
        against = moved.get((each.metric, each.group))
        record = {"metric": each.metric, "variant": each.group, "users": each.users, "n": each.n}
        record |= {name: getattr(each, name) for name in ("value", "low", "high")}
        for name in ("difference", "low", "high", "p", "p_corrected", "verdict"):
            key = f"difference_{name}" if name in ("low", "high") else name
            record[key] = None if against is None else getattr(against, name)
        records.append(record)
    return Document("Which variant is better?", parts, records, found.to_dict(), kinds={"verdict": str})


def clicks(found: Clicks) -> Document:
    """Clicks by rank, and their estimates if every document were looked at."""
    ranks = range(len(found.shown))
    chances = [found.propensities[at] for at in ranks]
    table = Table(
        [
            Column("rank", [str(at + 1) for at in ranks], right=True),
            Column("shown", [count(each) for each in found.shown], right=True),
            Column("clicked", [share(each) for each in found.rates], right=True),
            Column("looked at", [share(each) for each in chances], right=True),
        ]
    )
    named: list[tuple[str, ClickEstimate]] = [(f"attraction@{found.k}", found.attraction)]
    named += [(f"DCG@{found.k} of {name}", each) for name, each in found.rankings.items()]
    values = Table(
        [
            Column("estimate", [name for name, _ in named]),
            Column("value", [value_of("", each.value) for _, each in named], right=True),
            Column("95 %", [f"[{_three(each.low)}, {_three(each.high)}]" for _, each in named], right=True),
            Column("with the bias", [_three(each.naive) for _, each in named], right=True),
        ],
        shrink=(0,),
    )
    main = found.attraction
    opening = (
        f"{count(main.searches, 'search', 'searches')} of {count(main.users, 'user')}. How often a rank is looked at, "
        f"compared with the first, is {found.source}."
    )
    if found.guessed:
        opening += (
            " That is right if they moved for any reason but being the better answer when they stood higher; swap some "
            "results at random to be sure."
        )
    model = (
        f"The model is {main.model}. Attraction is the share of documents that would be clicked if each were looked "
        "at. Intervals take how often a rank is looked at as known."
    )
    if main.clipped:
        model += f" {share(main.clipped)} of the clicks are at ranks that count as looked at in 2 % of cases."
    records = [{"estimate": name, **asdict(each)} for name, each in named]
    return Document(
        "What do clicks say without position bias?",
        [
            Part(Paragraph(opening)),
            *first_rows(table, page_height() - 16, 1, "the other ranks"),
            Part(values),
            Part(Paragraph(model), rank=2, name="the model"),
        ],
        records,
        found.to_dict(),
    )


def _three(value: float) -> str:
    return value_of("", value)
