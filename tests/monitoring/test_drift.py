"""An evaluation set against the query log: false alarms, power, coverage of the re-weighted score, what to label."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankproof import drift, evaluate, judge, judge_drift, sample, simulate_log
from rankproof.cli import run
from rankproof.errors import DataError, UsageError
from rankproof.io.corpora import load_corpus
from rankproof.io.load import load_judgments, load_ranking
from rankproof.monitoring.coverage import live_score
from rankproof.monitoring.drift import hashes_of, stale_judgments, twins_with, twins_within
from rankproof.monitoring.drift_words import _score
from rankproof.monitoring.log_samples import MOST_OF_ONE, live_queries, normal_form
from rankproof.monitoring.simulated_users import TOPICS
from rankproof.stats.corrections import holm
from tests.shell import rankproof

pytestmark = pytest.mark.cover

BEFORE = simulate_log(10)
"""Whose topics evaluation sets are drawn from: those of old."""


def queries_of(n: int, seed: int) -> dict[str, str]:
    return {each["id"]: each["query"] for each in BEFORE.evaluation_set(n, seed=seed)}


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: Any, capsys: Any) -> Callable[[str], tuple[int, str, str]]:
    monkeypatch.chdir(tmp_path)

    def call(words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(words.split())
        return code, *capsys.readouterr()

    return call


@pytest.mark.slow
def test_topics_that_are_new_are_found_named_and_proposed() -> None:
    log = simulate_log(900, seed=5, users=300, drift_on=0, drift_share=0.5)
    found = drift(queries_of(80, 7), log.records(), seed=1)
    assert found.drifted
    assert {each.name for each in found.shifts if each.p_corrected <= 0.05} >= {"wording", "vocabulary"}
    assert [each.p_corrected for each in found.shifts] == holm([each.p for each in found.shifts])
    new = {
        word
        for name, _, _, words in TOPICS
        if name not in {e["topic"] for e in BEFORE.evaluation_set(500)}
        for word in words.split()
    }
    proposed = [set(normal_form(each.text).split()) & {normal_form(word) for word in new} for each in found.label[:10]]
    assert sum(map(bool, proposed)) >= 8
    assert found.nearness.covered.value < 0.8 < found.nearness.fresh
    texts = [each.text for each in found.label]
    assert len(texts) == len(set(texts)) == 30
    assert not set(texts) & set(queries_of(80, 7).values())


@pytest.mark.slow
def test_a_set_drawn_from_the_log_has_not_drifted_even_if_one_user_sends_half_of_it() -> None:
    log = simulate_log(900, seed=6, users=300, noisy=0.5)
    found = drift(queries_of(80, 8), log.records(), label=5)
    assert not found.drifted
    users = [found.live.users.count(each) for each in set(found.live.users)]
    assert max(users) <= MOST_OF_ONE


@pytest.mark.no_cover
@pytest.mark.slow
def test_false_alarms_are_as_rare_as_stated() -> None:
    from benchmarks.drift import drifts

    found = list(drifts(10, 0.0, permutations=99))
    assert sum(each.drifted for each in found) <= 2  # 5 % is stated; more than 2 of 10 have a chance of 1 in 100
    ps = [each.p for one in found for each in one.shifts]
    assert sum(p <= 0.1 for p in ps) <= 11 < 25 <= sum(p > 0.3 for p in ps)  # of 50; 5 and 35 are expected


@pytest.mark.no_cover
@pytest.mark.slow
def test_the_interval_of_the_reweighted_score_covers_the_truth() -> None:
    from benchmarks.drift import coverage

    live, own = coverage(25, 80)
    assert live >= 0.8 > own + 0.1


def test_reweighting_counts_each_kind_as_often_as_it_is_asked() -> None:
    kind = np.array([0] * 6 + [1] * 4 + [0] * 10 + [1] * 30)
    values = {f"q{i}": (1.0 if i < 6 else 0.0) - 0.01 * (i % 2) * (1 if i < 6 else -1) for i in range(10)}
    found = live_score("x", values, list(values), kind, np.arange(40), (0.0, 1.0))
    by_hand = 0.25 * np.mean([values[f"q{i}"] for i in range(6)]) + 0.75 * np.mean(
        [values[f"q{i}"] for i in range(6, 10)]
    )
    assert found.live is not None
    assert found.live.value == pytest.approx(by_hand)
    assert found.live.low <= found.live.value <= found.live.high
    assert found.bounds == (pytest.approx(by_hand), pytest.approx(by_hand))
    equal = live_score("x", dict.fromkeys(values, 0.5), list(values), kind, np.arange(40), (0.0, 1.0))
    assert equal.live is not None
    assert equal.live.low < 0.5 < equal.live.high


def test_a_set_that_speaks_for_little_gets_no_reweighted_score() -> None:
    kind = np.array([0] * 10 + [0] * 10 + [1] * 30)
    found = live_score(
        "x", {f"q{i}": i / 10 for i in range(10)}, [f"q{i}" for i in range(10)], kind, np.arange(40), (0, 1)
    )
    assert found.live is None
    assert found.unspoken == 0.75
    half = live_score("x", {"q0": 1.0, "q1": 0.5}, ["q0", "q1"], np.array([0, 0, 0, 0, 0, 1]), np.arange(4), (0, 1))
    assert half.bounds == (pytest.approx(0.75 * 0.75), pytest.approx(0.75 * 0.75 + 0.25))
    assert "on what people ask" in (said := _score(half))
    assert not re.search(r"\.\d{3}", said)


def test_logs_of_all_forms_hold_the_same_queries(tmp_path: Path) -> None:
    texts = [f"refund for order {i}" for i in range(25)]
    records = [{"ts": 1.7e9 + i, "question": text, "user_id": f"u{i}"} for i, text in enumerate(texts)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    (tmp_path / "a.csv").write_text("query,user\n" + "".join(f"{t},u{i}\n" for i, t in enumerate(texts)))
    (tmp_path / "a.txt").write_text("\n".join(["query", *texts]))
    (tmp_path / "b.tsv").write_text("query\tvotes\tmeta\n" + "".join(f"{t}\t1\tm\n" for t in texts))
    forms = [texts, records, *(str(tmp_path / name) for name in ("a.jsonl", "a.csv", "a.txt", "b.tsv"))]
    for each in forms:
        found = live_queries(each)
        assert (sorted(found.texts), found.without) == (sorted(texts), 0), each
    odd = live_queries([*records, {"ts": 1}, {"ts": 1.7e9, "query": "  "}, 7, None])
    assert len(odd.texts) == 25
    assert (odd.without, odd.rejected) == (1, {"time out of range": 1, "no object": 2})
    with pytest.raises(DataError, match="no query"):
        live_queries([{"ts": 1.7e9}])


def test_lines_of_one_event_are_one_live_query() -> None:
    rows = [{"ts": 1.7e9 + at, "id": f"e{at}", "query": f"refund for order {at}"} for at in range(20)]
    again = [*rows, *rows, {**rows[0], "query": "parking"}]  # an id that is used again keeps both queries
    found = live_queries(again)
    assert (found.events, found.askers, found.unit) == (21, 21, "query")
    assert sorted(found.texts) == sorted({each["query"] for each in again})


def test_who_repeats_a_query_in_a_session_asks_once() -> None:
    rows = [
        {"ts": 1.7e9, "query": q, "user": u, "session": s}
        for q, u, s in [("A?", "x", "1"), ("a", "x", "1"), ("a", "x", "2"), ("b", "y", "3")]
    ]
    found = live_queries(rows)
    assert sorted(map(normal_form, found.texts)) == ["a", "a", "b"]
    assert found.events == 4
    assert found.turn == [0, 0, 1]


def test_vanished_and_changed_documents_and_the_queries_they_touch() -> None:
    graded = load_judgments({"q1": {"d1": 1, "d2": 0}, "q2": {"d2": 2}, "q3": {"d3": 1, "d4": 0}})
    then = load_corpus({"d1": "one", "d2": "two", "d3": "three", "d4": "four"})
    hashes = hashes_of(graded, then)
    now = load_corpus({"d2": "two, but otherwise", "d3": " three\n", "d5": "new"})
    found = stale_judgments(graded, now, hashes)
    assert (found.vanished, found.changed, found.queries) == (["d1", "d4"], ["d2"], ["q1", "q2"])
    assert (found.judged, found.compared) == (4, 2)
    assert stale_judgments(graded, now).changed == []


def test_duplicates_and_leaks() -> None:
    own = {
        "a": "Where is my refund?",
        "b": "where is my REFUND",
        "c": "tax number of an invoice",
        "d": "hours",
    }
    assert [(t.query, t.other, t.same) for t in twins_within(own)] == [("b", "a", True)]
    leaked = twins_with(own, [{"query": "number of tax invoices"}, {"query": "Hours!"}, {"query": "other"}])
    assert [(t.query, t.same) for t in leaked] == [("c", False), ("d", True)]
    with pytest.raises(DataError, match="item 1"):
        twins_with(own, [{"nothing": 1}])


@pytest.mark.slow
def test_scores_come_from_a_ranking_or_from_evaluate_alike() -> None:
    rng = random.Random(1)
    asked = [
        f"{rng.choice(['refund', 'parcel', 'invoice'])} {rng.choice(['late', 'lost', 'wrong'])} {i}" for i in range(60)
    ]
    own = {f"q{i}": f"{w} {i}" for i, w in enumerate(["refund late", "parcel lost", "invoice wrong"] * 5)}
    judgments = {q: {"d1": 1} for q in own}
    ranking = {q: ["d1", "d2"] if i % 3 else ["d2", "d1"] for i, q in enumerate(own)}
    one = drift(own, asked, judgments=judgments, ranking=ranking, measures="RR")
    two = drift(own, asked, judgments=judgments, scores=evaluate(judgments, ranking, "RR"))
    assert one.to_dict() == two.to_dict()
    assert one.scores[0].own.value == pytest.approx(5 / 6)
    json.dumps(one.to_dict())
    assert all(len(line) <= 80 for line in str(one).splitlines())
    assert drift({**own, "z": "unjudged"}, asked, judgments=judgments).notes == [
        "1 queries without judgments are left out."
    ]


def test_queries_without_words_are_left_out_and_named() -> None:
    asked, own = [f"refund of order {i}" for i in range(30)], {f"q{i}": f"refund {i}" for i in range(9)}
    for nothing in ("", " ", "?!", None):
        found = drift({**own, "z": nothing}, [*asked, nothing])
        assert found.notes == ["Left out: 1 of 10 queries has no words, like 'z'."]
        assert (found.n, found.live.events, found.live.without) == (9, 30, 1 if nothing is not None else 0)
    judged = {name: {"d": 1} for name in [*own, "z"]}
    assert drift({**own, "z": "?"}, asked, judgments=judged).notes == found.notes
    leaked = drift(own, asked, training={**own, "z": " "}).leaked
    assert leaked is not None
    assert len(leaked) == 9


@pytest.mark.first_is_quick(3)
@pytest.mark.parametrize(
    ("arguments", "settings", "words"),
    [
        (({"q": "a"}, ["b"] * 30), {}, "at least 5"),
        (([f"a {i}" for i in range(9)], ["b"] * 3), {}, "and 20"),
        (([f"a {i}" for i in range(9)], ["b"] * 30), {"corpus": {"d": "x"}}, "without judgments"),
        (([f"a {i}" for i in range(9)], ["b"] * 30), {"ranking": {}}, "without judgments"),
        (([f"a {i}" for i in range(9)], ["b"] * 30), {"measures": "AP"}, "measures without ranking"),
        (([f"a {i}" for i in range(9)], ["b"] * 30), {"hashes": {}}, "without corpus"),
        (
            ({f"q{i}": f"a {i}" for i in range(9)}, ["b"] * 30),
            {"hashes": {"d": 3}, "corpus": {"d": "x"}, "judgments": {f"q{i}": {"d": 1} for i in range(9)}},
            "hashes: got .*, expected {document: hash}",
        ),
        (
            ({f"q{i}": f"a {i}" for i in range(9)}, ["b"] * 30),
            {"hashes": "nowhere.json", "corpus": {"d": "x"}, "judgments": {f"q{i}": {"d": 1} for i in range(9)}},
            "nowhere.json: no such file",
        ),
        (([f"a {i}" for i in range(9)], ["b"] * 30), {"label": -1}, "label"),
        (([f"a {i}" for i in range(9)], ["b"] * 30), {"judge": "x"}, "judge_drift"),
        (([f"a {i}" for i in range(9)], ["b"] * 30), {"judgments": {"z": {"d": 1}}}, "none of 9"),
        (([f"a {i}" for i in range(9)], ["b"] * 30), {"embed": lambda texts: [1.0]}, "one vector for each"),
        (([f"a {i}" for i in range(9)], []), {}, "the log holds no event: it is empty"),
        (([f"a {i}" for i in range(9)], [None]), {}, "no query with a word in 1 record\\."),
        (("q.jsonl",), {}, "no log"),
    ],
)
def test_errors_say_what_to_do(arguments: tuple[Any, ...], settings: dict[str, Any], words: str) -> None:
    with pytest.raises((UsageError, DataError), match=words) as error:
        drift(*arguments, **settings)
    assert "Next:" in str(error.value)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"embed": 3}, "got 3, expected a function"),
        ({"embed": lambda texts: [[1.0] * (1 + i % 3) for i, _ in enumerate(texts)]}, "39 rows of numbers"),
        ({"embed": lambda texts: [["a"] for _ in texts]}, "39 rows of numbers"),
        ({"embed": lambda texts: [[1j, 2] for _ in texts]}, "complex"),
        ({"embed": lambda texts: [[1.0, 2.0] for _ in texts[1:]]}, "shape \\(38, 2\\)"),
        (
            {"embed": lambda texts: [[math.nan if i == 3 else 1.0, i] for i, _ in enumerate(texts)]},
            "1 of 39 vectors",
        ),
        ({"embed": lambda texts: [[0.0, 0.0] for _ in texts]}, "got zeros for all 39"),
        ({"embed": lambda texts: [[3.0, 1.0] for _ in texts]}, "the same vector for all 39"),
        ({"embed": lambda texts: [[] for _ in texts]}, "got zeros"),
        ({"scores": {"AP": {"other": 0.5}}}, "none of 9 queries"),
        ({"scores": {"AP": {"1": math.nan}}}, "none of 9 queries"),
        ({"scores": {"AP": {"1": "high"}}}, "AP of '1' is 'high'"),
        ({"scores": {"AP": {"1": math.inf}}}, "AP of '1' is inf"),
        ({"scores": {"AP": [0.5]}}, "expected {measure"),
    ],
)
def test_vectors_and_scores_that_say_nothing_are_errors(settings: dict[str, Any], words: str) -> None:
    with pytest.raises((UsageError, DataError), match=words) as error:
        drift({str(i): f"a {i}" for i in range(9)}, [f"b {i}" for i in range(30)], **settings)
    assert "Next:" in str(error.value)


def test_vectors_of_any_size_are_compared_and_one_score_has_no_interval() -> None:
    own, now = {str(i): "a" * i for i in range(1, 9)}, [f"{'b' * (i % 9)} c" for i in range(30)]
    length = {"embed": lambda texts: [[len(text), 1] for text in texts]}
    huge = {"embed": lambda texts: [[len(text) * 1e300, 1e300] for text in texts]}
    objects = {"embed": lambda texts: np.array([[len(text), 1] for text in texts], dtype=object)}
    plain, *others = (drift(own, now, label=0, **each).to_dict()["shifts"] for each in (length, huge, objects))
    assert [plain, plain] == others != [[], []]
    one = " ".join(drift(own, now, scores={"AP": {"3": 0.5}}, label=0).format("full").split())
    assert "Your AP is 0.5000 on the set (of 1 query); what it is" in one


def test_the_old_drift_still_asks_a_judge_and_says_its_new_name(tmp_path: Path) -> None:
    ledger = tmp_path / "v.db"
    samples = [{"query": f"q {i}?", "contexts": [f"text {i} says q"], "answer": "a"} for i in range(4)]
    judge(samples, "P@1", judge="lexical", ledger=ledger)
    with pytest.warns(DeprecationWarning, match="judge_drift"):
        old = drift(str(ledger))
    assert old.to_dict()["judge"] == judge_drift(ledger).to_dict()["judge"]


@pytest.mark.slow
def test_writings_of_the_world_and_queries_without_letters() -> None:
    own = [f"{word}{i}" for word in ("返金", "배송", "возврат", "استرداد", "???") for i in range(3)]
    found = drift(own, [*own, "🙂", "--", *own, "営業時間"])
    assert not found.drifted
    assert found.live.without == 2
    assert str(found)


@pytest.mark.slow
def test_a_set_of_which_nobody_asks_the_like_counts_nothing() -> None:
    own = {f"q{n}": f"where is parcel {n}" for n in range(8)}
    found = drift(own, [f"refund of order {n}" for n in range(40)], scores={"RR": dict.fromkeys(own, 1.0)})
    assert found.unspoken == 1
    assert found.effective == 0
    assert set(found.weights.values()) == {0}
    assert [each.live for each in found.scores] == [None]
    assert "nan" not in str(found).lower()


@pytest.mark.slow
def test_the_command_says_it_in_80_columns_and_hands_on_what_to_label(
    shell: Any,
) -> None:
    log = simulate_log(600, seed=4, users=200, drift_on=0)
    own = BEFORE.evaluation_set(60, seed=2)
    log.save("log.jsonl")
    Path("q.jsonl").write_text("".join(json.dumps({"_id": e["id"], "text": e["query"]}) + "\n" for e in own))
    Path("j.qrels").write_text("".join(f"{e['id']} 0 {e['topic']}-1 1\n" for e in own))
    Path("r.run").write_text("".join(f"{e['id']} Q0 {e['topic']}-{r} {r} {9 - r} x\n" for e in own for r in (1, 2)))
    code, out, err = shell(
        "drift j.qrels log.jsonl --queries q.jsonl --run r.run -m P@1 --next-queries n.jsonl --next-run n.run --label 6"
    )
    assert code == 0, err
    assert all(len(line) <= 80 for line in out.splitlines())
    assert "Your P@1 is" in out
    assert "More with --full" in out  # a file beside it does not make the result one of a file
    assert shell("drift q.jsonl log.jsonl --strict --label 0")[0] == 1
    # A text of four or five words is no row of judgments.
    Path("q.tsv").write_text("".join(f"{e['id']}\t{e['query'].split()[0]} is it 1\n" for e in own))
    assert shell("drift q.tsv log.jsonl --label 0")[0] == 0
    code, out, _ = shell("drift q.jsonl log.jsonl -f json --label 6")
    found = json.loads(out)
    asked = [json.loads(line) for line in Path("n.jsonl").read_text().splitlines()]
    assert [each["_id"] for each in asked] == [each["id"] for each in found["label"]]
    assert set(load_ranking("n.run").table().query)
    assert shell("pool n.run -o pool.jsonl")[0] == 0
    code, _, err = shell("drift j.qrels log.jsonl")
    assert code == 2
    assert "--queries" in err
    assert shell("drift q.jsonl log.jsonl -f nothing")[0] == 2
    code, out, _ = shell("drift j.qrels log.jsonl --queries q.jsonl --run r.run -m P@1,R@1,R@2 --label 0")
    assert ", other measures, coverage" in out
    refused = shell("drift q.jsonl log.jsonl --keep-hashes h.json")
    assert (refused[0], refused[1]) == (2, ""), "refused before the comparison is made and printed"


def test_nothing_to_label_is_said_and_ends_well(shell: Any) -> None:
    asked = [{"user": f"u{at}", "query": f"refund of order {at}"} for at in range(30)]
    Path("log.jsonl").write_text("".join(json.dumps(each) + "\n" for each in asked))
    Path("q.jsonl").write_text("".join(json.dumps({"_id": e["user"], "text": e["query"]}) + "\n" for e in asked[:9]))
    said = {"--label 0": "there is no query to label", "--label 9": "the log has no results of these queries"}
    for label, why in said.items():
        code, out, err = shell(f"drift q.jsonl log.jsonl {label} --next-queries n.jsonl --next-run n.run --force")
        assert (code, why in err, Path("n.run").exists()) == (0, True, False), (out, err)
        assert bool(Path("n.jsonl").read_text()) == (label == "--label 9")


@pytest.mark.slow
def test_a_ranking_of_other_queries_is_an_error_in_every_face(tmp_path: Path) -> None:
    """What is re-weighted would be nought of every query; the shell ends in 3 as every verb does."""
    log = [
        {"time": f"2026-01-0{1 + n % 7}T00:00:00Z", "query": text} for n, text in enumerate(sample.queries().values())
    ]
    other = {f"x{query}": docs for query, docs in sample.rankings()["dense"].items()}
    found = drift(sample.queries(), log, judgments=sample.judgments(), ranking=other)
    assert any("None of the 60 judged queries" in each for each in found.wrong)
    for name in ("table", "full", "markdown", "html", "json"):
        assert "None of the 60 judged queries" in " ".join(found.format(name).split())
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(each) + "\n" for each in log))
    (tmp_path / "other.json").write_text(json.dumps(other))
    sides = [str(sample.folder() / name) for name in ("queries.jsonl", "judgments.tsv")]
    asked = ["drift", sides[0], "log.jsonl", "--judgments", sides[1], "--run", "other.json"]
    for more in ([], ["-f", "csv"], ["-o", "out.html"]):
        done = rankproof(tmp_path, *asked, *more)
        assert done.returncode == 3
        assert "None of the 60 judged queries" in " ".join((done.stdout + done.stderr).split())
