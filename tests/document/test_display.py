"""Every result shows itself: `repr` in one short line, and tables in a notebook."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import typing
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankproof
from rankproof import functional, sample
from rankproof.bench import chunk, connect, fusion, retrieve
from rankproof.bench.connect import Store
from rankproof.bench.fusion import Method
from rankproof.bench.retrieve import Rerank, Search
from rankproof.document.model import LONGEST, STYLE, Displayable
from rankproof.document.terminal import width

NAMED = {rankproof.core.measure.Measure, Method, Search, Rerank, Store}
"""Public types that print as what one writes to have them: `nDCG@10`, `lsa + keyword`."""


def public() -> Iterator[Any]:
    yield from (getattr(rankproof, name) for name in rankproof.__all__)
    for module in (retrieve, chunk, connect, fusion, functional, sample):
        yield from (getattr(module, name) for name in dir(module) if not name.startswith("_"))


def reached() -> set[type]:
    """Every class of rankproof that a public function, method, property or field can give back."""
    found: set[type] = set()
    todo = list(public())
    while todo:
        each = todo.pop()
        if not inspect.isclass(each):
            todo += classes(hint(each, "return")) if callable(each) else []
        elif each not in found and each.__module__.startswith("rankproof"):
            found.add(each)
            if dataclasses.is_dataclass(each):
                names = [f.name for f in dataclasses.fields(each) if not f.name.startswith("_")]
                todo += [c for name in names for c in classes(hint(each, name))]
            for name, member in inspect.getmembers(each):
                given = member.fget if isinstance(member, property) else getattr(member, "func", member)
                if not name.startswith("_") and callable(given):
                    todo += classes(hint(given, "return"))
    return found


def hint(of: Any, name: str) -> Any:
    try:
        return typing.get_type_hints(of).get(name)
    except (NameError, TypeError):  # a name that only type checkers import
        return getattr(of, "__annotations__", {}).get(name)


def classes(of: Any) -> list[type]:
    if isinstance(of, str):  # what could not be resolved, by its name in the package
        return [getattr(rankproof, of)] if of in rankproof.__all__ else []
    if typing.get_args(of):
        return [c for part in typing.get_args(of) for c in classes(part)]
    return [of] if inspect.isclass(of) else []


@pytest.mark.slow
def test_every_type_that_a_public_function_gives_back_shows_itself() -> None:
    types = reached()
    assert len(types) > 60
    plain = (Exception, enum.Enum)
    data = {c for c in types if not issubclass(c, plain) and not getattr(c, "_is_protocol", False)}
    without = {c for c in data if not issubclass(c, Displayable) and c not in NAMED}
    # A named tuple is a tuple, and the arguments of a function are a dict.
    without = {c for c in without if not hasattr(c, "_fields") and not typing.is_typeddict(c)}
    assert not without, f"give them rankproof.document.model.Displayable as a base: {without}"


def results(folder: Path) -> Iterator[Any]:
    """One of everything."""
    judgments, runs = sample.judgments(), sample.rankings()
    measures = ["nDCG@10", "RR", "AP", *(f"P@{k}" for k in range(1, 40))]
    scores = {name: rankproof.evaluate(judgments, run, measures) for name, run in runs.items()}
    for each in scores.values():
        yield from (
            each,
            each.per_query,
            each.audit,
            each.row("RR"),
            each.uncertainty("RR"),
            each.conventions,
        )
        yield from (each.hits, each.judgments, each.census, each.column("RR"), each.summary())
    compared = rankproof.compare(judgments, runs, baseline="keyword")
    gate = rankproof.gate(judgments, runs["keyword"], runs["dense"])
    yield from (compared, compared.rows[0], compared.cases()[0], gate, gate.rows[0])
    yield rankproof.leaderboard(scores)
    yield rankproof.rank_correlation(scores, {name: i for i, name in enumerate(scores)})
    yield rankproof.tune(judgments, runs)
    found = rankproof.diagnose(judgments, runs["keyword"], queries=sample.queries(), corpus=sample.corpus())
    yield from (
        found,
        *found.fixes,
        *found.bands,
        *found.worst,
        *found.patterns,
        *found.failures,
        found.regime,
    )
    explained = rankproof.explain(judgments, runs["keyword"], "q01")
    yield from (explained, explained.own, *explained.own.lines, rankproof.report(judgments, runs))
    history = rankproof.History(folder / "results.db")
    yield from (history.save(scores["dense"], "x" * 300), history, history.show("x" * 300))
    bench = rankproof.Benchmark(corpus=sample.corpus())
    for query, text in list(sample.queries().items())[:9]:
        bench.add_query(query, text, judgments[query])
    for name in ("one", "two"):
        yield bench.run(name, retrieve.keyword(sample.corpus()), progress=False)
    yield from (bench, bench.compare("nDCG@10", baseline="one"), bench.corpus, *bench.runs["one"].rows[:3])
    pool = rankproof.pool(runs)
    yield from (pool, rankproof.questions_needed(judgments, runs["keyword"], runs["dense"], difference=0.1))
    yield from rankproof.draw_questions(sample.corpus(), 5)
    yield rankproof.prepare(judgments)
    samples = [{"question": "Is it open?", "contexts": ["It is open.\nYes."] * 9, "answer": "It is open."}]
    judged = rankproof.judge(samples, "faithfulness, context_precision")
    judge = rankproof.Judge("lexical", ledger=folder / "verdicts.db")
    yield from (judged, judged.verdicts, judged.blame, judged.account, judge, judge.plan(samples))
    judge(samples)
    yield from (rankproof.Verdicts(folder / "verdicts.db"), *rankproof.Verdicts(folder / "verdicts.db"))
    yield rankproof.stress(samples)
    asked = rankproof.chat(str.upper)
    yield from (
        asked,
        asked.limits,
        asked.service,
        rankproof.nDCG.spec,
        *rankproof.nDCG.spec.parameters.values(),
    )
    grid = rankproof.grid({"benchmark": "sample", "retrievers": {"words": "keyword", "dense": "lsa"}})
    yield from (grid, *grid.rows, *grid.effects, grid.held)


class Balanced(HTMLParser):
    """Whether every tag that is opened is closed, and nothing runs."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert tag in {
            "div",
            "table",
            "tr",
            "th",
            "td",
            "pre",
            "code",
            "iframe",
            "p",
            "h4",
            "ul",
            "ol",
            "li",
            "b",
        }
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check_html(text: str) -> None:
    parser = Balanced()
    parser.feed(text)
    parser.close()
    assert not parser.open


@pytest.mark.slow
def test_every_result_is_one_short_line_and_shows_itself_in_a_notebook(tmp_path: Path) -> None:
    kinds = set()
    for each in results(tmp_path):
        line = repr(each)
        assert line.isprintable(), line
        assert width(line) <= LONGEST, line
        assert isinstance(each, Displayable), type(each)
        check_html(each._repr_html_())
        kinds.add(type(each))
    assert len(kinds) > 45


def test_the_ranking_behind_scores_is_one_short_line_in_every_form() -> None:
    run = sample.rankings()["dense"]
    forms: list[Any] = [
        run,
        {query: list(docs) for query, docs in run.items()},
        {query: list(docs.items()) for query, docs in run.items()},
        [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()],
        sample.folder() / "dense.run",
    ]
    for form in forms:
        assert width(repr(rankproof.evaluate(sample.judgments(), form).ranking)) < 400


@pytest.mark.parametrize("verb", ["evaluate", "compare"])
def test_a_notebook_gets_tables_with_every_number_of_the_text(verb: str) -> None:
    arguments: Any = sample.rankings()["dense"] if verb == "evaluate" else sample.rankings()
    shown = getattr(rankproof, verb)(sample.judgments(), arguments)
    page = shown._repr_html_()
    assert "<table" in page
    assert all(f">{name}</td>" in page for name in ("nDCG@10", "R@100"))


@given(st.text())
def test_any_text_is_shown_as_text(text: str) -> None:
    class Shown(Displayable):
        def __str__(self) -> str:
            return text

    page = Shown()._repr_html_()
    check_html(page)
    assert "<" not in page.removeprefix(f'<div><pre style="{STYLE}">').removesuffix("</pre></div>")
