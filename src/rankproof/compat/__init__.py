"""Faces that look like other tools, over rankproof's own engine."""
