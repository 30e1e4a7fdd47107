"""The measures that are taken where nobody names one. Loads nothing, so that the help of a command can show them."""

DEFAULT_MEASURES = "nDCG@10, RR@10, AP, P@5, R@5, R@100, Success@5"
"""What `evaluate` and `compare` show; the first orders a `leaderboard`."""
DEFAULT_MEASURE = DEFAULT_MEASURES.partition(",")[0]
"""The one that decides, where one must: in `gate`, `explain`, `diagnose`, `tune`, `grid`, `drift`."""
REPORT_MEASURES = "nDCG@10, R@100, RR@10"
"""What `report` draws."""
JUDGE_MEASURES = "nDCG@10, RR@10, AP, P@5"
"""What `calibrate` corrects of runs by a judge's verdicts."""
SPAN_MEASURES = "SpanP@5, SpanR@5, SpanF@5, SpanIoU@5"
"""What `evaluate_spans` shows."""
PAIR_MEASURES = "RBO, Jaccard@10, Tau"
"""What `agreement` shows of two rankings."""
