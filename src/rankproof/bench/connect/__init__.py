"""Real stores as retrievers: thin, with settings of their own and no secrets in them."""

from rankproof.bench.connect.chroma_store import chroma
from rankproof.bench.connect.elastic import elasticsearch, opensearch
from rankproof.bench.connect.lance import lancedb
from rankproof.bench.connect.postgres_store import pgvector, postgres
from rankproof.bench.connect.qdrant_store import qdrant
from rankproof.bench.connect.store import Store, StoreError

__all__ = [
    "Store",
    "StoreError",
    "chroma",
    "elasticsearch",
    "lancedb",
    "opensearch",
    "pgvector",
    "postgres",
    "qdrant",
]
