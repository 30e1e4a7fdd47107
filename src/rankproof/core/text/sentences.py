"""Where sentences begin and end, in many languages.

A mark that may end a sentence is looked at with what stands before and after it: abbreviations, initials,
ordinals, quotations and brackets keep a sentence together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from rankproof.core.text.blocks import blocks
from rankproof.core.text.endings import Ending, ends_sentence
from rankproof.core.text.quotes import enclosed
from rankproof.core.text.scripts import CJK, DEVANAGARI, GREEK, THAI
from rankproof.core.text.spans import Span, trimmed

CLOSERS = "\"'”’»›)\\]}」』）】》〉〕｣＂*_"
NOTES = r"(?:\[\d[\d,–-]*\]|【\d+】|[¹²³⁰⁴-⁹])*"
MARK = re.compile(
    rf"""
    (?P<wide> [。！？｡‼⁇⁈⁉]+[。！？｡!?…]* | (?<=[^\d\s])．(?!\d) | (?<=[{CJK}”」』）])[!?]+ )
      (?P<wide_close> [{CLOSERS}]* ) {NOTES}
  | (?P<plain> (?:\.[ \u00a0]){{2,4}}\. | [.!?…]+ | [؟۔।॥։።፧។။།‽]+[!?؟]*
      | (?<=[{DEVANAGARI}]\s)\| | (?<=[{DEVANAGARI}])\| | (?<=[{GREEK}]); | \u037e )
      (?P<close> (?:[\u00a0\u202f\ ]?(?:[»›](?!\w)|''(?!\w)))?[{CLOSERS}“]* ) {NOTES}
      (?= \s | $ | (?P<run_on> [A-Z][a-z]+\b ) | (?<=[؟۔।॥።]) | (?<=[{CJK}]\.) )
  | (?P<particle> (?:(?<=ครับ)|(?<=ค่ะ)|(?<=นะคะ)|(?<=จ้ะ))(?=\ ) )
    """,
    re.VERBOSE,
)
SIGN = re.compile("[.!?…。！？｡‼⁇⁈⁉．؟۔।॥։።፧။។།‽|;\u037e]")
"""What a mark begins with; looked for first, as that is fast."""
THAI_SIGN = re.compile(f"{SIGN.pattern[:-1]} ]")
THAI_LETTER = re.compile(f"[{THAI}]")
WORD = re.compile(r"\w")
RECENT = 256
"""Texts whose sentences are remembered: claims, statements and entities of one text are asked for in a row."""


def sentences(text: str) -> list[Span]:
    """The sentences of a text, in order and apart; headings, list items and rows count as sentences.

    >>> text = 'Dr. Wu paid $3.50 in the U.S. He asked, "Why?" and left. 多少钱？「三元。」と言った。'
    >>> [part.of(text) for part in sentences(text)]
    ['Dr. Wu paid $3.50 in the U.S.', 'He asked, "Why?" and left.', '多少钱？', '「三元。」と言った。']
    """
    return list(_sentences(text))


@lru_cache(RECENT)
def _sentences(text: str) -> tuple[Span, ...]:
    return tuple(span for block in blocks(text) for span in _split(text, block))


def _split(text: str, block: Span) -> Iterator[Span]:
    """The sentences of one block."""
    start = block.start
    for end in _ends(block.of(text)):
        yield trimmed(text, start, block.start + end)
        start = block.start + end
    rest = trimmed(text, start, block.end)
    if rest.start < rest.end:
        yield rest


def _ends(block: str) -> Iterator[int]:
    """Where sentences of a block end, but for the last; what holds no word belongs to the sentence after it."""
    inside = enclosed(block)
    start, looked, last = 0, 0, len(block.rstrip())
    for mark in _marks(block):
        if mark.end() >= last or (inside[mark.start()] and inside[mark.end() - 1]):
            continue
        if not WORD.search(block, looked, mark.start()):
            looked = mark.start()
        elif ends_sentence(Ending(block, start, mark)):
            start = looked = mark.end()
            yield start


def _marks(block: str) -> Iterator[re.Match[str]]:
    """The marks that may end a sentence."""
    signs = SIGN if block.isascii() or not THAI_LETTER.search(block) else THAI_SIGN
    past = 0
    for sign in signs.finditer(block):
        if sign.start() >= past and (mark := MARK.match(block, sign.start())):
            past = mark.end()
            yield mark
