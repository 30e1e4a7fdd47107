"""`audit`: what to know about judgments and a ranking before any number is believed."""

from __future__ import annotations

from typing import Any

from rankproof.core.audit import Audit, audit_full
from rankproof.errors import DataError
from rankproof.io.load import load_judgments, load_ranking
from rankproof.io.roles import Columns, with_columns
from rankproof.scoring.evaluate import Measures, check_conventions, evaluate


@with_columns
def audit(
    judgments: Any,
    ranking: Any,
    measures: Measures | None = None,
    *,
    columns: Columns = None,
    **conventions: Any,
) -> Audit:
    """Everything that is wrong or odd about judgments and a ranking, the most serious first.

    It looks at every document, where `Scores.audit` sees judged ones only. `measures` are those whose
    cut-offs and ceilings it looks at; the other arguments are those of `evaluate`. Documents that come twice
    are a finding here, no exception.

    >>> found = audit({"q1": {"d1": 1}, "q2": {"d2": 1}}, {"q1": ["d1", "d1"]}, "P@1")
    >>> [(each.severity, each.kind) for each in found][0]
    ('error', 'duplicate-documents')
    """
    check_conventions(conventions, audit)
    judged, opened = load_judgments(judgments), load_ranking(ranking)
    if conventions.get("duplicates", "error") == "error":
        conventions["duplicates"] = "first"
    scores = evaluate(judged, opened, measures, **conventions)
    if scores.hits is None:
        raise DataError("there are no rankings behind these scores. Next: evaluate again.")
    asked = [column.measure for column in scores.columns.values()]
    return audit_full(judged, scores.hits, opened.table(), scores.census, asked, scores.conventions)
