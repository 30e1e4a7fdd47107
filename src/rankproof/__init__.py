"""rankproof: every number comes with its definition, its evidence and its error bar."""
