"""Golden values for Elasticsearch's rank_eval API, by formulas written from its sources, not by Elasticsearch itself.

    python make_elasticsearch.py

It could not be run here. Read: DiscountedCumulativeGain (d04e400), PrecisionAtK (e8b3041), RecallAtK (964a1a3),
MeanReciprocalRank (a77167b), ExpectedReciprocalRank (0aebdb4) in modules/rank-eval. "published" holds the values that its
own unit tests expect, so that the formulas here are checked against something Elasticsearch itself asserts.
Hits are the first k, none where a query is missing from the run; a document without a rating adds nothing; no rating is clipped at 0.
"""

from __future__ import annotations

import math
from typing import Any

from common import CUTS, cases, ordered, write

TOP = 4
Judged = dict[str, int]
Hits = list[str]


def dcg(ratings: list[int | None]) -> float:
    return sum((2.0**r - 1) / math.log2(place + 2) for place, r in enumerate(ratings) if r is not None)


def ndcg(hits: Hits, judged: Judged) -> float:
    best = dcg(sorted(judged.values(), reverse=True)[: len(hits)])
    return dcg([judged.get(doc) for doc in hits]) / best if best else 0.0


def relevant(hits: Hits, judged: Judged) -> list[int]:
    return [place for place, doc in enumerate(hits, 1) if judged.get(doc, 0) >= 1]


def precision(hits: Hits, judged: Judged) -> float:
    return len(relevant(hits, judged)) / len(hits) if hits else 0.0


def recall(hits: Hits, judged: Judged) -> float:
    known = sum(rating >= 1 for rating in judged.values())
    return len(relevant(hits, judged)) / known if known else 0.0


def reciprocal_rank(hits: Hits, judged: Judged) -> float:
    return 1 / min(relevant(hits, judged), default=math.inf)


def err(hits: Hits, judged: Judged, top: int = TOP) -> float:
    unsatisfied, total = 1.0, 0.0
    for place, doc in enumerate(hits, 1):
        chance = (2.0 ** judged.get(doc, 0) - 1) / 2.0**top
        total += unsatisfied * chance / place
        unsatisfied *= 1 - chance
    return total


MEASURES = {
    "dcg": lambda hits, judged: dcg([judged.get(doc) for doc in hits]),
    "ndcg": ndcg,
    "precision": precision,
    "recall": recall,
    "mean_reciprocal_rank": reciprocal_rank,
    "expected_reciprocal_rank": err,
}


def evaluated(case: dict[str, Any]) -> dict[str, Any]:
    if any(rating != int(rating) for judged in case["judgments"].values() for rating in judged.values()):
        return {"error": "a rating is a whole number in its requests"}
    values = {
        f"{name}@{cut}": {
            query: function(ordered(case["run"].get(query, {}))[:cut], judged)
            for query, judged in case["judgments"].items()
        }
        for name, function in MEASURES.items()
        for cut in CUTS
    }
    return {
        "per_query": values,
        "mean": {name: sum(each.values()) / len(each) for name, each in values.items()},
    }


def shown(ratings: list[int | None], hits: int) -> dict[str, Any]:
    """A unit test of Elasticsearch: documents "0", "1", ... with these ratings, the first `hits` of them returned."""
    judged = {str(doc): rating for doc, rating in enumerate(ratings) if rating is not None}
    return {"judgments": judged, "hits": [str(doc) for doc in range(hits)]}


PUBLISHED = [
    shown([3, 2, 3, 0, 1, 2], 6) | {"measure": "dcg@10", "value": 13.84826362927298},
    shown([3, 2, 3, 0, 1, 2], 6) | {"measure": "ndcg@10", "value": 13.84826362927298 / 14.595390756454922},
    shown([3, 2, 3, None, 1], 6) | {"measure": "dcg@10", "value": 12.779642067948913},
    shown([3, 2, 3, None, 1], 6) | {"measure": "ndcg@10", "value": 12.779642067948913 / 13.347184833073591},
    shown([3, 2, 3, None, 1], 4) | {"measure": "dcg@10", "value": 12.392789260714371},
    shown([3, 2, 3, None, 1], 4) | {"measure": "ndcg@10", "value": 12.392789260714371 / 13.347184833073591},
    shown([3, 2, 0, 1], 4) | {"measure": "expected_reciprocal_rank@3", "max": 3, "value": 0.8984375},
    shown([3, 2, 0, 1], 4) | {"measure": "expected_reciprocal_rank@4", "max": 3, "value": 0.8984375 + 0.00244140625},
    shown([3, None, 0, 1], 4) | {"measure": "expected_reciprocal_rank@4", "max": 3, "value": 0.875 + 0.00390625},
    shown([1, 1, 1, 1, 0], 5) | {"measure": "precision@10", "value": 0.8},
    shown([1, 1, 1, 1, 0], 5) | {"measure": "recall@10", "value": 1.0},
    shown([1, 1, None], 3) | {"measure": "precision@10", "value": 2 / 3},
    shown([0, 1, 2, 3, 4], 5) | {"measure": "precision@5", "rel": 2, "value": 0.6},
    shown([0, 1, 2, 3, 4], 3) | {"measure": "recall@5", "rel": 2, "value": 1 / 3},
    shown([1], 0) | {"measure": "recall@10", "value": 0.0},
]


def agrees(entry: dict[str, Any]) -> bool:
    name, cut = entry["measure"].split("@")
    hits = entry["hits"][: int(cut)]
    judged = {doc: rating - entry.get("rel", 1) + 1 for doc, rating in entry["judgments"].items()}
    found = err(hits, judged, entry["max"]) if "max" in entry else MEASURES[name](hits, judged)
    return math.isclose(found, entry["value"], abs_tol=1e-12)


if __name__ == "__main__":
    wrong = [entry for entry in PUBLISHED if not agrees(entry)]
    if wrong:
        raise SystemExit(f"these formulas disagree with Elasticsearch's own tests: {wrong}")
    write("elasticsearch", version="elastic/elasticsearch, modules/rank-eval at d04e400, e8b3041, 964a1a3, a77167b, 0aebdb4",
          made="by formulas written from its sources and checked against its unit tests; not run", max=TOP,
          published=PUBLISHED, cases={case["name"]: evaluated(case) for case in cases()})  # fmt: skip
