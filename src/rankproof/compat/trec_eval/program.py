"""The drop-in as a program: arguments in, lines and an exit code out."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from rankproof.compat.trec_eval.evaluation import KINDS, Evaluation, evaluate_files
from rankproof.compat.trec_eval.files import read_zscores, run_id
from rankproof.compat.trec_eval.options import (
    Column,
    Options,
    Plan,
    help_text,
    parse_options,
    plan,
    requested,
)
from rankproof.compat.trec_eval.results import Results, Series, Value, standardise, summarise
from rankproof.errors import RankproofError, UsageError, one_of
from rankproof.io.files import check_path
from rankproof.io.pipes import is_pipe, pipes_kept, read_side_by_side


def topic_lines(results: Results) -> Iterator[str]:
    """The lines of ``-q``: each topic's values, one measure after the other."""
    shown = [series for series in results.series if series.column.entry.shown != "summary"]
    for place, topic in enumerate(results.topics):
        for series in shown:
            yield line(series.column.name, topic, series.values[place], series.whole, results.standardised)


def summary_lines(results: Results) -> Iterator[str]:
    """The lines of the summary over all topics."""
    for series in results.series:
        if series.column.entry.shown != "topics":
            yield line(series.column.name, "all", series.summary, series.whole, results.standardised)


def line(name: str, topic: str, value: Value, whole: bool, standardised: bool) -> str:
    """One line of output.

    >>> line("P_5", "301", 0.25, False, False)
    'P_5                   \\t301\\t0.2500'
    """
    if isinstance(value, str):
        return f"{name:<22}\t{topic}\t{value}"
    if standardised:
        return f"Z{name:<22}\t{topic}\t{value:6.4f}"
    return f"{name:<22}\t{topic}\t{int(value) if whole else format(value, '6.4f')}"


def text(lines: Iterable[str]) -> str:
    """The lines as one text, each ended."""
    return "".join(f"{each}\n" for each in lines)


USAGE_CODE, INPUT, CALCULATION, NO_TOPICS = 1, 2, 4, 7
"""The exit codes of trec_eval: wrong usage, unreadable input, no value, nothing to evaluate."""

_NO_CHOICE = ", or choose duplicates='first' or duplicates='best'"
"""What the readers advise, and trec_eval has no option for."""


class StopError(RankproofError):
    """The program ends here, with this exit code."""

    def __init__(self, problem: object, code: int) -> None:
        """Stop for a problem with an exit code of trec_eval."""
        super().__init__(str(problem))
        self.exit_code = code


@contextmanager
def quits_with(code: int) -> Iterator[None]:
    """Errors inside end the program with the code trec_eval gives at this stage."""
    try:
        yield
    except StopError:
        raise
    except RankproofError as problem:
        said = str(problem).replace(_NO_CHOICE, "")
        raise StopError(said, _seen_late(said, code)) from problem


def _seen_late(problem: str, code: int) -> int:
    """trec_eval notices a document that comes twice only when it calculates."""
    return CALCULATION if code == INPUT and " twice" in problem else code


def main(arguments: Sequence[str]) -> int:
    """Do what trec_eval does with these arguments; the exit code is returned."""
    try:
        with quits_with(USAGE_CODE):
            options = parse_options(arguments)
        if options.help or options.show_version:
            return _inform(options)
        _evaluate(options)
    except StopError as problem:
        print(f"trec_eval: {problem}", file=sys.stderr)
        return problem.exit_code
    return 0


def _inform(options: Options) -> int:
    if options.show_version:
        print(f"trec_eval version {'9.0.8' if options.version == 9 else '10.0'}", file=sys.stderr)
    else:
        with quits_with(USAGE_CODE):
            print(help_text(options))
    return 0


def _evaluate(options: Options) -> None:
    with quits_with(USAGE_CODE):
        requests = requested(options.measures, options.version)
    with quits_with(INPUT):
        planned = plan(requests, options.version)
        _check_formats(options)
    with quits_with(CALCULATION):
        _check_kinds(planned, options)
    with quits_with(INPUT), pipes_kept():
        judgments, results = options.files
        read_side_by_side(options.files)
        if not is_pipe(judgments):
            check_path(judgments)
        run = run_id(results)
        evaluation = evaluate_files(judgments, results, _measured(planned), options)
        _print(planned, evaluation, options, run)


def _check_formats(options: Options) -> None:
    if options.judgment_format not in KINDS:
        raise one_of("-R", options.judgment_format, KINDS)
    if options.result_format != "trec_results":
        raise one_of("-T", options.result_format, ["trec_results"])


def _check_kinds(planned: Plan, options: Options) -> None:
    kind = KINDS[options.judgment_format]
    for column in planned.columns:
        if column.entry.kind not in ("any", kind):
            fitting = [name for name, known in KINDS.items() if known == column.entry.kind]
            raise UsageError(
                f"can't calculate measure '{column.entry.name}' from {options.judgment_format}. "
                f"Next: -R {' or '.join(fitting)}"
            )


def _measured(planned: Plan) -> list[Column]:
    return [column for column in planned.columns if column.entry.kind != "any"]


def _print(planned: Plan, evaluation: Evaluation, options: Options, run: str) -> None:
    for note in (*planned.notes, *evaluation.notes):
        print(f"trec_eval: note: {note}", file=sys.stderr)
    results = _with_general(planned, evaluation.results)
    if options.zscores is not None:
        results = standardise(results, read_zscores(options.zscores))
    if options.per_query:
        sys.stdout.write(text(topic_lines(results)))
    _check_topics(evaluation)
    if options.summary:
        divisor = evaluation.topics.divisor
        fixed: dict[str, Value] = {**evaluation.fixed, "runid": run, "num_q": float(divisor)}
        sys.stdout.write(text(summary_lines(summarise(results, divisor, fixed))))


def _with_general(planned: Plan, results: Results) -> Results:
    """The results with the columns that are no measures (run id, number of topics) in their places."""
    known = {series.column.name: series for series in results.series}
    general = [1.0] * len(results.topics)
    every = [known.get(column.name) or Series(column, general) for column in planned.columns]
    return replace(results, series=every)


def _check_topics(evaluation: Evaluation) -> None:
    missing = evaluation.topics.missing
    if missing is not None:
        raise StopError(
            f"topic '{missing}' is judged but has no results. Next: -c counts such topics as 0", CALCULATION
        )
    if not evaluation.topics.shown:
        raise StopError(
            "no topic has both judgments and results. Next: check that both files name topics alike.",
            NO_TOPICS,
        )
