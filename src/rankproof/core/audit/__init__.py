"""The audit: what to know about judgments and a ranking before trusting any number."""

from rankproof.core.audit.finding import Audit, Finding
from rankproof.core.audit.full_audit import audit_full, explain_unmet
from rankproof.core.audit.hit_checks import audit_hits, audit_spelling

__all__ = ["Audit", "Finding", "audit_full", "audit_hits", "audit_spelling", "explain_unmet"]
