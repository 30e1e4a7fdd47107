"""Each rule fires where its cause was put, and is silent where it was not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rankproof.core.corpus import Corpus
from rankproof.diagnosing.causes import RULES, causes
from rankproof.diagnosing.evidence import Asked, Library

Make = Callable[..., Asked]
PLAIN = "When is money paid back after I cancel the subscription?"


def kinds(asked: Asked) -> set[str]:
    return {each.kind for each in causes(asked)}


def evidence(asked: Asked, kind: str) -> str:
    return next((each.evidence for each in causes(asked) if each.kind == kind), "")


def test_a_query_that_is_served_well_has_no_cause(asked: Make) -> None:
    assert kinds(asked(PLAIN, ["refund", "invoice"])) == set()


def test_never_found(asked: Make) -> None:
    found = asked(PLAIN, ["invoice", "phone"])
    assert kinds(found) == {"never-found"}
    assert "'refund'" in evidence(found, "never-found")
    assert "its only relevant document" in evidence(found, "never-found")


def test_nothing_returned_is_said_so(asked: Make) -> None:
    assert evidence(asked(PLAIN, []), "never-found") == "nothing was returned at all"


def test_found_below_what_is_shown_names_the_rank(asked: Make) -> None:
    found = asked(PLAIN, ["invoice", "phone", "backup", "password", "refund"])
    assert kinds(found) == {"below-k"}
    assert "rank 5, below the first 3" in evidence(found, "below-k")


def test_shown_but_not_on_top(asked: Make) -> None:
    assert "rank 2" in evidence(asked(PLAIN, ["invoice", "refund"]), "not-on-top")


def test_a_lesser_document_above_a_better_one() -> None:
    found = Asked("q", ["a", "b"], {"a": 1, "b": 3}, 5)
    assert evidence(found, "not-on-top") == "documents of lower grade are ranked above better ones"


@pytest.mark.parametrize("grades", [{}, {"a": 0.0}, {"a": 0.0, "b": 0.0}])
def test_no_relevant_document_exists(grades: dict[str, float]) -> None:
    assert kinds(Asked("q", ["a", "b"], grades, 5)) == {"no-relevant"}


def test_a_document_removed_from_the_corpus_is_not_called_missed_by_the_retriever(
    asked: Make, documents: dict[str, str]
) -> None:
    left = {name: text for name, text in documents.items() if name != "refund"}
    found = Asked("q", ["invoice"], {"refund": 1.0}, 3, text=PLAIN, library=Library(Corpus.of(left)))
    assert "not-in-corpus" in kinds(found)
    assert "never-found" not in kinds(found)
    assert "not-in-corpus" not in kinds(asked(PLAIN, ["invoice"]))


def test_a_typo_is_seen_and_the_word_that_was_meant_is_named(asked: Make) -> None:
    found = asked("how do i cancel my subscripton", ["invoice"])
    assert "'subscripton' is not in the corpus, 'subscription' is" in evidence(found, "typo")


@pytest.mark.parametrize("slip", ["pasword", "passwrod", "passwordd", "pazsword", "apssword"])
def test_every_kind_of_slip_is_recognised(asked: Make, slip: str) -> None:
    assert "'password'" in evidence(asked(f"choose a new {slip}", ["phone"], ["password"]), "typo")


@pytest.mark.parametrize(
    "text",
    [PLAIN, "cancelling subscriptions", "two settings pages", "release 2024.4", "xylophone", "the and of"],
)
def test_correct_forms_numbers_and_strange_words_are_no_typos(asked: Make, text: str) -> None:
    assert "typo" not in kinds(asked(text, ["invoice"]))


def test_other_words_than_the_relevant_documents(asked: Make) -> None:
    found = asked("Reimbursement after terminating membership", ["invoice"])
    assert "'reimbursement'" in evidence(found, "vocabulary-gap")
    assert "vocabulary-gap" not in kinds(asked(PLAIN, ["invoice"]))


def test_a_misspelt_question_is_not_blamed_on_the_vocabulary_too(asked: Make) -> None:
    assert "vocabulary-gap" not in kinds(asked("cancle subscripton", ["invoice"]))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("refund", "short"),
        ("money back", "short"),
        (" ".join(["subscription", "money", "cancel", "account", "paid"] * 5), "long"),
        ("What is new in 2024.3?", "number"),
        ("error FH-301", "number"),
        ("invoice of 2024-05-01", "number"),
    ],
)
def test_short_long_and_numbers(asked: Make, text: str, kind: str) -> None:
    assert kind in kinds(asked(text, ["invoice"]))
    assert not {"short", "long", "number"} & kinds(asked(PLAIN, ["invoice"]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("paid on the 5th of May, or 14 juillet 2024?", "'5th of May', '14 juillet 2024'"),
        ("返金は30日以内ですか", "'30'"),
        ("v2.1 and (FH-301)!", "'v2.1', 'FH-301'"),
    ],
)
def test_dates_are_quoted_whole_and_numbers_without_what_stands_around_them(asked: Make, text: str, said: str) -> None:
    assert evidence(asked(text, []), "number") == said


def test_a_number_says_how_many_of_the_documents_shown_have_it(asked: Make) -> None:
    found = asked("new in release 2024.3", ["invoice", "release-2024", "phone"], ["backup"])
    assert "1 of the first 3 documents contain it" in evidence(found, "number")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Wie bekomme ich mein Geld zurück und was muss ich tun?", "German"),
        ("¿Cómo puedo recuperar el dinero de la suscripción?", "Spanish"),
        ("解約したら返金されますか", "Japanese"),
        ("Как вернуть деньги за подписку?", "Russian"),
    ],
)
def test_a_question_in_another_language(asked: Make, text: str, language: str) -> None:
    found = asked(text, ["invoice"])
    assert evidence(found, "wrong-language").startswith(f"the question is in {language}")
    assert "typo" not in kinds(found)


def test_a_question_in_the_language_of_its_answer_is_fine_in_a_corpus_of_another(
    documents: dict[str, str],
) -> None:
    german = "Das Geld wird nicht sofort zurück gezahlt, wenn Sie die Bestellung mit der Karte bezahlt haben."
    library = Library(Corpus.of({**documents, "geld": german}))
    found = Asked("q", ["phone"], {"geld": 1.0}, 3, text="Wann ist mein Geld wieder auf der Karte?", library=library)
    assert "wrong-language" not in kinds(found)


def test_a_copy_above_its_original(documents: dict[str, str]) -> None:
    library = Library(Corpus.of({**documents, "refund-old": documents["refund"]}))
    found = Asked("q", ["refund-old", "refund"], {"refund": 1.0}, 3, text=PLAIN, library=library)
    assert "'refund-old' at rank 1 is a near-copy of 'refund'" in evidence(found, "near-copies")


def test_copies_of_one_another_above_the_relevant_document(documents: dict[str, str]) -> None:
    copies = {f"invoice-{i}": documents["invoice"] for i in range(3)}
    library = Library(Corpus.of({**documents, **copies}))
    found = Asked("q", [*copies, "refund"], {"refund": 1.0}, 3, text=PLAIN, library=library)
    assert "3 of the first 3 are near-copies" in evidence(found, "near-copies")
    apart = Asked("q", ["invoice", "phone", "refund"], {"refund": 1.0}, 3, text=PLAIN, library=library)
    assert "near-copies" not in kinds(apart)


def test_copies_below_the_relevant_document_beat_nothing(documents: dict[str, str]) -> None:
    copies = {f"invoice-{i}": documents["invoice"] for i in range(3)}
    library = Library(Corpus.of({**documents, **copies}))
    found = Asked("q", ["refund", *copies], {"refund": 1.0}, 5, text=PLAIN, library=library)
    assert "near-copies" not in kinds(found)


def test_without_texts_only_rules_about_rankings_speak() -> None:
    found = Asked("q", ["x"], {"a": 1.0}, 3)
    assert set(kinds(found)) <= {"no-relevant", "never-found", "below-k", "not-on-top"}
    assert kinds(found)


def test_every_rule_says_what_helps_and_has_a_name_of_its_own() -> None:
    assert len({rule.kind for rule in RULES}) == len(RULES)
    assert all(rule.title and rule.do for rule in RULES)
