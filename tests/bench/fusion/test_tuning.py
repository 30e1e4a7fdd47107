"""Tuning: chosen on one part of the queries, scored on the other, and honest about both."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from rankproof import evaluate, fuse, tune
from rankproof.bench.fusion.tune import MOST_WEIGHTS, simplex, split
from rankproof.errors import UsageError


def world(queries: int, skills: list[float], seed: int = 0) -> tuple[dict[str, dict[str, int]], dict[str, Any]]:
    """Judgments with one relevant document a query, and rankings that score it by their skill above noise."""
    rng = np.random.default_rng(seed)
    judgments = {f"q{i}": {f"d{rng.integers(30)}": 1} for i in range(queries)}
    rankings = {
        f"{name} (skill {skill})": {
            query: {f"d{d}": float(rng.normal()) + skill * (f"d{d}" in relevant) for d in range(30)}
            for query, relevant in judgments.items()
        }
        for name, skill in zip("abcd", skills, strict=False)
    }
    return judgments, rankings


def test_both_parts_are_what_evaluate_says_of_them() -> None:
    judgments, rankings = world(41, [2, 1])
    tuned = tune(judgments, rankings, "weighted-sum", "RR")
    values = evaluate(judgments, tuned.fuse(rankings), "RR").values("RR")
    held = [value for query, value in values.items() if query in tuned.queries]
    seen = [value for query, value in values.items() if query not in tuned.queries]
    assert (tuned.held_out.n, tuned.tuned_on.n) == (len(held), len(seen)) == (21, 20)
    assert tuned.held_out.mean == pytest.approx(np.mean(held))
    assert tuned.tuned_on.mean == pytest.approx(np.mean(seen))
    for part in (tuned.held_out, tuned.tuned_on, *tuned.others):
        assert part.low < part.mean < part.high


def test_what_was_chosen_is_the_best_of_what_was_tried_on_the_queries_seen() -> None:
    judgments, rankings = world(30, [2, 1])
    tuned = tune(judgments, rankings, "weighted-sum", "RR")
    seen = {query: docs for query, docs in judgments.items() if query not in tuned.queries}
    for trial in tuned.trials:
        mean = evaluate(seen, fuse(rankings, "weighted-sum", **trial.settings), "RR")["RR"]
        assert trial.mean == pytest.approx(mean)
    assert tuned.tuned_on.mean == pytest.approx(max(trial.mean for trial in tuned.trials))


@pytest.mark.slow
def test_held_out_queries_have_no_say() -> None:
    judgments, rankings = world(40, [2, 1])
    for method in ("weighted-sum", "rrf", "probfuse", "bayesfuse"):
        tuned = tune(judgments, rankings, method, "RR")
        turned = {q: ({"d0": 1} if q in tuned.queries else docs) for q, docs in judgments.items()}
        again = tune(turned, rankings, method, "RR")
        assert again.queries == tuned.queries
        assert again.fuse(rankings) == tuned.fuse(rankings)
        assert again.held_out.mean != tuned.held_out.mean


@pytest.mark.slow
def test_on_noise_the_queries_seen_flatter_and_the_held_out_do_not() -> None:
    seen, held = [], []
    for seed in range(20):
        tuned = tune(*world(24, [0, 0, 0], seed), "weighted-sum", "RR", normalise="z-score")
        seen.append(tuned.tuned_on.mean)
        held.append(tuned.held_out.mean)
    chance = np.mean([1 / rank for rank in range(1, 31)])
    assert np.mean(seen) > chance + 0.03
    assert np.mean(held) == pytest.approx(chance, abs=0.025)


def test_the_better_ranking_gets_the_weight() -> None:
    judgments, rankings = world(80, [0, 3, 0])
    tuned = tune(judgments, rankings, "weighted-sum", "RR")
    weights = dict(zip(tuned.names, tuned.settings["weights"], strict=True))
    assert max(weights, key=weights.__getitem__) == "b (skill 3)"
    assert weights["b (skill 3)"] >= 0.6
    assert tuned.held_out.mean > next(part.mean for part in tuned.others if part.name.startswith("usual"))


def test_the_usual_settings_stay_where_nothing_is_better() -> None:
    judgments, rankings = world(20, [50, 50])
    tuned = tune(judgments, rankings, "rrf", "RR")
    assert tuned.settings == {"k": 60}
    assert len(tuned.trials) == 11


def test_of_errors_the_fewest_are_best() -> None:
    judgments, rankings = world(60, [0, 3])
    tuned = tune(judgments, rankings, "weighted-sum", "FirstRel")
    means = [trial.mean for trial in tuned.trials]
    assert tuned.tuned_on.mean == pytest.approx(min(means))
    assert min(means) < max(means)


def test_the_split_is_drawn_by_the_seed_alone() -> None:
    judgments, rankings = world(30, [2, 1])
    backwards = dict(reversed(judgments.items()))
    one, two = tune(judgments, rankings), tune(backwards, rankings)
    assert set(one.queries) == set(two.queries)
    assert one.held_out == two.held_out
    assert str(one) == str(two)
    assert set(tune(judgments, rankings, seed=1).queries) != set(one.queries)


@pytest.mark.parametrize("share", [0.01, 0.3, 0.99])
def test_both_parts_have_two_queries_at_least(share: float) -> None:
    queries = [f"q{i}" for i in range(10)]
    seen, held = split(queries, share, np.random.default_rng(0))
    assert {*seen, *held} == set(queries)
    assert len(seen) + len(held) == len(queries)
    assert min(len(seen), len(held)) >= 2
    assert len(seen) == min(max(round(share * 10), 2), 8)


@pytest.mark.parametrize("n", range(1, 21))
def test_weights_sum_to_1_and_are_not_too_many(n: int) -> None:
    tried = list(simplex(n))
    assert len(set(tried)) == len(tried) <= MOST_WEIGHTS + 1
    assert tried[0] == (1 / n,) * n
    assert all(sum(weights) == pytest.approx(1) for weights in tried)
    assert all(tuple(float(i == own) for i in range(n)) in tried for own in range(n))


def test_a_grid_says_what_to_try() -> None:
    judgments, rankings = world(20, [2, 1])
    grid = {"normalise": ["z-score", "rank"], "weights": [(1, 1), (2, 1), (1, 2)]}
    tuned = tune(judgments, rankings, "wsum", "RR", grid=grid)
    tried = [(trial.settings["normalise"], trial.settings["weights"]) for trial in tuned.trials]
    assert tried == list(itertools.product(grid["normalise"], grid["weights"]))


@pytest.mark.parametrize(
    ("method", "chosen"),
    [
        ("combsum", "normalise"),
        ("borda", "weights"),
        ("condorcet", "weights"),
        ("combgmnz", "gamma"),
        ("slidefuse", "window"),
        ("mapfuse", None),
    ],
)
def test_every_kind_of_method_has_something_to_choose(method: str, chosen: str | None) -> None:
    judgments, rankings = world(12, [2, 1])
    tuned = tune(judgments, rankings, method, "RR")
    assert chosen is None or (chosen in tuned.settings and len(tuned.trials) > 1)
    assert set(tuned.fuse(rankings)) == set(judgments)


def test_what_was_tuned_fuses_new_queries() -> None:
    judgments, rankings = world(20, [2, 1])
    tuned = tune(judgments, rankings, "posfuse", "RR")
    new = {name: {"new": ["d1", "d2", "d3"]} for name in rankings}
    assert list(tuned.fuse(new)) == ["new"]
    with pytest.raises(UsageError, match="expected those that were tuned: 'a "):
        tuned.fuse({"other": {"new": ["d1"]}, "a (skill 2)": {"new": ["d1"]}})


@pytest.mark.slow
def test_the_report_fits_80_columns_and_says_what_usual_means() -> None:
    judgments, rankings = world(80, [0, 3, 0, 1])
    text = str(tune(judgments, rankings, "weighted-sum", "RR"))
    assert "usual: weighted-sum(normalise='min-max', weights=[0.25, 0.25, 0.25, 0.25])" in text
    assert max(map(len, text.splitlines())) <= 80


def test_the_report_names_what_does_no_worse() -> None:
    judgments, rankings = world(16, [50, 50])
    text = str(tune(judgments, rankings, "rrf", "RR", grid={"k": [1]}))
    assert text.startswith("best of 1 settings for RR\nchosen: rrf(k=1)\n\n")
    assert "held out" in text
    assert text.rstrip().endswith("No worse on the held-out queries: a (skill 50) alone, b (skill 50) alone.")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "isr"}, "nothing to choose"),
        ({"method": "rrrf"}, "Did you mean 'rrf'"),
        ({"measure": "nDGC@10"}, "Did you mean"),
        ({"share": 1.5}, "share: got 1.5"),
        ({"share": 0}, "share: got 0"),
        ({"grid": {"k": []}}, "expected a list of the values"),
        ({"grid": {"k": 3}}, "expected a list of the values"),
        ({"grid": {"kk": [3]}}, "unknown parameter 'kk'"),
    ],
)
def test_what_cannot_be_tuned_is_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        tune(*world(12, [2, 1]), **settings)


def test_too_few_queries_are_refused() -> None:
    with pytest.raises(UsageError, match="got 3 judged queries, expected at least 4"):
        tune(*world(3, [2, 1]))


def test_one_ranking_alone_is_told() -> None:
    judgments, rankings = world(12, [2])
    with pytest.warns(UserWarning, match="only one ranking"):
        tune(judgments, rankings, measure="RR")


def test_integer_ids_are_tuned_as_text_is() -> None:
    judgments, rankings = world(12, [2, 1])

    def plain(table: Any) -> Any:
        return {int(q[1:]): {int(doc[1:]): value for doc, value in docs.items()} for q, docs in table.items()}

    text = tune(judgments, rankings, "bayesfuse", "RR")
    numbers = tune(plain(judgments), {name: plain(ranking) for name, ranking in rankings.items()}, "bayesfuse", "RR")
    assert numbers.fuse({name: {0: [3, 4]} for name in rankings}).keys() == {0}
    assert len(numbers.queries) == len(text.queries)


def test_judged_queries_that_no_ranking_answers_count_as_nothing_found() -> None:
    judgments, rankings = world(12, [2, 1])
    more = judgments | {f"unanswered {i}": {"d1": 1} for i in range(12)}
    tuned = tune(more, rankings, measure="RR")
    assert tuned.held_out.n == 12
    assert tuned.held_out.mean == pytest.approx(
        sum(evaluate(judgments, tuned.fuse(rankings), "RR").values("RR").get(query, 0) for query in tuned.queries) / 12
    )


def test_answers_to_none_of_the_judged_queries_score_nothing() -> None:
    judgments, rankings = world(12, [2, 1])
    other = {f"other {query}": docs for query, docs in judgments.items()}
    assert tune(other, rankings, measure="RR").held_out.mean == 0
