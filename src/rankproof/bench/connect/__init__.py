"""Real stores as retrievers: thin, with settings of their own and no secrets in them."""

from rankproof.bench.connect.chroma import chroma
from rankproof.bench.connect.elastic import elasticsearch, opensearch
from rankproof.bench.connect.lance import lancedb
from rankproof.bench.connect.postgres import pgvector, postgres
from rankproof.bench.connect.qdrant import qdrant
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
