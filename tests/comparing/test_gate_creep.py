"""Many small losses add up: an anchor sees them, and the mean of the last results does; false reds of a year."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from benchmarks.creep import creep, no_change
from rankproof import History, evaluate, gate_scores
from rankproof.errors import UsageError
from tests.shell import rankproof

N = 60
JUDGED = {f"q{i}": {f"d{j}": 1 for j in range(20)} for i in range(N)}


def ranked(found: int) -> dict[str, list[str]]:
    """So many of 20 relevant documents found, for each query."""
    return {q: [f"d{j}" for j in range(found)] + [f"x{j}" for j in range(20 - found)] for q in JUDGED}


def saved(folder: Path, *levels: int) -> History:
    history = History(folder / "rankproof.db")
    for i, level in enumerate(levels):
        history.save(evaluate(JUDGED, ranked(level), "R@20"), f"night-{i}")
    return history


def test_an_anchor_sees_what_each_change_hides(tmp_path: Path) -> None:
    history = saved(tmp_path, 18, 17, 16)
    alone = history.gate("night-1", "night-2", margin=0.11)
    both = history.gate("night-1", "night-2", margin=0.11, anchors=["night-0"], anchor_margin=0.08)
    assert (alone.outcome, both.outcome) == ("pass", "fail")
    assert [(row.against, row.outcome, row.limit) for row in both] == [
        ("", "pass", 0.11),
        ("night-0", "fail", 0.08),
    ]
    assert "R@20 against night-0: -0.1000 over 60 queries, beyond the margin of 0.08." in " ".join(str(both).split())
    assert history.gate("night-1", "night-2", margin=0.11, anchors="night-0").rows[1].limit == 0.22


def test_each_row_is_named_whole_whatever_an_anchor_is_called(tmp_path: Path) -> None:
    history = saved(tmp_path, 18, 17, 16)
    names = [f"release-2024.1{i}-of-the-long-lived-branch-{'x' * 20}" for i in range(2)]
    for name, level in zip(names, (18, 0), strict=True):
        history.save(evaluate(JUDGED, ranked(level) if level else {"q": ["x"]}, "R@20"), name)
    found = history.gate("night-1", "night-2", margin=0.11, anchors=names)
    lines = str(found).splitlines()
    rule = next(n for n, line in enumerate(lines) if set(line) == set("- "))
    table = lines[rule + 1 : lines.index("", rule)]
    named = [row.measure + (f" against {row.against}" if row.against else "") for row in found]
    named[0] = f"Answered by {names[1]}"
    assert table[::2] == named
    assert [line.split()[0] for line in table[1::2]] == [row.outcome for row in found]
    assert sum(set(line) == set("- ") for line in lines) == 1
    assert " ".join(lines).startswith(f"INVALID: {names[1]} answered 0 of 60 queries")
    assert f"Errors of {names[1]}" in named


def test_old_results_that_are_taken_in_are_not_the_last_ones(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    history, other = saved(tmp_path, 20, 18), saved(tmp_path / "elsewhere", 4)
    other.export_to(tmp_path / "old.json")
    made = other.show("night-0").saved_at
    text = (tmp_path / "old.json").read_text(encoding="utf-8")
    text = text.replace(made, "2020-01-01T00:00:00+00:00").replace("night-0", "long-ago")
    (tmp_path / "old.json").write_text(text, encoding="utf-8")
    assert history.import_from(tmp_path / "old.json") == ["long-ago"]
    assert history.last(2) == ["night-0", "night-1"]
    assert history.last(9, before="night-0") == ["long-ago"]
    assert [each.name for each in history.entries()] == ["long-ago", "night-0", "night-1"]
    assert all(each.means for each in history.entries(2))


def test_the_last_results_are_a_baseline_query_by_query(tmp_path: Path) -> None:
    history = saved(tmp_path, 4, 20, 18, 16, 16)
    assert history.last(3, before="night-4") == ["night-1", "night-2", "night-3"]
    assert history.mean(history.last(3, before="night-4"))["R@20"] == pytest.approx(0.9)
    with pytest.raises(UsageError, match="mean: got no names"):
        history.mean([])
    with pytest.raises(UsageError, match="baseline: got 3, expected one of 'night-1', 'night-2'"):
        history.compare("night-1", "night-2", baseline=3)  # type: ignore[arg-type]
    found = history.gate_last(3, "night-4", margin=0.05)
    assert (found.outcome, found.rows[0].baseline) == ("fail", pytest.approx(0.9))
    assert history.gate_last(1, "night-4", margin=0.06).outcome == "pass"
    assert history.last(9, like="night-[01]") == ["night-0", "night-1"]
    history.save(history.scores("night-0"), "caf\N{LATIN SMALL LETTER E WITH ACUTE}")
    assert len(history.last(9, like="cafe\N{COMBINING ACUTE ACCENT}*")) == 1  # as a Mac writes it
    for wrong in (
        lambda: history.last(0),
        lambda: history.last(2, like="day-*"),
        lambda: history.last(1, before="night-0"),
    ):
        with pytest.raises(UsageError):
            wrong()


def test_what_was_not_made_alike_is_no_anchor(tmp_path: Path) -> None:
    history = saved(tmp_path, 18)
    fewer = {q: docs for q, docs in JUDGED.items() if q != "q0"}
    new = evaluate(fewer, ranked(18), "R@20")
    with pytest.raises(UsageError, match="not made in the same way"):
        gate_scores(new, new, anchors={"night-0": history.scores("night-0")})
    assert (
        gate_scores(new, new, margin=0.06, anchors={"night-0": history.scores("night-0")}, anyway=True).outcome
        == "pass"
    )


def test_anchors_and_last_results_in_the_shell(tmp_path: Path) -> None:
    for name, level in (("release", 18), ("main", 17), ("branch", 16)):
        lines = [f"{q} Q0 {d} {r} {99 - r} t" for q, docs in ranked(level).items() for r, d in enumerate(docs)]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    rows = [f"{q} 0 {d} 1" for q, docs in JUDGED.items() for d in docs]
    (tmp_path / "j.qrels").write_text("\n".join(rows) + "\n")
    asked = ("-m", "R@20")
    save = ("evaluate", "j.qrels", "release.run", *asked, "--save", "release-1", "--history", "h.db")
    assert rankproof(tmp_path, *save).returncode == 0
    words = ("gate", "j.qrels", "main.run", "branch.run", *asked, "--margin", "0.11")
    assert rankproof(tmp_path, *words).returncode == 0
    anchored = rankproof(
        tmp_path,
        *words,
        "--anchor",
        "release-1",
        "--anchor-margin",
        "0.08",
        "--history",
        "h.db",
        "-f",
        "json",
    )
    assert anchored.returncode == 1
    assert '"against": "release-1"' in anchored.stdout
    last = rankproof(tmp_path, "gate", "j.qrels", "branch.run", *asked, "--last", "5", "--history", "h.db")
    assert last.returncode == 1, last.stderr
    assert rankproof(tmp_path, *words, "--anchor", "unknown", "--history", "h.db").returncode == 2
    for words in (("branch.run", "--last", "5"), ("release-1", "release-1", "--last", "2")):
        assert rankproof(tmp_path, "gate", *words, "--history", "h.db").returncode == 2


@pytest.mark.slow
def test_creep_is_seen_early_by_an_anchor() -> None:
    alone, anchored = creep(np.random.default_rng(0), changes=30, years=2)
    assert max(anchored) <= 25
    assert min(alone) > max(anchored)


@pytest.mark.slow
def test_a_year_of_changes_that_change_nothing_has_few_false_reds() -> None:
    reds = no_change(np.random.default_rng(0), changes=250, years=1)
    assert max(reds) <= 8


def test_a_mean_of_results_of_which_one_is_broken_decides_nothing_and_names_it(tmp_path: Path) -> None:
    """A night with an outage made the mean low, and a real loss passed."""
    history = saved(tmp_path, 18, 18, 18, 14)
    half = {query: docs for query, docs in ranked(18).items() if query < sorted(JUDGED)[len(JUDGED) // 2]}
    other = {f"{query} of another collection": docs for query, docs in ranked(18).items()}
    for name, ranking in (("half", half), ("other", other)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            history.save(evaluate(JUDGED, ranking, "R@20"), name)
    history.save(evaluate(JUDGED, ranked(14), "R@20"), "candidate")
    found = history.gate_last(6, "candidate", margin=0.05)
    assert (found.outcome, found.exit_code) == ("invalid", 3)
    assert [(row.check, row.against or row.measure) for row in found if row.outcome == "invalid"] == [
        ("answers", "half"),
        ("answers", "other"),
        ("audit", "Errors of other"),
    ]
    text = " ".join(found.format("full").split())
    assert "half answered 30 of 60 queries" in text
    assert "Before you trust this, other: " in text
    assert history.gate_last(3, "half", margin=0.05, allow_missing=0.5).outcome == "fail"
    assert history.gate_last(4, "half", margin=0.05).rows[0].against == "", "only the candidate is broken"


@pytest.mark.parametrize("name", ["baseline", "candidate"])
def test_a_saved_result_may_be_called_as_a_side_of_the_gate(name: str, tmp_path: Path) -> None:
    """An anchor of that name took the place of the side."""
    history = saved(tmp_path, 18, 18)
    other = {f"{query} of another collection": docs for query, docs in ranked(18).items()}
    history.save(evaluate(JUDGED, other, "R@20"), name)
    history.save(evaluate(JUDGED, ranked(18), "R@20"), "new")
    assert history.gate("night-0", "night-1", margin=0.11).outcome == "pass"
    for found in (
        history.gate("night-0", "night-1", margin=0.11, anchors=[name]),
        history.gate_last(3, "new", margin=0.11),
    ):
        assert found.outcome == "invalid"
        assert f"the saved {name} answered 0 of 60 queries" in " ".join(str(found).split())
        assert found.data["candidate"]["unanswered"] == found.data["baseline"]["unanswered"] == 0


def test_the_limits_of_a_mean_of_results_are_the_means_of_theirs(tmp_path: Path) -> None:
    """They were those of the last, and a fail was said to hang on what nobody judged."""
    history, judged = History(tmp_path / "h.db"), {f"q{i:02}": {f"d{j}": 1 for j in range(9)} for i in range(30)}
    nights = {
        f"n{missing}": {q: [f"d{j}" for j in range(9 - missing)] + [f"x{j}" for j in range(missing)] for q in judged}
        for missing in (5, 3, 1)
    }
    for name, ranking in nights.items():
        history.save(evaluate(judged, ranking, "P@9"), name)
    mean = history.mean(nights)
    alone = [history.scores(name) for name in nights]
    for of in ("ties", "unjudged"):
        ends = [each.bounds("P@9", of=of) for each in alone]
        assert mean.bounds("P@9", of=of) == pytest.approx(np.mean(ends, axis=0))
    assert mean.unjudged == {9: pytest.approx(np.mean([each.unjudged[9] for each in alone]))}
    history.save(evaluate(judged, nights["n1"], "P@9"), "new")
    assert history.gate_last(3, "new").data["baseline"]["unjudged"] == pytest.approx(3 / 9)
    other = History(tmp_path / "ties.db")  # the last has none
    tied = evaluate(judged, {q: dict.fromkeys(docs, 1.0) for q, docs in nights["n5"].items()}, "P@5", ties="id")
    strict = evaluate(judged, {q: nights["n1"][q] for q in judged}, "P@5", ties="id")
    for name, scores in (("tied", tied), ("strict", strict)):
        other.save(scores, name)
    assert other.mean(["tied", "strict"]).bounds("P@5") == pytest.approx(
        np.mean([tied.bounds("P@5"), strict.bounds("P@5")], axis=0)
    )
