"""A question that got no usable answer, with the reason."""

from __future__ import annotations

import re

from rankproof.errors import UsageError, shorten

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
LONGEST = 200
"""Characters of a reason that are kept."""


class Failed(Exception):
    """There is no usable answer; `again` says whether asking again may help, `wait` for how long not to."""

    def __init__(self, reason: str, *, again: bool = False, wait: float = 0.0) -> None:
        # Where an object is in memory says nothing, and would make every reason one of its own.
        self.reason = _ADDRESS.sub("", reason)
        super().__init__(self.reason)
        self.again = again
        self.wait = wait
        self.fatal: Unaskable | None = None
        """Set where the next questions would meet the same."""


class Unaskable(UsageError):
    """A retriever that no question can be put to as it is: no question would be answered."""


def as_failure(error: BaseException) -> Failed:
    """What a retriever raised, in one line; asking again may help.

    >>> as_failure(ValueError("no index\\nat all")).reason
    'ValueError: no index at all'
    """
    if isinstance(error, Failed):
        return error
    if isinstance(error, Unaskable):
        failed = Failed(str(error))
        failed.fatal = error
        return failed
    words = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
    return Failed(words if len(words) <= LONGEST else f"{words[:LONGEST]}...", again=True)


def unusable(got: object, expected: str) -> Failed:
    """The failure for an answer of a form that cannot be read."""
    return Failed(f"got {shorten(got)} ({type(got).__name__}), expected {expected}")
