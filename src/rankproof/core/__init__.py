"""The kernel: hits, the join, measures, conventions. NumPy and the standard library only."""
