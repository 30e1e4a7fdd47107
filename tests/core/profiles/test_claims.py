"""What a profile claims of each measure: never more than was shown."""

from __future__ import annotations

import json
import math

import pytest

from rankproof import evaluate, explain
from rankproof.core.explanation import claim
from rankproof.core.names import REGISTRY, find, parse
from rankproof.core.profiles import PROFILES, as_in
from tests.core.profiles.test_golden_values import PRINTED, TABLE, cases, golden
from tests.core.profiles.test_verdicts import JUDGED
from tests.shell import rankproof

find("P")  # every measure is declared
RANKED = [name for name, measure in REGISTRY.items() if measure.spec.kind == "ranking"]
NEEDS = {"TN": {"corpus_size": 100}, "Accuracy": {"corpus_size": 100}}
PRINTED_BY = {
    "trec_eval-10": set(PRINTED),
    "trec_eval-9": set(PRINTED) - {"rbp", "rbp_resid", "unj_5", "unj_10", "unj_20"},
}
OF_VERDICTS = {
    tool: {ours for name, _, ours in JUDGED if name == tool} | {"StRecall"} for tool in ("ragas", "deepeval")
}


def shown_equal(profile: str) -> set[str]:
    """The measures that the golden values hold the profile against, as it makes them, without cut-offs."""
    if profile in OF_VERDICTS:
        asked = OF_VERDICTS[profile]
    else:
        asked = {*TABLE[profile][1].values(), *(PRINTED[name] for name in PRINTED_BY.get(profile, ()))}
    return {plain(profile, name) for name in asked}


def plain(profile: str, name: str) -> str:
    """The measure under the profile without what the tool lets one choose."""
    measure = as_in(PROFILES[profile], parse(name))
    free = {"k", *PROFILES[profile].free_of.get(measure.spec.name, PROFILES[profile].free).split()}
    kept = {key: value for key, value in measure.params.items() if key not in free}
    return measure.spec.name + json.dumps(kept, sort_keys=True, default=str)


@pytest.mark.parametrize("profile", PROFILES)
def test_equality_is_claimed_where_golden_values_show_it_and_nowhere_else(profile: str) -> None:
    known = PROFILES[profile]
    claimed = {plain(profile, each.removesuffix("@k")) for each in known.proven.split()}
    apart = {plain(profile, name) for name in known.other.split()}
    assert claimed == {each for each in shown_equal(profile) if each.partition("{")[0] not in known.other.split()}
    assert not apart & claimed
    named = [*known.other.split(), *known.unproven.split(), *known.free_of]
    named += [name for about in known.beyond.values() for name in about.split()]
    assert set(named) <= set(REGISTRY)
    assert not {*known.unproven.split()} & {each.partition("(")[0].removesuffix("@k") for each in known.proven.split()}
    assert all(any(name in about.split() for about in known.beyond.values()) for name in known.other.split())


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
def test_every_face_says_what_is_claimed_of_every_measure(profile: str) -> None:
    judged, run = {"q": {"a": 2, "b": 1, "c": 0}}, {"q": {"a": 3.0, "c": 2.0, "b": 1.0}}
    plain = [name for name in RANKED if name not in NEEDS]
    rows = dict(zip(plain, evaluate(judged, run, plain, profile=profile).summary().rows, strict=True))
    for name in RANKED:
        found = claim(profile, as_in(PROFILES[profile], parse(name)))
        assert (found.note == "") == (found.kind == "proven")
        assert profile in found.note or found.kind == "proven"
        settings = NEEDS.get(name, {})
        row = rows.get(name) or evaluate(judged, run, name, profile=profile, **settings).summary().rows[0]
        assert row.note.endswith(found.note)
        beside = explain(judged, run, "q", name, versus=profile, **settings)
        text = " ".join(str(beside).split())
        assert beside.other is not None
        assert beside.to_dict()["versus"]["claim"] == {"kind": found.kind, "note": found.note}
        assert (f" as in {profile}:" in text) == found.equal
        assert (f" under the profile {profile}:" in text) != found.equal
        assert found.equal or "Nothing differs" not in text
        own = explain(judged, run, "q", name, profile=profile, **settings)
        assert found.note in " ".join(str(own).split()).replace(" Note: ", " ")


def test_where_a_tool_has_another_number_it_has_another_number() -> None:
    """What is called "not equal" differs in the tool's own values, so that the sentence is no mere caution."""
    for profile, (tool, names, _, _) in TABLE.items():
        for other in PROFILES[profile].other.split():
            asked = {theirs: ours for theirs, ours in names.items() if parse(ours).spec.name == other}
            gaps = [
                abs(evaluate(case["judgments"], case["run"], ours, profile=profile).per_query[ours][query] - value)
                for name, case in cases().items()
                for theirs, ours in asked.items()
                for query, value in golden(tool)["cases"][name].get("per_query", {}).get(theirs, {}).items()
                if value is not None
            ]
            assert max(gaps) > 0.1


def test_the_number_that_ranx_has_is_not_called_ours() -> None:
    judged, run = {"q1": {"d1": 3, "d2": 1}}, {"q1": {"d1": 3.0, "x": 2.0, "d2": 1.0}}
    found = explain(judged, run, "q1", "RBP(p=0.8)", versus="ranx")
    assert math.isclose(found.value, 0.328)
    assert found.differences[0] == (
        "Not the number of ranx: in rankings of more than 15 documents equal scores come in no fixed order; its RBP "
        "weighs a document by its grade, so that it can exceed 1."
    )


def test_parameters_of_ones_own_are_not_the_tools() -> None:
    for profile, name, kind in (
        ("trec_eval-10", "nDCG(gain='exp')@10", "own"),
        ("trec_eval-10", "nDCG(rel=2)@10", "own"),
        ("trec_eval-10", "P(rel=2)@10", "proven"),
        ("trec_eval-9", "Q@10", "absent"),
        ("trec_eval-9", "RBP", "absent"),
        ("trec_eval-9", "yaap", "unproven"),
        ("elasticsearch", "nDCG(ideal='top')@10", "own"),
        ("sklearn", "AP@10", "own"),
        ("ranx", "F(beta=2)@10", "own"),
        ("deepeval", "P@5", "own"),
        ("deepeval", "context_relevance", "proven"),
    ):
        assert claim(profile, as_in(PROFILES[profile], parse(name))).kind == kind, (profile, name)


def test_the_shell_says_it_in_the_table_and_as_data(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "q").write_text("q1 0 d1 3\nq1 0 d2 1\n")
    (tmp_path / "r").write_text("q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t\n")
    words = ("evaluate", "q", "r", "-m", "RBP,ERR,nDCG@10", "--profile", "ranx")
    said = " ".join(rankproof(tmp_path, *words).stdout.split())
    assert "RBP: not the number of ranx: " in said
    assert "ERR: ranx has no such measure; only its conventions are followed." in said
    notes = [row["note"] for row in json.loads(rankproof(tmp_path, *words, "-f", "json").stdout)]
    assert all("ranx" in note for note in notes)
    listed = rankproof(tmp_path, "profiles", "ranx").stdout
    assert "Not equal: RBP" in listed
    assert "All others: not in the tool" in listed
