"""A talk as a sample: what was asked last, what the tools found for it, what was answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

ASKS, ANSWERS, FINDS = ("human", "user"), ("ai", "assistant", "AIMessageChunk"), ("tool", "function")
"""What LangGraph, LangChain and the protocols of services call those who speak."""


def talk_in(messages: Sequence[Any]) -> dict[str, Any]:
    """The fields of a sample in the messages of a talk, as LangGraph keeps them in its state.

    >>> talk_in([("user", "why?"), {"role": "tool", "content": "since"}, {"type": "ai", "content": "so"}])
    {'query': 'why?', 'contexts': ['since'], 'answer': 'so'}
    """
    said = [(*_read(each), each) for each in messages]
    asked = [place for place, (who, text, _) in enumerate(said) if who in ASKS and text]
    if not asked:
        return {}
    last = said[asked[-1] :]
    answers = [text for who, text, _ in last if who in ANSWERS and text]
    found: dict[str, Any] = {"query": last[0][1]}
    if any(who in FINDS for who, _, _ in last):
        found["contexts"] = [
            part for who, text, each in last if who in FINDS for part in _documents(each, text)
        ]
    if answers:
        found["answer"] = answers[-1]
    return found


def _read(message: Any) -> tuple[str, str]:
    """Who speaks, and what is said."""
    if isinstance(message, tuple | list) and len(message) == 2:
        return str(message[0]), _text(message[1])
    return str(_get(message, "role") or _get(message, "type") or ""), _text(_get(message, "content"))


def _documents(message: Any, text: str) -> list[Any]:
    """What a tool found: the documents that it hands on beside its text, else the text."""
    held = _get(message, "artifact")
    return list(held) if isinstance(held, list | tuple) and held else [text] if text else []


def _text(content: Any) -> str:
    if isinstance(content, list):
        parts = [each if isinstance(each, str) else _get(each, "text") for each in content]
        return "".join(each for each in parts if isinstance(each, str))
    return content if isinstance(content, str) else ""


def _get(where: Any, name: str) -> Any:
    return where.get(name) if isinstance(where, Mapping) else getattr(where, name, None)
