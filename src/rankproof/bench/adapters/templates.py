"""Filling a question into the URL and the body of a request, and secrets into its headers."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from rankproof.errors import UsageError

QUESTION = ("{question}", "{query}", "{text}")
K = "{k}"
_SECRET = re.compile(r"\$\{(\w+)\}")


def filled(template: Any, question: str, k: int) -> Any:
    """A template with the question and k in their places; `{k}` alone becomes a number.

    >>> filled({"q": "{question}", "size": "{k}", "from": 0}, "why?", 10)
    {'q': 'why?', 'size': 10, 'from': 0}
    """
    if isinstance(template, Mapping):
        return {key: filled(value, question, k) for key, value in template.items()}
    if isinstance(template, list):
        return [filled(each, question, k) for each in template]
    if not isinstance(template, str):
        return template
    return k if template == K else _replaced(template, question, k)


def filled_json(template: str, question: str, k: int) -> str:
    """The text of a JSON body, with the question as it stands inside quotes.

    >>> filled_json('{"q": "{question}", "size": {k}}', 'say "hi"', 10)
    '{"q": "say \\\\"hi\\\\"", "size": 10}'
    """
    return _replaced(template, json.dumps(question)[1:-1], k)


def filled_url(template: str, question: str, k: int) -> str:
    """The URL, with the question percent-encoded.

    >>> filled_url("http://x/search?q={question}&n={k}", "a b&c", 10)
    'http://x/search?q=a%20b%26c&n=10'
    """
    return _replaced(template, quote(question, safe=""), k)


def _replaced(template: str, question: str, k: int) -> str:
    # In one pass, so that a question which has "{k}" in it stays what it is.
    words = {**dict.fromkeys(QUESTION, question), K: str(k)}
    return re.sub("|".join(map(re.escape, words)), lambda found: words[found[0]], template)


def asks(template: Any) -> bool:
    """Whether the question has a place in the template."""
    return any(each in json.dumps(template) for each in QUESTION)


def with_secrets(template: str, where: str) -> str:
    """The text with `${NAME}` replaced by what the environment has under that name."""

    def value(found: re.Match[str]) -> str:
        if found[1] not in os.environ:
            raise UsageError(
                f"{where}: the environment has no {found[1]}. Next: set it, as in {found[1]}=... rankproof run ..."
            )
        return os.environ[found[1]]

    return _SECRET.sub(value, template)


def secrets_in(*templates: str) -> dict[str, str]:
    """What must never be shown, with the words that stand for it."""
    names = {name for each in templates for name in _SECRET.findall(each)}
    return {os.environ[name]: f"${{{name}}}" for name in names if os.environ.get(name)}


def hidden(text: str, secrets: Mapping[str, str]) -> str:
    """The text without the secrets.

    >>> hidden("bad key s3cret", {"s3cret": "${KEY}"})
    'bad key ${KEY}'
    """
    for secret, name in secrets.items():
        text = text.replace(secret, name)
    return text
