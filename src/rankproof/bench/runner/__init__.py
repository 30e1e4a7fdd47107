"""Asking a retriever many questions: several at once, with timeouts, retries, and a memory."""

from rankproof.bench.runner.answering import answer_all
from rankproof.bench.runner.rows import Row
from rankproof.bench.runner.work import Limits, Plan, plan_for

__all__ = ["Limits", "Plan", "Row", "answer_all", "plan_for"]
