"""Numbers as people read them: never a 0 or a 1 that is none."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankproof.document.numbers import probability, score, share, short_span, signed_number, signed_span, span


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0000"),
        (0.00004, "<.0001"),
        (-0.00004, ">-.0001"),
        (0.00005001, "0.0001"),
        (0.99995, ">.9999"),
        (0.99994, "0.9999"),
        (1.0, "1.0000"),
        (0.1 + 0.2 + 0.7, "1.0000"),
        (1 - 1e-16, "1.0000"),
        (1e-17, "0.0000"),
        (-0.25, "-0.2500"),
        (12.3456, "12.346"),
        (123456.78, "123,456.8"),
        (math.nan, "-"),
        (math.inf, "inf"),
        (None, "-"),
    ],
)
def test_scores(value: float | None, text: str) -> None:
    assert score(value) == text


@given(st.floats(0, 1))
def test_a_score_reads_as_0_or_1_only_where_it_is(value: float) -> None:
    text = score(value)
    assert (text == "0.0000") == (value < 1e-9)
    assert (text == "1.0000") == (value > 1 - 1e-9)


@given(st.floats(0, 1))
def test_a_share_reads_as_nothing_or_all_only_where_it_is(value: float) -> None:
    assert (share(value) == "0 %") == (value == 0)
    assert (share(value) == "100 %") == (value == 1)


def test_an_interval_of_one_query_is_no_interval() -> None:
    assert span(math.nan, math.nan) == short_span(math.nan, math.nan) == "-"


def test_minus_zero_is_zero() -> None:
    assert score(-0.0) == "0.0000"


@pytest.mark.parametrize(
    ("p", "level", "shown"),
    [
        (0.0503, 0.05, ".0503"),
        (0.04996, 0.05, ".050"),
        (0.05, 0.05, ".050"),
        (0.1004, 0.1, ".1004"),
        (0.0503, 0.1, ".050"),
    ],
)
def test_a_p_value_is_shown_on_its_own_side_of_the_level(p: float, level: float, shown: str) -> None:
    assert probability(p, level) == shown


def test_an_end_beside_zero_is_not_shown_as_zero() -> None:
    assert signed_span(0.0002, 0.2) == "[+.0002, +.200]"
    assert signed_span(-0.2, -0.00001) == "[-.200, >-.0001]"
    assert signed_span(0.0, 12.5) == "[+.000, +12.5]"
    assert signed_number(0.00001) == "<.0001"
