"""The judge as others use it: its protocol, the other relations, answers that have none."""

from __future__ import annotations

import random

import pytest

from rankproof.judging.lexical.abstention import abstains
from rankproof.judging.lexical.judge import lexical_judge
from rankproof.judging.lexical.relations import settle
from rankproof.judging.verdicts import ABSTAINS, VALUES, Ask, Judge, Unmeasured, Verdict

CHUNK = "Brasília was founded in 1960. It is the capital of Brazil and lies on a plateau."
OTHER = "Lions sleep all day in the savanna, and zebras run from them."
QUESTION = "When was Brasília founded?"
ASKS = [
    Ask("R", QUESTION, CHUNK),
    Ask("R", QUESTION, OTHER),
    Ask("S", "Brasília was founded in 1960.", CHUNK),
    Ask("S", "Brasília was founded in 1961.", CHUNK),
    Ask("Q", QUESTION, CHUNK),
    Ask("Q", QUESTION, OTHER),
    Ask("A", QUESTION, "Brasília was founded in 1960."),
    Ask("A", QUESTION, "I don't know."),
    Ask("A", QUESTION, OTHER),
    Ask("A", QUESTION, "1960"),
    Ask("C", "", "It was founded in 1960, and it is large. Is it?"),
]
SAID = [2, 0, 1, -1, 1, 0, 3, ABSTAINS, 0, None, None]


def judged(*groups: list[Ask]) -> list[Verdict | Unmeasured]:
    kept: list[Verdict | Unmeasured] = []
    lexical_judge().judge(groups, kept.extend)
    return kept


def test_each_relation() -> None:
    settled = judged(ASKS)
    assert [found.ask for found in settled] == ASKS
    assert [found.value if isinstance(found, Verdict) else None for found in settled] == SAID
    claims = settled[-1]
    assert isinstance(claims, Verdict)
    assert claims.items == ("It was founded in 1960", "it is large.")


def test_verdicts_are_of_their_relation_and_name_their_judge() -> None:
    for found in judged(ASKS):
        if isinstance(found, Unmeasured):
            assert found.reason
            continue
        assert found.judge == "lexical"
        assert found.value is None or found.value in VALUES[found.ask.relation]
        assert found.probability is None or 0 <= found.probability <= 1
        assert found.quote in found.ask.right


def test_a_verdict_does_not_depend_on_what_stands_beside_it() -> None:
    alone = {ask: judged([ask])[0] for ask in ASKS}
    mixed = random.Random(1).sample(ASKS, len(ASKS))
    assert {found.ask: found for found in judged(mixed[:4], mixed[4:])} == alone


def test_it_is_a_judge_that_costs_nothing() -> None:
    judge: Judge = lexical_judge()
    account = judge.judge([ASKS], lambda settled: None)
    assert (account.calls, account.prompt_tokens, account.money) == (0, 0, None)
    assert judge.name == "lexical"
    assert judge.identity == {"kind": "lexical", "version": 1}


def test_each_group_is_kept_as_soon_as_it_is_settled() -> None:
    kept: list[Verdict | Unmeasured] = []

    def groups():
        yield ASKS[:2]
        assert len(kept) == 2
        yield ASKS[2:]

    lexical_judge().judge(groups(), kept.extend)
    assert len(kept) == len(ASKS)


@pytest.mark.parametrize("relation", sorted(VALUES))
@pytest.mark.parametrize(
    ("left", "right"), [("", ""), ("?", "!"), ("Why?", ""), ("", "Text."), ("\ud83d", "\x00")]
)
def test_odd_texts_are_settled_or_left_open(relation: str, left: str, right: str) -> None:
    settle(Ask(relation, left, right))


ABSTENTIONS = [
    "I don't know.",
    "I do not know the answer to that.",
    "I’m not sure.",
    "I cannot answer this question based on the context.",
    "The context does not mention the price.",
    "The provided documents don't contain this information.",
    "There is no information about refunds in the given text.",
    "Not enough information is available to answer.",
    "This cannot be determined from the passage.",
    "Unanswerable",
    "N/A",
    "Sorry, I can't help with that.",
    "Das weiß ich leider nicht.",
    "Ich weiß es nicht.",
    "Die Frage kann ich anhand der Texte nicht beantworten.",
    "Je ne sais pas.",
    "No lo sé.",
    "Non lo so.",
    "Não sei.",
    "Ik weet het niet.",
    "Я не знаю.",
    "لا أعرف.",
    "मुझे नहीं पता।",
    "我不知道。",
    "根据提供的资料无法回答。",
    "わかりません。",
    "その情報は見つかりませんでした。",
    "모르겠습니다.",
]
ANSWERS = [
    "Brasília was founded in 1960.",
    "Nobody knows the trouble I've seen is a song.",
    "The rule does not apply to members.",
    "No fee is due.",
    "It is not available in Germany.",
    "Das Museum ist montags nicht geöffnet.",
    "Il ne pleut pas.",
    "他不是医生。",
    "雨は降らない。",
    "लोग नहीं आए।",
    "",
]


@pytest.mark.parametrize("answer", ABSTENTIONS)
def test_answers_that_have_none(answer: str) -> None:
    assert abstains(answer)


@pytest.mark.parametrize("answer", ANSWERS)
def test_answers_that_have_one(answer: str) -> None:
    assert not abstains(answer)


def test_a_long_answer_that_begins_with_a_doubt_is_an_answer() -> None:
    assert not abstains("I don't know all of it. " + "Brasília was founded in 1960 by Kubitschek. " * 10)
