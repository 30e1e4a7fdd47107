"""Samples: what is judged, read from files, frames, rows, results of other libraries, and spans."""

from rankproof.judging.samples.read import read_samples, sample_of
from rankproof.judging.samples.sample import Citation, Context, Nugget, Sample

__all__ = ["Citation", "Context", "Nugget", "Sample", "read_samples", "sample_of"]
