"""Making a test set: `pool`, `draw_questions`, `check_questions`, `split_questions`,
`questions_needed`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from rankproof.bench.testset.checks import check
from rankproof.bench.testset.pool import ORDERS, Pool, pool_rankings
from rankproof.bench.testset.sampling import SOURCES, Question, known_items, split, written_questions
from rankproof.comparing.alignment import possible_ends
from rankproof.core import DEFAULT_MEASURE
from rankproof.core.audit.finding import Audit
from rankproof.core.conventions import FEWEST_TO_DECIDE
from rankproof.core.judgments import Judgments
from rankproof.core.table import best_first
from rankproof.document.model import Document, Result
from rankproof.errors import UsageError, check_whole, is_number, old_arguments, one_of
from rankproof.io.corpora import load_corpus, load_questions
from rankproof.io.inputs import Columns, with_columns
from rankproof.io.load import load_judgments, load_rankings, warn_of_left_out
from rankproof.scoring.evaluate import evaluate, prepare
from rankproof.stats.confidence import queries_for_margin, smallest_margin
from rankproof.stats.detectable_difference import Detection, detectable, needed_or_why
from rankproof.stats.paired import check_alpha, check_power, spread


@old_arguments(rankings="systems")
@with_columns
def pool(
    systems: Any,
    depth: int = 10,
    *,
    order: str = "depth",
    budget: int | None = None,
    judgments: Any = None,
    damaged: str = "error",
    columns: Columns = None,
) -> Pool:
    """The documents to judge: the best `depth` of every ranking, for each query.

    `systems` is `{name: ranking}` or a list of rankings. `order` says which come first: depth, round-robin,
    informative (what the systems disagree on most) or bandit (what finds relevant documents). `budget` is how
    many judgments there may be; every query gets the same share of it. What `judgments` already hold is left
    out, and so are files of a folder that cannot be read with `damaged="skip"`.

    >>> to_judge = pool({"keyword": {"q1": ["a", "b"]}, "dense": {"q1": ["b", "c"]}}, judgments={"q1": {"a": 0}})
    >>> [item.document for item in to_judge]
    ['b', 'c']
    """
    if order not in ORDERS:
        raise one_of("order", order, ORDERS)
    opened = load_rankings(systems, damaged)
    tables = {name: best_first(each.table()) for name, each in opened.items()}
    warn_of_left_out(opened.values())
    made = pool_rankings(tables, depth)
    if judgments is not None:
        judged = load_judgments(judgments)
        scores = {name: evaluate(judged, each, "P@10", duplicates="first") for name, each in opened.items()}
        wrong = tuple(f"{name}: {each}" for name, found in scores.items() for each in found.wrong)
        made = replace(unjudged_pool(made, grades_by_query(judged)), wrong=wrong)
    if len(tables) > 1 and sum(map(len, tables.values())) == len(set().union(*tables.values())):
        apart = (
            "None of the queries is in two of the rankings, so each is pooled from one system alone. "
            "Next: check that they answer the same queries, with ids written the same way."
        )
        made = replace(made, wrong=(*made.wrong, apart))
    return replace(made, order=order, per_query=_share(budget, made))


def unjudged_pool(made: Pool, known: Mapping[str, Mapping[str, int]]) -> Pool:
    """The pool without what is judged already."""
    ranks = {
        query: {doc: each for doc, each in found.items() if doc not in known.get(query, {})}
        for query, found in made.ranks.items()
    }
    return replace(made, ranks={query: found for query, found in ranks.items() if found})


def _share(budget: int | None, made: Pool) -> int | None:
    """How many of a query are judged; what one query does not need is not given to others."""
    if budget is None:
        return None
    queries = len(made.ranks)
    if budget < max(1, queries):
        raise UsageError(
            f"budget: got {budget}, expected at least one judgment for each of the {queries} queries. "
            "Next: raise it, or pool fewer queries."
        )
    return budget // queries if queries else None


def grades_by_query(judgments: Judgments) -> dict[str, dict[str, Any]]:
    """The grade of each judged document by query."""
    found: dict[str, dict[str, Any]] = {}
    for place, query in enumerate(judgments.query_ids):
        rows = range(judgments.start[place], judgments.start[place + 1])
        found[query] = {judgments.doc_ids[row]: judgments.grade[row] for row in rows}
    return found


def draw_questions(
    corpus: Any,
    n: int | None = None,
    *,
    ask: Callable[..., Any] | None = None,
    sources: Iterable[str] = tuple(SOURCES),
    seed: int = 0,
) -> list[Question]:
    """Questions whose answer is known, drawn from a corpus.

    Without `ask` they are known items: a few telling words of a title, a heading or the rarest sentence, that
    point to one document and repeat no phrase of it. `ask(document)` returns questions of its own: a text, a
    list of texts, or None to pass the document over.

    >>> from rankproof import sample
    >>> drawn = draw_questions(sample.corpus(), 2)
    >>> [(each.document in sample.corpus(), len(each.text.split()) <= 5) for each in drawn]
    [(True, True), (True, True)]
    """
    if n is not None:
        n = check_whole("n", n, advice="ask for 1 or more")
    check_whole("seed", seed, 0)
    wanted = list(sources)
    for each in wanted or [""]:
        if each not in SOURCES:
            raise one_of("sources", each, SOURCES)
    documents = load_corpus(corpus)
    if ask is not None:
        return list(written_questions(documents, ask, n, seed=seed))
    return list(known_items(documents, n, sources=wanted, seed=seed))


@old_arguments(rankings="systems", questions="queries")
@with_columns
def check_questions(
    queries: Any, judgments: Any, *, corpus: Any = None, systems: Any = None, columns: Columns = None
) -> Audit:
    """What is wrong or odd about a test set, the most serious first.

    Questions asked twice, or nearly; without a relevant document; with their answer not in the corpus; copied
    from their answer (with `corpus`); answered first by every ranking (with `systems`).

    >>> found = check_questions({"a": "Is it free?", "b": "is it free"}, {"a": ["d1"], "b": ["d1"]})
    >>> [each.kind for each in found]
    ['duplicate-questions']
    """
    opened = None if systems is None else load_rankings(systems).items()
    found = None if opened is None else {name: best_first(each.table()) for name, each in opened}
    documents = None if corpus is None else load_corpus(corpus)
    return check(load_questions(queries), grades_by_query(load_judgments(judgments)), documents, found)


@old_arguments(questions="queries")
def split_questions(
    queries: Any, shares: Mapping[str, float], *, kinds: Mapping[str, str] | None = None, seed: int = 0
) -> dict[str, list[str]]:
    """The ids of the questions in parts, like `{"tune": 0.5, "test": 0.5}`; each kind has the same share in all parts.

    >>> from rankproof import sample
    >>> parts = split_questions(sample.queries(), {"tune": 0.25, "test": 0.75}, kinds=sample.kinds())
    >>> len(parts["tune"]), len(parts["test"])
    (15, 45)
    """
    return split(load_questions(queries), shares, kinds, check_whole("seed", seed, 0))


@dataclass(frozen=True, slots=True)
class QuestionPlan(Result):
    """How many questions a wanted difference needs, and what that follows from."""

    measure: str
    difference: float
    spread: float | None
    """The standard deviation of the differences from question to question; None of fewer than two."""
    have: int
    needed: int | None
    """None if no number of questions shows it."""
    detectable: float | None
    """The smallest difference that the present questions show."""
    power: float
    alpha: float
    smallest_margin: float | None = None
    """The smallest margin of a gate that the present questions can pass if nothing changes."""
    queries_for_margin: int | None = None
    """How many questions without a loss a gate takes to pass with the difference as its margin."""
    wrong: tuple[str, ...] = ()
    """What makes the numbers of these two rankings wrong, as the audit says it."""
    needed_note: str = ""
    """Why no number of questions can be named, if none can."""
    detectable_note: str = ""
    """Why no difference can be named that the present questions show, if none can."""

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain data."""
        return {**asdict(self), "wrong": list(self.wrong)}

    def _document(self) -> Document:
        from rankproof.bench.words import question_plan as words

        return words(self)

    def _in_one_line(self) -> str:
        needed = "no number of" if self.needed is None else f"{self.needed:,}"
        return f"<QuestionPlan: {needed} questions for {self.difference:g} in {self.measure}, {self.have:,} there>"


@with_columns
def questions_needed(
    judgments: Any,
    baseline: Any,
    candidate: Any,
    measure: str = DEFAULT_MEASURE,
    difference: float = 0.02,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    columns: Columns = None,
) -> QuestionPlan:
    """How many questions are needed to show a difference of that size between rankings like these two.

    >>> from rankproof import sample
    >>> runs = sample.rankings()
    >>> plan = questions_needed(sample.judgments(), runs["keyword"], runs["dense"], difference=0.05)
    >>> plan.have, plan.needed > plan.have
    (60, True)
    """
    if not is_number(difference) or not math.isfinite(difference) or not difference:
        raise UsageError(
            f"difference: got {difference}, expected the smallest difference that matters. Next: give one, like 0.02."
        )
    judged = prepare(judgments)
    first, second = (evaluate(judged, each, measure) for each in (baseline, candidate))
    mine, theirs = first.values(measure), second.values(measure)
    check_alpha(alpha)
    check_power(power, alpha)
    ends = possible_ends(first, second, measure)
    far = max(-ends[0], np.finfo(float).tiny)
    moves = np.array([theirs[query] - mine[query] for query in mine if query in theirs])
    needed, unknown = needed_or_why(moves, difference, alpha, power=power, ends=ends) if len(moves) else (None, "")
    seen = detectable(moves, alpha, power=power, ends=ends) if len(moves) else Detection(None)
    return QuestionPlan(
        measure,
        difference,
        spread(moves),
        len(mine),
        needed and max(needed, FEWEST_TO_DECIDE),
        seen.value,
        power,
        alpha,
        smallest_margin(len(mine), alpha, far),
        queries_for_margin(abs(difference), alpha, far),
        tuple(
            f"{name}: {each}" for name, found in (("baseline", first), ("candidate", second)) for each in found.wrong
        ),
        needed_note=unknown,
        detectable_note=seen.note,
    )
