"""Make the three rankings of the sample again: python benchmarks/make_sample_rankings.py [FOLDER].

Three retrievers, each as short as it can honestly be: BM25 over words, latent semantic analysis over pieces
of words, and the reciprocal rank fusion of the two. Same documents and questions in, same bytes out.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rankproof import sample

DEPTH = 50
Ranking = dict[str, dict[str, float]]  # question -> document -> score, best first
Counts = dict[str, Counter[str]]  # document or question -> how often each term occurs in it


COMMON = """
a about after all also am an and any are as at be because been before but by can could did do does
done for from get gets go got had has have he her here him his how i if in into is it its just me more
my no not now of off on once only or our out over own she should so some such than that the their them
then there these they this those to too up us very was we were what when where which while who why will
with would you your yours
"""
STOP_WORDS = frozenset(COMMON.split())


def words(text: str) -> list[str]:
    """Lower-case words and numbers without accents, the commonest words left out."""
    bare = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return [word for word in re.findall(r"[a-z0-9]+", bare.lower()) if word not in STOP_WORDS]


def stem(word: str) -> str:
    """`word` without the ending of a plural (Harman's S-stemmer)."""
    if word.endswith("ies") and not word.endswith(("aies", "eies")):
        return word[:-3] + "y"
    if word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    return word[:-1] if word.endswith("s") and not word.endswith(("us", "ss")) else word


def stems(text: str) -> Counter[str]:
    return Counter(stem(word) for word in words(text))


def pieces(text: str) -> Counter[str]:
    """Runs of 3 to 5 characters within each word and its borders."""
    padded = [f" {word} " for word in words(text)]
    return Counter(w[i : i + n] for w in padded for n in (3, 4, 5) for i in range(len(w) - n + 1))


def ranked(scores: Mapping[str, float]) -> dict[str, float]:
    """The best documents, equal scores in the order of their ids."""
    found = [(document, score) for document, score in scores.items() if score > 0]
    return dict(sorted(found, key=lambda pair: (-pair[1], pair[0]))[:DEPTH])


def bm25(documents: dict[str, str], queries: dict[str, str], k1: float = 0.9, b: float = 0.4) -> Ranking:
    """Robertson's BM25, with the logarithm that cannot be negative."""
    counts = {document: stems(text) for document, text in documents.items()}
    frequency = Counter(term for terms in counts.values() for term in terms)
    weight = {t: np.log1p((len(counts) - n + 0.5) / (n + 0.5)) for t, n in frequency.items()}
    mean = sum(terms.total() for terms in counts.values()) / len(counts)

    def score(query: Counter[str], terms: Counter[str]) -> float:
        norm = k1 * (1 - b + b * terms.total() / mean)
        shared = [t for t in query if t in terms]
        return float(sum(query[t] * weight[t] * terms[t] * (k1 + 1) / (terms[t] + norm) for t in shared))

    asked = {query: stems(text) for query, text in queries.items()}
    return {q: ranked({d: score(terms, counts[d]) for d in counts}) for q, terms in asked.items()}


def tfidf(counts: Counts, terms: dict[str, int], idf: NDArray[np.float64]) -> NDArray[np.float64]:
    """One row of unit length for each text, with logarithmic counts."""
    rows = np.zeros((len(counts), len(terms)))
    for row, counted in zip(rows, counts.values(), strict=True):
        for term in counted.keys() & terms.keys():
            row[terms[term]] = 1 + np.log(counted[term])
    return unit(rows * idf)


def unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rows scaled to length one."""
    lengths: NDArray[np.float64] = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / lengths


def lsa(documents: dict[str, str], queries: dict[str, str], dimensions: int = 64) -> Ranking:
    """Cosines in the space of the strongest singular vectors of the tf-idf matrix of `pieces`."""
    counts = {document: pieces(text) for document, text in documents.items()}
    frequency = Counter(term for counted in counts.values() for term in counted)
    terms = {term: i for i, term in enumerate(sorted(frequency))}
    idf = np.log(len(counts) / np.array([frequency[term] for term in terms])) + 1
    matrix = tfidf(counts, terms, idf)
    axes = np.linalg.svd(matrix, full_matrices=False)[2][:dimensions].T
    asked = tfidf({query: pieces(text) for query, text in queries.items()}, terms, idf)
    cosines = unit(asked @ axes) @ unit(matrix @ axes).T
    scored = (dict(zip(counts, row, strict=True)) for row in cosines.tolist())
    return {query: ranked(scores) for query, scores in zip(queries, scored, strict=True)}


def fuse(*rankings: Ranking, k: int = 60) -> Ranking:
    """Reciprocal rank fusion: each ranking gives a document 1 / (k + rank)."""
    fused: dict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for query, scores in chain.from_iterable(ranking.items() for ranking in rankings):
        for rank, document in enumerate(scores, start=1):
            fused[query][document] += 1 / (k + rank)
    return {query: ranked(scores) for query, scores in fused.items()}


def write(ranking: Ranking, name: str, folder: Path) -> None:
    """A TREC run: question, Q0, document, rank, score, name."""
    lines = [
        f"{query} Q0 {document} {rank} {score:.6f} {name}\n"
        for query, scores in ranking.items()
        for rank, (document, score) in enumerate(scores.items(), start=1)
    ]
    (folder / f"{name}.run").write_text("".join(lines), encoding="utf-8", newline="\n")


def main(folder: Path) -> None:
    documents = {name: f"{page['title']}\n{page['text']}" for name, page in sample.corpus().items()}
    keyword = bm25(documents, sample.queries())
    dense = lsa(documents, sample.queries())
    for name, ranking in {"keyword": keyword, "dense": dense, "fused": fuse(keyword, dense)}.items():
        write(ranking, name, folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else sample.folder())
