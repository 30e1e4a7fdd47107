"""The findings that cost next to nothing once judgments and a ranking have met."""

from __future__ import annotations

from collections.abc import Sequence

from rankproof.core.audit import direction, grades, measured, queries, trap
from rankproof.core.audit.case import Case
from rankproof.core.audit.finding import Audit
from rankproof.core.conventions import Conventions
from rankproof.core.hits import Hits
from rankproof.core.join import Census
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure

CHECKS = (*queries.CHECKS, *direction.CHECKS, *grades.CHECKS, *measured.CHECKS, *trap.CHECKS)


def audit_hits(
    judgments: Judgments,
    hits: Hits,
    census: Census | None = None,
    measures: Sequence[Measure] = (),
    conventions: Conventions | None = None,
) -> Audit:
    """What can be said from the hits alone, without the documents nobody judged."""
    case = Case(judgments, hits, census or Census(), measures, conventions or Conventions())
    return Audit.of(finding for check in CHECKS for finding in check(case))
