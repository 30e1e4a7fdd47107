"""What a measure's docstring says, field by field: formula, range, when it is perfect, what it cannot see."""

from __future__ import annotations

import re

FIELDS = ("Formula", "Range", "Perfect", "Worst", "Blind to", "Use", "Reference")
_START = re.compile(rf"^({'|'.join(FIELDS)}):\s*", re.DOTALL)


def sections(doc: str) -> dict[str, str]:
    """The fields of a docstring, each as one line of text.

    >>> sections("The title.\\n\\nFormula: a /\\nb.\\n\\nRange: 0 to 1.\\n\\n>>> 1\\n1")
    {'Formula': 'a / b.', 'Range': '0 to 1.'}
    """
    found = {}
    for paragraph in doc.split("\n\n"):
        start = _START.match(paragraph)
        if start:
            found[start[1]] = " ".join(paragraph[start.end() :].split())
    return found
