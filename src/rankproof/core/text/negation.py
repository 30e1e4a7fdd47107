"""Words by which a statement is denied, in several languages."""

from __future__ import annotations

import re

from rankproof.core.text.spans import Span

WORDS = (
    "not no never none neither nor without cannot nobody nothing nowhere isnt arent wasnt werent dont doesnt didnt cant"
    " nicht kein keine keinen keinem keiner keines nie niemals ohne weder niemand nichts"
    " ne pas jamais sans aucun aucune rien personne"
    " nunca jamás sin ningún ninguno ninguna nada nadie tampoco"
    " non mai senza nessun nessuno nessuna né"
    " não sem nenhum nenhuma ninguém"
    " niet geen nooit zonder niemand"
    " не нет ни без никогда никто ничего нельзя"
    " لا لم لن ليس ليست ليسوا غير بدون دون"
    " नहीं न मत बिना नही"
)
CUE = re.compile(
    rf"(?<!\w)(?:{'|'.join(sorted(set(WORDS.split()), key=len, reverse=True))})(?!\w)"
    r"|(?<=\w)n['’]t(?!\w)|(?<![\w])n['’](?=\w)"
    r"|[不没沒未无無](?![仅僅但过過同断斷管论論来來少久])|非(?![常洲])|并非|別(?=再|去)"
    r"|な(?:い|かった|く(?=[、て])|し(?![いたてよ]))|ません|ず(?=[、に。]|$)"
    r"|않|(?<=\s)안(?=\s)|없|못",
    re.IGNORECASE,
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
    harmless = [found.span() for found in NO_DENIAL.finditer(text)]
    cues = (Span(*found.span()) for found in CUE.finditer(text))
    return [cue for cue in cues if not any(a <= cue.start < b for a, b in harmless)]
