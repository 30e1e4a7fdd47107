"""Vectors from an endpoint that speaks OpenAI's format for embeddings."""

from __future__ import annotations

import json
import os
from contextlib import closing
from time import sleep
from typing import Any
from urllib.parse import urlsplit

from rankproof.bench.adapters.failed import Failed
from rankproof.bench.adapters.http import Client, Request
from rankproof.bench.retrieve.checks import check_count
from rankproof.bench.retrieve.embedder import Embedder
from rankproof.errors import DataError, UsageError, shorten

OPENAI = "api.openai.com"
LONGEST_WAIT = 30.0
"""Seconds after which a server that asks for more patience is not waited for."""


def endpoint(
    base_url: str,
    model: str,
    *,
    key: str | None = None,
    dimensions: int | None = None,
    batch: int = 64,
    timeout: float = 60.0,
    retries: int = 4,
) -> Embedder:
    """An embedder at `base_url`, like http://localhost:11434/v1, that is asked at `/embeddings`.

    `key` is the name of the environment variable with the key: OPENAI_API_KEY for OpenAI itself, none for others.
    `dimensions` asks for shorter vectors where the model can. Failures that may pass (429, 5xx, no connection) are
    asked again `retries` times, later each time.
    """
    url = f"{_checked(base_url).rstrip('/')}/embeddings"
    check_count("batch", batch)
    check_count("retries", retries, least=0)
    secret = _secret(key or ("OPENAI_API_KEY" if urlsplit(url).hostname == OPENAI else None))
    options = {"model": model, **({"dimensions": dimensions} if dimensions else {})}

    def embed(texts: list[str]) -> list[list[float]]:
        body = json.dumps({**options, "input": texts, "encoding_format": "float"}).encode()
        with closing(Client(timeout)) as client:
            answer = _asked(client, Request("POST", url, _headers(secret), body), retries, secret)
        return _vectors(answer, len(texts), url)

    return Embedder(model, {"endpoint": url, **options}, embed, embed, batch)


def _asked(client: Client, request: Request, retries: int, secret: str) -> Any:
    """The answer, asked for again where that may help."""
    for attempt in range(retries + 1):
        try:
            return client.json(request)
        except Failed as failed:
            wait = max(failed.wait, 0.25 * 2**attempt)
            if not failed.again or attempt == retries or wait > LONGEST_WAIT:
                raise _unanswered(request.url, failed, attempt + 1, secret) from None
            sleep(wait)
    raise UsageError("retries: expected at least one attempt. Next: give 1 or more.")


def _unanswered(url: str, failed: Failed, times: int, secret: str) -> DataError:
    reason = failed.reason
    if secret and (secret[:6] in reason or secret[-6:] in reason):
        reason = reason.partition(":")[0]  # the server repeats the key
    tries = "once" if times == 1 else f"{times} times"
    return DataError(f"{url}: asked {tries}, {reason}. Next: check base_url, model and key.")


def _vectors(answer: Any, count: int, url: str) -> list[list[float]]:
    """The vectors in the order of the texts."""
    rows = answer.get("data") if isinstance(answer, dict) else None
    fits = isinstance(rows, list) and all(isinstance(row, dict) and "embedding" in row for row in rows)
    if not isinstance(rows, list) or not fits:
        raise DataError(
            f'{url}: got {shorten(answer)}, expected {{"data": [{{"index": 0, "embedding": [...]}}]}}. '
            "Next: check that it speaks OpenAI's format for embeddings."
        )
    by_index = {row.get("index", place): row["embedding"] for place, row in enumerate(rows)}
    if len(rows) != count or set(by_index) != set(range(count)):
        raise DataError(
            f"{url}: got {len(rows)} vectors for {count} texts, expected one for each text."
            " Next: check which model answers there."
        )
    return [by_index[place] for place in range(count)]


def _headers(secret: str) -> dict[str, str]:
    plain = {"Content-Type": "application/json", "Accept": "application/json"}
    return {**plain, "Authorization": f"Bearer {secret}"} if secret else plain


def _checked(base_url: str) -> str:
    parts = urlsplit(base_url) if isinstance(base_url, str) else None
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(
            f"base_url: got {base_url!r}, expected one like http://localhost:11434/v1."
            " Next: write the whole address."
        )
    return base_url


def _secret(name: str | None) -> str:
    """The key under that name; what is no name is not repeated, since it may be the key itself."""
    if name is None:
        return ""
    if not name.isidentifier():
        raise UsageError(
            "key: expected the name of an environment variable, like OPENAI_API_KEY, not a key itself."
            " Next: put the key into the environment, and name the variable."
        )
    if not os.environ.get(name):
        shown = name if name.isupper() else "of that name"
        raise UsageError(f"key: the environment has no variable {shown}. Next: set it, or leave out key.")
    return os.environ[name]
