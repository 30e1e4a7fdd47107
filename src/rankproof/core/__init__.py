"""The kernel: hits, the join, measures, definitions. NumPy and the standard library only."""
