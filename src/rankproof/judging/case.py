"""A sample with what was said of it: what metrics look at.

Every look notes the pair, so that running the metrics once over what is not judged yet tells what to ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from rankproof.judging.claims import asked_with, claims_of, held, statements_in
from rankproof.judging.keeping import Said
from rankproof.judging.samples.sample import Context, Sample
from rankproof.judging.verdicts import ABSTAINS, CONTRADICTS, SUPPORTS, Ask, Verdict
from rankproof.text.blocks import together

Maybe = bool | None


def any_of(parts: Iterable[Maybe]) -> Maybe:
    """Yes where one is; no where all are no. Every part is looked at, so that each is asked for."""
    found = list(parts)
    return True if True in found else None if None in found else False


def all_of(parts: Iterable[Maybe]) -> Maybe:
    """No where one is; yes where all are yes."""
    found = list(parts)
    return False if False in found else None if None in found else True


def no(part: Maybe) -> Maybe:
    """The opposite of what is known."""
    return None if part is None else not part


Reading = Literal["apart", "together"]
"""Whether a claim must be in one context, or may be in several taken together."""
SEVERAL = 10
"""So many contexts are taken together at most."""
SILENCE = 0
"""What a text without a letter or a digit is worth under every relation: a rule, no judge is asked."""
YES = 2
"""The grade from which a chunk holds an answer, and an answer addresses its question."""


def blank(text: str | None) -> bool:
    """Whether a text has no letter and no digit, so that it says nothing.

    >>> blank(" \u200b--"), blank("30"), blank(None)
    (True, False, True)
    """
    return not any(map(str.isalnum, text or ""))


@dataclass(slots=True)
class Case:
    """One sample and the verdicts on it. What is not known is None, and stays None in every conclusion."""

    sample: Sample
    said: Mapping[Ask, Said] = field(default_factory=dict)
    k: int | None = None
    """How many of the contexts count; None: all."""
    asked: dict[Ask, None] = field(default_factory=dict)
    """Every pair that was looked at, in order."""
    soft: dict[Ask, Verdict] = field(default_factory=dict)
    """Those of them whose verdict is a probability."""
    independent: bool = False
    """Whether soft verdicts on several contexts fall each apart; else the strongest of them counts."""

    # --- what the sample has -----------------------------------------------------------------

    @property
    def query(self) -> str:
        """The question."""
        return self.sample.query or ""

    @property
    def contexts(self) -> tuple[Context, ...]:
        """The retrieved contexts that count."""
        return (self.sample.contexts or ())[: self.k]

    @property
    def answered(self) -> bool:
        """Whether there are words in the answer."""
        return not blank(self.sample.answer)

    def claims(self, text: str | None) -> tuple[str, ...]:
        """The claims of a text: as the judge split it, held against the text, or else by its sentences."""
        if text is None or blank(text):
            return ()
        question = self.query.strip()
        said = self._said(Ask("C", asked_with(text, question), text))
        return claims_of(text, question) if said is None else held(text, said.items, question)

    @property
    def reference_claims(self) -> tuple[str, ...]:
        """What the reference answer claims."""
        return self.claims(self.sample.reference)

    @property
    def answer_claims(self) -> tuple[str, ...]:
        """What the system's answer claims."""
        return self.claims(self.sample.answer)

    def statements(self, context: Context) -> tuple[str, ...]:
        """The statements of a context; one that has none (a heading, a question) is itself what is shown."""
        return statements_in(context.text) or (context.text,)

    # --- what was said of it -----------------------------------------------------------------

    def grade(self, context: Context) -> int | None:
        """How well a context answers the question, 0 to 3."""
        return self._value("R", self.query, context.text)

    def relevant(self, context: Context, rel: float = YES) -> bool | None:
        """Whether a context answers the question at least so well."""
        grade = self.grade(context)
        return None if grade is None else grade >= rel

    def supports(self, text: str | None, claim: str) -> bool | None:
        """Whether a text supports a claim."""
        value = self._value("S", claim, text or "")
        return None if value is None else value == SUPPORTS

    def part(self, text: str | None, claim: str) -> float | None:
        """How much of a claim a text bears out: 0, a half for a part of it, 1 for all."""
        value = self._value("P", claim, text or "")
        return None if value is None else value / 2

    def support(
        self, claim: str, contexts: Iterable[Context], reading: Reading = "apart"
    ) -> list[bool | None]:
        """Whether each of the contexts supports a claim; read together, then also whether all of them do.

        All of them are a question for when each has been asked about, and none supports the claim alone.
        """
        texts = [each.text for each in contexts]
        alone = [self.supports(text, claim) for text in texts]
        several = sorted(dict.fromkeys(text for text in texts if text.strip()))[:SEVERAL]
        asked = all(self._known("S", claim, text) for text in several)
        if reading == "apart" or len(several) < 2 or True in alone or not asked:
            return alone
        return [*alone, self.supports(together(several), claim)]

    def _known(self, relation: str, left: str, right: str) -> bool:
        return Ask(relation, left, right) in self.said

    def contradicts(self, text: str | None, claim: str) -> bool | None:
        """Whether a text contradicts a claim."""
        value = self._value("S", claim, text or "")
        return None if value is None else value == CONTRADICTS

    def bears(self, statement: str) -> bool | None:
        """Whether a statement bears on the question."""
        value = self._value("Q", self.query, statement)
        return None if value is None else value == 1

    def addressed(self) -> int | None:
        """How far the answer addresses the question, 0 to 3, or that it abstains."""
        return self._value("A", self.query, self.sample.answer or "")

    def abstains(self) -> bool | None:
        """Whether the answer says that it has none."""
        value = self.addressed()
        return None if value is None else value == ABSTAINS

    def _value(self, relation: str, left: str, right: str) -> int | None:
        if blank(left):
            return None  # nothing stands there that could be judged
        if blank(right):
            return SILENCE if right or all(each.recorded for each in self.sample.contexts or ()) else None
        said = self._said(Ask(relation, left, right))
        return None if said is None else said.value

    def _said(self, ask: Ask) -> Verdict | None:
        self.asked[ask] = None
        found = self.said.get(ask)
        if not isinstance(found, Verdict):
            return None
        if found.soft:
            self.soft[ask] = found
        return found
