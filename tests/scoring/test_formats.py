"""One ranking, and several side by side, in every format."""

from __future__ import annotations

import csv
import io
import json
import math
import re

import pytest

from rankproof import evaluate
from rankproof.core.audit import Finding
from rankproof.core.scoring import ScoreRow, Summary
from rankproof.document.formats import as_text, check, formats_by_name
from rankproof.document.terminal import width
from rankproof.errors import UsageError
from rankproof.scoring.words import queries, scores


def render(summaries: list[Summary], name: str) -> str:
    return as_text(scores(summaries), check(name))


BCA = "BCa bootstrap, 10,000 resamples"
CONVENTIONS = [
    "ties=trec: equal scores by document id",
    "missing=zero: a judged query without a ranking counts 0",
]


def row(measure: str = "nDCG@10", mean: float = 0.5, **more: object) -> ScoreRow:
    return ScoreRow(
        measure,
        mean,
        **{"n": 60, "low": mean - 0.05, "high": mean + 0.05, "method": BCA, "ceiling": 1.0, **more},
    )  # type: ignore[arg-type]


def summary(name: str = "my.run", rows: list[ScoreRow] | None = None, **more: object) -> Summary:
    return Summary(
        name,
        [row()] if rows is None else rows,
        **{"queries": 60, "documents": 312, "tied": 0.0, "conventions": CONVENTIONS, **more},
    )  # type: ignore[arg-type]


TABLE = """\
my.run

                                             never   ranked
measure    mean     95 % interval  ceiling   found  too low   n
-------  ------  ----------------  -------  ------  -------  --
nDCG@10  0.5000  [0.4500, 0.5500]   1.0000  0.2000   0.3000  60
P@5      0.4000  [0.3500, 0.4500]   0.4200       -        -  60

          equal scores in
measure   any other order
-------  ----------------
nDCG@10  [0.4500, 0.5500]
P@5                     -

60 queries, 312 judged documents. 12 % of the judged documents found share their
score with others. Not judged: 0 % of the top 5, 25 % of the top 10.
Conventions: ties trec; missing zero. Intervals: BCa bootstrap, 10,000
resamples.
"""


def test_the_table_of_one_ranking() -> None:
    told = summary(
        rows=[
            row(never_found=0.2, ranked_too_low=0.3, ties=(0.45, 0.55)),
            row("P@5", 0.4, ceiling=0.42, unjudged=(0.4, 0.4)),
        ],
        tied=0.123,
        unjudged={5: 0.0, 10: 0.25},
    )
    assert render([told], "table") == TABLE


def test_columns_without_news_are_left_out() -> None:
    text = render([summary(rows=[row(ties=(0.5, 0.5), never_found=0.0, ranked_too_low=0.0)])], "table")
    assert "equal scores" not in text
    assert "never" not in text


def test_warnings_stand_below_and_errors_above_with_their_next_step() -> None:
    for severity, heading in (("warning", "Before you trust these"), ("error", "Do not trust these numbers")):
        finding = Finding(severity, "missing", 2, "2 queries are missing.", ("'q1'", "'q2'"), "run them.")  # type: ignore[arg-type]
        text = render([summary(findings=[finding])], "table")
        assert f"  {severity:8} 2 queries are missing. For example 'q1', 'q2'. Next: run them." in text
        assert heading in text
        assert (text.index(heading) < text.index("measure")) == (severity == "error")
        marked = render([summary(findings=[finding])], "markdown")
        assert (marked.index("2 queries are missing.") < marked.index("| measure")) == (severity == "error")


def test_findings_of_several_rankings_are_said_once_and_say_whose_they_are() -> None:
    both, one = Finding("warning", "a", 1, "Both have it."), Finding("warning", "b", 1, "One has it.")
    text = render([summary("x.run", findings=[both, one]), summary("y.run", findings=[both])], "table")
    assert text.count("Both have it.") == 1
    assert "  warning  every run: Both have it." in text
    assert "  warning  x.run: One has it." in text


def test_notes_and_profiles_are_said() -> None:
    text = render([summary(rows=[row(note="estimated from 1,000 orders")], profile="quepid")], "table")
    assert "nDCG@10: estimated from 1,000 orders." in text
    assert "Conventions: profile quepid; ties trec" in text


def test_what_is_no_mean_is_called_by_its_name() -> None:
    text = render([summary(rows=[row("NumRet", 120.0), row("GMAP", 0.2), row("AP", 0.3)])], "table")
    assert "NumRet: the sum over queries, not a mean." in text
    assert "GMAP: the geometric mean over queries." in text
    assert "AP: " not in text.replace("GMAP: ", "")


def test_intervals_made_in_two_ways_are_told_apart() -> None:
    text = render([summary(rows=[row(), row("RR", 1.0, method="all values are equal")])], "table")
    assert f"Intervals: {BCA} (nDCG@10); all values are equal (RR)." in " ".join(text.split())


def test_one_query_has_no_interval_and_says_so() -> None:
    alone = row("RR", low=math.nan, high=math.nan, n=1, method="one query has no interval")
    text = render([summary(rows=[alone], queries=1)], "table")
    assert re.search(r"^RR +0\.5000 +1\.0000 +1$", text, re.MULTILINE)
    assert "95 % interval" not in text
    assert "Intervals: one query has no interval." in text
    beside = render([summary(rows=[row(), alone])], "table")
    assert re.search(r"^RR +0\.5000 +- +1\.0000 +1$", beside, re.MULTILINE)


def test_slices_are_a_table_of_their_own() -> None:
    text = render([summary(slices={"easy": [row(mean=0.75, n=20)], "hard": [row(mean=0.25, n=40)]})], "table")
    assert re.search(r"^easy +0\.7500 +20$", text, re.MULTILINE)
    assert re.search(r"^hard +0\.2500 +40$", text, re.MULTILINE)


def test_only_the_best_mean_of_each_measure_is_marked() -> None:
    first = summary("a", [row("RR", 0.5), row("AP", 0.3), row("Unjudged@5", 0.2, higher=False)])
    second = summary("b", [row("RR", 0.6), row("AP", 0.3), row("Unjudged@5", 0.4, higher=False)])
    lines = render([first, second], "table").splitlines()
    assert [re.sub(r"\[.*?\]", "", line).split() for line in lines if line.startswith(("RR", "AP", "Unjudged"))] == [
        ["RR", "0.5000", "0.6000*"],
        ["AP", "0.3000", "0.3000"],
        ["Unjudged@5", "0.2000*", "0.4000"],
    ]


def test_wide_and_long_names_do_not_break_the_table() -> None:
    names = ["密集検索" * 12, "a" * 200, "b|c_d&e"]
    for count in (1, 2, 3):
        lines = render([summary(name) for name in names[:count]], "table").splitlines()
        assert max(map(width, lines)) <= 80


def test_markdown_and_latex_escape_what_they_would_read() -> None:
    markdown, latex = (render([summary("a|b_c"), summary("50%&x")], form) for form in ("markdown", "latex"))
    assert "a\\|b\\_c" in markdown
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in rows} == {4}
    assert "50\\%\\&x" in latex
    assert "{[}.450, .550{]}" in latex


def test_latex_sets_the_best_mean_in_bold() -> None:
    latex = render([summary("a"), summary("b", [row(mean=0.6)])], "latex")
    assert "a & 0.5000 \\\\" in latex
    assert "b & \\textbf{0.6000} \\\\" in latex


def test_csv_quotes_what_it_must_and_leaves_out_what_is_not_known() -> None:
    found = next(csv.DictReader(io.StringIO(render([summary('a,"b"\n')], "csv"))))
    assert found["ranking"] == 'a,"b"\n'
    assert found["ties_low"] == ""
    assert float(found["low"]) == 0.45


def test_json_has_null_where_there_is_no_number() -> None:
    found = json.loads(render([summary(rows=[row(low=math.nan, high=math.inf)])], "json"))
    assert (found[0]["low"], found[0]["high"], found[0]["ceiling"]) == (None, None, 1.0)


def test_slices_are_records_of_their_own() -> None:
    text = render([summary(slices={"easy": [row(mean=0.75, n=20)]})], "jsonl")
    assert [(each["slice"], each["mean"], each["n"]) for each in map(json.loads, text.splitlines())] == [
        (None, 0.5, 60),
        ("easy", 0.75, 20),
    ]


@pytest.mark.parametrize("form", [name for name, each in formats_by_name().items() if each.general and not each.binary])
def test_values_of_queries_in_every_text_format(form: str) -> None:
    text = as_text(queries({"a.run": {"RR": {"q_1": 0.5}, "AP": {"q_1": 0.25}}}), check(form))
    assert "RR" in text
    assert re.search(r"q\\?_1", text)
    assert "0.25" in text


def test_an_unknown_format_is_met_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="Did you mean 'latex'"):
        render([summary()], "latx")


def test_columns_of_parquet_have_their_types_even_when_empty() -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = check("parquet").render(scores([summary(rows=[row(ceiling=None, low=None)])]))
    table = pq.read_table(pa.BufferReader(data))
    types = {field.name: str(field.type) for field in table.schema}
    assert (types["slice"], types["ceiling"], types["n"], types["mean"]) == (
        "string",
        "double",
        "int64",
        "double",
    )
    assert set(types.values()) == {"string", "double", "int64"}


def test_parquet_is_no_text() -> None:
    with pytest.raises(UsageError, match=r"-o FILE\.parquet"):
        render([summary()], "parquet")


def test_the_mark_of_the_best_is_explained_where_it_is_used() -> None:
    """And no mean is marked where nothing can be told: of few queries, or within the interval of the best."""
    nothing, right = ["x", "y"], ["a", "x"]
    cases = [
        (1, [right], False),
        (9, [right] * 9, False),
        (12, [nothing] * 12, False),
        (12, [right] + [nothing] * 11, False),
        (12, [right] * 12, True),
        (60, [right] * 20 + [nothing] * 40, True),
    ]
    for n, lists, told in cases:
        relevant = {f"q{i}": {"a": 1} for i in range(n)}
        runs = [{f"q{i}": nothing for i in range(n)}, {f"q{i}": each for i, each in enumerate(lists)}]
        summaries = [evaluate(relevant, run, "RR").summary(str(i)) for i, run in enumerate(runs)]
        for form, best in (("table", "1.0000*"), ("markdown", r"1.0000\*"), ("latex", r"\textbf{"), ("html", "<b>1.")):
            text = " ".join(render(summaries, form).split())
            assert ("best mean, if it and the worst are outside each" in text) is told, (n, form)
            assert ("not a claim that the difference is real" in text) is told
            assert told or best not in text
