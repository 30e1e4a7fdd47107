"""Whether questions can be trusted to measure something: duplicates, leaks, questions that are too easy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from rankproof.core.audit import Audit, Finding, Severity, few_examples
from rankproof.core.audit.ids import CORPUS, misspelt_between, not_in_corpus, without_text
from rankproof.core.corpus import Corpus
from rankproof.core.table import best_first
from rankproof.document.numbers import count, none_of
from rankproof.errors import old_arguments
from rankproof.io.corpora import load_corpus, load_questions
from rankproof.io.load import Columns, load_judgments, load_rankings, with_columns
from rankproof.text.languages import STOP_WORDS
from rankproof.text.words import HIRAGANA, stem, words

MEANING = re.compile(rf"(?![{HIRAGANA}])[^\W\d_]")
"""A letter that is more than an ending."""


def forms(text: str) -> list[str]:
    """The words of a text in order, as they are compared.

    >>> forms("Is the Trial free?")
    ['is', 'the', 'trial', 'free']
    """
    return [word.form for word in words(text)]


def telling_words(text: str) -> list[str]:
    """The words that say what a text is about, each once, in order.

    >>> telling_words("Is the trial free? The trial of what?")
    ['trial', 'free']
    """
    return list(dict.fromkeys(form for form in forms(text) if form not in STOP_WORDS))


def remembered_words(text: str) -> dict[str, str]:
    """The content words that a person would remember, by form, as written but in lower case.

    Numbers alone, single letters and the endings of Japanese words are not among them.

    >>> remembered_words("Die Überweisung von 30 Euro auf Konto B")
    {'uberweisung': 'überweisung', 'euro': 'euro', 'konto': 'konto'}
    """
    found = {word.form: text[word.start : word.end].lower() for word in reversed(words(text))}
    return {form: found[form] for form in telling_words(text) if len(form) > 1 and MEANING.search(form)}


def longest_run(words: Sequence[str], text: Sequence[str]) -> int:
    """The most words of the first in a row that stand in a row in the second as well.

    >>> longest_run("how long is the free trial".split(), "the free trial is long".split())
    3
    """
    return SequenceMatcher(None, words, text, autojunk=False).find_longest_match().size


ALIKE = 0.8
"""Two questions are the same in other words from this share of words in common."""
LEAKS = 6
"""Words in a row that a question shares with a relevant document, from which on it was copied from it."""
EASY_SHARE = 0.5
"""The share of too easy questions from which on a test set says little."""
Texts = Mapping[str, str]
Relevant = Mapping[str, set[str]]
Rankings = Mapping[str, Mapping[str, Sequence[str]]]


@old_arguments(rankings="systems")
@with_columns
def check_questions(
    queries: Any, judgments: Any, *, corpus: Any = None, systems: Any = None, columns: Columns = None
) -> Audit:
    """What is wrong or odd about a test set, the most serious first.

    Questions that are repeated, or nearly; that lack a relevant document; whose answer is not in the corpus, or was
    copied into the question (with `corpus`); that every ranking answers first (with `systems`).

    >>> found = check_questions({"a": "Is it free?", "b": "is it free"}, {"a": ["d1"], "b": ["d1"]})
    >>> [each.kind for each in found]
    ['duplicate-questions']
    """
    rankings: dict[str, Mapping[str, Sequence[str]]] = {}
    if systems is not None:
        rankings = {name: best_first(each.table()) for name, each in load_rankings(systems).items()}
    documents = None if corpus is None else load_corpus(corpus)
    questions, graded = load_questions(queries), load_judgments(judgments).as_dict()
    relevant = {query: {doc for doc, grade in graded.get(query, {}).items() if grade > 0} for query in questions}
    apart = without_text(graded, questions)
    findings = [*_same(questions), *_alike(questions)]
    findings += [*_unanswered(relevant, graded)] if apart is None else [apart]
    findings += _not_asked(questions, rankings)
    if documents is not None:
        findings += [*_unknown(relevant, documents), *_leaks(questions, relevant, documents)]
    if rankings:
        findings += _easy(relevant, rankings)
    return Audit.of(findings)


def _finding(
    severity: Severity, kind: str, items: Sequence[str], one: str, many: str, said: str, advice: str
) -> list[Finding]:
    """What is to be said of some questions or documents, if there are any."""
    message = f"{count(len(items), one, many)} {said}"
    return [Finding(severity, kind, len(items), message, few_examples(items), advice)] if items else []


def _same(questions: Texts) -> list[Finding]:
    first: dict[tuple[str, ...], str] = {}
    twins = [
        f"{query} = {kept}"
        for query, text in questions.items()
        if (kept := first.setdefault(tuple(forms(text)), query)) != query
    ]
    words = "question is", "questions are", "asked before in the same words."
    return _finding(
        "error", "duplicate-questions", twins, *words, "keep one of each: what is asked twice counts twice."
    )


def _alike(questions: Texts) -> list[Finding]:
    """Pairs with nearly the same telling words; only pairs that share a word are looked at."""
    words = {query: frozenset(map(stem, telling_words(text))) for query, text in questions.items()}
    pairs = [
        f"{a} ~ {b}"
        for a, b in _sharing(words)
        if len(words[a] & words[b]) >= ALIKE * len(words[a] | words[b]) and forms(questions[a]) != forms(questions[b])
    ]
    said = "pair of questions asks", "pairs of questions ask", "nearly the same."
    advice = "keep the better worded one, or see that their judgments agree."
    return _finding("warning", "similar-questions", pairs, *said, advice)


def _sharing(words: Mapping[str, frozenset[str]]) -> list[tuple[str, str]]:
    holders: dict[str, list[str]] = {}
    pairs: dict[tuple[str, str], None] = {}
    for query, own in words.items():
        for word in sorted(own):
            for other in holders.setdefault(word, []):
                pairs[(other, query)] = None
            holders[word].append(query)
    return list(pairs)


def _unanswered(relevant: Relevant, judged: Iterable[str]) -> list[Finding]:
    missing = [query for query, found in relevant.items() if not found]
    unasked = [query for query in judged if query not in relevant]
    have = "question has", "questions have", "no relevant document."
    judge = "judge more for them, or keep them apart as questions without an answer."
    are = "judged query is", "judged queries are", "not among the questions."
    spell = "check that both files spell ids the same way."
    return [
        *_finding("warning", "unanswered-questions", missing, *have, judge),
        *_finding("warning", "judged-not-asked", unasked, *are, spell),
    ]


def _not_asked(questions: Texts, rankings: Rankings) -> Iterator[Finding]:
    """Rankings that answer none of the questions."""
    for name, ranking in rankings.items():
        if questions and ranking and ranking.keys().isdisjoint(questions):
            yield Finding(
                "error",
                "no-common-questions",
                len(questions),
                f"{none_of(len(questions), 'question')} in the ranking {name}.",
                few_examples([*list(questions)[:2], *list(ranking)[:2]]),
                "check that both files spell ids the same way.",
            )


def _unknown(relevant: Relevant, corpus: Corpus) -> list[Finding]:
    apart = not_in_corpus((doc for found in relevant.values() for doc in sorted(found)), corpus)
    if apart is not None:
        return [apart]
    known = set(corpus)
    unknown = [f"{query}: {doc}" for query, found in relevant.items() for doc in sorted(found - known)]
    spelt = misspelt_between(sorted(set().union(*relevant.values())), corpus, CORPUS)
    said = "relevant document is", "relevant documents are", "not in the corpus."
    advice = "no retriever can find them: add them, or take their judgments out."
    return [*([spelt] if spelt else []), *_finding("error", "relevant-not-in-corpus", unknown, *said, advice)]


def _leaks(questions: Texts, relevant: Relevant, corpus: Corpus) -> list[Finding]:
    """Questions of which many words in a row are in a relevant document; a short one is copied as a whole."""
    copied = []
    for query, text in questions.items():
        words = forms(text)
        for doc in sorted(relevant[query] & set(corpus)) if words else ():
            run = longest_run(words, forms(corpus[doc].whole))
            if run >= min(LEAKS, max(len(words), 3)):
                copied.append(f"{query}: {run} words of {doc}")
    said = "question repeats", "questions repeat", "the words of its own answer."
    advice = "word them as people would who have not read the document: a copied phrase is found by anything."
    return _finding("warning", "leaked-questions", copied, *said, advice)


def _easy(relevant: Relevant, rankings: Rankings) -> Iterator[Finding]:
    """Questions that every system answers at its first place tell no two systems apart."""
    answerable = [query for query, found in relevant.items() if found]
    easy = [
        query
        for query in answerable
        if all(ranking.get(query, ())[:1] and ranking[query][0] in relevant[query] for ranking in rankings.values())
    ]
    if not easy:
        return
    yield Finding(
        "warning" if len(easy) / len(answerable) >= EASY_SHARE else "note",
        "easy-questions",
        len(easy),
        f"{len(easy)} of {count(len(answerable), 'answerable question')} have a relevant document first in "
        f"{'every ranking' if len(rankings) > 1 else 'the ranking'}.",
        few_examples(easy),
        "add harder ones: questions that all systems answer cannot tell them apart.",
    )
