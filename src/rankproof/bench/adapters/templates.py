"""Filling a question into the URL and the body of a request, and secrets into its headers."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, quote_plus

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


def with_secrets(template: Any, where: str) -> Any:
    """The template with `${NAME}` replaced by what the environment has under that name, in every text in it."""
    if isinstance(template, Mapping):
        return {key: with_secrets(value, where) for key, value in template.items()}
    if isinstance(template, list):
        return [with_secrets(each, where) for each in template]
    return (
        _SECRET.sub(lambda found: _secret(found[1], where), template)
        if isinstance(template, str)
        else template
    )


def _secret(name: str, where: str) -> str:
    if name not in os.environ:
        raise UsageError(
            f"{where}: the environment has no {name}. Next: set it, as in {name}=... rankproof run ..."
        )
    return os.environ[name]


def json_with_secrets(template: str, where: str) -> str:
    """The text of a JSON body with `${NAME}` replaced, as it stands inside quotes."""
    return _SECRET.sub(lambda found: json.dumps(_secret(found[1], where))[1:-1], template)


def secrets_in(*templates: str) -> dict[str, str]:
    """What must never be shown, with the words that stand for it."""
    names = {name for each in templates for name in _SECRET.findall(each)}
    return {os.environ[name]: f"${{{name}}}" for name in names if os.environ.get(name)}


def hidden(text: str, secrets: Mapping[str, str]) -> str:
    """The text without the secrets, however they are written in it.

    >>> hidden("bad key s3cret", {"s3cret": "${KEY}"})
    'bad key ${KEY}'
    >>> hidden("GET /?key=a%26b", {"a&b": "${KEY}"})
    'GET /?key=${KEY}'
    """
    forms = {form: name for secret, name in secrets.items() for form in _written(secret) if form}
    for form in sorted(forms, key=len, reverse=True):
        text = text.replace(form, forms[form])
    return text


def _written(secret: str) -> set[str]:
    """How a secret may come back: as it is, in a URL, in JSON, in what Python shows of a text, without line ends."""
    plain = {secret, secret.strip(), " ".join(secret.split())}
    coded = {code(each) for each in plain for code in (quote, quote_plus, lambda text: quote(text, safe=""))}
    once = {show(each)[1:-1] for each in plain for show in (json.dumps, repr)}
    twice = {show(each)[1:-1] for each in once for show in (json.dumps, repr)}
    return plain | coded | once | twice
