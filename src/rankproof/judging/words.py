"""Verdicts and failures as text for people: the verdict on each pair, and which half failed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from rankproof.core.audit import Finding, list_words
from rankproof.document.numbers import count, share
from rankproof.document.terminal import Column, clean, cut, cut_apart, table, wrap
from rankproof.judging.evidence import WORDS as POINT_WORDS
from rankproof.judging.evidence import Blame
from rankproof.judging.metrics.counting import JudgedColumn
from rankproof.judging.verdicts import Account, Relation
from rankproof.store.ledger import LedgerEntry
from rankproof.text.words import are_several

UNMEASURED = "unmeasured"
"""Where pairs without a verdict are counted beside the judges."""
LEXICAL = "lexical"
WORTH = (
    "The lexical judge gives a verdict only if about nine in ten or more such verdicts were right on every labelled "
    "collection; docs/lexical-judge.md says how often, by kind of text. The bounds take them as right."
)
"""What verdicts of the embedded judge are worth."""
MOST = 3
"""Causes that are told, in full; of others how many there are."""
ENOUGH = 0.9
"""Below this coverage a number is warned of."""


def sentences(by: Mapping[str, int], account: Account, peer: str | None = None) -> list[str]:
    """Who judged how much, what it took, and whose formulas these are."""
    given = [f"{name} {count:,}" for name, count in by.items() if name != UNMEASURED]
    open_ = by.get(UNMEASURED, 0)
    said = f"Verdicts: {', '.join(given) or 'none'}; {open_:,} of {sum(by.values()):,} pairs unmeasured."
    return [said, *([WORTH] if by.get(LEXICAL) else []), *_cost(account), *([f"Formulas of {peer}."] if peer else [])]


def _cost(account: Account) -> list[str]:
    if not (account.prompt_tokens or account.bytes_sent):  # judged here, by rules or a function
        return []
    money = "price not known" if account.money is None else f"${account.money:.4f}"
    tokens = f"{account.prompt_tokens:,} + {account.reply_tokens:,} tokens"
    tokens = tokens if account.prompt_tokens else "no tokens told"
    problems = "; ".join(f"{problem} ({times:,})" for problem, times in account.problems.items())
    told = [f"Went wrong on the way: {problems}."] if problems else []
    return [f"It took {count(account.calls, 'call')}, {tokens}, {money}.", *told]


def findings_of(
    columns: Mapping[str, JudgedColumn],
    by: Mapping[str, int],
    account: Account,
    top: Mapping[str, int],
    emptied: Mapping[str, int],
    estimated: Collection[str],
) -> Iterator[Finding]:
    """Findings of judged scores; `by` has how many verdicts each judge gave, `top` its highest grade of a context,
    `emptied` how many samples were without a field that others have, `estimated` which metrics have an estimate."""
    # The first is on every screen: what went wrong, else what left the mean.
    if account.problems:
        times = sum(account.problems.values())
        # A model may take texts apart and settle no pair: such calls did not fail, and no verdict came of them.
        useless = (account.calls and account.failed == account.calls) or set(by) == {UNMEASURED}
        worst = sorted(account.problems, key=lambda each: -account.problems[each])[:MOST]
        step = "look at the verdicts with 'rankproof verdicts', and at the judge."
        if "the budget" in worst[0]:
            step = "allow a larger budget; with a ledger, judging goes on where it was."
        yield Finding(
            *("error" if useless else "warning", "judge-problems", times),
            f"The judge went wrong {count(times, 'time')}{' and settled nothing' if useless else ''}; what it did not "
            "settle is unmeasured.",
            examples=tuple(worst),
            advice=step,
        )
    # A mean over some of the samples says nothing about the others, and a system must not gain by failing on them.
    if fewer := {name: each for name, each in columns.items() if 0 < len(each.counting) < len(each.values)}:
        counts = (
            f"{name} {len(each.counting):,} of {len(each.values):,} ({causes(each)})" for name, each in fewer.items()
        )
        yield Finding(
            *("warning", "fewer-samples", len(fewer)),
            f"Fewer samples count than there are: {list_words(counts)}.",
            advice="compare such means over the samples that count for both, and read the bounds beside them.",
        )
    if emptied:
        said = list_words(f"{count(times, 'sample')} without {name}" for name, times in emptied.items())
        yield Finding(
            *("warning", "empty-samples", sum(emptied.values())),
            f"Others have what these lack, so it counts as empty: {said}.",
            advice="if the system was not asked there, judge those samples apart.",
        )
    if thin := {name: each for name, each in columns.items() if each.units.sum() > 0 and each.coverage < ENOUGH}:
        shares = list_words(f"{name} {share(each.coverage)}" for name, each in thin.items())
        yield Finding(
            *("warning", "coverage", len(thin)),
            f"Not everything was judged: {shares}.",
            advice="read the columns of what is possible, or let another judge settle the rest (a cascade).",
        )
    if empty := {name: each for name, each in columns.items() if not len(each.counting)}:
        told = list(dict.fromkeys(causes(each) for each in empty.values()))
        nothing = len(empty) == len(columns) and not estimated
        yield Finding(
            *(("error", "nothing-measured") if nothing else ("warning", "unmeasured")),
            len(empty),
            f"{'Nothing was' if nothing else 'No sample could be'} measured by {list_words(empty)}: "
            f"{'; '.join(told[:MOST])}.",
            advice="give what is lacking, let another judge settle it, or leave the metric out.",
        )
    # A judge that uses only 0 and 1 may mean yes by 1, but 1 is the grade of a text that is merely related.
    if low := [name for name, grade in top.items() if grade == 1]:
        yield Finding(
            *("warning", "low-grades", len(low)),
            f"{list_words(low)} gave no context a grade above 1, and 1 says related, not relevant.",
            advice="return 0 to 3, or True and False, or a probability.",
        )


def causes(column: JudgedColumn, most: int = MOST, noun: str = "more cause") -> str:
    """Why samples do not count, each cause with how many samples."""
    why = list(column.why.items())
    listed = ", ".join(f"{cause} ({times:,})" for cause, times in why[:most])
    return listed + (f", {count(len(why) - most, noun)}" if len(why) > most else "")


RELATIONS: dict[str, tuple[str, str]] = {
    Relation.CONTEXT_ANSWERS: ("question", "context"),
    Relation.TEXT_SUPPORTS: ("claim", "text"),
    Relation.TEXT_SUPPORTS_IN_PART: ("claim", "text"),
    Relation.STATEMENT_BEARS: ("question", "statement"),
    Relation.ANSWER_ADDRESSES: ("question", "answer"),
    Relation.TEXT_CLAIMS: ("question", "text"),
}
"""What the two texts of a pair are under each relation."""
WORDS: dict[str, dict[int, str]] = {
    Relation.CONTEXT_ANSWERS: {0: "irrelevant", 1: "related", 2: "answers in part", 3: "answers"},
    Relation.TEXT_SUPPORTS: {1: "supports", 0: "silent", -1: "contradicts"},
    Relation.TEXT_SUPPORTS_IN_PART: {0: "no support", 1: "partial support", 2: "full support"},
    Relation.STATEMENT_BEARS: {0: "beside the point", 1: "bears on it"},
    Relation.ANSWER_ADDRESSES: {
        -1: "abstains",
        0: "not addressed",
        1: "addressed in part",
        2: "mostly addressed",
        3: "fully addressed",
    },
}
"""What each value says."""
QUESTIONS = {
    Relation.CONTEXT_ANSWERS: "How well does the context answer the question? 0 not, 1 related, 2 in part, 3 fully",
    Relation.TEXT_SUPPORTS: "What does the text say of the claim? 1 supports, 0 silent, -1 contradicts",
    Relation.TEXT_SUPPORTS_IN_PART: "How much of the claim does the text support? 0 nothing, 1 a part, 2 all",
    Relation.STATEMENT_BEARS: "Does the statement bear on the question? 1 yes, 0 no",
    Relation.ANSWER_ADDRESSES: "How far does the answer address the question?"
    " 0 not, 1 in part, 2 mostly, 3 fully, -1 abstains",
}
"""What a person is asked about a pair, and with which values it is answered."""
FEW = 20
"""How many failed samples are named by default."""


def verdict(relation: str, value: int | None, reason: str = "") -> str:
    """A verdict in words.

    >>> verdict("S", -1), verdict("R", None, "the judge could not tell")
    ('contradicts', 'unmeasured: the judge could not tell')
    """
    if reason or value is None:
        return "split into claims" if relation == Relation.TEXT_CLAIMS and not reason else f"unmeasured: {reason}"
    return WORDS[relation].get(value, str(value))


def nouns(relation: str, right: str) -> tuple[str, str]:
    """What the two texts of a pair are; several that were read as one are said to be that.

    >>> from rankproof.text.words import join_texts
    >>> nouns("R", "Since."), nouns("S", join_texts(["One.", "Two."]))
    (('question', 'context'), ('claim', 'texts together'))
    """
    left, noun = RELATIONS[relation]
    return left, "texts together" if relation == Relation.TEXT_SUPPORTS and are_several(right) else noun


def certainty(probability: float | None) -> str:
    """How sure a judge was of a yes, if it said so.

    >>> certainty(0.25), certainty(None)
    (' (probability .25)', '')
    """
    if probability is None:
        return ""
    return " (probability " + f"{probability:.2f})".removeprefix("0")


def pairs(found: Iterable[LedgerEntry]) -> str:
    """Each pair in a few lines, under its id."""
    lines: list[str] = []
    for each in found:
        left, right = nouns(each.relation, each.right)
        said = clean(verdict(each.relation, each.value, each.reason)) + certainty(each.probability)
        lines += wrap(f"{said} by {each.judge}", first=f"{each.id}  {each.relation}  ", later="    ")
        claims = [("claim", item) for item in each.items]
        for noun, text in ((left, each.left), (right, each.right), ("quote", each.quote), *claims):
            if text:
                lines += wrap(cut(" ".join(text.split()), 300), first=f"  {noun}: ", later="    ")
        lines.append("")
    return "\n".join(lines)


def judges(found: Sequence[Mapping[str, Any]]) -> str:
    """Who judged how much."""
    columns = [
        Column("judge", cut_apart([each["name"] for each in found], 40)),
        Column("verdicts", [count(each["verdicts"]) for each in found], True),
        Column("unmeasured", [count(each["unmeasured"]) for each in found], True),
    ]
    return "\n".join(table(columns)) + "\n"


def blame(found: Blame, every: bool) -> str:
    """Which half failed, retrieval first, at which point, and which samples did: the first few of them, or all."""
    halves, points = found.halves, found.points
    failed, total = sum(halves.values()), sum(points.values())
    lines = wrap(
        f"{count(failed, 'sample')} of {total:,} failed: {halves['retrieval']:,} by retrieval, "
        f"{halves['generation']:,} by generation."
    )
    columns = [
        Column("point", list(points)),
        Column("samples", [count(each) for each in points.values()], True),
        Column("share", [share(each / total) for each in points.values()], True),
        Column("what happened", [POINT_WORDS[point] for point in points]),
    ]
    lines += ["", *table(columns)]
    samples = [each for each in found.each() if each.half]
    shown = samples if every else samples[:FEW]
    lines += ["", "Samples that failed:"] if shown else []
    for each in shown:
        lost = "; ".join(f"{one.point}: {clean(' '.join(one.claim.split()))}" for one in each.lost)
        lines += wrap(cut(lost, 300), first=f"  {cut(clean(each.sample), 40)}: ", later="    ")
    if len(shown) < len(samples):
        lines.append(f"And {len(samples) - len(shown):,} more; -q lists all.")
    return "\n".join(lines) + "\n"


def unmeasured_text(found: Mapping[str, Mapping[str, str]]) -> str:
    """For each metric the samples without a value, each with its reason; empty if there are none."""
    lines: list[str] = []
    for metric, reasons in found.items():
        if reasons:
            lines += [f"{metric}, unmeasured:"]
            for sample, reason in reasons.items():
                lines += wrap(clean(reason), first=f"  {cut(clean(sample), 40)}: ", later="    ")
    return "\n".join(lines) + "\n" if lines else ""
