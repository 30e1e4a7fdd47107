"""Every measure explains itself: in words, by fields, and by an example that runs."""

from __future__ import annotations

import doctest
import re

from rankproof.core.measure import Measure
from rankproof.core.names import REGISTRY, parse
from rankproof.scoring.catalogue import sections
from tests.each import with_each

FIELDS = ("Formula", "Range", "Perfect", "Worst", "Blind to", "Use", "Reference")


@with_each("measure", REGISTRY.values())
def test_first_line_is_one_sentence(measure: Measure) -> None:
    title = measure.spec.title
    assert title.endswith("."), title
    assert len(title) <= 106


@with_each("measure", REGISTRY.values())
def test_fields_are_complete_and_in_order(measure: Measure) -> None:
    _, fields, *_ = re.split(r"\n\s*\n", measure.spec.doc)
    starts = [line for line in fields.splitlines() if not line.startswith(" ")]
    assert tuple(line.partition(":")[0] for line in starts) == FIELDS
    told = sections(measure.spec.doc)
    assert tuple(told) == FIELDS
    assert " ".join(f"{name}: {text}" for name, text in told.items()) == " ".join(fields.split())
    assert all(text.endswith(".") for text in told.values())


@with_each("measure", REGISTRY.values())
def test_example_runs(measure: Measure) -> None:
    example = doctest.DocTestParser().get_doctest(measure.spec.doc, {}, str(measure), None, 0)
    assert len(example.examples) >= 2
    said: list[str] = []
    failed = doctest.DocTestRunner(verbose=False).run(example, out=said.append).failed
    assert not failed, "".join(said)


@with_each("measure", REGISTRY.values())
def test_every_name_means_it(measure: Measure) -> None:
    assert parse(str(measure)) == measure
    for other, params in measure.spec.also.items():
        assert parse(other) == measure.with_params(params)
        assert parse(str(parse(other))) == parse(other)
