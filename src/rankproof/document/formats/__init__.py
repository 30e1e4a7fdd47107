"""The formats: a new one is a new module here, and nothing else."""
