"""trec_eval's own code over TREC files: `python benchmarks/trec_eval_code.py QRELS RUN`.

pytrec_eval carries the compiled code of trec_eval, with optimisation, where trec_eval's own Makefile asks for none. Its
functions that read both files, rank, and compute the measures that trec_eval prints by default are called here one
after the other, as its `main` does; nothing passes through Python but one call for each measure of each query.
"""

from __future__ import annotations

import ctypes
import sys
from ctypes import POINTER, Structure, addressof, byref, c_char_p, c_double, c_int, c_long, c_void_p

MEASURES = "num_ret", "num_rel", "num_rel_ret", "map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P"
RELEVANCE_LEVEL, MOST_DOCUMENTS = 8, 9
"""Where these two stand among the options of trec_eval; all others are 0."""


class Ranked(Structure):
    """The ranking of a query."""

    _fields_ = [(name, c_char_p) for name in ("query", "run", "format")] + [("rows", c_void_p)]


class Judged(Structure):
    """The judgments of a query."""

    _fields_ = [(name, c_char_p) for name in ("query", "format")] + [("rows", c_void_p)]


class AllRanked(Structure):
    """A run."""

    _fields_ = [("count", c_long), ("room", c_long), ("each", POINTER(Ranked))]


class AllJudged(Structure):
    """The judgments."""

    _fields_ = [("count", c_long), ("room", c_long), ("each", POINTER(Judged))]


class Value(Structure):
    """A number of a query."""

    _fields_ = [("name", c_char_p), ("value", c_double)]


class Values(Structure):
    """The numbers of a query."""

    _fields_ = [
        ("query", c_char_p),
        ("queries", c_long),
        ("each", POINTER(Value)),
        ("count", c_long),
        ("room", c_long),
    ]


class Measure(Structure):
    """A measure of trec_eval: what prepares it and what computes it."""

    _fields_ = [
        *[(name, c_char_p) for name in ("name", "explanation")],
        *[(name, c_void_p) for name in ("prepare", "compute", "add", "mean", "print", "print_mean", "parameters")],
        ("index", c_long),
    ]


PREPARE = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p)
COMPUTE = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p)


def main(qrels: str, run: str) -> dict[str, float]:
    """The mean of each measure over the queries of the run that are judged."""
    import pytrec_eval_ext

    code = ctypes.CDLL(pytrec_eval_ext.__file__)
    options = (c_long * 64)()
    options[RELEVANCE_LEVEL], options[MOST_DOCUMENTS] = 1, sys.maxsize
    judged, ranked = AllJudged(), AllRanked()
    _check(code.te_get_qrels(byref(options), qrels.encode(), byref(judged)), qrels)
    _check(code.te_get_trec_results(byref(options), run.encode(), byref(ranked)), run)
    numbers = (Value * 1000)()
    values = Values(each=numbers, room=len(numbers))
    measures = []
    for name in MEASURES:
        measure = Measure.in_dll(code, f"te_meas_{name}")
        _check(PREPARE(measure.prepare)(addressof(options), addressof(measure), addressof(values)), name)
        measures.append((measure, COMPUTE(measure.compute)))
    of_query = {judged.each[i].query: addressof(judged.each[i]) for i in range(judged.count)}
    sums = [0.0] * values.count
    queries = 0
    for i in range(ranked.count):
        rows = of_query.get(ranked.each[i].query)
        if rows is None:
            continue
        queries += 1
        for number in numbers[: values.count]:
            number.value = 0.0
        for measure, compute in measures:
            ranking = addressof(ranked.each[i])
            _check(compute(addressof(options), rows, ranking, addressof(measure), addressof(values)), measure.name)
        sums = [total + number.value for total, number in zip(sums, numbers[: values.count], strict=True)]
    names = [number.name.decode() for number in numbers[: values.count]]
    return {name: total / queries for name, total in zip(names, sums, strict=True)}


def _check(answer: int, what: object) -> None:
    if answer < 0:  # 0: a query for which nothing is relevant has no such value, and its 0 stays
        raise RuntimeError(f"trec_eval's code answered {answer} for {what}, expected 0 or 1")


if __name__ == "__main__":
    for name, mean in main(*sys.argv[1:]).items():
        print(f"{name:<22} all {mean:.4f}")
