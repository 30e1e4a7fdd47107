"""Citations: whether the sources that an answer names bear it out, and whether it names any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from rankproof.core.hits import PerQuery, ratio
from rankproof.judging.case import Case, Reading, any_of
from rankproof.judging.metrics.answer import claims_against
from rankproof.judging.metrics.nuggets import credit
from rankproof.judging.metrics.registry import metric
from rankproof.judging.metrics.units import Grades, Grid, Nothing, covered, share
from rankproof.judging.samples.sample import Citation, Context
from rankproof.text.sentences import sentences


def _cited(case: Case, name: str) -> list[Context]:
    """The retrieved contexts of that id; a source may come as several chunks."""
    return [each for each in case.sample.contexts or () if each.id == name]


@metric(
    "citation_precision",
    needs=("contexts", "citations"),
    score=covered,
    presets={"citation_precision_together": {"contexts": "together"}},
)
def citation_precision(case: Case, contexts: Reading = "apart") -> Grid | Nothing:
    """The share of the citations whose source supports what it is cited for.

    Formula: citations whose context supports the claim / citations. A source that was not retrieved supports nothing.
    `contexts='together'`: sources cited for one claim, none of which supports it alone, all hold if together they do.

    Range: 0 to 1.

    Perfect: 1, when every citation holds.

    Worst: 0, when none does.

    Blind to: claims without a citation.

    Use: where answers name their sources, as [1] or by id.
    """
    return [_holds(case, each, contexts) for each in case.sample.citations or ()] or Nothing(
        "no citations in the answer", lost=True
    )


def _holds(case: Case, citation: Citation, reading: Reading) -> list[bool | None]:
    """What the source of a citation says of the claim; read together, what all sources of that claim say."""
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
    score=covered,
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
    claims = claims_against(case)
    if isinstance(claims, Nothing):
        return claims
    return share(any_of(case.support(claim, _sources_of(case, claim), contexts)) for claim in claims)


def _sources_of(case: Case, claim: str) -> list[Context]:
    return _sources(case, lambda words: _same_place(claim, words))


def _sources(case: Case, fits: Callable[[str], bool]) -> list[Context]:
    """The contexts cited for what fits."""
    cited = dict.fromkeys(each.context for each in case.sample.citations or () if fits(each.claim))
    return [each for name in cited for each in _cited(case, name)]


def _same_place(claim: str, words: str) -> bool:
    """Whether a claim stands in the words that are cited, or holds them."""
    a, b = (" ".join(text.split()).strip(" .").casefold() for text in (claim, words))
    return a in b or b in a


# --- support in three grades, as TREC's RAG track has it -------------------------------------------------


def mean_support(units: Sequence[Grades]) -> PerQuery:
    """The mean of what each citation, or each sentence, is supported."""
    return ratio(
        np.array([sum(each) for each in units], dtype=np.float64),
        np.array([len(each) for each in units], dtype=np.float64),
    )


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
    retrieved. `citations='first'` looks at the first citation of each sentence alone, as the track's assessors did in
    2024. A citation's `support` in the file stands, and is not asked.

    Range: 0 to 1.

    Perfect: 1, when every citation has full support.

    Worst: 0, when none has any.

    Blind to: sentences without a citation.

    Use: with support_recall.

    Reference: N. Thakur et al.: Support evaluation for the TREC 2024 RAG track, 2025.
    """
    found = [
        each for cited in _by_words(case).values() for each in (cited[:1] if citations == "first" else cited)
    ]
    return [_supported(case, each) for each in found] or Nothing("no citations in the answer", lost=True)


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
    cited = (
        [each for words, own in by_words.items() if _same_place(one, words) for each in own] for one in found
    )
    held = [
        credit([_supported(case, each) for each in (own[:1] if citations == "first" else own)])
        for own in cited
    ]
    return held or Nothing("the answer is empty", lost=True)


def _by_words(case: Case) -> dict[str, list[Citation]]:
    """The citations by the words that they are for."""
    found: dict[str, list[Citation]] = {}
    for each in case.sample.citations or ():
        found.setdefault(each.claim, []).append(each)
    return found


def _supported(case: Case, citation: Citation) -> float | None:
    if citation.support is not None:
        return citation.support
    if case.sample.contexts is None:
        return None
    return credit([case.part(each.text, citation.claim) for each in _cited(case, citation.context)])
