"""Texts of queries and documents: whose a file holds, and the part of one that answers a question."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import TypeAlias

from rankproof.core.table import Rankings, RankingTable
from rankproof.document.page import Child, el
from rankproof.errors import RankproofError
from rankproof.io.read import DOCUMENT_ID, QUESTION_ID, QUESTION_TEXT, field_of, rows_in
from rankproof.io.trec import TrecRankings
from rankproof.text.cuts import last_cut
from rankproof.text.languages import STOP_WORDS
from rankproof.text.words import Word, stem
from rankproof.text.words import words as words_of
from rankproof.web.folder import FileKind, FoundFile

Wanted: TypeAlias = frozenset[str]
"""The stems of a question's words."""
SNIPPET, BEFORE = 240, 20
"""The number of characters of a document that are shown, and how many may precede the question's first word."""
SEARCHED = 20_000
"""The number of characters that are searched for them."""


def wanted_words(question: str) -> Wanted:
    """The stems of a question's words, without small words if there are others."""
    forms = [word.form for word in words_of(question)]
    return frozenset(map(stem, [form for form in forms if form not in STOP_WORDS] or forms))


def _shared(text: str, wanted: Wanted) -> list[Word]:
    return [word for word in words_of(text) if stem(word.form) in wanted]


def snippet(text: str, wanted: Wanted) -> str:
    """The part of a text that has most of the question's words, from the start of a word to the end of one."""
    flat = " ".join(text[:SEARCHED].split())
    if len(flat) <= SNIPPET:
        return flat
    found = [word.start for word in _shared(flat, wanted)]
    best = max(found, default=0, key=lambda at: sum(at <= other < at + SNIPPET - 2 * BEFORE for other in found))
    start = 0 if best <= BEFORE else flat.find(" ", best - BEFORE, best) + 1 or best
    last = last_cut(flat, start + SNIPPET, start)
    space = flat.rfind(" ", start + SNIPPET // 2, last) if last < len(flat) else -1
    end = space if space > 0 else last
    return f"{'... ' if start else ''}{flat[start:end]}{' ...' if end < len(flat) else ''}"


def mark_words(text: str, wanted: Wanted) -> list[Child]:
    """The text with the question's words marked."""
    parts: list[Child] = []
    at = 0
    for word in _shared(text, wanted):
        if word.end > at:  # in scripts without spaces, words overlap
            start = max(at, word.start)
            parts += [text[at:start], el("mark", text[start : word.end])]
            at = word.end
    return [*parts, text[at:]]


LOOKED_AT = 1000
"""The number of texts of a file by whose ids it is known whose texts they are."""


def kinds_of_texts(
    files: Sequence[FoundFile], queries: Collection[str], documents: Collection[str]
) -> dict[FoundFile, FileKind]:
    """By the ids that are queries or documents, else by the fields; the file with most such ids first."""
    wanted, found = {FileKind.QUERIES: set(queries), FileKind.CORPUS: set(documents)}, {}
    for file in files:
        shared = dict.fromkeys(wanted, 0)
        with suppress(RankproofError, OSError):
            for _, record in islice(rows_in(file.path), LOOKED_AT):
                if not isinstance(record, Mapping):
                    continue
                named = (field_of(record, names) for names in (QUESTION_ID, DOCUMENT_ID, QUESTION_TEXT))
                own = {str(record[each]) for each in named if each is not None}
                for kind, ids in wanted.items():
                    shared[kind] += not ids.isdisjoint(own)
        most = max(wanted, key=lambda kind: (shared[kind], kind is file.kind))
        found[file] = (shared[most], most)
    if any(n and kind is FileKind.QUERIES for n, kind in found.values()):
        # Texts of which no id is judged are no queries if others are: most documents of a corpus are not judged.
        found = {file: (n, kind if n else FileKind.CORPUS) for file, (n, kind) in found.items()}
    return {file: kind for file, (n, kind) in sorted(found.items(), key=lambda each: -each[1][0])}


def documents_by_query(ranking: Rankings) -> Callable[[str], RankingTable]:
    """The documents of one query after the other; a run as text stays text, which takes a tenth of the memory."""
    if isinstance(ranking, TrecRankings):
        runs = ranking.by_query()
        nothing = RankingTable([], [], source=ranking.source)
        return lambda query: runs[query].table() if query in runs else nothing
    whole = ranking.table()
    rows = whole.by_query()
    return lambda query: whole.take(rows.get(query, []))
