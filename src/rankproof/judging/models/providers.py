"""The two ways to speak to a model over HTTP: what is sent, and where the answer stands in what comes back."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from rankproof.errors import UsageError, one_of
from rankproof.judging.models.asking import Call

MOST_REPLY_TOKENS = 8192
SHORTEST_KEY = 8
"""Characters from which on a key is looked for where it should not be; words like "none" are no keys."""


@dataclass(frozen=True)
class Reply:
    """What a model answered."""

    content: str | Mapping[str, Any]
    prompt_tokens: int = 0
    reply_tokens: int = 0
    model: str = ""
    """The model that answered, with its fingerprint where the service tells one."""
    problem: str = ""
    """Why there is no answer: a refusal, or an end before the end."""


@dataclass(frozen=True)
class Provider:
    """A protocol: where to send, how to say who one is, what to send, how to read."""

    name: str
    url: str
    """Where the service is, unless told otherwise."""
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
    """The protocol of its batches; empty where it has none."""

    def reply(self, data: Any) -> Reply:
        """The reply in what came back, or that there is none in it."""
        try:
            reply = self.read(data)
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError):
            reply = None
        if reply is None or not isinstance(reply.content, str | Mapping):
            return Reply("", problem="the service's reply is not what its protocol says")
        return reply


# --- the protocol of OpenAI, which many services speak -------------------------------------------------


def _openai_body(model: str, call: Call, given: Mapping[str, Any]) -> dict[str, Any]:
    form = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": call.schema}}
    messages = [{"role": "system", "content": call.instructions}, {"role": "user", "content": call.body}]
    return {"model": model, "messages": messages, "temperature": 0, "response_format": form, **given}


def _openai_reply(data: Any) -> Reply:
    choice = data["choices"][0]
    message, usage = choice["message"], data.get("usage") or {}
    ended = choice.get("finish_reason")
    problem = "the model refused" if message.get("refusal") or ended == "content_filter" else ""
    return Reply(
        _text(message.get("content")),
        _count(usage.get("prompt_tokens")),
        _count(usage.get("completion_tokens")),
        " ".join(str(data[each]) for each in ("model", "system_fingerprint") if data.get(each)),
        problem or ("the reply was cut off" if ended == "length" else ""),
    )


def _text(content: Any) -> Any:
    """What is said; some services say it in parts, and some think aloud in parts of another type."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type") == "text")
    return content or ""


def _count(tokens: Any) -> int:
    return max(0, int(tokens or 0))


# --- the protocol of Anthropic -------------------------------------------------------------------------


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
    parts, usage, ended = data["content"], data.get("usage") or {}, data.get("stop_reason")
    given = next((part["input"] for part in parts if part.get("type") == "tool_use"), None)
    text = "".join(part.get("text", "") for part in parts if part.get("type") == "text")
    problem = "the model refused" if ended == "refusal" else ""
    return Reply(
        text if given is None else given,
        _count(usage.get("input_tokens")),
        _count(usage.get("output_tokens")),
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


@dataclass(frozen=True)
class Service:
    """A provider at an address, with the name of the variable that holds its key: never the key itself."""

    provider: Provider
    url: str
    key_variable: str

    @property
    def endpoint(self) -> str:
        """Where calls go."""
        return self.url + self.provider.path

    @property
    def key(self) -> str:
        """The key; read from the environment when it is needed, and kept nowhere."""
        return os.environ.get(self.key_variable, "").strip()

    @property
    def headers(self) -> dict[str, str]:
        """Who we are."""
        return self.provider.headers(self.key)

    def without_key(self, body: bytes) -> bytes:
        """What a service says, without the key, should it repeat it."""
        return body.replace(self.key.encode(), b"[key]") if len(self.key) >= SHORTEST_KEY else body

    def check(self) -> None:
        """A hosted service needs a key in the environment; one of your own may need none."""
        key = self.key
        if self.url == self.provider.url and not key and not self.provider.local:
            raise UsageError(
                f"{self.provider.name}: no key, the environment variable {self.key_variable} is empty. "
                "Next: set it, or give base_url= (--base-url) of a service that needs none."
            )
        if not (key.isascii() and key.isprintable()):
            raise UsageError(
                f"{self.provider.name}: the environment variable {self.key_variable} holds signs that no key has. "
                "Next: set it to the key alone."
            )
        if len(key) >= SHORTEST_KEY and key in self.url:
            raise _unfit(self.url)


def service_of(provider: str, base_url: str | None = None, key_variable: str | None = None) -> Service:
    """The service that is meant."""
    if provider not in PROVIDERS:
        raise one_of("provider", provider, PROVIDERS)
    found = PROVIDERS[provider]
    url = _checked_url(base_url or os.environ.get(found.base) or found.url)
    return Service(found, url, key_variable or found.key)


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # a port or an address that is none
        fine = False
    if not fine or set("@?#").intersection(url) or any(c.isspace() for c in url):
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
