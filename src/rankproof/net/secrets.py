"""Cuts secrets out of what is shown: messages, addresses, what a service says."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import AnyStr
from urllib.parse import quote, quote_plus, urlsplit

_LIKE_A_KEY = re.compile(
    r"(?i)\b(?:sk|pk)[-_ :=]+[\w*.\-]{6,}"
    # "key provided" and "Bearer authentication" are words.
    r"|\b(?:key|token|bearer)(?:[-_:=][-_ :=]*| +(?=[\w*.\-]*[\d*]))[\w*.\-]{6,}"
    # So is Elasticsearch's "search_phase_execution_exception".
    r"|\b(?!(?:[a-z]{1,20}[_\-])+[a-z]{1,20}(?![\w\-]))[\w\-]{32,}\b"
)
"""What looks like a key, in whole or in part."""
_PART = 6
"""Characters of a secret that give it away, at its beginning or end."""


def hide_secrets(text: AnyStr, secrets: Mapping[str, str]) -> AnyStr:
    """The text without the secrets, however they are written in it; each has a word that stands for it.

    >>> hide_secrets("bad key s3cret", {"s3cret": "${KEY}"})
    'bad key ${KEY}'
    >>> hide_secrets("GET /?key=a%26b", {"a&b": "${KEY}"})
    'GET /?key=${KEY}'
    """
    forms = {form: name for secret, name in secrets.items() for form in _written(secret) if form}
    for form in sorted(forms, key=len, reverse=True):
        if isinstance(text, str):
            text = text.replace(form, forms[form])
        else:
            text = text.replace(form.encode("utf-8", "replace"), forms[form].encode())
    return text


def _written(secret: str) -> set[str]:
    """How a secret may come back: as it is, in a URL, in JSON, in what Python shows of a text, without line ends."""
    plain = {secret, secret.strip(), " ".join(secret.split())}
    coded = {code(each) for each in plain for code in (quote, quote_plus, lambda text: quote(text, safe=""))}
    once = {show(each)[1:-1] for each in plain for show in (json.dumps, repr)}
    twice = {show(each)[1:-1] for each in once for show in (json.dumps, repr)}
    return plain | coded | once | twice


def without_keys(text: str, secrets: Mapping[str, str] | None = None) -> str:
    """What a service says of a refusal, without secrets, parts of them, and whatever looks like a key.

    >>> without_keys("Model is overloaded, key sk-123456789")
    'Model is overloaded, [key]'
    >>> without_keys("search_phase_execution_exception: no API key provided")
    'search_phase_execution_exception: no API key provided'
    >>> without_keys("bad: hunter2-b*****", {"hunter2-bananas": "${KEY}"})
    'bad: ${KEY}'
    """
    text = hide_secrets(text, secrets or {})
    for secret, name in (secrets or {}).items():
        word = secret.split()[-1] if secret.strip() else ""  # without the "Bearer" of a header
        for part in {word[:_PART], word[-_PART:]} if len(word) > 2 * _PART else ():
            if re.fullmatch(r"[\w.\-]+", part):  # not the http:/ of an address that is kept secret
                text = re.sub(rf"[^\s\"']*{re.escape(part)}[^\s\"']*", name, text)
    return _LIKE_A_KEY.sub("[key]", text)


def without_access(url: str) -> str:
    """A URL without the name, password and parameters in it.

    >>> without_access("https://me:secret@search.example:9200/x?key=1")
    'https://search.example:9200/x'
    """
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=host, query="", fragment="").geturl()
