"""Judgments and a ranking in, scores out: `evaluate`, `explain`, `audit`, and their words."""
