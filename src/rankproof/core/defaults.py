"""The default measures of all verbs. Imports nothing, so that the help of a command can show them."""

DEFAULT_MEASURES = "nDCG@10, RR@10, AP, P@5, R@5, R@100, Success@5"
"""Those of `evaluate` and `compare`; the first orders a `leaderboard`."""
DEFAULT_MEASURE = DEFAULT_MEASURES.partition(",")[0]
"""The one that decides, in `gate`, `explain`, `diagnose`, `tune`, `grid`, `drift`."""
REPORT_MEASURES = "nDCG@10, R@100, RR@10"
"""Those of `report`."""
JUDGE_MEASURES = "nDCG@10, RR@10, AP, P@5"
"""Those that `calibrate` corrects for runs."""
SPAN_MEASURES = "SpanP@5, SpanR@5, SpanF@5, SpanIoU@5"
"""Those of `evaluate_spans`."""
PAIR_MEASURES = "RBO, Jaccard@10, Tau"
"""Those of `agreement` between two rankings."""
