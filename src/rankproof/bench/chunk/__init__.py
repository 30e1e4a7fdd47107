"""Cutting documents into chunks, and holding rankings and judgments of chunks, documents and spans together."""

from rankproof.bench.chunk.chunker import Chunk, Chunker, chunked, fixed, recursive, sentences, sliding
from rankproof.bench.chunk.documents import (
    as_documents,
    chunks_judged,
    chunks_to_spans,
    documents_found,
    documents_judged,
    documents_ranked,
    spans_to_documents,
)
from rankproof.bench.chunk.headings import markdown
from rankproof.core.corpus import Place, place_of

__all__ = [
    "Chunk",
    "Chunker",
    "Place",
    "as_documents",
    "chunked",
    "chunks_judged",
    "chunks_to_spans",
    "documents_found",
    "documents_judged",
    "documents_ranked",
    "fixed",
    "markdown",
    "place_of",
    "recursive",
    "sentences",
    "sliding",
    "spans_to_documents",
]
