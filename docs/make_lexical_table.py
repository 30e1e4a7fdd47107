"""Write the table of docs/lexical-judge.md: how good the lexical judge is on labelled pairs.

python docs/make_lexical_table.py [FOLDER]

FOLDER holds begin/, clapnq/ and wice/, the development parts of those collections; by default where the tests look
for them. Pairs of every second item, which the weights were not fitted on, are reported, and pairs of all items
beside them.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankproof.judging.lexical.relations import probability, settle
from rankproof.judging.verdicts import Ask, Verdict
from rankproof.stats.intervals import interval

PAGE = Path(__file__).with_name("lexical-judge.md")
FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "judges"
RESAMPLES = 1_000
COLUMNS = ("pairs", "n", "AUROC, held out", "AUROC, all", "settled", "yes: right", "no: right")
HEADING = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|"


@dataclass(frozen=True)
class Pair:
    """A pair of texts, whether people say yes of it, and the item that it is from."""

    ask: Ask
    label: bool
    item: int


Pairs = list[Pair]


def labelled(folder: Path) -> dict[str, Pairs]:
    """All labelled pairs, by what they are."""
    wice = rows(folder / "wice" / "dev.jsonl")
    answered = rows(folder / "clapnq" / "clapnq_dev_answerable.jsonl")
    unanswered = rows(folder / "clapnq" / "clapnq_dev_unanswerable.jsonl")
    return {
        "BEGIN: response, knowledge (fully attributable)": begin(folder / "begin" / "begin_dev_wow.tsv"),
        "WiCE: claim, whole page (supported)": evidence(wice, {"supported"}),
        "WiCE: claim, whole page (at least partly supported)": evidence(
            wice, {"supported", "partially_supported"}
        ),
        "CLAPNQ: answer, sentence (chosen for the answer)": list(sentences(answered)),
        "CLAPNQ: question, passage (answers it)": [*passages(answered, True), *passages(unanswered, False)],
        "CLAPNQ: question, sentence (chosen for its answer)": list(statements(answered)),
        "CLAPNQ: question, answer (its own, or another's)": list(answers(answered)),
    }


def rows(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def begin(path: Path) -> Pairs:
    """Responses with the knowledge that they were to be based on."""
    with path.open(encoding="utf-8", newline="") as lines:
        read = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        Pair(Ask("S", row["response"], row["knowledge"]), row["begin_label"] == "Fully attributable", item)
        for item, row in enumerate(read)
    ]


def evidence(wice: list[dict[str, Any]], yes: set[str]) -> Pairs:
    """Claims with all sentences of the page that is cited for them."""
    return [
        Pair(Ask("S", row["claim"], "\n".join(row["evidence"])), row["label"] in yes, item)
        for item, row in enumerate(wice)
    ]


def sentences(answered: list[dict[str, Any]]) -> Iterator[Pair]:
    """Answers with each sentence of their passage."""
    for item, row in enumerate(answered):
        for sentence in row["passages"][0]["sentences"]:
            yield Pair(Ask("S", row["output"][0]["answer"], sentence), sentence.strip() in chosen(row), item)


def passages(read: list[dict[str, Any]], label: bool) -> Iterator[Pair]:
    """Questions with the passage shown for them."""
    for item, row in enumerate(read):
        yield Pair(Ask("R", row["input"], row["passages"][0]["text"]), label, item)


def statements(answered: list[dict[str, Any]]) -> Iterator[Pair]:
    """The sentences of the question's own passage, and of another question's."""
    for item, row in enumerate(answered):
        for sentence in row["passages"][0]["sentences"]:
            yield Pair(Ask("Q", row["input"], sentence), sentence.strip() in chosen(row), item)
        for sentence in other(answered, item)["passages"][0]["sentences"]:
            yield Pair(Ask("Q", row["input"], sentence), False, item)


def answers(answered: list[dict[str, Any]]) -> Iterator[Pair]:
    """Questions with their own answer, and with another question's."""
    for item, row in enumerate(answered):
        for source, label in ((row, True), (other(answered, item), False)):
            yield Pair(Ask("A", row["input"], source["output"][0]["answer"]), label, item)


def other(answered: list[dict[str, Any]], item: int) -> dict[str, Any]:
    """Another question's row."""
    return answered[(item + 11) % len(answered)]


def chosen(row: dict[str, Any]) -> set[str]:
    """The sentences that an annotator chose for the answer."""
    return {sentence.strip() for output in row["output"] for sentence in output["selected_sentences"]}


def auroc(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """How often a pair with yes gets more than a pair with no; equal ones count half."""
    _, place, count = np.unique(np.asarray(scores), return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place]
    yes = np.asarray(labels)
    positive = yes.sum()
    return float((rank[yes].sum() - positive * (positive + 1) / 2) / (positive * (len(yes) - positive)))


def area(pairs: Pairs) -> str:
    """AUROC with its interval over items drawn anew, as pairs of one item are alike."""
    scores, labels = np.array([probability(p.ask) for p in pairs]), np.array([p.label for p in pairs])
    items, place = np.unique([p.item for p in pairs], return_inverse=True)
    of_item = [np.flatnonzero(place == each) for each in range(len(items))]
    draw = np.random.default_rng(1)
    drawn = []
    for _ in range(RESAMPLES):
        rows_ = np.concatenate([of_item[each] for each in draw.integers(len(items), size=len(items))])
        drawn.append(auroc(scores[rows_], labels[rows_]))
    low, high = np.percentile(drawn, [2.5, 97.5])
    return f"{digits(auroc(scores, labels))} ({digits(low)} to {digits(high)})"


def right(verdicts: list[tuple[Verdict, bool]], yes: bool) -> str:
    """How many of the verdicts yes, or no, people agree with."""
    agree = [label == yes for verdict, label in verdicts if says_yes(verdict) == yes]
    if not agree:
        return "–"
    if all(agree) or len(agree) < 2:
        return f"{sum(agree)} of {len(agree)}"
    found = interval(np.array(agree, float), np.random.default_rng(1))
    return f"{sum(agree)} of {len(agree)} ({digits(found.low)} to {digits(found.high)})"


def says_yes(verdict: Verdict) -> bool:
    """Whether a verdict is a yes."""
    return (verdict.value or 0) >= (2 if verdict.ask.relation in "RA" else 1)


def line(name: str, pairs: Pairs) -> str:
    """One row of the table."""
    held_out = [pair for pair in pairs if pair.item % 2]
    settled = [(verdict, pair.label) for pair in held_out if isinstance(verdict := settle(pair.ask), Verdict)]
    share = f"{len(settled) / len(held_out):.0%}"
    cells = (
        name,
        str(len(held_out)),
        area(held_out),
        area(pairs),
        share,
        right(settled, True),
        right(settled, False),
    )
    return f"| {' | '.join(cells)} |"


def digits(value: float) -> str:
    """Three digits."""
    return f"{value:.3f}".removeprefix("0")


def main() -> None:
    """Measure, and write the page."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    table = "\n".join([HEADING, *(line(name, pairs) for name, pairs in labelled(folder).items())])
    before = PAGE.read_text(encoding="utf-8")
    page = re.sub(r"(?s)(?<=<!-- table -->\n).*?(?=\n<!-- end -->)", lambda _: table, before)
    PAGE.write_text(page, encoding="utf-8")
    print(table)


if __name__ == "__main__":
    main()
