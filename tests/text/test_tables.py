"""The tables of words are all read, and say one thing of each word."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import rankproof.text
from rankproof.text.words import read_table

FOLDER = Path(rankproof.text.__path__[0])
TABLES = sorted(path.stem for path in FOLDER.glob("*.txt"))


def test_every_table_is_read_and_every_table_that_is_read_is_there() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in FOLDER.glob("*.py"))
    assert set(re.findall(r"table\(['\"](\w+)['\"]\)", code)) == set(TABLES)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_says_what_it_is_and_has_no_empty_line_of_words(name: str) -> None:
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert text.startswith("# ")  # what the table is
    assert all(line == line.rstrip() for line in text.splitlines())
    assert all(read_table(name))


@pytest.mark.parametrize("name", ["units", "scales", "months"])
def test_a_spelling_has_one_meaning(name: str) -> None:
    first = {"units": 2, "scales": 1, "months": 0}[name]
    meanings = Counter(spelling for line in read_table(name) for spelling in set(line[first:]))
    assert [spelling for spelling, times in meanings.items() if times > 1] == []


def test_a_line_that_is_indented_goes_on_with_the_one_before() -> None:
    english, german, *_ = read_table("stop_words")
    assert (english[0], english[-1], german[0]) == ("en", "know", "de")
