"""Keyword search gives BM25 by its formula, by either engine, for whatever is asked."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankproof.bench.retrieve import keyword
from rankproof.core.corpus import Corpus
from rankproof.errors import MissingExtra, UsageError
from rankproof.text.tokens import prepare_text, words
from tests.each import with_each

pytest.importorskip("tantivy")

ENGINES = ("tantivy", "sqlite")


def bm25(texts: dict[str, str], question: str, k1: float = 1.2, b: float = 0.75) -> list[tuple[str, float]]:
    """The formula as it is written, for every document in turn."""
    split = {name: text.split() for name, text in texts.items()}
    mean = sum(map(len, split.values())) / len(split)
    scores = {}
    for name, parts in split.items():
        total, hit = 0.0, False
        for word, times in Counter(question.split()).items():
            n = sum(word in other for other in split.values())
            f = parts.count(word)
            if not f:
                continue
            hit = True
            idf = math.log(1 + (len(split) - n + 0.5) / (n + 0.5))
            total += times * idf * f * (k1 + 1) / (f + k1 * (1 - b + b * len(parts) / mean))
        if hit:
            scores[name] = total
    return sorted(scores.items(), key=lambda pair: (round(pair[1], 5), pair[0]), reverse=True)


ASKED = ["ba", "ba ce", "ba ba ce gi", "du fo gu bx cy", "nothing here", "xx", "ba nothing"]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@with_each("question", ASKED)
@pytest.mark.parametrize("k", [1, 7, 1000])
def test_scores_and_order_are_those_of_the_formula(short: dict[str, str], engine: str, question: str, k: int) -> None:
    expected = bm25(short, question)[:k]
    found = keyword(short, engine=engine)(question, k)
    assert [name for name, _ in found] == [name for name, _ in expected]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected], rel=1e-5)


@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (0, 0.75), (2, 0), (1.2, 1)])
def test_other_parameters_are_kept_to_exactly(short: dict[str, str], k1: float, b: float) -> None:
    found = dict(keyword(short, k1=k1, b=b)("ba ce gi", 1000))
    assert found == pytest.approx(dict(bm25(short, "ba ce gi", k1, b)), rel=1e-9)


def test_both_engines_find_the_same_documents_of_the_sample(pages: Corpus, questions: list[str]) -> None:
    by_tantivy = keyword(pages, engine="tantivy").search(questions, 1000)
    by_sqlite = keyword(pages, engine="sqlite").search(questions, 1000)
    for one, other in zip(by_tantivy, by_sqlite, strict=True):
        assert {name for name, _ in one} == {name for name, _ in other}
        # Lengths above 40 words are kept in steps by tantivy.
        assert dict(one) == pytest.approx(dict(other), rel=0.06)


@pytest.mark.parametrize("engine", ENGINES)
def test_equal_documents_come_by_id_the_highest_first(engine: str) -> None:
    same = {f"d{n}": "fees and refunds" for n in range(500)}
    found = keyword(same, engine=engine)("refunds fees", 50)
    assert [name for name, _ in found] == sorted(same, reverse=True)[:50]
    assert len({score for _, score in found}) == 1


ODD = [
    *(
        '"',
        "'",
        "fees AND",
        "OR",
        "NOT fees",
        "text:fees",
        "fees*",
        "fees^2",
        "(fees",
        "fees~1",
        "[a TO b]",
        "\\",
    ),
    *(
        "-fees",
        "+fees",
        "fees\x00fees",
        "\ud800 fees",
        "fees; DROP TABLE texts",
        "{",
        "%",
        "a:b:c",
        "NEAR(fees)",
    ),
]


@pytest.mark.parametrize("engine", ENGINES)
@with_each("question", ODD)
def test_questions_are_words_never_syntax(engine: str, question: str) -> None:
    search = keyword({"d1": "fees", "d2": "or else", "d3": "not and near"}, engine=engine)
    found = {name for name, _ in search(question)}
    words = set(re.findall(r"[a-z]+", question.lower()))
    texts = {"d1": {"fees"}, "d2": {"or", "else"}, "d3": {"not", "and", "near"}}
    assert found == {name for name, own in texts.items() if own & words}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("question", ["", "  \n", "🙂🙃", "?!", "\x00", "\ud800"])
def test_a_question_without_words_finds_nothing(engine: str, question: str) -> None:
    assert keyword({"d1": "fees 🙂"}, engine=engine).search([question, "fees"])[0] == []


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=30), min_size=1, max_size=6), st.text(max_size=30))
def test_engines_agree_on_any_text(texts: list[str], question: str) -> None:
    corpus = Corpus.of({f"d{n}": text for n, text in enumerate(texts)})
    one, other = (keyword(corpus, engine=engine)(question) for engine in ENGINES)
    assert dict(one) == pytest.approx(dict(other), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("東京都の天気予報", "天気"),
        ("한국어를 공부한다", "공부"),
        ("ประเทศไทย", "ไทย"),
        ("हिन्दी भाषा", "भाषा"),
        ("Größe und Maße", "GROSSE masse"),
        ("crème brûlée", "creme"),
        ("cre\u0300me", "crème"),
        ("ﬁle № ５", "file no 5"),
        ("ガラス", "ｶﾞﾗｽ"),
        ("press 1\ufe0f\u20e3 now", "1"),
        ("0\U0001cf00", "0"),
    ],
)
def test_any_writing_is_found(engine: str, text: str, question: str) -> None:
    search = keyword({"d1": text, "d2": "something else", "d3": "ハラス"}, engine=engine)
    assert search(question)[0][0] == "d1"


LETTERS = st.sampled_from(list("abXÉéßẞıİΣςﬁ①½№“”—か゛\u3099\u0301\u0338=東京한국ﾊﾟアعरไ\u00ad\u200b _'-9"))


BLOCKS = st.sampled_from(
    [(0x20, 0x24F), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x4FF), (0x5D0, 0x6FF), (0x1E00, 0x206F)]
)
ALPHABETS = BLOCKS.flatmap(lambda ends: st.characters(codec="utf-8", min_codepoint=ends[0], max_codepoint=ends[1]))
"""Letters of alphabets that are folded without their neighbours, and long texts have many of them."""


@given(
    st.text(LETTERS | st.characters(codec="utf-8"), max_size=40)
    | st.text(ALPHABETS | st.sampled_from("a \u0301"), min_size=30, max_size=90)
)
def test_what_is_indexed_has_the_words_that_questions_have(text: str) -> None:
    import tantivy

    split = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(tantivy.Filter.lowercase()).build()
    for splits in (False, True):
        assert split.analyze(prepare_text(text, splits)) == split.analyze(" ".join(words(text)))


def test_tantivy_itself_splits_at_all_punctuation_and_spaces() -> None:
    import tantivy

    split = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).build()
    beyond_ascii = map(chr, range(0x80, sys.maxunicode + 1))
    marks = [each for each in beyond_ascii if unicodedata.category(each)[0] in "PZ"]
    assert len(marks) > 700
    assert split.analyze("a".join(marks)) == ["a"] * (len(marks) - 1)


@pytest.mark.parametrize("engine", ENGINES)
def test_english_brings_forms_together(engine: str) -> None:
    search = keyword({"d1": "Refunded payments", "d2": "Opening hours"}, language="english", engine=engine)
    assert [name for name, _ in search("refund of a payment")] == ["d1"]
    plain = keyword({"d1": "Refunded payments"}, engine=engine)
    assert plain("refund payment") == []


@pytest.mark.parametrize("engine", ENGINES)
def test_stop_words_are_not_looked_for(engine: str) -> None:
    search = keyword({"d1": "the fees", "d2": "the hours"}, stop_words=["The"], engine=engine)
    assert [name for name, _ in search("the fees")] == ["d1"]


def test_texts_of_any_size_and_none() -> None:
    corpus = Corpus.of({"huge": "word " * 300_000 + "needle", "long": "x" * 100_000, "empty": "", "d": "needle"})
    for engine in ENGINES:
        search = keyword(corpus, engine=engine)
        assert [name for name, _ in search("needle", 10**9)] == ["d", "huge"]
        assert search("x" * 100_000) == keyword(corpus, engine=engine)("x" * 100_000)


def test_a_corpus_of_empty_texts_finds_nothing() -> None:
    for engine in ENGINES:
        assert keyword(Corpus.of({"a": "", "b": " "}), engine=engine)("fees") == []


def test_many_threads_may_ask(short: dict[str, str]) -> None:
    for engine in ENGINES:
        search = keyword(short, language="english", engine=engine)
        alone = [search(each) for each in ASKED]
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(search, ASKED * 5)) == alone * 5


@pytest.mark.slow
def test_sqlite_answers_where_tantivy_is_absent() -> None:
    code = (
        "import sys, json; sys.modules['tantivy'] = None\n"
        "import importlib.util as u; found = u.find_spec\n"
        "u.find_spec = lambda name, *more: None if name == 'tantivy' else found(name, *more)\n"
        "from rankproof.bench.retrieve import keyword\n"
        "search = keyword({'d1': 'fees', 'd2': 'hours'})\n"
        "print(json.dumps([search('fees'), search.settings['engine']]))\n"
        "try: keyword({'d1': 'fees'}, language='german')\n"
        "except ImportError as error: print(error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found, absent = ran.stdout.splitlines()
    assert json.loads(found) == [[["d1", pytest.approx(0.693147, rel=1e-5)]], "sqlite"]
    assert absent.endswith("Next: pip install 'rankproof[retrieve]'")
    assert issubclass(MissingExtra, ImportError)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"k1": -1}, "k1: got -1, expected a number of at least 0"),
        ({"k1": float("nan")}, "k1: got nan"),
        ({"b": 2}, "b: got 2, expected a number from 0 to 1"),
        ({"b": "x"}, "b: got 'x'"),
        ({"language": "englisch"}, "Did you mean 'english'?"),
        ({"language": 7}, "language: got 7"),
        ({"engine": "lucene"}, "engine: got 'lucene', expected one of 'tantivy', 'sqlite'"),
        ({"engine": "tantivy", "k1": 0.9}, "fixed at k1=1.2, b=0.75"),
        ({"language": "german", "k1": 0.9}, "forms of English words"),
        ({"stop_words": "the"}, "expected a list of words"),
    ],
)
def test_what_cannot_be_asked_for_is_said(options: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        keyword({"d1": "fees"}, **options)  # type: ignore[arg-type]


def test_settings_are_plain_and_tell_searches_apart(pages: Corpus) -> None:
    made = [
        keyword(pages),
        keyword(pages, engine="sqlite"),
        keyword(pages, k1=0.9),
        keyword(pages, language="english"),
        keyword(pages, stop_words=["the"]),
        keyword({"d1": "other"}),
    ]
    said = [json.dumps(each.settings, sort_keys=True) for each in made]
    assert len(set(said)) == len(said)
    assert said[0] == json.dumps(keyword(pages).settings, sort_keys=True)


@pytest.mark.parametrize("wrong", ["one question", [None], [b"bytes"], [3]])
def test_questions_are_a_list_of_texts(short: dict[str, str], wrong: object) -> None:
    with pytest.raises(UsageError, match="expected a list of texts"):
        keyword(short).search(wrong, 10)  # type: ignore[arg-type]


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "3", None])
def test_k_is_a_whole_number(short: dict[str, str], k: object) -> None:
    with pytest.raises(UsageError, match="k: got"):
        keyword(short)("ba", k)  # type: ignore[arg-type]
