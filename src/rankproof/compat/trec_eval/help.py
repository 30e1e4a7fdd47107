"""The help of the drop-in."""

from __future__ import annotations

from rankproof.compat.trec_eval.catalogue import CATALOGUE, NICKNAMES, Entry
from rankproof.compat.trec_eval.options import USAGE, Options
from rankproof.compat.trec_eval.parameters import requested

_OPTIONS = """\
 -m MEASURE[.PARAMETERS]  a measure or a group of measures; may be repeated; without it: official
 -q  print every topic, not only the summary
 -n  print no summary
 -c  average over all judged topics; those without results count 0
 -l LEVEL  the lowest grade that is relevant (1)
 -M MAX  look at the first MAX documents of each topic only
 -J  take out documents that nobody judged (figures are then not comparable with others)
 -N DOCUMENTS  how many documents the collection has (for utility)
 -R FORMAT  judgments: qrels, qrels_jg (several judges), prefs, qrels_prefs (preferences)
 -T FORMAT  results: trec_results
 -Z FILE  print z-scores by the means and deviations in FILE: topic, measure, mean, deviation a line
 --as 9|10  the version to print like: 9 is 9.0.8, 10 (the default) is 10.0
 -h, -v  this help (with -m: about that measure); the version

RESULTS may be - for standard input."""

_TAKES = {
    "nothing": "no parameters",
    "cutoffs": "ranks",
    "points": "numbers",
    "list": "numbers, averaged over",
    "numbers": "numbers",
    "pairs": "grade=gain pairs; a grade without one is its own gain",
}
_AVERAGES = {"mean": "mean", "sum": "sum", "geometric": "geometric mean", "none": "none"}


def help_text(options: Options) -> str:
    """Usage and options; with measures asked for, what they are."""
    names = [name for name, _ in requested(options.measures, options.version)] if options.measures else []
    return "\n\n".join([USAGE, _OPTIONS, *(_about(name) for name in names or _everything())])


def _everything() -> list[str]:
    return list(NICKNAMES)


def _about(name: str) -> str:
    if name in NICKNAMES:
        return f"{name}: {', '.join(NICKNAMES[name])}"
    entry = CATALOGUE[name]
    lines = [f"{name}: parameters: {_TAKES[entry.takes]}{_default(entry)}", _judgments(entry)]
    return "\n".join([*lines, f"  over topics: {_AVERAGES[entry.average]}"])


def _default(entry: Entry) -> str:
    return f" ({', '.join(f'{value:g}' for value in entry.defaults)})" if entry.defaults else ""


def _judgments(entry: Entry) -> str:
    formats = {"grades": "qrels", "groups": "qrels_jg", "preferences": "prefs, qrels_prefs", "any": "any"}
    return f"  judgments: {formats[entry.kind]}"
