"""Asking a retriever many questions: several at once, with timeouts, retries, and a memory."""

from rankproof.bench.runner.answering import answer_all
from rankproof.bench.runner.plan import Limits, Plan, plan_for
from rankproof.bench.runner.rows import Row

__all__ = ["Limits", "Plan", "Row", "answer_all", "plan_for"]
