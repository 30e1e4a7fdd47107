"""A corpus of chunks, which retrievers search as they search documents."""

from __future__ import annotations

from collections.abc import Iterator

from rankproof.bench.chunk.chunker import Chunk, Chunker
from rankproof.core.corpus import Corpus, Document
from rankproof.errors import UsageError, shorten


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
