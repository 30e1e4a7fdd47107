"""Removing personal data from events before anything is kept: a hook of the user, and hashes with a key.

monitor(log, change=private(hash_ids=True, redact=mask))
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from rankproof.errors import UsageError
from rankproof.monitoring.events import Event

KEY = "RANKPROOF_HASH_KEY"
"""The environment variable with the key of the hashes: without it they cannot be traced to users."""
SHORTEST = 16
"""The least number of characters of a key."""
MASKS = (
    ("[email]", re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]*\w")),
    ("[iban]", re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b")),
    ("[card]", re.compile(r"\b\d(?:[ -]?\d){12,18}\b")),
    ("[ip]", re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}\b")),
    ("[phone]", re.compile(r"(?<![\w.])(?:\+|00)\d[\d ()/-]{6,}\d|(?<![\w.])0\d{2,4}[ /-]\d[\d -]{4,}\d")),
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
    """A text with personal data masked, also in lists and mappings; other values are unchanged."""
    if isinstance(value, dict):
        return {key: mask_value(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [mask_value(each) for each in value]
    if isinstance(value, str):
        for name, pattern in MASKS:
            value = pattern.sub(name, value)
    return value


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
    *,
    hash_ids: bool = False,
    redact: Callable[[Event], Event | None] | None = None,
    key: bytes | None = None,
) -> Callable[[Event], Event | None]:
    """A hook for `monitor(..., change=)`: first `redact`, then user, session and event ids as hashes under a key."""
    secret = (key or key_of_environment()) if hash_ids else b""

    def hashed(value: str | None) -> str | None:
        return (
            None
            if value is None
            else blake2b(value.encode("utf-8", "surrogatepass"), key=secret[:64], digest_size=12).hexdigest()
        )

    def change(event: Event) -> Event | None:
        changed = redact(event) if redact is not None else event
        if changed is not None and hash_ids:
            changed.user, changed.session, changed.id = map(hashed, (changed.user, changed.session, changed.id))
        return changed

    return change
