"""From texts to verdicts: who says whether a chunk answers, a claim is supported, an answer answers."""
