"""Answers that say "I don't know", recognised by their words in fourteen languages.

Only the first two sentences count: an answer that first says what it knows and then what it lacks is no refusal.
On the labelled lists in `tests/text` precision and recall are stated and checked.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import groupby

from rankproof.text.words import read_table

PATTERNS = {
    language: [" ".join(pattern) for _, *pattern in lines]
    for language, lines in groupby(read_table("refusals"), lambda line: line[0])
}
"""Patterns by language; texts are in lower case."""
HINTS = {language: tuple(hint.replace("_", " ") for hint in hints) for language, *hints in read_table("refusal_hints")}
"""Without one of these letters no pattern of the language can be there: looking for them is thirty times faster."""


@cache
def _compiled(language: str) -> re.Pattern[str]:
    """All patterns as one; those of whole words are tried where a word begins only, which is three times faster."""
    patterns = PATTERNS[language]
    whole = "|".join(each.removeprefix(r"\b") for each in patterns if each.startswith(r"\b"))
    others = [each for each in patterns if not each.startswith(r"\b")]
    return re.compile("|".join([*([rf"\b(?:{whole})"] if whole else ()), *others]))


_SENTENCES = re.compile(r"(?:[^.!?。！？\n]*[.!?。！？\n]+){1,2}")
HEAD = 400
"""Characters of an answer that are looked at."""


def refuses(answer: str) -> bool:
    """Whether an answer begins by saying that it has none.

    >>> refuses("I don't know the answer to that."), refuses("It opens at nine. I don't drink coffee.")
    (True, False)
    """
    head = answer[:HEAD].lower().replace("’", "'")
    first = _SENTENCES.match(head)
    head = first[0] if first else head
    told = (language for language, hints in HINTS.items() if any(hint in head for hint in hints))
    return any(not _cites(head, *each.span()) for language in told for each in _compiled(language).finditer(head))


QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|‘[^']*'(?!\w)|(?<!\w)'.{1,80}?'(?!\w)")
SAYS = re.compile(
    r"(?:^|\b(?:you|they|he|she|who|users?|people|customers?)\b[^.!?]{0,20} )(?:please )?"
    r"(?:says?|said|answer(?:s|ed)?|repl(?:y|ies|ied)|choose|select|press|tick|write|type) $"
)


def _cites(head: str, start: int, end: int) -> bool:
    """Whether words are quoted, or said by others, in a sentence about them; an answer may be a quotation as a whole."""
    for quote in QUOTED.finditer(head):
        if quote.start() <= start and end <= quote.end():
            before, after = head[: quote.start()].strip(), head[quote.end() :].strip(" .!?\n")
            return bool(after or (before and before[-1] not in ":："))
    return SAYS.search(head[:start]) is not None


LONGEST = 60
"""Words; a longer answer says something nevertheless."""


def abstains(answer: str) -> bool:
    """Whether an answer says that it has none, and hardly anything else.

    >>> [abstains(a) for a in ("I don't know.", "Das weiß ich leider nicht.", "他不是医生。")]
    [True, True, False]
    """
    return len(answer.split()) <= LONGEST and refuses(answer)
