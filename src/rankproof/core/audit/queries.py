"""Checks of the ranking: missing queries, unjudged documents, reversed orders."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from rankproof.core.audit import EXAMPLES, Finding, FindingCase, few_examples, kin_of, list_words
from rankproof.core.hits import Array, Hits
from rankproof.core.names import parse
from rankproof.document.numbers import count, none_of, setting
from rankproof.errors import shorten

BEYOND_CHANCE = 4.5
"""A random order reaches this many standard errors once in 300,000 times."""
RARE = 3.7
"""So many it reaches once in 9,000 times. A dozen queries turned round do not reach more."""
CERTAIN = 6.0
"""A random order does not reach this many."""
LONG = 5
"""In shorter lists without rising scores the last document can be the right one for other reasons."""
FEW = 2
"""This many rising rankings may be an accident."""
FAR_BETTER = 1.25
"""A quarter more than what it scores as it stands: less can be a poor ranking rather than a reversed one."""
FAR_BETTER_OF_FEW = 1.5
"""What is asked for where chance is ruled out less surely."""
DEEP = 50
"""A cut-off this deep measures how much a retriever finds at all, which shorter rankings cannot show."""


def upside_down(case: FindingCase) -> Iterator[Finding]:
    """Rankings whose scores rise from the first document on, or that are far better read from their end."""
    if case.conventions.unjudged == "relevant" or not len(case.hits.grade):
        return
    # How many standard errors the relevant documents stand nearer to the end than in an order by chance.
    least = 1 if bool((case.hits.grade >= 1).any()) else np.nextafter(0, 1)
    place, variance = case.hits.by_parts(lambda part: places_from_the_middle(part, least))
    lead = float(place.sum() / math.sqrt(variance.sum())) if variance.sum() > 0 else 0.0
    # Whether scores rise in most rankings, and more often than in any order by chance.
    census, steps = case.census, case.census.rises + case.census.falls
    rising = 2 * census.rising > census.lists  # then there are steps, which lists without documents take away
    rising = rising and census.rises - census.falls > BEYOND_CHANCE * math.sqrt(steps / 3)
    if lead < -BEYOND_CHANCE:
        return
    if not rising and lead <= RARE:
        yield from _both_ways(case)
        return
    there, back = (float(each.mean()) for each in case.hits.by_parts(both_ways_round))
    better = lead > RARE and back > there * (FAR_BETTER if lead > BEYOND_CHANCE else FAR_BETTER_OF_FEW)
    if not rising and not better:
        return
    sure = lead > CERTAIN and float(case.hits.retrieved.mean()) >= LONG
    said = (
        f"In {census.rising:,} of {count(census.lists, 'ranking')} the scores rise from the first document given "
        "to the last, and the last is read as the best."
        if rising
        else FROM_THE_END
    )
    yield turned_round(better and (rising or sure), census.rising if rising else case.hits.n, said, there, back)


FROM_THE_END = "The ranking is better from its end than from its beginning."


def both_ways_round(hits: Hits) -> tuple[Array, Array]:
    """The nDCG of each query as it stands, and read from its end."""
    ndcg = parse("nDCG")
    # The same rankings read from their end.
    rank: Array = hits.retrieved.take(hits.query) + 1 - hits.rank
    turned = replace(hits, rank=rank, first=None, last=None, doubtful=None)
    return ndcg(hits), ndcg(turned.keep(np.lexsort((rank, hits.query))))


def turned_round(error: bool, n: int, said: str, there: float, back: float) -> Finding:
    """The finding for rankings that read better from their end."""
    message = f"{said} Read backwards it reaches nDCG {back:.3f} instead of {there:.3f}."
    advice = "if these are distances (less is better), give them with a minus sign, or give lists of ids, best first."
    return Finding("error" if error else "warning", "upside-down", n, message, (), advice)


def _both_ways(case: FindingCase) -> Iterator[Finding]:
    """Rankings of which some rise from the first document on, more than by chance, and the others do not."""
    census, length = case.census, case.hits.retrieved[case.hits.retrieved > 1]
    if not len(length):
        return
    chances = np.array([1 / math.gamma(each + 1) for each in range(21)])
    chance = census.lists * float(np.mean(chances[np.minimum(length, 20)]))
    if census.rising > chance + BEYOND_CHANCE * math.sqrt(chance) + FEW:
        message = (
            f"In {census.rising:,} of {count(census.lists, 'ranking')} the scores rise from the first document given "
            "to the last, in the others they do not, and the relevant ones stand no nearer to the beginning than to "
            "the end."
        )
        advice = "see whether part of the rankings has distances (less is better), and give those with a minus sign."
        yield Finding("warning", "upside-down", census.rising, message, (), advice)


def places_from_the_middle(hits: Hits, least: float) -> tuple[Array, Array]:
    """For each query how far its relevant documents stand below the middle, and the variance of that by chance."""
    relevant = hits.relevant(least)
    found, length = relevant.count(), hits.retrieved
    place = relevant.sum(relevant.rank - (length.take(relevant.query) + 1) / 2)
    return place, found * (length - found) * (length + 1) / 12


BY_MACHINE = "made by a machine"
"""The message about judgments that a machine made."""


def missing_queries(case: FindingCase) -> Iterator[Finding]:
    """Judged queries that the ranking does not answer."""
    skipped = case.conventions.missing == "skip"
    missing = case.names(~case.answered)
    yield from unanswered_queries(case.judgments.query_ids, missing, case.census.extra_examples, skipped)


UNANSWERED = ("no-common-queries", "missing-queries", "empty-rankings")
"""The findings that count queries without a document."""


def unanswered_queries(
    judged: Sequence[str], missing: Sequence[str], extra: list[str], skipped: bool
) -> Iterator[Finding]:
    """The finding for judged queries without a ranking; `extra` are ranked queries without judgments."""
    if missing and len(missing) == len(judged):
        yield nothing_common("query", len(judged), judged, extra)
    elif missing:
        rest = "left out of the means" if skipped else "each counts 0"
        message = f"{len(missing):,} of {count(len(judged), 'judged query')} without a ranking: {rest}."
        other = "" if skipped else f", or leave them out with {setting('missing', 'skip')}"
        advice = f"run these queries too{other}."
        yield Finding("warning", "missing-queries", len(missing), message, few_examples(missing), advice)


UNGROUPED = "queries-without-group"


def ungrouped_queries(
    queries: Sequence[str], groups: Mapping[str, Array], nouns: tuple[str, str] = ("query", "queries")
) -> Finding | None:
    """The finding for groups that leave out some queries."""
    inside = np.zeros(len(queries), dtype=bool)
    for rows in groups.values():
        inside[rows] = True
    left = np.flatnonzero(~inside)
    if not groups or not len(left):
        return None
    are, they = ("is", "it counts") if len(left) == 1 else ("are", "they count")
    message = (
        f"{len(left):,} of {count(len(queries), *nouns)} {are} in no group, so {they} only in what is said of all."
    )
    advice = "name their group too, if that is not meant."
    examples = few_examples([queries[row] for row in left[:EXAMPLES].tolist()])
    return Finding("note", UNGROUPED, len(left), message, examples, advice)


BEYOND = "groups-without-query"


def beyond_queries(
    queries: Sequence[str], groups: object, nouns: tuple[str, str] = ("query", "queries")
) -> Finding | None:
    """The finding for groups, `{query: group}`, that name queries which are not scored; None for a function."""
    if not isinstance(groups, Mapping):
        return None
    known = set(queries)
    extra = [query for query, group in groups.items() if group is not None and query not in known]
    if not extra:
        return None
    one, many = nouns
    message = f"The groups name {count(len(extra), one, many)} not among the {len(queries):,} scored."
    advice = f"nothing, if they were made for more {many}; else compare the spelling of the ids."
    examples = few_examples([str(query) for query in extra[:EXAMPLES]])
    return Finding("note", BEYOND, len(extra), message, examples, advice)


def nothing_common(noun: str, n: int, judged: Sequence[str], ranked: Sequence[str] | None = None) -> Finding:
    """The finding for two sides that share no query, or no document, of `n` judged ones; the others are examples.

    Nothing `ranked` is an empty ranking; None: unknown.
    """
    many, where = ("queries", "") if noun == "query" else ("documents", " of its query")
    if ranked is not None and not ranked:
        empty = f"The ranking is empty: it has no {noun}."
        return Finding("error", f"no-common-{many}", n, empty, (), "check how it was made.")
    message = f"{none_of(n, f'judged {noun}')} in the ranking{where}."
    advice = f"compare the {noun} ids: the two sides spell them differently, or belong to different collections."
    sides = ((judged, "judged"), (ranked or (), "ranked"))
    examples = tuple(f"{shorten(each)} is {verb}" for ids, verb in sides for each in ids[:2])
    return Finding("error", f"no-common-{many}", n, message, examples, advice)


def extra_queries(case: FindingCase) -> Iterator[Finding]:
    """Queries of the ranking that nobody judged."""
    if case.answered.any():
        yield from unjudged_queries(case.census.extra, case.census.extra_examples)


def unjudged_queries(extra: int, examples: list[str]) -> Iterator[Finding]:
    """The finding for ranked queries without judgments."""
    if extra:
        message = f"{count(extra, 'ranked query is', 'ranked queries are')} not judged, and left out."
        advice = "nothing, if the ranking was made for more queries than were judged; else judge them."
        yield Finding("note", "extra-queries", extra, message, few_examples(examples), advice)


def nothing_found(case: FindingCase) -> Iterator[Finding]:
    """Rankings without a single judged document: the ids of documents do not match."""
    shown = case.hits.retrieved.any() or case.conventions.unjudged == "skip"
    if case.answered.any() and shown and not (case.hits.doc >= 0).any():
        yield nothing_common("document", len(case.judgments.doc_ids), case.judgments.doc_ids)


def duplicates(case: FindingCase) -> Iterator[Finding]:
    """Documents that came twice in one ranking, if the conventions let them."""
    dropped = case.census.dropped
    if dropped:
        kept = "first" if case.conventions.duplicates == "first" else "best scored"
        message = f"{count(dropped, 'document')} came again in the same ranking; of each the {kept} was kept."
        advice = "find out why a document is returned twice; each repeat takes the place of another document."
        yield Finding("warning", "duplicate-documents", dropped, message, (), advice)


def empty_rankings(case: FindingCase) -> Iterator[Finding]:
    """Queries answered with an empty ranking."""
    empty = case.answered & (case.hits.retrieved == 0)
    number = int(empty.sum())
    if number and case.conventions.unjudged != "skip":
        message = f"{count(number, 'query')} got no document at all."
        advice = "look for a filter or an error behind the empty answers."
        yield Finding("warning", "empty-rankings", number, message, few_examples(case.names(empty)), advice)


def constant_scores(case: FindingCase) -> Iterator[Finding]:
    """Rankings in which every document has one score, as far as judged documents tell."""
    hits = case.hits
    flat = flat_rankings(hits)
    if flat.any():
        several = hits.retrieved > 1
        unseen = several & (np.bincount(hits.query, minlength=hits.n) == 0)
        bound = "at least " if unseen.any() else ""
        names = case.names(flat)
        yield all_scores_equal(len(names), int(several.sum()), names, bound)


def flat_rankings(hits: Hits) -> Array:
    """The queries with more than one document, all of one score, as far as judged documents tell."""
    if hits.first is None or hits.last is None:
        return np.zeros(hits.n, dtype=np.bool_)
    whole = (hits.first == 1) & (hits.last == hits.retrieved[hits.query]) & (hits.last > 1)
    return np.bincount(hits.query[whole], minlength=hits.n) > 0


def all_scores_equal(flat: int, n: int, queries: Sequence[str], bound: str = "") -> Finding:
    """The finding for `flat` rankings without an order of their own, among `n` of more than one document.

    `bound` says that there may be more: of a ranking without a judged document nothing is known.
    """
    every = flat == n
    of = count(n, "ranking of", "rankings of")
    where = "every ranking" if every else f"{bound}{flat:,} of {of} more than one document"
    message = f"In {where} all documents have the same score, so their order says nothing about the retriever."
    advice = "keep the retriever's scores, or give the documents as a list in its order."
    return Finding("error" if every else "warning", "constant-scores", flat, message, few_examples(queries), advice)


def read_as(case: FindingCase) -> Iterator[Finding]:
    """Guesses about the input, such as which column is which."""
    notes = tuple(note for note in dict.fromkeys(case.census.notes) if BY_MACHINE not in note)
    if notes:
        message = "; ".join(notes) + "."
        advice = "nothing, if that is what they hold; else rename the columns."
        yield Finding("note", "read-as", len(notes), message, (), advice)


def left_out(case: FindingCase) -> Iterator[Finding]:
    """Files that could not be read: their rows are missing from every number."""
    files = case.census.left_out
    if files:
        message = (
            f"{count(len(files), 'file')} could not be read, so rows are missing from the numbers: "
            f"{'; '.join(each.removesuffix('.') for each in files[:EXAMPLES])}{'; ...' * (len(files) > EXAMPLES)}."
        )
        yield Finding("error", "left-out", len(files), message, (), "copy or write each again.")


def made_by_machine(case: FindingCase) -> Iterator[Finding]:
    """Judgments made by a machine, which readers of the numbers should know."""
    for note in dict.fromkeys(note for note in case.census.notes if BY_MACHINE in note):
        message = f"{note}."
        advice = "'rankproof calibrate' says how far the machine can be trusted."
        yield Finding("warning", "machine-judgments", len(case.judgments.query_ids), message, (), advice)


def judged_by_its_kin(case: FindingCase) -> Iterator[Finding]:
    """Judgments made by the model that made the ranking."""
    machine = case.judgments.machine.removeprefix("machine:")
    if machine:
        yield from kin_of(machine.split("+"), {"the ranking": case.census.made_by})


def ranks_against_scores(case: FindingCase) -> Iterator[Finding]:
    """Rank columns that mostly order documents otherwise than their scores do, as with distances for scores."""
    wrong, of = case.census.ranks_contrary, case.census.ranks
    if wrong and 2 * wrong >= of:
        yield contradicting_ranks(wrong, f"{wrong:,} of {count(of, 'ranking')} looked at")


def contradicting_ranks(number: int, which: str, examples: tuple[str, ...] = ()) -> Finding:
    """The finding for rankings whose rank column is not the order of the scores."""
    message = f"In {which} the rank column puts a document above one with a higher score."
    advice = f"find out which is right: scores decide, unless {setting('ties', 'rank')} is set."
    return Finding("warning", "ranks-against-scores", number, message, examples, advice)


def other_cut_off(case: FindingCase) -> Iterator[Finding]:
    """Measures that look at more or fewer documents than the pipeline uses."""
    used = case.conventions.context_k
    other = [m for m in case.at_k if m.cutoff != used]
    if used is None or not other:
        return
    severity: Literal["note", "warning"] = "note" if len(other) < len(case.at_k) else "warning"
    message = f"The pipeline passes on {count(used, 'document')}, not the cut-off of {list_words(other[:4])}."
    advice = f"ask for {other[0].with_params({'k': used})}, which looks at what the generator sees."
    yield Finding(severity, "other-cut-off", len(other), message, (), advice)


def short_of_cut_off(case: FindingCase) -> Iterator[Finding]:
    """Measures that look further down than any ranking goes."""
    longest = int(case.hits.retrieved.max(initial=0))
    beyond = [m for m in case.at_k if (m.cutoff or 0) > longest]
    if not beyond or not longest or case.conventions.unjudged == "skip":
        return
    deepest = beyond[-1].cutoff or 0
    message = (
        f"No ranking holds more than {count(longest, 'document')}, so {list_words(beyond[:4])} "
        f"{'sees' if len(beyond) == 1 else 'see'} no further."
    )
    advice = f"retrieve {deepest:,} documents, or ask for {beyond[-1].with_params({'k': longest})}."
    yield Finding("warning" if deepest >= DEEP else "note", "short-of-cut-off", len(beyond), message, (), advice)


CHECKS = (
    judged_by_its_kin,
    made_by_machine,
    left_out,
    read_as,
    ranks_against_scores,
    missing_queries,
    extra_queries,
    nothing_found,
    duplicates,
    empty_rankings,
    constant_scores,
    upside_down,
)
