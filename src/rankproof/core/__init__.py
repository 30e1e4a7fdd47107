"""The kernel: hits, the join, conventions (ties, duplicates, missing queries, thin means), measures. NumPy alone."""
