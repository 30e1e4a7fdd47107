"""What a model in hand gave back as a reply: its text, and the tokens that it tells, whatever library it is of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankproof.errors import shorten
from rankproof.judging.models.asking import Call

CUT_OFF = ("length", "max_tokens", "MAX_TOKENS")
"""Words for an end before the end."""


def reply_in(found: Any, call: Call) -> dict[str, Any]:
    """The fields of a Reply.

    >>> reply_in({"choices": [{"message": {"content": "{}"}}]}, Call("verdicts-2", "", {}))["content"]
    '{}'
    """
    if isinstance(found, tuple) and found:  # DeepEval: the text and its cost
        found = found[0]
    if isinstance(found, list) and found:  # a pipeline of transformers
        found = _get(found[0], "generated_text") or found[0]
    usage = _first(found, "usage_metadata", "usage")
    details = _first(found, "response_metadata") or found
    choice = _item(_get(found, "choices"))
    ended = _get(choice, "finish_reason") or _first(details, "finish_reason", "stop_reason")
    content = _text(found, choice)
    if isinstance(content, str):
        content = content.removeprefix(f"{call.instructions}\n\n{call.body}")
    reply = {
        "content": content if isinstance(content, str | Mapping) else "",
        "prompt_tokens": tokens(usage, "input_tokens", "prompt_tokens"),
        "reply_tokens": tokens(usage, "output_tokens", "completion_tokens"),
        "model": _name(details),
    }
    if not isinstance(content, str | Mapping):
        reply["problem"] = f"the model gave {type(found).__name__} {shorten(found, 40)}, expected text"
    elif ended in CUT_OFF:
        reply["problem"] = "the reply was cut off"
    elif ended == "content_filter":
        reply["problem"] = "the model refused"
    return reply


def _text(found: Any, choice: Any) -> Any:
    """Where the text stands; an object that is no envelope is what the model says itself."""
    if isinstance(found, bytes):
        return found.decode("utf-8", "replace")
    if isinstance(found, str) or found is None:
        return found
    message = _get(choice, "message") or _get(found, "message")
    places = ((message, "content"), (choice, "text"), (found, "content"), (found, "text"))
    said = next((text for where, name in places if (text := _get(where, name)) is not None), None)
    if isinstance(said, list):
        parts = [part if isinstance(part, str) else _get(part, "text") for part in said]
        return "".join(part for part in parts if isinstance(part, str))
    if said is None and isinstance(found, Mapping) and choice is None:
        return dict(found)
    return said


def tokens(usage: Any, *names: str) -> int:
    """How many tokens a service counted; none where what it says is no count, as that voids no reply."""
    for name in names:
        told = _get(usage, name)
        try:
            counted = int(told)
        except (ValueError, TypeError, OverflowError):
            continue
        if 0 <= counted <= MOST_TOKENS:
            return counted
    return 0


MOST_TOKENS = 100_000_000
"""More than any call has; what is above it is no count."""


def _get(where: Any, name: str) -> Any:
    found = where.get(name) if isinstance(where, Mapping) else getattr(where, name, None)
    return None if callable(found) else found


def _first(where: Any, *names: str) -> Any:
    return next((found for name in names if (found := _get(where, name))), None)


def _item(listed: Any) -> Any:
    return listed[0] if isinstance(listed, list | tuple) and listed else None


def _name(details: Any) -> str:
    found = _first(details, "model_name", "model")
    return found if isinstance(found, str) else ""
