"""How far a judge can be trusted: pairs for people to label, agreement, corrections, invariance, drift."""
