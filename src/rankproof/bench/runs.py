"""`Run` and `Standings`: what retrievers found for every question, how fast, and how good it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Unpack

from rankproof.bench.retriever import Answer
from rankproof.bench.runner import RunPlan, RunRow
from rankproof.comparing.compare import compare_scores
from rankproof.comparing.comparison import Comparison, ComparisonRow
from rankproof.core.audit.ids import misspelt_between
from rankproof.core.conventions import Conventions, ScoringArguments
from rankproof.core.corpus import Corpus
from rankproof.core.defaults import DEFAULT_MEASURES
from rankproof.core.join import Block, Census
from rankproof.core.judgments import Judgments
from rankproof.core.table import RankingTable
from rankproof.document.model import Document, Part, Result
from rankproof.document.numbers import count, duration
from rankproof.errors import UsageError, old_arguments, shorten
from rankproof.io.groups import Grouping
from rankproof.io.mappings import MappingRankings
from rankproof.scoring.evaluate import Measures, evaluate
from rankproof.scoring.scores import Scores
from rankproof.stats.intervals import Quantile, quantiles


def kept_answers_note(rows: Sequence[RunRow], began: float) -> str:
    """How many answers were kept before the run `began`, and of when they are; "" where none was.

    >>> kept_answers_note([RunRow("q1", None, 0.1), RunRow("q2", None, 0.1, remembered=True)], began=1.0)
    '1 of 2 answers known from before'
    """
    known = [row for row in rows if row.remembered and row.kept < began]
    moments = sorted(
        {datetime.fromtimestamp(row.kept).astimezone().strftime("%Y-%m-%d %H:%M") for row in known if row.kept}
    )
    if not known:
        return ""
    since = f", of {moments[0]}" if moments else ""
    until = f" to {moments[-1]}" if len(moments) > 1 else ""
    return f"{len(known):,} of {len(rows):,} answers known from before{since}{until}"


def repaired_answers(answers: Sequence[Answer], k: int) -> dict[str, int]:
    """How many answers were repaired, by how."""
    return {
        f"came with more than {k} documents; the best {k} were kept": sum(each.cut > 0 for each in answers),
        "came with a document twice; its best place was kept": sum(each.repeated > 0 for each in answers),
    }


DEEPEST = 100
"""The depth that the usual measures need."""
SHARES = (0.5, 0.95, 0.99)


@dataclass(frozen=True, eq=False, repr=False)
class Run(Result):
    """A row for every question that was asked; printed, it shows scores, latencies and failures."""

    name: str
    k: int
    rows: Sequence[RunRow]
    seconds: float
    settings: Mapping[str, Any]
    """The settings of the retriever, as far as they are known."""
    plan: RunPlan
    """How it was asked."""
    batched: bool = False
    """Whether several questions went into one call."""
    judgments: Judgments | None = None
    corpus: Corpus | None = None
    said: Sequence[str] = field(default_factory=list)
    streamed: bool = False
    """Whether questions were handed over together, and answered one by one."""

    @cached_property
    def ranking(self) -> dict[str, dict[str, float]]:
        """`{question: {document: score}}`, best first; a question that failed has no documents."""
        return {row.question: dict(row.answer.found) if row.answer else {} for row in self.rows}

    # A run can be given wherever a ranking can: these three are what readers of rankings have.

    @property
    def source(self) -> str:
        """Its name in messages."""
        return self.name

    def blocks(self, judgments: Judgments, conventions: Conventions, census: Census) -> Iterator[Block]:
        """The rankings of judged questions."""
        return self._rankings.blocks(judgments, conventions, census)

    def table(self) -> RankingTable:
        """Every document of every question as columns."""
        return self._rankings.table()

    def part(self, rows: int) -> RankingTable:
        """The first documents of questions from all over the run."""
        return self._rankings.part(rows)

    @cached_property
    def _rankings(self) -> MappingRankings:
        return MappingRankings(self.ranking, self.name)

    @property
    def failures(self) -> dict[str, str]:
        """The reason of each question that failed; each counts as a miss."""
        return {row.question: row.failure for row in self.rows if row.failure}

    @property
    def latencies(self) -> dict[str, float]:
        """The seconds of each question that was answered."""
        return {row.question: row.seconds for row in self.rows if not row.failure}

    @cached_property
    def latency(self) -> list[Quantile]:
        """p50, p95 and p99 with their intervals; none where most questions failed.

        A question whose time ran out counts with the time that was waited for: without it a slow system looks fast.
        """
        most_failed = 2 * len(self.failures) > len(self.rows)
        return [] if most_failed else quantiles([r.seconds for r in self.rows if r.late or not r.failure], SHARES)

    @cached_property
    def scores(self) -> Scores:
        """The usual measures; `evaluate` takes others."""
        return self.evaluate()

    @old_arguments(corpus="corpus_size")
    def evaluate(
        self, measures: Measures | None = None, *, by: Grouping | None = None, **conventions: Unpack[ScoringArguments]
    ) -> Scores:
        """Score the ranking, as `rankproof.evaluate` does; by default with measures that need at most k documents."""
        asked = usual_measures(self.k) if measures is None else measures
        return evaluate(self.scored_by, self, asked, by=by, **conventions)

    @property
    def scored_by(self) -> Judgments:
        """The judgments; without any, an error that says how to give some."""
        if self.judgments is None:
            raise UsageError(
                f"{self.name}: there are no judgments to score it by. "
                "Next: give the benchmark judgments=, or add_query with what is relevant."
            )
        return self.judgments

    @cached_property
    def unknown(self) -> dict[str, list[str]]:
        """The documents that are not in the corpus, by question; nothing if there is no corpus."""
        if self.corpus is None:
            return {}
        known = self.corpus
        odd = {name: [doc for doc in found if doc not in known] for name, found in self.ranking.items()}
        return {name: docs for name, docs in odd.items() if docs}

    @property
    def notes(self) -> list[str]:
        """Notes on odd answers, in sentences."""
        repaired = repaired_answers([row.answer for row in self.rows if row.answer is not None], self.k)
        empty = [row.question for row in self.rows if row.answer is not None and not row.answer.found]
        odd = [
            *((number, f"{what}.") for what, number in repaired.items()),
            (len(empty), f"found nothing at all ({_first(empty)})."),
            (len(self.unknown), self._unknown() if self.unknown else ""),
        ]
        found = [f"{count(number, 'question')} {what}" for number, what in odd if number]
        if any(row.answer.rising for row in self.rows if row.answer is not None):
            found.append("Scores rise down every list, so they were taken for distances: the smallest is the best.")
        return [*found, *self._about_time(), *self.said]

    def _unknown(self) -> str:
        docs = list(dict.fromkeys(doc for each in self.unknown.values() for doc in each))
        rule = misspelt_between(docs, self.corpus or (), ("answers", "corpus"))
        why = "" if rule is None else f" {rule}"
        return (
            f"found documents that are not in the corpus ({_first(docs)}; the corpus has "
            f"{_first(list(self.corpus or ()))}); they stayed in, as not relevant.{why}"
        )

    def _about_time(self) -> Iterator[str]:
        if self.plan.concurrency > 1:
            yield f"Latencies are those with up to {self.plan.concurrency} calls at once."
        if self.batched:
            yield "Questions were asked in batches; each counts with its share of the time."
        if self.streamed:
            yield "Latencies are the times between answers; the first of each start includes the start itself."
        if late := [row.seconds for row in self.rows if row.late]:
            waited = f"{count(len(late), 'question')} had no answer in time"
            yield f"{waited}; in latencies each counts with the {duration(max(late))} that were waited for."
        failed, asked = len(self.failures), len(self.rows)
        if failed < asked and 2 * failed > asked:
            yield f"Only {asked - failed} of {asked} questions were answered: latencies are not those of the run."
        elif failed == asked and asked:
            yield "Every question failed. Next: call the retriever with one question by hand."

    def to_dict(self) -> dict[str, Any]:
        """The run as plain data."""
        return {
            "name": self.name,
            "k": self.k,
            "questions": len(self.rows),
            "seconds": self.seconds,
            "remembered": sum(row.remembered for row in self.rows),
            "settings": dict(self.settings),
            "means": self.scores.means if self.judgments is not None else {},
            "latency": [asdict(each) for each in self.latency],
            "failures": self.failures,
            "notes": self.notes,
        }

    def _document(self) -> Document:
        from rankproof.bench.words import run as words

        return words(self)

    def _in_one_line(self) -> str:
        wrong = f", {len(self.failures)} failed" if self.failures else ""
        return f"<Run {self.name!r}: {count(len(self.rows), 'question')}{wrong}>"


def usual_measures(k: int) -> list[str]:
    """The measures that rankings of `k` documents are scored by where none are named.

    >>> ", ".join(usual_measures(10)), usual_measures(100) == DEFAULT_MEASURES.split(", ")
    ('nDCG@10, RR@10, P@5, R@5, R@10, Success@5', True)
    >>> usual_measures(3)
    ['nDCG@3', 'RR@3', 'P@3', 'R@3', 'Success@3']
    """
    usual = DEFAULT_MEASURES.split(", ")
    if k >= DEEPEST:
        return usual
    cut = (each.partition("@") for each in usual)
    return list(dict.fromkeys(f"{name}@{min(int(depth), k)}" for name, _, depth in cut if depth))


def _first(names: Sequence[str]) -> str:
    return ", ".join(shorten(name, 40) for name in names[:1]) + (", ..." if len(names) > 1 else "")


@dataclass(eq=False)
class Standings(Comparison):
    """A comparison whose winner is better than every other system, not only than the baseline."""

    runs: Mapping[str, Run] = field(default_factory=dict)
    rivals: list[str] = field(default_factory=list)
    """The systems that do not differ significantly from the leader."""
    setbacks: list[ComparisonRow] = field(default_factory=list)
    """The measures and groups in which another system is better than the leader."""

    @property
    def leader(self) -> str:
        """The system with the best value on the first measure."""
        return self.order[0]

    @property
    def order(self) -> list[str]:
        """The systems, the best on the first measure first."""
        first = self.names[0]
        sign = self.scores[self.baseline].column(first).measure.spec.sign
        return sorted(self.scores, key=lambda name: -sign * self.scores[name][first])

    @property
    def winner(self) -> str | None:
        """The system that is better than every other on the first measure, beyond chance; else None."""
        return None if self.rivals else self.leader

    @property
    def standings(self) -> list[dict[str, Any]]:
        """A line for each system: its means, its latencies, how many questions failed; the best first."""
        return [
            {
                "system": name,
                "means": {measure: self.scores[name][measure] for measure in self.names},
                **dict.fromkeys(("p50", "p95", "p99")),
                **{f"p{each.share * 100:g}": each.value for each in self.runs[name].latency},
                "failed": len(self.runs[name].failures),
            }
            for name in self.order
        ]

    def to_dict(self) -> dict[str, Any]:
        """The comparison and the standings as plain data."""
        return {**super().to_dict(), "standings": self.standings, "rivals": self.rivals}

    @property
    def headline(self) -> str:
        """The leader, and whether its lead is more than chance."""
        from rankproof.comparing.conclusions import leader_sentence

        turned = [replace(each, difference=-each.difference) for each in self.setbacks]
        notes = {each.note for each in self._deciding}
        few = notes.pop() if len(notes) == 1 else ""  # why nothing is decided at all, if it is so
        return leader_sentence(self.leader, self.names[0], self.rivals, turned, few)

    def _document(self, worst: int = 0) -> Document:
        from rankproof.bench.words import standings_table
        from rankproof.comparing.words import comparison

        above = [Part(standings_table(self.standings, self.names))]
        return comparison(self, above, self.cases(worst) if worst else ())


def standings(comparison: Comparison, runs: Mapping[str, Run], **settings: Any) -> Standings:
    """The comparison with its runs, and a winner that was compared with every other."""
    own = {name: getattr(comparison, name) for name in Comparison.__dataclass_fields__}
    found = Standings(**own, runs=runs)
    against = compare_scores(found.scores, [found.names[0]], baseline=found.leader, **settings)
    found.rivals = [row.system for row in against if row.verdict != "worse" and not row.slice]
    everywhere = compare_scores(found.scores, found.names, baseline=found.leader, **settings)
    found.setbacks = [row for row in everywhere if row.verdict == "better"]
    return found
