"""The command line of trec_eval over the measures of rankproof: `main(arguments)`."""

from rankproof.compat.trec_eval.program import main

__all__ = ["main"]
