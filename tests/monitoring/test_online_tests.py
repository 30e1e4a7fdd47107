"""Experiments in a log: faces in the shell and in Python, in every format, with the truth of a simulated log."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from rankproof import drift, monitor, simulate_log
from rankproof.document.terminal import width
from rankproof.errors import DataError, UsageError
from rankproof.monitoring.events import mask
from rankproof.monitoring.interleave import team_draft
from rankproof.monitoring.online_tests import clicks, interleaving, variants
from tests.monitoring.test_clicks import LOOKED, searches
from tests.shell import rankproof

pytestmark = pytest.mark.cover

pd = pytest.importorskip("pandas")


def lists(seed: int, new: float, old: float, number: int = 300) -> list[dict[str, Any]]:
    rng, found = np.random.default_rng(seed), []
    for at in range(number):
        made = team_draft({"new": ["a", "b", "c", "d"], "old": ["c", "e", "a", "f"]}, 4, rng)
        chance = [(new if team == "new" else old) / (rank + 1) for rank, team in enumerate(made.teams)]
        found.append(
            {"ts": 1.74e9 + 60 * at, "user": f"u{at % 150}", "teams": made.teams}
            | {"clicks": [rank + 1 for rank in range(4) if rng.random() < chance[rank]]}
        )
    return found


def test_interleaved_lists_say_who_wins_however_the_teams_are_written(tmp_path: Path) -> None:
    rows = lists(1, 0.8, 0.2)
    (won,) = interleaving(rows).preferences
    assert (won.first, won.verdict) == ("new", "first")
    assert won.low > 0.5
    (same,) = interleaving(lists(2, 0.5, 0.5)).preferences
    assert same.verdict == "unclear"
    in_results = [
        {**{k: row[k] for k in ("ts", "user", "clicks")}}
        | {"results": [{"id": f"d{at}", "team": team} for at, team in enumerate(row["teams"])]}
        for row in rows
    ]
    as_text = [{**row, "teams": ",".join(row["teams"])} for row in rows]
    assert interleaving(in_results[::-1]).preferences == interleaving(as_text).preferences == [won]
    for each in (rows, in_results):
        frame = pd.DataFrame(each)
        frame.to_csv(tmp_path / "lists.csv", index=False)  # lists as Python writes them
        frame.to_parquet(tmp_path / "lists.parquet")
        as_json = frame.map(lambda value: json.dumps(value) if isinstance(value, list) else value)
        as_json.to_csv(tmp_path / "json.csv", index=False)
        sources = (frame, pd.read_parquet(tmp_path / "lists.parquet"), *sorted(tmp_path.glob("*.[cp]*")))
        assert [interleaving(source).preferences for source in sources] == [[won]] * 5
    with pytest.raises(
        DataError, match=r"event: 1 line was rejected, most as 'bad teams'.* Next: mend the log, or name"
    ):
        interleaving([{"ts": 1.74e9, "teams": {"1": "new"}, "clicks": [1]}])
    assert interleaving([*rows, {"ts": 1.74e9, "clicks": [], "teams": math.nan}]).without == 1
    with pytest.raises(DataError, match="teams"):
        interleaving([{"ts": 1.74e9, "clicks": [1]}])
    (tmp_path / "lists.jsonl").write_text("".join(json.dumps(row) + "\n" for row in in_results))
    done = rankproof(tmp_path, "experiment", "interleaving", "lists.jsonl")
    assert done.returncode == 0, done.stderr
    assert "new wins" in done.stdout
    assert max(map(width, done.stdout.splitlines())) <= 80
    told = json.loads(rankproof(tmp_path, "experiment", "interleaving", "lists.jsonl", "-f", "json").stdout)
    assert told["preferences"][0]["share"] == won.share


@pytest.mark.slow
def test_variants_are_told_apart_and_a_broken_assignment_is_said() -> None:
    log = simulate_log(2500, seed=2, users=2500, variants=("A", "B"), lift=0.2)
    records = list(log.records())
    found = variants(records)
    assert found.control == "A"
    assert not found.broken
    truth = log.truth_of_variant("B")["ctr"] - log.truth_of_variant("A")["ctr"]
    (ctr,) = [each for each in found.differences if each.metric == "ctr"]
    assert ctr.low <= truth <= ctr.high
    assert ctr.verdict == "more"
    per = {name: len({r["user"] for r in records if r["variant"] == name}) for name in "AB"}
    assert found.users == per
    assert found.several == sum(per.values()) - len({r["user"] for r in records})
    lost = [r for r in records if r["variant"] == "A" or int(r["user"][1:]) % 4 > 0]
    assert variants(lost).broken
    assert "can be trusted" in str(variants(lost))
    assert "at 10,000 users, where the test is to end (planned=)." in " ".join(str(found).split())
    assert "by chance with p <.001." in " ".join(str(variants(records, shares={"A": 0.98, "B": 0.02})).split())
    ratio = variants(lost).users["B"] / variants(lost).users["A"]
    share = round(1 / (1 + ratio), 3)
    assert not variants(lost, shares={"A": share, "B": round(0.995 - share, 3)}).broken  # rounded
    for wrong in ({"A": 1.0, "B": ratio}, {"A": 90, "B": 10}, {"A": 0.5, "B": float("nan")}):
        with pytest.raises(UsageError, match=r"A, B, adding up to 1\. Next:"):
            variants(lost, shares=wrong)
    assert variants(iter(records), control="B").differences[0].variant == "A"
    with pytest.raises(DataError, match="two or more"):
        variants([r for r in records if r["variant"] == "A"])
    with pytest.raises(UsageError, match="control"):
        variants(records, control="Z")


def test_variants_without_users_say_that_users_are_missing() -> None:
    log = [{"ts": 1.74e9 + 60 * at, "variant": "AB"[at % 2], "latency_ms": 90 + at % 7} for at in range(300)]
    with pytest.raises(
        DataError, match=r"got none with users .the events of A, B name neither user.*log the field user"
    ):
        variants(log)
    with pytest.raises(DataError, match=r"got A with users .the events of B name neither"):
        variants([{**each, "user": f"u{each['ts']}"} if each["variant"] == "A" else each for each in log])
    with pytest.raises(DataError, match=r"got none, expected two or more. Next: log the field variant"):
        variants([{"ts": 1.74e9, "user": "u", "latency_ms": 90}])


def test_what_counts_by_list_by_user_and_by_metric_is_said(tmp_path: Path) -> None:
    said = "Won, tied and lost count lists; the share is by user"
    assert said in " ".join(str(interleaving(lists(1, 0.8, 0.2))).split())
    log = list(simulate_log(700, seed=2, users=700, variants=("A", "B"), lift=0.2).records())
    said = "valid at every look; p and verdict corrected (Holm), intervals not"
    assert said in " ".join(str(variants(log)).split())
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(each) + "\n" for each in log))
    assert said in " ".join(rankproof(tmp_path, "monitor", "log.jsonl", "-f", "markdown").stdout.split())


@pytest.mark.slow
def test_clicks_without_the_place_are_near_the_truth(tmp_path: Path) -> None:
    attracts, events = searches(5, 2500, blend=100.0)  # in random order
    found = clicks(events, swapped=True, k=8)
    assert found.propensities == pytest.approx(LOOKED, abs=0.1)
    estimate = clicks(events, propensities=LOOKED.tolist(), k=8).attraction
    assert estimate.low <= float(attracts.mean()) <= estimate.high
    assert estimate.naive < estimate.low
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(each) + "\n" for each in events))
    words = ("experiment", "clicks", "log.jsonl", "-k", "8")
    done = rankproof(tmp_path, *words, "--propensities", ",".join(map(str, LOOKED)), "-f", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["attraction"]["value"] == pytest.approx(estimate.value)
    table = rankproof(tmp_path, *words)
    assert "attraction@8" in table.stdout
    assert max(map(width, table.stdout.splitlines())) <= 80
    assert rankproof(tmp_path, *words, "--propensities", "a,b").returncode == 2


def test_a_field_that_a_log_calls_otherwise_is_still_a_slice(tmp_path: Path) -> None:
    records = list(simulate_log(120, seed=3, variants=("A", "B")).records())
    lines = ["when,who,vote,arm", *(f"{r['ts']},{r['user']},up,{r['variant']}" for r in records)]
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    renamed = [{"when": r["ts"], "who": r["user"], "arm": r["variant"], "thumb": "up"} for r in records]
    columns = {"ts": "when", "user": "who", "variant": "arm"}
    for log in (str(tmp_path / "log.csv"), renamed):
        found = monitor(log, columns=columns, by=("variant",), fields=())
        assert {each.group for each in found.estimates if each.slice == "variant"} == {"A", "B"}
    assert set(variants(renamed, columns=columns).users) == {"A", "B"}


def test_a_column_that_is_named_goes_before_one_of_the_name_of_the_field(tmp_path: Path) -> None:
    records = [{**r, "arm": f"new {r['variant']}"} for r in simulate_log(120, seed=3, variants=("A", "B")).records()]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records))
    table = pa.Table.from_pylist(
        [{name: r[name] for name in ("ts", "user", "thumb", "variant", "arm")} for r in records]
    )
    for log in (records, str(tmp_path / "log.jsonl"), table):
        assert set(variants(log, columns={"variant": "arm"}).users) == {"new A", "new B"}
        with pytest.raises(UsageError, match="Did you mean 'arm'"):
            variants(log, columns={"variant": "arn"})


def test_what_is_not_in_the_log_and_what_is_no_cutoff_is_said() -> None:
    records = list(simulate_log(60, seed=3).records())
    said = "no event has 'nope', which was named for query; the columns are .*'query'"
    for verb in (monitor, variants, clicks, interleaving):
        with pytest.raises(UsageError, match=said):
            verb(records, columns={"query": "nope", "user": "user"})
    notes = " ".join(monitor(records, columns={"clicks": "nope", "user": "user"}, sparse=["clicks"]).notes)
    assert "no event has the column nope, which was named for clicks" in notes
    assert "column user" not in notes
    with pytest.raises(UsageError, match="'query' for two fields"):
        monitor(records, columns={"query": "query", "answer": "query"})
    for k in (0, -1):
        with pytest.raises(UsageError, match="Next:"):
            clicks(records, k=k)
    with pytest.raises(UsageError, match="got propensities and swapped"):
        clicks(records, propensities=[1.0] * 10, swapped=True)


def test_an_event_in_several_lines_counts_once_in_every_experiment() -> None:
    """As in `monitor`: lines with one id are one event, and so are equal lines of a user."""
    shown, clicked = [], []
    for at in range(60):
        event = {"ts": 1.74e9 + 60 * at, "id": f"e{at}", "user": f"u{at % 9}", "query": f"q{at % 5}"}
        shown.append({**event, "results": ["a", "b", "c"], "teams": ["x", "y", "x"], "clicks": []})
        clicked.append({"ts": event["ts"] + 5, "id": event["id"], "clicks": ["abc"[at % 3]]})
    whole = [{**one, "clicks": other["clicks"]} for one, other in zip(shown, clicked, strict=True)]
    nameless = [{name: each[name] for name in each if name != "id"} for each in whole]
    for verb in (interleaving, lambda log: clicks(log, propensities=[1, 0.5, 0.25])):
        once = verb(whole).to_dict()
        without = [{name: each[name] for name in each if name != "clicks"} for each in shown]
        for log in (shown + clicked, clicked + shown, without + clicked, whole * 2, nameless * 2):
            assert verb(log).to_dict() == once
        other = [{**each, "query": "another"} for each in whole]
        assert verb(whole + other).to_dict() != once, "an id used for two searches"


def test_lines_that_cannot_be_read_are_told_wherever_a_log_is_read() -> None:
    records = list(simulate_log(400, seed=1, variants=("A", "B")).records())
    late = [each | {"ts": "soon", "user": "ann@example.org"} for each in records]
    for verb in (clicks, interleaving, variants, monitor):
        with pytest.raises(DataError, match=r"lines were rejected, most as 'bad time'. record, line 1: ts: got 'soon'"):
            verb(late)
        with pytest.raises(DataError, match="the log holds no event: it is empty"):
            verb([])
        with pytest.raises(DataError, match=r"record, line 1: bad time\. Next") as error:
            verb([{"ts": "ann@example.org"}], change=mask)
        assert "ann@" not in str(error.value)
    with pytest.raises(DataError, match=r"in \d+ records. \d+ records could not be read: bad time .*Next: mend them"):
        drift(["where is my parcel"], late)
    asked = [f"where is my parcel {at}" for at in range(9)]
    some = [*records, *late[:3]]
    for found in (clicks(some, propensities=[1.0] * 10), variants(some), drift(asked, some)):
        assert "3 lines could not be read: bad time (3)." in str(found).replace("record", "line").replace("\n", " ")
