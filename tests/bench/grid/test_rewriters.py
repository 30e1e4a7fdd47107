"""A stage before retrieval: spelling, expansion, a function; the baseline in every table; shares that add up."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rankproof import diagnose, grid, sample
from rankproof.bench.retrieve import keyword, lsa, spelling
from rankproof.bench.retrieve.lsa import cost_of
from rankproof.bench.retrieve.rewriting import rewrite_question
from rankproof.errors import UsageError
from rankproof.io.corpora import load_corpus
from tests.memory import MOST_HELD, needs_kernel_count

WORDS_ASKED = ["boilers", "gardens", "engines", "museums"]
PAGES = {f"d{n}": f"Everything about {word} and its maintenance." for n, word in enumerate(WORDS_ASKED)}
ASKED = {"q0": "boilres", "q1": "gradens", "q2": "engnies", "q3": "museusm"}
JUDGED = {f"q{n}": {f"d{n}": 1} for n in range(4)}


def test_each_rewriter_is_a_level_and_changes_what_is_asked() -> None:
    known = dict(zip(ASKED.values(), WORDS_ASKED, strict=True))
    plan = {
        "corpus": PAGES,
        "questions": ASKED,
        "judgments": JUDGED,
        "held_out": 0,
        "retrievers": {"words": {"kind": "keyword", "language": ["none", "english"]}},
        "rewriters": {
            "typed": "none",
            "spelling": "spelling",
            "more": {"kind": "expansion", "terms": 2},
            "own": known.get,
        },
    }
    found = grid(plan)
    means = {
        row.levels["question"]: row.means["nDCG@10"] for row in found.rows if row.levels["retriever"].endswith("=none]")
    }
    assert means["typed"] == 0
    assert means["spelling"] == means["own"] == 1
    assert found.rows[0].name == "words[language=none] / typed"
    assert sum(found.shares.values()) == pytest.approx(1)
    assert found.shares["question"] > 0.5


@pytest.mark.slow
def test_the_baseline_is_in_every_table() -> None:
    levels = [round(0.1 * n, 1) for n in range(1, 30)]
    found = grid(
        {
            "benchmark": "sample",
            "retrievers": {
                "none": lambda q: [],
                "words": {"kind": "keyword", "engine": "sqlite", "k1": levels},
            },
        }
    )
    assert found.baseline == "none"
    for shown in (str(found), found.format("full")):
        assert any(
            line.split()[:2] == ["none", "0.0000"] or (" none " in f" {line} " and "0.0000" in line)
            for line in shown.splitlines()
        )


def test_what_is_asked_is_a_text() -> None:
    change = spelling(load_corpus(PAGES))
    assert [rewrite_question(change, question) for question in ASKED.values()] == WORDS_ASKED
    with pytest.raises(UsageError, match="expected a text"):
        rewrite_question(lambda question: None, "boilers")


def test_spelling_is_tried_by_diagnose() -> None:
    pages = {f"d{n}": f"Everything about the {word} and its maintenance." for n, word in enumerate(WORDS)}
    asked = {f"q{n}": f"{word[0]}{word[2]}{word[1]}{word[3:]}" if n % 2 else word for n, word in enumerate(WORDS)}
    judged = {f"q{n}": {f"d{n}": 1} for n in range(len(WORDS))}
    run = {query: [doc for doc, _ in keyword(pages).search([text], 10)[0]] for query, text in asked.items()}
    fix = next(each for each in diagnose(judged, run, queries=asked, corpus=pages).fixes if each.kind == "spelling")
    assert "12 questions corrected" in fix.how
    assert fix.gain > 0.3
    assert fix.claimed


WORDS = [
    f"{start}{end}"
    for start in ("quint", "marb", "oster", "velv", "lumin", "crast")
    for end in ("ander", "ovine", "elidor", "umbrix")
]


def test_lsa_says_what_it_takes_and_refuses_what_does_not_fit() -> None:
    corpus = load_corpus(sample.corpus())
    small, large = (
        cost_of(corpus),
        cost_of(load_corpus({f"d{n}": "word " * 50 + str(n) for n in range(5000)})),
    )
    assert small.bytes > 0
    assert 0 < large.words == 5001
    with pytest.raises(UsageError, match=r"lsa: 156 documents .*MiB of memory.*Next: fewer dimensions"):
        lsa(corpus, memory=1e6)


TEXTS = (
    MOST_HELD
    + """
import random, sys
from rankproof.bench.retrieve.lsa import cost_of
from rankproof.bench.retrieve import lsa
from rankproof.io.corpora import load_corpus
rnd = random.Random(1)
def word(letters, size): return "".join(rnd.choices(letters, k=size))
LATIN, HAN = "abcdefghijklmnopqrstuvwxyz", [chr(0x4E00 + i) for i in range(4000)]
texts = {
    "no blanks": [word(HAN, 200) for _ in range(60)],
    "one long text among short ones": [word(LATIN, 5) for _ in range(60)] + [" ".join(word(LATIN, 8) for _ in range(3000))],
    "every word another": [" ".join(word(LATIN, 12) for _ in range(40)) for _ in range(60)],
    "hashes": [" ".join(word("0123456789abcdef", 64) for _ in range(20)) for _ in range(60)],
    "code": [".".join(word(LATIN, 6) for _ in range(120)) for _ in range(60)],
}[sys.argv[1]]
corpus = load_corpus({f"d{n}": text for n, text in enumerate(texts)})
before = most_held()
cost = cost_of(corpus)
lsa(corpus, memory=1e12)
print(cost.bytes, most_held() - before, cost.words)
"""
)


@pytest.mark.slow
@needs_kernel_count
@pytest.mark.parametrize(
    "kind", ["no blanks", "one long text among short ones", "every word another", "hashes", "code"]
)
def test_what_lsa_says_is_enough_for_texts_of_any_kind(kind: str) -> None:
    done = subprocess.run([sys.executable, "-c", TEXTS, kind], capture_output=True, text=True, check=True)
    said, held, words = map(float, done.stdout.split())
    assert held <= said <= 20 * held + 100e6
    assert words > 60
