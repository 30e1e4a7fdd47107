"""TREC files: runs, read so that only judged documents cost anything, and qrels."""

from rankproof.io.trec.qrels import read_qrels
from rankproof.io.trec.run import TrecRankings

__all__ = ["TrecRankings", "read_qrels"]
