"""Judged metrics, by families: the answer, citations, contexts; and the formulas of other tools.

To import any of its modules fills the registry.
"""

from rankproof.judging.metrics import answer as answer
from rankproof.judging.metrics import citations as citations
from rankproof.judging.metrics import contexts as contexts
from rankproof.judging.metrics import other_tools as other_tools
