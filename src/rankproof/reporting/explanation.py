"""One number explained, as text: the ranked list, the steps on paper, and what differs in another tool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from rankproof.core.derivation.steps import Step, Term, said
from rankproof.core.differences import differences, differing
from rankproof.core.explained import Explained, Line
from rankproof.display import width
from rankproof.reporting.findings import DISTRUST
from rankproof.reporting.numbers import ABSENT, score
from rankproof.reporting.tables import Column, cut, pad, page_width, table, wrap

SHOWN = 20
"""Ranks shown where there is no cut-off; below them judged documents only."""
MOST = 40
"""Lines of the list that are printed."""
TERMS = 20
"""Lines of a step that are printed."""
ID = 32
"""The columns a document id gets in a step."""


def text(own: Explained, other: Explained | None = None, wrong: Iterable[str] = ()) -> str:
    """Everything about the number, and about the other one where there is one; above it what makes it wrong."""
    above = [line for each in wrong for line in (*wrap(f"{DISTRUST} {each}"), "")]
    lines = [*above, *_head(own), "", *_list(own), "", *_steps(own, set()), "", *_result(own, own.said)]
    if other is not None:
        lines += ["", *_versus(own, other)]
    return "\n".join(lines) + "\n"


def _head(own: Explained) -> list[str]:
    lines = [*_headline(own), "", *wrap(own.title)]
    return lines + (wrap(own.formula, first="Formula: ", later="         ") if own.formula else [])


def _headline(own: Explained) -> list[str]:
    return wrap(f"{own.measure} of query {cut(own.query, 40)}{own.credit}: {score(own.value)}")


def _result(own: Explained, said: Iterable[str]) -> list[str]:
    notes = [line for note in said for line in wrap(f"{note}.", first="Note: ", later="      ")]
    return [f"{own.measure} = {score(own.value)}", *notes]


# --- the list --------------------------------------------------------------------------------------


def _list(own: Explained) -> list[str]:
    if not own.lines:
        return ["The ranking has no documents for this query.", *_missed(own)]
    shown = _telling(own)
    columns = [
        Column("rank", [_rank(line) for line in shown], True),
        Column("document", [line.document if line else "..." for line in shown]),
        *_scores(shown),
        Column("grade", [_grade(line) for line in shown], True),
        Column("adds", [_adds(line) for line in shown], True),
    ]
    return [*table(columns), "", *_legend(own, shown), *_missed(own)]


def _telling(own: Explained) -> list[Line | None]:
    """The lines worth printing: the top, then what counts; None stands for those left out."""
    depth = min(max(own.params.get("k") or SHOWN, 10), MOST - 10)
    shown: list[Line | None] = []
    for place, line in enumerate(own.lines, start=1):
        if (place <= depth or line.adds or (line.grade or 0) > 0) and len(shown) < MOST:
            shown.append(line)
        elif shown[-1] is not None:
            shown.append(None)
    return shown


def _rank(line: Line | None) -> str:
    return "" if line is None else ABSENT if line.rank is None else f"{line.rank:,}"


def _grade(line: Line | None) -> str:
    return "" if line is None else ABSENT if line.grade is None else f"{line.grade:g}"


def _adds(line: Line | None) -> str:
    return "" if line is None or not line.adds else score(line.adds)


def _scores(shown: Sequence[Line | None]) -> list[Column]:
    """The scores with as many digits as tell them apart; those that are equal are marked."""
    known = {line.score for line in shown if line is not None and line.score is not None}
    if not known:
        return []
    spell = _spelling(known)
    cells = ["" if line is None or line.score is None else spell(line.score) for line in shown]
    marks = ["  " if line is None or not line.tied else " =" for line in shown]
    return [Column("score  ", [cell + mark for cell, mark in zip(cells, marks, strict=True)], True)]


def _spelling(known: set[float]) -> Callable[[float], str]:
    """The shortest way to write all of the numbers so that different ones look different."""
    for decimals in (0, 1, 2, 3, 4, 5, 6):
        if max(map(abs, known)) < 1e7 and len({f"{each:.{decimals}f}" for each in known}) == len(known):
            return lambda value: f"{value:.{max(decimals, 0 if _whole(known) else 4)}f}"
    return repr


def _whole(known: set[float]) -> bool:
    return all(each.is_integer() for each in known)


def _legend(own: Explained, shown: Sequence[Line | None]) -> list[str]:
    said_of = []
    if any(line and line.tied for line in shown):
        said_of.append("= shares its score with others")
    if any(line and line.grade is None for line in shown):
        said_of.append("grade - was not judged")
    if any(line and line.rank is None for line in shown):
        said_of.append("rank - was taken out")
    return wrap(f"({'; '.join(said_of)})") if said_of else []


def _missed(own: Explained) -> list[str]:
    if not own.missed:
        return []
    listed = ", ".join(f"{cut(doc, ID)} (grade {grade:g})" for doc, grade in own.missed[:10])
    more = f", and {len(own.missed) - 10:,} more" if len(own.missed) > 10 else ""
    return wrap(f"Not in the ranking: {listed}{more}.")


# --- the steps -------------------------------------------------------------------------------------


def _steps(own: Explained, marked: set[str]) -> list[str]:
    """The steps, numbered; those of a kind in `marked` begin with `>`."""
    lines: list[str] = []
    for number, step in enumerate(own.steps, start=1):
        mark = ">" if step.kind in marked else " "
        lines += wrap(_said(step), first=f"{mark}{number:2}. ", later=" " * 5)
        lines += [line.rstrip() for line in _calculation(step, own)]
    return lines


def _calculation(step: Step, own: Explained) -> Iterator[str]:
    """The terms, aligned at their equals signs, and what they come to."""
    shown = step.terms[:TERMS]
    digits = max((len(str(term.rank)) for term in shown if term.rank), default=0)
    rows = [(_about(term, own, digits), term.expression, term.value) for term in shown]
    if step.expression:
        rows.append(("", step.expression, step.value))
    about = max((width(row[0]) for row in rows), default=0)
    reach = max((width(row[1]) for row in rows), default=0)
    lines = [f"{pad(row[0], about)}  {pad(row[1], reach, True)}{_equals(row[2])}" for row in rows]
    if len(step.terms) > TERMS:
        lines.insert(TERMS, f"... and {len(step.terms) - TERMS:,} more")
    yield from (f"       {line}" for line in lines) if about else (f"       {line.strip()}" for line in lines)


def _said(step: Step) -> str:
    """The step in words; a number that needs no calculation stands beside them."""
    return step.says if step.expression else f"{step.says}{_equals(step.value)}"


def _equals(value: float | None) -> str:
    return "" if value is None else f" = {said(value)}"


def _about(term: Term, own: Explained, digits: int) -> str:
    """The rank and the document a term is about, as far as it is about any."""
    if term.doc is None:
        return ""
    name = cut(own.names.get(term.doc, "(not judged)"), ID)
    return name if term.rank is None else f"rank {term.rank:>{digits}}  {name}"


# --- versus ----------------------------------------------------------------------------------------


def _versus(own: Explained, other: Explained) -> list[str]:
    """The other derivation as far as it is another, its differing steps marked, and why in words."""
    marked = differing(own, other)
    lines = ["-" * page_width(), *_headline(other), ""]
    if [line.document for line in own.lines] != [line.document for line in other.lines]:
        lines += [*_list(other), ""]
    if marked:
        lines += [*_steps(other, marked), "", *_result(other, other.notes), ""]
    lines += ["What differs (steps marked >):" if marked else "What differs (the steps are the same):"]
    return lines + [line for each in differences(own, other) for line in wrap(each, first="- ", later="  ")]
