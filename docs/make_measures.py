"""Write docs/measures.md, the reference of all measures, from the registry, and docs/glossary.md from the terms.

python docs/make_measures.py
"""

from __future__ import annotations

import doctest
from collections.abc import Iterator
from pathlib import Path

from rankproof.core.measure import Measure
from rankproof.core.measures import FAMILIES
from rankproof.core.names import REGISTRY
from rankproof.document.page import read_terms
from rankproof.scoring.catalogue import sections

GLOSSARY = Path(__file__).with_name("glossary.md")
PAGE = Path(__file__).with_name("measures.md")

START = """# Measures

Made from the registry by `python docs/make_measures.py`; `rankproof measures NAME` shows the same in a
terminal.

A measure is written `NAME`, `NAME@K` or `NAME(parameter=value)@K`: `nDCG(gain='exp')@10` is the same in
Python, on the command line, in a file and in a report. Names are found whatever their case, with `-` or `_`;
names of other tools lead to the same measure, with the parameters that make it theirs.

Where something is divided by nothing, the value is 0. A grade below 0 is not relevant and gains nothing.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([START, *_contents(), *(line for name in FAMILIES for line in _family(name))])


def _family_members(name: str) -> list[Measure]:
    return [each for each in REGISTRY.values() if each.spec.function.__module__ in FAMILIES[name]]


def _contents() -> Iterator[str]:
    for name in FAMILIES:
        links = ", ".join(f"[{each}](#{str(each).lower()})" for each in _family_members(name))
        yield f"- **{name}**: {links}"
    yield ""


def _family(name: str) -> Iterator[str]:
    yield f"## {name}\n"
    for each in _family_members(name):
        yield from _entry(each)


def _entry(measure: Measure) -> Iterator[str]:
    yield f"### {measure}\n\n{measure.spec.title}\n"
    if measure.spec.also:
        yield f"Also: {', '.join(_alias(measure, other) for other in measure.spec.also)}\n"
    yield from (f"- **{field}**: {text}" for field, text in sections(measure.spec.doc).items())
    yield from _parameters(measure)
    yield "\n```python\n" + _example(measure) + "```\n"


def _alias(measure: Measure, other: str) -> str:
    meant = measure.with_params(measure.spec.also[other])
    return f"`{other}`" if meant == measure else f"`{other}` (= `{meant}`)"


def _parameters(measure: Measure) -> Iterator[str]:
    known = measure.spec.parameters.values()
    if known:
        yield "\n| parameter | default | expected |\n|---|---|---|"
    for each in known:
        at = ", or `@`" if each.name == measure.spec.at else ""
        yield f"| `{each.name}`{at} | `{each.default!r}` | {each.kind.expected.replace('|', ', ')} |"


def _example(measure: Measure) -> str:
    examples = doctest.DocTestParser().get_examples(measure.spec.doc)
    return "".join(f">>> {each.source}{each.want}" for each in examples)


def glossary() -> str:
    """The page of all terms, in the order of the alphabet."""
    start = (
        "# Glossary\n\nWhat the words of the output mean; `rankproof explain WORD` says the same in the shell. "
        "Measures have a [page of their own](measures.md).\nMade by `python docs/make_measures.py`.\n"
    )
    return "\n".join([start, *(_term(word) for word in sorted(read_terms()[0], key=str.lower)), ""])


def _term(word: str) -> str:
    meanings, names = read_terms()
    others = [other for other, meant in names.items() if meant == word]
    also = f" (also: {', '.join(others)})" if others else ""
    return f"- **{word}**{also}: {meanings[word]}"


if __name__ == "__main__":
    GLOSSARY.write_text(glossary(), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
