"""Everything that answers questions as a `Retriever`: functions, other libraries' retrievers, endpoints, commands."""

from rankproof.bench.adapters.adapt import adapt, as_retriever, retriever_named
from rankproof.bench.adapters.adapter import Adapted
from rankproof.net.retries import Failed

__all__ = ["Adapted", "Failed", "adapt", "as_retriever", "retriever_named"]
