"""Preference measures: worked examples, and agreement with counting pair by pair."""

import random

import pytest

from rankproof.compat.trec_eval.columns import preference_value, preferences
from rankproof.compat.trec_eval.files import CATALOGUE, JudgedFile
from rankproof.core.measures.preferences import possible_preferences
from rankproof.errors import DataError
from tests.each import with_each

from .preference_oracle import judges_of, oracle

NAMES = [name for name, entry in CATALOGUE.items() if entry.kind == "preferences"]


def judged(*rows):
    return [JudgedFile("q", *row) for row in rows]


ONE_ORDER = judged(
    ("u1", "s1", "d1", 3), ("u1", "s1", "d2", 2), ("u1", "s1", "d3", 0),
    ("u1", "s1", "d4", 6), ("u1", "s1", "d5", 0), ("u1", "s1", "d6", 2),
)  # fmt: skip
TWO_PARTS = judged(
    ("u1", "s1", "d1", 3), ("u1", "s1", "d2", 2), ("u1", "s1", "d3", 1),
    ("u1", "s2", "d2", 5), ("u1", "s2", "d4", 4),
)  # fmt: skip
TWO_JUDGES = judged(
    ("u1", "s1", "d1", 3), ("u1", "s1", "d2", 2),
    ("u2", "s1", "d1", 0), ("u2", "s1", "d3", 6), ("u2", "s1", "d4", 2),
    ("u2", "s2", "d1", 0), ("u2", "s2", "d2", 8),
)  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "number"), [(ONE_ORDER, 13), (TWO_PARTS, 5), (TWO_JUDGES, 5)], ids=["order", "parts", "judges"]
)
def test_preferences_are_counted_with_what_follows_from_them(rows, number):
    assert possible_preferences(preferences(rows, [])) == number


def test_no_preference_between_documents_of_different_parts():
    known = preferences(TWO_PARTS, ["d4", "d3"])
    assert preference_value("prefs_num_prefs_ful_ret", known) == 0
    assert preference_value("prefs_simp_ret", known) == 0


def test_a_ranking_in_the_order_preferred_fulfils_all():
    known = preferences(ONE_ORDER, ["d4", "d1", "x", "d2", "d6", "d3", "d5"])
    for name in ("prefs_simp", "prefs_pair", "prefs_avgjg", "prefs_simp_ret", "prefs_pair_imp"):
        assert preference_value(name, known) == 1.0


def test_a_preferred_document_that_was_not_retrieved_counts_as_failure():
    known = preferences(judged(("u", "s", "a", 1), ("u", "s", "b", 0)), ["b"])
    assert preference_value("prefs_simp", known) == 0
    assert preference_value("prefs_num_prefs_poss", known) == 1
    assert preference_value("prefs_simp_ret", known) == 0


def test_contradicting_judges_halve_the_score_of_a_pair():
    rows = judged(("u1", "s", "a", 1), ("u1", "s", "b", 0), ("u2", "s", "a", 0), ("u2", "s", "b", 1))
    known = preferences(rows, ["a", "b"])
    assert preference_value("prefs_pair", known) == 0.5
    assert preference_value("prefs_simp", known) == 0.5


def test_every_judge_counts_the_same_in_the_mean_over_judges():
    rows = [*ONE_ORDER, *judged(("u2", "s", "d1", 0), ("u2", "s", "d4", 1))]
    known = preferences(rows, ["d1", "d4", "d2", "d6", "d3", "d5"])
    assert preference_value("prefs_avgjg", known) == pytest.approx((12 / 13 + 0) / 2)
    assert preference_value("prefs_simp", known) == pytest.approx(12 / 14)


def test_a_judge_with_fewer_not_relevant_documents_gets_imagined_ones():
    known = preferences(judged(("u", "s", "a", 1)), ["a"])
    assert preference_value("prefs_avgjg_Rnonrel", known) == 1.0
    assert preference_value("prefs_avgjg", known) == 0.0


def test_a_circle_is_an_error():
    rows = judged(("u", "1", "a", 2), ("u", "1", "b", 1), ("u", "2", "b", 2), ("u", "2", "a", 1))
    with pytest.raises(DataError, match="going round in a circle"):
        preferences(rows, [])


def test_a_document_cannot_be_both_relevant_and_not():
    rows = judged(("u", "1", "a", 2), ("u", "1", "b", 0), ("u", "2", "b", 2), ("u", "2", "c", 1))
    with pytest.raises(DataError, match="not relevant \\(level 0\\) in one place and relevant in another"):
        preferences(rows, [])


def random_judges(rnd):
    """Judgments of up to three judges, in one order or in up to three partial ones that agree."""
    for judge in range(rnd.randrange(1, 4)):
        levels = {f"d{i}": rnd.choice([0, 0, 0, 1, 2, 3]) for i in range(8)}
        for part in range(rnd.choice([1, 1, 2, 3])):
            for document in rnd.sample(list(levels), rnd.randrange(1, 7)):
                yield f"u{judge}", f"s{part}", document, levels[document]


@pytest.mark.slow
@with_each("seed", range(200))
def test_every_measure_agrees_with_looking_at_pairs_one_by_one(seed):
    rnd = random.Random(seed)
    rows = judged(*random_judges(rnd))
    ranking = rnd.sample([f"d{i}" for i in range(11)], rnd.randrange(0, 9))
    judges, retrieved = judges_of(rows, ranking)
    known = preferences(rows, ranking)
    for name in NAMES:
        assert preference_value(name, known) == pytest.approx(oracle(name, judges, retrieved), abs=1e-12), name
