"""Real stores as retrievers: thin connectors, with settings that hold no secrets."""

from rankproof.bench.connect.elastic import elasticsearch, opensearch
from rankproof.bench.connect.postgres_store import pgvector, postgres
from rankproof.bench.connect.store import Store, StoreError
from rankproof.bench.connect.vector_stores import chroma, lancedb, qdrant

__all__ = ["Store", "StoreError", "chroma", "elasticsearch", "lancedb", "opensearch", "pgvector", "postgres", "qdrant"]
