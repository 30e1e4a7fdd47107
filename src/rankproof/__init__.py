"""rankproof: every number comes with its definition, its evidence and its error bar.

    from rankproof import evaluate, nDCG, P, R, RR

    relevant = {"refund?": {"sop-12": 3, "terms-4": 1}}
    ranking = {"refund?": ["terms-4", "sop-12", "faq-9"]}
    print(evaluate(relevant, ranking, [P @ 5, RR, nDCG @ 10]))

Names are loaded when first used: `import rankproof` alone loads neither NumPy nor any optional package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankproof._moved import find_old_names

if TYPE_CHECKING:
    from rankproof.bench.benchmark import Benchmark
    from rankproof.bench.fusion.fuse import fuse
    from rankproof.bench.fusion.tune import Tuned, tune
    from rankproof.bench.grid.grid import Grid, grid
    from rankproof.bench.testset.questions import (
        check_questions,
        draw_questions,
        pool,
        questions_needed,
        split_questions,
    )
    from rankproof.comparing.compare import compare, compare_scores
    from rankproof.comparing.comparison import Comparison
    from rankproof.comparing.gate import Gate, gate, gate_scores
    from rankproof.comparing.history import History
    from rankproof.comparing.kinship import Kinship, kinship
    from rankproof.comparing.leaderboard import Leaderboard, RankCorrelation, leaderboard, rank_correlation
    from rankproof.core.audit import Audit
    from rankproof.core.measure import Measure, measure
    from rankproof.diagnosing.diagnose import Diagnosis, diagnose
    from rankproof.errors import RankproofError
    from rankproof.judging.calibrate import calibrate, calibrate_judgments, drift
    from rankproof.judging.judge import Judge, judge
    from rankproof.judging.judged import JudgedScores
    from rankproof.judging.labelling import Calibration, JudgmentCalibration
    from rankproof.judging.ledger import Verdicts
    from rankproof.judging.mirage_rates import mirage
    from rankproof.judging.models.chat import chat
    from rankproof.judging.trial import Trial, trial
    from rankproof.judging.trust.stress import stress
    from rankproof.reports.report import Report, report
    from rankproof.scoring.evaluate import agreement, audit, evaluate, prepare
    from rankproof.scoring.explain import Explanation, explain
    from rankproof.scoring.scores import Scores
    from rankproof.scoring.spans import evaluate_spans

__version__ = "0.1.0"

_PUBLIC = {
    "Benchmark": "rankproof.bench.benchmark",
    "calibrate": "rankproof.judging.calibrate",
    "calibrate_judgments": "rankproof.judging.calibrate",
    "JudgmentCalibration": "rankproof.judging.labelling",
    "Calibration": "rankproof.judging.labelling",
    "drift": "rankproof.judging.calibrate",
    "stress": "rankproof.judging.trust.stress",
    "evaluate": "rankproof.scoring.evaluate",
    "prepare": "rankproof.scoring.evaluate",
    "evaluate_spans": "rankproof.scoring.spans",
    "compare": "rankproof.comparing.compare",
    "compare_scores": "rankproof.comparing.compare",
    "Comparison": "rankproof.comparing.comparison",
    "agreement": "rankproof.scoring.evaluate",
    "diagnose": "rankproof.diagnosing.diagnose",
    "Diagnosis": "rankproof.diagnosing.diagnose",
    "gate": "rankproof.comparing.gate",
    "gate_scores": "rankproof.comparing.gate",
    "Gate": "rankproof.comparing.gate",
    "grid": "rankproof.bench.grid.grid",
    "Grid": "rankproof.bench.grid.grid",
    "History": "rankproof.comparing.history",
    "judge": "rankproof.judging.judge",
    "mirage": "rankproof.judging.mirage_rates",
    "Judge": "rankproof.judging.judge",
    "chat": "rankproof.judging.models.chat",
    "JudgedScores": "rankproof.judging.judged",
    "Scores": "rankproof.scoring.scores",
    "kinship": "rankproof.comparing.kinship",
    "Kinship": "rankproof.comparing.kinship",
    "leaderboard": "rankproof.comparing.leaderboard",
    "rank_correlation": "rankproof.comparing.leaderboard",
    "Leaderboard": "rankproof.comparing.leaderboard",
    "RankCorrelation": "rankproof.comparing.leaderboard",
    "report": "rankproof.reports.report",
    "Report": "rankproof.reports.report",
    "audit": "rankproof.scoring.evaluate",
    "Audit": "rankproof.core.audit",
    "explain": "rankproof.scoring.explain",
    "Explanation": "rankproof.scoring.explain",
    "fuse": "rankproof.bench.fusion.fuse",
    "trial": "rankproof.judging.trial",
    "Trial": "rankproof.judging.trial",
    "tune": "rankproof.bench.fusion.tune",
    "Tuned": "rankproof.bench.fusion.tune",
    "pool": "rankproof.bench.testset.questions",
    "draw_questions": "rankproof.bench.testset.questions",
    "check_questions": "rankproof.bench.testset.questions",
    "split_questions": "rankproof.bench.testset.questions",
    "questions_needed": "rankproof.bench.testset.questions",
    "Verdicts": "rankproof.judging.ledger",
    "Measure": "rankproof.core.measure",
    "measure": "rankproof.core.measure",
    "RankproofError": "rankproof.errors",
}

_MODULES = {"compat", "errors", "functional", "sample"}

__all__ = [
    "Audit",
    "Benchmark",
    "Calibration",
    "Comparison",
    "Diagnosis",
    "Explanation",
    "Gate",
    "Grid",
    "History",
    "Judge",
    "JudgedScores",
    "JudgmentCalibration",
    "Kinship",
    "Leaderboard",
    "Measure",
    "RankCorrelation",
    "RankproofError",
    "Report",
    "Scores",
    "Trial",
    "Tuned",
    "Verdicts",
    "agreement",
    "audit",
    "calibrate",
    "calibrate_judgments",
    "chat",
    "check_questions",
    "compare",
    "compare_scores",
    "diagnose",
    "draw_questions",
    "drift",
    "evaluate",
    "evaluate_spans",
    "explain",
    "fuse",
    "gate",
    "gate_scores",
    "grid",
    "judge",
    "kinship",
    "leaderboard",
    "measure",
    "mirage",
    "pool",
    "prepare",
    "questions_needed",
    "rank_correlation",
    "report",
    "split_questions",
    "stress",
    "trial",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'rankproof' has no attribute {name!r}")
    from importlib import import_module

    if name in _MODULES:
        found = import_module(f"rankproof.{name}")
    elif name in _PUBLIC:
        found = getattr(import_module(_PUBLIC[name]), name)
    else:
        found = _measure_named(name)
    globals()[name] = found
    return found


def _measure_named(name: str) -> Any:
    """A measure by its canonical or other name: `from rankproof import nDCG, MAP`."""
    from rankproof.core.names import find

    found = find(name)
    if found is None:
        raise AttributeError(f"module 'rankproof' has no attribute {name!r}")
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


find_old_names()
