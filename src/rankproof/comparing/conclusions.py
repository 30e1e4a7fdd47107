"""What a comparison comes to, in words: a few facts are gathered from all rows, and every face says the same of them.

A proven loss on any measure or in any group stands in the sentence of its system, so that no sentence says "better",
"nothing can be told" or "ask more queries" beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankproof.comparing.differences import probability, signed_number
from rankproof.document.numbers import count, score, share

View = Mapping[str, Any]
Line = Mapping[str, Any]
FEW = 0.05
"""So small a share of unanswered queries is said, and stops nobody."""
OPEN = 0.2
"""From this share of documents on that nobody judged, it is said."""
APART = 0.1
"""So far apart the shares of two systems are said, however small."""
SMALL, PART = 0.01, 0.05
"""A difference at most so large, and at most such a part of the mean, is called tiny."""
NAMED = 3
"""So many measures and groups are named, others are counted."""


@dataclass(frozen=True)
class Standing:
    """What was proven of one system against the baseline, over all measures and groups."""

    row: Line
    """The deciding row: the first measure over all queries."""
    gains: list[Line]
    losses: list[Line]

    @property
    def mixed(self) -> bool:
        """Whether it gained and lost."""
        return bool(self.gains and self.losses)


def standings(view: View) -> list[Standing]:
    """The standing of each system, in the order of the rows."""
    rows = view["rows"]
    first = next(each["measure"] for each in rows if not each["slice"])
    deciding = [each for each in rows if each["measure"] == first and not each["slice"]]

    def proven(system: str, verdict: str) -> list[Line]:
        return [each for each in rows if each["system"] == system and each["verdict"] == verdict]

    return [
        Standing(row, proven(row["system"], "better"), proven(row["system"], "worse")) for row in deciding
    ]


def conclusions(view: View) -> list[str]:
    """The headline, then a sentence for each system that needs one, then what limits them."""
    found = standings(view)
    told = [_told(each, view) for each in found]
    headline = view.get("winning") or _headline(found, told, view)
    others = [each for each in told if each and each not in headline]
    return [headline, *others, *limits(view)]


def _headline(found: Sequence[Standing], told: Sequence[str], view: View) -> str:
    row = found[0].row
    for each, said in zip(found, told, strict=True):
        if each.row["system"] == view["winner"]:
            return said
    if len(found) == 1 and (found[0].gains or found[0].losses or row["verdict"] == "equivalent"):
        return told[0]
    if all(each.row["verdict"] == "worse" and not each.gains for each in found):
        return f"All others are worse than {row['baseline']} on {row['measure']}."
    if row["note"]:
        return f"No winner on {row['measure']}: {row['note']}."
    return f"No winner: no system is shown to beat {row['baseline']} on {row['measure']}."


def _told(standing: Standing, view: View) -> str:
    """What is said of one system."""
    row = standing.row
    name, base, verdict = row["system"], row["baseline"], row["verdict"]
    if standing.mixed:
        return f"Mixed: {name} gains {_where(standing.gains)}, but loses {_where(standing.losses)}, against {base}."
    if verdict in ("better", "worse"):
        by = f"{name} is {verdict} than {base} on {row['measure']}, by {signed_number(row['difference'])}."
        return by + _tiny(row, view)
    if standing.losses:
        return f"{name} loses {_where(standing.losses)} against {base}. {_open(row, view, proven=True)}"
    if standing.gains:
        return f"{name} gains {_where(standing.gains)} against {base}. {_open(row, view, proven=True)}"
    return _open(row, view)


def _where(rows: Iterable[Line]) -> str:
    """Where something was proven: the measure, the group, by how much and how surely."""
    rows = list(rows)
    named = [
        f"{each['measure']}{' in ' + each['slice'] if each['slice'] else ''} {signed_number(each['difference'])} "
        f"(p {probability(each['p_corrected'])})"
        for each in rows[:NAMED]
    ]
    more = f" and {len(rows) - NAMED} more" if len(rows) > NAMED else ""
    return f"on {', '.join(named)}{more}"


def _open(row: Line, view: View, proven: bool = False) -> str:
    """Why the deciding measure has no verdict, and what would give one; `proven`: where another row has one."""
    name, base, measure = row["system"], row["baseline"], row["measure"]
    pair = f"{name} and {base}"
    if row["verdict"] == "equivalent":
        return f"{pair} are equivalent on {measure} within {view['margin']:g}."
    if row["mean"] is not None and not row["wins"] and not row["losses"] and not row["note"]:
        alone = "" if proven else ": there is nothing to tell apart"
        every = (
            "every query" if row["n"] >= view.get("queries", 0) else f"the {row['n']:,} queries that count"
        )
        return f"{pair} have the same value on {every}{' by ' + measure if proven else ''}{alone}."
    if proven:
        return f"By {measure} over all {row['n']:,} queries, {signed_number(row['difference'])}, nothing is settled."
    if row["note"]:
        return f"{name} against {base}: cannot tell, {row['note']}."
    seen = f"this one is {signed_number(row['difference'])}"
    shown = (
        f" {count(row['n'], 'query shows', 'queries show')} differences of {score(row['detectable'])} and more; "
        f"{seen}"
        if row["detectable"] is not None
        else f" Over {count(row['n'], 'query', 'queries')} {seen}"
    )
    return f"{name} against {base}: cannot tell yet.{shown}{_settling(row, view)}."


def _settling(row: Line, view: View) -> str:
    """How many queries would settle it; where queries went unanswered these come first."""
    if any(_missing(view, name) for name in (row["system"], row["baseline"])):
        return "; answer the queries that were left out first"
    needed = row["queries_needed"]
    if needed is None:
        why = row.get("needed_note", "")
        return f"; {why}" if why else ""
    return f"; about {count(needed, 'query', 'queries')} would show a true one of this size"


def _tiny(row: Line, view: View) -> str:
    """A word on a difference that is sure, and so small that it may not matter."""
    by, mean = abs(row["difference"]), row["mean"]
    if view["margin"] is not None:
        within = by < view["margin"]
        return f" That is less than the margin of {view['margin']:g}." if within else ""
    level = max(abs(mean), abs(mean - row["difference"]))
    if by > (min(SMALL, PART * level) if level <= 1 else SMALL * level):
        return ""
    return " That is tiny, if sure: a margin (--margin 0.01) asks whether it matters."


def leader_sentence(
    leader: str, measure: str, rivals: Sequence[str], setbacks: Sequence[Line] = (), note: str = ""
) -> str:
    """Who leads several systems, and whether that is more than chance; `setbacks` are where others beat it.

    >>> leader_sentence("hybrid", "nDCG@10", [])
    'hybrid is the winner: better than every other on nDCG@10, beyond chance.'
    >>> leader_sentence("hybrid", "nDCG@10", ["dense"])
    'No winner: hybrid leads on nDCG@10, and dense cannot be told from it.'
    """
    if note:
        return f"No winner: {leader} leads on {measure}, but {note}."
    lost = f"{leader} loses {_where(setbacks)} to others" if setbacks else ""
    if rivals:
        names = rivals[0] if len(rivals) == 1 else f"{', '.join(rivals[:-1])} and {rivals[-1]}"
        more = f"; {lost}" if lost else ""
        return f"No winner: {leader} leads on {measure}, and {names} cannot be told from it{more}."
    if lost:
        return f"Mixed: {leader} is ahead of every other on {measure}, but {lost}."
    return f"{leader} is the winner: better than every other on {measure}, beyond chance."


# --- what limits the verdicts ------------------------------------------------------------------------


def limits(view: View) -> list[str]:
    """What went unanswered, what nobody judged, and which verdicts that could turn."""
    data = view.get("data") or {}
    return [*unanswered_notes(data), *unjudged_notes(data), *turned_notes(view["rows"], data)]


def unanswered_notes(data: Mapping[str, Line]) -> Iterator[str]:
    """How many judged queries each system left unanswered."""
    some = {name: each for name, each in data.items() if each["unanswered"]}
    if some:
        first = next(iter(some.values()))
        told = ", ".join(
            f"{name} {each['unanswered']:,} of {count(each['queries'], 'query', 'queries')}"
            for name, each in some.items()
        )
        taken = "left out of the means" if first["skipped"] else "each counts as nothing found"
        yield f"Unanswered ({taken}): {told}."


def unjudged_notes(data: Mapping[str, Line]) -> Iterator[str]:
    """The shares of documents nobody judged, where they are large or far apart."""
    shares = {name: each["unjudged"] for name, each in data.items() if each["unjudged"] is not None}
    if shares and (max(shares.values()) >= OPEN or max(shares.values()) - min(shares.values()) >= APART):
        depth = max(each["depth"] for each in data.values())
        yield (
            f"Nobody judged, of the first {count(depth, 'document')}: "
            f"{', '.join(f'{name} {share(part)}' for name, part in shares.items())}."
        )


def turned_notes(rows: Iterable[Line], data: Mapping[str, Line]) -> Iterator[str]:
    """The verdicts that would be others if the documents nobody judged were relevant."""
    for row in rows:
        proven = row["verdict"] in ("better", "worse") and not row["slice"]
        if not proven or not {row["system"], row["baseline"]} <= data.keys():
            continue
        mine, theirs = (data[name]["ends"].get(row["measure"]) for name in (row["system"], row["baseline"]))
        if mine is None or theirs is None:
            continue
        then = mine[1] - theirs[1]
        if then * row["difference"] <= 0:
            yield (
                f"What nobody judged could turn this: if those documents were relevant, {row['system']} would be "
                f"{signed_number(then)} on {row['measure']}, not {signed_number(row['difference'])}."
            )


def _missing(view: View, name: str) -> int:
    each = (view.get("data") or {}).get(name)
    return 0 if each is None else int(each["unanswered"])
