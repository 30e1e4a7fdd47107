"""Ids that match in part: each way of spelling, in all topics and in some, is an error wherever scores are shown."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from rankproof import audit, evaluate
from rankproof.core.audit import Audit, Finding

TOPICS, RELEVANT = 10, 8
FORMS = ("doc-{}", "{}", "Straße/Ümläut {} é", "https://ex.org/p/{}", "0{}", "CACM-{:04d}", "a&b {}")
WAYS = {
    "case": str.upper,
    "ending": lambda doc: f"{doc}.html",
    "prefix": lambda doc: f"en_{doc}",
    "URL": lambda doc: f"https://docs.example.org/a/{doc}",
    "URL with query": lambda doc: f"https://example.org/{doc}?v=1",
    "zeros": lambda doc: re.sub(r"\d+", lambda number: number[0].zfill(6), doc),
    "blank": lambda doc: f"{doc} ",
    "no-break space": lambda doc: f"\u00a0{doc}",
    "byte order mark": lambda doc: f"\ufeff{doc}",
    "percent": lambda doc: "".join(f"%{ord(c):02X}" if c in "-/& " else c for c in doc),
    "wide letters": lambda doc: "".join(chr(ord(c) + 0xFEE0) if c.isalpha() and c.isascii() else c for c in doc),
    "wrong encoding": lambda doc: doc.encode().decode("latin-1"),
    "part of a document": lambda doc: f"{doc}#3",
    "Windows path": lambda doc: f"C:\\docs\\{doc}.txt",
    "quotes": lambda doc: f'"{doc}"',
    "case and ending": lambda doc: f"{doc.upper()}.HTML",
    "URL and case": lambda doc: f"HTTP://EX.ORG/{doc.upper()}",
    "both ends": lambda doc: f"idx:{doc}:v2",
}


def world(form: str, rng: np.random.Generator) -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    """Judgments and a ranking of ids of a form: most relevant documents are found, many others were never judged."""
    judged, ranked = {}, {}
    for topic in range(TOPICS):
        pool = rng.permutation(900)[:60]
        shown = [*pool[:40], *rng.permutation(np.arange(900, 2000))[:40]]
        judged[f"q{topic}"] = {form.format(int(doc)): int(i < RELEVANT) for i, doc in enumerate(pool[:20])}
        ranked[f"q{topic}"] = [form.format(int(doc)) for doc in rng.permutation(shown)]
    return judged, ranked


def about_ids(found: Audit) -> list[Finding]:
    return [each for each in found if each.kind.endswith("-ids") or each.kind == "unicode-forms"]


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("affected", [4, TOPICS])
def test_each_way_of_spelling_is_an_error_in_evaluate_and_audit(form: str, affected: int) -> None:
    judged, ranked = world(form, np.random.default_rng(affected))
    assert not about_ids(evaluate(judged, ranked, "RR").audit)
    assert not about_ids(audit(judged, ranked))
    for number, (name, way) in enumerate(WAYS.items()):
        bent = {q: [*map(way, docs)] if int(q[1:]) < affected else docs for q, docs in ranked.items()}
        if bent == ranked:
            continue
        # One face sees some topics bent and the other all of them; for the next way it is the other way round.
        found = audit(judged, bent) if (number + (affected < TOPICS)) % 2 else evaluate(judged, bent, "RR").audit
        errors = [each for each in about_ids(found) if each.severity == "error"]
        assert errors, (name, found)
        counted = sum(each.count for each in errors if "never judged" in each.message)
        assert counted == 20 * affected, (name, errors)
        assert any(f"in {affected} queries" in each.message for each in errors)


def test_documents_of_every_kind_in_one_topic_are_counted_each() -> None:
    judged, ranked = world("doc-{}", np.random.default_rng(0))
    mixed = {q: [doc.upper() if i % 2 else f"{doc}.md" for i, doc in enumerate(docs)] for q, docs in ranked.items()}
    found = about_ids(evaluate(judged, mixed).audit)
    assert {each.kind for each in found} == {"case-of-ids", "affixes-of-ids"}
    assert sum(each.count for each in found) == 20 * TOPICS


def test_topics_that_are_spelt_otherwise_are_named() -> None:
    judged, ranked = world("doc-{}", np.random.default_rng(0))
    for way in (str.upper, "topic-{}".format, " {}".format):
        some = {(way(q) if i < 4 else q): docs for i, (q, docs) in enumerate(ranked.items())}
        (found,) = about_ids(evaluate(judged, some).audit)
        assert (found.severity, found.count) == ("error", 4)
        assert "no ranking only because of" in found.message


def test_documents_that_look_alike_are_no_finding() -> None:
    rng = np.random.default_rng(0)
    for left, right in (
        ("guide/{}", "faq/{}"),
        ("a{}", "b{}"),
        ("v1-{}", "v2-{}"),
        ("{}#1", "{}#2"),
        ("A{}", "B{}"),
    ):
        docs = rng.permutation(500)
        judged = {f"q{t}": {side.format(d): 1 for d in docs[t::10] for side in (left, right)} for t in range(10)}
        ranked = {
            q: [*dict.fromkeys([*list(found)[::2], *(left.format(d) for d in docs[:30])])]
            for q, found in judged.items()
        }
        assert not about_ids(evaluate(judged, ranked).audit), (left, right)


def test_a_large_run_is_looked_at_in_part(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    judged = {f"q{t:03}": {f"d{t * 1000 + i}": 1 for i in range(10)} for t in range(100)}
    lines = [
        f"{q} Q0 {doc + '.html' if t >= 60 else doc} {rank} {-rank} x\n"
        for t, (q, relevant) in enumerate(judged.items())
        for rank, doc in enumerate([*relevant, *(f"d{x}" for x in rng.permutation(5000)[:200] + 200_000)], start=1)
    ]
    (tmp_path / "large.run").write_text("".join(lines))
    found = about_ids(evaluate(judged, tmp_path / "large.run").audit)
    assert [(each.severity, each.count) for each in found] == [("error", 400)]


@pytest.mark.shared_data
def test_real_runs_have_next_to_none(shared_data: Path) -> None:
    for judgments, run in (
        ("dl20-doc/qrels.dl20-doc.txt", "dl20-doc/d_bm25"),
        ("trec_eval/qrels.test", "trec_eval/results.test"),
    ):
        found = evaluate(shared_data / judgments, shared_data / run).audit
        assert not about_ids(found)
        assert found.of_kind("upside-down") is None


@pytest.mark.parametrize("between", ["; ", ";", "|", ", ", " ", "\n"])
@pytest.mark.parametrize("form", ["printer-{}", "{}", "é/{}.md"])
def test_several_ids_in_one_cell_are_an_error(between: str, form: str, tmp_path: Path) -> None:
    labels = {f"q{i}": [form.format(3 * i + j) for j in range(1 + i % 3)] for i in range(12)}
    ranked = {q: [*docs, form.format(900), form.format(901)] for q, docs in labels.items()}
    rows = "".join(f'{q},"{between.join(docs)}"\n' for q, docs in labels.items())
    (tmp_path / "labels.csv").write_text("id,expected_docs\n" + rows, newline="")
    scored = evaluate(tmp_path / "labels.csv", ranked, "R@10")
    (finding,) = [each for each in scored.audit if each.kind == "several-ids-in-one"]
    assert (finding.severity, finding.count) == ("error", 8)
    assert '["a", "b"]' in finding.advice


def test_an_id_with_a_comma_is_one_document() -> None:
    """Titles are ids too: one that holds the title of another is no list of them."""
    titles = ["Paris, Texas", "Ed Wood (film)", "Shirley, Indiana", "Georgia | state", "a; b; c"]
    judged = {f"q{i}": {title: 1} for i, title in enumerate(titles)}
    ranked = {q: ["Texas", "Indiana", "Ed", "x"] for q in judged}
    ranked["q4"].append("a; b; c")
    assert not [each for each in evaluate(judged, ranked, "R@10").audit if each.kind == "several-ids-in-one"]
