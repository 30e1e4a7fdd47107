"""The two protocols of models over HTTP: the request, and the place of the answer in the response."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from rankproof.document.model import Displayable
from rankproof.document.numbers import for_face, setting
from rankproof.errors import UsageError, check_one_of
from rankproof.judging.models.calls import Call
from rankproof.judging.models.replies import tokens
from rankproof.net.client import is_address

MOST_REPLY_TOKENS = 8192
HOSTED = (".azure.com", ".amazonaws.com")
"""The addresses of known services, which need a key."""
SHORTEST_KEY = 8
"""Characters from which on a key is looked for where it should not be; words like "none" are no keys."""


@dataclass(frozen=True)
class Reply(Displayable):
    """The answer of a model."""

    content: str | Mapping[str, Any]
    prompt_tokens: int = 0
    reply_tokens: int = 0
    model: str = ""
    """The model that answered, with its fingerprint where the service tells one."""
    problem: str = ""
    """Why there is no answer: a refusal, or an end before the end."""


UNREADABLE = "the service's reply is not what its protocol says"


@dataclass(frozen=True)
class Provider(Displayable):
    """A protocol: where to send, how to say who one is, what to send, how to read."""

    name: str
    url: str
    """The default address of the service."""
    path: str
    key: str
    """The environment variable with the key."""
    base: str
    """The environment variable with the service's address."""
    headers: Callable[[str], dict[str, str]]
    body: Callable[[str, Call, Mapping[str, Any]], dict[str, Any]]
    read: Callable[[Any], Reply]
    local: bool = False
    """Whether it needs no key where it usually is."""
    batches: str = ""
    """The protocol of its batches; empty if it has none."""
    found: Callable[[Mapping[str, str]], str] = field(default=lambda _: "")
    """The environment variable with its address, if none was given."""
    whole: Callable[[str], str] = field(default=lambda url: url)
    """An address with the path that people leave out."""
    other_keys: tuple[str, ...] = ()
    """Other variables that may hold the key."""
    hint: str = ""
    """What to do if the address is unknown; `{base_url}` is the argument, or the option, for it."""

    def reply(self, data: Any) -> Reply:
        """The reply in a response, or an error if there is none."""
        try:
            reply = self.read(data)
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError):
            reply = None
        if reply is None or not isinstance(reply.content, str | Mapping):
            usage = data.get("usage") if isinstance(data, Mapping) else None
            told = tokens(usage, "prompt_tokens", "input_tokens"), tokens(usage, "completion_tokens", "output_tokens")
            return Reply("", *told, problem=UNREADABLE)
        return reply


def _openai_body(model: str, call: Call, given: Mapping[str, Any]) -> dict[str, Any]:
    form = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": call.schema}}
    messages = [{"role": "system", "content": call.instructions}, {"role": "user", "content": call.body}]
    return {"model": model, "messages": messages, "temperature": 0, "response_format": form, **given}


def _openai_reply(data: Any) -> Reply:
    choice = data["choices"][0]
    message, usage = choice["message"], data.get("usage")
    ended = choice.get("finish_reason")
    # Google's services say more behind "content_filter".
    problem = "the model refused" if message.get("refusal") or str(ended).startswith("content_filter") else ""
    return Reply(
        _text(message),
        tokens(usage, "prompt_tokens"),
        tokens(usage, "completion_tokens"),
        " ".join(str(data[each]) for each in ("model", "system_fingerprint") if data.get(each)),
        problem or ("the reply was cut off" if ended == "length" else ""),
    )


def _text(message: Mapping[str, Any]) -> Any:
    """The text of the reply, in parts if it comes so (reasoning has another type), or what a tool is called with."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [{"text": part} if isinstance(part, str) else part for part in content]
        content = "".join(part["text"] for part in parts if part.get("type") in (None, "text", "output_text"))
    called = message.get("tool_calls")
    return content or (called[0]["function"]["arguments"] if called else "")


def _anthropic_body(model: str, call: Call, given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "model": model,
        "max_tokens": MOST_REPLY_TOKENS,
        "temperature": 0,
        "system": call.instructions,
        "messages": [{"role": "user", "content": call.body}],
        "tools": [{"name": "reply", "description": "Takes the reply.", "input_schema": call.schema}],
        "tool_choice": {"type": "tool", "name": "reply"},
        **given,
    }


def _anthropic_reply(data: Any) -> Reply:
    parts, usage, ended = data["content"], data.get("usage"), data.get("stop_reason")
    given = next((part["input"] for part in parts if part.get("type") == "tool_use"), None)
    text = "".join(part.get("text", "") for part in parts if part.get("type") == "text")
    problem = "the model refused" if ended == "refusal" else ""
    return Reply(
        text if given is None else given,
        tokens(usage, "input_tokens"),
        tokens(usage, "output_tokens"),
        str(data.get("model") or ""),
        problem or ("the reply was cut off" if ended == "max_tokens" else ""),
    )


PROVIDERS = {
    "openai": Provider(
        name="openai",
        url="https://api.openai.com/v1",
        path="/chat/completions",
        key="OPENAI_API_KEY",
        base="OPENAI_BASE_URL",
        headers=lambda key: {"Authorization": f"Bearer {key}"} if key else {},
        body=_openai_body,
        read=_openai_reply,
        batches="openai",
    ),
    "anthropic": Provider(
        name="anthropic",
        url="https://api.anthropic.com",
        path="/v1/messages",
        key="ANTHROPIC_API_KEY",
        base="ANTHROPIC_BASE_URL",
        headers=lambda key: {"anthropic-version": "2023-06-01", **({"x-api-key": key} if key else {})},
        body=_anthropic_body,
        read=_anthropic_reply,
        batches="anthropic",
    ),
}


def _versioned(url: str) -> str:
    """The address with /v1, if it has no path.

    >>> _versioned("http://localhost:11434"), _versioned("http://host/llm/v1")
    ('http://localhost:11434/v1', 'http://host/llm/v1')
    """
    return url if urlsplit(url).path.strip("/") else f"{url.rstrip('/')}/v1"


def _ollama_host(environment: Mapping[str, str]) -> str:
    """Where Ollama's own variable says that it listens.

    >>> _ollama_host({"OLLAMA_HOST": "0.0.0.0"}), _ollama_host({"OLLAMA_HOST": "http://box:80"})
    ('http://127.0.0.1:11434', 'http://box:80')
    """
    host = environment.get("OLLAMA_HOST", "").strip().rstrip("/")
    if not host or "://" in host:
        return host
    name, colon, port = host.partition(":")
    return f"http://{'127.0.0.1' if name in ('', '0.0.0.0') else name}:{port if colon else '11434'}"


def _of_bedrock(environment: Mapping[str, str]) -> str:
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or ""
    return f"https://bedrock-runtime.{region}.amazonaws.com/openai/v1" if region.replace("-", "").isalnum() else ""


def _compatible(name: str, url: str, key: str = "", **more: Any) -> Provider:
    """A service that speaks OpenAI's protocol at an address of its own."""
    upper = name.upper()
    settings = {"name": name, "url": url, "key": key or f"{upper}_API_KEY", "base": f"{upper}_BASE_URL", "batches": ""}
    return replace(PROVIDERS["openai"], **{**settings, **more})


PROVIDERS |= {
    each.name: each
    for each in (
        _compatible(
            *("gemini", "https://generativelanguage.googleapis.com/v1beta/openai"), other_keys=("GOOGLE_API_KEY",)
        ),
        _compatible("mistral", "https://api.mistral.ai/v1"),
        _compatible("groq", "https://api.groq.com/openai/v1", batches="openai"),
        _compatible("openrouter", "https://openrouter.ai/api/v1"),
        _compatible("together", "https://api.together.xyz/v1"),
        _compatible("deepseek", "https://api.deepseek.com/v1"),
        _compatible("ollama", "http://localhost:11434/v1", local=True, found=_ollama_host, whole=_versioned),
        _compatible("vllm", "http://localhost:8000/v1", local=True, whole=_versioned),
        _compatible(
            *("azure", "", "AZURE_OPENAI_API_KEY"),
            base="AZURE_OPENAI_ENDPOINT",
            headers=lambda key: {"api-key": key} if key else {},
            whole=lambda url: url if "/openai" in url else f"{url.rstrip('/')}/openai/v1",
            hint="set AZURE_OPENAI_ENDPOINT to https://NAME.openai.azure.com, or give {base_url}; "
            "MODEL is the name of the deployment",
        ),
        _compatible(
            *("bedrock", "", "AWS_BEARER_TOKEN_BEDROCK"),
            found=_of_bedrock,
            hint="set AWS_REGION, and AWS_BEARER_TOKEN_BEDROCK to a key of Bedrock; models that Bedrock does not offer "
            "over OpenAI's protocol are asked by litellm:bedrock/MODEL",
        ),
        _compatible(
            *("litellm", ""),
            local=True,
            hint="pip install litellm, or give the address of its proxy as {base_url} or LITELLM_BASE_URL",
        ),
    )
}
"""The services by name. The first two protocols are all there are."""


@dataclass(frozen=True)
class Service(Displayable):
    """A provider at an address, with the name of the variable that holds its key: never the key itself."""

    provider: Provider
    url: str
    key_variable: str
    given: bool = True
    """Whether its address was given, rather than being where the provider always is."""

    @property
    def key(self) -> str:
        """The key; read from the environment when it is needed, and kept nowhere."""
        return os.environ.get(self.key_variable, "").strip()

    @property
    def headers(self) -> dict[str, str]:
        """The headers that identify us."""
        return self.provider.headers(self.key)

    @property
    def secrets(self) -> dict[str, str]:
        """The secrets that no message may show; a service may repeat the key in an error."""
        return {self.key: "[key]"} if len(self.key) >= SHORTEST_KEY else {}

    def check(self) -> None:
        """A hosted service needs a key in the environment; one of your own may need none."""
        key = self.key
        hosted = not self.given or (urlsplit(self.url).hostname or "").endswith(HOSTED)
        if hosted and not key and not self.provider.local:
            raise UsageError(
                f"{self.provider.name}: no key, the environment variable {self.key_variable} is empty. "
                f"Next: set it, name another ({for_face('', '--set ')}key_variable=NAME), or give "
                f"{setting('base_url')} of a service that needs none."
            )
        if not (key.isascii() and key.isprintable()):
            raise UsageError(
                f"{self.provider.name}: the environment variable {self.key_variable} holds characters that no key has. "
                "Next: set it to the key alone."
            )
        if len(key) >= SHORTEST_KEY and key in self.url:
            raise _unfit(self.url)


def service_of(provider: str, base_url: str | None = None, key_variable: str | None = None) -> Service:
    """The service that is meant."""
    check_one_of("provider", provider, PROVIDERS)
    found = PROVIDERS[provider]
    given = base_url or os.environ.get(found.base, "").strip() or found.found(os.environ)
    if not (given or found.url):
        hint = found.hint.format(base_url=setting("base_url"))
        raise UsageError(f"{provider}: its address is unknown. Next: {hint}.")
    url = _checked_url(found.whole(_checked_url(given)) if given else found.url)
    keys = (found.key, *found.other_keys)
    key = key_variable or next((name for name in keys if os.environ.get(name, "").strip()), found.key)
    return Service(found, url, key, given=bool(given) and url != found.url)


def _checked_url(url: str) -> str:
    if not is_address(url) or set("@?#").intersection(url):
        raise _unfit(url)
    return url.rstrip("/")


def _unfit(url: str) -> UsageError:
    """The error for an address; no more of it is repeated than where it leads, as it may hold a key."""
    scheme, _, rest = url.partition("://")
    host = rest.partition("/")[0].rpartition("@")[2].partition("?")[0].partition("#")[0]
    got = f"{scheme}://{host}" if rest else "no scheme"
    return UsageError(
        f"base_url: got {got}, expected an address like https://host/v1, without a name, a password, a key or a "
        "query in it. Next: put the key into the environment."
    )


NONE = Reply("")
"""Stands where nothing came back: asking once more would not help."""
