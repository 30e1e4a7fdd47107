"""`Standings`: what `Benchmark.compare` gives: a comparison with latencies beside quality, the best first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rankproof.api.compare import compare_scores
from rankproof.api.comparison import Comparison, ComparisonRow
from rankproof.api.runs import Run

TABLES = ("full", "markdown")
"""The formats whose text is put behind the standings; on one screen they are a part of it."""


@dataclass(eq=False)
class Standings(Comparison):
    """A comparison whose winner is better than every other system, not than the baseline alone."""

    runs: Mapping[str, Run] = field(default_factory=dict)
    rivals: list[str] = field(default_factory=list)
    """The systems that cannot be told from the one that leads."""
    setbacks: list[ComparisonRow] = field(default_factory=list)
    """Where another system is better than the one that leads, on any measure or in any group."""

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
        return [self._line(name, self.runs[name]) for name in self.order]

    def _line(self, name: str, run: Run) -> dict[str, Any]:
        means = {measure: self.scores[name][measure] for measure in self.names}
        times = {f"p{each.share * 100:g}": each.value for each in run.latency}
        return {
            "system": name,
            "means": means,
            **dict.fromkeys(("p50", "p95", "p99")),
            **times,
            "failed": len(run.failures),
        }

    def to_dict(self) -> dict[str, Any]:
        """The comparison and the standings as plain data."""
        return {**super().to_dict(), "standings": self.standings, "rivals": self.rivals}

    def format(self, name: str = "table", worst: int = 0) -> str:
        """As of any comparison; tables and markdown begin with the standings."""
        from rankproof.reporting.standings import standings_markdown, standings_text

        rest = super().format(name, worst)
        if name not in TABLES:
            return rest
        if name == "markdown":
            return f"{standings_markdown(self.standings, self.names)}\n\n{rest}"
        return "\n".join([*standings_text(self.standings, self.names), "", rest])

    def _view(self) -> dict[str, Any]:
        from rankproof.reporting.conclusions import leading
        from rankproof.reporting.standings import standings_text

        turned = [{**each.to_dict(), "difference": -each.difference} for each in self.setbacks]
        return {
            **super()._view(),
            "above": standings_text(self.standings, self.names),
            "winning": leading(self.leader, self.names[0], self.rivals, turned, self._few()),
        }

    def _few(self) -> str:
        """Why nothing is decided at all, where it is so."""
        notes = {each.note for each in self.rows if self._decides(each)}
        return notes.pop() if len(notes) == 1 else ""


def standings(comparison: Comparison, runs: Mapping[str, Run], **settings: Any) -> Standings:
    """The comparison with the runs it is of, and a winner that was held against every other."""
    own = {name: getattr(comparison, name) for name in Comparison.__dataclass_fields__}
    found = Standings(**own, runs=runs)
    against = compare_scores(found.scores, [found.names[0]], baseline=found.leader, **settings)
    found.rivals = [row.system for row in against if row.verdict != "worse" and not row.slice]
    everywhere = compare_scores(found.scores, found.names, baseline=found.leader, **settings)
    found.setbacks = [row for row in everywhere if row.verdict == "better"]
    return found
