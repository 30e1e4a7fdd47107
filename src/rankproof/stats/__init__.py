"""Resampling and intervals; the random generator is always passed in."""
