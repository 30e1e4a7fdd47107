"""Sentences and claims in six languages, against cases written by hand: see the folder `cases`."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankproof.text.claims import claims
from rankproof.text.sentences import sentences

CASES = Path(__file__).with_name("cases")
LANGUAGES = ("en", "de", "zh", "ja", "ar", "hi")
SENTENCE_FLOOR, CLAIM_FLOOR = 0.95, 0.9


def lines(name: str) -> list[str]:
    return (CASES / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def parts(written: str) -> list[str]:
    return [part.strip() for part in written.split("‖") if part.strip()]


@pytest.mark.parametrize("language", LANGUAGES)
def test_sentences_end_where_people_end_them(language: str) -> None:
    cases = lines(f"sentences-{language}")
    assert len(cases) >= 40
    wrong = []
    for case in cases:
        text = case.replace("‖", "")
        found = [span.of(text) for span in sentences(text)]
        if found != parts(case):
            wrong.append(found)
    assert len(wrong) <= (1 - SENTENCE_FLOOR) * len(cases), wrong


@pytest.mark.parametrize("language", LANGUAGES)
def test_claims_are_what_people_take_for_claims(language: str) -> None:
    cases = lines(f"claims-{language}")
    assert len(cases) >= 40
    wrong = []
    for case in cases:
        text, _, wanted = case.partition(" →")
        found = [span.of(text) for span in claims(text)]
        if found != parts(wanted):
            wrong.append(found)
    assert len(wrong) <= (1 - CLAIM_FLOOR) * len(cases), wrong


@pytest.mark.parametrize("language", LANGUAGES)
def test_neighbouring_cases_do_not_run_into_each_other(language: str) -> None:
    cases = [case.replace("‖", "") for case in lines(f"sentences-{language}")]
    whole = "\n\n".join(cases)
    alone = [span.of(case) for case in cases for span in sentences(case)]
    assert [span.of(whole) for span in sentences(whole)] == alone
