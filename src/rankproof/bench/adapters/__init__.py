"""Whatever answers questions as a `Retriever`: functions, other libraries' retrievers, endpoints, commands."""

from rankproof.bench.adapters.adapt import adapted, as_retriever, named
from rankproof.bench.adapters.adapter import Adapted
from rankproof.net.retries import Failed

__all__ = ["Adapted", "Failed", "adapted", "as_retriever", "named"]
