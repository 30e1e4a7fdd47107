"""The sample is what it says it is: every id resolves, every kind of question is there, grades make sense."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter

import pytest

from rankproof import sample

KINDS = {"easy", "typo", "paraphrase", "multi-document", "no answer"}


def test_sizes_are_as_promised():
    assert len(sample.corpus()) >= 140
    assert len(sample.queries()) == 60
    assert len({document["topic"] for document in sample.corpus().values()}) >= 8


def test_every_document_has_a_title_a_text_and_the_topic_its_id_begins_with():
    for name, document in sample.corpus().items():
        assert set(document) == {"title", "text", "topic"}
        assert name.startswith(f"{document['topic']}-")
        assert document["title"].strip() == document["title"] != ""


def test_documents_are_short_enough_to_read():
    for name, document in sample.corpus().items():
        sentences = re.split(r"(?<=[.?!])\s+(?=[A-Z\"“])", document["text"])
        assert 2 <= len(sentences) <= 7, name
        assert len(document["text"].split()) <= 110, name


@pytest.mark.parametrize("field", ["title", "text"])
def test_no_two_documents_are_the_same(field):
    repeated = Counter(document[field].casefold() for document in sample.corpus().values())
    assert [text for text, times in repeated.items() if times > 1] == []


@pytest.mark.parametrize("name", ["documents.jsonl", "queries.jsonl"])
def test_no_id_is_given_twice(name):
    lines = (sample.folder() / name).read_text(encoding="utf-8").splitlines()
    assert Counter(json.loads(line)["_id"] for line in lines).most_common(1)[0][1] == 1


def test_no_document_is_judged_twice_for_a_question():
    lines = (sample.folder() / "judgments.tsv").read_text(encoding="utf-8").splitlines()[1:]
    assert len(lines) == sum(len(graded) for graded in sample.judgments().values())


def test_no_two_questions_are_the_same():
    assert len(set(sample.queries().values())) == len(sample.queries())


def test_every_kind_of_question_is_there_five_times_or_more():
    counted = Counter(sample.kinds().values())
    assert set(counted) == KINDS
    assert min(counted.values()) >= 5


def test_every_question_has_a_kind_and_judgments():
    assert list(sample.kinds()) == list(sample.queries()) == list(sample.judgments())


def test_judgments_name_documents_that_exist_and_grades_from_0_to_3():
    for graded in sample.judgments().values():
        assert graded.keys() <= sample.corpus().keys()
        assert set(graded.values()) <= {0, 1, 2, 3}
        assert len(graded) >= 4


def test_questions_have_relevant_documents_unless_they_have_no_answer():
    for query, graded in sample.judgments().items():
        best = max(graded.values())
        assert best == 0 if sample.kinds()[query] == "no answer" else best >= 2, query


def test_questions_over_several_documents_have_no_document_that_answers_all():
    for query, graded in sample.judgments().items():
        if sample.kinds()[query] == "multi-document":
            assert max(graded.values()) == 2
            assert list(graded.values()).count(2) >= 3


def test_every_question_has_a_document_that_was_judged_and_found_wanting():
    assert all(0 in graded.values() for graded in sample.judgments().values())


def test_what_is_returned_may_be_changed_without_harm():
    sample.judgments()["q01"].clear()
    sample.corpus()["errors-fh101-01"]["title"] = ""
    assert sample.judgments()["q01"]
    assert sample.corpus()["errors-fh101-01"]["title"]


def test_reading_the_sample_needs_nothing_but_the_standard_library():
    program = (
        "import sys, rankproof.sample as sample; sample.rankings(); sample.judgments();"
        "print(any(name in sys.modules for name in ('numpy', 'narwhals', 'click', 'rich')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
