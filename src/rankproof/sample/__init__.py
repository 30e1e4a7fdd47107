"""A small retrieval experiment for examples and tests: documents, questions, judgments, three rankings.

The documents are the support pages of Fernhold, a cloud backup service invented for this purpose. The
questions are worded as customers ask them, of five kinds: easy, typo, paraphrase, multi-document, no answer.
The three rankings were made by real retrievers: BM25, latent semantic analysis, and the fusion of both.

>>> questions = queries()
>>> questions["q04"]
'How long is the free trial?'
>>> judgments()["q04"]["billing-trial-01"]
3
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import TypeAlias

from rankproof._moved import old_names

Document: TypeAlias = dict[str, str]
Ranking: TypeAlias = dict[str, dict[str, float]]
RANKINGS = ("keyword", "dense", "fused")


def corpus() -> dict[str, Document]:
    """The documents by id; each has a ``title``, a ``text`` and a ``topic``.

    >>> corpus()["errors-fh101-01"]["title"]
    'FH-101: sign-in rejected although the password is right'
    """
    return _by_id("documents.jsonl")


def queries() -> dict[str, str]:
    """The text of each question by its id."""
    return {query: record["text"] for query, record in _by_id("queries.jsonl").items()}


def kinds() -> dict[str, str]:
    """The kind of each question: easy, typo, paraphrase, multi-document or no answer.

    >>> kinds()["q60"]
    'no answer'
    """
    return {query: record["kind"] for query, record in _by_id("queries.jsonl").items()}


def judgments() -> dict[str, dict[str, int]]:
    """The grade of each judged document by question.

    3 answers the question fully, 2 a part of it, 1 is helpful background, 0 is judged and not relevant;
    a page that is out of date and would mislead is 0 too. Judged were the first five documents of the
    keyword and the dense ranking, the first three of the fused one, and what else was known to help: deeper
    down much is unjudged, as in real life. All that is judged for a question without an answer is 0.
    """
    graded: dict[str, dict[str, int]] = {}
    for line in _lines("judgments.tsv")[1:]:
        query, document, grade = line.split("\t")
        graded.setdefault(query, {})[document] = int(grade)
    return graded


def rankings() -> dict[str, Ranking]:
    """The three rankings by name, each with the scores of up to 50 documents a question, best first.

    The keyword ranking has nothing at all for four questions in which every telling word is misspelt.

    >>> list(rankings())
    ['keyword', 'dense', 'fused']
    """
    return {name: _ranking(f"{name}.run") for name in RANKINGS}


def folder() -> Path:
    """The folder with the files themselves, to point the shell or another tool at.

    >>> (folder() / "judgments.tsv").is_file()
    True
    """
    return Path(str(files(__name__)))


def _lines(name: str) -> list[str]:
    return files(__name__).joinpath(name).read_text(encoding="utf-8").splitlines()


def _by_id(name: str) -> dict[str, Document]:
    records: list[Document] = [json.loads(line) for line in _lines(name)]
    return {record.pop("_id"): record for record in records}


def _ranking(name: str) -> Ranking:
    scores: Ranking = {}
    for line in _lines(name):
        query, _, document, _, score, _ = line.split()
        scores.setdefault(query, {})[document] = float(score)
    return scores


__getattr__ = old_names(__name__, {"documents": "corpus"})
