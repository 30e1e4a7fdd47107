"""One law for every result in every format: it prints, escapes, reads back as the data it is, and saves by its ending."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

import pytest

import rankproof
from rankproof.bench.testset.labels import GRADED, LabelAgreement, QuestionLabel
from rankproof.bench.testset.pool import Item
from rankproof.document.formats import formats_by_name
from rankproof.document.formats.data import plain_value
from rankproof.document.formats.table import lines_of
from rankproof.document.model import (
    LONGEST,
    SCREEN,
    TEXT,
    Bullets,
    Cell,
    Chart,
    Code,
    Column,
    Document,
    Heading,
    ListItem,
    Paragraph,
    Part,
    Result,
    Table,
    print_as,
)
from rankproof.document.terminal import width
from rankproof.errors import UsageError
from rankproof.judging.trial import Trial, TrialPlace, Way
from rankproof.judging.verdicts import Account, Relation
from rankproof.stats.judge_error import share_of

ODD = "a|b_<script>x</script>\\$%&#{}~^*`\x1b[31m\u202e'\""
"""A name with everything that some format takes for markup, and with what would move the cursor."""
OTHER = "- 1. 検索 & \x07 [x](y)"


def judged() -> Any:
    judgments = {f"{ODD}{i}": {"d|1": 2, "d<2>": 1} for i in range(12)}
    first = {query: ["d|1", "x", "d<2>"] for query in judgments}
    second = {query: ["x", "d|1"] for query in list(judgments)[:10]}
    return judgments, {ODD: first, OTHER: second, "third": first}


@cache
def made() -> dict[str, Result]:
    judgments, runs = judged()
    groups = {query: f"{ODD}group {n % 2}" for n, query in enumerate(judgments)}
    scores = {name: rankproof.evaluate(judgments, run, "RR, AP") for name, run in runs.items()}
    machine = {query: {"d|1": 1, "d<2>": 2} for query in judgments}
    return {
        "comparison": rankproof.compare(judgments, runs, "RR, AP", by=groups, all_pairs=True),
        "gate": rankproof.gate(judgments, runs[ODD], runs[OTHER], "RR", by=groups, floors={"RR": 0.9}),
        "leaderboard": rankproof.leaderboard(scores),
        "correlation": rankproof.rank_correlation(scores, {name: n for n, name in enumerate(scores)}),
        "kinship": rankproof.kinship(judgments, machine, runs, "RR"),
        "explanation": rankproof.explain(judgments, runs[ODD], f"{ODD}1", "nDCG@10", versus="beir"),
        "scores": rankproof.evaluate(judgments, runs[OTHER], "RR, AP", by=groups),
        "report": rankproof.report(judgments, runs, "RR, AP", by=groups, title=ODD),
        "report of one": rankproof.report(judgments, {ODD: runs[ODD]}, "RR"),
        "question plan": rankproof.questions_needed(judgments, runs[ODD], runs[OTHER], "RR"),
        "audit": rankproof.audit(judgments, {**runs[OTHER], ODD: [ODD, "d|1"]}, "RR"),
    }


@cache
def diagnosis() -> Result:
    judgments, runs = judged()
    groups = {query: f"{ODD}group {n % 2}" for n, query in enumerate(judgments)}
    texts = {query: f"{ODD} what {n}" for n, query in enumerate(judgments)}
    corpus = {"d|1": ODD, "d<2>": f"{OTHER} what", "x": "another page"}
    return rankproof.diagnose(judgments, runs[OTHER], queries=texts, corpus=corpus, by=groups)


@cache
def of_bench() -> dict[str, Result]:
    judgments, runs = judged()
    texts = {f"{ODD} what {n}": query for n, query in enumerate(judgments)}
    finders = {name: lambda text, own=runs[name]: own[texts[text]] for name in (ODD, OTHER)}
    asked = {query: text for text, query in texts.items()}
    bench = rankproof.Benchmark(asked, judgments, {"d|1": ODD, "d<2>": OTHER, "x": "page"})
    done = [bench.run(name, each, progress=False) for name, each in finders.items()]
    plan = {"questions": asked, "judgments": judgments, "corpus": bench.corpus, "retrievers": finders}
    return {
        "run": done[1],
        "standings": bench.compare(),
        "grid": rankproof.grid({**plan, "k": [1, 3], "measure": ["RR@3", "AP"]}, progress=False),
        "tuned": rankproof.tune(judgments, runs, "rrf", "AP", grid={"k": [60, 1]}),
    }


@cache
def of_judging() -> dict[str, Result]:
    judgments, runs = judged()

    def says(relation: str, left: str, right: str) -> int:
        return 3 if (len(left) + len(right)) % 3 else 0

    says.__name__ = ODD
    samples = [{"id": f"{ODD}{n}", "question": f"{ODD} {n}", "contexts": [f"{OTHER} {'x' * n}"]} for n in range(12)]
    answers = [
        {
            "question": f"What is {n}?",
            "reference": "red",
            **dict.fromkeys(("base_answer", "oracle_answer", "mixed_answer"), "red"),
        }
        for n in range(4)
    ]
    with TemporaryDirectory() as folder:
        ledger = Path(folder) / "v.db"
        scores = rankproof.judge(samples, "P@3, context_precision", judge=says, ledger=ledger)
        calibration = rankproof.calibrate(ledger, lambda ask: 3 * (len(ask.left) % 2), n=8, who=ODD)
        drift = rankproof.judge_drift(ledger, judge=says, n=5)
    few = share_of(3, 9)
    way = Way(10, 0.5, 0.2, 0.7, few, 9, {Relation.TEXT_SUPPORTS: 0.5}, Account(calls=2), asked=9)
    place = TrialPlace("of the list", "first", few, few, few)
    changed = {Relation.TEXT_SUPPORTS: few}
    return {
        "judged scores": scores,
        "calibration": calibration,
        "judge drift": drift,
        "judgment calibration": rankproof.calibrate_judgments(judgments, judgments, runs, "RR, AP"),
        "stress": rankproof.stress(samples, "P@3", judge=says),
        "trial": Trial(ODD, 9, way, replace(way, pairs=1), (), changed, (place,), (0.1, -0.1, 0.2), 1, {ODD: 2}),
        "mirage": rankproof.mirage(answers),
    }


def agreement() -> Result:
    def labels(who: str, grades: list[int]) -> dict[Item, QuestionLabel]:
        items = [Item(f"{ODD}{n}", OTHER) for n in range(len(grades))]
        return {each: QuestionLabel(*each, who, GRADED, grade, "") for each, grade in zip(items, grades, strict=True)}

    return LabelAgreement.of({ODD: labels(ODD, [0, 1, 3]), OTHER: labels(OTHER, [0, 2, 1])})


MAKERS: dict[str, Callable[[], Result]] = {
    "agreement": agreement,
    **{
        name: lambda name=name: made()[name]  # type: ignore[misc]
        for name in (
            "comparison",
            "gate",
            "leaderboard",
            "correlation",
            "kinship",
            "scores",
            "audit",
            "question plan",
            "report",
            "report of one",
            "explanation",
        )
    },
    "diagnosis": diagnosis,
    **{
        name: lambda name=name: of_bench()[name]  # type: ignore[misc]
        for name in ("run", "standings", "grid", "tuned")
    },
    **{
        name: lambda name=name: of_judging()[name]  # type: ignore[misc]
        for name in (
            "judged scores",
            "calibration",
            "judge drift",
            "judgment calibration",
            "stress",
            "trial",
            "mirage",
        )
    },
}
"""A result of each kind, with odd names in it. A new kind of result is added here, and held to the laws below."""


def history(folder: Path) -> Result:
    judgments, runs = judged()
    made = rankproof.History(folder / "results.db")
    for n, run in enumerate(runs.values()):
        made.save(rankproof.evaluate(judgments, run, "RR, AP"), f"<b>|{n}\\", tags={"a|b": "<i>"})
    return made


def monitored() -> Result:
    records = list(rankproof.simulate_log(60, seed=1, days=3, noisy=0.5, variants=(ODD, OTHER)).records())
    records += [
        {"ts": "soon", ODD: OTHER},
        *({"ts": each["ts"], "user": ODD, "clicks": [1]} for each in records),
    ]
    return rankproof.monitor(records, alerts=[{"metric": "ctr", "above": 0, "name": ODD, "over": "any"}])


def experiments() -> dict[str, Any]:
    from rankproof.monitoring.online_tests import clicks, interleaving, variants

    rows = [
        {"ts": 1.74e9 + at, "user": f"u{at}", "query": ODD, "variant": (ODD, OTHER)[at % 2]}
        | {"results": ["d0", "d1"][:: 1 - 2 * (at % 2)], "clicks": [at % 2 + 1], "teams": [ODD, OTHER]}
        for at in range(240)
    ]
    return {
        "interleaving": lambda: interleaving(rows),
        "variants": lambda: variants(rows),
        "clicks": lambda: clicks(rows),
    }


MAKERS |= {"monitor": monitored, **experiments()}


@pytest.fixture(params=[*MAKERS, "history"])
def result(request: Any, tmp_path: Path) -> Result:
    return history(tmp_path) if request.param == "history" else MAKERS[request.param]()


class Page(HTMLParser):
    """The tags of a page, balanced, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]
        if tag not in ("meta", "br", "hr", "col", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def cells(line: str, mark: str) -> int:
    """How many marks a line has that no backslash stands before."""
    return len(re.findall(rf"(?<!\\)(?:\\\\)*{re.escape(mark)}", line))


def check_text(text: str) -> None:
    for line in text.splitlines():
        assert line.isprintable(), line
        assert width(line) <= 80, line


def check_markdown(text: str) -> None:
    for line in text.splitlines():
        assert line.isprintable(), line
        assert not cells(line, "<"), line
    for rule in re.finditer(r"((?:^\|.*\n)+)", text, re.MULTILINE):
        assert len({cells(line, "|") for line in rule[1].splitlines()}) == 1, rule[1]


def check_latex(text: str) -> None:
    for line in text.splitlines():
        assert line.isprintable(), line
        assert line.startswith(("%", "\\begin{tabular}", "\\end{tabular}")) or not cells(line, "%"), line
    for table in re.findall(r"\\midrule\n(.*?)\n\\bottomrule", text, re.DOTALL):
        assert len({cells(line, "&") for line in table.splitlines()}) == 1, table


def check_html(text: str) -> None:
    page = Page(text)
    assert "script" not in page.tags
    assert page.tags & {"table", "ul", "iframe"}
    assert all(char.isprintable() or char == "\n" for char in text)


def check_data(result: Result, folder: Path) -> None:
    document = result._document()
    records = [plain_value(dict(each)) for each in document.records]
    assert records
    read = list(csv.DictReader(io.StringIO(result.format("csv"))))
    for got, record in zip(read, records, strict=True):
        for name, value in record.items():
            if not isinstance(value, dict | list):
                assert got[name] == ("" if value is None else str(value))
    tree = plain_value(records if document.tree is None else document.tree)
    assert json.loads(result.format("json")) == json.loads(json.dumps(tree))
    assert [json.loads(line) for line in result.format("jsonl").splitlines()] == records
    arrow = pytest.importorskip("pyarrow.parquet")
    found = arrow.read_table(result.save(folder / "out.parquet")).to_pylist()
    for got, record in zip(found, records, strict=True):
        for name, value in record.items():
            if not isinstance(value, dict | list):
                assert got[name] == value


@pytest.mark.first_is_quick(2)
def test_every_result_prints_in_every_format(result: Result, tmp_path: Path) -> None:
    assert set(result.formats()) >= {
        "table",
        "full",
        "markdown",
        "latex",
        "html",
        "csv",
        "json",
        "jsonl",
        "parquet",
    }
    check_text(result.format())
    check_text(result.format("full"))
    check_markdown(result.format("markdown"))
    check_latex(result.format("latex"))
    check_html(result.format("html"))
    check_html(result._repr_html_())
    check_data(result, tmp_path)
    assert str(result) == result.format("table")
    assert repr(result).isprintable()
    assert width(repr(result)) <= LONGEST
    json.dumps(plain_value(result.to_dict()))
    assert not list(odd_parts(result.to_dict()))


def odd_parts(value: Any, path: str = "") -> Iterator[str]:
    """The parts that are not of the very types of JSON: YAML and msgpack refuse some of them."""
    if type(value) is dict:
        for name, each in value.items():
            yield from odd_parts(each, f"{path}.{name}") if type(name) is str else [f"{path}.{name!r}"]
    elif type(value) is list:
        for each in value:
            yield from odd_parts(each, f"{path}[]")
    elif value is not None and type(value) not in (str, int, float, bool):
        yield f"{path}: {type(value).__name__}"


ALIKE = [f"experiments/2024-11-{'x' * 30}/bm25-{name}/{'results-' * 8}final.run" for name in ("a", "b", "c")]
"""Names of runs that differ in their middle only."""


@cache
def of_long_names() -> dict[str, Result]:
    judgments = {f"q{n}": {"d1": 2, "d2": 1} for n in range(12)}
    lists = (["d1", "x", "d2"], ["x", "d1"], ["d2", "d1"])
    runs = {
        name: {query: docs[n % 2 :] for n, query in enumerate(judgments)}
        for name, docs in zip(ALIKE, lists, strict=True)
    }
    groups = {query: ALIKE[n % 3] for n, query in enumerate(judgments)}
    scores = {name: rankproof.evaluate(judgments, run, "RR, AP, nDCG@10", by=groups) for name, run in runs.items()}
    return {
        "comparison": rankproof.compare(judgments, runs, "RR, AP, nDCG@10", by=groups, all_pairs=True),
        "one pair": rankproof.compare(judgments, {name: runs[name] for name in ALIKE[:2]}, "RR, AP", by=groups),
        "gate": rankproof.gate(judgments, runs[ALIKE[0]], runs[ALIKE[1]], "RR, AP", by=groups, coverage=0.9),
        "leaderboard": rankproof.leaderboard(scores),
        "correlation": rankproof.rank_correlation(scores, {name: n for n, name in enumerate(scores)}),
        "scores": scores[ALIKE[0]],
        "report": rankproof.report(judgments, runs, "RR, AP", by=groups),
        "diagnosis": rankproof.diagnose(judgments, runs[ALIKE[1]], by=groups),
        "audit": rankproof.audit(judgments, runs[ALIKE[1]], "RR"),
    }


@pytest.mark.first_is_quick
@pytest.mark.parametrize(
    "name", ["comparison", "one pair", "gate", "leaderboard", "correlation", "scores", "report", "diagnosis", "audit"]
)
def test_no_two_rows_of_a_table_look_alike(name: str) -> None:
    document = of_long_names()[name]._document()
    tables = [block for medium in (SCREEN, TEXT) for part in document.parts_for(medium) for block in part.blocks]
    for table in (each for each in tables if isinstance(each, Table) and each.columns and not each.grouped):
        words = [each for each in table.columns if not each.right]
        named = [row[: len(words)] for row in table.rows]
        parts = "\n".join(lines_of(table._replace(caption="", legend=""))).split("\n\n")
        for part in filter(None, parts):
            lines = part.splitlines()
            assert all(width(line) <= 80 for line in lines)
            rows = lines[next(n for n, line in enumerate(lines) if set(line) <= set("- ")) + 1 :]
            if len(set(named)) == len(named):
                assert len(set(rows)) == len(rows), part


MARKED = re.compile(r"\d(\\?\*)(?= |$)|  (\*)  |\| (\\\*) \|", re.MULTILINE)


@pytest.mark.first_is_quick(2)
def test_every_mark_is_explained_beside_it(result: Result) -> None:
    for name in ("table", "full", "markdown"):
        text = result.format(name)
        assert not MARKED.search(text) or re.search(r"^\\?\* \w|\(\\?\* \w", text, re.MULTILINE), (name, text)
    for name, best, told in (("latex", r"\textbf{", "bold: "), ("latex", r"\dagger", "dagger: ")):
        text = result.format(name)
        assert told in text or best not in text


def test_latex_sets_minus_signs(result: Result) -> None:
    rows = [line for line in result.format("latex").splitlines() if line.endswith(r"\\")]
    assert not re.search(r"(^|& |\} |, |\])-\.?\d", "\n".join(rows).replace("$-$", "minus "), re.MULTILINE)


@pytest.mark.first_is_quick
def test_a_result_is_saved_by_the_ending_of_the_file_and_never_over_another(result: Result, tmp_path: Path) -> None:
    for name in set(result.formats()) - {"pdf"}:
        printed = as_bytes(print_as(result, name))
        for ending in formats_by_name()[name].endings:
            path = result.save(tmp_path / f"out-{name}{ending}")
            assert path.read_bytes() == printed
            path.write_text("mine")
            with pytest.raises(UsageError, match="this file exists"):
                result.save(path)
            assert path.read_text() == "mine"
            assert result.save(str(path), force=True).read_bytes() == printed
    with pytest.raises(UsageError, match=r"ending: got '.xlsx'.*Next"):
        result.save(tmp_path / "out.xlsx")
    assert not (tmp_path / "out.xlsx").exists()


def as_bytes(made: str | bytes) -> bytes:
    return made if isinstance(made, bytes) else made.encode()


def test_a_format_that_is_not_there_is_refused_with_the_nearest_one(result: Result) -> None:
    with pytest.raises(UsageError, match=r"got 'markdwn'.*Did you mean 'markdown'\?"):
        result.format("markdwn")
    for name in ("parquet", "pdf"):
        with pytest.raises(UsageError, match=rf"{name} is not a text format. Next: .*\.save"):
            result.format(name)
    for odd in (None, 3, ["table"], "notebook"):
        with pytest.raises(UsageError, match="format: got"):
            result.format(odd)  # type: ignore[arg-type]


def test_test_cases_are_a_format_of_those_that_have_some(result: Result) -> None:
    if "junit" in result.formats():
        suite = ElementTree.fromstring(result.format("junit"))
        assert len(list(suite.iter("testcase"))) == int(suite.get("tests", 0)) > 0
    else:
        with pytest.raises(UsageError, match="format: got 'junit'"):
            result.format("junit")


PAGES_OF_THEIR_OWN = {"Explanation": {"html"}, "JudgedScores": {"html"}, "Report": {"_repr_html_"}}
"""Results whose page takes arguments, or is framed in a notebook: everything else about them is printed as of all."""


def test_no_result_has_a_verb_of_formats_of_its_own() -> None:
    """Only `document` knows formats: a result says what it is, and whoever prints it says how."""
    assert [getattr(rankproof, name) for name in rankproof.__all__]  # which loads every wing
    own: dict[type, set[str]] = {}
    todo = Result.__subclasses__()
    while todo:
        kind = todo.pop()
        todo += kind.__subclasses__()
        own[kind] = {"html", "markdown", "_repr_html_", "__str__"} & set(vars(kind))
    assert {kind.__name__: names for kind, names in own.items() if names} == PAGES_OF_THEIR_OWN


def test_a_new_format_is_one_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module beside the others, and every result, its endings, its completion and its help have the format."""
    from rankproof.document import formats

    (tmp_path / "shout.py").write_text(
        "from rankproof.document.formats import OutputFormat, register\n"
        "register(OutputFormat('shout', lambda document: document.title.upper() + '!\\n', ('.shout',)))\n"
    )
    with monkeypatch.context() as patched:
        patched.setattr(formats, "__path__", [*formats.__path__, str(tmp_path)])
        formats._load.cache_clear()
        gate = made()["gate"]
        assert gate.format("shout") == gate._document().title.upper() + "!\n"
        assert gate.save(tmp_path / "out.shout").read_text() == gate.format("shout")
        assert "shout" in rankproof.Leaderboard.formats()
        assert formats.of_ending("x.SHOUT") == "shout"
    formats._REGISTRY.pop("shout")
    sys.modules.pop("rankproof.document.formats.shout")
    formats._load.cache_clear()
    assert "shout" not in rankproof.Gate.formats()


def every_block() -> Iterator[Part]:
    table = Table(
        [
            Column(ODD, [ODD, "b"]),
            Column("two\nlines", [Cell("0.5", best=True, raised="†", under="[.1, .9]"), "0.4"], True),
        ],
        caption=ODD,
    )
    yield Part(Heading(ODD), Paragraph(ODD), Paragraph(""), Bullets([ODD, OTHER]), Bullets(["x"], ["error"]))
    yield Part(table, Bullets([ODD], numbered=True), Code(f"{ODD} ``` x"), Chart(ODD, lambda room: ["█" * room]))
    nested = [ListItem(ODD, lines=[ODD, OTHER], under=[ODD, OTHER * 20]), ListItem(OTHER * 20), ODD]
    yield Part(Bullets(nested), Bullets(nested, numbered=True), Bullets(nested, short=True))
    yield Part(Table([]), name="nothing")


def test_every_block_prints_in_every_format() -> None:
    document = Document(ODD, list(every_block()), [{"a": ODD, "b": None, "c": [1], "n": float("nan")}])
    made = {name: each.render(document) for name, each in formats_by_name().items() if name not in ("pdf", "parquet")}
    check_text(str(made["full"]))
    check_text(str(made["table"]))
    check_latex(str(made["latex"]))
    check_html(str(made["html"]))
    check_html(str(made["notebook"]))
    assert r"\textbf{0.5}$^{\dagger}$" in str(made["latex"])
    assert "0.5*" in str(made["table"])
    assert json.loads(str(made["json"])) == [{"a": ODD, "b": None, "c": [1], "n": None}]
