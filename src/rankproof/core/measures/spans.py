"""Measures of retrieved text against relevant spans of text, token by token.

Text in several chunks counts once. `@k` counts chunks; `budget` counts tokens: it takes chunks from the
top as long as they all fit, so that chunks of different lengths are compared fairly.
"""

from __future__ import annotations

from rankproof.core.corpus import ShownDocument
from rankproof.core.hits import PerQuery, ratio
from rankproof.core.measure import Cutoff, Grade, Positive
from rankproof.core.names import measure


@measure("SpanP", kind="span", also=("token_precision", "span_precision"))
def span_precision(s: ShownDocument, k: Cutoff = None, rel: Grade = 1, budget: Cutoff = None) -> PerQuery:
    """The share of the retrieved tokens that are relevant.

    Formula: SpanP = |retrieved and relevant tokens| / |retrieved tokens|.
    Range: 0 to 1.
    Perfect: 1, when nothing but relevant text is retrieved; whole chunks can rarely reach it.
    Worst: 0, when no relevant text is retrieved.
    Blind to: relevant text that was missed, and the order within the top k.
    Use: when what is retrieved fills a prompt, and every token costs money and attention.
    Reference: B. Smith, A. Troynikov: Evaluating Chunking Strategies for Retrieval, Chroma 2024.

    >>> from rankproof import evaluate_spans
    >>> spans = {"q": [("d", 8, 22)]}
    >>> evaluate_spans(spans, {"q": ["d#0-14"]}, {"d": "Refunds within 30 days"}, "SpanP")["SpanP"]
    0.5
    """
    shown = s.top(k, budget)
    return ratio(shown.tokens(rel), shown.tokens())


@measure("SpanR", kind="span", also=("token_recall", "span_recall"))
def span_recall(s: ShownDocument, k: Cutoff = None, rel: Grade = 1, budget: Cutoff = None) -> PerQuery:
    """The share of the relevant tokens that are retrieved.

    Formula: SpanR = |retrieved and relevant tokens| / |relevant tokens|.
    Range: 0 to 1.
    Perfect: 1, when all relevant text is retrieved.
    Worst: 0, when none is.
    Blind to: how much other text is retrieved with it, and the order within the top k.
    Use: to see how much of what is needed reaches the reader or the prompt.
    Reference: B. Smith, A. Troynikov: Evaluating Chunking Strategies for Retrieval, Chroma 2024.

    >>> from rankproof import evaluate_spans
    >>> spans = {"q": [("d", 8, 22)]}
    >>> evaluate_spans(spans, {"q": ["d#15-22"]}, {"d": "Refunds within 30 days"}, "SpanR")["SpanR"]
    0.6666666666666666
    """
    return ratio(s.top(k, budget).tokens(rel), s.relevant_tokens(rel))


@measure("SpanF", kind="span", also=("SpanF1", "token_f1", "span_f1"))
def span_f(s: ShownDocument, k: Cutoff = None, rel: Grade = 1, budget: Cutoff = None, beta: Positive = 1) -> PerQuery:
    """Precision and recall of retrieved tokens in one number, recall counting `beta` times as much.

    Formula: SpanF = (1 + beta²) |retrieved and relevant| / (beta² |relevant| + |retrieved|), in tokens.
    Range: 0 to 1.
    Perfect: 1, when exactly the relevant text is retrieved.
    Worst: 0, when no relevant text is retrieved.
    Blind to: the order within the top k.
    Use: to choose a length of chunks, where both misses and ballast hurt.
    Reference: C. J. van Rijsbergen: Information Retrieval, 2nd edition, Butterworths 1979, chapter 7.

    >>> from rankproof import evaluate_spans
    >>> spans = {"q": [("d", 8, 22)]}
    >>> evaluate_spans(spans, {"q": ["d#0-14"]}, {"d": "Refunds within 30 days"}, "SpanF1")["SpanF1"]
    0.4
    """
    shown = s.top(k, budget)
    return ratio((1 + beta**2) * shown.tokens(rel), beta**2 * s.relevant_tokens(rel) + shown.tokens())


@measure("SpanIoU", kind="span", also=("IoU", "token_iou", "span_iou"))
def span_iou(s: ShownDocument, k: Cutoff = None, rel: Grade = 1, budget: Cutoff = None) -> PerQuery:
    """The tokens both retrieved and relevant, as a share of those that are either (intersection over union).

    Formula: SpanIoU = |retrieved and relevant| / (|retrieved| + |relevant| - |retrieved and relevant|).
    Range: 0 to 1.
    Perfect: 1, when exactly the relevant text is retrieved.
    Worst: 0, when no relevant text is retrieved.
    Blind to: the order within the top k.
    Use: where text that is retrieved in vain counts as much as text that is missed.
    Reference: B. Smith, A. Troynikov: Evaluating Chunking Strategies for Retrieval, Chroma 2024.

    >>> from rankproof import evaluate_spans
    >>> spans = {"q": [("d", 8, 22)]}
    >>> evaluate_spans(spans, {"q": ["d#0-14"]}, {"d": "Refunds within 30 days"}, "SpanIoU")["SpanIoU"]
    0.25
    """
    shown = s.top(k, budget)
    both = shown.tokens(rel)
    return ratio(both, shown.tokens() + s.relevant_tokens(rel) - both)
