"""Judges by name: `judge_of("lexical")`, `judge_of("lexical>openai:MODEL")`, `judge_of(a function)`."""

from rankproof.judging.judges.choose import judge_of, judges_of

__all__ = ["judge_of", "judges_of"]
