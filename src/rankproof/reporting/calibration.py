"""What labels say of a judge, as text for people: agreement, confusion, the accuracy trap, what can be trusted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rankproof.reporting.judged import RELATIONS, WORDS
from rankproof.reporting.numbers import ABSENT, count, score, share, span
from rankproof.reporting.tables import Column, table, wrap

NO_LABELS = "No drawn pair has a label yet, so nothing can be said. Next: label some."
LEVELS = (
    "Differences between systems that one judge judged alike can be trusted more than levels: what it is off by "
    "is in both. That holds where it errs alike for both; label pairs of both to know."
)


def calibration(found: Any) -> str:
    """A calibration as text, in 80 columns."""
    lines = wrap(f"Judge: {found.judge}. {_progress(found)}")
    relations = list(found.relations.values())
    if not relations:
        return "\n".join([*lines, "", *wrap(NO_LABELS)]) + "\n"
    lines += ["", *table(_agreement(relations)), "", *table(_rates(relations))]
    for each in relations:
        lines += ["", *_confusion(each)]
    lines += [
        "",
        *(line for each in relations for said in _told(each) for line in wrap(said, first="- ", later="  ")),
    ]
    return "\n".join([*lines, *wrap(LEVELS, first="- ", later="  ")]) + "\n"


def _progress(found: Any) -> str:
    if not found.drawn:
        return ""
    left = f"; {found.left:,} left" if found.left else ""
    return f"{found.drawn - found.left:,} of {count(found.drawn, 'drawn pair')} labelled{left}."


def _named(found: Any) -> str:
    left, right = RELATIONS[found.relation]
    return f"{found.relation}: {left}, {right}"


def _agreement(relations: Sequence[Any]) -> list[Column]:
    return [
        Column("relation", [_named(each) for each in relations]),
        Column("labels", [count(each.n) for each in relations], True),
        Column("kappa", [score(each.kappa.value) for each in relations], True),
        Column("of the\nvalues", [score(each.grades.value) for each in relations], True),
        Column("accuracy", [share(each.accuracy.value) for each in relations], True),
        Column("always the\ncommonest", [share(each.commonest.value) for each in relations], True),
        Column("sensitivity", [_ends(each.sensitivity) for each in relations], True),
        Column("specificity", [_ends(each.specificity) for each in relations], True),
    ]


def _ends(found: Any) -> str:
    if not found.n:
        return ABSENT
    return f"{share(found.value)} [{share(found.low)}, {share(found.high)}]"


def _rates(relations: Sequence[Any]) -> list[Column]:
    """The share of yes: as the judge says it, and corrected."""
    return [
        Column("share of yes", [_named(each) for each in relations]),
        Column("judge", [score(each.raw.value) for each in relations], True),
        Column("PPI++", [_value(each.corrected) for each in relations], True),
        Column("95 % interval", [_span(each.corrected) for each in relations], True),
        Column("Rogan-\nGladen", [_value(each.gladen) for each in relations], True),
        Column("95 % interval", [_span(each.gladen) for each in relations], True),
    ]


def _value(found: Any) -> str:
    return ABSENT if found is None else score(found.value)


def _span(found: Any) -> str:
    return ABSENT if found is None else span(found.low, found.high)


def _confusion(found: Any) -> list[str]:
    """What people said by line, what the judge said by column."""
    values = list(WORDS[found.relation])
    cells = {value: [str(found.confusion.get((truth, value), 0)) for truth in values] for value in values}
    names = [f"{truth} {WORDS[found.relation][truth]}" for truth in values]
    columns = [Column(f"{found.relation}: people say / judge says", names)]
    return table([*columns, *(Column(str(value), cells[value], True) for value in values)])


def _told(found: Any) -> Iterator[str]:
    name, prevalence = found.relation, found.kappa.prevalence.get(True, 0.0)
    if found.trap:
        yield (
            f"{name}: accuracy misleads here. {share(found.accuracy.value)} are right, but always saying the "
            f"commonest would be right in {share(found.commonest.value)}; kappa is {score(found.kappa.value)}."
        )
    yield f"{name}: yes makes up {share(prevalence)} of what people and judge said; kappa falls where that is rare."
    if found.smallest == found.smallest:
        yield (
            f"{name}: two systems with {count(found.of, 'pair')} each must differ by {score(found.smallest)} in the "
            "share of yes for that to show through the judge."
        )
    else:
        yield f"{name}: the judge says yes about as often where people say no, so no difference shows through it."
    yield from (f"{name}: {each}." for each in found.notes)
    if found.more:
        yield f"{name}: {count(found.more, 'label')} of pairs chosen for what they tell count in PPI++ by weight."
