"""Cutting documents into chunks, and holding rankings and judgments of chunks, documents and spans together."""

from rankproof.bench.chunk.chunker import Chunk, Chunker
from rankproof.bench.chunk.markdown import markdown
from rankproof.bench.chunk.recursive import recursive
from rankproof.bench.chunk.sentence import sentences
from rankproof.bench.chunk.windows import fixed, sliding

__all__ = ["Chunk", "Chunker", "fixed", "markdown", "recursive", "sentences", "sliding"]
