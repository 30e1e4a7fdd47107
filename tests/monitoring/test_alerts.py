"""Rules fire on evidence, once until their cool-down is over; and nothing personal is kept."""

from __future__ import annotations

import json
import re

import pytest

from rankproof import simulate_log
from rankproof.errors import DataError, UsageError
from rankproof.monitoring.alerts import read_rules, read_state, rules_of
from rankproof.monitoring.events import KEY, Event, mask, private
from rankproof.monitoring.monitor import monitor
from tests.shell import rankproof

pytestmark = pytest.mark.cover

OUTAGE = {"sessions": 3000, "seed": 1, "days": 10, "outage": (6, 8, 12)}


def fired(rules, log=None, **settings) -> list[bool]:
    return [each.fired for each in monitor((log or simulate_log(**OUTAGE)).records(), alerts=rules, **settings).alerts]


@pytest.mark.slow
def test_rules_over_windows_the_last_one_and_the_log() -> None:
    rule = {"metric": "no_result", "above": 0.2}
    assert fired([{**rule, "over": "any"}]) == [True]
    assert fired([{**rule, "over": "last"}]) == [False]
    assert fired([{**rule, "over": "log"}]) == [False]
    assert fired([{"metric": "ctr", "below": 0.999, "over": "log"}]) == [True]
    assert fired([{"metric": "ctr", "below": 0.999, "over": "log", "least": 10**6}]) == [False]
    assert fired([{"metric": "ctr", "below": 0.999, "slice": "variant=A", "over": "log"}]) == [True]
    assert fired([{"metric": "ctr", "below": 0.999, "slice": "variant=Z", "over": "log"}]) == [False]


def test_a_value_beyond_the_limit_is_no_evidence() -> None:
    log = simulate_log(60, seed=2, days=1)
    value = monitor(log.records())["ctr"]
    near = {"metric": "ctr", "below": value + 0.01, "over": "log"}
    assert fired([near, {**near, "name": "by value", "evidence": "value"}], log) == [False, True]


@pytest.mark.slow
def test_a_change_is_told_on_its_day_and_without_one_nothing() -> None:
    worse = simulate_log(5000, seed=3, days=28, worse_on=17, worse_by=0.4)
    rules = [{"metric": "ctr", "changed": "worse"}, {"metric": "latency_p95", "changed": "any"}]
    found = monitor(worse.records(), alerts=rules)
    assert [each.fired for each in found.alerts] == [True, False]
    (change,) = [each for each in found.changes if (each.metric, each.slice) == ("ctr", "")]
    assert change.low <= found.calendar.label(found.series("ctr")[17].start) <= change.high
    assert change.after < change.before
    assert found.alerts[0].sentence.count(change.window) == 1
    same = simulate_log(5000, seed=3, days=28)
    assert not monitor(same.records(), alerts=[{"metric": "ctr", "changed": "any"}]).alerts[0].fired


@pytest.mark.slow
def test_what_was_told_is_not_told_again_before_its_cool_down(tmp_path) -> None:
    state = tmp_path / "state.json"
    rules = [{"name": "empty", "metric": "no_result", "above": 0.2, "over": "any", "cool_down": "1d"}]
    assert fired(rules, state=state) == [True]
    assert fired(rules, state=state) == [False]
    later = simulate_log(3000, seed=1, days=10, start="2025-03-20", outage=(6, 8, 12))
    assert fired(rules, later, state=state) == [True]
    assert set(json.loads(state.read_text())["told"]) == {"empty"}
    state.write_text("{}")
    with pytest.raises(UsageError, match="state"):
        fired(rules, state=state)


@pytest.mark.no_cover
@pytest.mark.slow
def test_how_often_alerts_are_false() -> None:
    """Where nothing changes, an interval of 95 % lies wholly beyond the truth one time in 40."""
    false = 0
    for seed in range(25):
        log = simulate_log(250, seed=seed, days=3, users=250)
        false += fired([{"metric": "ctr", "below": log.truth["ctr"], "over": "log"}], log)[0]
    assert false <= 3


@pytest.mark.parametrize(
    "rule",
    [
        {},
        {"metric": "ctr"},
        {"metric": "ctr", "above": 0.1, "below": 0.2},
        {"metric": "ctr", "above": "high"},
        {"metric": "ctr", "above": 0.1, "ovr": "any"},
        {"metric": "ctr", "above": 0.1, "over": "year"},
        {"metric": "ctr", "above": 0.1, "slice": "variant"},
        {"metric": "ctr", "above": 0.1, "cool_down": "soon"},
        {"metric": "ctr", "above": 0.1, "least": 0},
        {"metric": "crt", "above": 0.1},
        {"metric": "ctr", "above": 20},
        {"metric": "ctr", "below": -0.1},
        {"metric": "ctr", "outage": "any"},
        {"metric": "ctr", "above": 0.1, "slice": "language=en"},
        {"metric": "ctr", "above": 0.1, "slice": ["variant=A"]},
        {"metric": "ctr", "above": 0.1, "slice": "variant="},
        {"metric": "ctr", "above": 0.1, "name": " "},
        {"metric": "ctr", "above": 0.1, "name": 3},
    ],
)
def test_a_wrong_rule_says_what_to_write(rule) -> None:
    with pytest.raises(UsageError, match="Next:"):
        fired([rule], simulate_log(20))


def test_a_rule_about_a_value_that_no_event_has_is_noted() -> None:
    rule = {"metric": "ctr", "above": 0.1, "slice": "variant=Z"}
    found = monitor(simulate_log(60, variants=("A", "B")).records(), alerts=[rule])
    (note,) = (each for each in found.notes if "says nothing" in each)
    assert "variant=Z" in note


def test_a_rule_that_has_too_few_events_to_tell_anything_is_noted() -> None:
    day, rule = 86400, {"metric": "latency_p95", "above": 4000}
    log = [{"ts": 1.7e9 + i * 60 + d * day, "user": f"u{i}", "latency_ms": 9000} for d in (0, 1) for i in (*range(40),)]
    log = log[:63]

    def notes(records=log, **more) -> list[str]:
        found = monitor(records, alerts=[{**rule, **more}])
        return [] if any(each.fired for each in found.alerts) else [e for e in found.notes if "says nothing" in e]

    (note,) = notes()
    assert note.startswith("alert 'latency_p95 above 4000' says nothing: got 23 events with latency_p95 at most,")
    assert "expected 30 of two users or more. Next: check the names, lower least," in note
    assert notes(over="any") == notes(over="log") == notes(least=23) == notes(above=9e9, least=2) == []
    assert notes(over="log", least=64, evidence="value")
    assert notes([{**each, "user": "u"} for each in log], over="any")


def test_an_unknown_metric_is_named_with_its_rule() -> None:
    rules = [{"metric": "ctr", "below": 0.5}, {"name": "slow", "metric": "latency_p96", "above": 4000}]
    with pytest.raises(UsageError, match=r"alert 'slow', metric: got 'latency_p96', expected one of .* Did you mean"):
        monitor([{"ts": 1.7e9, "latency_ms": 5}], alerts=rules)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "null", '{"told": [1]}', '{"told": {"a": null}}', '{"told": {"a": 1e999}}', "[" * 99_999],
)
def test_a_file_that_remembers_no_alerts_is_an_error(tmp_path, text) -> None:
    (tmp_path / "state.json").write_text(text)
    with pytest.raises(UsageError, match="Next:"):
        read_state(tmp_path / "state.json")


def test_rules_of_a_file_with_a_mark(tmp_path) -> None:
    text = '[[alert]]\nname = "a\\n b"\nmetric = "ctr"\nbelow = 0.5\n'
    (tmp_path / "a.toml").write_text(text, encoding="utf-8-sig")
    assert read_rules(tmp_path / "a.toml")[0].name == "a b"
    (tmp_path / "a.toml").write_text(text, encoding="utf-16")
    with pytest.raises(DataError, match="UTF-16, expected UTF-8"):
        read_rules(tmp_path / "a.toml")


def test_rules_of_a_file(tmp_path) -> None:
    (tmp_path / "a.toml").write_text('[[alert]]\nmetric = "ctr"\nbelow = 0.5\ncool_down = "90m"\n')
    (rule,) = read_rules(tmp_path / "a.toml")
    assert (rule.metric, rule.below, rule.cool_down) == ("ctr", 0.5, 5400 * 10**6)
    for text in ("[[alert]", "", "[[alert]]\nmetric = 5\nabove = 1\n"):
        (tmp_path / "b.toml").write_text(text)
        with pytest.raises(UsageError, match="Next:"):
            read_rules(tmp_path / "b.toml")
    with pytest.raises(UsageError, match="two alerts"):
        rules_of([{"metric": "ctr", "above": 0.1}] * 2)


@pytest.mark.slow
def test_nothing_personal_is_kept(monkeypatch) -> None:
    monkeypatch.setenv(KEY, "a secret of some length")
    records = [*simulate_log(200, seed=1, noisy=0.5).records(), {"ts": "ann@example.org", "user": "ann"}]
    lines: list[str] = []
    open_found = monitor(records)
    found = monitor(records, change=private(hash_ids=True, redact=mask), on_rejected=lines.append)
    assert [repr(e) for e in found.estimates if not e.slice][:3] != []
    assert found["ctr"] == open_found["ctr"]
    assert found.heavy[0].user != "crawler"
    whole = found.format("json") + found.format("full") + found.format("html") + "".join(lines)
    assert "crawler" not in whole
    assert "ann" not in whole.replace("channel", "")
    assert found.rejected == {"bad time": 1}
    monkeypatch.setenv(KEY, "short")
    with pytest.raises(UsageError, match=KEY):
        private(hash_ids=True)


def test_a_hook_may_drop_and_alter_events() -> None:
    def change(event: Event) -> Event | None:
        event.variant = "X"
        return None if event.user == "crawler" else event

    log = simulate_log(300, seed=3, noisy=0.4)
    found = monitor(log.records(), change=change)
    assert found.events == int((~log.columns["noisy"]).sum())
    assert {each.group for each in found.estimates if each.slice} == {"X"}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("mail ann.b@example.co.uk please", "mail [email] please"),
        ("IBAN DE89 3704 0044 0532 0130 00", "IBAN [iban]"),
        ("card 4111 1111 1111 1111", "card [card]"),
        ("call +49 (30) 1234567 now", "call [phone] now"),
        ("from 192.168.0.1", "from [ip]"),
        ("order 12345 of 2025-03-03 for 10.50", "order 12345 of 2025-03-03 for 10.50"),
    ],
)
def test_what_is_masked(text, left) -> None:
    assert mask(Event(0.0, query=text)).query == left


def test_advice_on_a_slice_is_in_the_words_of_the_face(tmp_path) -> None:
    log = simulate_log(30, seed=1)
    rule = {"metric": "ctr", "below": 0.5, "slice": "channel=web"}
    with pytest.raises(UsageError, match=re.escape("Next: give by=['variant', 'channel'].")):
        monitor(log.records(), by=["variant"], alerts=[rule])
    log.save(tmp_path / "log.jsonl")
    (tmp_path / "a.toml").write_text('[[alert]]\nmetric = "ctr"\nbelow = 0.5\nslice = "channel=web"\n')
    done = rankproof(tmp_path, "monitor", "log.jsonl", "--by", "variant", "--alerts", "a.toml")
    assert "Next: give --by variant,channel." in done.stderr
