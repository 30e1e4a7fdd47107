"""The help of the drop-in."""

from __future__ import annotations

import textwrap

from rankproof.compat.trec_eval.catalogue import CATALOGUE, NICKNAMES, Entry
from rankproof.compat.trec_eval.options import USAGE, Options
from rankproof.compat.trec_eval.parameters import requested
from rankproof.core.names import parse

_OPTIONS = """\
 -m MEASURE[.PARAMETERS]  a measure or a group; may be repeated (official)
 -q             print every topic, not only the summary
 -n             print no summary
 -c             average over all judged topics; those without results count 0
 -l LEVEL       the lowest grade that is relevant (1)
 -M MAX         look at the first MAX documents of each topic only
 -J             take out documents that nobody judged; such figures can be
                compared with no others
 -N DOCUMENTS   how many documents the collection has (for utility)
 -R FORMAT      judgments: qrels, qrels_jg (several judges), prefs, qrels_prefs
 -T FORMAT      results: trec_results
 -Z FILE        print z-scores by lines of topic, measure, mean, deviation
 --as 9|10      print like version 9.0.8, or like 10.0 (the default)
 -h, -v         this help (with -m: about that measure); the version

RESULTS may be - for standard input."""

_TAKES = {
    "nothing": "none",
    "cutoffs": "ranks",
    "points": "numbers",
    "list": "numbers, averaged over",
    "numbers": "numbers",
    "pairs": "grade=gain pairs; a grade without one is its own gain",
}
_TITLES = {
    "runid": "The run id in the last line of the results.",
    "num_q": "The number of topics averaged over.",
    "relstring": "The grades of the first documents, one character each.",
    "ideal_dcg": "DCG of the best order of all judged documents.",
}
_FORMATS = {"grades": "qrels", "groups": "qrels_jg", "preferences": "prefs, qrels_prefs", "any": "any"}


def help_text(options: Options) -> str:
    """Usage and options; with measures asked for, what they are."""
    asked = (
        [name for name, _ in requested(options.measures, options.version)] if options.measures else NICKNAMES
    )
    return "\n\n".join([USAGE, _OPTIONS, *(_about(name) for name in asked)])


def _about(name: str) -> str:
    if name in NICKNAMES:
        return _wrapped(f"{name}: {', '.join(NICKNAMES[name])}")
    entry = CATALOGUE[name]
    facts = [
        f"parameters: {_TAKES[entry.takes]}{_default(entry)}",
        f"judgments: {_FORMATS[entry.kind]}",
        f"over topics: {'geometric mean' if entry.average == 'geometric' else entry.average}",
    ]
    return "\n".join([_wrapped(f"{name}: {_title(name)}"), *(_wrapped(f"    {fact}") for fact in facts)])


def _title(name: str) -> str:
    if name.endswith("_avgjg") and not name.startswith("prefs"):
        return f"{parse(name.removesuffix('_avgjg')).spec.title} Averaged over judges."
    return _TITLES.get(name) or parse(name).spec.title


def _default(entry: Entry) -> str:
    return f" ({', '.join(f'{value:g}' for value in entry.defaults)})" if entry.defaults else ""


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 79, subsequent_indent="    ", break_on_hyphens=False)
