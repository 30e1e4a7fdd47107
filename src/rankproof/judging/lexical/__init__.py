"""The embedded judge: words, numbers and denials compared, without a model and without a network."""
