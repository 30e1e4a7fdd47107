"""The judge as others use it: its protocol, the other relations, answers that have none."""

from __future__ import annotations

import random
import re
from itertools import product

import pytest

from rankproof.judging.lexical_judge import BOUNDS, lexical_judge, settle
from rankproof.judging.verdicts import ABSTAINS, VALUES, Ask, Judge, Relation, Unmeasured, Verdict
from rankproof.text.refusals import abstains

CHUNK = "Brasília was founded in 1960. It is the capital of Brazil and lies on a plateau."
OTHER = "Lions sleep all day in the savanna, and zebras run from them."
QUESTION = "When was Brasília founded?"
LONG = "Which architect designed the cathedral of Brasília after Kubitschek won the election?"
ASKS = [
    Ask(Relation.CONTEXT_ANSWERS, QUESTION, CHUNK),
    Ask(Relation.CONTEXT_ANSWERS, QUESTION, OTHER),
    Ask(Relation.CONTEXT_ANSWERS, LONG, OTHER),
    Ask(Relation.TEXT_SUPPORTS, "Brasília was founded in 1960.", CHUNK),
    Ask(Relation.TEXT_SUPPORTS, "Brasília was founded in 1961.", CHUNK),
    Ask(Relation.STATEMENT_BEARS, QUESTION, CHUNK),
    Ask(Relation.STATEMENT_BEARS, QUESTION, OTHER),
    Ask(Relation.ANSWER_ADDRESSES, QUESTION, "Brasília was founded in 1960."),
    Ask(Relation.ANSWER_ADDRESSES, QUESTION, "I don't know."),
    Ask(Relation.ANSWER_ADDRESSES, QUESTION, OTHER),
    Ask(Relation.ANSWER_ADDRESSES, LONG, OTHER),
    Ask(Relation.ANSWER_ADDRESSES, QUESTION, "1960"),
    Ask(Relation.TEXT_CLAIMS, "", "It was founded in 1960, and it is large. Is it?"),
]
SAID = [None, None, 0, 1, -1, None, None, 3, ABSTAINS, None, 0, None, None]


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
    assert judge.identity == {"kind": "lexical", "version": 7}


def test_each_group_is_kept_as_soon_as_it_is_settled() -> None:
    kept: list[Verdict | Unmeasured] = []

    def groups():
        yield ASKS[:2]
        assert len(kept) == 2
        yield ASKS[2:]

    lexical_judge().judge(groups(), kept.extend)
    assert len(kept) == len(ASKS)


@pytest.mark.parametrize("relation", sorted(VALUES))
@pytest.mark.parametrize(("left", "right"), [("", ""), ("?", "!"), ("Why?", ""), ("", "Text."), ("\ud83d", "\x00")])
def test_odd_texts_are_settled_or_left_open(relation: str, left: str, right: str) -> None:
    settle(Ask(relation, left, right))


IN_OTHER_WORDS = [
    (
        "get rid of subscription",
        "Go to Profile, Pass, Cancel. Unused days are refunded until the month ends.",
    ),
    ("can my 8 year old ride along", "Yes, a child may sit in the box of a cargo bike with a belt."),
    ("how far can i go on the electric one", "A full battery lasts about 60 kilometres with the motor on."),
    (
        "my package arrived broken, can I send it back",
        "Damaged goods may be returned free of charge for 30 days.",
    ),
    ("如何取消订阅", "请打开个人资料页面,选择会员,然后点击终止按钮即可。"),
]


@pytest.mark.parametrize(("question", "answer"), IN_OTHER_WORDS)
@pytest.mark.parametrize("relation", ["R", "Q", "A"])
def test_an_answer_in_other_words_is_not_denied(relation: str, question: str, answer: str) -> None:
    assert isinstance(settle(Ask(relation, question, answer)), Unmeasured)


def test_a_statement_without_a_word_of_the_question_may_bear_on_it() -> None:
    assert isinstance(settle(Ask(Relation.STATEMENT_BEARS, LONG, OTHER)), Unmeasured)
    empty = settle(Ask(Relation.STATEMENT_BEARS, LONG, "..."))
    assert isinstance(empty, Verdict)
    assert empty.value == 0


REASONS = [
    ("S", "The fee is due on Monday.", "The fee is due. On Monday.", "different sentences"),
    ("S", "Lions sleep.", CHUNK, "other words"),
    ("R", QUESTION, OTHER, "other words"),
    ("A", QUESTION, "Brasília was founded.", "only repeats"),
    ("R", QUESTION, QUESTION, "only repeats"),
    ("R", QUESTION, f"FAQ: {QUESTION}", "only asks"),
    (
        "S",
        "The museum shop in the old town is open on Sundays.",
        "Is the museum shop in the old town open on Sundays? No.",
        "only asks",
    ),
    ("A", LONG, "Lions sleep.", "too short"),
    ("Q", QUESTION, OTHER, "none is low enough for a no"),
    ("Q", QUESTION, QUESTION, "none is high enough for a yes"),
]


@pytest.mark.parametrize(("relation", "left", "right", "said"), REASONS)
def test_what_is_left_open_names_the_rule_that_left_it_open(relation: str, left: str, right: str, said: str) -> None:
    found = settle(Ask(relation, left, right))
    assert isinstance(found, Unmeasured)
    assert said in found.reason


def test_a_probability_that_is_shown_lies_between_the_bounds_that_are_shown() -> None:
    texts = (
        CHUNK,
        OTHER,
        "A trip costs 1 euro to start. Each minute costs 8 cents.",
        "It was founded.",
        "1960",
    )
    questions = (
        QUESTION,
        LONG,
        "what does it cost per minute",
        "Brasília, the capital of Peru, was founded.",
    )
    shown = re.compile(r"probability ([\d.]+);")
    seen = 0
    for relation, question, text in product("RSQA", questions, texts):
        found = settle(Ask(relation, question, text))
        if isinstance(found, Unmeasured) and (told := shown.search(found.reason)):
            assert BOUNDS[relation].no < float(told[1]) < BOUNDS[relation].yes
            seen += 1
    assert seen > 10


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
