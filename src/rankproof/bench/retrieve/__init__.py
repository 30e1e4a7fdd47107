"""Retrievers that need only documents (or an embedder of texts), and ways to combine them."""

from rankproof.bench.retrieve.bm25 import keyword
from rankproof.bench.retrieve.dense_search import (
    Embedder,
    dense,
    endpoint,
    model2vec,
    named_embedder,
    sentence_transformers,
)
from rankproof.bench.retrieve.lsa import lsa
from rankproof.bench.retrieve.reranking import Rerank, cross_encoder, rerank
from rankproof.bench.retrieve.rewriting import Speller, expand, expansion, spelling
from rankproof.bench.retrieve.search import Search, as_search, hybrid, where

__all__ = [
    "Embedder",
    "Rerank",
    "Search",
    "Speller",
    "as_search",
    "cross_encoder",
    "dense",
    "endpoint",
    "expand",
    "expansion",
    "hybrid",
    "keyword",
    "lsa",
    "model2vec",
    "named_embedder",
    "rerank",
    "sentence_transformers",
    "spelling",
    "where",
]
