"""Interfaces of other tools, over rankproof's own engine."""
