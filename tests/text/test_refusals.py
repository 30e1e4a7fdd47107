"""How far "I don't know" can be told by words: precision and recall on a labelled list, by language."""

from __future__ import annotations

import time
from pathlib import Path

from rankproof.text.refusals import HINTS, PATTERNS, refuses

LISTS = {
    name: [
        line.split("\t") for line in (Path(__file__).parent / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    ]
    for name in ("refusals", "refusals_fresh", "refusals_held_out")
}
"""The patterns were written by the first list. The others were written afterwards, measured as they were, and then
mended: what the docs say of sentences that nobody looked at is from before that."""


def test_precision_and_recall_are_as_the_docs_say() -> None:
    lines = [line for each in LISTS.values() for line in each]
    for language in PATTERNS:
        own = [(label == "1", refuses(text), text) for label, name, text in lines if name == language]
        assert [text for refused, told, text in own if told and not refused] == []
        assert [text for refused, told, text in own if refused and not told] == []
        assert sum(refused for refused, _, _ in own) >= 10
        assert sum(not refused for refused, _, _ in own) >= 10
    assert {language for _, language, _ in lines} == set(PATTERNS) == set(HINTS)


def test_what_follows_an_answer_is_no_refusal() -> None:
    answer = "The deadline is 30 days. It begins with the delivery. I don't know more."
    assert not refuses(answer)
    assert refuses("Hello! I don't know.")
    assert not refuses("")


def test_long_answers_take_no_longer() -> None:
    began = time.process_time()
    for text in ("not " * 100_000, "i " * 50_000 + "don't", "no" * 100_000, "，" * 100_000):
        assert not refuses(text)
    assert time.process_time() - began < 5  # a pattern that backtracks would take minutes


SAYING_NOTHING = """
We don't have that information.|I honestly don't know.|I can't say.|We are unable to say.|I am not aware of that.|i dont know
There is not enough evidence to answer this question.|I have no evidence for that in the documents.|I can not answer that.
We did not find any entry for that.|I didn't find any article that answers this.|No answer found.|I couldn't say.|I've no information on that.
The passage does not have the answer.|The source did not say.|It cannot be found.|Cannot be determined from the context.|N/A
The documents don’t contain that information.|I’m unsure.|No details are given about the price.|unknown|Not mentioned.|no idea
The context doesn't discuss it.|This was not specified by the document.|The question cannot be answered.|Sorry, but we can't say.
Keine Antwort.|Nicht genügend Informationen.|Das geht aus den Unterlagen nicht hervor.|Il n'y a pas assez d'information.
No se menciona.|El texto no especifica el precio.|No sabemos.|Non è menzionato.|Não é mencionado.|Geen antwoord.
Daar is geen informatie over.|Недостаточно информации.|Это не указано.|В тексте это не упоминается.|文中没有提到。|我不清楚。
わからない。|知りません。|答えられません。|情報が不足しています。
"""
SAYING_SOMETHING = """
We did not see any decline in sales.|It cannot be found in stores before May.|There is no evidence that smoking helps.|None of them pays.
Unknown callers are blocked.|I can't recommend it enough.|Sorry, we are closed on Mondays.|The contract does not include support.
Es gibt keine Antwortpflicht.|No answer is needed to confirm.|The documents do not have to be translated.|We have no parking.
"""


def test_short_ones_of_all_kinds() -> None:
    assert [each for each in SAYING_NOTHING.strip().replace("\n", "|").split("|") if not refuses(each)] == []
    assert [each for each in SAYING_SOMETHING.strip().replace("\n", "|").split("|") if refuses(each)] == []


CITED = """
The message "I don't know" means that the assistant found nothing.|You can answer I don't know in the survey.
I don't know of any faster way than the settings page: open Settings, then Reset.|Choose “I'm not sure” if you are in doubt.
The reply 'I do not know' is logged as a refusal.|When users say I don't know, the survey ends.
Die Meldung „Ich weiß nicht“ bedeutet, dass nichts gefunden wurde.|«No lo sé» significa que no se encontró nada.
“我不知道”是一个常用的回答。|Select "No information available" in the list.
"""
MEANT = """
"I don't know."|“I don't know.”|I don't know of any such rule.|I don't know what "Reset" means.|The answer is: "I don't know."
The documents do not contain information about "refunds".|I don't know of any information about that.|«Non lo so»
"""


def test_a_refusal_that_is_quoted_or_said_by_others_is_none() -> None:
    assert [each for each in CITED.strip().replace("\n", "|").split("|") if refuses(each)] == []
    assert [each for each in MEANT.strip().replace("\n", "|").split("|") if not refuses(each)] == []
