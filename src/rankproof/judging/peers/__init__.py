"""Formulas of other tools on the same verdicts, so that a user can move over and see why numbers differ.

What nobody judged stays unmeasured here as well, and so does what has nothing to divide by, where some of these tools
would say 0 or 1.
"""

from rankproof.judging.peers import deepeval as deepeval
from rankproof.judging.peers import mlflow as mlflow
from rankproof.judging.peers import promptfoo as promptfoo
from rankproof.judging.peers import ragas as ragas
from rankproof.judging.peers import ragchecker as ragchecker
