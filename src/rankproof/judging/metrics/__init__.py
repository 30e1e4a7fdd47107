"""Judged metrics, by families: ranking of contexts, what contexts hold, use of contexts, the answer, citations."""

from rankproof.judging.metrics import answer as answer
from rankproof.judging.metrics import citations as citations
from rankproof.judging.metrics import contexts as contexts
from rankproof.judging.metrics import use as use
