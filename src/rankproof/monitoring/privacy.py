"""Removing personal data from events before anything is kept: a hook of the user, and hashes with a key.

monitor(log, change=private(hash_ids=True, redact=mask))
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from typing import Any

from rankproof.errors import UsageError, blame
from rankproof.monitoring.block import name_of_value
from rankproof.monitoring.events import Event, EventSchema

IDS = ("user", "session", "id")
"""The fields that are hashed; within others `id` may be that of a document."""
KEY = "RANKPROOF_HASH_KEY"
"""The environment variable with the key of the hashes: without it they cannot be traced to users."""
SHORTEST = 16
"""The least number of characters of a key."""
MASKS = (
    ("[email]", re.compile(r"[\w.+%-]+(?:@|\uff20|%40)(?=[\d.-]*[^\W\d])[\w-]+(?:\.[\w-]+)*")),
    (
        "[iban]",
        re.compile(
            r"\b[A-Z]{2}\d{2}(?:\s?[A-Z0-9]{4}){3,7}(?:\s?[A-Z0-9]{1,3})?\b"
            r"|\b[a-z]{2}\d{2}(?:\s[a-z0-9]{4}){3,7}(?:\s[a-z0-9]{1,3})?\b"  # without blanks it may be a hash
        ),
    ),
    ("[card]", re.compile(r"\b\d(?:[\s-]?\d){12,18}\b|\b\d{4}(?:\.\d{4}){3}\b")),
    ("[ip]", re.compile(r"(?<!\d\.)\b(?:\d{1,3}\.){3}\d{1,3}\b(?!\.\d)")),
    (
        "[ip]",
        re.compile(
            r"(?<![\w:])(?=[a-f:]*\d)(?:(?:[\da-f]{1,4}:){7}[\da-f]{1,4}|(?:[\da-f]{1,4}:)+(?::[\da-f]{1,4})+)(?![\w:])",
            re.IGNORECASE,
        ),
    ),
    (
        "[phone]",
        re.compile(
            r"(?<![\w.])(?:(?:\+|00)\d[\d\s()./-]{6,}\d"
            r"|0\d{2,4}[\s/-]\d[\d\s-]{4,}\d"
            r"|0\d(?:[\s.-]?\d\d){4}"
            r"|(?:\([2-9]\d\d\)\s?|[2-9]\d\d[\s.-])[2-9]\d\d[\s.-]\d{4})(?!\w)"
        ),
    ),
)
"""The kinds of data that are masked, the most certain first; each is replaced by its name."""


def mask(event: Event) -> Event:
    """The event with addresses, numbers of cards, accounts and telephones masked in all but its ids.

    >>> mask(Event(0.0, query="refund for ann@example.org, +49 30 1234567")).query
    'refund for [email], [phone]'
    """
    event.query, event.answer, event.variant = map(mask_value, (event.query, event.answer, event.variant))
    event.other = mask_value(event.other)
    return event


def mask_value(value: Any) -> Any:
    """A text with personal data masked, also in lists and mappings, and numbers of cards; other values are unchanged.

    >>> mask_value(["::", 4111111111111111, 12, 0.1234567890123456])
    ['::', '[card]', 12, 0.1234567890123456]
    """
    if isinstance(value, dict):
        return {key: mask_value(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [mask_value(each) for each in value]
    if isinstance(value, str):
        for name, pattern in MASKS:
            value = pattern.sub(name, value)
    elif isinstance(value, int | float) and abs(value) >= 1e12 and value == value // 1:
        return masked if (masked := mask_value(f"{value:.0f}")) != f"{value:.0f}" else value
    return value


def apply_hook(change: Callable[[Event], Event | None], event: Event) -> Event | None:
    """What a hook makes of an event, None if it drops it; anything else is an error."""
    try:
        found = change(event)
    except Exception as error:
        blame(error, change, f"the event with ts {event.ts}")
        raise
    if found is not None and not isinstance(found, Event):
        raise UsageError(
            f"the hook gave {type(found).__name__}, expected the event or None. Next: return the event it is given."
        )
    return found


def changed_events(change: Callable[[Event], Event | None] | None, events: Iterable[Event]) -> Iterator[Event]:
    """What a hook makes of events, without those it drops."""
    return iter(events) if change is None else filter(None, (apply_hook(change, each) for each in events))


def key_of_environment() -> bytes:
    """The key from the environment; a short or missing one is an error."""
    key = os.environ.get(KEY, "")
    if len(key) < SHORTEST:
        raise UsageError(
            f"hash: {KEY} holds {len(key)} characters, expected a secret key of at least {SHORTEST}. "
            f"Next: export {KEY}=$(openssl rand -hex 16), and keep it if ids must stay the same."
        )
    return key.encode()


def private(
    *, hash_ids: bool = False, redact: Callable[[Event], Event | None] | None = None, key: bytes | None = None
) -> Callable[[Event], Event | None]:
    """A hook for `monitor(..., change=)`: first `redact`, then user, session and event ids as hashes under a key.

    Other fields that are known to hold such ids (`user_id` beside `user`, `meta.session_id`) are hashed as well.
    """
    schema = EventSchema()
    secret = (key or key_of_environment()) if hash_ids else b""

    def hashed(value: str | None) -> str | None:
        if value is None:
            return None
        return blake2b(value.encode("utf-8", "surrogatepass"), key=secret[:64], digest_size=12).hexdigest()

    def hashed_within(value: Any, is_id: bool, names: tuple[str, ...]) -> Any:
        if isinstance(value, dict):
            return {
                key: hashed_within(each, is_id or schema.field_of(key) in names, IDS[:2]) for key, each in value.items()
            }
        if isinstance(value, list | tuple):
            return [hashed_within(each, is_id, IDS[:2]) for each in value]
        return hashed(name_of_value(value)) if is_id and value is not None else value

    def change(event: Event) -> Event | None:
        changed = apply_hook(redact, event) if redact is not None else event
        if changed is not None and hash_ids:
            changed.user, changed.session, changed.id = map(hashed, (changed.user, changed.session, changed.id))
            changed.other = hashed_within(changed.other, False, IDS)
        return changed

    return change
