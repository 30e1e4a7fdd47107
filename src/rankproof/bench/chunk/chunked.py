"""A corpus of chunks, which retrievers search as they search documents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from rankproof.bench.chunk.chunker import Chunk, Chunker
from rankproof.core.corpus import Corpus, Document
from rankproof.errors import DataError, UsageError, shorten

NAME = re.compile(r"(?P<document>.*)#(?P<start>\d{1,18})-(?P<end>\d{1,18})", re.DOTALL)


class Place(NamedTuple):
    """Some characters of a document."""

    document: str
    start: int
    end: int


def chunked(corpus: Corpus, chunker: Chunker) -> Corpus:
    """The chunks of all documents, each a document with the id `DOCUMENT#START-END` and the document's title.

    Its metadata is that of the document, with `document`, `start`, `end`, and `headings` where there are any.
    A document that has a title and no text is one chunk without text, so that it can still be found.

    >>> from rankproof.bench.chunk import fixed
    >>> chunks = chunked(Corpus.of({"d1": "Refunds within 30 days."}), fixed(2))
    >>> list(chunks), chunks["d1#0-14"].text
    (['d1#0-14', 'd1#15-23'], 'Refunds within')
    """
    if not isinstance(chunker, Chunker):
        raise UsageError(
            f"chunked: got {shorten(chunker)}, expected a chunker. Next: take one like recursive(200)."
        )
    return Corpus(part for document in corpus.values() for part in _parts(document, chunker))


def _parts(document: Document, chunker: Chunker) -> Iterator[Document]:
    chunks = chunker(document)
    if not chunks and document.title.strip():
        chunks = [Chunk(document.id, 0, 0, "")]
    for each in chunks:
        place = {"document": each.document, "start": each.start, "end": each.end}
        headings = {"headings": each.headings} if each.headings else {}
        yield Document(each.id, each.text, document.title, {**document.metadata, **place, **headings})


def place_of(name: str, chunks: Mapping[str, Any] | None = None) -> Place:
    """Where a chunk stands: as `chunks` says, else as its id does.

    `chunks` is a corpus of chunks with `document`, `start` and `end` in their metadata, or a mapping of ids to
    (document, start, end).

    >>> place_of("docs/a.md#10-25")
    Place(document='docs/a.md', start=10, end=25)
    """
    if chunks is not None:
        return _told(name, chunks)
    found = NAME.fullmatch(name)
    if found is None:
        raise DataError(
            f"got {shorten(name)}, expected the id of a chunk like 'DOCUMENT#START-END'. "
            "Next: say where your chunks stand: chunks={id: (document, start, end)}, or a file with these columns."
        )
    return Place(found["document"], int(found["start"]), int(found["end"]))


def _told(name: str, chunks: Mapping[str, Any]) -> Place:
    if name not in chunks:
        raise DataError(
            f"chunk {shorten(name)} is none of the {len(chunks)} in chunks=. "
            "Next: give the chunks that were searched."
        )
    told = chunks[name]
    known = told.metadata if isinstance(told, Document) else told
    try:
        parts = [known[each] for each in Place._fields] if isinstance(known, Mapping) else list(known)
        document, start, end = parts
        return Place(str(document), int(start), int(end))
    except (KeyError, TypeError, ValueError, OverflowError):
        raise DataError(
            f"chunk {shorten(name)}: got {shorten(known)}, expected its document, start and end. "
            "Next: give {id: (document, start, end)}, or the corpus that chunked() made."
        ) from None
