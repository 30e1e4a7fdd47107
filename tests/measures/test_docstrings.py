"""Every measure explains itself: in words, by fields, and by an example that runs."""

from __future__ import annotations

import doctest
import re

import pytest

from rankproof.core.measure import REGISTRY, Measure
from rankproof.core.names import parse

FIELDS = ("Formula", "Range", "Perfect", "Worst", "Blind to", "Use", "Reference")


@pytest.fixture(params=REGISTRY.values(), ids=str)
def each(request: pytest.FixtureRequest) -> Measure:
    return request.param


def test_first_line_is_one_sentence(each: Measure) -> None:
    title = each.spec.title
    assert title.endswith("."), title
    assert len(title) <= 106


def test_fields_are_complete_and_in_order(each: Measure) -> None:
    paragraphs = re.split(r"\n\s*\n", each.spec.doc)
    named = [p.partition(":")[0] for p in paragraphs if p.partition(":")[0] in FIELDS]
    assert tuple(named) == FIELDS
    for paragraph in paragraphs[1:8]:
        assert paragraph.rstrip().endswith("."), paragraph


def test_example_runs(each: Measure) -> None:
    example = doctest.DocTestParser().get_doctest(each.spec.doc, {}, str(each), None, 0)
    assert len(example.examples) >= 2
    said: list[str] = []
    failed = doctest.DocTestRunner(verbose=False).run(example, out=said.append).failed
    assert not failed, "".join(said)


def test_every_name_means_it(each: Measure) -> None:
    assert parse(str(each)) == each
    for other, params in each.spec.also.items():
        assert parse(other) == each.with_params(params)
        assert parse(str(parse(other))) == parse(other)
