"""A simulated production log with a known true value of every metric, drawn from the users of `simulated_users.py`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from rankproof.core.hits import Array
from rankproof.document.disk import whole_file
from rankproof.document.model import Displayable
from rankproof.errors import UsageError, check_each, check_number, check_whole
from rankproof.monitoring import simulated_users as model
from rankproof.monitoring.sessions_and_windows import zone_named
from rankproof.monitoring.simulated_users import TOPICS, Scenario

FORMS = {
    "en": ("how does {a} {b} work", "{a} {b} rules", "what about {a} and {b}?", "{a} {b} help please"),
    "de": ("wie geht {a} {b}", "{a} {b} Regeln", "was gilt für {a} und {b}?", "Hilfe bei {a} {b} bitte"),
    "fr": ("comment marche {a} {b}", "règles {a} {b}", "que faire pour {a} et {b} ?", "aide {a} {b} svp"),
}
ANSWERS = {
    "en": ("You will find the rules for {a} and {b} on this page [1].", "I don't know the answer to that."),
    "de": ("Die Regeln für {a} und {b} stehen auf dieser Seite [1].", "Das weiß ich leider nicht."),
    "fr": ("Les règles pour {a} et {b} sont sur cette page [1].", "Je ne sais pas répondre à cette question."),
}


class SimulatedLog(Displayable):
    """A log with its truth: `records()` are the events, `lines()` the lines of a server."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.columns = _draw(scenario, np.random.default_rng(scenario.seed))
        """Arrays of equal length, one value a search, in order of time."""

    def __len__(self) -> int:
        return len(self.columns["ts"])

    @property
    def propensities(self) -> list[float]:
        """How often each rank is examined, from rank 1 on."""
        return [float(each) for each in model.examination(self.scenario.depth)]

    @property
    def truth(self) -> dict[str, float]:
        """The true value of each metric in the population of the log, without the noisy user."""
        return model.expected_metrics(self.scenario, slice(None))

    def truth_of_day(self, day: int, variant: str | None = None) -> dict[str, float]:
        """The same for one local day, counted from 0, or for one variant of it."""
        return model.expected_metrics(self.scenario, slice(day, day + 1), variant)

    def truth_of_variant(self, variant: str) -> dict[str, float]:
        """The same for one variant."""
        return model.expected_metrics(self.scenario, slice(None), variant)

    def records(self) -> Iterator[dict[str, Any]]:
        """The events as mappings, in order of time."""
        for row in zip(*(each.tolist() for each in self.columns.values()), strict=True):
            yield _record(dict(zip(self.columns, row, strict=True)))

    def lines(self) -> Iterator[str]:
        """The log as a server writes it: some lines twice, late or damaged, if the scenario says so."""
        s = self.scenario
        rng = np.random.default_rng([s.seed, 1])
        late: list[tuple[int, str]] = []
        for at, record in enumerate(self.records()):
            while late and late[0][0] <= at:
                yield late.pop(0)[1]
            line = json.dumps(record, ensure_ascii=False)
            if rng.random() < s.disorder:
                late.append((at + int(rng.integers(1, 20)), line))
                late.sort()
            else:
                yield line
            if rng.random() < s.duplicates:
                yield line
            if rng.random() < s.corrupt:
                yield _damaged(record, DAMAGES[int(rng.integers(len(DAMAGES)))])
        yield from (line for _, line in late)

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the log as JSON Lines, and return the path; an existing file is replaced only with `force`."""
        with whole_file(path, force=force) as file:
            file.writelines(f"{line}\n".encode() for line in self.lines())
        return Path(path)

    def evaluation_set(self, queries: int = 60, seed: int = 0) -> list[dict[str, Any]]:
        """Queries drawn from the topics of the first day, each with its topic and the quality of its results."""
        rng = np.random.default_rng(seed)
        topics = rng.choice(len(TOPICS), size=queries, p=model.topic_mix(self.scenario)[0])
        words, form = _zipf(rng, (2, queries)), rng.integers(0, 4, queries)
        return [
            {
                "id": f"q{i + 1}",
                "query": _query(t, int(words[0, i]), int(words[1, i]), int(form[i])),
                "topic": TOPICS[t][0],
                "quality": TOPICS[t][2],
            }
            for i, t in enumerate(topics.tolist())
        ]

    def _in_one_line(self) -> str:
        return f"<SimulatedLog of {len(self):,} searches in {self.scenario.days} days>"


def simulate_log(
    sessions: int = 2000,
    *,
    seed: int = 0,
    start: str = "2025-03-03",
    days: int = 28,
    timezone: str = "UTC",
    users: int | None = None,
    depth: int = 10,
    variants: Sequence[str] = ("A",),
    lift: float = 0.0,
    drift_on: int | None = None,
    drift_share: float = 0.5,
    worse_on: int | None = None,
    worse_by: float = 0.3,
    outage: tuple[int, int, int] | None = None,
    noisy: float = 0.0,
    duplicates: float = 0.0,
    disorder: float = 0.0,
    corrupt: float = 0.0,
) -> SimulatedLog:
    """A seeded production log with position bias, whose metrics have a known truth.

    From day `drift_on` on, `drift_share` of the questions are about new topics; from day `worse_on` on, results are
    worse by the share `worse_by`; `outage` (day, first hour, hours) retrieves nothing. `lift` is by how much more the
    results of the last variant attract. One user sends the share `noisy` of all events, and never clicks. The shares
    `duplicates`, `disorder` and `corrupt` of the lines are written twice, some minutes late, or damaged.

    >>> log = simulate_log(200, seed=1)
    >>> len(log), round(log.truth["ctr"], 3)
    (221, 0.646)
    """
    users = max(sessions // 4, 1) if users is None else users
    lost = [0, 0, 1] if outage is None else list(outage)
    if len(lost) != 3:
        raise UsageError(f"outage: got {outage}, expected (day, first hour, hours). Next: write like (3, 8, 12).")
    for name, number in {"sessions": sessions, "days": days, "users": users, "outage, hours": lost[2]}.items():
        check_whole(name, number)
    check_whole("depth", depth, 3)
    check_whole("seed", seed, 0)
    check_whole("outage, hour", lost[1], 0, 23, advice="give the hour of the day at which it begins")
    for name, day in {"drift_on": drift_on or 0, "worse_on": worse_on or 0, "outage, day": lost[0]}.items():
        check_whole(name, day, 0, days - 1, advice="name a day of the log, the first being 0")
    variants = check_each("variants", variants, str, "names of variants")
    if not variants or len(set(variants)) < len(variants):
        raise UsageError(f"variants: got {variants}, expected one name or more, each once. Next: give such names.")
    zone_named(timezone)
    for name, share in {"noisy": noisy, "duplicates": duplicates, "disorder": disorder, "corrupt": corrupt}.items():
        check_number(name, share, least=0, below=1)
    check_number("drift_share", drift_share, least=0, most=1)
    check_number("worse_by", worse_by, least=0, most=1)
    check_number("lift", lift, least=-1, most=0.2)
    try:
        first = date.fromisoformat(start)
    except ValueError as error:
        raise UsageError(f"start: got {start!r}, expected a day like 2025-03-03. Next: give one.") from error
    scenario = Scenario(
        sessions, seed, first, days, timezone, users, depth, variants, lift,
        drift_on, drift_share, worse_on, worse_by, outage, noisy, duplicates, disorder, corrupt,
    )  # fmt: skip
    return SimulatedLog(scenario)


def _zipf(rng: np.random.Generator, size: Any) -> Array:
    """Which of eight words, the first ones oftener."""
    weights = 1 / np.arange(1, 9)
    return np.asarray(rng.choice(8, size=size, p=weights / weights.sum()))


def _draw(s: Scenario, rng: np.random.Generator) -> dict[str, Array]:
    """The columns of all searches, in order of time."""
    share, begins = model.hour_shares(s)
    n = s.sessions
    cell = rng.choice(share.size, size=n, p=share.reshape(-1))
    day = cell // 24
    time = begins.reshape(-1)[cell] + rng.uniform(0, 3600, n)
    edges = np.cumsum(model.topic_mix(s), axis=1)
    topic = np.minimum((rng.random(n)[:, None] > edges[day]).sum(1), len(TOPICS) - 1)
    activity = rng.pareto(2.5, s.users) + 0.3
    user = rng.choice(s.users, size=n, p=activity / activity.sum())
    session = {
        "session": np.arange(n),
        "user": user,
        "kind": rng.integers(0, len(model.KINDS), s.users)[user],
        "arm": rng.integers(0, len(s.variants), n),
        "day": day,
        "topic": topic,
        "quality": model.topic_quality(s)[day, topic],
        "down": model.outage_hours(s).reshape(-1)[cell],
        "a": _zipf(rng, n),
        "b": _zipf(rng, n),
        "noisy": np.zeros(n, dtype=bool),
    }
    form, steps = rng.integers(0, 4, n), []
    for step in range(model.MOST):
        drawn = {**session, "ts": time, "form": (form + step) % 4, **_search(s, session, rng)}
        steps.append(drawn)
        again = ~drawn["good"] & (drawn["first_click"] == 0) & (rng.random(len(time)) < model.AGAIN)
        session = {name: each[again] for name, each in session.items()}
        time, form = time[again] + rng.uniform(15, 90, int(again.sum())), form[again]
    columns = {name: np.concatenate([each[name] for each in steps]) for name in steps[0]}
    if s.noisy:
        columns = _with_noise(s, columns, rng)
    order = np.argsort(columns["ts"], kind="stable")
    columns = {name: each[order] for name, each in columns.items()}
    named = {"variant": np.array(s.variants)[columns["arm"]], "event": np.arange(len(order))}
    return {**columns, "ts": np.round(columns["ts"], 3), **named}


def _search(s: Scenario, session: dict[str, Array], rng: np.random.Generator) -> dict[str, Array]:
    """The results and the user's actions in one search of each of these sessions."""
    n = len(session["user"])
    relevant = rng.random((n, s.depth)) < session["quality"][:, None] * model.DECAY ** np.arange(s.depth)
    calm = np.where((session["day"] + s.start.weekday()) % 7 >= 5, model.WEEKEND, 1.0)
    drawn_to = calm * np.array(model.KINDS)[session["kind"]] * s.lifts[session["arm"]]
    chance = model.examination(s.depth) * drawn_to[:, None] * np.where(relevant, model.ATTRACTS, model.ATTRACTS_NOT)
    empty = session["down"] | (rng.random(n) < model.EMPTY)
    clicks = (rng.random((n, s.depth)) < chance) & ~empty[:, None]
    abstained = empty | (rng.random(n) < model.ABSTAINS)
    good = ~abstained & (rng.random(n) < model.GOOD * session["quality"])
    votes = rng.random(n) < np.where(good, model.VOTES[True], model.VOTES[False])
    up = rng.random(n) < np.where(good, model.UP[True], model.UP[False])
    steps = np.maximum(rng.exponential(model.MARGIN, (n, s.depth)), 1e-9)
    centre = model.LATENCY * np.where(session["kind"] == 0, model.SLOW, 1.0)
    return {
        "relevant": relevant,
        "clicks": clicks,
        "first_click": np.where(clicks.any(1), clicks.argmax(1) + 1, 0),
        "empty": empty,
        "abstained": abstained,
        "good": good,
        "thumb": np.where(votes, np.where(up, 1, -1), 0),
        "citations": np.where(abstained, 0, rng.choice(len(model.CITES), size=n, p=model.CITES)),
        "scores": 10 - np.cumsum(steps, axis=1),
        "latency_ms": np.round(centre * np.exp(rng.normal(0, model.SPREAD, n)), 2),
        "page": rng.integers(0, 40, n),
    }


def _with_noise(s: Scenario, columns: dict[str, Array], rng: np.random.Generator) -> dict[str, Array]:
    """One user more, who sends a share of all searches, never clicks and never votes."""
    n = len(columns["ts"])
    extra = round(n * s.noisy / (1 - s.noisy))
    copied = {name: each[rng.integers(0, n, extra)] for name, each in columns.items()}
    for name in ("clicks", "first_click", "thumb"):
        copied[name] = np.zeros_like(copied[name])
    copied["user"], copied["noisy"] = np.full(extra, s.users), np.ones(extra, dtype=bool)
    copied["session"] = s.sessions + np.arange(extra) // 20
    return {name: np.concatenate([each, copied[name]]) for name, each in columns.items()}


def _query(topic: int, a: int, b: int, form: int) -> str:
    _, language, _, words = TOPICS[topic]
    said = words.split(" ")
    return FORMS[language][form].format(a=said[a], b=said[b if b != a else (b + 1) % 8])


def _record(row: dict[str, Any]) -> dict[str, Any]:
    """One event, in the schema of `events.py`."""
    name, language, _, words = TOPICS[row["topic"]]
    said = words.split(" ")
    pages = range(row["page"], row["page"] + len(row["clicks"]))
    ids = [] if row["empty"] else [f"{name}-{page}" for page in pages]
    answer = ANSWERS[language][row["abstained"]].format(a=said[row["a"]], b=said[row["b"]])
    return {
        "id": f"e{row['event']}",
        "ts": row["ts"],
        "session": f"s{row['session']}",
        "user": "crawler" if row["noisy"] else f"u{row['user']}",
        "query": _query(row["topic"], row["a"], row["b"], row["form"]),
        "results": [
            {"id": doc, "score": round(score, 6), "rank": rank}
            for rank, (doc, score) in enumerate(zip(ids, row["scores"], strict=False), 1)
        ],
        "answer": answer,
        "citations": ids[: row["citations"]],
        "clicks": [
            {"id": doc, "rank": rank} for rank, (doc, hit) in enumerate(zip(ids, row["clicks"], strict=False), 1) if hit
        ],
        "thumb": {1: "up", -1: "down"}.get(row["thumb"]),
        "latency_ms": row["latency_ms"],
        "abstained": bool(row["abstained"]),
        "variant": row["variant"],
        "language": language,
    }


DAMAGES = ("cut", "no time", "text", "list", "bad number", "bad date")


def _damaged(record: dict[str, Any], how: str) -> str:
    """A line that is not an event."""
    changed = record | {"bad date": {"ts": "yesterday"}, "bad number": {"latency_ms": "fast"}}.get(how, {})
    if how == "no time":
        del changed["ts"]
    line = json.dumps(changed, ensure_ascii=False)
    return {"cut": line[: len(line) // 2], "text": "GET /search 200", "list": "[1, 2]"}.get(how, line)
