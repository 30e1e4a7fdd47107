"""Write the tables of docs/lexical-judge.md: how good the lexical judge is on labelled pairs, and its estimates.

python docs/make_lexical_table.py [FOLDER]

FOLDER holds begin/, clapnq/, halueval/, summedits/ and wice/, the development parts of those collections; by default
where the tests look for them. The shares that make up the score of a claim are not fitted; its base and slope are, on
all collections but the row's own. The embedded sample stands for a knowledge base.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankproof import sample
from rankproof.judging.lexical_judge import likelihood, settle
from rankproof.judging.trust import logit, shifts
from rankproof.judging.verdicts import Ask, Relation, Verdict

PAGE = Path(__file__).with_name("lexical-judge.md")
FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "judges"
SMALL = frozenset(
    [
        "the",
        "of",
        "and",
        "in",
        "to",
        "a",
        "is",
        "was",
        "for",
        "on",
        "with",
        "by",
        "at",
        "an",
        "are",
        "be",
        "as",
        "it",
        "its",
        "that",
        "this",
        "from",
        "or",
    ]
)


@dataclass(frozen=True)
class Pair:
    """A pair of texts, whether people say yes of it, and the item that it is from."""

    ask: Ask
    label: bool
    item: int


Pairs = list[Pair]


def labelled(folder: Path) -> dict[str, Pairs]:
    """All labelled pairs, by kind of text, family of collections, and what they are."""
    wice = rows(folder / "wice" / "dev.jsonl")
    answered = rows(folder / "clapnq" / "clapnq_dev_answerable.jsonl")
    unanswered = rows(folder / "clapnq" / "clapnq_dev_unanswerable.jsonl")
    questions = rows(folder / "halueval" / "qa_first_250.jsonl")
    return {
        **{
            f"extractive | BEGIN {name}: response, knowledge": begin(folder / "begin" / f"begin_dev_{name}.tsv")
            for name in ("wow", "tc", "cmu")
        },
        "extractive | HaluEval: answer, knowledge": list(made_up(questions)),
        "extractive | CLAPNQ: answer, sentence (part of it)": list(sentences(answered)),
        "abstractive | WiCE: claim, whole page": evidence(wice, {"supported"}),
        **{
            f"abstractive | SummEdits {name}: summary, document": edits(folder / f"summedits/summedits_{name}.json")
            for name in ("ectsum", "samsum", "scitldr")
        },
        "questions | CLAPNQ: question, passage": [*passages(answered, True), *passages(unanswered, False)],
        "questions | HaluEval: question, knowledge": list(knowledge(questions)),
        "questions | embedded sample: question, document": list(documents()),
        "questions | CLAPNQ: question, sentence": list(statements(answered)),
        "questions | CLAPNQ: question, answer": list(answers(answered)),
        "questions | HaluEval: question, answer": list(short_answers(questions)),
    }


def rows(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def begin(path: Path) -> Pairs:
    """Responses with the knowledge that they were to be based on."""
    with path.open(encoding="utf-8", newline="") as lines:
        read = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        Pair(
            Ask(Relation.TEXT_SUPPORTS, row["response"], row["knowledge"]),
            row["begin_label"] == "Fully attributable",
            item,
        )
        for item, row in enumerate(read)
    ]


def evidence(wice: list[dict[str, Any]], yes: set[str]) -> Pairs:
    """Claims with all sentences of the page that is cited for them."""
    return [
        Pair(Ask(Relation.TEXT_SUPPORTS, row["claim"], "\n".join(row["evidence"])), row["label"] in yes, item)
        for item, row in enumerate(wice)
    ]


def made_up(read: list[dict[str, Any]]) -> Iterator[Pair]:
    """Right and made-up answers with the knowledge they are about."""
    for item, row in enumerate(read):
        yield Pair(Ask(Relation.TEXT_SUPPORTS, row["right_answer"], row["knowledge"]), True, item)
        yield Pair(Ask(Relation.TEXT_SUPPORTS, row["hallucinated_answer"], row["knowledge"]), False, item)


def edits(path: Path) -> Pairs:
    """Summaries, most of them with a fact that was changed, and what they sum up."""
    read = json.loads(path.read_text(encoding="utf-8"))
    return [
        Pair(Ask(Relation.TEXT_SUPPORTS, row["summary"], row["doc"]), bool(row["label"]), i)
        for i, row in enumerate(read)
    ]


def knowledge(read: list[dict[str, Any]]) -> Iterator[Pair]:
    """Questions with their own knowledge, and with another question's."""
    for item, row in enumerate(read):
        yield Pair(Ask(Relation.CONTEXT_ANSWERS, row["question"], row["knowledge"]), True, item)
        yield Pair(Ask(Relation.CONTEXT_ANSWERS, row["question"], other(read, item)["knowledge"]), False, item)


def short_answers(read: list[dict[str, Any]]) -> Iterator[Pair]:
    """Questions with their own right answer, of a few words, and with another question's."""
    for item, row in enumerate(read):
        yield Pair(Ask(Relation.ANSWER_ADDRESSES, row["question"], row["right_answer"]), True, item)
        yield Pair(Ask(Relation.ANSWER_ADDRESSES, row["question"], other(read, item)["right_answer"]), False, item)


def documents() -> Iterator[Pair]:
    """Questions of the embedded sample with the documents judged for them, of which many are near misses."""
    texts, queries = sample.corpus(), sample.queries()
    for item, (query, grades) in enumerate(sample.judgments().items()):
        for name, grade in grades.items():
            text = f"{texts[name]['title']}. {texts[name]['text']}"
            yield Pair(Ask(Relation.CONTEXT_ANSWERS, queries[query], text), grade >= 2, item)


def sentences(answered: list[dict[str, Any]]) -> Iterator[Pair]:
    """Answers with each sentence of their passage."""
    for item, row in enumerate(answered):
        for sentence in row["passages"][0]["sentences"]:
            yield Pair(
                Ask(Relation.TEXT_SUPPORTS, row["output"][0]["answer"], sentence),
                sentence.strip() in chosen(row),
                item,
            )


def passages(read: list[dict[str, Any]], label: bool) -> Iterator[Pair]:
    """Questions with the passage shown for them."""
    for item, row in enumerate(read):
        yield Pair(Ask(Relation.CONTEXT_ANSWERS, row["input"], row["passages"][0]["text"]), label, item)


def statements(answered: list[dict[str, Any]]) -> Iterator[Pair]:
    """The sentences of the question's own passage."""
    for item, row in enumerate(answered):
        for sentence in row["passages"][0]["sentences"]:
            yield Pair(Ask(Relation.STATEMENT_BEARS, row["input"], sentence), sentence.strip() in chosen(row), item)


def answers(answered: list[dict[str, Any]]) -> Iterator[Pair]:
    """Questions with their own answer, and with another question's."""
    for item, row in enumerate(answered):
        for source, label in ((row, True), (other(answered, item), False)):
            yield Pair(Ask(Relation.ANSWER_ADDRESSES, row["input"], source["output"][0]["answer"]), label, item)


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


def overlap(claim: str, text: str) -> float:
    """The share of a claim's words that are in a text, without any fitting: what the judge has to beat."""
    mine, theirs = (
        {word.rstrip("s") for word in re.findall(r"\w+", part.lower()) if word not in SMALL} for part in (claim, text)
    )
    return len(mine & theirs) / len(mine) if mine else 0.0


def right(pairs: Pairs, is_meant: Callable[[Verdict], bool], yes: bool) -> str:
    """How many verdicts of one kind people agree with."""
    found = [pair.label == yes for pair in pairs if isinstance(v := settle(pair.ask), Verdict) and is_meant(v)]
    return f"{sum(found)} of {len(found)}" if found else "–"


def says_yes(verdict: Verdict) -> bool:
    """Whether a verdict is a yes."""
    return (verdict.value or 0) >= (2 if verdict.ask.relation in "RA" else 1)


@dataclass(frozen=True)
class Held:
    """What the estimate of a collection is where nothing of it was seen."""

    mean: float
    low: float
    high: float
    truth: float

    @property
    def holds(self) -> bool:
        """Whether the interval holds what people say."""
        return self.low <= self.truth <= self.high


def held_out(collections: Mapping[str, Pairs]) -> dict[str, Held]:
    """The share of yes of each collection, by a base and slope fitted on all others of its relation."""
    scores = {name: logit(np.array([likelihood(p.ask) for p in pairs])) for name, pairs in collections.items()}
    labels = {name: np.array([p.label for p in pairs]) for name, pairs in collections.items()}
    found = {}
    for name, pairs in collections.items():
        relation = pairs[0].ask.relation
        others = [each for each, own in collections.items() if own[0].ask.relation == relation]
        others = [each for each in others if each != name and "part of it" not in each]
        slope, base = (
            fitted([scores[each] for each in others], [labels[each] for each in others]) if len(others) > 1 else (1, 0)
        )
        odds = base + slope * scores[name]
        drawn = [
            float((1 / (1 + np.exp(-(odds + by)))).mean()) for by in shifts(relation, np.array([0.5, 0.025, 0.975]))
        ]
        found[name] = Held(*drawn, float(labels[name].mean()))
    return found


def fitted(scores: Sequence[Any], labels: Sequence[Any], steps: int = 50) -> tuple[float, float]:
    """A common slope and the mean of the bases, by logistic regression with a base and a like weight for each."""
    size, values = len(scores), np.concatenate(scores)
    rows_ = np.zeros((len(values), 1 + size))
    rows_[:, 0] = values
    rows_[np.arange(len(values)), 1 + np.repeat(np.arange(size), [len(each) for each in scores])] = 1
    truth = np.concatenate(labels).astype(float)
    weights = np.concatenate([np.full(len(each), 300 / len(each)) for each in scores])
    found = np.zeros(1 + size)
    for _ in range(steps):
        chance = 1 / (1 + np.exp(-rows_ @ found))
        bend = (rows_ * (weights * chance * (1 - chance))[:, None]).T @ rows_ + 1e-3 * np.eye(1 + size)
        found += np.linalg.solve(bend, rows_.T @ (weights * (truth - chance)) - 1e-3 * found)
    return float(found[0]), float(found[1:].mean())


COLUMNS = (
    "kind of text | pairs", "n", "AUROC", "plain overlap", "yes: right", "no: right", "contradicted: right",
    "people: yes", "estimated",
)  # fmt: skip


def line(name: str, pairs: Pairs, held: Held) -> str:
    """One row of the table."""
    labels = [pair.label for pair in pairs]
    cells = (
        name,
        str(len(pairs)),
        digits(auroc([likelihood(pair.ask) for pair in pairs], labels)),
        digits(auroc([overlap(pair.ask.left, pair.ask.right) for pair in pairs], labels)),
        right(pairs, says_yes, True),
        right(pairs, lambda v: v.value == 0, False),
        right(pairs, lambda v: v.value == -1 and v.ask.relation == Relation.TEXT_SUPPORTS, False),
        digits(held.truth),
        f"{digits(held.mean)} ({digits(held.low)} to {digits(held.high)})",
    )
    return f"| {' | '.join(cells)} |"


def digits(value: float) -> str:
    """Three digits."""
    return f"{value:.3f}".removeprefix("0")


def main() -> None:
    """Measure, and write the page."""
    collections = labelled(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
    held = held_out(collections)
    heading = f"| {' | '.join(COLUMNS)} |\n{'|---' * (len(COLUMNS) + 1)}|"
    table = "\n".join([heading, *(line(name, pairs, held[name]) for name, pairs in collections.items())])
    before = PAGE.read_text(encoding="utf-8")
    page = re.sub(r"(?s)(?<=<!-- table -->\n).*?(?=\n<!-- end -->)", lambda _: table, before)
    PAGE.write_text(page, encoding="utf-8")
    print(table)


if __name__ == "__main__":
    main()
