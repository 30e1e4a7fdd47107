"""rankproof: every number comes with its definition, its evidence and its error bar.

    from rankproof import evaluate, nDCG, P, R, RR

    relevant = {"refund?": {"sop-12": 3, "terms-4": 1}}
    ranking = {"refund?": ["terms-4", "sop-12", "faq-9"]}
    print(evaluate(relevant, ranking, [P @ 5, RR, nDCG @ 10]))

Names are loaded when first used: `import rankproof` alone loads neither NumPy nor any optional package.
"""

from __future__ import annotations

from rankproof._moved import find_old_names

TYPE_CHECKING = False  # as in typing, which takes half the time of `import rankproof`
if TYPE_CHECKING:
    from typing import Any

    from rankproof.bench.benchmark import Benchmark
    from rankproof.bench.fusion import fuse
    from rankproof.bench.fusion.tune import Tuned, tune
    from rankproof.bench.grid import Grid, grid
    from rankproof.bench.grid.outcome import GridRow
    from rankproof.bench.runs import Run, Standings
    from rankproof.bench.testset.checks import check_questions
    from rankproof.bench.testset.pool import Pool, pool
    from rankproof.bench.testset.questions import (
        Question,
        QuestionPlan,
        draw_questions,
        questions_needed,
        split_questions,
    )
    from rankproof.comparing.compare import compare, compare_scores
    from rankproof.comparing.comparison import Comparison, ComparisonRow
    from rankproof.comparing.correlation import Kinship, KinshipRow, RankCorrelation, kinship, rank_correlation
    from rankproof.comparing.gate import Gate, gate, gate_scores
    from rankproof.comparing.history import History
    from rankproof.comparing.leaderboard import Leaderboard, leaderboard
    from rankproof.core.audit import Audit, Finding
    from rankproof.core.explanation import ExplainedCase
    from rankproof.core.judgments import Judgments
    from rankproof.core.measure import Measure
    from rankproof.core.names import measure
    from rankproof.core.scoring import ScoreColumn, ScoreRow, Summary
    from rankproof.diagnosing import Diagnosis, diagnose
    from rankproof.diagnosing.causes import Cause
    from rankproof.diagnosing.fixes import Fix
    from rankproof.errors import RankproofError
    from rankproof.judging.judge import Judge, JudgePlan, judge
    from rankproof.judging.judged_scores import JudgedScores
    from rankproof.judging.judges import Verdicts
    from rankproof.judging.judgment_calibration import JudgmentCalibration, LabelPlan, calibrate_judgments
    from rankproof.judging.labelling import Calibration, calibrate
    from rankproof.judging.metrics.counting import JudgedColumn
    from rankproof.judging.mirage_rates import Mirage, mirage
    from rankproof.judging.models.chat import chat
    from rankproof.judging.models.judge import ModelJudge
    from rankproof.judging.trial import Trial, Way, trial
    from rankproof.judging.trust import Estimate
    from rankproof.judging.trust.drift import JudgeDrift, judge_drift
    from rankproof.judging.trust.stress import Stress, stress
    from rankproof.judging.trust.two_judgments import Estimated
    from rankproof.judging.verdicts import Account, Relation
    from rankproof.monitoring.alerts import Alert
    from rankproof.monitoring.change_point import MetricChange
    from rankproof.monitoring.drift import Drift, drift
    from rankproof.monitoring.monitor import Monitor, monitor
    from rankproof.monitoring.online_metrics import OnlineEstimate
    from rankproof.monitoring.simulate import SimulatedLog, simulate_log
    from rankproof.monitoring.window_sums import HeavyUser
    from rankproof.reports import Report, report
    from rankproof.scoring.evaluate import agreement, audit, evaluate, prepare
    from rankproof.scoring.explain import Explanation, explain
    from rankproof.scoring.protocol import ScoresLike
    from rankproof.scoring.scores import Scores
    from rankproof.scoring.spans import evaluate_spans
    from rankproof.stats.agreement import Agreement
    from rankproof.stats.intervals import Interval
    from rankproof.stats.judge_error import Corrected
    from rankproof.store.experiments import HistoryEntry
    from rankproof.store.ledger import LedgerEntry

__version__ = "0.1.0"

_PLACES = {
    "bench.benchmark": "Benchmark",
    "bench.fusion": "fuse",
    "bench.fusion.tune": "Tuned tune",
    "bench.grid": "Grid grid",
    "bench.grid.outcome": "GridRow",
    "bench.runs": "Run Standings",
    "bench.testset.checks": "check_questions",
    "bench.testset.pool": "Pool pool",
    "bench.testset.questions": "Question QuestionPlan draw_questions questions_needed split_questions",
    "comparing.compare": "compare compare_scores",
    "comparing.comparison": "Comparison ComparisonRow",
    "comparing.gate": "Gate gate gate_scores",
    "comparing.history": "History",
    "comparing.correlation": "Kinship KinshipRow RankCorrelation kinship rank_correlation",
    "comparing.leaderboard": "Leaderboard leaderboard",
    "core.audit": "Audit Finding",
    "core.explanation": "ExplainedCase",
    "core.judgments": "Judgments",
    "core.measure": "Measure",
    "core.names": "measure",
    "core.scoring": "ScoreColumn ScoreRow Summary",
    "diagnosing": "Diagnosis diagnose",
    "diagnosing.fixes": "Fix",
    "diagnosing.causes": "Cause",
    "errors": "RankproofError",
    "judging.judge": "Judge JudgePlan judge",
    "judging.judged_scores": "JudgedScores",
    "judging.judges": "Verdicts",
    "judging.judgment_calibration": "JudgmentCalibration LabelPlan calibrate_judgments",
    "judging.labelling": "Calibration calibrate",
    "judging.mirage_rates": "Mirage mirage",
    "judging.models.chat": "chat",
    "judging.models.judge": "ModelJudge",
    "judging.metrics.counting": "JudgedColumn",
    "judging.trial": "Trial Way trial",
    "judging.trust.drift": "JudgeDrift judge_drift",
    "judging.trust": "Estimate",
    "judging.trust.stress": "Stress stress",
    "judging.trust.two_judgments": "Estimated",
    "judging.verdicts": "Account Relation",
    "monitoring.alerts": "Alert",
    "monitoring.window_sums": "HeavyUser",
    "monitoring.change_point": "MetricChange",
    "monitoring.drift": "Drift drift",
    "monitoring.monitor": "Monitor monitor",
    "monitoring.online_metrics": "OnlineEstimate",
    "monitoring.simulate": "SimulatedLog simulate_log",
    "reports": "Report report",
    "scoring.evaluate": "agreement audit evaluate prepare",
    "scoring.explain": "Explanation explain",
    "scoring.protocol": "ScoresLike",
    "scoring.scores": "Scores",
    "scoring.spans": "evaluate_spans",
    "stats.agreement": "Agreement",
    "stats.judge_error": "Corrected",
    "stats.intervals": "Interval",
    "store.experiments": "HistoryEntry",
    "store.ledger": "LedgerEntry",
}
_PUBLIC = {name: module for module, names in _PLACES.items() for name in names.split()}

_MODULES = {"compat", "errors", "functional", "sample"}

# fmt: off
__all__ = [
    "Account", "Agreement", "Alert", "Audit", "Benchmark", "Calibration", "Cause", "Comparison",
    "ComparisonRow", "Corrected", "Diagnosis", "Drift", "Estimate", "Estimated", "ExplainedCase",
    "Explanation", "Finding", "Fix", "Gate", "Grid", "GridRow", "HeavyUser", "History", "HistoryEntry",
    "Interval", "Judge", "JudgeDrift", "JudgePlan", "JudgedColumn", "JudgedScores", "JudgmentCalibration",
    "Judgments", "Kinship", "KinshipRow", "LabelPlan", "Leaderboard", "LedgerEntry", "Measure",
    "MetricChange", "Mirage", "ModelJudge", "Monitor", "OnlineEstimate", "Pool", "Question", "QuestionPlan",
    "RankCorrelation", "RankproofError", "Relation", "Report", "Run", "ScoreColumn", "ScoreRow", "Scores",
    "ScoresLike", "SimulatedLog", "Standings", "Stress", "Summary", "Trial", "Tuned", "Verdicts", "Way",
    "agreement", "audit", "calibrate", "calibrate_judgments", "chat", "check_questions", "compare",
    "compare_scores", "diagnose", "draw_questions", "drift", "evaluate", "evaluate_spans", "explain", "fuse",
    "gate", "gate_scores", "grid", "judge", "judge_drift", "kinship", "leaderboard", "measure", "mirage",
    "monitor", "pool", "prepare", "questions_needed", "rank_correlation", "report", "simulate_log",
    "split_questions", "stress", "trial", "tune",
]
# fmt: on


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'rankproof' has no attribute {name!r}")
    from importlib import import_module

    if name in _MODULES:
        found = import_module(f"rankproof.{name}")
    elif name in _PUBLIC:
        found = getattr(import_module(f"rankproof.{_PUBLIC[name]}"), name)
        if callable(found):
            found = import_module("rankproof.errors").explain_calls(found)
        if name.islower():
            found.__module__ = __name__  # where pickle finds it
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
