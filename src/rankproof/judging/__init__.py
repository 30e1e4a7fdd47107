"""From texts to verdicts: does a chunk answer, is a claim supported, does an answer address the question?"""
