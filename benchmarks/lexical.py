"""How many pairs the lexical judge settles in a second, beside a word-overlap score of a few lines.

    python benchmarks/lexical.py [--samples 400]

Each made sample has 10 chunks of about 120 words and 6 claims: 60 pairs. The plain score splits both texts into
words for every pair, as such scores do; the judge reads each text once. Memory is what the process held at most
after a tenth of the samples, and after all.
"""

from __future__ import annotations

import argparse
import random
import re
import resource
import time
from collections.abc import Callable, Iterator

from rankproof.judging.lexical_judge import lexical_judge
from rankproof.judging.verdicts import Ask, Relation

CHUNKS, CLAIMS, SENTENCES, WORDS = 10, 6, 8, 15
SYLLABLES = ["ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "za", "dre", "fli", "gro", "pla", "sti"]
SMALL = ["the", "of", "and", "in", "to", "a", "is", "was", "for", "on", "with", "by", "at"]
Group = list[Ask]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=400)
    samples = parser.parse_args().samples
    few = max(samples // 10, 1)

    judged(few)
    before = peak()
    ours = judged(samples)
    after = peak()
    theirs = plainly(samples)
    pairs = samples * CHUNKS * CLAIMS
    print(f"{pairs:,} pairs: {samples:,} samples x {CHUNKS} chunks x {CLAIMS} claims")
    print(f"lexical judge   {pairs / ours:10,.0f} pairs a second")
    print(f"plain overlap   {pairs / theirs:10,.0f} pairs a second; the judge is {theirs / ours:.2f} times as fast")
    print(f"a million pairs {1e6 * ours / pairs:10,.0f} s")
    print(f"peak memory     {before:10,.0f} MB after {few:,} samples, {after:,.0f} MB after {samples:,} more")


def judged(samples: int) -> float:
    judge = lexical_judge()
    return sum(timed(lambda group=group: judge.judge([group], lambda verdicts: None)) for group in groups(samples))


def plainly(samples: int) -> float:
    return sum(timed(lambda group=group: [overlap(ask.left, ask.right) for ask in group]) for group in groups(samples))


def overlap(claim: str, text: str) -> float:
    """The share of a claim's words that are in a text, after a stop list and a plural rule."""
    mine, theirs = (
        {word.rstrip("s") for word in re.findall(r"[a-z0-9]+", part.lower()) if word not in SMALL}
        for part in (claim, text)
    )
    return len(mine & theirs) / len(mine) if mine else 0.0


def groups(samples: int) -> Iterator[Group]:
    """The pairs of each sample; the same in every run."""
    draw = random.Random(1)
    for _ in range(samples):
        chunks = [" ".join(sentence(draw) for _ in range(SENTENCES)) for _ in range(CHUNKS)]
        claims = [draw.choice(chunks).split(". ")[0] + "." for _ in range(CLAIMS)]
        yield [Ask(Relation.TEXT_SUPPORTS, claim, chunk) for claim in claims for chunk in chunks]


def sentence(draw: random.Random) -> str:
    words = [word(draw) for _ in range(WORDS)]
    return " ".join(words).capitalize() + f" {draw.randrange(1900, 2030)}."


def word(draw: random.Random) -> str:
    if draw.random() < 0.4:
        return draw.choice(SMALL)
    made = "".join(draw.choice(SYLLABLES) for _ in range(draw.randrange(2, 4)))
    return made.capitalize() if draw.random() < 0.1 else made


def timed(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
