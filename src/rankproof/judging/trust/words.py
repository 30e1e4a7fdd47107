"""What labels say of a judge, as text for people: agreement, confusion, the accuracy trap, what can be trusted."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from rankproof.document.numbers import ABSENT, count, score, share, span
from rankproof.document.terminal import Column, table, wrap
from rankproof.judging.words import RELATIONS, WORDS

NO_LABELS = "No drawn pair has a label yet, so nothing can be said. Next: label some."
THIRDS = ("first", "middle", "last")
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
    if placed := [each for each in relations if each.places]:
        lines += ["", *table(_places(placed))]
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


def _places(relations: Sequence[Any]) -> list[Column]:
    """How often the judge is wrong by where in a call it was asked."""
    thirds = [
        (each.relation, third, found)
        for each in relations
        for third, found in zip(THIRDS, each.places, strict=True)
    ]
    return [
        Column("wrong verdicts by place", [f"{name}: {third} third of a call" for name, third, _ in thirds]),
        Column("labels", [count(found.n) for *_, found in thirds], True),
        Column("wrong", [share(found.value) if found.n else ABSENT for *_, found in thirds], True),
        Column("95 % interval", [f"[{share(found.low)}, {share(found.high)}]" for *_, found in thirds], True),
    ]


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
    if found.place_matters:
        yield (
            f"{name}: where in a call a pair stands changes how often the judge is wrong. Next: ask about fewer pairs "
            "a call (pairs=20); 'rankproof judge --trial' says how many it bears."
        )
    yield from (f"{name}: {each}." for each in found.notes)
    if found.more:
        yield f"{name}: {count(found.more, 'label')} of pairs chosen for what they tell count in PPI++ by weight."


# --- two sets of judgments ------------------------------------------------------------------------------

TOO_FEW = "Under 30 labels nothing is corrected. Next: label more; --next 50 -o pool.jsonl says which pairs."


def two_judgments(found: Any) -> str:
    """A machine's judgments held against people's, as text in 80 columns."""
    lines = wrap(f"{found.machine}, held against {found.human or 'nothing yet'}. {_met(found)}")
    if found.kappa is not None:
        lines += ["", *table(_agreeing(found)), "", *_counted(found)]
    if found.runs:
        lines += ["", *table(_by_people(found))]
    said = [each for each in _said_of_both(found) if each]
    return (
        "\n".join([*lines, "", *(line for each in said for line in wrap(each, first="- ", later="  "))])
        + "\n"
    )


def _met(found: Any) -> str:
    own = f"{count(found.n, 'pair')} of {count(found.queries, 'query', 'queries')} judged by both"
    rest = f"{found.machine_only:,} by the machine alone, {found.human_only:,} by people alone"
    other = (
        f" {count(found.other_queries, 'query', 'queries')} of people's that the machine did not judge "
        f"{'is' if found.other_queries == 1 else 'are'} left out."
        if found.other_queries
        else ""
    )
    return f"{own}; {rest}.{other}"


def _agreeing(found: Any) -> list[Column]:
    level = f"{found.rel:g}"
    kappas = [
        (f"kappa, relevant (from {level} on) or not", found.kappa),
        ("kappa of grades", found.grades),
        ("kappa of grades, quadratic weights", found.weighted),
    ]
    shares = [
        ("same grade", found.same),
        ("same on relevant or not", found.accuracy),
        ("sensitivity: relevant ones found", found.sensitivity),
        ("specificity: others left out", found.specificity),
    ]
    return [
        Column("agreement", [name for name, _ in (*kappas, *shares)]),
        Column(
            "value",
            [score(k.kappa.value) for _, k in kappas]
            + [share(s.value) if s.n else ABSENT for _, s in shares],
            True,
        ),
        Column(
            "95 % interval",
            [ABSENT if k.kappa.value is None else span(k.low, k.high) for _, k in kappas]
            + [f"[{share(s.low)}, {share(s.high)}]" if s.n else ABSENT for _, s in shares],
            True,
        ),
    ]


def _counted(found: Any) -> list[str]:
    """What people said by line, what the machine said by column."""
    rows = sorted({a for a, _ in found.confusion})
    columns = sorted({b for _, b in found.confusion})
    if len(columns) > 8:
        return wrap(
            f"The machine gave {len(columns)} different grades; -f json holds how often each met each."
        )
    cells = [Column("people say / machine says", [f"{each:g}" for each in rows])]
    cells += [Column(f"{b:g}", [f"{found.confusion.get((a, b), 0):,}" for a in rows], True) for b in columns]
    return table(cells)


def _range(values: Collection[float], form: str) -> str:
    low, high = form.format(min(values)), form.format(max(values))
    return low if low == high else f"{low} to {high}"


def _by_people(found: Any) -> list[Column]:
    rows = [(run, name, raw, each) for run, by in found.runs.items() for name, (raw, each) in by.items()]
    return [
        Column("run", [run for run, *_ in rows]),
        Column("measure", [name for _, name, *_ in rows]),
        Column("machine", [score(raw) for *_, raw, _ in rows], True),
        Column("corrected", [_value(each) for *_, each in rows], True),
        Column("95 % interval", [_span(each) for *_, each in rows], True),
        Column("error", [ABSENT if each is None else score(each.error) for *_, each in rows], True),
        Column(
            "of labels\nalone",
            [ABSENT if each is None or each.alone is None else score(each.alone) for *_, each in rows],
            True,
        ),
    ]


def _said_of_both(found: Any) -> Iterator[str]:
    yield from (f"error  {each}" for each in found.wrong)
    estimates = [each for by in found.runs.values() for _, each in by.values() if each is not None]
    whole, modelled = ([each for each in estimates if (each.power is None) is none] for none in (False, True))
    if whole:
        queries, powers = ({getattr(each, name) for each in whole} for name in ("queries", "power"))
        yield (
            f"Corrected by PPI++ over the {_range(queries, '{:,}')} queries of which people judged all that the "
            f"measure looks at; weight of the machine {_range(powers, '{:.2f}')}."
        )
    if modelled:
        yield (
            f"{'The others are' if whole else 'Corrected are'} expectations over label vectors drawn given the "
            f"machine's grades, by {modelled[0].n:,} labels. That takes what people say to follow from the machine's "
            "grade and the rank; 20 queries judged whole need no such belief (--next 20 --whole)."
        )
    if found.runs and not estimates:
        yield TOO_FEW
    kappa = found.kappa
    if kappa is not None:
        prevalence = kappa.kappa.prevalence.get(1.0, 0.0)
        commonest = max(prevalence, 1 - prevalence)
        if kappa.kappa.value is not None and kappa.kappa.value < 0.4 and found.accuracy.value >= 0.7:
            yield (
                f"Accuracy misleads here. {share(found.accuracy.value)} are alike, and always saying the commonest "
                f"would be in about {share(commonest)}; kappa is {score(kappa.kappa.value)}."
            )
        yield f"Relevant makes up {share(prevalence)} of what both said; kappa falls where that is rare."
        if kappa.kappa.value is None:
            yield f"No kappa: {kappa.kappa.note}."
        people, machine = ({side[i] for side in found.confusion} for i in (0, 1))
        if max(people) != max(machine):
            yield (
                f"The highest grade is {max(people):g} by people and {max(machine):g} by the machine: if the scales "
                "differ, read kappa of relevant or not, and choose its grade (--rel)."
            )
    yield LEVELS
