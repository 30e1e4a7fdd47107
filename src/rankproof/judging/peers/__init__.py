"""Formulas of other tools on the same verdicts, so that a user can move over and see why numbers differ."""
