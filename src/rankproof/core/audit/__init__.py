"""The audit: what to know about judgments and a ranking before trusting any number."""

from rankproof.core.audit.finding import Audit, Finding
from rankproof.core.audit.joined import audit_hits, audit_spelling
from rankproof.core.audit.whole import audit_full, explain_unmet

__all__ = ["Audit", "Finding", "audit_full", "audit_hits", "audit_spelling", "explain_unmet"]
