"""Which characters of a text stand between brackets or quotation marks: sentences do not end there."""

from __future__ import annotations

import re

PAIRS = {
    "(": ")", "[": "]", "{": "}", "（": "）", "【": "】", "「": "」", "『": "』", "《": "》", "〈": "〉", "〔": "〕",
    "｢": "｣", "“": "”", "„": "“”", "«": "»", "»": "«", "‹": "›", '"': '"', "＂": "＂", "‘": "’",
}  # fmt: skip
CHARACTER = re.compile(
    "[" + re.escape("".join(dict.fromkeys("".join(PAIRS) + "".join(PAIRS.values())))) + "]"
)
LONGEST = 300
"""A quotation that goes on for longer is divided as other text is."""
LETTER = re.compile(r"\w")


def enclosed(text: str) -> bytearray:
    """For each character whether it stands inside a pair; the pair's own marks stand outside, but for the first.

    >>> list(enclosed('a (b) c'))
    [0, 0, 1, 1, 0, 0, 0]
    """
    inside = bytearray(len(text))
    open_: list[int] = []
    for found in CHARACTER.finditer(text):
        place, mark = found.start(), found.group()
        if mark == "’" and _apostrophe(text, place):
            continue
        level = _closed_by(text, open_, mark)
        if level is not None:
            _cover(inside, open_[level], place)
            del open_[level:]
        elif mark in PAIRS:
            open_.append(place)
    return inside


def _closed_by(text: str, open_: list[int], mark: str) -> int | None:
    """The innermost open pair that the mark closes; none further out than three levels."""
    for level in range(len(open_) - 1, max(len(open_) - 4, -1), -1):
        if mark in PAIRS[text[open_[level]]]:
            return level
    return None


def _cover(inside: bytearray, start: int, end: int) -> None:
    if end - start <= LONGEST:
        inside[start:end] = b"\x01" * (end - start)


def _apostrophe(text: str, place: int) -> bool:
    """Whether ’ stands within a word."""
    return LETTER.match(text, place - 1) is not None and LETTER.match(text, place + 1) is not None
