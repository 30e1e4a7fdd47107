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
    from rankproof.bench.grid import Grid, grid
    from rankproof.bench.grid.outcome import GridRow
    from rankproof.bench.runs import Run, Standings
    from rankproof.bench.testset.drawn import Question
    from rankproof.bench.testset.pool import Pool
    from rankproof.bench.testset.questions import (
        QuestionPlan,
        check_questions,
        draw_questions,
        pool,
        questions_needed,
        split_questions,
    )
    from rankproof.comparing.compare import compare, compare_scores
    from rankproof.comparing.comparison import Comparison, ComparisonRow
    from rankproof.comparing.gate import Gate, gate, gate_scores
    from rankproof.comparing.history import History
    from rankproof.comparing.kinship import Kinship, KinshipRow, kinship
    from rankproof.comparing.leaderboard import Leaderboard, RankCorrelation, leaderboard, rank_correlation
    from rankproof.core.audit import Audit
    from rankproof.core.audit.finding import Finding
    from rankproof.core.explained import ExplainedCase
    from rankproof.core.judgments import Judgments
    from rankproof.core.measure import Measure, measure
    from rankproof.core.scoring import ScoreColumn, ScoreRow, Summary
    from rankproof.diagnosing.diagnose import Diagnosis, diagnose
    from rankproof.diagnosing.fixes import Fix
    from rankproof.diagnosing.patterns import Cause
    from rankproof.errors import RankproofError
    from rankproof.judging.calibrate import calibrate, calibrate_judgments, judge_drift
    from rankproof.judging.evidence import Verdicts
    from rankproof.judging.judge import Judge, JudgePlan, judge
    from rankproof.judging.judged import JudgedScores
    from rankproof.judging.labelling import Calibration, JudgmentCalibration, LabelPlan
    from rankproof.judging.mirage_rates import Mirage, mirage
    from rankproof.judging.models.chat import chat
    from rankproof.judging.models.judge import ModelJudge
    from rankproof.judging.tally import JudgedColumn
    from rankproof.judging.trial import Trial, Way, trial
    from rankproof.judging.trust.drift import JudgeDrift
    from rankproof.judging.trust.estimates import Estimate
    from rankproof.judging.trust.stress import Stress, stress
    from rankproof.judging.trust.two_judgments import Estimated
    from rankproof.judging.verdicts import Account, Relation
    from rankproof.monitoring.alerts import Alert
    from rankproof.monitoring.change import MetricChange
    from rankproof.monitoring.drift import Drift, drift
    from rankproof.monitoring.monitor import HeavyUser, Monitor, monitor
    from rankproof.monitoring.simulate import SimulatedLog, simulate_log
    from rankproof.monitoring.sums import OnlineEstimate
    from rankproof.reports.report import Report, report
    from rankproof.scoring.evaluate import agreement, audit, evaluate, prepare
    from rankproof.scoring.explain import Explanation, explain
    from rankproof.scoring.protocol import ScoresLike
    from rankproof.scoring.scores import Scores
    from rankproof.scoring.spans import evaluate_spans
    from rankproof.stats.agreement import Agreement
    from rankproof.stats.corrected import Corrected
    from rankproof.stats.intervals import Interval
    from rankproof.store.experiments import HistoryEntry
    from rankproof.store.ledger import LedgerEntry

__version__ = "0.1.0"

_PUBLIC = {
    "Account": "rankproof.judging.verdicts",
    "Agreement": "rankproof.stats.agreement",
    "Cause": "rankproof.diagnosing.patterns",
    "ComparisonRow": "rankproof.comparing.comparison",
    "Corrected": "rankproof.stats.corrected",
    "Drift": "rankproof.monitoring.drift",
    "Estimate": "rankproof.judging.trust.estimates",
    "Estimated": "rankproof.judging.trust.two_judgments",
    "Finding": "rankproof.core.audit.finding",
    "Fix": "rankproof.diagnosing.fixes",
    "GridRow": "rankproof.bench.grid.outcome",
    "HistoryEntry": "rankproof.store.experiments",
    "JudgeDrift": "rankproof.judging.trust.drift",
    "JudgePlan": "rankproof.judging.judge",
    "JudgedColumn": "rankproof.judging.tally",
    "Judgments": "rankproof.core.judgments",
    "KinshipRow": "rankproof.comparing.kinship",
    "LabelPlan": "rankproof.judging.labelling",
    "LedgerEntry": "rankproof.store.ledger",
    "Mirage": "rankproof.judging.mirage_rates",
    "ModelJudge": "rankproof.judging.models.judge",
    "Pool": "rankproof.bench.testset.pool",
    "Question": "rankproof.bench.testset.drawn",
    "QuestionPlan": "rankproof.bench.testset.questions",
    "ScoreColumn": "rankproof.core.scoring",
    "ScoreRow": "rankproof.core.scoring",
    "Standings": "rankproof.bench.runs",
    "Stress": "rankproof.judging.trust.stress",
    "Summary": "rankproof.core.scoring",
    "Way": "rankproof.judging.trial",
    "ExplainedCase": "rankproof.core.explained",
    "Interval": "rankproof.stats.intervals",
    "Run": "rankproof.bench.runs",
    "Benchmark": "rankproof.bench.benchmark",
    "calibrate": "rankproof.judging.calibrate",
    "calibrate_judgments": "rankproof.judging.calibrate",
    "JudgmentCalibration": "rankproof.judging.labelling",
    "Calibration": "rankproof.judging.labelling",
    "drift": "rankproof.monitoring.drift",
    "judge_drift": "rankproof.judging.calibrate",
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
    "grid": "rankproof.bench.grid",
    "Grid": "rankproof.bench.grid",
    "History": "rankproof.comparing.history",
    "judge": "rankproof.judging.judge",
    "mirage": "rankproof.judging.mirage_rates",
    "Judge": "rankproof.judging.judge",
    "Relation": "rankproof.judging.verdicts",
    "chat": "rankproof.judging.models.chat",
    "JudgedScores": "rankproof.judging.judged",
    "Scores": "rankproof.scoring.scores",
    "ScoresLike": "rankproof.scoring.protocol",
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
    "Verdicts": "rankproof.judging.evidence",
    "Measure": "rankproof.core.measure",
    "measure": "rankproof.core.measure",
    "RankproofError": "rankproof.errors",
    "Alert": "rankproof.monitoring.alerts",
    "HeavyUser": "rankproof.monitoring.monitor",
    "MetricChange": "rankproof.monitoring.change",
    "Monitor": "rankproof.monitoring.monitor",
    "monitor": "rankproof.monitoring.monitor",
    "OnlineEstimate": "rankproof.monitoring.sums",
    "SimulatedLog": "rankproof.monitoring.simulate",
    "simulate_log": "rankproof.monitoring.simulate",
}

_MODULES = {"compat", "errors", "functional", "sample"}

__all__ = [
    "Account",
    "Agreement",
    "Alert",
    "Audit",
    "Benchmark",
    "Calibration",
    "Cause",
    "Comparison",
    "ComparisonRow",
    "Corrected",
    "Diagnosis",
    "Drift",
    "Estimate",
    "Estimated",
    "ExplainedCase",
    "Explanation",
    "Finding",
    "Fix",
    "Gate",
    "Grid",
    "GridRow",
    "HeavyUser",
    "History",
    "HistoryEntry",
    "Interval",
    "Judge",
    "JudgeDrift",
    "JudgePlan",
    "JudgedColumn",
    "JudgedScores",
    "JudgmentCalibration",
    "Judgments",
    "Kinship",
    "KinshipRow",
    "LabelPlan",
    "Leaderboard",
    "LedgerEntry",
    "Measure",
    "MetricChange",
    "Mirage",
    "ModelJudge",
    "Monitor",
    "OnlineEstimate",
    "Pool",
    "Question",
    "QuestionPlan",
    "RankCorrelation",
    "RankproofError",
    "Relation",
    "Report",
    "Run",
    "ScoreColumn",
    "ScoreRow",
    "Scores",
    "ScoresLike",
    "SimulatedLog",
    "Standings",
    "Stress",
    "Summary",
    "Trial",
    "Tuned",
    "Verdicts",
    "Way",
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
    "judge_drift",
    "kinship",
    "leaderboard",
    "measure",
    "mirage",
    "monitor",
    "pool",
    "prepare",
    "questions_needed",
    "rank_correlation",
    "report",
    "simulate_log",
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
