"""A run in progress: its share done, its speed, its failures, and preliminary means."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from time import time
from typing import Any

from rankproof.document.numbers import count, score, span
from rankproof.document.page import Child, Markup, el, ident, join, table
from rankproof.errors import RankproofError
from rankproof.progress import LIVE, progress_line
from rankproof.scoring.evaluate import evaluate
from rankproof.scoring.scores import Scores
from rankproof.web.folder import FileKind, FoundFile
from rankproof.web.site import Choices, Page, Site, note, problem, sections

SILENT = 60.0
"""Seconds without news after which a run is assumed to have stopped."""
HOUR = 3600.0
"""Runs that ended longer ago are not shown."""
PARTIAL, PROGRESS = ".partial.jsonl", ".progress.jsonl"


def live(site: Site, choices: Choices) -> Page:
    """The current runs, and those that ended within the hour."""
    now = time()
    runs = [
        (each, lines)
        for each in site.workspace.of_kind(FileKind.PROGRESS)
        if now - each.changed < HOUR and (lines := _lines(each.path))
    ]
    runs.sort(key=lambda pair: -pair[0].changed)
    cards = [_run(site, file, lines, now) for file, lines in runs]
    folder = site.workspace.settings.places[0]
    how = join(
        [
            note("No run reports its progress here. A run does if this variable names the folder:"),
            el(
                "pre",
                el("code", f"{LIVE}={folder} rankproof run ...   (or bench, judge, or Benchmark in Python)"),
            ),
        ]
    )
    return Page("Live", sections(("now", "Now", join(cards) if cards else how)), changing=True)


def _lines(path: Path) -> list[Mapping[str, Any]]:
    """The first and the last complete lines."""
    try:
        with open(path, "rb") as stream:
            first = stream.readline(1 << 16)
            stream.seek(max(len(first), path.stat().st_size - (1 << 14)))
            rest = stream.read().split(b"\n")
    except OSError:
        return []
    found: list[Mapping[str, Any]] = []
    for line in (first, *rest):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict) and isinstance(record.get("done"), int) and isinstance(record.get("at"), float):
            found.append(record)
    return found


def _run(site: Site, file: FoundFile, lines: list[Mapping[str, Any]], now: float) -> Markup:
    """One run: its description, its speed, its preliminary means."""
    first, last = lines[0], lines[-1]
    done, total, failed = last["done"], last.get("total"), int(last.get("failed") or 0)
    took = last["at"] - first["at"]
    gained = done - first["done"]
    speed = gained / took if took > 0 else 0.0
    ended = bool(last.get("ended"))
    left = (total - done) / speed if total and speed and not ended else None
    state = "ended" if ended else "silent" if now - file.changed > SILENT else "running"
    words = progress_line(str(last.get("what", "")), done, total, failed, left, str(last.get("noun", "questions")))
    bar = el("progress", value=done, max=total, aria_label=words) if total else None
    facts = f"{speed:.3g} a second" if speed else ""
    said = {"silent": "No news of it for a minute: it may have been stopped. ", "ended": "Ended. "}.get(state, "")
    return el(
        "div",
        el("h3", ident(str(last.get("what", file.name)))),
        el("p", words),
        bar,
        note(said, facts, f"; {count(failed, 'failure')}" if failed else ""),
        _first_means(site, file, ended),
        cls=f"card {state}",
    )


def _first_means(site: Site, file: FoundFile, ended: bool) -> Markup | None:
    """Means over the queries that are answered so far."""
    space = site.workspace
    part = next(
        (each for each in space.of_kind(FileKind.PARTIAL) if each.name == file.name.replace(PROGRESS, PARTIAL)),
        None,
    )
    if part is None or space.judgments_file is None:
        return None
    try:
        found = space.kept(("partial", part.stamp), lambda: _scored(site, part.path))
    except RankproofError as error:
        return problem(error)
    if found is None:
        return None
    rows: list[list[Child]] = [[name, score(found[name]), span(*found.interval(name))] for name in list(found)[:4]]
    every = len(space.judgments().queries)
    mark = "as far as it came" if ended else "NOT FINAL"
    caption = f"First means over {len(found.queries):,} of {every:,} judged queries, {mark}"
    return table(caption, ("measure", "mean so far", "interval"), rows)


def _scored(site: Site, path: Path) -> Scores | None:
    """The scores of the queries that are answered."""
    judged, answers = site.workspace.judgments(), {}
    for line in path.read_bytes().split(b"\n"):
        try:
            record = json.loads(line)
            answers[str(record["query"])] = [str(each) for each in record["results"]]
        except (ValueError, KeyError, TypeError):
            continue
    known = {query: judged.of(query) for query in answers if query in judged.index}
    if not known:
        return None
    return evaluate(
        known,
        {query: answers[query] for query in known},
        site.workspace.settings.measures,
        duplicates="first",
    )
