"""rankproof: every number comes with its definition, its evidence and its error bar.

    from rankproof import evaluate, nDCG, P, R, RR

    relevant = {"refund?": {"sop-12": 3, "terms-4": 1}}
    ranking = {"refund?": ["terms-4", "sop-12", "faq-9"]}
    print(evaluate(relevant, ranking, [P @ 5, RR, nDCG @ 10]))

Names are loaded when first used: `import rankproof` alone loads neither NumPy nor any optional package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankproof.api.agreement import agreement
    from rankproof.api.audit import audit
    from rankproof.api.benchmark import Benchmark
    from rankproof.api.calibrate import calibrate, calibrate_judgments
    from rankproof.api.calibration import Calibration, JudgmentCalibration
    from rankproof.api.compare import compare, compare_scores
    from rankproof.api.comparison import Comparison
    from rankproof.api.diagnose import Diagnosis, diagnose
    from rankproof.api.drift import drift
    from rankproof.api.evaluate import evaluate, prepare
    from rankproof.api.explain import Explanation, explain
    from rankproof.api.fuse import fuse
    from rankproof.api.gate import Gate, gate, gate_scores
    from rankproof.api.grid import Grid, grid
    from rankproof.api.history import History
    from rankproof.api.judge import Judge, judge
    from rankproof.api.judged import JudgedScores
    from rankproof.api.kinship import Kinship, kinship
    from rankproof.api.leaderboard import Leaderboard, RankCorrelation, leaderboard, rank_correlation
    from rankproof.api.mirage_rates import mirage
    from rankproof.api.report import Report, report
    from rankproof.api.scores import Scores
    from rankproof.api.spans import evaluate_spans
    from rankproof.api.stress import stress
    from rankproof.api.testset import (
        check_questions,
        draw_questions,
        pool,
        questions_needed,
        split_questions,
    )
    from rankproof.api.trial import Trial, trial
    from rankproof.api.tune import Tuned, tune
    from rankproof.api.verdicts import Verdicts
    from rankproof.core.audit import Audit
    from rankproof.core.measure import Measure, measure
    from rankproof.errors import RankproofError
    from rankproof.judging.models.chat import chat

__version__ = "0.1.0"

_PUBLIC = {
    "Benchmark": "rankproof.api.benchmark",
    "calibrate": "rankproof.api.calibrate",
    "calibrate_judgments": "rankproof.api.calibrate",
    "JudgmentCalibration": "rankproof.api.calibration",
    "Calibration": "rankproof.api.calibration",
    "drift": "rankproof.api.drift",
    "stress": "rankproof.api.stress",
    "evaluate": "rankproof.api.evaluate",
    "prepare": "rankproof.api.evaluate",
    "evaluate_spans": "rankproof.api.spans",
    "compare": "rankproof.api.compare",
    "compare_scores": "rankproof.api.compare",
    "Comparison": "rankproof.api.comparison",
    "agreement": "rankproof.api.agreement",
    "diagnose": "rankproof.api.diagnose",
    "Diagnosis": "rankproof.api.diagnose",
    "gate": "rankproof.api.gate",
    "gate_scores": "rankproof.api.gate",
    "Gate": "rankproof.api.gate",
    "grid": "rankproof.api.grid",
    "Grid": "rankproof.api.grid",
    "History": "rankproof.api.history",
    "judge": "rankproof.api.judge",
    "mirage": "rankproof.api.mirage_rates",
    "Judge": "rankproof.api.judge",
    "chat": "rankproof.judging.models.chat",
    "JudgedScores": "rankproof.api.judged",
    "Scores": "rankproof.api.scores",
    "kinship": "rankproof.api.kinship",
    "Kinship": "rankproof.api.kinship",
    "leaderboard": "rankproof.api.leaderboard",
    "rank_correlation": "rankproof.api.leaderboard",
    "Leaderboard": "rankproof.api.leaderboard",
    "RankCorrelation": "rankproof.api.leaderboard",
    "report": "rankproof.api.report",
    "Report": "rankproof.api.report",
    "audit": "rankproof.api.audit",
    "Audit": "rankproof.core.audit",
    "explain": "rankproof.api.explain",
    "Explanation": "rankproof.api.explain",
    "fuse": "rankproof.api.fuse",
    "trial": "rankproof.api.trial",
    "Trial": "rankproof.api.trial",
    "tune": "rankproof.api.tune",
    "Tuned": "rankproof.api.tune",
    "pool": "rankproof.api.testset",
    "draw_questions": "rankproof.api.testset",
    "check_questions": "rankproof.api.testset",
    "split_questions": "rankproof.api.testset",
    "questions_needed": "rankproof.api.testset",
    "Verdicts": "rankproof.api.verdicts",
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
