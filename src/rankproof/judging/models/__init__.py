"""Judges that are language models: what is sent, what comes back, and how it gets there."""
