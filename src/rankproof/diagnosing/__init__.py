"""What is wrong with a ranking, why, and what to change first."""
