"""The three rankings are real: they can be made again, and they are well-formed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from rankproof import sample

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "make_sample_rankings.py"
NAMES = ["keyword", "dense", "fused"]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    if not SCRIPT.exists():
        pytest.skip(f"the script that makes the rankings is not at {SCRIPT}: tests run outside a checkout")
    spec = importlib.util.spec_from_file_location("make_sample_rankings", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def made_again(script, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("rankings")
    script.main(folder)
    return folder


def columns(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_script_makes_the_same_rankings_again(name, made_again):
    assert (made_again / f"{name}.run").read_bytes() == (sample.folder() / f"{name}.run").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_ranks_count_from_one_and_scores_never_rise(name):
    previous = ("", 0, 0.0)
    for query, _, _, rank, score, _ in columns(sample.folder() / f"{name}.run"):
        expected = previous[1] + 1 if query == previous[0] else 1
        assert int(rank) == expected
        assert expected == 1 or float(score) <= previous[2]
        previous = (query, expected, float(score))


@pytest.mark.parametrize("name", NAMES)
def test_rankings_name_known_questions_and_documents_once_and_are_50_deep(name):
    rows = columns(sample.folder() / f"{name}.run")
    assert len({(row[0], row[2]) for row in rows}) == len(rows)
    assert {row[0] for row in rows} <= sample.queries().keys()
    assert {row[2] for row in rows} <= sample.corpus().keys()
    assert max(len(ranking) for ranking in sample.rankings()[name].values()) == 50
    assert {row[5] for row in rows} == {name}


def test_rankings_are_read_as_the_files_have_them():
    assert list(sample.rankings()) == NAMES
    query, _, document, _, score, _ = columns(sample.folder() / "fused.run")[7]
    assert sample.rankings()["fused"][query][document] == float(score)


@pytest.mark.parametrize(("name", "depth"), [("keyword", 5), ("dense", 5), ("fused", 3)])
def test_the_judged_pool_holds_the_head_of_each_ranking(name, depth):
    judged = sample.judgments()
    for query, ranking in sample.rankings()[name].items():
        assert set(list(ranking)[:depth]) <= judged[query].keys(), query


def test_some_of_what_was_found_is_not_judged_as_in_real_life():
    judged = sample.judgments()
    found = [(q, d) for q, ranking in sample.rankings()["fused"].items() for d in ranking]
    assert sum(d not in judged[q] for q, d in found) > len(found) / 2


def test_keyword_search_is_blind_to_questions_in_which_every_telling_word_is_misspelt():
    missing = sample.queries().keys() - sample.rankings()["keyword"].keys()
    assert len(missing) == 4
    assert {sample.kinds()[query] for query in missing} == {"typo"}
    assert "account-email-01" in list(sample.rankings()["dense"]["q18"])[:3]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("policies", "policy"),
        ("invoices", "invoice"),
        ("files", "file"),
        ("glass", "glass"),
        ("status", "status"),
    ],
)
def test_stem_takes_off_plurals_only(script, word, expected):
    assert script.stem(word) == expected


def test_bm25_prefers_the_rare_word_and_leaves_out_what_shares_no_word(script):
    documents = {"a": "red apple", "b": "red pear", "c": "green fig"}
    found = script.bm25(documents, {"q": "red pears"})["q"]
    assert list(found) == ["b", "a"]
    # By hand: log(1 + 1.5 / 2.5) for red, log(1 + 2.5 / 1.5) for pear; all documents are of mean length.
    assert found["b"] == pytest.approx(0.470004 + 0.980829, abs=1e-6)


def test_lsa_finds_a_misspelt_word(script):
    documents = {"a": "encryption of files", "b": "payment by card", "c": "printing photographs"}
    assert next(iter(script.lsa(documents, {"q": "encrpytion"}, dimensions=3)["q"])) == "a"


def test_fusion_adds_the_reciprocal_ranks(script):
    fused = script.fuse({"q": {"a": 9.0, "b": 8.0}}, {"q": {"b": 0.7, "c": 0.6}})
    assert fused == {"q": pytest.approx({"b": 1 / 62 + 1 / 61, "a": 1 / 61, "c": 1 / 62})}
    assert list(fused["q"]) == ["b", "a", "c"]
