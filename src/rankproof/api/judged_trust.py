"""What people's labels say of judged scores: corrected means, and what stands beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rankproof.advice.bands import word_of
from rankproof.core.audit.finding import Finding, count_of, few
from rankproof.judging.lexical.relations import NAME
from rankproof.judging.run import Judged
from rankproof.judging.trust.checked import Uncorrected
from rankproof.judging.trust.correcting import Corrections
from rankproof.judging.trust.estimates import Estimate, Estimates
from rankproof.judging.trust.labels import Frame, frame_of, labels_in, people
from rankproof.judging.verdicts import Ask, Judge, Verdict
from rankproof.stats.corrected import Corrected
from rankproof.store.ledger import HUMAN, Ledger

Corrects = dict[str, Corrected | Uncorrected]
"""For each metric its corrected mean, or why there is none; empty where nobody labelled anything."""
BANDED = ("RR", "Success@5")
"""Metrics that are called poor to excellent: those whose ceiling is known to be 1 without more judgments."""


def corrections_for(
    metrics: Any, judges: Sequence[Judge], ledger: Ledger | None, complete: float
) -> Corrections:
    """What takes in samples and gives corrected means, where the ledger holds labels."""
    machines = [each.identity for each in judges if each.identity.get("kind") != HUMAN]
    labels = labels_in(ledger, machines) if ledger is not None and machines else {}
    frame = frame_of(ledger, labels.values()) if ledger is not None and labels else Frame()
    return Corrections.of(metrics, labels, complete, frame)


def estimates_for(
    metrics: Any, judges: Sequence[Judge], ledger: Ledger | None, compat: str | None
) -> Estimates:
    """What takes in samples and gives estimates, where the embedded judge reads them and the formulas are ours."""
    words = [each.identity for each in judges if each.identity.get("kind") == NAME]
    if not words or compat is not None:
        return Estimates([])
    known = people(ledger) if ledger is not None else ()
    return Estimates.of(metrics, {Ask(*each.key): int(each.value or 0) for each in known})


def estimated(found: Mapping[str, Estimate]) -> Iterator[str]:
    """What the estimates are, under a table."""
    if found:
        labels = max(each.labels for each in found.values())
        narrowed = (
            f"; {labels:,} labels narrow it" if labels else "; labels narrow it ('rankproof calibrate')"
        )
        yield (
            "An estimate counts every pair by its probability of a yes. Its interval holds what samples vary and what "
            f"words may be wrong by on texts of another kind{narrowed}."
        )


def corrected_in(corrections: Corrects, metric: str) -> Corrected | None:
    """The corrected mean of a metric; None where there is none."""
    found = corrections.get(metric)
    return found if isinstance(found, Corrected) else None


def sentences(corrections: Corrects) -> Iterator[str]:
    """How numbers were corrected, and which were not."""
    done = {name: each for name, each in corrections.items() if isinstance(each, Corrected)}
    if done:
        listed = "; ".join(f"{name}: {each.method}" for name, each in done.items())
        yield f"Corrected for the judge's error ({listed})."
    for name in (name for name in done if name in BANDED):
        yield f"By its corrected value {name} is {word_of(name, done[name].value)}."
    reasons: dict[str, list[str]] = {}
    for name, each in corrections.items():
        if isinstance(each, Uncorrected):
            reasons.setdefault(each.reason, []).append(name)
    for reason, names in reasons.items():
        yield f"No correction of {', '.join(names)}: {reason}."


def plain(corrections: Corrects) -> dict[str, Any]:
    """Corrections as plain data."""
    return {name: asdict(each) for name, each in corrections.items()}


def read(data: Mapping[str, Mapping[str, Any]]) -> Corrects:
    """Corrections as `plain` wrote them."""
    return {name: (Uncorrected if "reason" in each else Corrected)(**each) for name, each in data.items()}


class Versions:
    """Which versions of a model gave the verdicts: a name may stand for another model tomorrow."""

    def __init__(self) -> None:
        self.seen: dict[str, Counter[str]] = {}
        self.fresh: dict[str, str] = {}
        """For each judge the version that gave verdicts just now; those of a ledger say when they were given."""

    def add(self, judged: Judged) -> None:
        """Note who gave the verdicts on one sample."""
        for ask in {ask for asks in judged.used for ask in asks}:
            said = judged.case.said.get(ask)
            if isinstance(said, Verdict) and (version := str(said.origin.get("model") or "")):
                self.seen.setdefault(said.judge, Counter())[version] += 1
                if "at" not in said.origin:
                    self.fresh[said.judge] = version

    def several(self) -> dict[str, dict[str, int]]:
        """The judges behind whose names more than one model answered, with how many verdicts each gave."""
        return {name: dict(each) for name, each in self.seen.items() if len(each) > 1}


def drifted(versions: Mapping[str, Mapping[str, int]]) -> Iterable[Finding]:
    """A warning for each judge behind whose name the model changed."""
    for name, counts in versions.items():
        yield Finding(
            *("warning", "judge-changed", len(counts)),
            f"{name} is {count_of(len(counts), 'model')} by what the service says of itself, so its verdicts "
            "may not be alike.",
            examples=few([f"{version} ({count:,} verdicts)" for version, count in counts.items()]),
            advice="ask the fixed pairs again: 'rankproof calibrate LEDGER --drift' says how much it changed.",
        )
