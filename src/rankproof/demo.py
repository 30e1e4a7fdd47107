"""The demonstration: documents are cut, indexed and searched in three ways; then the results are evaluated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from time import perf_counter

from rankproof import sample
from rankproof.bench.chunk import documents_found, sentences
from rankproof.bench.chunk.chunker import chunked
from rankproof.bench.retrieve import Search, keyword, lsa
from rankproof.comparing.compare import compare
from rankproof.core.corpus import Corpus
from rankproof.core.judgments import Judgments
from rankproof.diagnosing import Diagnosis, diagnose
from rankproof.document.formats.table import screen
from rankproof.document.terminal import wrap
from rankproof.errors import UsageError
from rankproof.reports import report
from rankproof.scoring.evaluate import evaluate, prepare
from rankproof.scoring.explain import explain
from rankproof.scoring.words import scores as words

MEASURES = "nDCG@10, RR@10, R@5, P@5, Success@5"
MAIN = "nDCG@10"
WORDS = 40
"""The words of a chunk: the sample's documents are short."""
DEPTH = 50
EXAMPLE = "account-signin-02"

Rankings = dict[str, dict[str, dict[str, float]]]


def demo(page: str | None, *, force: bool = False) -> Iterator[str]:
    """The parts of the demonstration, one text after the other; at the end the report is written to `page`."""
    judgments, corpus = prepare(sample.judgments()), Corpus.of(sample.corpus())
    documents, queries = sample.corpus(), sample.queries()
    topics = {document["topic"] for document in documents.values()}
    yield (
        f"A support knowledge base of {len(documents)} documents in {len(topics)} topics, {len(queries)} questions\n"
        "as customers ask them, judged by hand from 0 (does not help) to 3 (answers it).\n"
    )
    chunks = chunked(corpus, sentences(WORDS))
    yield _titled(1, "Cut the documents", _cut(corpus, chunks))
    rankings, times = _searched(chunks)
    yield _titled(2, "Index the chunks, and search in three ways", _found(rankings, times))
    scores = {name: evaluate(judgments, ranking, MEASURES) for name, ranking in rankings.items()}
    yield _titled(3, "Measure", screen(words([each.summary(name) for name, each in scores.items()])))
    yield _titled(4, "Is one better than another?", str(compare(judgments, rankings, f"{MAIN}, R@5")))
    best = max(scores, key=lambda name: scores[name][MAIN])
    found = diagnose(judgments, rankings[best], queries=sample.queries(), corpus=corpus, worst=3)
    yield _titled(5, f"What is wrong with {best}?", str(found))
    # The question on which two retrievers differ most, of those that the first answers in part.
    one, other = scores["keyword"].values(MAIN), scores["dense"].values(MAIN)
    query = max((each for each in one if 0 < one[each] < 1), key=lambda each: abs(one[each] - other[each]))
    explained = f"Question {query}: {sample.queries()[query]}\n\n{explain(judgments, rankings['keyword'], query, MAIN)}"
    yield _titled(6, "How one of these numbers comes about", explained)
    if page is not None:
        yield _titled(7, "Show it to others", _written(judgments, rankings, found, page, force))
    yield NEXT


def _titled(number: int, title: str, text: str) -> str:
    heading = f"{number}. {title} "
    return f"{heading}{'-' * (80 - len(heading))}\n\n{text.rstrip()}\n"


def _cut(corpus: Corpus, chunks: Corpus) -> str:
    own = [each for each in chunks.values() if each.metadata["document"] == EXAMPLE]
    lines = wrap(
        f"Whole sentences, up to {WORDS} words: {len(corpus)} documents become {len(chunks)} chunks. Each keeps "
        f"its place in its document; here are those of {EXAMPLE}:"
    )
    shown = (wrap(each.text, first=f"  {each.id.partition('#')[2]:>8}  ", later=" " * 12) for each in own)
    return "\n".join([*lines, "", *(line for each in shown for line in each)])


def _searched(chunks: Corpus) -> tuple[Rankings, dict[str, float]]:
    """The results of three retrievers for every question, and their median milliseconds."""
    words, dense = keyword(chunks, engine="sqlite"), lsa(chunks)
    searches: dict[str, Search] = {"keyword": words, "dense": dense, "hybrid": words + dense}
    rankings: Rankings = {name: {} for name in searches}
    times: dict[str, list[float]] = {name: [] for name in searches}
    for name, search in searches.items():
        for query, text in sample.queries().items():
            start = perf_counter()
            found = documents_found(search(text, 2 * DEPTH))
            times[name].append(1000 * (perf_counter() - start))
            rankings[name][query] = dict(found[:DEPTH])
    return rankings, {name: median(each) for name, each in times.items()}


def _found(rankings: Rankings, times: Mapping[str, float]) -> str:
    query, titles = "q29", sample.corpus()
    about = {
        "keyword": "BM25 over the words of the chunks, by SQLite",
        "dense": "latent semantic analysis, which needs no model",
        "hybrid": "keyword + dense, fused by reciprocal rank",
    }
    lines = [f"  {name:8} {what} ({times[name]:.1f} ms a question)" for name, what in about.items()]
    lines += ["", f"Question {query}: {sample.queries()[query]}", ""]
    for name, ranking in rankings.items():
        firsts = [f'"{titles[doc]["title"]}"' for doc in list(ranking[query])[:2]]
        lines += wrap(", then ".join(firsts), first=f"  {name:8} ", later=" " * 11)
    return "\n".join(lines)


def _written(judgments: Judgments, rankings: Rankings, found: Diagnosis, page: str, force: bool) -> str:
    made = report(
        judgments,
        rankings,
        f"{MAIN}, R@5",
        by=sample.kinds(),
        title="rankproof demo",
        queries=sample.queries(),
        corpus=sample.corpus(),
        diagnosis=found,
    )
    try:
        where = made.save(page, force=force)
    except UsageError as error:
        return f"The report was not written: {error}"
    return f"Wrote {where} ({Path(where).stat().st_size // 1024} KiB): one self-contained page; open it."


NEXT = """Next, on your own data:

  rankproof run --retriever ...             ask your retriever every question
  rankproof audit JUDGMENTS RUN             what to know before any number
  rankproof evaluate JUDGMENTS RUN ...      how good it is
  rankproof compare JUDGMENTS RUN RUN ...   whether one is better
  rankproof diagnose JUDGMENTS RUN          what to fix first
  rankproof bench bench.toml                which configuration is best
"""
