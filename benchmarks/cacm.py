"""Keyword search with and without feedback (RM3) on CACM, set as Anserini is.

python benchmarks/cacm.py FOLDER

FOLDER holds cacm.tar.gz, topics.cacm.txt and qrels.cacm.txt, as Anserini has them.
"""

from __future__ import annotations

import re
import sys
import tarfile
from pathlib import Path

from rankproof import Scores, evaluate
from rankproof.bench.retrieve import Search, expand, keyword

STOP_WORDS = """
a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to
was will with
"""
MEASURES = ("AP", "P@30", "nDCG@10")


def documents(folder: Path) -> dict[str, str]:
    """The 3,204 abstracts, without markup."""
    found = {}
    with tarfile.open(folder / "cacm.tar.gz") as tar:
        for member in tar:
            if (opened := tar.extractfile(member)) is not None:
                found[Path(member.name).stem] = re.sub(r"<[^>]+>", " ", opened.read().decode("latin-1")).strip()
    return found


def questions(folder: Path) -> dict[str, str]:
    """The 64 questions, 52 of which are judged."""
    text = (folder / "topics.cacm.txt").read_text(encoding="latin-1")
    pairs = re.findall(r"<DOCNO>\s*(\d+)\s*</DOCNO>(.*?)</DOC>", text, re.DOTALL)
    return {name: question.strip() for name, question in pairs}


def as_anserini(corpus: dict[str, str]) -> Search:
    """BM25 with the parameters, the stemming and the stop words of Anserini."""
    return keyword(corpus, language="english", k1=0.9, b=0.4, stop_words=STOP_WORDS.split())


def measured(search: Search, asked: dict[str, str], folder: Path) -> Scores:
    """The scores of the 1,000 best for each question."""
    run = dict(zip(asked, map(dict, search.search(list(asked.values()), 1000)), strict=True))
    return evaluate(folder / "qrels.cacm.txt", run, list(MEASURES))


def table(folder: Path) -> str:
    """A line for each search."""
    asked, search = questions(folder), as_anserini(documents(folder))
    rows = [f"{'':8}{''.join(f'{name:>9}' for name in MEASURES)}"]
    for name, each in (("keyword", search), ("with RM3", expand(search))):
        scores = measured(each, asked, folder)
        rows.append(f"{name:8}{''.join(f'{scores[measure]:9.4f}' for measure in MEASURES)}")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table(Path(sys.argv[1])))
