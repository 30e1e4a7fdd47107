"""Citations and nuggets: whether sources support an answer, and which facts it has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

import numpy as np

from rankproof.core.arrays import by_key
from rankproof.core.hits import PerQuery, ratio
from rankproof.core.measure import Cutoff
from rankproof.judging.case import Case, Maybe, Reading, any_of
from rankproof.judging.metrics.answer import of_claims
from rankproof.judging.metrics.registry import Grades, Grid, Nothing, metric, row_coverage
from rankproof.judging.samples.sample import Citation, Context, Nugget
from rankproof.text.sentences import sentences

T = TypeVar("T")
UNCITED = Nothing("no citations in the answer", lost=True)
OKAY = 0.5
"""The weight of an okay nugget, with 1 for a vital one, in the weighted recall."""


def weighted_share(units: Sequence[tuple[Grid, Grid]]) -> PerQuery:
    """Vital and okay nuggets covered, by weight, over all of them, by weight."""
    return credited_share([(list(map(any, vital)), list(map(any, okay))) for vital, okay in units])


@metric(
    "nugget_recall",
    needs=("contexts",),
    score=weighted_share,
    presets={"vital_recall": {"of": "vital"}, "weighted_nugget_recall": {"of": "weighted"}},
)
def nugget_recall(
    case: Case,
    k: Cutoff = None,
    of: Literal["all", "vital", "weighted"] = "all",
    by: Literal["contexts", "answer"] = "contexts",
) -> tuple[Grid, Grid] | Nothing:
    """The share of the nuggets of a good answer that the retrieved contexts hold.

    Formula: nuggets supported by a context in the top k / nuggets. `of='vital'` counts vital ones alone,
        `of='weighted'` counts okay ones half; `by='answer'` asks the answer instead of the contexts. Where a sample has
        no nuggets, the claims of its reference are vital ones.
    Range: 0 to 1.
    Perfect: 1, when every nugget is there.
    Worst: 0, when none is.
    Blind to: everything that is no nugget.
    Use: where people have said which facts matter; recall of what matters, not of what happens to be written.
    Reference: E. M. Voorhees: Overview of the TREC 2003 question answering track.
    """
    texts = [case.sample.answer or ""] if by == "answer" else [each.text for each in case.contexts[:k]]
    nuggets = case.sample.nuggets
    if nuggets is None:
        nuggets = tuple(map(Nugget, case.reference_claims))
    found = _vital_and_okay(nuggets, of, lambda each: [case.supports(text, each.text) for text in texts])
    return found if any(found) else Nothing("no nuggets, and no claims in the reference")


def _vital_and_okay(nuggets: Sequence[Nugget], of: str, units_of: Callable[[Nugget], T]) -> tuple[list[T], list[T]]:
    """What is counted of vital and of okay nuggets, each for itself; if all count alike, they stand together."""
    vital, okay = ([units_of(each) for each in nuggets if each.vital == kind] for kind in (True, False))
    return (vital + okay, []) if of == "all" else (vital, [] if of == "vital" else okay)


def credited_share(units: Sequence[tuple[Grades, Grades]]) -> PerQuery:
    """The weighted scores of vital and okay nuggets, divided by their weights."""
    vital, okay = (np.array([sum(each[i]) for each in units], dtype=np.float64) for i in (0, 1))
    sizes = [np.array([len(each[i]) for each in units], dtype=np.float64) for i in (0, 1)]
    return ratio(vital + OKAY * okay, sizes[0] + OKAY * sizes[1])


@metric(
    "nugget_score",
    needs=("nuggets",),
    score=credited_share,
    choices=(0.0, 0.5, 1.0),
    presets={
        "all_score": {},
        "vital_score": {"of": "vital"},
        "weighted_score": {"of": "weighted"},
        "strict_all_score": {"partial": "none"},
        "strict_vital_score": {"of": "vital", "partial": "none"},
        "strict_weighted_score": {"of": "weighted", "partial": "none"},
    },
)
def nugget_score(
    case: Case,
    k: Cutoff = None,
    of: Literal["all", "vital", "weighted"] = "all",
    partial: Literal["half", "none"] = "half",
    by: Literal["answer", "contexts"] = "answer",
) -> tuple[Grades, Grades] | Nothing:
    """The nuggets that the answer has, one of which it has a part counting half: AutoNuggetizer's scores.

    Formula: sum of s / nuggets, with s = 1 for support, .5 for partial support, 0 for none; `partial='none'` counts
        partial support as none (the strict scores). `of='vital'` counts vital nuggets alone; `of='weighted'` okay ones
        half: (sum of s over vital + sum of s over okay / 2) / (vital + okay / 2). `by='contexts'` asks the contexts in
        the top k instead, of which the best counts. A nugget's `assignment` in the file stands, and is not asked.
    Range: 0 to 1.
    Perfect: 1, when the answer has every nugget in full.
    Worst: 0, when it has none.
    Blind to: what the answer says beyond the nuggets, right or wrong; and how it says it.
    Use: with nuggets that people or a model curated; all six published scores come from the same verdicts.
    Reference: R. Pradeep et al.: Initial nugget evaluation results for the TREC 2024 RAG track with the AutoNuggetizer
        framework, 2024.
    """
    nuggets = case.sample.nuggets or ()
    if by == "answer" and case.sample.answer is None and any(each.support is None for each in nuggets):
        return Nothing("no answer")
    if by == "contexts" and case.sample.contexts is None:
        return Nothing("no contexts")
    texts = [case.sample.answer] if by == "answer" else [each.text for each in case.contexts[:k]]

    def credited(nugget: Nugget) -> float | None:
        known = nugget.support is not None and by == "answer"
        parts = [nugget.support] if known else [case.part(text, nugget.text) for text in texts]
        return credit(parts, strict=partial == "none")

    found = _vital_and_okay(nuggets, of, credited)
    return found if any(found) else Nothing(f"no {'vital ' if of == 'vital' else ''}nuggets")


def credit(parts: Sequence[float | None], strict: bool = False) -> float | None:
    """The best of several supports; in strict mode partial support counts as none."""
    best = max((each for each in parts if each is not None), default=0.0)
    if best < 1 and None in parts:
        return None
    return float(best == 1) if strict else best


def _cited(case: Case, name: str) -> list[Context]:
    """The retrieved contexts of that id; a source may come as several chunks."""
    return [each for each in case.sample.contexts or () if each.id == name]


@metric(
    "citation_precision",
    needs=("contexts", "citations"),
    score=row_coverage,
    presets={"citation_precision_together": {"contexts": "together"}},
)
def citation_precision(case: Case, contexts: Reading = "apart") -> Grid | Nothing:
    """The share of the citations whose source supports what it is cited for.

    Formula: citations whose context supports the claim / citations. A source that was not retrieved supports nothing.
        `contexts='together'`: sources cited for one claim, none of which supports it alone, all hold if together they
        do.
    Range: 0 to 1.
    Perfect: 1, when every citation holds.
    Worst: 0, when none does.
    Blind to: claims without a citation.
    Use: where answers name their sources, as [1] or by id.
    """
    return [_holds(case, each, contexts) for each in case.sample.citations or ()] or UNCITED


def _holds(case: Case, citation: Citation, reading: Reading) -> list[bool | None]:
    """The support of the claim by the source of a citation; read together, by all sources of that claim."""
    own = _cited(case, citation.context)
    alone = [case.supports(each.text, citation.claim) for each in own]
    if reading == "apart" or not own:
        return alone
    every = _sources(case, lambda words: words == citation.claim)
    found = case.support(citation.claim, every, reading)
    return [*alone, found[-1]] if len(found) > len(every) else alone


@metric(
    "citation_recall",
    needs=("answer", "contexts", "citations"),
    score=row_coverage,
    presets={"citation_recall_together": {"contexts": "together"}},
)
def citation_recall(case: Case, contexts: Reading = "apart") -> Grid | Nothing:
    """The share of the answer's claims that a source cited for them supports.

    Formula: answer claims supported by a context cited in the sentence they stand in / answer claims;
        `contexts='together'`: or by all that are cited there as one text.
    Range: 0 to 1.
    Perfect: 1, when every claim has a citation that holds.
    Worst: 0, when none has.
    Blind to: citations that do not hold beside one that does.
    Use: with citation_precision.
    """

    def cited(claim: str) -> Maybe:
        sources = _sources(case, lambda words: _same_place(claim, words))
        return any_of(case.support(claim, sources, contexts))

    return of_claims(case, cited)


def _sources(case: Case, fits: Callable[[str], bool]) -> list[Context]:
    cited = dict.fromkeys(each.context for each in case.sample.citations or () if fits(each.claim))
    return [each for name in cited for each in _cited(case, name)]


def _same_place(claim: str, words: str) -> bool:
    """Whether a claim is in the cited words, or contains them."""
    a, b = (" ".join(text.split()).strip(" .").casefold() for text in (claim, words))
    return a in b or b in a


def mean_support(units: Sequence[Grades]) -> PerQuery:
    """The mean of what each citation, or each sentence, is supported."""
    return credited_share([(each, []) for each in units])


@metric(
    "support_precision",
    needs=("answer", "citations"),
    score=mean_support,
    choices=(0.0, 0.5, 1.0),
    presets={"support_precision_of_first": {"citations": "first"}},
)
def support_precision(case: Case, citations: Literal["all", "first"] = "all") -> Grades | Nothing:
    """How far the citations bear out what they are cited for: weighted precision of TREC's RAG track.

    Formula: sum of w / citations, with w = 1 for full support, .5 for partial, 0 for none or a source that was not
        retrieved. `citations='first'` looks at the first citation of each sentence alone, as the track's assessors did
        in 2024. A citation's `support` in the file stands, and is not asked.
    Range: 0 to 1.
    Perfect: 1, when every citation has full support.
    Worst: 0, when none has any.
    Blind to: sentences without a citation.
    Use: with support_recall.
    Reference: N. Thakur et al.: Support evaluation for the TREC 2024 RAG track, 2025.
    """
    found = [each for cited in _by_words(case).values() for each in (cited[:1] if citations == "first" else cited)]
    return [_supported(case, each) for each in found] or UNCITED


@metric(
    "support_recall",
    needs=("answer", "citations"),
    score=mean_support,
    choices=(0.0, 0.5, 1.0),
    presets={"support_recall_of_first": {"citations": "first"}},
)
def support_recall(case: Case, citations: Literal["all", "first"] = "all") -> Grades | Nothing:
    """How far the sentences of the answer are borne out by what they cite: weighted recall of TREC's RAG track.

    Formula: sum of w / sentences, with w that of the best citation of the sentence (with `citations='first'` of its
        first): 1 for full support, .5 for partial, 0 for none or a sentence without a citation.
    Range: 0 to 1.
    Perfect: 1, when every sentence has a citation with full support.
    Worst: 0, when none has any.
    Blind to: citations that do not hold beside one that does.
    Use: with support_precision.
    Reference: N. Thakur et al.: Support evaluation for the TREC 2024 RAG track, 2025.
    """
    answer = case.sample.answer or ""
    by_words = _by_words(case)
    found = [span.of(answer) for span in sentences(answer) if any(map(str.isalnum, span.of(answer)))]
    cited = ([each for words, own in by_words.items() if _same_place(one, words) for each in own] for one in found)
    held = [credit([_supported(case, each) for each in (own[:1] if citations == "first" else own)]) for own in cited]
    return held or Nothing("the answer has no words", lost=True)


def _by_words(case: Case) -> dict[str, list[Citation]]:
    return by_key((each.claim, each) for each in case.sample.citations or ())


def _supported(case: Case, citation: Citation) -> float | None:
    if citation.support is not None:
        return citation.support
    if case.sample.contexts is None:
        return None
    return credit([case.part(each.text, citation.claim) for each in _cited(case, citation.context)])
