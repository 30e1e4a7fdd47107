"""Measures, profiles and the words of the output as reference text; docs/glossary.md has the latter."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rankproof.core.arrays import by_key
from rankproof.core.measure import Measure
from rankproof.core.profiles import Profile
from rankproof.document.formats import plain_data
from rankproof.document.model import PAGE, PAPER, SCREEN, TEXT, Chart, Document, Part, Record, Table
from rankproof.document.page import read_terms, term_of
from rankproof.document.terminal import without_backticks, wrap
from rankproof.errors import not_known, shorten
from rankproof.suggestions import docstring

NAME = 20
"""The width of names in a list."""
FAMILY = 13
"""The width of a family's name."""
FIRST = ("Formula", "Parameters", "Range", "Use", "Other names", "Blind to", "Perfect", "Worst", "Reference")
"""The paragraphs about a measure, the most important ones first."""


def reference(title: str, whole: str, records: Sequence[Record], brief: str = "") -> Document:
    """A reference list: as text, as a table of names, and as records.

    A screen has the text in brief, or its paragraphs, the most important ones first.
    """
    rows = [(str(each["name"]), str(each.get("title") or each["source"])) for each in records]
    parts = [
        Part(Chart("", lambda room: whole.splitlines()), media=(TEXT,)),
        Part(Table.of(("name", "about"), rows, ("name", "about")), media=(PAGE, PAPER)),
    ]
    for n, text in enumerate([brief] if brief else whole.split("\n\n")):
        name = text.partition(":")[0].partition(",")[0]
        rank = FIRST.index(name) + 1 if name in FIRST else n
        block = Chart("", lambda room, text=text: text.splitlines())  # type: ignore[misc]
        parts.append(Part(block, rank=0 if n == 1 else rank, name=name.lower(), media=(SCREEN,)))
    return Document(title, parts, records)


def list_measures(measures: Sequence[Measure]) -> str:
    """Every measure with the first line of its description, by families: the modules they stand in."""
    lines: list[str] = []
    for module, members in by_key((each.spec.function.__module__, each) for each in measures).items():
        said = " ".join((docstring(sys.modules.get(module)) or module).split())  # the subject is its first sentence
        lines += ([""] if lines else []) + wrap(said.partition(". ")[0].removesuffix("."))
        for each in members:
            lines += _entry(each.spec.name, each.spec.title)
    return "\n".join([*lines, "", f"{_command(measures)} describes one in full."]) + "\n"


def names(measures: Sequence[Measure]) -> str:
    """The names alone, a line or two for the measures of each module."""
    lines = []
    for module, members in by_key((each.spec.function.__module__, each) for each in measures).items():
        first = f"{module.rpartition('.')[2]:{FAMILY}}  "
        lines += wrap(", ".join(each.spec.name for each in members), first=first, later=" " * len(first))
    return "\n".join([*lines, "", f"Described by --full; one in full by: {_command(measures)}"]) + "\n"


def _command(measures: Sequence[Measure]) -> str:
    """The command that describes one of them: a metric by verdicts may have the name of a measure of rankings."""
    return f"rankproof measures {'--judged ' if measures[0].spec.kind == 'judged' else ''}NAME"


def _entry(name: str, words: str) -> list[str]:
    first = f"  {name:{NAME}} "
    return wrap(without_backticks(words), first=first, later=" " * len(first))


def measure_page(measure: Measure) -> Document:
    """One measure as a document."""
    return reference("Measures", describe_measure(measure), [record(measure)])


def describe_measure(measure: Measure) -> str:
    """One measure in full."""
    spec = measure.spec
    lines = [str(measure), "", *wrap(without_backticks(spec.title)), *_reads(measure)]
    for name, said in sections(spec.doc).items():
        lines += ["", *wrap(without_backticks(said), first=f"{name}: ", later="    ")]
    if spec.parameters:
        lines += ["", "Parameters:"]
    for name, parameter in spec.parameters.items():
        value = "none" if measure.params[name] is None else repr(measure.params[name])
        lines += _entry(f"{name} = {value}{' (@)' if name == spec.at else ''}", _expected(parameter.kind.expected))
    if spec.also:
        # Those of a variant with what they mean.
        also = (name + (f" ({_settings(params)})" if params else "") for name, params in spec.also.items())
        lines += ["", *wrap(", ".join(also), first="Other names: ", later="    ")]
    return "\n".join(lines) + "\n"


def _reads(measure: Measure) -> list[str]:
    """Notes on unusual inputs, and on measures where lower is better."""
    unusual = {
        "pair": "Reads two rankings.",
        "preference": "Reads preferences between documents.",
        "span": "Reads judged spans of text: evaluate_spans, or 'rankproof spans'.",
    }
    said = [unusual.get(measure.spec.kind, ""), "" if measure.spec.higher else "Lower is better."]
    return [" ".join(filter(None, said))] if any(said) else []


def _expected(expected: str) -> str:
    words = expected.split("|")
    return expected if len(words) == 1 else "one of " + ", ".join(map(repr, words))


def _settings(params: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in params.items())


def record(measure: Measure) -> dict[str, Any]:
    """One measure as plain data."""
    spec = measure.spec
    return {
        "name": spec.name,
        "title": spec.title,
        "group": spec.function.__module__.rpartition(".")[2],
        "reads": spec.kind,
        "higher_is_better": spec.higher,
        "fields": sections(spec.doc),
        "parameters": {
            name: {
                "default": plain_data(each.default),
                "expected": _expected(each.kind.expected),
                "at": name == spec.at,
            }
            for name, each in spec.parameters.items()
        },
        "other_names": plain_data(spec.also),
    }


def profiles(known: Iterable[Profile]) -> str:
    """Every profile with the tool it follows."""
    lines = [line for each in known for line in _entry(each.name, each.source)]
    return "\n".join([*lines, "", "rankproof profiles NAME says what a tool does differently."]) + "\n"


def profile(found: Profile) -> str:
    """One profile in full: its settings as a user would write them, and the measures that the tool has."""
    lines = [*wrap(f"{found.name}: {found.source}; {found.proof}."), "", *_items(found.says)]
    lines += ["", "Not followed:", *_items(found.beyond)] if found.beyond else []
    measures = ", ".join(f"{name}({_settings(params)})" for name, params in found.measures.items())
    settings = {"Measures: ": measures, "Conventions: ": _settings(found.conventions)}
    kinds = {
        "Proven equal, but for the above: ": found.proven,
        "Not equal: ": found.other,
        "In the tool too, equality not shown: ": found.unproven,
    }
    lines.append("")
    for head, said in settings.items():
        lines += wrap(said or "as they are", first=head, later="    ")
    lines.append("")
    for head, names in kinds.items():
        lines += wrap(", ".join(names.split()), first=head, later="    ") if names else []
    return "\n".join([*lines, "All others: not in the tool; only its conventions are followed."]) + "\n"


def _items(said: Iterable[str]) -> list[str]:
    return [line for each in said for line in wrap(each.removesuffix("."), first="- ", later="  ")]


def profile_record(found: Profile) -> dict[str, Any]:
    """One profile as plain data."""
    return {
        "name": found.name,
        "source": found.source,
        "proof": found.proof,
        "says": list(found.says),
        "not_followed": list(map(str, found.beyond)),
        "proven": found.proven.split(),
        "not_equal": found.other.split(),
        "unproven": found.unproven.split(),
        "measures": plain_data(found.measures),
        "conventions": plain_data(found.conventions),
    }


FIELDS = ("Formula", "Range", "Perfect", "Worst", "Blind to", "Use", "Reference")
_FIELD = re.compile(rf"^({'|'.join(FIELDS)}):(.*(?:\n(?!(?:{'|'.join(FIELDS)}):).*\S.*)*)", re.MULTILINE)


def sections(doc: str) -> dict[str, str]:
    """The fields of a docstring, each as one line of text; a field ends where the next starts, or at an empty line.

    >>> sections("The title.\\n\\nFormula: a /\\n    b.\\nRange: 0 to 1.\\n\\n>>> 1\\n1")
    {'Formula': 'a / b.', 'Range': '0 to 1.'}
    """
    return {name: " ".join(text.split()) for name, text in _FIELD.findall(doc)}


def term(word: str, measures: Iterable[str] = ()) -> Document:
    """The meaning of a word of the output.

    >>> term("Detectable").title
    'detectable'
    """
    found, (meanings, others) = term_of(word), read_terms()
    if found is None:
        said = f"explain: got {shorten(word)}, which is neither a word of the output nor a measure"
        advice = f"one of {', '.join(meanings)}; or a measure, like nDCG@10"
        raise not_known(said, word, [*meanings, *others, *measures], advice)
    text = "\n".join([found, "", *wrap(meanings[found])])
    return reference(found, text, [{"name": found, "title": meanings[found]}])
