"""An HTTP endpoint, described in TOML: an address and a body with `{question}` in them, and paths into the answer."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote, urlencode, urlsplit

from rankproof.bench.adapters.adapter import Adapted
from rankproof.bench.retriever import IdOf, unusable_answer
from rankproof.errors import UsageError, not_known, shorten
from rankproof.io.files import check_path, read_bytes, text_of, toml_of
from rankproof.net.client import Client, Request, hide_secrets, is_address
from rankproof.net.retries import Failed

QUESTION = ("{question}", "{query}", "{text}")
K = "{k}"
_VARIABLE = re.compile(r"\$\{(\w+)\}")


def fill_template(template: Any, question: str, k: int) -> Any:
    """A template with the question and k in their places; `{k}` alone becomes a number.

    >>> fill_template({"q": "{question}", "size": "{k}", "from": 0}, "why?", 10)
    {'q': 'why?', 'size': 10, 'from': 0}
    """
    return change_texts(template, lambda text: k if text == K else _replaced(text, question, k))


def change_texts(template: Any, change: Callable[[str], Any]) -> Any:
    """The template with every text in it changed, however deep.

    >>> change_texts({"a": ["b", 1]}, str.upper)
    {'a': ['B', 1]}
    """
    if isinstance(template, Mapping):
        return {key: change_texts(value, change) for key, value in template.items()}
    if isinstance(template, (list, tuple)):
        return [change_texts(each, change) for each in template]
    return change(template) if isinstance(template, str) else template


def _replaced(template: str, question: str, k: int) -> str:
    # In one pass, so that a question which has "{k}" in it stays what it is.
    words = {**dict.fromkeys(QUESTION, question), K: str(k)}
    return re.sub("|".join(map(re.escape, words)), lambda found: words[found[0]], template)


def with_secrets(template: Any, where: str, *, escaped: bool = False) -> Any:
    """The template with `${NAME}` replaced by what the environment has under that name, in every text in it.

    In a text that is JSON they are `escaped` for use inside quotes.
    """

    def secret(found: re.Match[str]) -> str:
        name = found[1]
        if name not in os.environ:
            raise UsageError(
                f"{where}: the environment has no {name}. Next: set it, as in {name}=... rankproof run ..."
            )
        return json.dumps(os.environ[name])[1:-1] if escaped else os.environ[name]

    return change_texts(template, lambda text: _VARIABLE.sub(secret, text))


Step: TypeAlias = "str | int | None"
"""A key, a place in a list, or None for every item of a list."""

_STEP = re.compile(r"""\.?([^.\[\]'"]+)|\[\s*(\*|-?\d+|'[^']*'|"[^"]*")?\s*\]""")


def path(text: str, where: str) -> tuple[Step, ...]:
    """The steps of a path.

    >>> path("hits.hits[*]._id", "ids")
    ('hits', 'hits', None, '_id')
    >>> path("$['my docs'][0].id", "ids")
    ('my docs', 0, 'id')
    """
    if not isinstance(text, str):
        raise UsageError(f"{where}: got {shorten(text)}, expected a path. Next: write it like hits.hits[*]._id.")
    rest = text.removeprefix("$")
    steps: list[Step] = []
    while rest:
        match = _STEP.match(rest)
        if match is None:
            raise UsageError(
                f"{where}: got {text!r}, not a path at {shorten(rest)}. Next: write it like hits.hits[*]._id."
            )
        key, inside = match.groups()
        if key is not None:
            steps.append(str(key))
        elif inside in (None, "*"):
            steps.append(None)
        else:
            steps.append(inside[1:-1] if inside[0] in "'\"" else int(inside))
        rest = rest[match.end() :]
    return tuple(steps)


def values(data: Any, steps: Sequence[Step]) -> list[Any]:
    """The values at a path, as a list; `Failed` if the path does not exist.

    >>> values({"hits": [{"id": 1}, {"id": 2}]}, path("hits[*].id", "ids"))
    [1, 2]
    """
    found = [data]
    for step in steps:
        if step is None:
            found = [item for each in found for item in _items(each, steps)]
        else:
            found = [_at(each, step, steps) for each in found]
    return found if None in steps or len(found) != 1 else _items(found[0], steps)


def _items(data: Any, steps: Sequence[Step]) -> list[Any]:
    if not isinstance(data, list):
        raise unusable_answer(data, f"a list at {_written(steps)}")
    return data


def _at(data: Any, step: Any, steps: Sequence[Step]) -> Any:
    if not isinstance(data, dict if isinstance(step, str) else list):
        kind = "an object" if isinstance(step, str) else "a list"
        raise unusable_answer(data, f"{kind} on the way to {_written(steps)}")
    try:
        return data[step]
    except (KeyError, IndexError):
        raise Failed(f"there is no {step!r} in {shorten(data)}, expected {_written(steps)}") from None


def _written(steps: Sequence[Step]) -> str:
    """The path as a user writes it."""
    words = ["[*]" if each is None else f"[{each}]" if isinstance(each, int) else f".{each}" for each in steps]
    return "".join(words).removeprefix(".")


KEYS = ("url", "method", "headers", "params", "body", "answer", "limits")
ANSWER = {"ids": "id", "scores": "score", "texts": "text"}
"""What an answer has, and what a document calls it."""
LIMITS = ("concurrency", "timeout", "retries", "backoff", "rate")
USUAL = {"concurrency": 8, "timeout": 30.0, "retries": 2}


def of_endpoint(
    source: str | Mapping[str, Any], *, id: IdOf = None, settings: Mapping[str, Any] | None = None
) -> Adapted:
    """The endpoint that a TOML file, or the mapping in one, describes."""
    name, plain = _read(source)
    _check(plain, name)
    variables = set(_VARIABLE.findall(json.dumps(plain)))
    # What must never be shown, with its placeholders.
    secrets = {os.environ[each]: f"${{{each}}}" for each in variables if os.environ.get(each)}
    prepare = _request(plain, name)
    # The documents in the JSON of an answer.
    columns = {ANSWER[what]: path(text, f"{name}, {what}") for what, text in plain["answer"].items()}
    limits = {**USUAL, **plain.get("limits", {})}
    client = Client(limits["timeout"], secrets)

    def call(question: str, k: int) -> Any:
        try:
            return _documents(columns, client.json(prepare(question, k)))
        except Failed as error:
            said = hide_secrets(error.reason, secrets)
            raise Failed(said, again=error.again, wait=error.wait, late=error.late) from None

    said = {key: value for key, value in plain.items() if key != "limits"}
    host = urlsplit(with_secrets(plain["url"], name)).netloc
    if host not in plain["url"]:  # a server from the environment: another one gives other answers
        said["server"] = blake2b(host.encode(), digest_size=8).hexdigest()
    return Adapted(
        call,
        {"kind": "endpoint", **said, **(settings or {})},
        id=id,
        limits=limits,
        allow=client.allow,
        stop=client.close,
    )


def _read(source: str | Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    if isinstance(source, Mapping):
        return "endpoint", source
    where = check_path(source)
    return str(Path(source)), toml_of(text_of(read_bytes(where), str(where)), str(where))


def _check(plain: Mapping[str, Any], name: str) -> None:
    _known(plain, KEYS, name)
    _known(plain.get("answer", {}), ANSWER, f"{name}, answer")
    _known(plain.get("limits", {}), LIMITS, f"{name}, limits")
    for part in ("headers", "params"):
        _table(plain.get(part, {}), f"{name}, {part}")
    url = plain.get("url")
    if not isinstance(url, str) or not is_address(with_secrets(url, f"{name}, url")):
        raise UsageError(
            f"{name}, url: got {shorten(url)}, expected one that begins with http:// or https://, a host and perhaps "
            "a port up to 65535, without blanks. Next: write the whole address, a blank in it as %20."
        )
    method = plain.get("method", "GET")
    if not isinstance(method, str) or not method.isalpha():
        raise UsageError(f"{name}, method: got {shorten(method)}, expected one like POST. Next: give that.")
    if not any(each in json.dumps([plain.get(place) for place in ("url", "params", "body")]) for each in QUESTION):
        raise UsageError(
            f"{name}: the question is in neither url, params nor body. "
            'Next: put "{question}" where it belongs, as in body = { query = "{question}" }.'
        )
    if not {"ids", "texts"} & set(plain.get("answer", {})):
        raise UsageError(
            f"{name}: nothing says where the ids are in an answer. "
            'Next: add [answer] with ids = "hits[*].id", as its JSON has them.'
        )


def _table(found: Any, where: str) -> None:
    if not isinstance(found, Mapping):
        raise UsageError(f"{where}: got {shorten(found)}, expected a table. Next: give {{name: value}}.")


def _known(table: Any, keys: Collection[str], where: str) -> None:
    _table(table, where)
    for key in table:
        if key not in keys:
            raise not_known(f"{where}: unknown key {key!r}", key, keys, f"use {', '.join(keys)}")


def _request(plain: Mapping[str, Any], name: str) -> Callable[[str, int], Request]:
    """A function that makes the request for a question; secrets are looked up once, now."""
    body, params = plain.get("body"), with_secrets(plain.get("params"), f"{name}, params")
    method = str(plain.get("method", "GET" if body is None else "POST")).upper()
    body = with_secrets(body, f"{name}, body", escaped=isinstance(body, str))
    headers = _headers(plain.get("headers", {}), body is not None, f"{name}, headers")
    url = with_secrets(plain["url"], f"{name}, url")

    def made(question: str, k: int) -> Request:
        target = _replaced(url, quote(question, safe=""), k)
        if params:
            target += ("&" if "?" in target else "?") + urlencode(fill_template(params, question, k), doseq=True)
        return Request(method, target, headers, _body(body, question, k))

    return made


def _headers(given: Mapping[str, Any], with_body: bool, where: str) -> dict[str, str]:
    """The headers of every request; given ones replace the defaults."""
    own = {key: with_secrets(str(value), where) for key, value in given.items()}
    for key, value in own.items():
        if any(not sign.isprintable() for sign in key + value):
            raise UsageError(
                f"{where}: {key!r} has a line break or another character that no header may have. "
                "Next: take it out; a key that was read from a file often ends in one."
            )
    usual = {"Accept": "application/json", **({"Content-Type": "application/json"} if with_body else {})}
    return {**{key: value for key, value in usual.items() if key.lower() not in map(str.lower, own)}, **own}


def _body(template: Any, question: str, k: int) -> bytes | None:
    if template is None:
        return None
    if isinstance(template, str):  # JSON, in which the question is inside of quotes
        return _replaced(template, json.dumps(question)[1:-1], k).encode("utf-8", "backslashreplace")
    return json.dumps(fill_template(template, question, k)).encode("ascii")


def _documents(paths: Mapping[str, tuple[Step, ...]], data: Any) -> list[dict[str, Any]]:
    columns = {what: values(data, steps) for what, steps in paths.items()}
    lengths = {what: len(column) for what, column in columns.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{length} {what}s" for what, length in lengths.items())
        raise Failed(f"the answer has {said}, expected as many of each")
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
