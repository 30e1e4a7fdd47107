"""The comparisons, by name. A case makes its data when it is asked for."""

from __future__ import annotations

import sys
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path

from data import Judgments, Run, make, parquet_file, trec_files
from timing import Pair, Work, peak_bytes, processor_of_programs, python

MEASURES = "AP,RR,nDCG@10,R@100,R@1000,P@10,Success@1,Success@5,Success@10"
TREC_NAMES = {"map", "recip_rank", "ndcg_cut.10", "recall.100,1000", "P.10", "success.1,5,10"}
LONG = (6980, 1000, 2)
"""The development queries of MS MARCO, a thousand documents each."""

CASES: dict[str, Callable[[], list[Pair]]] = {}


def case(function: Callable[[], list[Pair]]) -> Callable[[], list[Pair]]:
    """Have a case run under its function's name."""
    CASES[function.__name__.replace("_", "-")] = function
    return function


# --- dicts -------------------------------------------------------------------------------------


def _dicts(queries: int, length: int, judged: int, promised: float, times: int = 5) -> list[Pair]:
    import pytrec_eval

    import rankproof

    judgments, run = make(queries, length, judged)
    return [
        Pair(
            f"dicts, {queries:,} x {length:,}, {judged:,} judged",
            "pytrec_eval",
            lambda: rankproof.evaluate(judgments, run, MEASURES),
            lambda: pytrec_eval.RelevanceEvaluator(judgments, TREC_NAMES).evaluate(run),
            promised,
            times,
        )
    ]


@case
def dicts_long() -> list[Pair]:
    return _dicts(*LONG, 10)


@case
def dicts_medium() -> list[Pair]:
    return _dicts(10_000, 100, 5, 2.5)


@case
def dicts_short() -> list[Pair]:
    return _dicts(100_000, 10, 3, 2.5)


@case
def dicts_dense() -> list[Pair]:
    return _dicts(250, 1000, 1250, 1.5)


@case
def dicts_tiny() -> list[Pair]:
    # pytrec_eval takes half as long again where the hashes of a process put its set of measures in another order: the
    # ratio is .4 to .6.
    return _dicts(20, 10, 3, 0.4, times=200)


@case
def prepared() -> list[Pair]:
    import rankproof

    judgments, runs = _many_runs(1000, 10, 20, 50)
    prepared = rankproof.prepare(judgments)
    return [
        Pair(
            "50 runs, 1,000 x 10, 20 judged, prepared",
            "50 separate calls",
            lambda: [rankproof.evaluate(prepared, run, MEASURES) for run in runs],
            lambda: [rankproof.evaluate(judgments, run, MEASURES) for run in runs],
            2,
        )
    ]


def _many_runs(queries: int, length: int, judged: int, count: int) -> tuple[Judgments, list[Run]]:
    judgments, run = make(queries, length, judged)
    others = [make(queries, length, 1, seed)[1] for seed in range(2, count + 1)]
    return judgments, [run, *others]


# --- files -------------------------------------------------------------------------------------

READ_THREE_COLUMNS = """
import sys
from pyarrow import csv
csv.read_csv(
    sys.argv[1],
    read_options=csv.ReadOptions(column_names=list("abcdef")),
    parse_options=csv.ParseOptions(delimiter=" "),
    convert_options=csv.ConvertOptions(include_columns=["a", "c", "e"]),
)
"""


def _evaluate(qrels: Path, run: Path) -> list[str]:
    return [sys.executable, "-m", "rankproof", "evaluate", str(qrels), str(run), "-m", MEASURES]


@case
def trec_file() -> list[Pair]:
    qrels, run = trec_files(*LONG)
    ours = python(*_evaluate(qrels, run)[1:])
    reading = python("-c", READ_THREE_COLUMNS, str(run))
    program = Path(sysconfig.get_path("scripts")) / "ir_measures"
    names = MEASURES.replace(",", " ").split()
    theirs = python(str(program), str(qrels), str(run), *names)
    what = "TREC file, 7 million lines, whole process"
    trec_eval = python(str(Path(__file__).with_name("trec_eval_code.py")), str(qrels), str(run))
    return [
        # As its own Makefile builds it, without optimisation, trec_eval takes a quarter more: 8 x or more.
        Pair(what, "trec_eval's code", ours, trec_eval, 6.5),
        Pair(what, "pyarrow reading 3 columns", ours, reading, 1 / 1.5),
        Pair(what, "ir_measures", ours, theirs, 12, times=1),
    ]


@case
def trec_file_small() -> list[Pair]:
    qrels, run = trec_files(50, 1000, 20)
    program = Path(sysconfig.get_path("scripts")) / "ir_measures"
    theirs = python(str(program), str(qrels), str(run), *MEASURES.split(","))
    ours = python(*_evaluate(qrels, run)[1:])
    return [Pair("TREC file, 50,000 lines, whole process", "ir_measures", ours, theirs, 0.5)]


@case
def memory() -> list[Pair]:
    qrels, run = trec_files(*LONG)
    size = run.stat().st_size
    arguments = _evaluate(qrels, run)
    return [
        Pair(
            "peak memory on the TREC file (bytes)",
            "size of the file",
            lambda: peak_bytes(arguments),
            lambda: size,
            1 / 1.5,
            times=1,
            measure=lambda work: float(work()),  # type: ignore[arg-type]
        )
    ]


# --- data frames -------------------------------------------------------------------------------


def _by_hand(judgments: object, run: object) -> object:
    """The judged documents with their ranks, as one writes it with Polars."""
    import polars

    rank = polars.col("score").rank("ordinal", descending=True).over("query")
    return run.with_columns(rank=rank).join(judgments, on=["query", "doc"])  # type: ignore[attr-defined]


def _judgments_frame(qrels: Path) -> object:
    import polars

    names = ["query", "aspect", "doc", "grade"]
    types = {"query": polars.String, "doc": polars.String}
    return polars.read_csv(qrels, separator=" ", has_header=False, new_columns=names, schema_overrides=types)


@case
def polars_frame() -> list[Pair]:
    import polars

    import rankproof

    qrels, _ = trec_files(*LONG)
    run, judged = polars.read_parquet(parquet_file(*LONG)), _judgments_frame(qrels)
    judgments = rankproof.prepare(str(qrels))
    ours = lambda: rankproof.evaluate(judgments, run, MEASURES)  # noqa: E731
    what = "Polars frame, 7 million rows"
    return [Pair(what, "Polars join and rank", ours, lambda: _by_hand(judged, run), 1 / 1.2)]


@case
def parquet() -> list[Pair]:
    import polars

    import rankproof

    qrels, _ = trec_files(*LONG)
    path, judged = parquet_file(*LONG), _judgments_frame(qrels)
    judgments = rankproof.prepare(str(qrels))
    ours = lambda: rankproof.evaluate(judgments, path, MEASURES)  # noqa: E731
    theirs = lambda: _by_hand(judged, polars.read_parquet(path))  # noqa: E731
    return [Pair("Parquet, 7 million rows", "Polars join and rank", ours, theirs, 1 / 1.2)]


# --- start -------------------------------------------------------------------------------------


@case
def start() -> list[Pair]:
    bare, numpy = python("-c", "pass"), python("-c", "import numpy")
    folder = Path(tempfile.mkdtemp())
    qrels, run = folder / "judgments.qrels", folder / "a.run"
    qrels.write_text("".join(f"q{i} 0 d{i} 1\n" for i in range(5)))
    run.write_text("".join(f"q{i} Q0 d{j} {j + 1} {9 - j} a\n" for i in range(5) for j in range(5)))
    tiny = python("-m", "rankproof", "evaluate", str(qrels), str(run))

    def pair(what: str, peer: str, ours: Work, theirs: Work, promised: float) -> Pair:
        return Pair(what, peer, ours, theirs, promised, 21, processor_of_programs)  # not what else the machine does

    helping = python("-m", "rankproof", "--help")
    return [
        pair("import rankproof", "bare interpreter", python("-c", "import rankproof"), bare, 0.3),
        pair("rankproof --help", "bare interpreter", helping, bare, 0.1),
        pair("rankproof --help", "import numpy", helping, numpy, 1),
        # .43 to .6 were measured: by the clock .09 s are added to the .07 that NumPy takes.
        pair("rankproof evaluate, 5 queries", "import numpy", tiny, numpy, 0.4),
    ]
