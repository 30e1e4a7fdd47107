"""Samples from everything they are kept in, under every name they go by, with errors that say where."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from rankproof.errors import DataError, UsageError
from rankproof.judging.samples import Citation, Context, Sample, read_samples, sample_of
from rankproof.monitoring.event_values import list_of

OWN = {
    "id": "s1",
    "query": "why?",
    "contexts": [{"id": "d1", "text": "since"}, {"id": "d2", "text": "because"}],
    "reference": "since then",
    "answer": "because of it",
    "reference_contexts": ["since"],
}
THEIRS = {
    "ragas": {
        "query_id": "s1",
        "user_input": "why?",
        "retrieved_contexts": ["since", "because"],
        "retrieved_context_ids": ["d1", "d2"],
        "reference": "since then",
        "response": "because of it",
        "reference_contexts": ["since"],
    },
    "older ragas": {
        "id": "s1",
        "question": "why?",
        "contexts": ["since", "because"],
        "retrieved_context_ids": ["d1", "d2"],
        "ground_truth": "since then",
        "answer": "because of it",
        "reference_contexts": ["since"],
    },
    "deepeval": {
        "id": "s1",
        "input": "why?",
        "actual_output": "because of it",
        "expected_output": "since then",
        "retrieval_context": ["since", "because"],
        "context_ids": ["d1", "d2"],
        "context": ["since"],
    },
    "ragchecker": {
        "query_id": "s1",
        "query": "why?",
        "gt_answer": "since then",
        "response": "because of it",
        "retrieved_context": [{"doc_id": "d1", "text": "since"}, {"doc_id": "d2", "text": "because"}],
        "reference_contexts": ["since"],
    },
    "mlflow": {
        "id": "s1",
        "inputs": {"question": "why?"},
        "outputs": {"response": "because of it"},
        "expectations": {"expected_response": "since then"},
        "retrieved_context": [{"doc_uri": "d1", "content": "since"}, {"doc_uri": "d2", "content": "because"}],
        "reference_contexts": ["since"],
    },
}


def plain(sample: Sample) -> Any:
    return (
        *(sample.id, sample.query, sample.contexts, sample.reference, sample.answer),
        sample.reference_contexts,
    )


EXPECTED = plain(sample_of(OWN))


def test_absent_values_of_pandas_and_integers_of_numpy_are_read() -> None:
    frame = pd.DataFrame({"id": [7, 8], "query": ["why?", "how?"], "answer": ["so", None]}).convert_dtypes()
    assert frame["answer"][1] is pd.NA
    assert [(each.id, each.answer) for each in read_samples(frame)] == [("7", "so"), ("8", None)]
    assert sample_of({"id": np.int64(7), "query": "why?"}).id == "7"


def test_rows_of_parquet_are_the_same_by_pandas_with_arrays_for_lists(tmp_path: Path) -> None:
    answer = [{"text": "It is so.", "citations": [1]}, {"text": "Yes.", "citations": [0]}]
    said = [{"role": "user", "content": "why?"}, {"role": "tool", "content": "since"}]
    spans = {"traceId": "t", "attributes": [{"key": "input.value", "value": {"stringValue": "why?"}}]}
    spans["attributes"].append({"key": "retrieval.documents.0.document.content", "value": {"stringValue": "since"}})
    for row in ({"query": "why?", "references": ["a", "b"], "answer": answer}, {"messages": said}, spans):
        pd.DataFrame([row]).to_parquet(tmp_path / "rows.parquet")
        (found,) = read_samples(pd.read_parquet(tmp_path / "rows.parquet"))
        (own,) = read_samples([row])
        assert plain(found)[1:] == plain(own)[1:]
        assert found.citations == own.citations
        assert own.query == "why?"


def test_traces_without_a_retrieval_are_an_error() -> None:
    spans = [{"trace_id": f"t{i}", "attributes": {"input.value": "q?"}} for i in range(3)]
    with pytest.raises(DataError, match=r"no span of 3 traces .*retrieval\.documents"):
        list(read_samples(spans))


def test_objects_in_cells_are_read(tmp_path: Path) -> None:
    row = {"inputs": json.dumps({"question": "why?"}), "outputs": str({"answer": "so", "contexts": ["since"]})}
    pd.DataFrame([row]).to_csv(tmp_path / "rows.csv")
    (found,) = read_samples(tmp_path / "rows.csv")
    assert plain(found)[1:5] == ("why?", (Context("1", "since"),), None, "so")
    with pytest.raises(DataError, match="none of the fields"):
        sample_of({"outputs": "{'answer': array('so')}"})


def test_inputs_and_outputs_that_are_texts_are_question_and_answer() -> None:
    row = {"inputs": "why?", "outputs": "so", "expectations": {"expected_response": "since"}}
    assert plain(sample_of({"id": "s", **row})) == ("s", "why?", None, "since", "so", None)
    assert sample_of({**row, "response": "no"}).answer == "no"


@pytest.mark.parametrize("texts", [["It's paid, in 30 days.", 'He said "no", twice.'], ["one alone"], ["a\nb \\d", ""]])
@pytest.mark.parametrize("write", [json.dumps, str, lambda texts: str(np.array(texts, dtype=object))])
def test_lists_in_cells_are_read_as_json_python_and_numpy_write_them(write: Any, texts: list[str]) -> None:
    """Python would join the texts of NumPy, which stand without commas; pandas writes lists of Parquet so."""
    assert [each.text for each in sample_of({"query": "why?", "contexts": write(texts)}).contexts or ()] == texts
    assert list_of(write(texts), "results") == texts


def test_our_own_names() -> None:
    assert (
        *("s1", "why?", (Context("d1", "since"), Context("d2", "because")), "since then", "because of it"),
        (Context("1", "since"),),
    ) == EXPECTED


@pytest.mark.parametrize("tool", THEIRS)
def test_rows_of_other_tools(tool: str) -> None:
    assert plain(sample_of(THEIRS[tool])) == EXPECTED


def written(kind: str, path: Path) -> Any:
    """The row in a file or a frame of a kind."""
    row = THEIRS["ragas"]
    cells = {key: json.dumps(each) if isinstance(each, list) else each for key, each in row.items()}
    if kind == "jsonl":
        path.write_text(json.dumps(row) + "\n\n")
    elif kind == "gzipped":
        path.write_bytes(gzip.compress(json.dumps(row).encode()))
    elif kind == "array":
        path.write_text(json.dumps([row], indent=1))
    elif kind == "one object over lines":
        path.write_text(json.dumps({"samples": [row]}, indent=2))
    elif kind in ("csv", "tsv"):
        pd.DataFrame([cells]).to_csv(path, index=False, sep="," if kind == "csv" else "\t")
    elif kind == "pandas's own csv":
        pd.DataFrame([row]).to_csv(path, index=False)
    elif kind == "parquet":
        pl.DataFrame([row]).write_parquet(path)
    elif kind == "pandas":
        return pd.DataFrame([row])
    elif kind == "polars":
        return pl.DataFrame([row])
    elif kind == "arrow":
        return pl.DataFrame([row]).to_arrow()
    else:
        return iter([row])
    return path


@pytest.mark.parametrize(
    "kind",
    [
        *("jsonl", "gzipped", "array", "one object over lines", "csv", "tsv", "pandas's own csv", "parquet"),
        *("pandas", "polars", "arrow", "iterator"),
    ],
)
def test_every_source_gives_the_same_sample(kind: str, tmp_path: Path) -> None:
    (sample,) = read_samples(written(kind, tmp_path / "rows"))
    assert plain(sample) == EXPECTED


def test_a_frame_with_holes_has_samples_without_these_fields() -> None:
    frame = pd.DataFrame([{"question": "a?", "answer": "x"}, {"question": "b?", "ground_truth": "y"}])
    first, second = read_samples(frame)
    assert (first.answer, first.reference) == ("x", None)
    assert (second.answer, second.reference) == (None, "y")
    assert [first.id, second.id] == ["1", "2"]


# --- objects -----------------------------------------------------------------------------------------


@dataclass
class LangChainDocument:
    page_content: str
    metadata: dict[str, Any]
    id: str | None = None


@dataclass
class Node:
    node_id: str
    text: str


@dataclass
class NodeWithScore:
    node: Node
    score: float


@dataclass
class TestCase:
    __test__ = False
    input: str
    actual_output: str
    retrieval_context: list[str] | None = None


class Response:
    """What LlamaIndex gives back, as far as we look at it."""

    def __init__(self) -> None:
        self.query = "why?"
        self.response = "because"
        self.contexts = [NodeWithScore(Node("n1", "since"), 0.9)]


def test_results_of_langchain_and_llamaindex() -> None:
    documents = [LangChainDocument("since", {}, "d1"), LangChainDocument("because", {"id": "d2"})]
    lang = sample_of({"input": "why?", "context": documents, "answer": "because"})
    assert lang.contexts == (Context("d1", "since"), Context("d2", "because"))
    llama = sample_of(Response())
    assert (llama.query, llama.answer, llama.contexts) == ("why?", "because", (Context("n1", "since"),))


def test_test_cases_and_datasets_of_them() -> None:
    case = TestCase("why?", "because", ["since"])
    assert sample_of(case).contexts == (Context("1", "since"),)

    class Dataset:
        def __init__(self) -> None:
            self.test_cases = [case, TestCase("how?", "so")]

    assert [each.query for each in read_samples(Dataset())] == ["why?", "how?"]
    assert [each.query for each in read_samples({"version": 1, "samples": [case]})] == ["why?"]


# --- spans -------------------------------------------------------------------------------------------

GENAI = [
    {
        "traceId": "t1",
        "spanId": "1",
        "name": "chat",
        "attributes": {"input.value": "why?", "output.value": "so"},
    },
    {
        "traceId": "t1",
        "parentSpanId": "1",
        "attributes": {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.retrieval.query.text": "why?",
            "gen_ai.retrieval.documents": json.dumps([{"id": "d1", "content": "since", "score": 1.0}]),
        },
    },
]
OPENINFERENCE = [
    {"context": {"trace_id": "t1"}, "attributes": {"input.value": "why?", "output.value": "so"}},
    {
        "context": {"trace_id": "t1"},
        "parent_id": "1",
        "attributes": {
            "input.value": "why?",
            "retrieval.documents.0.document.id": "d1",
            "retrieval.documents.0.document.content": "since",
            "retrieval.documents.0.document.score": 1.0,
        },
    },
]


def otlp(spans: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same spans as an OTLP exporter writes them."""
    wrapped = [
        {
            **span,
            "attributes": [
                {
                    "key": key,
                    "value": {"stringValue": each} if isinstance(each, str) else {"doubleValue": each},
                }
                for key, each in span["attributes"].items()
            ],
        }
        for span in spans
    ]
    return [{"resourceSpans": [{"scopeSpans": [{"spans": wrapped}]}]}]


PHOENIX = [
    {
        "context.trace_id": "t1",
        "parent_id": None,
        "attributes.input.value": "why?",
        "attributes.output.value": "so",
        "attributes.retrieval.documents": [{"document.id": "d1", "document.content": "since"}],
    }
]


@pytest.mark.parametrize(
    "spans", [GENAI, OPENINFERENCE, otlp(GENAI), PHOENIX], ids=["genai", "openinference", "otlp", "phoenix"]
)
def test_spans_of_a_trace_are_one_sample(spans: list[dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in spans))
    (sample,) = read_samples(path)
    assert (sample.id, sample.query, sample.answer) == ("t1", "why?", "so")
    assert sample.contexts == (Context("d1", "since"),)


def test_documents_whose_text_was_not_recorded_are_not_judged() -> None:
    from rankproof import judge

    unrecorded = {**PHOENIX[0], "attributes.retrieval.documents": [{"document.id": "d1"}]}
    asked: list[Any] = []
    scores = judge([unrecorded], "context_precision", judge=lambda *pair: asked.append(pair))
    assert asked == []
    assert scores.unmeasured == {"context_precision": {"not settled: a text has no words": 1}}


def test_a_blank_question_is_none_and_an_answer_of_a_sign_has_no_words() -> None:
    from rankproof import judge

    row = {"query": " ", "contexts": ["It is blue."], "answer": "\U0001f44d"}
    scores = judge([row], "context_precision, faithfulness", judge="lexical")
    assert scores.unmeasured == {
        "context_precision": {"no query": 1},
        "faithfulness": {"the answer has no words": 1},
    }


@pytest.mark.parametrize(("query", "lacking"), [("question", "no contexts"), ("ask", "no query and no contexts")])
def test_a_metric_says_which_fields_it_lacks(query: str, lacking: str) -> None:
    from rankproof import judge

    row = {query: "Is it blue?", "chunks": ["It is blue."], "answer": "It is blue."}
    scores = judge([row], "context_precision, faithfulness", judge="lexical")
    assert scores.unmeasured == {"context_precision": {lacking: 1}, "faithfulness": {"no contexts": 1}}


@pytest.mark.parametrize("text", ["", " \n", "\u200b", "---"])
def test_a_blank_context_says_nothing_and_no_judge_is_asked(text: str) -> None:
    from rankproof import judge

    row = {"question": "why?", "contexts": [{"id": "d1", "text": text}], "reference": "It is so."}
    names = ["context_precision", "P@1", "context_recall", "context_relevance"]
    asked: list[Any] = []
    scores = judge([row], names, judge=lambda *pair: asked.append(pair))
    assert asked == []
    assert {name: (scores[name], scores.coverage[name]) for name in names} == dict.fromkeys(names, (0.0, 1.0))


# --- citations ---------------------------------------------------------------------------------------


def test_marks_in_an_answer_are_citations() -> None:
    sample = sample_of({"answer": "It is so [1]. It was so [2, 1].", "contexts": ["since", "because"]})
    assert sample.answer == "It is so. It was so."
    assert sample.citations == (
        *(Citation("It is so.", "1"), Citation("It was so.", "2"), Citation("It was so.", "1")),
    )


def test_brackets_that_name_no_context_are_text() -> None:
    sample = sample_of({"answer": "Use x[7] here.", "contexts": ["since"]})
    assert (sample.answer, sample.citations) == ("Use x[7] here.", None)


def test_citations_that_are_given() -> None:
    sample = sample_of({"answer": "It is so.", "citations": [{"claim": "It is so.", "context_id": "d9"}]})
    assert sample.citations == (Citation("It is so.", "d9"),)


# --- errors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{broken", "rows.jsonl, line 2: not valid JSON"),
        ("[1, 2]", "rows.jsonl, line 2: got '\\[1, 2\\]'|rows.jsonl, line 2: got \\[1, 2\\]"),
        ('{"question": 7}', "rows.jsonl, line 2: got 7 \\(int\\) as 'query', expected a text"),
        (
            '{"question": "a", "contexts": "one text"}',
            "line 2: got 'one text' \\(str\\) as 'contexts', expected a list",
        ),
        ('{"question": "a", "contexts": ["x", 3]}', "line 2, number 2: got 3 .* as 'contexts'"),
        ('{"question": "a", "contexts": ["x"], "context_ids": []}', "line 2: got 1 contexts and 0 ids"),
        ('{"question": "a", "user_input": "b"}', "line 2: 'question' and 'user_input' both give the query"),
        ('{"qestion": "a"}', "line 2: none of the fields .* Did you mean 'question'"),
        ('{"id": "1"}', r"line 2: none of the fields \['id'\] holds what is judged, .*, answer\. Next: "),
        ('{"id": "x", "question": "a"}', "line 2: sample 'x' was given before \\(sample 1 of all\\)"),
        ('{"id": true, "question": "a"}', "line 2: got True \\(bool\\) as 'id'"),
        ('{"question": {"0": "a"}, "contexts": {"0": []}}', "line 2: got a table by columns, .* orient='records'"),
        ('{"question": "a", "citations": [{"claim": "x"}]}', "line 2: got .* as 'citation'"),
        (
            '{"question": "a", "nuggets": [{"text": "x", "importance": "so-so"}]}',
            "line 2: got .* as 'nugget'",
        ),
    ],
)
def test_errors_say_file_and_line(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": "x", "question": "fine"}\n' + line + "\n")
    with pytest.raises(DataError, match=said):
        list(read_samples(path))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"[]", "empty"),
        (b'{"question": "\xff"}', "line 1: the bytes"),
        (b"question,answer\na,b,c\n", "line 2: got 3 columns"),
        (b'question,contexts\na,"[broken"\n', "line 2: got .* as 'contexts', expected a list"),
        (
            b"question;contexts\na;plain text\n",
            r'a list. Next: write one, .* a cell of CSV holds as "\[""a"", ""b""\]"',
        ),
        (b'{"resourceSpans": []}', "no span of 0 traces says which documents were found"),
        (
            b'{"samples": [{"question": "a"}]}\n' * 2,
            r"none of the fields \['samples'\] holds what is judged, .* Next: rename",
        ),
    ],
)
def test_files_that_are_no_samples(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "rows"
    path.write_bytes(content)
    with pytest.raises(DataError, match=said):
        list(read_samples(path))


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("around", [{}, {"samples": 1}, {"result": 1, "metrics": ["x"]}])
def test_a_json_file_of_one_object_is_a_sample_or_holds_them(tmp_path: Path, around: Any, indent: int | None) -> None:
    row = {"question": "a", "contexts": [{"id": "c1", "text": "b"}], "answer": "c"}
    talk = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "c"}]}
    for sample in (row, talk):
        whole = {name: value if name == "metrics" else [sample] for name, value in around.items()} or sample
        path = tmp_path / "rows.json"
        path.write_text(json.dumps(whole, indent=indent))
        (found,) = read_samples(path)
        assert (found.query, found.answer, len(found.contexts or ())) == ("a", "c", sample is row)


@pytest.mark.parametrize("source", [7, {"question": "a"}, b"x"])
def test_what_is_no_source(source: Any) -> None:
    with pytest.raises(UsageError, match="expected a list of rows, a data frame, or a path"):
        list(read_samples(source))


def test_a_metric_that_lacks_a_field_says_which_and_the_others_go_on() -> None:
    from rankproof import judge

    row = {"question": "why?", "contexts": ["since"]}
    scores = judge([row], "context_precision, context_recall, faithfulness", judge=lambda *pair: True)
    assert scores["context_precision"] == 1.0
    assert scores.unmeasured["context_recall"] == {"no reference": 1}
    assert scores.unmeasured["faithfulness"] == {"no answer": 1}
    assert "context_recall: unmeasured samples: no reference (1)." in str(scores)


SPAN = {"trace_id": "t1", "attributes": {"input.value": "q?", "retrieval.documents.0.document.content": "c"}}


@pytest.mark.parametrize(
    "broken",
    [
        {"resourceSpans": 5},
        {"resourceSpans": [3]},
        {"resourceSpans": [{"scopeSpans": None}]},
        {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "a", "attributes": [{"value": 1}]}]}]}]},
        {"trace_id": "t2", "attributes": ["x"]},
        {"trace_id": "t2", "attributes": [{"key": "k", "value": {"arrayValue": {"values": 5}}}]},
    ],
)
def test_spans_that_are_none_are_named_by_their_line(broken: dict[str, Any], tmp_path: Path) -> None:
    for lines, number in (([SPAN, broken], 2), ([broken], 1)):
        path = tmp_path / f"{number}.jsonl"
        path.write_text("".join(json.dumps(each) + "\n" for each in lines))
        with pytest.raises(DataError, match=rf"{number}\.jsonl, line {number}: got .* expected spans"):
            list(read_samples(path))


@pytest.mark.parametrize("messages", ["no JSON", "[3]", '[{"parts": ["x"]}]', '[{"parts": 5}]', "{}"])
def test_messages_of_another_shape_are_no_answer(messages: str) -> None:
    span = {**SPAN, "attributes": {**SPAN["attributes"], "gen_ai.output.messages": messages}}
    (found,) = read_samples([span])
    assert (found.query, found.answer) == ("q?", None)


@pytest.mark.parametrize("name", ["content", "response", "text"])
def test_an_answer_is_what_a_model_gave_back(name: str) -> None:
    """As LangChain's messages and LlamaIndex's responses hold it."""
    (found,) = read_samples([{"query": "q?", "contexts": ["c"], "answer": SimpleNamespace(**{name: "since"})}])
    assert found.answer == "since"


def test_the_list_of_references_of_ragas_is_one_reference() -> None:
    for texts in (["One.", "Two."], np.array(["One.", "Two."])):
        assert sample_of({"question": "why?", "ground_truths": texts}).reference == "One.\nTwo."
    assert sample_of({"question": "why?", "ground_truth": ["One."]}).reference == "One."
    with pytest.raises(DataError, match="Next: join several texts into one if all of them count, else keep the one"):
        sample_of({"question": "why?", "reference": ["One.", "Two."]})
    both = {"question": "why?", "ground_truth": "One.", "ground_truths": ["One."]}
    assert sample_of(both).reference == "One."
    with pytest.raises(DataError, match="ground_truth"):
        sample_of({**both, "ground_truths": ["Two."]})


def test_the_text_of_a_mapping_goes_before_its_content() -> None:
    assert sample_of({"question": {"content": "b", "text": "a"}, "answer": "x"}).query == "a"
