"""How far a judge can be trusted, as documents: its agreement with labels, a machine's agreement with people's
judgments, and the results of asking again: with other pairs, later, one by one and together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankproof.document.model import Block, Bullets, Column, Document, Paragraph, Part, Record, Table
from rankproof.document.numbers import ABSENT, count, for_face, score, setting, share, span
from rankproof.judging.words import RELATIONS, WORDS
from rankproof.scoring.words import wrong_data

if TYPE_CHECKING:
    from rankproof.judging.judgment_calibration import JudgmentCalibration
    from rankproof.judging.labelling import Calibration
    from rankproof.judging.trial import Trial
    from rankproof.judging.trust.agreement import Agreed

SHARES = ("accuracy", "commonest", "sensitivity", "specificity", "raw")
NO_LABELS = "No drawn pair has a label yet, so nothing can be said. Next: label some."
OF_OTHERS = "No label is of a pair drawn at random that the judge settled, so nothing can be said. Next: label more."
THIRDS = ("first", "middle", "last")
LEVELS = (
    "Differences between systems can be trusted more than levels if the same judge judged both, as its error is in "
    "both. That holds only if it errs equally for both; label pairs of both to check."
)


def calibration(found: Calibration) -> Document:
    """What the labels say of the judge, relation by relation."""
    relations = list(found.relations.values())
    left = f"; {found.left:,} left" if found.left else ""
    done = f"{found.drawn - found.left:,} of {count(found.drawn, 'drawn pair')} labelled{left}." if found.drawn else ""
    opening = Part(Paragraph(f"Judge: {found.judge}. {done}"))
    if not relations:
        why = NO_LABELS if found.drawn == found.left else OF_OTHERS
        return Document("Calibration", [opening, Part(Paragraph(""), Paragraph(why))], tree=found.to_dict())
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
    corrected = {"corrected": "value", "corrected_low": "low", "corrected_high": "high"}
    return {
        "relation": str(found.relation.value),
        "labels": found.n,
        "more": found.more,
        "pairs": found.of,
        "kappa": found.kappa.value,
        "kappa_of_values": found.grades.value,
        **{name: getattr(found, name).value if getattr(found, name).n else None for name in SHARES},
        **{name: found.corrected and getattr(found.corrected, end) for name, end in corrected.items()},
        "smallest": found.smallest if found.smallest == found.smallest else None,
    }


def _named(relation: str) -> str:
    return f"{relation}: {', '.join(RELATIONS[relation])}"


def _agreement(relations: Sequence[Any]) -> Table:
    headings = ("relation", "labels", "kappa", "of the\nvalues", "accuracy", "always the\ncommonest")
    rows = [
        (
            *(_named(each.relation), count(each.n), score(each.kappa.value), score(each.grades.value)),
            *(share(each.accuracy.value), share(each.commonest.value)),
            *(f"{share(e.value)} {_ends(e)}" if e.n else ABSENT for e in (each.sensitivity, each.specificity)),
        )
        for each in relations
    ]
    return Table.of((*headings, "sensitivity", "specificity"), rows, headings[:1])


def _ends(found: Any) -> str:
    return f"[{share(found.low)}, {share(found.high)}]"


def _rates(relations: Sequence[Any]) -> Table:
    headings = ("share of yes", "judge", "PPI++", "95 % interval", "Rogan-\nGladen", "95 % interval")
    rows = [
        (_named(each.relation), score(each.raw.value), *_estimate(each.corrected), *_estimate(each.gladen))
        for each in relations
    ]
    return Table.of(headings, rows, headings[:1])


def _estimate(found: Any) -> tuple[str, str]:
    return (ABSENT, ABSENT) if found is None else (score(found.value), span(found.low, found.high))


def _places(relations: Sequence[Any]) -> Table:
    """How often the judge is wrong by where in a call it was asked."""
    headings = ("wrong verdicts by place", "labels", "wrong", "95 % interval")
    rows = [
        (
            *(f"{each.relation}: {third} third of a call", count(found.n)),
            *(share(found.value) if found.n else ABSENT, _ends(found)),
        )
        for each in relations
        for third, found in zip(THIRDS, each.places, strict=True)
    ]
    return Table.of(headings, rows, headings[:1])


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


TOO_FEW = "Under 30 labels nothing is corrected. Next: label more; 'rankproof calibrate --next 50 -o FILE' says which."


def two_judgments(found: JudgmentCalibration) -> Document:
    """A machine's judgments compared with people's."""
    opening = f"{found.machine}, held against {found.human or 'nothing yet'}. {_met(found)}"
    tables = [] if found.kappa is None else [_agreeing(found), _counted(found)]
    tables += [_by_people(found)] if found.runs else []
    records = [
        {
            "run": run,
            "measure": name,
            "machine": raw,
            **{field: getattr(each, field, None) for field in ("value", "low", "high", "error", "n", "queries")},
        }
        for run, by in found.runs.items()
        for name, (raw, each) in by.items()
    ] or [{name: getattr(found, name) for name in ("machine", "human", "rel", "n", "queries")}]
    parts = [wrong_data(found.wrong), Part(Paragraph(opening)), Part(*tables, Bullets([*_sentences_of_both(found)]))]
    return Document("Judgments of a machine", parts, records, found.to_dict())


def _met(found: Any) -> str:
    own = f"{count(found.n, 'pair')} of {count(found.queries, 'query')} judged by both"
    rest = f"{found.machine_only:,} by the machine alone, {found.human_only:,} by people alone"
    others = f"{count(found.other_queries, 'query')} of people's that the machine did not judge"
    left_out = f" {others} {'is' if found.other_queries == 1 else 'are'} left out." if found.other_queries else ""
    return f"{own}; {rest}.{left_out}"


def _agreeing(found: Any) -> Table:
    kappas = [
        (f"kappa, relevant (from {found.rel:g} on) or not", found.kappa),
        ("kappa of grades", found.grades),
        ("kappa of grades, quadratic weights", found.weighted),
    ]
    shares = [
        ("same grade", found.same),
        ("same on relevant or not", found.accuracy),
        ("sensitivity: relevant ones found", found.sensitivity),
        ("specificity: others left out", found.specificity),
    ]
    rows = [
        *((name, score(k.kappa.value), ABSENT if k.kappa.value is None else span(k.low, k.high)) for name, k in kappas),
        *((name, *((share(each.value), _ends(each)) if each.n else (ABSENT, ABSENT))) for name, each in shares),
    ]
    return Table.of(("agreement", "value", "95 % interval"), rows, ["agreement"])


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
    headings = ("run", "measure", "machine", "corrected", "95 % interval", "error", "of labels\nalone")
    rows = [
        (run, name, score(raw), *_estimate(each), score(each and each.error), score(each and each.alone))
        for run, by in found.runs.items()
        for name, (raw, each) in by.items()
    ]
    return Table.of(headings, rows, headings[:2])


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
                f"differ, read kappa of relevant or not, and choose its grade ({setting('rel')})."
            )
    yield LEVELS


POOR = 0.6
"""The kappa below which a judge agrees with people moderately at best (Landis and Koch, 1977)."""
Rates = Mapping[str, Mapping[str, Any]]


def flips(heading: str, rates: Rates) -> Table:
    """How many verdicts changed, a line for each way of asking again and each relation."""
    headings = (heading, "relation", "pairs", "changed", "share", "95 % interval")
    rows = [
        (way, relation, count(each.n), count(each.yes), share(each.value), _ends(each))
        for way, found in rates.items()
        for relation, each in found.items()
    ]
    return Table.of(headings, rows, headings[:2])


def flip_records(rates: Rates) -> list[Record]:
    """The same as flat rows."""
    names = ("asked", "relation", "pairs", "changed", "share", "low", "high")
    rows = [
        (way, str(relation), each.n, each.yes, each.value if each.n else None, each.low, each.high)
        for way, found in rates.items()
        for relation, each in found.items()
    ]
    return [dict(zip(names, row, strict=True)) for row in rows]


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
            **{name: getattr(each, name) for name in ("pairs", "kappa", "low", "high")},
            "right": each.right.value,
            "verdicts": each.settled,
            "calls": each.account.calls,
            "tokens": _tokens(each),
            "bytes": each.account.bytes_sent,
        }
        for each in found.ways
    ]
    parts = Part(Paragraph(opening), _ways(found), _relations(found), _third_places(found), *map(Paragraph, told))
    return Document(f"Trial of {found.judge}", [parts], records, found.to_dict())


def _tokens(way: Any) -> int:
    """The tokens that one way of asking took, as the service counts them."""
    return int(way.account.prompt_tokens + way.account.reply_tokens)


def _ways(found: Any) -> Table:
    headings = ("asked", "kappa", "95 % interval", "right", "verdicts", "calls", "tokens", "bytes")
    rows = [
        (
            "one by one" if each.pairs == 1 else f"{each.pairs} a call",
            *(score(each.kappa), span(each.low, each.high), share(each.right.value), count(each.settled)),
            *(count(each.account.calls), count(n) if (n := _tokens(each)) else ABSENT, count(each.account.bytes_sent)),
        )
        for each in (found.ways if found.together.pairs > 1 else (found.alone,))
    ]
    return Table.of(headings, rows, headings[:1])


def _relations(found: Any) -> Table:
    headings = ("relation", "pairs", "kappa\none by one", "kappa\ntogether", "changed", "95 % interval")
    rows = [
        (
            *(_named(relation), count(changed.n)),
            *(score(way.kappas[relation]) for way in (found.alone, found.together)),
            *(share(changed.value), _ends(changed)),
        )
        for relation, changed in found.changed.items()
    ]
    return Table.of(headings, rows, headings[:1])


def _third_places(found: Any) -> Table:
    headings = ("place in the call", "pairs", "changed", "95 % interval", "wrong\nalone", "wrong\ntogether")
    rows = [
        (
            *(f"{each.third} third {each.part}", count(each.changed.n), share(each.changed.value)),
            *(_ends(each.changed), share(each.wrong_alone.value), share(each.wrong_together.value)),
        )
        for each in found.places
    ]
    return Table.of(headings, rows, headings[:1])


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
    option = for_face(f"pairs={found.pairs}", f"--set pairs={found.pairs}")
    return f"Asking together costs {lost}. Proposed: {option}; verdicts made so are kept apart in the ledger."
