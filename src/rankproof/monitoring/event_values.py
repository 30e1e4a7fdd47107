"""The values of an event's fields in any spelling, converted to ours, or the reason to reject a value."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from numbers import Integral, Real
from sys import float_info
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np

from rankproof.errors import shorten
from rankproof.io.values import list_in_cell

UP = {
    "up", "thumb_up", "thumbs_up", "thumbsup", "thumbs-up", "👍", "like", "positive", "good", "+1", "1", "true", "yes",
    "helpful",
}  # fmt: skip
DOWN = {
    "down", "thumb_down", "thumbs_down", "thumbsdown", "thumbs-down", "👎", "dislike", "negative", "bad", "-1", "no",
    "false",
}  # fmt: skip
NOTHING = {"", "none", "null", "nan", "n/a", "na", "<na>", "-"}
"""The spellings of "nothing", in fields that are not text."""
NO_VOTE = {*NOTHING, "0", "neutral"}
YES, NO = {"true", "1", "1.0", "yes", "t", "y"}, {"false", "0", "0.0", "no", "f", "n", ""}


class Rejected(ValueError):
    """A record that is not an event: `reason` is the kind of error, the text names the value."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


NO_CLICK = -(10**9)
"""The rank of a value that is not a click unless a result has that id."""


class ShownResult(NamedTuple):
    """A document that was shown, with its score where it is known, and its rank from 1 on."""

    id: str
    score: float | None
    rank: int


class Click(NamedTuple):
    """What was clicked: the document, and its rank; 0 if it is not among the results.

    A number is a rank unless a result has that id, and in a cell of a CSV 0 is no click: below 0 until then.
    """

    id: str | None
    rank: int


def place_clicks(clicks: tuple[Click, ...], results: tuple[ShownResult, ...] | None) -> tuple[Click, ...]:
    """The clicks with the ranks of their documents, if only ids are known."""
    if all(click.rank > 0 for click in clicks):
        return clicks
    ranks = {result.id: result.rank for result in reversed(results or ())}
    found = []
    for click in clicks:
        rank = click.rank if click.rank > 0 else ranks.get(click.id or "", 0)
        if rank or click.rank == 0:
            found.append(Click(click.id, rank))
        elif click.rank != NO_CLICK:
            found.append(Click(None, -click.rank))
    return tuple(found)


def is_nan(value: Any) -> bool:
    """Whether a value is one of pandas' missing values."""
    return isinstance(value, (float, date)) and value != value


def is_finite(value: Any) -> bool:
    """Whether a value is a number that a float can hold; true and false are not."""
    plain = value.__class__ is float or value.__class__ is int  # isinstance with an abstract number is slow
    known = plain or (isinstance(value, (Real, Decimal)) and not isinstance(value, bool))
    return known and value == value and bool(abs(value) <= float_info.max)


def text(value: Any) -> str:
    """An id or a text; numbers and dates are written out."""
    if isinstance(value, (str, date, Decimal, UUID)):
        return str(value)
    if isinstance(value, bool) or not isinstance(value, Real):
        raise Rejected("bad text", f"got {shorten(value)}, expected a text")
    if isinstance(value, Integral):
        return str(int(value))
    return f"{float(value):.0f}" if float(value).is_integer() else str(value)


MOST_LATENCY = 1e12
"""Milliseconds: 30 years."""


def number(value: Any) -> float:
    """Milliseconds, from 0 to a plausible maximum."""
    found = math.nan
    if not isinstance(value, bool | np.timedelta64):
        with suppress(TypeError, ValueError, OverflowError):
            found = float(value)
    if not 0 <= found <= MOST_LATENCY:
        raise Rejected("bad number", f"latency_ms: got {shorten(value)}, expected milliseconds from 0 to 1e+12")
    return found


def flag(value: Any) -> bool:
    """Yes or no, by the words of JSON, CSV and people."""
    word = str(value).strip().lower()
    if word in YES | NO:
        return word in YES
    raise Rejected("bad flag", f"abstained: got {shorten(value)}, expected true or false")


def vote(value: Any) -> int:
    """1 for a thumb up, -1 for one down, 0 for no vote; a number is 1, 0 or -1."""
    if isinstance(value, bool):
        return 1 if value else -1
    word = f"{value:g}" if isinstance(value, float) else str(value).strip().lower()
    word = re.sub(r"(?<=\d)\.0+$|[\U0001f3fb-\U0001f3ff\ufe0f]", "", word).replace(" ", "_")
    for words, found in ((UP, 1), (DOWN, -1), (NO_VOTE, 0)):
        if word in words:
            return found
    raise Rejected("bad thumb", f"thumb: got {shorten(value)}, expected up, down, 1, 0, -1 or null")


def results_of(value: Any) -> tuple[ShownResult, ...]:
    """The documents shown: objects with id, score and rank, or ids alone, best first.

    Ranks are the places in the list where one of those given is none, as ranks from 0 on are. Of what is null nothing
    is known but that it took a place.
    """
    found, usable = [], True
    for at, each in enumerate(_items(value, "results"), 1):
        if isinstance(each, Mapping):
            each = _in_our_spelling(each)
            doc, score, rank = each.get("id"), of_digits(each.get("score")), of_digits(each.get("rank"))
            if doc is None:
                raise Rejected("bad results", f"results: got {shorten(dict(each))}, expected an object with id")
            if score is not None and not is_finite(score):
                raise Rejected("bad results", f"results: got the score {shorten(score)}, expected a finite number")
            usable = usable and (rank is None or _is_place(rank))
            found.append((at, ShownResult(text(doc), score, at if rank is None or not usable else int(rank))))
        elif each is not None:
            found.append((at, ShownResult(text(each), None, at)))
    return tuple(each if usable else each._replace(rank=at) for at, each in found)


IDS = ("id", "doc_id", "document_id", "_id")
"""The names of a document's id within a result, a click or a citation."""


@lru_cache(10_000)
def plain_key(key: str) -> str:
    """A key in our spelling.

    >>> plain_key("userId"), plain_key("User ID")
    ('user_id', 'user_id')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[\s-]+", "_", key.strip()).lower()


def _in_our_spelling(each: Mapping[str, Any]) -> Mapping[str, Any]:
    """A result, click or citation with its document under "id", whatever the spelling of its keys."""
    if "id" in each:
        return each
    spelled = {plain_key(key): value for key, value in each.items() if isinstance(key, str)}
    return {**spelled, "id": next((spelled[each] for each in IDS if each in spelled), None)}


def of_digits(value: Any) -> Any:
    """A number that is written as a text, as tables of texts have it; anything else as it is."""
    if not isinstance(value, (str, Decimal)):
        return value
    try:
        return float(value)
    except ValueError:
        return str(value).strip() or None


def _is_place(value: Any) -> bool:
    return is_finite(value) and bool(value >= 1 and value == int(value))


def place(value: Any) -> int:
    """A rank: a whole number from 1 on."""
    if not _is_place(value):
        raise Rejected("bad rank", f"rank: got {shorten(value)}, expected a whole number from 1 on")
    return int(value)


def clicks_of(value: Any) -> tuple[Click, ...]:
    """The clicks in order of time: ids, ranks (numbers), or objects with id, rank and ts; or whether there was one."""
    word = str(value).strip().lower() if isinstance(value, (str, bool, int, np.bool_)) else None
    if word in ("false", "no", "") or (isinstance(value, Real) and value == 0):
        return ()
    if word in ("true", "yes"):
        return (Click(None, 0),)
    found, times = [], []
    written = isinstance(value, str) and value.strip()[:1] not in ("[", "(", "{")
    for each in _items(value, "clicks"):
        if isinstance(each, Mapping):
            each = _in_our_spelling(each)
            doc = each.get("id")
            rank = of_digits(each.get("rank", each.get("position")))
            if doc is None and rank is None:
                raise Rejected("bad clicks", f"clicks: got {shorten(dict(each))}, expected an object with id or rank")
            found.append(Click(None if doc is None else text(doc), 0 if rank is None else place(rank)))
            times.append(each.get("ts", each.get("time")))
        elif each is None:
            continue
        elif isinstance(each, Real):
            found.append(Click(str(place(each)), -place(each)))
        elif written and (number := re.fullmatch(r"(\d{1,9})(?:\.0)?", each)):
            found.append(Click(each, -int(number[1]) or NO_CLICK))
        else:
            found.append(Click(text(each), 0))
    if len(times) == len(found) and all(isinstance(each, (int, float, str, datetime)) for each in times):
        try:
            found = [found[i] for i in sorted(range(len(found)), key=times.__getitem__)]
        except TypeError as error:
            raise Rejected("bad clicks", "clicks: some times are numbers, others text") from error
    return tuple(found)


def citations_of(value: Any) -> tuple[str, ...]:
    """The ids of the documents that the answer cites."""
    listed = [each for each in _items(value, "citations") if each is not None]
    return tuple(text(_in_our_spelling(each).get("id") if isinstance(each, Mapping) else each) for each in listed)


def _items(value: Any, what: str) -> Sequence[Any]:
    """The items of a list; one of nulls alone says neither what there was nor that there was nothing."""
    items = list_of(value, what)
    if items and all(each is None for each in items):
        raise Rejected(f"bad {what}", f"{what}: got {shorten(value)}, expected ids, or [] if there were none")
    return items


def list_of(value: Any, what: str) -> Sequence[Any]:
    """A list, or one as CSV has it: as JSON, Python or NumPy write it, or ids with semicolons, bars, commas or blanks
    between."""
    if isinstance(value, str):
        value = value.strip()
        if value[:1] not in ("[", "(", "{"):
            mark = next((each for each in ";|," if each in value), None)
            return [each.strip() for each in value.split(mark) if each.strip()]
        found = list_in_cell(value, MOST_LITERAL)
        value = value if found is None else found
    elif hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return value
    whole = isinstance(value, float) and value.is_integer()  # of whole numbers with gaps pandas makes floats
    if whole or (isinstance(value, (Mapping, int)) and not isinstance(value, bool)):
        return [value]
    raise Rejected(f"bad {what}", f"{what}: got {shorten(value)}, expected a list")


MOST_LITERAL = 100_000
"""Characters of a list written by Python: its parser takes much memory."""
TEXTS = ("id", "session", "user", "query", "answer", "variant", "ts")
PARSERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(TEXTS[:-1], text),
    "variant": lambda value: text(str(value).lower() if isinstance(value, bool) else value),  # named as a slice is
    "results": results_of,
    "citations": citations_of,
    "clicks": clicks_of,
    "thumb": vote,
    "latency_ms": number,
    "abstained": flag,
}
EMPTY: dict[str, Any] = {"results": (), "citations": (), "clicks": (), "thumb": 0}
"""What a field means that is there and null."""
SAID = (
    "content", "parts", "query", "question", "input", "text", "answer", "output", "messages", "result",
    "inputs", "outputs", "args", "kwargs",
)  # fmt: skip


def text_said(value: Any, role: str) -> str | None:
    """The text of an input or output: itself, the last message of a role, or the usual field of an object.

    >>> text_said('[{"role": "user", "parts": [{"type": "text", "content": "refund?"}]}]', "user")
    'refund?'
    >>> text_said('{"inputs": {"query": "refund?"}, "kwargs": {}}', "user"), text_said("refund?", "user")
    ('refund?', 'refund?')
    """
    if isinstance(value, str):
        if value[:1] not in "[{":
            return value
        try:
            value = json.loads(value)
        except ValueError:
            return str(value)
    if isinstance(value, list):
        messages = [each for each in value if isinstance(each, Mapping)]
        of_role = [each for each in messages if each.get("role") == role] or messages
        return text_said(of_role[-1], role) if of_role else " ".join(map(str, value)) or None
    if isinstance(value, Mapping):
        return next(filter(None, (text_said(value[key], role) for key in SAID if value.get(key))), None)
    return None if value is None else str(value)


_BYTE, _PART = r"(?:25[0-5]|2[0-4]\d|[01]?\d?\d)", r"[\da-fA-F]{1,4}"
MASKS = (
    ("[email]", r"[\w.+%-]+(?:@|\uff20|%40)(?=[\d.-]*[^\W\d])[\w-]+(?:\.[\w-]+)*"),
    ("[iban]", r"\b[A-Za-z]{2}\d{2}(?:[\s-]?[A-Za-z\d]{4}){2,7}(?:[\s-]?[A-Za-z\d]{1,3})?\b"),
    ("[card]", r"(?<!\d\.)\b(?=[3-6]|2[2-7])\d{4,19}(?:[\s.-]\d{4,8}){0,3}(?:[\s.-]\d{1,3})?\b"),
    ("[ip]", rf"(?<!\d\.)\b(?:{_BYTE}\.){{3}}{_BYTE}\b(?!\.\d)"),
    ("[ip]", rf"(?<![\w:])(?=[a-fA-F:]*\d)(?:(?:{_PART}:){{7}}{_PART}|(?:{_PART}:)+(?::{_PART})+)(?![\w:])"),
    ("[phone]", r"(?<![\w.])(?:\+|00)\d[\d\s()./-]{6,}\d(?!\w)"),
    ("[phone]", r"(?<![\w.])(?:0\d{2,4}[\s/-]|\(0\d{1,4}\)[\s/-]?)\d[\d\s-]{4,}\d(?!\w)"),
    ("[phone]", r"(?<![\w.])0\d([\s.-]?)\d\d(?:\1\d\d){3}(?!\w)"),
    ("[phone]", r"(?<![\w.])(?:\([2-9]\d\d\)\s?|[2-9]\d\d[\s.-])[2-9]\d\d[\s.-]\d{4}(?!\w)"),
)
"""The kinds of data that are masked, the most certain first; each is replaced by its name."""


def _holds(name: str, written: str) -> bool:
    """Whether the check digits of an account (ISO 13616) or a card (Luhn) fit: other long numbers are none."""
    if name not in ("[iban]", "[card]"):
        return bool(written)
    signs = [int(each, 36) for each in written if each.isalnum()]
    if name == "[iban]":
        return len(signs) >= 15 and int("".join(map(str, signs[4:] + signs[:4]))) % 97 == 1
    doubled = sum(sum(divmod(2 * each, 10)) for each in signs[-2::-2])
    return 14 <= len(signs) <= 19 and (sum(signs[::-2]) + doubled) % 10 == 0


def _mask_text(text: str, name: str, pattern: re.Pattern[str]) -> str:
    masked, at = "", 0
    while found := pattern.search(text, at):
        part, begin = found[0], found.start()
        while part and not _holds(name, part):  # its end may be another number
            part = re.sub(r"\W?\w+$", "", part)
        end = begin + (len(part) or 1)
        masked += text[at:begin] + (name if part else text[begin:end])
        at = end
    return masked + text[at:]


def mask_value(value: Any) -> Any:
    """A text with personal data masked, also in lists and mappings, and numbers of cards; other values, and keys, are
    unchanged.

    >>> mask_value(["::", 4111111111111111, 12, 0.1234567890123456])
    ['::', '[card]', 12, 0.1234567890123456]
    """
    if isinstance(value, dict):
        return {key: mask_value(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [mask_value(each) for each in value]
    if isinstance(value, str):
        for name, shape in MASKS:
            value = _mask_text(value, name, re.compile(shape))
    elif is_finite(value) and abs(value) >= 1e12:
        return masked if (masked := mask_value(text(value))) != text(value) else value
    return value
