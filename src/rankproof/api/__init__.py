"""The public verbs and their results; they compose the packages below and hold no arithmetic."""
