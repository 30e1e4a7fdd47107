"""Judged metrics, by families: contexts, the answer, citations."""

from rankproof.judging.metrics import answer as answer
from rankproof.judging.metrics import citations as citations
from rankproof.judging.metrics import contexts as contexts
