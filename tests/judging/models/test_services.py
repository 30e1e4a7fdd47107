"""Services by name: where each is, which variable holds its key, and what is said where something is lacking."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rankproof import Judge, judge
from rankproof.errors import UsageError
from rankproof.judging.judges import judges_of
from rankproof.judging.models.providers import PROVIDERS
from tests.judging.models.server import Served, serving
from tests.judging.models.test_chat import posted
from tests.shell import rankproof as run

ROWS = [{"id": "s", "question": "How many legs?", "contexts": ["It has 4 legs.", "A ferry."]}]
SECRET = "sk-very-secret-key-1234567890"


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of a service is set."""
    for each in PROVIDERS.values():
        for name in (each.key, each.base, *each.other_keys):
            if name:
                monkeypatch.delenv(name, raising=False)
    for name in ("OLLAMA_HOST", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[Served]:
    with serving() as served:
        yield served


@pytest.mark.slow
def test_every_name_asks_at_its_address_with_its_key(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, provider in PROVIDERS.items():
        monkeypatch.setenv(provider.key, f"{SECRET}-{name}")
        scores = judge(ROWS, "P@2", judge=f"{name}:a/b:c", base_url=server.url)
        assert scores["P@2"] == 0.5, name
        assert server.keys[-1].endswith(f"-{name}") or name == "azure"
        assert {each["name"] for each in scores.judges} == {f"{name}:a/b:c"}
        monkeypatch.setenv(provider.base, server.url)
        before = len(server.calls)
        assert judge(ROWS, "P@2", judge=f"{name}:m")["P@2"] == 0.5
        assert len(server.calls) == before + 1, name
        monkeypatch.delenv(provider.base)
        monkeypatch.delenv(provider.key)


def test_where_the_services_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def at(spec: str, **options: Any) -> str:
        found: Any = judges_of(spec, **options)[0]
        return str(found.service.url + found.service.provider.path)

    gemini = "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions"
    assert at("gemini:m") == gemini
    assert at("ollama:m") == "http://localhost:11434/v1/chat/completions"
    assert at("ollama:m", base_url="http://box:1") == "http://box:1/v1/chat/completions"
    assert at("azure:d", base_url="https://n.openai.azure.com/") == (
        "https://n.openai.azure.com/openai/v1/chat/completions"
    )
    monkeypatch.setenv("OLLAMA_HOST", "0.0.0.0:99")
    assert at("ollama:m") == "http://127.0.0.1:99/v1/chat/completions"
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    assert at("bedrock:m").startswith("https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1/")
    monkeypatch.setenv("GOOGLE_API_KEY", SECRET)
    found: Any = judges_of("gemini:m")[0]
    assert found.service.headers == {"Authorization": f"Bearer {SECRET}"}
    found = judges_of("azure:d", base_url="https://n.openai.azure.com", key_variable="GOOGLE_API_KEY")[0]
    assert found.service.headers == {"api-key": SECRET}


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("gemini:m", "GEMINI_API_KEY"),
        ("mistral:m", "MISTRAL_API_KEY"),
        ("groq:m", "GROQ_API_KEY"),
        ("azure:m", "AZURE_OPENAI_ENDPOINT"),
        ("azure:m@https://n.openai.azure.com", "AZURE_OPENAI_API_KEY"),
        ("bedrock:m", "AWS_REGION"),
        ("litellm:m", "pip install litellm"),
        ("gemni:m", "Did you mean 'gemini'"),
        ("ollama", "ollama:MODEL"),
    ],
)
def test_what_is_lacking_is_said(spec: str, words: str) -> None:
    with pytest.raises(UsageError, match="Next: ") as raised:
        judge(ROWS, "P@2", judge=spec)
    assert words in str(raised.value)


def test_each_judge_of_a_cascade_has_its_address(server: Served, tmp_path: Path) -> None:
    with serving() as other:
        other.refused = {"messages": "out of order"}
        specs: list[Any] = [
            f"vllm:a@{other.url}>openai:b@{server.url}",
            [f"vllm:a@{other.url}", f"openai:b@{server.url}"],
        ]
        for number, spec in enumerate(specs, start=1):
            scores = judge(ROWS, "P@2", judge=spec, tries=1)
            assert scores["P@2"] == 0.5
            assert (len(other.calls) >= number, len(server.calls)) == (True, number)
            assert {each["name"] for each in scores.judges} == {"vllm:a", "openai:b"}
        (tmp_path / "s.jsonl").write_text('{"question": "How many?", "contexts": ["4 legs.", "A ferry."]}\n')
        file = str(tmp_path / "s.jsonl")
        done = run(tmp_path, "judge", file, "-m", "P@2", "--judge", specs[0], "--ledger", str(tmp_path / "v.db"))
        assert "0.5000" in done.stdout
    with pytest.raises(UsageError, match=r"base_url: got one for vllm and openai, .* Next: write the address"):
        Judge("vllm:a>openai:b", base_url=server.url)
    for name in ("base_url", "key_variable"):
        with pytest.raises(UsageError, match=rf"{name}: got a dict, expected a text .* like vllm:a@http://HOST/v1"):
            Judge("vllm:a", **{name: {"vllm:a": server.url}})


def test_litellm_by_its_package(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def completion(model: str, messages: list[dict[str, str]], temperature: Any = None) -> Any:
        return posted(server, messages, model=model)

    monkeypatch.setitem(sys.modules, "litellm", SimpleNamespace(completion=completion))
    scores = judge(ROWS, "P@2", judge="lexical>litellm:bedrock/some.model-v1:0")
    assert scores["P@2"] == 0.5
    assert server.calls[-1]["model"] == "bedrock/some.model-v1:0"


def test_batches_are_refused_where_none_are_known() -> None:
    with pytest.raises(UsageError, match="batch: ollama has no batches"):
        judges_of("ollama:m", batch=True)[0]
