"""Experiment grids: which combinations are run, their shared steps, and what comes out of them."""
