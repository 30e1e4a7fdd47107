"""Asking a retriever many questions: several at once, with timeouts, retries, and a memory."""

from rankproof.bench.runner.answering import answer_all
from rankproof.bench.runner.work import RunLimits, RunPlan, RunRow, plan_for

__all__ = ["RunLimits", "RunPlan", "RunRow", "answer_all", "plan_for"]
