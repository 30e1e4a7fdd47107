"""Whatever is given to a public verb, what leaves it is an answer or an error of ours that says what to do next."""

from __future__ import annotations

import inspect
import json
import math
import pickle
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankproof as rp
from rankproof import functional, sample
from rankproof.bench.chunk.chunker import Chunker, chunked
from rankproof.bench.retrieve import dense, keyword, rerank, where
from rankproof.bench.retrieve.rewriting import rewrite_question
from rankproof.io.load import load_rankings
from rankproof.monitoring.interleave import score_interleaving, team_draft
from rankproof.monitoring.online_tests import clicks
from tests.shell import rankproof

JUDGED = {f"q{i}": {"a": 1, "b": 0} for i in range(12)}
RUN = {query: {"a": 1.0, "b": 0.5} for query in JUDGED}
OTHER = {query: ["b", "a"] for query in JUDGED}
SCORES, THEIRS = rp.evaluate(JUDGED, RUN, "RR,AP"), rp.evaluate(JUDGED, OTHER, "RR,AP")
SAMPLES = [{"question": "q", "contexts": ["c"], "answer": "a"}]
RUNS, BOTH = {"x": RUN, "y": OTHER}, {"x": SCORES, "y": THEIRS}
SPANS = {"q": [("d", 0, 5, 1)]}
WRONG: tuple[Any, ...] = (
    *(None, 1, -1, 0, 1.5, math.nan, math.inf, True, 10**30, -(10**30), 1e308, 5e-324, 1e-300, 1 - 2**-53),
    *(
        "",
        "no such",
        "nDCG@ten",
        "x.run",
        b"bytes",
        "RR",
        "nDCG@0",
        "P@-1",
        "nDCG(gain=1)",
        "nDCG(",
        "RR@1.5",
    ),
    *(
        [],
        {},
        (),
        [None],
        [1, 2],
        set(),
        {"a"},
        range(3),
        [("q1",)],
        [("q1", "a", "x")],
        ["RR", 3],
        ["RR", None],
    ),
    *({"q1": None}, {"q1": 1}, {"q1": "a"}, {None: 1}, {1: {2: 3}}, {"q1": {"a": "x"}}, {"q1": {"a": None}}),
    *({"q1": [None]}, {"q1": [["a"]]}, {"q1": {"a": math.nan}}, {"q1": {"": 1}}, {"": {"a": 1}}),
    *(object(), np.array([1, 2]), np.zeros((2, 2)), SCORES, JUDGED, RUN, RUNS, {"a": SCORES}),
    *({"a": SCORES, "b": None}, {"a": RUN, "b": None}, {"a": RUN, "b": 3}),
    *(np.array(5), pl.DataFrame({"a": [1, 2]}), "x" * 5000, "\ud800", "a\0b"),
)
MADE = Path(mkdtemp())


def _history(*_: Any) -> rp.History:
    MADE.joinpath("h.db").unlink(missing_ok=True)
    found = rp.History(MADE / "h.db")
    found.save(SCORES, "one")
    return found


def _verdicts(*_: Any) -> rp.Verdicts:
    MADE.joinpath("v.db").unlink(missing_ok=True)
    rp.judge(SAMPLES, "faithfulness", ledger=MADE / "v.db")
    return rp.Verdicts(MADE / "v.db")


COMPARED = rp.compare(JUDGED, RUNS, "RR")
SHOWN = [{"ts": 1.0, "query": "q", "results": ["a", "b"], "clicks": [1], "user": "u", "variant": "A"}]
VERBS: dict[str, tuple[Callable[..., Any], Sequence[Any], Mapping[str, Any]]] = {
    "evaluate": (
        rp.evaluate,
        (JUDGED, RUN, "RR"),
        {
            "by": None,
            "profile": None,
            "ties": "trec",
            "corpus": None,
            "context_k": None,
            "unjudged_grade": 1.0,
        },
    ),
    "compare": (
        rp.compare,
        (JUDGED, RUNS, "RR"),
        {"baseline": None, "by": None, "seed": 0, "alpha": 0.05, "margin": None},
    ),
    "compare_scores": (rp.compare_scores, (BOTH, "RR"), {"baseline": None, "alpha": 0.05}),
    "gate": (
        rp.gate,
        (JUDGED, RUN, OTHER, "RR"),
        {"margin": 0.01, "alpha": 0.05, "floors": None, "coverage": None},
    ),
    "gate_scores": (rp.gate_scores, (SCORES, THEIRS, "RR"), {"margin": 0.01}),
    "diagnose": (
        rp.diagnose,
        (JUDGED, RUN, "RR"),
        {"queries": None, "corpus": None, "k": None, "alpha": 0.05, "seed": 0},
    ),
    "explain": (rp.explain, (JUDGED, RUN, "q1", "RR"), {"profile": None, "versus": None}),
    "audit": (rp.audit, (JUDGED, RUN, "RR"), {}),
    "leaderboard": (rp.leaderboard, (BOTH, "RR"), {"alpha": 0.05, "seed": 0}),
    "rank_correlation": (rp.rank_correlation, ({"x": 1, "y": 2, "z": 3}, {"x": 1, "y": 2, "z": 3}), {}),
    "fuse": (rp.fuse, (RUNS,), {}),
    "pool": (rp.pool, (RUNS,), {}),
    "questions_needed": (rp.questions_needed, (JUDGED, RUN, OTHER, "RR", 0.1), {"power": 0.8, "alpha": 0.05}),
    "prepare": (rp.prepare, (JUDGED,), {}),
    "split_questions": (rp.split_questions, ({"q1": "a", "q2": "b"}, {"a": 0.5, "b": 0.5}), {"kinds": None}),
    "draw_questions": (rp.draw_questions, (sample.corpus(), 3), {}),
    "check_questions": (rp.check_questions, ({"q1": "a"}, JUDGED), {"corpus": None, "rankings": None}),
    "judge": (rp.judge, (SAMPLES, "faithfulness"), {"judge": "lexical", "k": None, "complete": 1.0}),
    "stress": (rp.stress, (SAMPLES, "faithfulness"), {}),
    "agreement": (rp.agreement, (JUDGED, JUDGED), {}),
    "evaluate_spans": (rp.evaluate_spans, (SPANS, {"q": [("d", 0, 5)]}, "SpanR"), {}),
    "frame": (SCORES.frame, ("polars",), {}),
    "format": (SCORES.format, ("table",), {}),
    "item": (SCORES.__getitem__, ("RR",), {}),
    "worst": (SCORES.worst, (3, "RR"), {}),
    "interval": (SCORES.interval, ("RR", 0.95), {}),
    "bounds": (SCORES.bounds, ("RR", "ties"), {}),
    "from_dict": (rp.Scores.from_dict, (SCORES.to_dict(),), {}),
    "only": (SCORES.only, ("RR", "q1"), {}),
    "save": (SCORES.save, (MADE / "s.json",), {"force": True}),
    "judged_from_dict": (rp.JudgedScores.from_dict, (rp.judge(SAMPLES, "faithfulness").to_dict(),), {}),
    "of": (rp.prepare(JUDGED).of, ("q1",), {}),
    "cases": (COMPARED.cases, (3, "y"), {}),
    "moved": (COMPARED.moved, ("y", "RR"), {}),
    "history_save": (lambda *given, **more: _history().save(*given, **more), (SCORES, "n"), {"replace": False}),
    "history_show": (lambda name: _history().show(name), ("one",), {}),
    "history_export": (lambda *given: _history().export_to(*given), (MADE / "e.json", "one"), {}),
    "history_import": (lambda *given: _history().import_from(*given), (MADE / "e.json",), {}),
    "Verdicts": (rp.Verdicts, (MADE / "new.db",), {}),
    "override": (lambda *given, **more: _verdicts().override(*given, **more), ("3f", 1), {"by": "ana", "why": ""}),
    "labels": (rp.calibrate, (SAMPLES, lambda _: 1), {"metrics": "faithfulness", "who": "a", "n": 1, "seed": 0}),
    "kinship": (rp.kinship, (JUDGED, JUDGED, RUNS, "RR"), {"judge": None, "models": None}),
    "tune": (rp.tune, (JUDGED, RUNS, "rrf", "RR"), {"normalise": None, "grid": {"k": [1, 60]}, "share": 0.5}),
    "rank": (functional.ndcg_at_k, (["a"], {"a": 1}, 2), {"gain": "linear", "ideal": "all"}),
    "entities": (functional.context_entity_recall, (["a"], ["a"]), {}),
    "clicks": (clicks, (SHOWN,), {"propensities": [1, 0.5], "k": None, "swapped": False}),
    "interleaved": (score_interleaving, ([{"teams": ["a", "b"], "clicks": [1]}],), {"level": 0.95}),
    "team_draft": (team_draft, ({"a": ["1"], "b": ["2"]}, 2, 0), {}),
}


@pytest.mark.first_is_quick
@pytest.mark.parametrize("name", VERBS)
def test_no_error_of_the_inside_leaves_a_verb(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(MADE)
    verb, arguments, named = VERBS[name]
    leaked = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for place in (*range(len(arguments)), *named):
            for wrong in WRONG:
                given, settings = list(arguments), {}
                if isinstance(place, int):
                    given[place] = wrong
                else:
                    settings = {place: wrong}
                try:
                    repr(verb(*given, **settings))
                except rp.RankproofError as error:
                    if "Next:" not in str(error) or len(str(error)) > 1500:
                        leaked.append((place, repr(wrong)[:40], str(error)))
                except Exception as error:  # whatever it is, it is what this test looks for
                    leaked.append((place, repr(wrong)[:40], f"{type(error).__name__}: {error}"))
    assert not leaked


def test_calls_that_are_often_mistaken_say_what_to_call() -> None:
    with pytest.raises(rp.RankproofError, match=r"compare\(judgments, rankings\)"):
        rp.evaluate(JUDGED, RUNS)
    for verb in (rp.diagnose, rp.audit, lambda judged, ranked: rp.explain(judged, ranked, "q1")):
        with pytest.raises(rp.RankproofError, match=r"got rankings by name \('x', 'y'\), expected one"):
            verb(JUDGED, RUNS)
    for named in ({"measures": "RR"}, {"tie": "trec"}):
        with pytest.raises(rp.RankproofError, match=f"diagnose: unknown argument '{next(iter(named))}'"):
            rp.diagnose(JUDGED, RUN, **named)
    for second in (OTHER, "other.run"):
        with pytest.raises(rp.RankproofError, match=r"compare\(judgments, \{'before': first, 'after': second\}\)"):
            rp.compare(JUDGED, "a.run" if second == "other.run" else RUN, second)
    for two in (
        lambda: rp.leaderboard(JUDGED, RUNS, "Hit@5,MRR"),
        lambda: rp.questions_needed(JUDGED, RUN, OTHER, "P@1, RR"),
    ):
        with pytest.raises(rp.RankproofError, match="got 2 measures, expected one"):
            two()
    assert rp.diagnose(JUDGED, RUN, "RR").measure == rp.diagnose(JUDGED, RUN, measure="RR").measure == "RR"
    for error in (KeyError, rp.RankproofError):
        with pytest.raises(error, match="was not measured; there are RR, AP"):
            SCORES["nDCG@10"]


PAIRS = {query: [("b", 0.5), ("a", 0.25)] for query in JUDGED}
ONE_RANKING = {"scored": RUN, "listed": OTHER, "pairs": PAIRS, "path": "a.run", "rows": [("q1", "a", 1.0)]}
OF_SEVERAL: dict[str, Callable[[Any], Any]] = {
    "compare": lambda ranking: rp.compare(JUDGED, ranking),
    "leaderboard": lambda ranking: rp.leaderboard(JUDGED, ranking),
    "report": lambda ranking: rp.report(JUDGED, ranking),
    "kinship": lambda ranking: rp.kinship(JUDGED, JUDGED, ranking),
    "fuse": rp.fuse,
    "pool": rp.pool,
    "tune": lambda ranking: rp.tune(JUDGED, ranking),
}


@pytest.mark.parametrize("one", [RUN, OTHER, pl.DataFrame({"query": ["q1"], "doc": ["a"]}), SCORES])
def test_a_list_of_systems_is_not_called_one_ranking(one: Any) -> None:
    for verb in (rp.compare_scores, lambda systems: rp.report(JUDGED, systems)):
        with pytest.raises(rp.RankproofError, match="got a list of 2, expected"):
            verb([one, one])


def test_systems_without_names_of_their_own_are_refused() -> None:
    for names in (["", "b"], [5, "5"]):
        for verb in OF_SEVERAL.values():
            with pytest.raises(rp.RankproofError, match=r"got the names .*, expected a text each"):
                verb(dict(zip(names, RUNS.values(), strict=True)))


@pytest.mark.parametrize("name", OF_SEVERAL)
def test_one_ranking_where_several_are_needed_says_so(name: str) -> None:
    listed = name in ("fuse", "pool", "tune")  # they take a list of rankings too
    for kind, ranking in (*ONE_RANKING.items(), ("frame", pl.DataFrame({"query": ["q1"], "doc": ["a"]}))):
        if listed and kind in ("path", "rows", "frame"):
            continue
        with pytest.raises(rp.RankproofError, match=r"got one ranking, expected \d or more systems by name"):
            OF_SEVERAL[name](ranking)
    mine = {
        "a": [("q1", "a"), ("q2", "a")],
        "b": [("q1", 7), ("q2", 8)],
    }  # rows, each of a query and a document
    assert list(load_rankings({"a": mine["a"]})) == ["a"]
    assert list(load_rankings({"b": mine["b"]})) == ["b"]


WRONG_NAMES = (
    "metrics",
    "metric",
    "k",
    "qrels",
    "run",
    "ground_truth",
    "documents",
    "llm",
    "random_state",
    "no_such",
)
FUNCTIONS = {name: getattr(rp, name) for name in rp.__all__ if name.islower()}
METHODS = {
    f"{kind.__name__}.{name}": each
    for kind in (rp.Benchmark, rp.Judge, rp.History, rp.Scores)
    for name, each in vars(kind).items()
    if inspect.isfunction(each) and (not name.startswith("_") or name == "__init__")
}


@pytest.mark.parametrize("name", [*FUNCTIONS, *METHODS])
def test_a_wrong_name_of_an_argument_says_the_right_one(name: str) -> None:
    verb = {**FUNCTIONS, **METHODS}[name]
    own = inspect.signature(verb).parameters
    needed = [each.name for each in own.values() if each.default is each.empty and each.kind < each.VAR_POSITIONAL]
    arguments: Sequence[Any] = VERBS[name][1][: len(needed)] if name in VERBS else [None] * len(needed)
    handed_on = any(each.kind == each.VAR_KEYWORD for each in own.values())
    for wrong in WRONG_NAMES:
        if wrong in own or (handed_on and name not in VERBS) or (name == "fuse" and wrong == "k"):
            continue
        with pytest.raises((TypeError, rp.RankproofError), match="Next: ") as caught:
            verb(*arguments, **{wrong: "RR"})
        assert wrong in str(caught.value)
        assert isinstance(caught.value, rp.RankproofError)
        assert name == "fuse" or isinstance(caught.value, TypeError)  # it has parameters of its methods
    if needed and needed != ["self"]:
        with pytest.raises(TypeError, match=f"missing .*{needed[-1]}.* expected .*Next: "):
            verb(*arguments[:1] if needed[0] == "self" else ())
    if not any(each.kind == each.VAR_POSITIONAL for each in own.values()):
        with pytest.raises(TypeError, match="Next: "):
            verb(*[None] * 60)


def test_the_name_here_is_said() -> None:
    for wrong, right in {
        "evaluate: unknown argument 'metrics' (here 'measures'). Next: write measures=... instead.": {"metrics": "RR"},
        "evaluate: unknown argument 'k' (a cut-off is part of a measure's name here). Next: write "
        "measures='nDCG@10' instead.": {"k": 5},
        "evaluate: unknown argument 'tie'. Did you mean 'ties'? Next: name one of measures, ": {"tie": "trec"},
    }.items():
        with pytest.raises(rp.RankproofError, match=re.escape(wrong)):
            rp.evaluate(JUDGED, RUN, **right)
    with pytest.raises(TypeError, match=r"'qrels' \(here 'judgments'\), 'run' \(here 'ranking'\)"):
        rp.evaluate(qrels=JUDGED, run=RUN)
    with pytest.raises(TypeError, match="multiple values for argument 'measures', expected"):
        rp.evaluate(JUDGED, RUN, "RR", measures="RR")


def test_a_convention_that_is_handed_on_is_not_said_to_be_unknown() -> None:
    with pytest.raises(TypeError, match="explain: got multiple values for argument 'query', expected"):
        rp.explain(JUDGED, RUN, "RR", query="q1", ties="id")
    for verb in (rp.compare, rp.diagnose, rp.audit, rp.report):
        with pytest.raises(TypeError, match=f"{verb.__name__}: missing 1 required positional argument"):
            verb(JUDGED, ties="id")
    with pytest.raises(TypeError, match="diagnose: unknown argument 'tie'"):
        rp.diagnose(JUDGED, tie="id")


def test_an_error_of_the_data_is_said_though_an_argument_has_its_old_name() -> None:
    with (
        pytest.raises(rp.RankproofError, match=r"missing\.tsv: no such file"),
        pytest.warns(DeprecationWarning, match="is now corpus="),
    ):
        rp.report("missing.tsv", {"a": {"q": ["d"]}, "b": {"q": ["e"]}}, documents={"d": "text"})


@pytest.mark.slow
@pytest.mark.cover
def test_an_error_of_a_users_function_says_which_one_and_where(tmp_path: Path) -> None:
    """In the shell in one line, with the line of the function; in Python it stays as it is, with a note."""
    (tmp_path / "mine.py").write_text(
        "from rankproof import measure\n@measure('Boom')\ndef boom(hits): raise KeyError('mine')\n"
    )
    (tmp_path / "own.py").write_text(
        "def embed(texts): raise OSError('no model')\ndef hook(event): return event.other['nope']\n"
    )
    events = list(rp.simulate_log(60, seed=1).records())
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, events)))
    data = [str(sample.folder() / name) for name in ("judgments.tsv", "dense.run", "queries.jsonl")]
    for arguments, says in (
        (["--import", "mine.py", "evaluate", *data[:2], "-m", "Boom"], "boom failed on .*Boom.*'mine'.*line 3"),
        (["--import", "mine.py", "gate", *data[:2], data[1], "-m", "Boom"], "boom failed on .*Boom.*'mine'.*line 3"),
        (["drift", data[2], "log.jsonl", "--embed", "own:embed"], "embed failed on .* texts.*no model.*line 1"),
        (["monitor", "log.jsonl", "--redact", "own:hook"], "hook failed on the event with ts .*'nope'.*line 2"),
    ):
        done = rankproof(tmp_path, *arguments)
        assert (done.returncode, done.stderr.count("\n")) == (3, 1), done.stderr  # a gate's 1 is a verdict
        assert re.search(rf"rankproof: {says}.*Next: ", done.stderr), done.stderr
    with pytest.raises(ZeroDivisionError) as caught:
        rp.monitor(events, change=lambda event: 1 / 0)
    assert "failed on the event with ts " in caught.value.__notes__[0]


class OfLangchain:
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[1.0, 0.0]] * len(texts)

    def embed_query(self, text: str) -> list[float]:
        raise KeyError(text)


def test_an_error_of_a_users_function_in_a_search_says_which_one() -> None:
    def broken(*given: Any) -> Any:
        raise KeyError(given[0])

    async def later(texts: list[str]) -> Any:
        raise KeyError("later")

    pages = sample.corpus()
    words = keyword(pages)
    for search, says in (
        (lambda: dense(pages, broken), "broken failed on 64 texts, the first 'Files"),
        (lambda: dense(pages, later), "later failed on 64 texts, the first 'Files"),
        (lambda: (words >> rerank(broken))("free?"), "broken failed on the question 'free\\?'"),
        (lambda: where(words, broken), "broken failed on the document 'account-signin-01'"),
        (lambda: where(words, topic=partial(broken, 1)), "broken failed on the value 'account'"),
        (lambda: chunked(pages, Chunker("own", {}, broken)), "broken failed on the document 'account-signin-01'"),
        (lambda: rewrite_question(broken, "free?"), "broken failed on the question 'free\\?'"),
        (
            lambda: (words >> rerank(SimpleNamespace(predict=broken)))("free?"),
            "broken failed on the question 'free\\?'",
        ),
        (lambda: dense(pages, OfLangchain())("free?"), "embed_query failed on the question 'free\\?'"),
    ):
        with pytest.raises(KeyError) as caught:
            search()
        assert re.search(says, caught.value.__notes__[0])
    rows = rp.Benchmark.sample().run("own", words >> rerank(broken)).rows
    assert {row.failure.partition("broken: ")[2][:9] for row in rows if row.failure} == {"KeyError:"}


def test_an_error_of_ours_is_not_put_down_to_a_function_of_the_users() -> None:
    broken = replace(rp.evaluate(JUDGED, RUN, "RR").hits, grade=None)  # as a fault of ours would
    with pytest.raises(TypeError) as caught:
        rp.RR(broken)
    assert not hasattr(caught.value, "__notes__")


def test_errors_of_a_users_callable_stay_its_own() -> None:
    def group(query: str, other: str) -> str:
        return query + other

    with pytest.raises(TypeError, match="missing 1 required positional argument: 'other'") as caught:
        rp.evaluate(JUDGED, RUN, by=group)  # type: ignore[arg-type]
    assert type(caught.value) is TypeError


def test_a_verb_can_be_sent_to_another_process() -> None:
    for verb in FUNCTIONS.values():
        assert pickle.loads(pickle.dumps(verb)) is verb


@pytest.mark.parametrize("wrong", [None, 5, 0.5, object()])
def test_an_argument_of_a_wrong_type_is_named(wrong: Any) -> None:
    events = rp.simulate_log(20, seed=1).records()
    with pytest.raises(rp.RankproofError, match=r"timezone: got .* Next: "):
        rp.monitor(events, timezone=wrong)
    with pytest.raises(rp.RankproofError, match=r"seed: got .* Next: "):
        rp.drift({"q": "how"}, events, seed="x" if wrong == 5 else wrong)
    if wrong is not None:
        for long in ([wrong] * 900, f"{wrong} " * 900):
            for settings in ({"columns": long}, {"by": long}):
                with pytest.raises(rp.RankproofError, match="Next: ") as caught:
                    rp.evaluate(JUDGED, RUN, "RR", **settings)
                assert len(str(caught.value)) < 600
        with pytest.raises(rp.RankproofError, match=r"columns: got .* Next: "):
            rp.evaluate(JUDGED, RUN, "RR", columns=wrong)


@pytest.mark.parametrize("name", ["by", "sparse", "fields", "cutoffs", "columns", "alerts"])
def test_lists_of_a_log_are_named_where_they_are_none(name: str) -> None:
    events = list(rp.simulate_log(20, seed=1).records())
    for wrong in (5, 0.5, object(), [5.5], [None]):
        if name == "cutoffs" and wrong == 5:
            continue
        with pytest.raises(rp.RankproofError, match=rf"{name}.*: got .* Next: "):
            rp.monitor(events, **{name: wrong})
    if name in ("by", "sparse", "fields"):
        one, several = (rp.monitor(events, **{name: given}) for given in ("clicks", ["clicks"]))
        assert one.to_dict() == several.to_dict()


@pytest.mark.parametrize("wrong", [5, ["a"], {"a": 5}, {"a": None}])
def test_anchors_are_scores_by_name(wrong: Any) -> None:
    with pytest.raises(rp.RankproofError, match=r"anchors: got .*, expected scores by name. Next: "):
        rp.gate(JUDGED, RUN, RUN, "RR", anchors=wrong)


TAKING_MEASURES = [
    (name, place)
    for name, (verb, arguments, _) in VERBS.items()
    for place, asked in enumerate(inspect.signature(verb).parameters)
    if asked in ("measure", "measures", "metrics") and place < len(arguments)
]


@pytest.mark.parametrize(("name", "place"), TAKING_MEASURES)
def test_values_beside_measures_are_not_passed_over(name: str, place: int) -> None:
    verb, arguments, _ = VERBS[name]
    given = list(arguments)
    given[place] = {"faithfulness" if name in ("judge", "stress") else "RR": 0.05}
    with pytest.raises(rp.RankproofError, match=r"got .*Next: "):
        verb(*given)


@pytest.mark.parametrize("name", ["evaluate", "compare", "gate", "judge"])
def test_a_set_of_measures_has_one_order(name: str) -> None:
    verb, arguments, _ = VERBS[name]
    wanted = ["context_relevance", "faithfulness"] if name == "judge" else ["AP", "P@5", "R@5", "RR", "nDCG@10"]
    before = arguments[: dict(TAKING_MEASURES)[name]]
    assert verb(*before, set(wanted)).format("json") == verb(*before, wanted).format("json")
