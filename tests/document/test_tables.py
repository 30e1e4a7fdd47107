"""Tables line up and fit, whatever stands in their cells."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rankproof.document.terminal import Column, blocks, clean, cut, cut_apart, pad, table, width, wrap

TEXT = st.text(max_size=60)


def test_wide_characters_take_two_columns() -> None:
    assert (width("検"), width("Ａ"), width("é"), width("e\u0301")) == (2, 2, 1, 1)
    assert pad("検索", 6) == "検索  "
    assert pad("検索", 6, right=True) == "  検索"
    lines = table([Column("query", ["検索", "abcd"]), Column("RR", ["0.5000", "1.0000"], right=True)])
    assert lines[-2:] == ["検索   0.5000", "abcd   1.0000"]


def test_headings_stand_on_one_base_line() -> None:
    lines = table([Column("measure", ["P@5"]), Column("never\nfound", ["0.1000"], right=True)])
    assert lines == [
        "          never",
        "measure   found",
        "-------  ------",
        "P@5      0.1000",
    ]


def test_columns_that_do_not_fit_go_on_below_with_their_labels() -> None:
    columns = [Column("query", ["q1"]), *(Column(f"measure-{i}", [f"{i}"], right=True) for i in range(4))]
    assert table(columns, 30) == [
        "query  measure-0  measure-1",
        "-----  ---------  ---------",
        "q1             0          1",
        "",
        "query  measure-2  measure-3",
        "-----  ---------  ---------",
        "q1             2          3",
    ]


def test_an_id_cannot_move_the_cursor() -> None:
    assert clean("a\nb\x1b[2Jc\u202ed") == "a\\nb\\x1b[2Jc\\u202ed"
    assert clean("Straße 検索 é") == "Straße 検索 é"


@given(TEXT, st.integers(3, 40))
def test_a_cut_text_fits_and_keeps_both_ends(text: str, limit: int) -> None:
    short = cut(text, limit)
    assert width(short) <= limit
    assert short == clean(text) or "..." in short


LONG = st.builds(
    "{}{}{}".format, st.sampled_from(["", "bm25-" * 12, "検索" * 20]), TEXT, st.sampled_from(["", "/run" * 20])
)


@given(st.lists(LONG, unique_by=clean, max_size=8), st.integers(12, 40))
def test_names_that_are_cut_stay_apart(names: list[str], limit: int) -> None:
    short = cut_apart(names, limit)
    assert len(set(short)) == len(names)
    assert all(width(each) <= limit for each in short)


def rows_of(part: list[str], like: list[str]) -> list[str]:
    """The rows of a part, no further than the columns that it shares with another one."""
    rule, other = (next(line for line in each if set(line) <= set("- ")) for each in (part, like))
    shared = next((n for n, (a, b) in enumerate(zip(rule, other, strict=False)) if a != b), len(rule))
    return [line[:shared].rstrip() for line in part[part.index(rule) + 1 :]]


@given(st.lists(st.tuples(st.sampled_from(["pass", "fail"]), LONG), unique_by=lambda row: clean(row[1]), max_size=6))
def test_every_part_of_a_table_names_its_rows(rows: list[tuple[str, str]]) -> None:
    numbers = [Column(f"a long heading {i}", ["0.5"] * len(rows), right=True) for i in range(8)]
    names = [Column("outcome", [row[0] for row in rows]), Column("name", [f"{row[1]}x" for row in rows])]
    for first in (names, names[1:]):
        parts = blocks([*first, *numbers], 80)
        assert len(parts) > 1
        for part in parts:
            assert all(width(line) <= 80 for line in part)
            assert len(set(rows_of(part, parts[-1]))) == len(rows)


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=5), st.integers(20, 80))
def test_no_line_is_wider_than_the_screen_and_all_columns_line_up(rows: list[tuple[str, str]], limit: int) -> None:
    columns = [Column("id", [row[0] for row in rows]), Column("number", [row[1] for row in rows], right=True)]
    lines = table(columns, limit)
    assert all(width(line) <= limit for line in lines)
    assert len(lines) == len(rows) + 2
    rule = lines[1]
    for line in lines[2:]:
        assert width(line) <= width(rule)


@given(TEXT, st.integers(14, 80), st.sampled_from(["- ", "  ", "question: "]))
def test_wrapped_lines_fit_and_lose_nothing(text: str, limit: int, first: str) -> None:
    lines = wrap(text, limit, first, "  ")
    assert all(width(line) <= limit for line in lines)
    assert "".join("".join(lines)[len(first) :].split()) == "".join(clean(" ".join(text.split())).split())
