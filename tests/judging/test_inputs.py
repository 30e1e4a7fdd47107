"""Samples as other tools keep and export them."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rankproof.errors import UsageError
from rankproof.judging.samples import Sample, read_samples

DOCUMENTS = [
    SimpleNamespace(page_content="since", metadata={"id": "d1"}),
    SimpleNamespace(page_content="because", metadata={"id": "d2"}),
]
TEXTS = ["since", "because"]


def message(kind: str, content: Any, **more: Any) -> Any:
    return SimpleNamespace(type=kind, content=content, **more)


ROWS: dict[str, Any] = {
    "LangSmith": {
        "inputs": {"question": "why?"},
        "outputs": {"answer": "so", "documents": DOCUMENTS},
        "reference_outputs": {"answer": "since then"},
    },
    "LangSmith, words": {
        "inputs": {"input": "why?"},
        "outputs": {"output": "so", "documents": TEXTS},
        "reference_outputs": "since then",
    },
    "Langfuse": {
        "id": "t1",
        "name": "trace",
        "input": {"question": "why?"},
        "output": {"answer": "so", "contexts": TEXTS},
        "expectedOutput": {"answer": "since then"},
    },
    "Langfuse, a talk": {
        "input": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "why?"}],
        "output": {"role": "assistant", "content": "so"},
        "contexts": TEXTS,
        "expectedOutput": "since then",
    },
    "LangGraph, objects": {
        "messages": [
            message("human", "hello"),
            message("ai", "hi"),
            message("human", "why?"),
            message("ai", "", tool_calls=[{"name": "search"}]),
            message("tool", "since because", artifact=DOCUMENTS),
            message("ai", [{"type": "text", "text": "so"}]),
        ],
        "reference": "since then",
    },
    "LangGraph, mappings": {
        "messages": [
            {"role": "user", "content": "why?"},
            {"role": "tool", "content": "since"},
            {"role": "tool", "content": "because"},
            {"role": "assistant", "content": "so"},
        ],
        "reference": "since then",
    },
    "Phoenix": {
        "input": "why?",
        "output": "so",
        "reference": "since then",
        "documents": [{"document.content": each, "document.id": each} for each in TEXTS],
    },
}


def told(sample: Sample) -> tuple[Any, ...]:
    return sample.query, [each.text for each in sample.contexts or ()], sample.answer, sample.reference


@pytest.mark.parametrize("name", ROWS)
def test_rows_of_other_tools_are_taken_as_they_are(name: str) -> None:
    row = ROWS[name]
    for each in (row, SimpleNamespace(**row)) if name.startswith("LangSmith") else (row,):
        (sample,) = read_samples([each])
        assert told(sample) == ("why?", TEXTS, "so", "since then")


def test_goldens_give_what_should_come() -> None:
    golden = {"input": "why?", "actual_output": None, "expected_output": "since then", "context": TEXTS}
    for each in (golden, {**golden, "expected_output": None}, {**golden, "actual_output": "so"}):
        held = SimpleNamespace(goldens=[SimpleNamespace(**each)], test_cases=[])
        for source in (held, [each]):
            (sample,) = read_samples(source)
            assert sample.contexts is None
            assert [found.text for found in sample.reference_contexts or ()] == TEXTS


def test_a_table_may_have_semicolons(tmp_path: Path) -> None:
    for row in (
        "1;why?;\"['since', 'because']\";so;since then",
        '1;"why?";["since", "because"];so;since then'.replace('["since", "because"]', '"[""since"", ""because""]"'),
    ):
        (tmp_path / "s.csv").write_text(f"id;question;contexts;answer;ground_truth\n{row}\n")
        (sample,) = read_samples(tmp_path / "s.csv")
        assert told(sample) == ("why?", TEXTS, "so", "since then")
    (tmp_path / "s.csv").write_text('id,question,"answer"\n1,why; how; when?,so\n')
    (sample,) = read_samples(tmp_path / "s.csv")
    assert sample.query == "why; how; when?"


class Split(list[Any]):
    """As a dataset of Hugging Face: rows, with the names of its columns."""

    column_names = ("question",)


def test_a_dictionary_of_splits_is_its_split_or_an_error(tmp_path: Path) -> None:
    rows = Split([{"question": "why?"}])
    assert [each.query for each in read_samples({"test": rows})] == ["why?"]
    with pytest.raises(UsageError, match=r"'train', 'test'.*Next: .*dataset\['train'\]"):
        list(read_samples({"train": rows, "test": rows}))
    (tmp_path / "s.jsonl").write_text(json.dumps(ROWS["LangSmith, words"]) + "\n")
    assert [told(each)[2] for each in read_samples(tmp_path / "s.jsonl")] == ["so"]
