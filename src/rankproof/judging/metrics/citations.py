"""Citations: whether the sources that an answer names bear it out, and whether it names any."""

from __future__ import annotations

from rankproof.judging.case import Case
from rankproof.judging.logic import any_of
from rankproof.judging.metrics.answer import claims_against
from rankproof.judging.metrics.arithmetic import covered
from rankproof.judging.metrics.registry import metric
from rankproof.judging.metrics.units import Grid, Nothing, share
from rankproof.judging.samples.sample import Context


def _cited(case: Case, name: str) -> list[Context]:
    """The retrieved contexts of that id; a source may come as several chunks."""
    return [each for each in case.sample.contexts or () if each.id == name]


@metric("citation_precision", needs=("contexts", "citations"), score=covered)
def citation_precision(case: Case) -> Grid | Nothing:
    """The share of the citations whose source supports what it is cited for.

    Formula: citations whose context supports the claim / citations. A source that was not retrieved supports nothing.

    Range: 0 to 1.

    Perfect: 1, when every citation holds.

    Worst: 0, when none does.

    Blind to: claims without a citation.

    Use: where answers name their sources, as [1] or by id.
    """
    return [
        [case.supports(each.text, citation.claim) for each in _cited(case, citation.context)]
        for citation in case.sample.citations or ()
    ] or Nothing("no citations in the answer")


@metric("citation_recall", needs=("answer", "contexts", "citations"), score=covered)
def citation_recall(case: Case) -> Grid | Nothing:
    """The share of the answer's claims that a source cited for them supports.

    Formula: answer claims supported by a context cited in the sentence they stand in / answer claims.

    Range: 0 to 1.

    Perfect: 1, when every claim has a citation that holds.

    Worst: 0, when none has.

    Blind to: citations that do not hold beside one that does.

    Use: with citation_precision.
    """
    claims = claims_against(case)
    if isinstance(claims, Nothing):
        return claims
    return share(any_of(_borne_out(case, claim)) for claim in claims)


def _borne_out(case: Case, claim: str) -> list[bool | None]:
    """What each source cited for a claim says of it."""
    cited = [each.context for each in case.sample.citations or () if _same_place(claim, each.claim)]
    return [case.supports(each.text, claim) for name in dict.fromkeys(cited) for each in _cited(case, name)]


def _same_place(claim: str, words: str) -> bool:
    """Whether a claim stands in the words that are cited, or holds them."""
    a, b = (" ".join(text.split()).strip(" .").casefold() for text in (claim, words))
    return a in b or b in a
