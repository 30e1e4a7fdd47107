"""What is wrong with a grid is said before anything runs: with the line, and with the nearest word."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from rankproof import grid
from rankproof.bench.grid.parts import source_of
from rankproof.bench.grid.plan import plan_of
from rankproof.errors import DataError, RankproofError, UsageError

GOOD = """benchmark = "sample"
measure = "nDCG@10"
k = [5, 10]

[chunkers]
whole = "none"
small = { kind = "fixed", size = [20, 40], overlap = 5 }

[retrievers]
words = "keyword"
dense = { kind = "lsa" }
both = { kind = "hybrid", of = ["words", "dense"], cost = 0.5 }

[fusion]
rrf = { kind = "rrf", k = [10, 60] }

[rerankers]
none = "none"

[limits]
retries = 1
"""


@pytest.fixture
def described(tmp_path: Path) -> Any:
    def write(text: str) -> Path:
        path = tmp_path / "bench.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_all_combinations_each_once_and_without_what_makes_no_difference(described: Any) -> None:
    plan = plan_of(source_of(described(GOOD)))
    found = plan.configurations
    assert len(found) == len(set(found)) == 3 * (2 + 2) * 2  # chunkers x (words, dense, both x 2 fusions) x k
    assert {each.fusion for each in found if each.retriever == "words"} == {"-"}
    assert {each.chunker for each in found} == {"whole", "small[size=20]", "small[size=40]"}
    assert [plan.cost(each) for each in found if each.retriever == "both"] == [0.5] * 12


@pytest.mark.parametrize(
    ("good", "bad", "place", "hint"),
    [
        ("measure", "mesure", "mesure", "Did you mean 'measure'?"),
        ("nDCG@10", "nDGC@10", "measure", "Did you mean 'nDCG'?"),
        ("[retrievers]", "[retreivers]", "retreivers", "Did you mean 'retrievers'?"),
        ('"keyword"', '"keywrod"', "retrievers.words.kind", "Did you mean 'keyword'?"),
        ('kind = "fixed"', 'kind = "fixd"', "chunkers.small.kind", "Did you mean 'fixed'?"),
        ("overlap = 5", "overlp = 5", "chunkers.small.overlp", "Did you mean 'overlap'?"),
        ('"words", "dense"]', '"words", "dens"]', "retrievers.both.of", "Did you mean 'dense'?"),
        ('kind = "rrf"', 'kind = "rff"', "fusion.rrf", "Did you mean 'rrf'?"),
        ("retries", "retris", "limits.retris", "Did you mean 'retries'?"),
        ("size = [20, 40]", "size = [20, 0]", "chunkers.small", "size"),
        ("overlap = 5", "overlap = 50", "chunkers.small", "overlap"),
        ("k = [5, 10]", "k = [5, 0]", "k", "at least 1"),
        ("k = [5, 10]", 'k = "5"', "k", "at least 1"),
        ("cost = 0.5", "cost = -1", "retrievers.both.cost", "cost"),
        ('of = ["words", "dense"]', 'of = ["words"]', "retrievers.both", "two retrievers or more"),
        ('none = "none"', 'none = "lexcal"', "rerankers.none.kind", "Did you mean 'lexical'?"),
    ],
)
def test_a_mistake_is_named_with_its_key(described: Any, good: str, bad: str, place: str, hint: str) -> None:
    assert good in GOOD
    with pytest.raises(UsageError) as caught:
        grid(described(GOOD.replace(good, bad, 1)))
    assert f"bench.toml, {place}: " in str(caught.value)
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("good", "bad", "place", "hint"),
    [
        ("k = [5, 10]", 'strategy = ["all"]', "strategy", "one-at-a-time"),
        ('measure = "nDCG@10"', "measures = 5", "measures", "expected names like 'nDCG@10'"),
        ("retries = 1", "retries = -1", "limits.retries", "from 0 to 1000"),
        ("retries = 1", 'timeout = "10 s"', "limits.timeout", "a number above 0"),
        ('of = ["words", "dense"]', "of = 5", "retrievers.both.of", "a list of names"),
        ('words = "keyword"', 'words = "given"', "retrievers.words.kind", "expected"),
        ('none = "none"', 'none = "given"', "rerankers.none.kind", "expected"),
        ('whole = "none"', 'whole = { kind = "recursive", separators = 5 }', "chunkers.whole", "expected a text"),
        ('kind = "rrf", k = [10, 60]', 'kind = "weighted-sum", weights = 5', "fusion.rrf", "weights"),
        ('{ kind = "lsa" }', '{ kind = "dense", embedder = 5 }', "retrievers.dense", "module:function"),
        ('{ kind = "lsa" }', '{ kind = "dense", embedder = { url = "x" } }', "retrievers.dense", "base_url"),
        ('{ kind = "lsa" }', '{ kind = "built", call = 5 }', "retrievers.dense", "module:function"),
    ],
)
def test_a_value_of_a_wrong_kind_is_named_with_its_key(
    described: Any, good: str, bad: str, place: str, hint: str
) -> None:
    assert good in GOOD
    with pytest.raises(UsageError, match="Next: ") as caught:
        grid(described(GOOD.replace(good, bad, 1)))
    assert f"bench.toml, {place}: " in str(caught.value)
    assert hint in str(caught.value)


def test_what_is_no_toml_says_where(described: Any) -> None:
    with pytest.raises(UsageError, match=r"not valid TOML: .*line 2"):
        grid(described('k = 5\nmeasure = "nDCG@10\n'))


@pytest.mark.parametrize(
    ("a", "b", "circle"),
    [('["b", "c"]', '["a", "c"]', "a -> b -> a"), ('["a", "c"]', '["c", "c"]', "a -> a")],
)
def test_a_circle_of_retrievers_is_named(described: Any, a: str, b: str, circle: str) -> None:
    text = f"""benchmark = "sample"
[retrievers]
a = {{ kind = "hybrid", of = {a} }}
b = {{ kind = "hybrid", of = {b} }}
c = "keyword"
"""
    with pytest.raises(UsageError, match=rf"retrievers\.a\.of: a circle: {circle}"):
        grid(described(text))


def test_a_missing_extra_is_an_error_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch, data: dict[str, Any]
) -> None:
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr("rankproof.bench.retrieve.bm25.find_spec", lambda n: None if n == "tantivy" else real(n))
    ran = []
    with pytest.raises(RankproofError, match="pip install 'rankproof"):
        grid(
            {
                **data,
                "retrievers": {
                    "mine": lambda text: ran.append(text) or [],
                    "words": {"kind": "keyword", "engine": "tantivy"},
                },
            }
        )
    assert ran == []


@pytest.mark.parametrize(
    ("missing", "words"),
    [("questions", "no questions named"), ("judgments", "no judgments named"), ("corpus", "corpus")],
)
def test_missing_data_is_named(data: dict[str, Any], missing: str, words: str) -> None:
    del data[missing]
    with pytest.raises(UsageError, match=words):
        grid({**data, "retrievers": {"words": "keyword"}})


def test_no_retrievers_and_what_is_no_grid() -> None:
    with pytest.raises(UsageError, match="no retrievers"):
        grid({"benchmark": "sample"})
    with pytest.raises(UsageError, match="expected the path of a TOML file"):
        grid(5)
    with pytest.raises(RankproofError, match="nowhere"):
        grid("nowhere.toml")


def test_a_judged_question_without_a_text_is_an_error(data: dict[str, Any]) -> None:
    del data["questions"]["q3"]
    with pytest.raises(DataError, match="1 judged questions have no text, for example 'q3'"):
        grid({**data, "retrievers": {"words": "keyword"}})


def test_paths_are_relative_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rankproof import sample

    folder = tmp_path / "inner"
    folder.mkdir()
    for name in ("documents.jsonl", "queries.jsonl", "judgments.tsv"):
        (folder / name).write_bytes((sample.folder() / name).read_bytes())
    text = 'corpus = "documents.jsonl"\nquestions = "queries.jsonl"\njudgments = "judgments.tsv"\n'
    (folder / "bench.toml").write_text(text + '[retrievers]\nwords = "keyword"\n')
    monkeypatch.chdir(tmp_path)
    assert grid("inner/bench.toml").row("words").n == 30


def test_functions_and_hybrids_need_no_kind_and_questions_may_be_called_queries(
    described: Any, data: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine_found.py").write_text("def search(question):\n    return ['d' + question.split()[-1]]\n")
    monkeypatch.chdir(tmp_path)
    given = {**data, "queries": data["questions"], "measure": "RR"}
    del given["questions"]
    found = grid(
        {
            **given,
            "retrievers": {
                "mine": "mine_found:search",
                "again": {"call": "mine_found:search"},
                "h": {"of": ["mine", "again"]},
            },
        }
    )
    assert [row.means["RR"] for row in found.rows] == [1.0, 1.0, 1.0]
    with pytest.raises(UsageError, match=r"retrievers\.both\.parts: .*expected of\. "):
        grid(described(GOOD.replace('of = ["words", "dense"]', 'of = ["words", "dense"], parts = 2')))


def test_one_factor_at_a_time(data: dict[str, Any]) -> None:
    plan = plan_of(
        source_of(
            {
                **data,
                "strategy": "one-at-a-time",
                "k": [5, 10],
                "chunkers": {"whole": "none", "small": {"kind": "fixed", "size": 3}},
                "retrievers": {"w": "keyword", "d": "lsa", "h": {"kind": "hybrid", "of": ["w", "d"]}},
                "fusion": {"rrf": "rrf", "sum": "combsum"},
            }
        )
    )
    levels = [(c.chunker, c.retriever, c.fusion, c.k) for c in plan.configurations]
    assert sorted(levels) == sorted(
        [
            ("whole", "w", "-", 5),
            ("small", "w", "-", 5),
            ("whole", "d", "-", 5),
            ("whole", "h", "rrf", 5),
            ("whole", "h", "sum", 5),
            ("whole", "w", "-", 10),
        ]
    )


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ('mine = { kind = "dense" }', "needs 'embedder'"),
        ('mine = { kind = "dense", embedder = "word2vec" }', "sentence-transformers:MODEL"),
        ('mine = { kind = "dense", embedder = "nowhere:fn" }', "nowhere"),
        ('mine = { kind = "keyword", language = "klingon" }', "klingon"),
        ('mine = { kind = "keyword", of = ["words"] }', "only a hybrid"),
        ("mine = { cost = 1 }", "no kind given"),
        ("mine = 5", "expected a kind"),
    ],
)
def test_searches_are_checked_before_anything_runs(described: Any, part: str, words: str) -> None:
    with pytest.raises(RankproofError, match=r"retrievers\.mine") as caught:
        grid(described(GOOD.replace("\n[fusion]", f"{part}\n[fusion]", 1)))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ('{ kind = "bayesfuse" }', "learns from judged queries"),
        ('{ kind = "rrf", q = 5 }', "unknown parameter 'q'"),
        ('{ kind = "weighted-sum" }', "needs a weight"),
        ('{ kind = "weighted-sum", weights = { words = 1, dens = 2 } }', "Did you mean 'dense'?"),
        ('{ kind = "weighted-sum", weights = [[1, 2, 3]] }', "got 3 for 2 rankings"),
    ],
)
def test_fusions_are_checked_before_anything_runs(described: Any, part: str, words: str) -> None:
    text = GOOD.replace('{ kind = "rrf", k = [10, 60] }', part, 1)
    with pytest.raises(UsageError, match=r"fusion\.rrf") as caught:
        grid(described(text))
    assert words in str(caught.value)


@pytest.mark.parametrize("part", ['"rff"', '{ kind = "rrf", q = 5 }', '{ kind = "weighted-sum", weights = [[1, -2]] }'])
def test_fusions_are_checked_where_no_hybrid_uses_them(part: str) -> None:
    with pytest.raises(UsageError, match=r"fusion\.rrf"):
        grid(
            {"benchmark": "sample", "retrievers": {"words": "keyword"}, **tomllib.loads(f"fusion = {{ rrf = {part} }}")}
        )


def test_a_missing_model_library_is_named_before_anything_runs(described: Any) -> None:
    pytest.importorskip("rankproof.bench.retrieve")
    try:
        import sentence_transformers  # noqa: F401
    except ImportError:
        text = GOOD.replace('none = "none"', 'ce = { kind = "cross-encoder", model = "m" }')
        with pytest.raises(RankproofError, match="pip install sentence-transformers"):
            grid(described(text))


def test_reranking_needs_texts(data: dict[str, Any]) -> None:
    del data["corpus"]
    with pytest.raises(UsageError, match="no corpus is named"):
        grid({**data, "retrievers": {"mine": lambda text: ["d1"]}, "rerankers": {"words": "lexical"}})


def test_first_searches_go_as_deep_as_is_passed_on(data: dict[str, Any]) -> None:
    assert plan_of(source_of({**data, "k": [5, 300], "retrievers": {"w": "keyword"}})).depth == 300


def test_a_measure_that_is_no_mean_cannot_decide(data: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="cannot decide"):
        grid({**data, "measure": "NumRelRet", "retrievers": {"w": "keyword"}})


class Langchain:
    def invoke(self, question: str) -> list[Any]:
        return [{"id": f"d{question.split()[-1]}", "page_content": "", "metadata": {}}]


def test_retrievers_of_other_libraries_and_what_is_none(data: dict[str, Any]) -> None:
    found = grid({**data, "measure": "RR", "retrievers": {"chain": Langchain()}})
    assert found.row("chain").means["RR"] == 1.0
    with pytest.raises(UsageError, match="expected a function of a question"):
        grid({**data, "retrievers": {"odd": object()}})
