"""The first page (what is in the folder, its scores, whether gates passed), and the page of the runs in progress."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from math import isfinite
from pathlib import Path
from time import time
from typing import Any

from rankproof.comparing.comparison import first_measure, sign_of
from rankproof.comparing.gate import gate_scores
from rankproof.comparing.history import History
from rankproof.document.charts import figure, timeline
from rankproof.document.numbers import count, first_of, score, span
from rankproof.document.page import Child, Markup, combine, el, fold, ident, join, table
from rankproof.document.terminal import cut
from rankproof.errors import RankproofError
from rankproof.progress import LIVE, progress_line
from rankproof.scoring.evaluate import evaluate
from rankproof.scoring.protocol import ScoresLike
from rankproof.scoring.scores import Scores
from rankproof.scoring.tables import UNBOUNDED
from rankproof.stats.intervals import GUESSED
from rankproof.web.folder import FileKind, FoundFile
from rankproof.web.site import Choices, Page, Site, day, errors_part, note, problem, sections, wrong_card

LAST = 40
KINDS = {
    FileKind.JUDGMENTS: "Judgments",
    FileKind.QUERIES: "Queries",
    FileKind.CORPUS: "Documents",
    FileKind.HISTORY: "Saved results",
    FileKind.SAMPLES: "Samples to judge",
    FileKind.LEDGER: "Verdicts",
    FileKind.POOL: "Pools to label",
    FileKind.LABELS: "Labels",
    FileKind.GRID: "Saved grids",
    FileKind.LOG: "Production logs (rankproof monitor reads them)",
}


def home(site: Site, choices: Choices) -> Page:
    """The cards and tables of the folder."""
    space = site.workspace
    places = ", ".join(Path(each).resolve().name or each for each in space.settings.places)
    measured_by: Child = "There are no judgments here yet, so nothing is measured. Put a file of them into the folder."
    if (file := space.judgments_file) is not None:
        others = len(space.of_kind(FileKind.JUDGMENTS)) - 1
        more = f"; {count(others, 'other file')} of judgments is not used (--judgments chooses)" if others > 0 else ""
        measured_by = combine("Measured by ", ident(file.name), f"{more}.")
    histories = (
        (
            f"history-{n}",
            f"Over time: {each.name}",
            space.compute_once(("entries", each.path), each.stamp, partial(_history, each)),
        )
        for n, each in enumerate(space.of_kind(FileKind.HISTORY))
    )
    return Page(
        f"What is in {places}",
        sections(_news(site), ("runs", "Rankings", _runs(site)), *histories, ("files", "Files", _files(site))),
        opening=el("p", measured_by, cls="size"),
        changing=True,
    )


def _news(site: Site) -> tuple[str, str, Child] | None:
    new = [each for each in site.workspace.files if site.seen and each.changed > site.seen]
    if not new:
        return None
    listed = (el("li", ident(each.name), f" ({each.kind})") for each in new[:20])
    more = note(f"and {len(new) - 20:,} more") if len(new) > 20 else None
    return "news", "New since your last visit", combine(el("ul", *listed), more)


def _runs(site: Site) -> Markup:
    space = site.workspace
    if not space.runs:
        return note("There is no ranking here. A file put into the folder shows up by itself.")
    if space.judgments_file is None:
        return el("ul", *(el("li", ident(name)) for name in space.runs))
    ready = {name: space.scores_if_ready(name) for name in space.runs}
    waiting = [name for name, each in ready.items() if each is None]
    scores = {name: each for name, each in ready.items() if isinstance(each, Scores)}
    wrong = {name: each for name, each in ready.items() if isinstance(each, RankproofError)}
    reading = f"Reading {count(len(waiting), 'ranking')}: {first_of(waiting)} ..."
    progress = el("p", reading, cls="note", role="status") if waiting else None
    cards = join(wrong_card(name, each) for name, each in wrong.items())
    first = None if space.settings.baseline else next((name for name in ready if name not in wrong), None)
    shown = combine(errors_part(scores.items()), _means(site, scores, first)) if scores else None
    return combine(progress, shown, cards)


def _means(site: Site, scores: dict[str, Scores], first_run: str | None) -> Markup:
    """The rankings, the best first; links compare them with the first, unless another was named."""
    measure = first_measure(first := next(iter(scores.values())))
    ordered = sorted(scores, key=lambda name: -sign_of(first) * scores[name][measure])
    baseline = first_run or site.workspace.baseline()
    shown = list(first)[:6]
    rows, guessed = list[list[Child]](), False
    for name in ordered:
        each = scores[name]
        made = site.workspace.uncertainty(name)
        guessed |= made.method.startswith(GUESSED)
        ends = span(made.low, made.high) if isfinite(made.low) else ""
        pages = ("compare", "gate") if name != baseline else ()
        links = join([site.link(page, page, a=baseline, b=name) for page in pages], " ") or "baseline"
        others = [score(each[m]) for m in shown[1:] if m in each]
        rows.append([ident(name), links, score(each[measure]), ends, *others])
    headings = ("ranking", "look at", measure, "interval", *shown[1:])
    caption = f"Means over {count(len(first.queries), 'query')}, the best first"
    means = table(caption, headings, rows, words=(0, 1))
    return combine(means, note(f"{measure}: {UNBOUNDED}.") if guessed else None)


def _history(file: FoundFile) -> Markup:
    """The time line of each measure of a history, and the gate of each result against the one before."""
    try:
        history = History(file.path)
        found = [(entry.saved_at, entry.name, history.scores(entry.name)) for entry in history.entries(LAST)]
    except RankproofError as error:
        return problem(error)
    if not found:
        return note("Nothing is saved in it yet.")
    pictures = []
    for measure in list(dict.fromkeys(measure for _, _, scores in found for measure in scores))[:6]:
        points = []
        for _, name, scores in found:
            if measure in scores:
                value = scores[measure]
                low, high = (end if isfinite(end) else value for end in scores.interval(measure))
                points.append((cut(name, 12), value, low, high))
        pictures.append(figure(measure, timeline(measure, points)))
    caption = "Each result against the one before it, on the first measure"
    listed = table(caption, ("saved", "name", "mean", "gate"), _gates(found), words=(0, 1, 3))
    return combine(el("div", *pictures, cls="grid"), fold("The results", listed, opened=True))


def _gates(found: Sequence[tuple[str, str, ScoresLike]]) -> list[list[Child]]:
    """Time, name, mean and gate of each result, the last first."""
    rows: list[list[Child]] = []
    for n, (at, name, scores) in enumerate(found):
        measure = first_measure(scores)
        said: Child = "first"
        if n:
            try:
                said = gate_scores(found[n - 1][2], scores, [measure]).outcome
            except RankproofError as error:
                said = el("small", str(error).partition(" Next: ")[0])
        rows.append([day(at), ident(name), score(scores[measure]), said])
    return rows[::-1]


def _files(site: Site) -> Markup:
    """The other files by kind; a damaged one with its error."""
    space = site.workspace
    unclear = {each: each.problem for each in space.of_kind(FileKind.UNCLEAR)}
    cards = [
        el("div", el("h3", ident(file.name)), el("p", why, cls=cls), cls="card")
        for shown, cls in ((unclear, None), (space.damaged_files(), "bad"))
        for file, why in shown.items()
    ]
    kinds = {each: each.kind for each in space.files} | space.texts()
    rows: list[list[Child]] = [
        [KINDS[kind], ident(each.name), f"{each.size / 1000:,.1f} kB"] for each, kind in kinds.items() if kind in KINDS
    ]
    unknown = [each for each in space.files if each.kind is FileKind.UNKNOWN]
    left = note(f"{count(len(unknown), 'other file')} passed over.") if unknown else None
    listed = table("", ("what", "file", "size"), rows, words=(0, 1), label="Files") if rows else None
    return combine(*cards, listed, left)


SILENT = 60.0
"""Seconds without news after which a run is assumed to have stopped."""
HOUR = 3600.0
"""Runs that ended longer ago are not shown."""
TOLD = {"done": int, "at": float, "total": int | None, "failed": int | None}
"""What a line of progress has; others are passed over."""


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
    how = combine(
        note("No run reports its progress here. A run does if this variable names the folder:"),
        el("pre", el("code", f"{LIVE}={folder} rankproof run ...   (or bench, judge, or Benchmark in Python)")),
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
        if isinstance(record, dict) and all(isinstance(record.get(name), kind) for name, kind in TOLD.items()):
            found.append(record)
    return found


def _run(site: Site, file: FoundFile, lines: list[Mapping[str, Any]], now: float) -> Markup:
    first, last = lines[0], lines[-1]
    done, total, failed = last["done"], last.get("total"), last.get("failed") or 0
    took = last["at"] - first["at"]
    gained = done - first["done"]
    speed = gained / took if took > 0 else 0.0
    ended = bool(last.get("ended"))
    left = (total - done) / speed if total and speed and not ended else None
    state = "ended" if ended else "silent" if now - file.changed > SILENT else "running"
    words = progress_line(str(last.get("what", "")), done, total, failed, left, str(last.get("noun", "questions")))
    bar = el("progress", value=done, max=total, aria_label=words) if total else None
    facts = (f"{speed:.3g} a second" if speed else "") + (f"; {count(failed, 'failure')}" if failed else "")
    said = {"silent": "No news of it for a minute: it may have been stopped. ", "ended": "Ended. "}.get(state, "")
    head = el("h3", ident(str(last.get("what", file.name))))
    means = _first_means(site, file, ended)
    return el("div", head, el("p", words), bar, note(said, facts), means, cls=f"card {state}")


def _first_means(site: Site, file: FoundFile, ended: bool) -> Markup | None:
    """Means over the queries that are answered so far."""
    space = site.workspace
    name = file.name.replace(".progress.jsonl", ".partial.jsonl")
    part = next((each for each in space.of_kind(FileKind.PARTIAL) if each.name == name), None)
    if part is None or space.judgments_file is None:
        return None
    try:
        found = space.compute_once(("partial", part.path), part.stamp, lambda: _scored(site, part.path))
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
    judged, answers = site.workspace.judgments(), {}
    for line in path.read_bytes().split(b"\n"):
        try:
            record = json.loads(line)
            answers[str(record["query"])] = [str(each) for each in record["results"]]
        except (ValueError, KeyError, TypeError):
            continue
    known = {query: answers[query] for query in answers if query in judged}
    if not known:
        return None
    settings = site.workspace.settings
    found = evaluate(judged, known, settings.measures, **{**settings.conventions, "duplicates": "first"})
    return found.only(list(found), [query for query in found.queries if query in known])
