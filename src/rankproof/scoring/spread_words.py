"""Scores and comparisons of queries that are spread over workers, as documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankproof.document.model import PAGE, TEXT, Bullets, Document, Heading, Paragraph, Part, Table
from rankproof.document.numbers import count, score, share, span

if TYPE_CHECKING:
    from rankproof.scoring.spread import SpreadComparison, SpreadScores


def scores(found: SpreadScores) -> Document:
    """Means, intervals, ceilings, slices and the worst queries."""
    headings = ["measure", "mean", "95 % interval", "ceiling", "n"]
    rows, records = [], []
    for name in found:
        interval, mean = found.uncertainty(name), found[name]
        limit = found.ceiling(name) if found.summary.sums else None
        rows.append([name, score(mean), span(interval.low, interval.high), score(limit), f"{interval.n:,}"])
        records.append(
            {
                "measure": name,
                "slice": None,
                "mean": mean,
                "low": interval.low,
                "high": interval.high,
                "n": interval.n,
            }
        )
    parts = [Part(Table.of(headings, rows, ["measure"])), Part(*map(Paragraph, _facts(found)))]
    for group, part in found.slices.items():
        for name in part:
            low, high = part.interval(name)
            n = part.summary.columns[name].n
            records.append(
                {"measure": name, "slice": group, "mean": part[name], "low": low, "high": high, "n": n}
            )
    sliced = [[str(r["slice"]), str(r["measure"]), score(r["mean"]), span(r["low"], r["high"]), f"{r['n']:,}"]
              for r in records if r["slice"] is not None]  # fmt: skip
    if sliced:
        table = Table.of(
            ["slice", "measure", "mean", "95 % interval", "n"], sliced, ["slice", "measure"], grouped=True
        )
        parts.append(Part(Heading("Slices"), table, rank=1, name="the slices"))
    first = next(iter(found))
    worst = (
        [[query, score(value)] for query, value in found.worst(10)] if found.summary.worst.get(first) else []
    )
    if worst:
        table = Table.of(["query", first], worst, ["query"])
        parts.append(Part(Heading("Worst queries"), table, media=(TEXT, PAGE), name="the worst queries"))
    parts.append(Part(Bullets(found.conventions.in_words()), media=(TEXT, PAGE), name="conventions"))
    kinds = {"slice": str}
    return Document("Scores of queries spread over workers", parts, records, found.to_dict(), kinds=kinds)


def _facts(found: SpreadScores) -> list[str]:
    facts = found.facts
    said = [
        f"{count(found.queries, 'query', 'queries')}, {count(facts.get('documents', 0), 'judged document')}."
    ]
    if missing := found.queries - facts.get("answered", found.queries):
        said.append(f"{count(missing, 'judged query', 'judged queries')} without a ranking.")
    if found.extra:
        said.append(f"{count(found.extra, 'ranked query', 'ranked queries')} nobody judged, left out.")
    if facts.get("tied"):
        low, high = found.bounds(next(iter(found)))
        said.append(
            f"{share(facts['tied'] / facts['found'])} of the judged documents found share their score with others: any "
            f"other order of these puts {next(iter(found))} in {span(low, high)}."
        )
    return [*said, *found.notes]


def comparison(found: SpreadComparison) -> Document:
    """The differences by measure, with what follows from them."""
    data = found.to_dict()
    one, other = found.names
    rows = [
        [each["measure"], score(each["first"]), score(each["second"]), f"{each['difference']:+.4f}",
         span(each["low"], each["high"]), "-" if each["effect"] is None else f"{each['effect']:+.3f}", each["verdict"]]
        for each in data["measures"]
    ]  # fmt: skip
    headings = ["measure", one, other, "difference", "95 % interval", "effect", "verdict"]
    records = [{"slice": None, **each} for each in data["measures"]]
    said = [f"{count(found.queries, 'query', 'queries')} with a value of both."]
    if found.margin is None:
        said.append(
            "No margin was given: over so many queries any difference is sure in the end. Look at its size, or give "
            "the largest difference that does not matter as margin=."
        )
    else:
        said.append(f"A difference within {found.margin:g} does not matter.")
    parts = [Part(Table.of(headings, rows, ["measure", "verdict"])), Part(*map(Paragraph, said))]
    sliced = []
    for group, columns in found.slices.items():
        for name, each in columns.items():
            sliced.append([group, name, f"{each.difference:+.4f}", span(each.low, each.high), f"{each.n:,}"])
            ends = {"difference": each.difference, "low": each.low, "high": each.high, "p": each.p}
            records.append({"slice": group, "measure": name, **ends})
    if sliced:
        words = ["slice", "measure"]
        table = Table.of([*words, "difference", "95 % interval", "n"], sliced, words, grouped=True)
        parts.append(Part(Heading("Slices"), table, rank=1, name="the slices"))
    return Document(f"{other} against {one}", parts, records, data, kinds={"slice": str, "verdict": str})
