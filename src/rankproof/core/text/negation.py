"""Words by which a statement is denied, in several languages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rankproof.core.text.spans import Span

WORDS = (
    "not no never none neither nor without cannot nobody nothing nowhere isnt arent wasnt werent dont doesnt didnt cant"
    " nicht kein keine keinen keinem keiner keines nie niemals ohne weder niemand nichts"
    " ne pas jamais sans aucun aucune rien"
    " nunca jamás sin ningún ninguno ninguna nada nadie tampoco"
    " non senza nessun nessuno nessuna"
    " não sem nenhum nenhuma ninguém"
    " niet geen nooit zonder niemand"
    " не нет ни без никогда никто ничего нельзя"
    " لا لم لن ليس ليست ليسوا غير بدون دون"
    " नहीं न मत बिना नही"
)
"""Not among them: mai, né and personne, which deny in one language only beside another cue, and elsewhere are the
month of May, born and a person."""
CUES = frozenset(WORDS.split())
SPACED = re.compile(r"[^\s.,;:!?()\[\]\"“”„«»।؟،]+")
CONTRACTED = re.compile(r"n['’]t$|^n['’](?=\w)", re.IGNORECASE)
UNSPACED = re.compile(
    r"[不没沒无無](?![仅僅但过過同断斷管论論少久])|未(?![来來])|非(?![常洲])|別(?=再|去)"
    r"|な(?:い|かった|く(?=[、て])|し(?![いたてよ]))|ません|ず(?=[、に。]|$)"
    r"|않|(?<=\s)안(?=\s)|없|못"
)
NO_DENIAL = re.compile(
    r"(?:not|nicht|non|pas|no|não)\s(?:only|just|nur|solo|sólo|seulement|soltanto|apenas)(?!\w)"
    r"|no\s(?:doubt|matter)(?!\w)|no\.?\s?(?=\d)|nothing\sbut|しかない|かもしれない|に違いない|なければならない",
    re.IGNORECASE,
)


def negations(text: str) -> list[Span]:
    """Where a text denies something.

    >>> text = "It isn't cheap, not only here. 他不是医生。"
    >>> [cue.of(text) for cue in negations(text)]
    ["n't", '不']
    """
    cues = [
        *_spaced(text),
        *(() if text.isascii() else (Span(*cue.span()) for cue in UNSPACED.finditer(text))),
    ]
    if not cues:
        return []
    harmless = [found.span() for found in NO_DENIAL.finditer(text)]
    return sorted(cue for cue in cues if not any(start <= cue.start < end for start, end in harmless))


def _spaced(text: str) -> Iterator[Span]:
    """Cues that are words, or the end or beginning of one."""
    for found in SPACED.finditer(text):
        word = found.group()
        if word.lower() in CUES:
            yield Span(*found.span())
        elif ("'" in word or "’" in word) and (part := CONTRACTED.search(word)):
            yield Span(found.start() + part.start(), found.start() + part.end())
