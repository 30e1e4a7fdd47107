"""Two files of judgments held against each other: agreement, corrected rank measures, and what to label next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankproof import calibrate_judgments, evaluate
from rankproof.errors import DataError, UsageError
from rankproof.io.load import load_judgments
from tests.judging.trust.worlds import Table, some_pairs, some_queries, world
from tests.shell import rankproof

MEASURES = "P@4, RR@10, nDCG@10, AP, Success@4, ERR@10"


def held(draws: int, queries: int, labels: Any, n: int, seed: int) -> tuple[dict[str, float], dict[str, float]]:
    """How often the interval holds what many queries come to, and the mean error against that of labels alone."""
    rng = np.random.default_rng(seed)
    parts = [evaluate(*world(rng, 400)[::2], MEASURES) for _ in range(6)]
    truth = {name: float(np.mean([each[name] for each in parts])) for name in parts[0].columns}
    inside, narrower = dict.fromkeys(truth, 0.0), dict.fromkeys(truth, 0.0)
    for _ in range(draws):
        people, machine, run = world(rng, queries)
        found = calibrate_judgments(machine, labels(rng, people, n), {"run": run}, MEASURES)
        for name, value in truth.items():
            each = found.estimate("run", name)
            assert each is not None
            inside[name] += (each.low <= value <= each.high) / draws
            narrower[name] += each.error / (each.alone or np.nan) / draws
    return inside, narrower


@pytest.mark.slow
def test_intervals_of_queries_judged_whole_hold_and_are_narrower() -> None:
    inside, narrower = held(6, 120, some_queries, 30, 5)
    assert np.mean(list(inside.values())) >= 0.9
    assert max(narrower.values()) < 0.9


@pytest.mark.slow
def test_thirty_labelled_queries_and_a_judge_save_a_fifth_of_the_error() -> None:
    """As in PRECISE (A. Divekar 2026): on ESCI the error of P@4 by 30 labelled queries falls from 4.45 to 3.50."""
    rng, saved = np.random.default_rng(0), []
    for _ in range(4):
        people, machine, run = {}, {}, {}
        for name in (f"q{i}" for i in range(500)):
            truth = rng.random(4) < rng.beta(7.6, 2.5)  # P@4 varies as it does there
            said = np.where(truth, rng.random(4) < 0.97, rng.random(4) >= 0.68)
            people[name] = {f"d{i}": int(each) for i, each in enumerate(truth)}
            machine[name] = {f"d{i}": int(each) for i, each in enumerate(said)}
            run[name] = [f"d{i}" for i in range(4)]
        each = calibrate_judgments(machine, some_queries(rng, people, 30), {"run": run}, "P@4").estimate("run", "P@4")
        assert each is not None
        assert each.alone is not None
        saved.append(1 - each.error / each.alone)
    assert 0.15 <= np.mean(saved) <= 0.27


@pytest.mark.slow
@pytest.mark.parametrize(("draws", "labels", "n", "queries"), [(30, some_queries, 30, 160), (60, some_pairs, 300, 60)])
def test_intervals_hold_in_many_worlds(
    draws: int, labels: Any, n: int, queries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankproof.judging.trust.two_judgments.DRAWS", 80)  # with more they are a little better
    monkeypatch.setattr("rankproof.judging.trust.two_judgments.DRAWS_OF_A_FOLD", 10)
    inside, _ = held(draws, queries, labels, n, 6)
    assert np.mean(list(inside.values())) >= 0.92
    assert min(inside.values()) >= 0.85


def test_what_people_say_of_everything_is_what_is_estimated() -> None:
    people, machine, run = world(np.random.default_rng(1), 40)
    found, truth = (
        calibrate_judgments(machine, people, {"run": run}, MEASURES),
        evaluate(people, run, MEASURES),
    )
    raw = evaluate(machine, run, MEASURES)
    for name, (said, each) in found.runs["run"].items():
        assert said == raw[name]
        assert each is not None
        assert each.value == pytest.approx(truth[name])
        assert each.queries == 40


def test_a_label_is_never_chosen_by_what_it_says() -> None:
    """Queries whose first document is relevant settle RR by themselves; they alone would make it 1."""
    rng = np.random.default_rng(2)
    people, machine, run = world(rng, 120)
    firsts = {query: {run[query][0]: grades[run[query][0]]} for query, grades in people.items()}
    each = calibrate_judgments(machine, firsts, {"run": run}, "RR@10").estimate("run", "RR@10")
    assert each is not None
    assert each.queries == 0
    assert abs(each.value - evaluate(people, run, "RR@10")["RR@10"]) < 0.08


def test_the_grade_that_is_relevant_reaches_measures_that_name_none() -> None:
    people, machine, run = world(np.random.default_rng(3), 40)
    doubled = [
        {query: {doc: 2 * grade for doc, grade in of.items()} for query, of in e.items()} for e in (machine, people)
    ]
    named = ["P@4", "AP", "RR(rel=1)", "P(rel=3)@4", "nDCG@10"]
    found = calibrate_judgments(*doubled, {"run": run}, named, rel=2).runs["run"]
    assert list(found) == ["P(rel=2)@4", "AP(rel=2)", "RR", "P(rel=3)@4", "nDCG@10"]
    assert found["P(rel=2)@4"][0] == evaluate(doubled[0], run, "P(rel=2)@4")["P(rel=2)@4"]
    assert list(calibrate_judgments(*doubled, {"run": run}, "P@4").runs["run"]) == ["P@4"]


def test_agreement_of_the_pairs_that_both_judged() -> None:
    machine = {"q1": {"a": 3, "b": 2, "c": 0, "x": 1}, "q2": {"a": 2, "b": 0, "y": 3}, "q3": {"z": 1}}
    people = {"q1": {"a": 3, "b": 0, "c": 0, "only": 1}, "q2": {"a": 2, "b": 0}, "q4": {"a": 1}}
    found = calibrate_judgments(machine, people, rel=2)
    assert (found.n, found.queries, found.machine_only, found.human_only, found.other_queries) == (
        5,
        2,
        3,
        1,
        1,
    )
    assert found.confusion == {(0, 0): 2, (0, 2): 1, (2, 2): 1, (3, 3): 1}
    assert found.kappa is not None
    assert found.kappa.kappa.value == pytest.approx((0.8 - 0.48) / 0.52)
    assert found.kappa.low < found.kappa.kappa.value < found.kappa.high
    assert (found.sensitivity.yes, found.sensitivity.n, found.specificity.yes, found.specificity.n) == (
        2,
        2,
        2,
        3,
    )


def test_an_interval_of_kappa_is_never_empty() -> None:
    rows = {f"q{i}": {"a": 1, "b": 0} for i in range(20)}
    found = calibrate_judgments(rows, rows)
    assert found.kappa is not None
    assert (found.kappa.kappa.value, found.kappa.high) == (1.0, 1.0)
    assert found.kappa.low < 0.95
    assert "No kappa" in str(calibrate_judgments({"q": {"a": 1}}, {"q": {"a": 1}}))


@pytest.mark.parametrize(
    ("human", "said"),
    [
        ({"other": {"a": 1}}, "are called, for example, 'other' and 'q1'"),
        ({"Q1": {"a": 1}, "Q2": {"b": 1}}, "in upper and lower case"),
        ({"q1": {"doc-a": 1, "doc-b": 1}}, "'doc-' at their start"),
    ],
)
def test_files_that_do_not_meet_are_an_error_with_a_way_out(human: Table, said: str) -> None:
    with pytest.raises(DataError, match="no pair of query and document") as error:
        calibrate_judgments({"q1": {"a": 1, "b": 0}, "q2": {"b": 1}}, human)
    assert said in str(error.value)
    assert "Next:" in str(error.value)


def test_too_few_labels_correct_nothing() -> None:
    people, machine, run = world(np.random.default_rng(3), 30)
    found = calibrate_judgments(machine, {"q0": people["q0"]}, {"run": run}, "P@4")
    assert found.estimate("run", "P@4") is None
    assert "nothing is corrected" in str(found)


@pytest.mark.slow
def test_a_run_that_meets_no_judgment_is_an_error_on_every_way_out(tmp_path: Path) -> None:
    people, machine, _ = world(np.random.default_rng(10), 30)
    (tmp_path / "odd.run").write_text("".join(f"{q} Q0 other{i} 1 1 x\n" for i, q in enumerate(people)))
    judged, human = write(tmp_path / "m.qrels", machine), write(tmp_path / "h.qrels", people)
    for form in ("table", "json"):
        done = rankproof(
            *(tmp_path, "calibrate", "--machine", judged, "--human", human),
            *("--run", "odd.run", "-m", "P@4", "-f", form),
        )
        assert done.returncode == 3
        assert "odd.run:" in done.stdout


def test_one_query_leaves_its_mean_open() -> None:
    grades = {f"d{i}": i % 2 for i in range(50)}
    found = calibrate_judgments({"q": grades}, {"q": dict(list(grades.items())[10:])}, {"r": {"q": list(grades)}}, "AP")
    each = found.estimate("r", "AP")
    assert each is not None
    assert (each.low, each.high) == (0.0, 1.0)


@pytest.mark.parametrize("measure", ["alpha-nDCG@10", "RBO", "gm_map", "num_rel"])
def test_a_measure_that_grades_do_not_decide_is_refused(measure: str) -> None:
    with pytest.raises(UsageError, match="Next:"):
        calibrate_judgments({"q": {"a": 1}}, {"q": {"a": 1}}, {"r": {"q": ["a"]}}, measure)


def test_a_plan_is_saved_like_any_result_and_read_again(tmp_path: Path) -> None:
    machine: Table = {f"q{i}": {"a": 1, "b": i % 2} for i in range(40)}
    run = {query: ["a", "b"] for query in machine}
    people: Table = {query: {"a": 1, "b": 0} for query in list(machine)[:30]}
    plan = calibrate_judgments(machine, people, {"run": run}, "P@2").plan(4)
    path = plan.save(tmp_path / "pool.jsonl")
    found = [calibrate_judgments(machine, people, {"run": run}, "P@2", plan=each).to_dict() for each in (plan, path)]
    assert found[0] == found[1]
    with pytest.raises(UsageError, match="exists"):
        plan.save(path)


@pytest.mark.slow
def test_labels_drawn_by_plan_narrow_more_than_labels_at_random() -> None:
    rng = np.random.default_rng(4)
    planned, random = [], []
    for _ in range(4):
        people, machine, run = world(rng, 60)
        first = some_pairs(rng, people, 60)
        plan = calibrate_judgments(machine, first, {"run": run}, "P@4").plan(120)
        assert len(plan) == 120
        assert all(0 < each.chance <= 1 for each in plan.pairs)
        by_plan: Table = {query: dict(grades) for query, grades in first.items()}
        for each in plan.pairs:
            assert each.document not in first.get(each.query, {})
            by_plan.setdefault(each.query, {})[each.document] = people[each.query][each.document]
        by_lot = some_pairs(rng, people, 180)
        for labels, errors in ((by_plan, planned), (by_lot, random)):
            found = calibrate_judgments(machine, labels, {"run": run}, "P@4").estimate("run", "P@4")
            assert found is not None
            errors.append(found.error)
    assert np.mean(planned) < 0.9 * np.mean(random)


def write(path: Path, table: Table) -> str:
    """Judgments in the format that the name's ending says."""
    rows = [{"query_id": q, "doc_id": d, "relevance": g} for q, grades in table.items() for d, g in grades.items()]
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif path.suffix == ".csv":
        path.write_text("query_id,doc_id,relevance\n" + "".join(",".join(map(str, r.values())) + "\n" for r in rows))
    elif path.suffix == ".json":
        path.write_text(json.dumps(table))
    else:
        path.write_text("".join(f"{r['query_id']} 0 {r['doc_id']} {r['relevance']}\n" for r in rows))
    return str(path)


@pytest.mark.slow
def test_from_the_shell_in_every_format(tmp_path: Path) -> None:
    people, machine, run = world(np.random.default_rng(7), 40)
    ranked = tmp_path / "my.run"
    ranked.write_text("".join(f"{q} Q0 {d} {i} {-i} x\n" for q, docs in run.items() for i, d in enumerate(docs, 1)))
    part = dict(list(people.items())[:25])
    texts = set()
    for ending in (".qrels", ".jsonl", ".csv", ".json"):
        files = write(tmp_path / f"m{ending}", machine), write(tmp_path / f"h{ending}", part)
        args = ["calibrate", "--machine", files[0], "--human", files[1], "--run", str(ranked), "-m", "P@4,AP"]
        done = rankproof(tmp_path, *args, "-f", "json")
        assert done.returncode == 0, done.stderr
        plain = json.loads(done.stdout)
        texts.add(json.dumps({**plain, "machine": "", "human": ""}))
        shown = rankproof(tmp_path, *args)
        assert "PPI++ over the 25 queries" in " ".join(shown.stdout.split())
        assert all(len(line) <= 80 for line in shown.stdout.splitlines())
    assert len(texts) == 1
    assert plain["runs"]["my.run"]["AP"]["corrected"]["queries"] == 25


def test_the_way_from_no_label_to_a_corrected_number(tmp_path: Path) -> None:
    people, machine, run = world(np.random.default_rng(8), 60)
    ranked, judged = tmp_path / "my.run", write(tmp_path / "m.qrels", machine)
    ranked.write_text("".join(f"{q} Q0 {d} {i} {-i} x\n" for q, docs in run.items() for i, d in enumerate(docs, 1)))
    base = ["calibrate", "--machine", judged, "--run", str(ranked), "-m", "P@4"]
    pool = tmp_path / "pool.jsonl"
    done = rankproof(tmp_path, *base, "--next", "30", "--whole", "-o", str(pool))
    assert done.returncode == 0, done.stderr
    pairs = [json.loads(line) for line in pool.read_text().splitlines()[1:]]
    assert len({each["query"] for each in pairs}) == 30
    assert len(pairs) == 120  # P@4 looks at four documents of each
    keys = "".join(f"{people[each['query']][each['document']]}\n" for each in pairs)
    labels, qrels = str(tmp_path / "labels.jsonl"), str(tmp_path / "human.qrels")
    assert rankproof(tmp_path, "label", str(pool), "--who", "ana", "-o", labels, stdin=keys).returncode == 0
    assert rankproof(tmp_path, "label", str(pool), "-o", labels, "--qrels", qrels).returncode == 0
    done = rankproof(tmp_path, *base, "--human", qrels, "--plan", str(pool), "-f", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["runs"]["my.run"]["P@4"]["corrected"]
    assert found["queries"] == 30
    assert found["low"] <= evaluate(people, run, "P@4")["P@4"] <= found["high"]


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["--machine", "m.qrels"],
        ["v.db", "--human", "h.qrels"],
        ["x", "--machine", "m.qrels"],
        ["--machine", "m.qrels", "--next", "5"],
        ["--machine", "m.qrels", "--next", "0"],
        ["--machine", "m.qrels", "--human", "h.qrels", "--drift"],
    ],
)
def test_what_cannot_be_done_is_said_with_a_way_out(args: list[str], tmp_path: Path) -> None:
    done = rankproof(tmp_path, "calibrate", *args)
    assert done.returncode == 2
    assert "Next:" in done.stderr
    assert "--next" not in args or "--next: got" in done.stderr


@pytest.mark.slow
@pytest.mark.shared_data
def test_thirty_labelled_queries_of_trec_with_a_model_for_a_judge(shared_data: Path) -> None:
    """GPT-4's grades of TREC DL 2019 and 2020 beside NIST's; the run is the order of another machine's score."""
    people: Table = {}
    machine: Table = {}
    run: dict[str, dict[str, float]] = {}
    for year in ("dl19", "dl20"):
        folder = shared_data / "judges" / "dl"
        people |= load_judgments(folder / f"qrels.{year}-passage.txt").as_dict()  # type: ignore[arg-type]
        machine |= load_judgments(folder / f"umbrella_gpt-4_zeroshot_{year}.txt").as_dict()  # type: ignore[arg-type]
        run |= load_judgments(folder / f"qrels.mean.exam_selfrate_binary_{year}.txt").as_dict()
    rng, measures = np.random.default_rng(9), ["P(rel=2)@4", "nDCG@10"]
    truth, inside, narrower = evaluate(people, run, measures), [], []
    known = {query: grades for query, grades in people.items() if query in machine}
    for _ in range(5):
        found = calibrate_judgments(machine, some_queries(rng, known, 30), {"run": run}, measures, rel=2)
        for name in measures:
            each = found.estimate("run", name)
            assert each is not None
            inside.append(each.low <= truth[name] <= each.high)
            narrower.append(each.error / (each.alone or np.nan))
    assert np.mean(inside) >= 0.9
    assert max(narrower) <= 1.0  # a judge that errs as the run does saves next to nothing, and costs nothing
