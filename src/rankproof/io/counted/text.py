"""The counting query as text, for every engine that speaks SQL.

Rank is a sum: the rank of a judged document is 1 + the number of rows of its query before it. Sums need no
sort, and add up however an engine splits the rows.

Documents are compared by the bytes of their ids, whatever collation a column has; scores as double precision plus
0: engines that order floats by their bits take -0.0 as less than 0.0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pkgutil import get_data

from rankproof.core.conventions import Conventions
from rankproof.document.numbers import setting
from rankproof.errors import UsageError, check_one_of, is_one_of

PROBED = 1000
"""In so many queries all documents are looked at for repetitions, if not in every one."""
HIGHEST_FLOAT32 = 3.4028235677973366e38
"""From here on a number is infinite in single precision: half a step above the largest."""


@dataclass(frozen=True)
class SqlDialect:
    """The differences between the SQL of engines."""

    text: str
    """An id as text."""
    bytes: str
    """Text as bytes, which compare and group without a collation."""
    double: str
    """A number in double precision."""
    exact: str
    """A decimal number in double precision, rounded once."""
    nan: str
    """Whether a number of double precision is NaN, as a condition."""
    single: str = ""
    """A number in single precision; empty if the engine has none."""
    whole: str = "bigint"
    """The type of whole numbers; sums would arrive as decimals else."""
    quote: str = '"'
    short: str = "varchar"
    """The type of text."""
    most: str = "max({})"
    least: str = "min({})"
    """The largest and the smallest number of a group. DataFusion's max of infinities below zero is -1.8e308, its min of
    those above zero 1.8e308 (55.0), and Sail, which speaks Spark's SQL, has the same."""


DIALECTS = {
    name: SqlDialect(**told) for name, told in json.loads(get_data(__package__, "dialects.json") or b"").items()
}
"""The engines whose SQL is known, in `dialects.json`; what is run in the tests stands in docs/scale.md."""
QUERY = re.compile(r"\s*(\(|(select|with|from|values)\s)", re.IGNORECASE)
PLAIN = re.compile(r"[A-Za-z_]\w*")
OWN = "rankproof_counting_"
"""Every name that the query gives to a table begins so."""
GIVEN = f"{OWN}given"
"""The name of a given table."""


@dataclass(frozen=True)
class Counted:
    """What stands where in an engine, and what is to be counted there."""

    run: str = "run"
    """The table of rankings, or a query that gives one."""
    columns: Mapping[str, str] = field(default_factory=lambda: {"query": "query_id", "doc": "doc_id", "score": "score"})
    """The columns of the run by role: query, doc, and score or rank."""
    judgments: str = "judgments"
    """The table of judged documents."""
    judged: Mapping[str, str] = field(default_factory=lambda: {"query": "query_id", "doc": "doc_id"})
    """Its columns by role: query and doc."""
    numbered: bool = False
    """Whether it has the columns `query`, `judgment` and `probe` too: numbers that are handed back in place of ids,
    and 1 for queries in the sample."""
    decimal: bool = False
    """Whether scores are decimal numbers."""
    distinct: str = "sample"
    """Where documents that nobody judged are looked at for repetitions: in a `sample` of queries, or in `all`."""


def check_counted(conventions: Conventions, source: str, columns: Collection[str] = ("rank",)) -> None:
    """Refuse what needs the order of the rows, as no engine keeps it, and ranks if there is no column of them."""
    trec, rank, best = setting("ties", "trec"), setting("ties", "rank"), setting("duplicates", "best")
    ordered = f"{trec}, or write the order into a rank column and choose {rank}"
    for name, word, other in (("ties", "input", ordered), ("duplicates", "first", best)):
        if getattr(conventions, name) == word:
            raise UsageError(
                f"{source}: {setting(name, word)} needs the order in which the rows were given, which no engine keeps. "
                f"Next: choose {other}, or collect the rows into memory first."
            )
    if "rank" not in columns and (conventions.ties == "rank" or "score" not in columns):
        raise UsageError(
            f"{source}: {rank} was asked for, but there is no rank column. "
            f"Next: name it, or choose another rule, like {trec} for the order by score."
        )


def rules_of(conventions: Conventions) -> str:
    """The settings of the counts, in words that are returned with them."""
    ties = conventions.ties if is_one_of(conventions.ties, ("id", "rank")) else "trec"
    return f"ties={ties} duplicates={conventions.duplicates} precision={conventions.precision}"


def counting_text(dialect: str, what: Counted, conventions: Conventions) -> str:
    """The query that counts.

    It gives a row for each judged document that was found, and one without a document for each judged query that has
    a ranking.

    >>> counting_text("duckdb", Counted(), Conventions()).splitlines()[0]
    'with rankproof_counting_rows as ('
    """
    check_one_of("dialect", dialect, DIALECTS)
    check_counted(conventions, what.run, what.columns)
    spoken = DIALECTS[dialect]
    best = conventions.duplicates == "best"
    by_rank = conventions.ties == "rank" or "score" not in what.columns
    # The columns of given tables are qualified, so that none is taken for a name of this query.
    query, doc = (key(dialect, what.columns[role], GIVEN) for role in ("query", "doc"))
    score = _order(dialect, what, conventions, by_rank)
    bad = f"case when {score} is null or {spoken.nan.format(score)} then 1 else 0 end"
    whole, none = f"cast({{}} as {spoken.whole})".format, f"cast(null as {spoken.whole})"
    no_id = spoken.bytes.format("''")
    own, judgment = ("query", "judgment") if what.numbered else ("query_id", "doc_id")
    answers = "query, judgment, probe"
    if not what.numbered:
        ids = (spoken.text.format(quote_name(dialect, what.judged[role], GIVEN)) for role in ("query", "doc"))
        answers = "{} as query_id, {} as doc_id".format(*ids)
    before = "<" if conventions.ties == "id" else ">"
    probed = "1 = 1" if what.distinct == "all" else "w.probe = 1"
    rules = f"'{rules_of(conventions)}'"
    return f"""with {OWN}rows as (
  select {query} as q, {doc} as d, {spoken.most.format(score) if best else score} as s,
    {"count(*)" if best else "1"} as copies, {f"max({bad})" if best else bad} as bad
  from {table_in(dialect, what.run)}{f" group by {query}, {doc}" if best else ""}
),
{OWN}judged as (
  select {"" if what.numbered else "distinct "}{key(dialect, what.judged["query"], GIVEN)} as q,
    {key(dialect, what.judged["doc"], GIVEN)} as d, {answers}
  from {table_in(dialect, what.judgments)}
),
{OWN}hits as (
  select j.q, j.d, min(j.{own}) as {own}, min(j.{judgment}) as {judgment},
    {spoken.most.format("r.s")} as s, {spoken.least.format("r.s")} as lowest, count(*) as times
  from {OWN}rows r inner join {OWN}judged j on r.q = j.q and r.d = j.d group by j.q, j.d
),
{_wanted(what, own)}
select min(h.{own}) as {own}, min(h.{judgment}) as {judgment}, {whole("max(h.times)")} as times,
    {whole(f"1 + sum(case when r.s > h.s or (r.s = h.s and r.d {before} h.d) then 1 else 0 end)")} as place,
    {whole("1 + sum(case when r.s > h.s then 1 else 0 end)")} as first_place,
    {whole("sum(case when r.s >= h.s then 1 else 0 end)")} as last_place,
    {whole("max(case when h.s <= 0 then 1 else 0 end)")} as low, {spoken.most.format("h.lowest")} as lowest,
    {spoken.most.format("h.s")} as highest,
    {none} as retrieved, {none} as unlike, {none} as dropped, {none} as bad, {rules} as rules
  from {OWN}rows r inner join {OWN}hits h on r.q = h.q group by h.q, h.d
union all
select min(w.{own}), {none if what.numbered else f"cast(null as {spoken.short})"}, {none}, {none}, {none}, {none},
    {none}, {spoken.double.format("null")}, {spoken.double.format("null")}, {whole("count(*)")},
    {whole(f"case when max(w.probe) = 1 then count(distinct case when {probed} then r.d end) end")},
    {whole("sum(r.copies) - count(*)")},
    {whole(f"sum(case when r.bad = 1 or r.d is null or r.d = {no_id} then 1 else 0 end)")}, {rules}
  from {OWN}rows r inner join {OWN}wanted w on r.q = w.q group by w.q
"""


def _order(dialect: str, what: Counted, conventions: Conventions, by_rank: bool) -> str:
    """The sort key of rows: their scores, or minus their ranks."""
    spoken = DIALECTS[dialect]
    if by_rank:
        return f"(0.0 - {spoken.double.format(quote_name(dialect, what.columns['rank'], GIVEN))})"
    number = (spoken.exact if what.decimal else spoken.double).format(quote_name(dialect, what.columns["score"], GIVEN))
    if conventions.precision == "float32":
        if not spoken.single:
            raise UsageError(
                f"dialect {dialect}: scores in single precision were asked for, which this engine does not have. "
                "Next: leave the profile out, or collect the rows into memory first."
            )
        # Some engines refuse to make infinite what is too large, so that is written out.
        infinite = spoken.double.format("'Infinity'")
        single = spoken.double.format(spoken.single.format(number))
        number = (
            f"case when {number} >= {HIGHEST_FLOAT32!r} then {infinite} "
            f"when {number} <= {-HIGHEST_FLOAT32!r} then -{infinite} else {single} end"
        )
    return f"({number} + 0.0)"


def _wanted(what: Counted, own: str) -> str:
    """The judged queries, and in which of them every document is looked at for repetitions."""
    probe = "max(probe)" if what.numbered and what.distinct != "all" else "1"
    each = f"select q, min({own}) as {own}, {probe} as probe from {OWN}judged group by q"
    if what.numbered or what.distinct == "all":
        return f"{OWN}wanted as ({each})"
    return f"""{OWN}listed as ({each}),
{OWN}wanted as (
  select q, {own}, case when {own} <= (select max({own}) from (
      select {own} from {OWN}listed order by {own} limit {PROBED}) {OWN}some) then 1 else 0 end as probe
  from {OWN}listed
)"""


def key(dialect: str, column: str, table: str = "") -> str:
    """A column of ids as bytes, by which rows are joined, grouped and compared."""
    spoken = DIALECTS[dialect]
    return spoken.bytes.format(spoken.text.format(quote_name(dialect, column, table)))


def quote_name(dialect: str, name: str, table: str = "") -> str:
    """A name as the engine reads it; Snowflake's are in upper case unless they are quoted."""
    if not name.strip():
        raise UsageError(f"got {name!r} as the name of a table or column, expected one like lake.run. Next: name it.")
    quote = "" if dialect == "snowflake" and PLAIN.fullmatch(name) else DIALECTS[dialect].quote
    return f"{table}{'.' * bool(table)}{quote}{name.replace(quote, 2 * quote)}{quote}"


def table_in(dialect: str, table: str) -> str:
    """A table by its name, a.b.c or "a b".c too, or a query in its place, under the name of a given table."""
    if QUERY.match(table):
        return f"({table.rstrip().rstrip(';')}\n) {GIVEN}"  # a comment may end it
    quote, parts = DIALECTS[dialect].quote, table.split(".")
    is_written = table.startswith(("{", quote)) or f".{quote}" in table
    quoted = table if is_written else ".".join(quote_name(dialect, part) for part in parts)
    return f"{quoted} {GIVEN}"
