"""Grading a pool of documents, disagreements first, by several people at once; and what another grade would change."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from rankproof.bench.testset.labels import GRADED, SKIPPED, UNDONE, LabelAgreement, QuestionLabel, pairs, write_label
from rankproof.bench.testset.pool import Item, Pool, meaning_of_grades, read_pool
from rankproof.core.names import parse
from rankproof.core.table import best_first
from rankproof.document.numbers import score, signed_number
from rankproof.document.page import Markup, combine, el, ident, join
from rankproof.errors import RankproofError, UsageError, shorten
from rankproof.io.judgments import with_grades
from rankproof.io.load import load_ranking
from rankproof.scoring.evaluate import evaluate
from rankproof.web import Workspace
from rankproof.web.folder import FileKind, FoundFile
from rankproof.web.site import (
    Choices,
    Page,
    Site,
    button,
    form,
    hidden_fields,
    is_given,
    mark_words,
    note,
    part_of_result,
    sections,
    select,
    snippet,
    wanted_words,
    whole_number,
    whole_text,
)

DEPTH, WHOLE = 10, 6000
"""The top documents of each ranking that are graded without a pool; the characters shown of a document."""


def _read(space: Workspace, file: FoundFile) -> Pool:
    return space.compute_once(("pool", file.path), file.stamp, lambda: read_pool(file.path))


def to_grade(site: Site, pool: Pool | None) -> Iterator[Item]:
    """The documents that this person has still to grade: disagreements of others first, then the pool in its order.

    Without a pool they are the unjudged ones at the top of two rankings, the query with the lowest value first.
    """
    seen = set(site.workspace.labels.get(site.who, {}))
    disputed = (item for each in pairs(site.workspace.labels) for item in each.apart)
    for item in chain(disputed, _unjudged(site, pool)):
        if item not in seen:
            seen.add(item)
            yield item


def _unjudged(site: Site, pool: Pool | None) -> Iterator[Item]:
    """The documents of the list that the judgments lack, in order."""
    space = site.workspace
    known = space.judgments() if space.judgments_file is not None else None
    for query, documents in _documents(site, pool):
        judged = {} if known is None or query not in known.index else known.of(query)
        yield from (Item(query, document) for document in documents if document not in judged)


def _documents(site: Site, pool: Pool | None) -> Iterator[tuple[str, list[str]]]:
    """Queries with the documents to grade, in order."""
    if pool is not None:
        yield from ((query, list(found)) for query, found in pool.ranks.items())
        return
    space = site.workspace
    if space.judgments_file is None or not space.runs:
        return
    systems = _judged_first(space)
    scores = space.scores(systems[0])
    for query, _ in scores.worst(len(scores.queries)):
        tops = (best_first(space.table(name, query), scores.conventions).get(query, []) for name in systems)
        yield query, list(dict.fromkeys(doc for top in tops for doc in top[:DEPTH]))


def _judged_first(space: Workspace) -> list[str]:
    """The rankings whose documents are graded without a pool: the best of the others, and the baseline."""
    return list(dict.fromkeys([space.rival(space.baseline()) or space.baseline(), space.baseline()]))


def judge(site: Site, choices: Choices) -> Page:
    """The next document to grade."""
    space = site.workspace
    pools = {each.name: each for each in space.of_kind(FileKind.POOL)}
    file = pools.get(choices.get("pool", "")) or next(iter(pools.values()), None)  # the first if none was chosen
    name, pool = ("", None) if file is None else (file.name, _read(space, file))
    found = LabelAgreement.of(space.labels)
    item, own = next(to_grade(site, pool), None), space.labels.get(site.who, {})
    skipped = sum(each.what == SKIPPED for each in own.values())
    done = f"{len(own) - skipped:,} graded" + (f", {skipped:,} skipped" if skipped else "")
    if pool is not None:
        done += f", {sum(1 for _ in to_grade(site, pool)):,} left"
    others, judged = [each.path for each in space.other_labels], space.judgments_file
    files = [word for path in (space.labels_path, *others) for word in ("--labels", str(path))]
    words = ["rankproof", "label", *files, "--qrels", "corrected.tsv"]
    apart = site.note_of_aspects()
    merge = shlex.join(words if judged is None or apart is not None else [*words, "--add-to", str(judged.path)])
    saved = (
        f"Every grade is in {space.labels_path.name} before the next document is shown. Your judgments stay as they "
        "are; this command writes new ones that include all grades that count here:"
    )
    after = combine(el("p", saved), el("pre", el("code", merge)), apart)
    return Page(
        "Judge",
        sections(
            ("card", done, note(NOTHING) if item is None else _card(site, item, site.links.to("judge", pool=name))),
            ("agreement", "Agreement", part_of_result(found) if found.pairs else note(UNPAIRED)),
            ("after", "How the grades are saved", after),
        ),
        opening=_choose(site, list(pools), name),
        scripts=("judge",),
    )


UNPAIRED = "Agreement can be measured once two people have graded the same documents."
NOTHING = "Everything is graded. A deeper pool has more: rankproof pool RUN... --depth 20 -o pool.jsonl"


def _choose(site: Site, pools: list[str], name: str) -> Markup | None:
    if not pools:
        if not site.workspace.runs:
            return None
        of = " and ".join(_judged_first(site.workspace))
        return el("p", f"The first {DEPTH} documents of {of} that nobody has judged.", cls="size")
    return form(site, "/judge", select("pool", "pool", pools, name), button("Show"), cls="choices")


def _card(site: Site, item: Item, back: str) -> Markup:
    space = site.workspace
    words, document = space.questions.get(item.query, ""), space.corpus.get(item.document)
    wanted, text = wanted_words(words), "" if document is None else document.text
    shown = text if len(text) <= WHOLE else snippet(text, wanted)
    parts = shown.split("\n\n") if shown else []
    return el(
        "article",
        el("h3", whole_text(words or item.query)),
        el("p", ident(item.query), cls="note") if words else None,
        el("h4", whole_text((document.title if document is not None else "") or item.document)),
        el("p", ident(item.document), cls="note"),
        *(el("p", *mark_words(each, wanted)) for each in parts),
        note("The text of this document is not known: put a file of documents into the folder.")
        if document is None
        else None,
        form(
            site,
            "/grade",
            *hidden_fields(query=item.query, document=item.document, back=back),
            grade_buttons(space.settings.highest),
            button("skip", name="grade", value="skip", data_key="s"),
            button("undo the last", name="grade", value="undo", data_key="u"),
            note(f"Grades: {meaning_of_grades(space.settings.highest)}. Keys: the digit grades, s skips, u undoes."),
            method="post",
            cls="grades",
        ),
        cls="card",
        id="grading",
    )


def save_grade(site: Site, sent: Mapping[str, str]) -> None:
    """Save one grade; or take back that of this document, or with `back` the last one that this person gave.

    It is on the disk when this returns.
    """
    if not site.who.strip():
        raise UsageError("the name of the grader is missing. Next: give your name at the top of the page.")
    space, text = site.workspace, sent.get("grade", "")
    item, grade = Item(sent.get("query", ""), sent.get("document", "")), None
    what = {"undo": UNDONE, "skip": SKIPPED}.get(text, GRADED)
    if what == UNDONE:
        items = [each for each in space.labels.get(site.who, {}) if "back" in sent or each == item]
        if not items:
            return
        item = items[-1]
    else:
        check_item(space, item)
    if what == GRADED:
        grade = check_grade(space, text)
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    with space.writing:
        write_label(space.labels_path, QuestionLabel(item.query, item.document, site.who, what, grade, now))


def check_grade(space: Workspace, text: str) -> int:
    """The grade that a text spells; anything else is refused."""
    grade, best = whole_number(text), space.settings.highest
    if grade is None or not 0 <= grade <= best:
        raise UsageError(f"grade: got {shorten(text)}, expected a whole number from 0 to {best}. Next: press a digit.")
    return grade


def check_item(space: Workspace, item: Item) -> None:
    """Refuse a document that is in nothing here for its query: its grade would count, and no page would show it."""
    if not any(item.document in documents for documents in _known(space, item.query)):
        raise UsageError(
            f"document {shorten(item.document)} of query {shorten(item.query)}: expected one of the judgments, a "
            "ranking, a pool or the labels here. Next: choose it on the page of its query."
        )


def _known(space: Workspace, query: str) -> Iterator[Collection[str]]:
    """The documents of a query, what takes long to read last."""
    yield {each.document for own in space.labels.values() for each in own if each.query == query}
    yield space.judgments().of(query) if space.judgments_file is not None and query in space.judgments() else ()
    yield from (_read(space, file).ranks.get(query, ()) for file in space.of_kind(FileKind.POOL))
    for name in space.runs:
        with suppress(RankproofError, OSError):  # a damaged one knows no document
            yield set(map(str, space.table(name, query).doc))


def grade_buttons(highest: int, kind: str = "submit") -> Markup:
    """A button for each grade; those that send no form are for a script."""
    return join(button(f"{n}", name="grade", value=str(n), data_key=str(n), type=kind) for n in range(highest + 1))


def what_if(site: Site, asked: Choices) -> list[dict[str, Any]]:
    """The query's number and the mean of each ranking, if this document had this grade (empty: not judged)."""
    space = site.workspace
    query, document, measure, grade = (asked.get(name, "") for name in ("query", "document", "measure", "grade"))
    corrected = is_given(asked)
    judged = space.judgments(corrected)
    judged.of(query)  # refuses a query that is not judged
    check_item(space, Item(query, document))
    # All queries, as a highest grade changes the numbers of others, too.
    changed = with_grades(judged, {query: {document: check_grade(space, grade) if grade else None}})
    found = []
    for name in filter(None, asked.get("systems", "").split("\n")):
        scores, named = space.scores(name, corrected), space.settings.conventions
        other = evaluate(changed, load_ranking(space.run(name).path), [parse(measure)], **named)
        before, after = (each.values(measure).get(query, 0.0) for each in (scores, other))
        mean, moved = scores[measure], other[measure]
        words = (
            f"{name}: {measure} {score(before)} would be {score(after)} ({signed_number(after - before)}), "
            f"and the mean {score(mean)} would be {score(moved)}"
        )
        found.append(
            {"system": name, "measure": measure, "before": before, "after": after}
            | {"mean": mean, "mean_after": moved, "words": words}
        )
    return found
