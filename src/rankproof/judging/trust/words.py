"""What labels say of a judge, and what people's judgments say of a machine's, as documents."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rankproof.document.model import Block, Bullets, Column, Document, Paragraph, Part, Record, Table
from rankproof.document.numbers import ABSENT, count, score, share, span
from rankproof.document.terminal import for_face
from rankproof.judging.words import RELATIONS, WORDS
from rankproof.scoring.words import wrong_data

if TYPE_CHECKING:
    from rankproof.judging.labelling import Calibration, JudgmentCalibration
    from rankproof.judging.trust.agreement import Agreed

SHARES = ("accuracy", "commonest", "sensitivity", "specificity", "raw")

NO_LABELS = "No drawn pair has a label yet, so nothing can be said. Next: label some."
THIRDS = ("first", "middle", "last")
LEVELS = (
    "Differences between systems can be trusted more than levels if the same judge judged both, as its error is in "
    "both. That holds only if it errs equally for both; label pairs of both to check."
)


def calibration(found: Calibration) -> Document:
    """What the labels say of the judge, relation by relation."""
    relations = list(found.relations.values())
    opening = Part(Paragraph(f"Judge: {found.judge}. {_progress(found)}"))
    if not relations:
        return Document("Calibration", [opening, Part(Paragraph(""), Paragraph(NO_LABELS))], tree=found.to_dict())
    placed = [each for each in relations if each.places]
    tables = [_agreement(relations), _rates(relations), *map(_confusion, relations)]
    told = [*(said for each in relations for said in _sentences(each)), LEVELS]
    return Document(
        "Calibration",
        [opening, Part(*tables, *([_places(placed)] if placed else []), Bullets(told))],
        list(map(_record, relations)),
        found.to_dict(),
    )


def _record(found: Agreed) -> Record:
    """One relation as a flat row."""
    corrected = found.corrected
    return {
        "relation": str(found.relation.value),
        "labels": found.n,
        "more": found.more,
        "pairs": found.of,
        "kappa": found.kappa.value,
        "kappa_of_values": found.grades.value,
        **{name: getattr(found, name).value if getattr(found, name).n else None for name in SHARES},
        "corrected": None if corrected is None else corrected.value,
        "corrected_low": None if corrected is None else corrected.low,
        "corrected_high": None if corrected is None else corrected.high,
        "smallest": found.smallest if found.smallest == found.smallest else None,
    }


def _progress(found: Any) -> str:
    if not found.drawn:
        return ""
    left = f"; {found.left:,} left" if found.left else ""
    return f"{found.drawn - found.left:,} of {count(found.drawn, 'drawn pair')} labelled{left}."


def _named(found: Any) -> str:
    left, right = RELATIONS[found.relation]
    return f"{found.relation}: {left}, {right}"


def _agreement(relations: Sequence[Any]) -> Table:
    return Table(
        [
            Column("relation", [_named(each) for each in relations]),
            Column("labels", [count(each.n) for each in relations], True),
            Column("kappa", [score(each.kappa.value) for each in relations], True),
            Column("of the\nvalues", [score(each.grades.value) for each in relations], True),
            Column("accuracy", [share(each.accuracy.value) for each in relations], True),
            Column("always the\ncommonest", [share(each.commonest.value) for each in relations], True),
            Column("sensitivity", [_ends(each.sensitivity) for each in relations], True),
            Column("specificity", [_ends(each.specificity) for each in relations], True),
        ]
    )


def _ends(found: Any) -> str:
    if not found.n:
        return ABSENT
    return f"{share(found.value)} [{share(found.low)}, {share(found.high)}]"


def _rates(relations: Sequence[Any]) -> Table:
    """The share of yes: as the judge says it, and corrected."""
    return Table(
        [
            Column("share of yes", [_named(each) for each in relations]),
            Column("judge", [score(each.raw.value) for each in relations], True),
            Column("PPI++", [_value(each.corrected) for each in relations], True),
            Column("95 % interval", [_span(each.corrected) for each in relations], True),
            Column("Rogan-\nGladen", [_value(each.gladen) for each in relations], True),
            Column("95 % interval", [_span(each.gladen) for each in relations], True),
        ]
    )


def _value(found: Any) -> str:
    return ABSENT if found is None else score(found.value)


def _span(found: Any) -> str:
    return ABSENT if found is None else span(found.low, found.high)


def _places(relations: Sequence[Any]) -> Table:
    """How often the judge is wrong by where in a call it was asked."""
    thirds = [
        (each.relation, third, found) for each in relations for third, found in zip(THIRDS, each.places, strict=True)
    ]
    return Table(
        [
            Column("wrong verdicts by place", [f"{name}: {third} third of a call" for name, third, _ in thirds]),
            Column("labels", [count(found.n) for *_, found in thirds], True),
            Column("wrong", [share(found.value) if found.n else ABSENT for *_, found in thirds], True),
            Column("95 % interval", [f"[{share(found.low)}, {share(found.high)}]" for *_, found in thirds], True),
        ]
    )


def _confusion(found: Any) -> Table:
    """What people said by line, what the judge said by column."""
    values = list(WORDS[found.relation])
    cells = {value: [str(found.confusion.get((truth, value), 0)) for truth in values] for value in values}
    names = [f"{truth} {WORDS[found.relation][truth]}" for truth in values]
    columns = [Column(f"{found.relation}: people say / judge says", names)]
    return Table([*columns, *(Column(str(value), cells[value], True) for value in values)])


def _sentences(found: Any) -> Iterator[str]:
    name, prevalence = found.relation, found.kappa.prevalence.get(True, 0.0)
    if found.trap:
        kappa = score(found.kappa.value)
        yield (
            f"{name}: accuracy misleads here. {share(found.accuracy.value)} are right, but always saying the "
            f"commonest would be right in {share(found.commonest.value)}; kappa is "
            f"{'not known, as all labels say the same' if kappa == ABSENT else kappa}."
        )
    yield f"{name}: yes makes up {share(prevalence)} of what people and judge said; kappa falls where that is rare."
    if found.smallest == found.smallest:
        yield (
            f"{name}: two systems with {count(found.of, 'pair')} each must differ by {score(found.smallest)} in the "
            "share of yes for that to show through the judge."
        )
    elif not (found.sensitivity.n and found.specificity.n):
        answer = "no" if found.sensitivity.n else "yes"
        yield f"{name}: no label says {answer}, so how often the judge is right there is not known. Next: label more."
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

TOO_FEW = "Under 30 labels nothing is corrected. Next: label more; 'rankproof calibrate --next 50 -o FILE' says which."


def two_judgments(found: JudgmentCalibration) -> Document:
    """A machine's judgments held against people's."""
    opening = f"{found.machine}, held against {found.human or 'nothing yet'}. {_met(found)}"
    tables = [] if found.kappa is None else [_agreeing(found), _counted(found)]
    tables += [_by_people(found)] if found.runs else []
    records = [
        {
            "run": run,
            "measure": name,
            "machine": raw,
            **{
                field: None if each is None else getattr(each, field)
                for field in ("value", "low", "high", "error", "n", "queries")
            },
        }
        for run, by in found.runs.items()
        for name, (raw, each) in by.items()
    ] or [{name: getattr(found, name) for name in ("machine", "human", "rel", "n", "queries")}]
    parts = [wrong_data(found.wrong), Part(Paragraph(opening)), Part(*tables, Bullets([*_sentences_of_both(found)]))]
    return Document("Judgments of a machine", parts, records, found.to_dict())


def _met(found: Any) -> str:
    own = f"{count(found.n, 'pair')} of {count(found.queries, 'query')} judged by both"
    rest = f"{found.machine_only:,} by the machine alone, {found.human_only:,} by people alone"
    other = (
        f" {count(found.other_queries, 'query')} of people's that the machine did not judge "
        f"{'is' if found.other_queries == 1 else 'are'} left out."
        if found.other_queries
        else ""
    )
    return f"{own}; {rest}.{other}"


def _agreeing(found: Any) -> Table:
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
    return Table(
        [
            Column("agreement", [name for name, _ in (*kappas, *shares)]),
            Column(
                "value",
                [score(k.kappa.value) for _, k in kappas] + [share(s.value) if s.n else ABSENT for _, s in shares],
                True,
            ),
            Column(
                "95 % interval",
                [ABSENT if k.kappa.value is None else span(k.low, k.high) for _, k in kappas]
                + [f"[{share(s.low)}, {share(s.high)}]" if s.n else ABSENT for _, s in shares],
                True,
            ),
        ]
    )


def _counted(found: Any) -> Block:
    """What people said by line, what the machine said by column."""
    rows = sorted({a for a, _ in found.confusion})
    columns = sorted({b for _, b in found.confusion})
    if len(columns) > 8:
        return Paragraph(f"The machine gave {len(columns)} different grades; -f json holds how often each met each.")
    cells = [Column("people say / machine says", [f"{each:g}" for each in rows])]
    cells += [Column(f"{b:g}", [f"{found.confusion.get((a, b), 0):,}" for a in rows], True) for b in columns]
    return Table(cells)


def _range(values: Collection[float], form: str) -> str:
    low, high = form.format(min(values)), form.format(max(values))
    return low if low == high else f"{low} to {high}"


def _by_people(found: Any) -> Table:
    rows = [(run, name, raw, each) for run, by in found.runs.items() for name, (raw, each) in by.items()]
    return Table(
        [
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
    )


def _sentences_of_both(found: Any) -> Iterator[str]:
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
            "grade and the rank; 20 queries judged whole need no such belief ('rankproof calibrate --next 20 --whole')."
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
                f"differ, read kappa of relevant or not, and choose its grade ({for_face('rel=', '--rel')})."
            )
    yield LEVELS
