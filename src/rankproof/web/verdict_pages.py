"""Verdicts of judges: claims beside the supporting text, a person's override, calibration; and saved grids."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from rankproof.bench.grid import saved_grid
from rankproof.core.arrays import by_key
from rankproof.document.numbers import count
from rankproof.document.page import Child, Markup, combine, el, fold, ident, join, table
from rankproof.errors import DataError, UsageError, check_one_of, reason
from rankproof.judging.judge import judge
from rankproof.judging.judged_scores import JudgedScores
from rankproof.judging.judges import Verdicts
from rankproof.judging.labelling import Draw, Task, prepare_task
from rankproof.judging.page import score_table
from rankproof.judging.verdicts import VALUES, Relation
from rankproof.judging.words import QUESTIONS, WORDS, certainty, nouns, verdict
from rankproof.store.ledger import HUMAN, LedgerEntry
from rankproof.web.folder import FileKind, FoundFile, named_by_stem
from rankproof.web.site import (
    Choices,
    Page,
    Site,
    button,
    day,
    form,
    hidden_fields,
    note,
    part_of_result,
    sections,
    select,
    whole_number,
    whole_text,
)

SHOWN = 25
DRAWN = 50
"""Pairs of each relation in a calibration session: this many labels correct the numbers of a judge."""


def _ledger(site: Site, choices: Mapping[str, str]) -> FoundFile | None:
    """The ledger that was chosen, else the first."""
    found = {each.name: each for each in site.workspace.of_kind(FileKind.LEDGER)}
    return found.get(choices.get("ledger", "")) or next(iter(found.values()), None)


def verdicts(site: Site, choices: Choices) -> Page:
    """The verdicts of a ledger, those of people first if they differ."""
    file = _ledger(site, choices)
    if file is None:
        words = "There is no ledger of verdicts here. One is written by: rankproof judge SAMPLES --ledger verdicts.db"
        return Page("Verdicts", sections(("verdicts", "Verdicts", note(words))))
    kept = Verdicts(file.path)
    found = list(
        kept.where(
            judge=choices.get("judge") or None,
            relation=choices.get("relation") or None,
            value=whole_number(choices.get("value", "")),
            contains=choices.get("text") or None,
            unmeasured={"yes": True, "no": False}.get(choices.get("open", "")),
        )
    )
    start = max(0, whole_number(choices.get("from", "")) or 0)
    shown = found[start : start + SHOWN]
    people = by_key((each.id, each) for each in kept.ledger.entries(human=True))
    cards = join(_card(site, file, each, people.get(each.id, ())) for each in shown)
    more = _more(site, choices, start, len(found))
    heading = f"{count(len(found), 'verdict')}" + (f", from {start + 1:,} on" if start else "")
    named = ("judge", "is a", "verdicts", "could not tell")
    judges: list[list[Child]] = [
        [ident(j["name"]), "person" if j["human"] else "machine", f"{j['verdicts']:,}", f"{j['unmeasured']:,}"]
        for j in kept.judges()
    ]
    label_pairs = site.link("Label pairs", "calibration", ledger=file.name) if site.writes else None
    return Page(
        f"Verdicts in {file.name}",
        sections(
            _means(site, file),
            ("judges", "Who judged", table("", named, judges, words=(0, 1), label="Judges")),
            ("verdicts", heading, combine(_choose(site, file, kept, choices), cards, more)),
            ("calibration", "How far the judge can be trusted", el("p", TRUST, label_pairs)),
        ),
    )


TRUST = (
    f"Label up to {DRAWN} pairs of each kind that are drawn at random, and every mean is shown corrected by what "
    "you said, beside the raw one. "
)


def _means(site: Site, file: FoundFile) -> tuple[str, str, Child] | None:
    """The means of samples under these verdicts, with coverage and bounds; None if there are no samples."""
    samples = site.workspace.of_kind(FileKind.SAMPLES)
    if not samples:
        return None
    shown = (
        combine(el("h3", ident(each.name)), site.later(means_part, "means", file=each.name, ledger=file.name))
        for each in samples
    )
    return "means", "Means, by the ledger", join(shown)


def means_part(site: Site, choices: Choices) -> tuple[Future[JudgedScores], Callable[[JudgedScores], Markup]]:
    """The table of `rankproof judge` for samples, by the existing verdicts; nothing is asked."""
    ledger, named = _ledger(site, choices), {each.name: each for each in site.workspace.of_kind(FileKind.SAMPLES)}
    if ledger is None or choices.get("file", "") not in named:
        raise UsageError("there are no such samples here. Next: load the page again.")
    samples = named[choices["file"]]

    def make() -> JudgedScores:
        return judge(os.fspath(samples.path), judge="replay", ledger=ledger.path)

    found = site.workspace.later(("judged", samples.path, ledger.path), (samples.stamp, ledger.stamp), make)
    return found, lambda scores: score_table(scores.summary(""))


def _choose(site: Site, file: FoundFile, kept: Verdicts, choices: Choices) -> Markup | None:
    ledgers = [each.name for each in site.workspace.of_kind(FileKind.LEDGER)]
    judges = {"": "all", **{each["name"]: each["name"] for each in kept.judges()}}
    relations = {"": "all", **{str(each): each.name.lower().replace("_", " ") for each in Relation}}
    words = choices.get("text", "")
    return site.choose(
        "verdicts",
        select("ledger", "ledger", ledgers, file.name) if len(ledgers) > 1 else None,
        select("judge", "judge", judges, choices.get("judge", "")),
        select("relation", "about", relations, choices.get("relation", "")),
        select("open", "settled", {"": "all", "no": "yes", "yes": "no"}, choices.get("open", "")),
        el("label", el("span", "with the words"), el("input", type="search", name="text", value=words)),
    )


def _more(site: Site, choices: Choices, start: int, total: int) -> Markup | None:
    kept = {name: value for name, value in choices.items() if name not in ("from", "save")}
    before = site.link("Before", "verdicts", **{**kept, "from": str(max(0, start - SHOWN))}) if start else None
    after = site.link("More", "verdicts", **{**kept, "from": str(start + SHOWN)}) if start + SHOWN < total else None
    return el("p", before, " ", after) if before or after else None


def _card(site: Site, file: FoundFile, each: LedgerEntry, people: Sequence[LedgerEntry]) -> Markup:
    relation = Relation(each.relation)
    left, right = nouns(relation, each.right)
    said = verdict(relation, each.value, each.reason) + certainty(each.probability)
    items = el("ul", *(el("li", whole_text(item)) for item in each.items)) if each.items else None
    human = each.judge.startswith(f"{HUMAN}:")
    others = (
        el("p", el("b", verdict(relation, p.value, p.reason)), f", says {p.judge}", _why(p), cls="given")
        for p in people
        if not human
    )
    return el(
        "article",
        el(
            "div",
            el("div", el("small", left), el("p", *_quoted(each.left, ""))) if left else None,
            el("div", el("small", right), el("p", *_quoted(each.right, each.quote)), items),
            cls="sides",
        ),
        el("p", el("b", said), f", says {each.judge}", _why(each), f" ({day(each.at)})" if each.at else ""),
        *others,
        _override(site, file, each, relation),
        cls="card verdict",
        id=f"pair-{each.id}",
    )


def _why(each: LedgerEntry) -> str:
    reason = str(each.origin.get("why", ""))
    return f", because: {reason}" if reason else ""


LONG = 1500
"""The number of characters of a text that are shown at first."""


def _quoted(text: str, quote: str) -> list[Child]:
    at = text.find(quote) if quote else -1
    if at < 0:
        return [whole_text(text[:LONG]), fold("The rest", whole_text(text[LONG:])) if len(text) > LONG else None]
    start = max(0, at - LONG // 2)
    end = at + len(quote) + LONG // 2
    return [
        ("... " if start else "") + text[start:at],
        el("mark", quote),
        text[at + len(quote) : end] + (" ..." if end < len(text) else ""),
    ]


def _override(site: Site, file: FoundFile, each: LedgerEntry, relation: Relation) -> Markup | None:
    if not site.writes or not VALUES[relation]:
        return None
    values = {str(value): f"{value}: {WORDS[relation][value]}" for value in VALUES[relation]}
    return fold(
        "Say otherwise",
        form(
            site,
            "/override",
            *hidden_fields(ledger=file.name, pair=each.id, back=site.links.to("verdicts", ledger=file.name)),
            select("value", "your verdict", values, str(each.value)),
            el("label", el("span", "because"), el("input", name="why", maxlength=500, size=40, required="required")),
            button("Save"),
            method="post",
            cls="choices",
        ),
        cls="plain",
    )


def override(site: Site, sent: Mapping[str, str]) -> None:
    """Save a person's verdict, with the reason."""
    file = _ledger(site, sent)
    value = whole_number(sent.get("value", ""))
    if file is None or value is None:
        raise UsageError("there is no verdict to override with. Next: choose one of the list.")
    if not sent.get("why", "").strip():
        raise UsageError("a verdict that overrides needs a reason. Next: write why.")
    Verdicts(file.path).override(sent.get("pair", ""), value, by=site.who, why=sent["why"].strip()[:500])
    site.workspace.refresh()


def _task(site: Site, file: FoundFile) -> Task:
    """The session of this person, which goes on from one request to the next."""
    task = prepare_task(file.path, None, None, site.who, Draw(DRAWN))
    task.session.steps = site.workspace.labelling.setdefault((site.who, str(file.path)), [])
    return task


def calibration(site: Site, choices: Choices) -> Page:
    """The next pair to label; the judge's verdict is not shown, as it would bias the label."""
    file = _ledger(site, choices)
    if file is None:
        raise UsageError("there is no ledger of verdicts here. Next: judge samples with --ledger FILE.")
    task = _task(site, file)
    pair = task.session.next()
    done = f"{task.session.done:,} of {len(task.session.drawn):,} pairs labelled by {site.who}"
    if task.session.skipped:
        done += f", {task.session.skipped:,} skipped"
    body = (
        note("Every pair that was drawn is labelled or skipped.") if pair is None else _pair_card(site, file, pair.ask)
    )
    return Page(
        "Calibration",
        sections(("pair", done, body), ("result", "What the labels show so far", part_of_result(task.result()))),
        scripts=("judge",),
    )


def _pair_card(site: Site, file: FoundFile, ask: Any) -> Markup:
    left, right = nouns(ask.relation, ask.right)
    asked, _, answers = QUESTIONS[ask.relation].partition("? ")
    return el(
        "article",
        el("div", el("small", left), el("p", whole_text(ask.left)), cls="side"),
        el("div", el("small", right), el("p", whole_text(ask.right)), cls="side"),
        el("p", asked, "?"),
        form(
            site,
            "/calibrate",
            *hidden_fields(ledger=file.name, left=ask.left, right=ask.right),
            *hidden_fields(back=site.links.to("calibration", ledger=file.name)),
            *(
                button(each, name="value", value=value, data_key=value.replace("-1", "-"))
                for each in answers.split(", ")
                for value in [each.partition(" ")[0]]
            ),
            button("skip", name="value", value="skip", data_key="s"),
            button("undo the last", name="value", value="undo", data_key="u"),
            method="post",
            cls="grades",
        ),
        cls="card",
        id="grading",
    )


def label(site: Site, sent: Mapping[str, str]) -> None:
    """Save the label of a pair, if it is the one that was shown."""
    file, value = _ledger(site, sent), sent.get("value", "")
    if file is None or (whole_number(value) is None and value not in ("skip", "undo")):
        raise UsageError("there is nothing to label. Next: load the page again.")
    session = _task(site, file).session
    if value == "undo":
        session.undo()
        return
    pair = session.next()
    if pair is None or (pair.ask.left, pair.ask.right) != (sent.get("left"), sent.get("right")):
        raise UsageError("this pair is labelled already, perhaps in another window. Next: load the page again.")
    if value == "skip":
        session.skip()
    else:
        session.grade(int(value))
    site.workspace.refresh()


def grid(site: Site, choices: Choices) -> Page:
    """A saved grid: the score of each configuration, the front, and the effect of each factor."""
    known = named_by_stem(site.workspace.of_kind(FileKind.GRID))
    if not known:
        raise UsageError("there is no saved grid here. Next: `rankproof bench FILE -o grid.json`, into this folder.")
    name = choices.get("g") or next(iter(known))
    check_one_of("grid", name, known)
    file = known[name]
    shown = site.workspace.compute_once(("grid", file.path), file.stamp, lambda: _saved(file.path))
    chosen = site.choose("grid", select("g", "grid", list(known), name)) if len(known) > 1 else None
    return Page(f"Grid: {name}", sections(("grid", "Configurations", shown)), opening=chosen)


def _saved(path: Path) -> Markup:
    try:
        return part_of_result(saved_grid(json.loads(path.read_text(encoding="utf-8"))))
    except (OSError, ValueError, TypeError, LookupError, AttributeError) as error:  # its fields may hold anything
        raise DataError(f"{path.name} cannot be read: {reason(error)}. Next: save it again.") from None
