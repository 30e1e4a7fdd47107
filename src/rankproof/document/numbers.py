"""How numbers are written for people: no more digits than are known, no 0 or 1 for a value that only rounds to it.

Files for machines (CSV, JSON, Parquet) get full precision instead. Settings are written as the caller's interface does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
FACE: ContextVar[str] = ContextVar("FACE", default="python")
"""Who reads what is written: "python", "shell", or the "file" of a command, 80 columns wide whatever the terminal."""
DUST = 1e-9
"""Below this a difference is floating-point dust, not a difference."""
ABSENT = "-"


def score(value: float | None) -> str:
    """A measure's value: four decimals, fewer if it is large, and never rounded to 0 or 1.

    >>> [score(x) for x in (0.796709, 1 / 3, 1.0, 0.0, 0.99997, 0.00001, 12.5, 6980, None)]
    ['0.7967', '0.3333', '1.0000', '0.0000', '>.9999', '<.0001', '12.500', '6,980.0', '-']
    """
    if value is None or math.isnan(value):
        return ABSENT
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if abs(value) < DUST:
        return "0.0000"
    return _next_to_a_bound(value) or f"{value:,.{decimals(value)}f}"


def decimals(value: float) -> int:
    """The number of decimals for a value of this size: about five digits in all.

    >>> [decimals(x) for x in (0.5, 9.9, 12, 345, 6789)]
    [4, 4, 3, 2, 1]
    """
    size = abs(value)
    return 4 if size < 10 else 3 if size < 100 else 2 if size < 1000 else 1


def _next_to_a_bound(value: float) -> str:
    """Values that four decimals would round to 0 or 1."""
    size = abs(value)
    sign = "-" if value < 0 else ""
    if size < 0.00005:
        return f"{'>' if sign else '<'}{sign}.0001"
    if 0.99995 <= size <= 1 - DUST:
        return f"{'<' if sign else '>'}{sign}.9999"
    return ""


def span(low: float | None, high: float | None) -> str:
    """Two ends of a range.

    >>> span(0.25, 0.5), span(None, None)
    ('[0.2500, 0.5000]', '-')
    """
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return ABSENT
    return f"[{score(low)}, {score(high)}]"


def short_span(low: float | None, high: float | None) -> str:
    """Two ends of a range, in little space: three decimals, no zero before the point.

    >>> short_span(0.25, 0.5), short_span(0, 1), short_span(-0.5, 2)
    ('[.250, .500]', '[.000, 1.00]', '[-.500, 2.00]')
    """
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return ABSENT
    return f"[{_short(low)}, {_short(high)}]"


def _short(value: float, sign: str = "") -> str:
    if sign and DUST < abs(value) < 0.0005:
        return signed_number(value).replace("0.", ".", 1)
    if abs(value) < 0.9995:
        return f"{value + 0.0:{sign}.3f}".replace("0.", ".", 1)
    return f"{value:{sign},.2f}" if abs(value) < 10 else f"{value:{sign},.1f}"


def estimate_text(value: float, low: float, high: float) -> str:
    """An estimate with its ends, in no more digits than are significant.

    >>> estimate_text(0.512, 0.2104, 1.0)
    '.51 [.21, 1.0]'
    """
    return f"{two_digits(value)} [{two_digits(low)}, {two_digits(high)}]"


def two_digits(value: float) -> str:
    """A value in no more digits than are significant in an estimate."""
    return f"{value:.2f}"[1:] if 0 <= value < 0.995 else f"{value:.1f}"


def is_wide(pair: tuple[float, float] | None) -> bool:
    """Whether two bounds differ visibly.

    >>> is_wide((0.5, 0.6)), is_wide((0.5, 0.50001)), is_wide(None)
    (True, False, False)
    """
    return pair is not None and score(pair[0]) != score(pair[1])


def share(value: float | None) -> str:
    """A share as a percentage, never rounded to 0 or 100.

    >>> [share(x) for x in (0, 0.0001, 0.0234, 0.5, 0.123, 0.9999, 1)]
    ['0 %', '<0.1 %', '2.3 %', '50 %', '12 %', '>99 %', '100 %']
    """
    if value is None:
        return ABSENT
    if value in (0, 1):
        return f"{value * 100:.0f} %"
    if value < 0.001:
        return "<0.1 %"
    if value > 0.99:
        return ">99 %"
    return f"{value * 100:.0f} %" if value >= 0.0995 else f"{value * 100:.1f} %"


def count(number: int, one: str = "", many: str = "") -> str:
    """A whole number, with its noun where one is given, or with whatever words change with the number.

    >>> count(6980), count(1, "query"), count(1200, "query"), count(2, "grade is", "grades are")
    ('6,980', '1 query', '1,200 queries', '2 grades are')
    """
    plural = many or (f"{one[:-1]}ies" if one.endswith("y") else f"{one}s")
    return f"{number:,} {one if number == 1 else plural}" if one else f"{number:,}"


def none_of(number: int, one: str, many: str = "") -> str:
    """The beginning of a sentence that says where none of them is.

    >>> f"{none_of(1, 'judged query')} in it", f"{none_of(12, 'judged query')} in it"
    ('The only judged query is not in it', 'None of the 12 judged queries is in it')
    """
    return f"The only {one} is not" if number == 1 else f"None of the {count(number, one, many)} is"


def first_of(found: Sequence[T], most: int = 5, words: Callable[[T], str] = str, joint: str = ", ") -> str:
    """The first of them in words, and how many more there are.

    >>> first_of(["a", "b"], 2), first_of(["a", "b", "c"], 2)
    ('a, b', 'a, b and 1 more')
    """
    more = f" and {len(found) - most:,} more" if len(found) > most else ""
    return joint.join(map(words, found[:most])) + more


def signed_number(value: float | None) -> str:
    """A difference with its sign.

    >>> signed_number(0.1184), signed_number(-0.02), signed_number(-0.00002), signed_number(0.0), signed_number(None)
    ('+0.1184', '-0.0200', '>-.0001', '0.0000', '-')
    """
    return score(value) if value is None or abs(value) < 0.00005 else f"{value:+.4f}"


def signed_span(low: float | None, high: float | None) -> str:
    """The ends of a difference's interval, in little space; no end that is beside 0 is shown as 0.

    >>> signed_span(0.0362, 0.2128), signed_span(-0.0801, 0.0208), signed_span(0.0002, 1.5), signed_span(None, None)
    ('[+.036, +.213]', '[-.080, +.021]', '[+.0002, +1.50]', '-')
    """
    return ABSENT if low is None or high is None else f"[{_short(low, '+')}, {_short(high, '+')}]"


def probability(p: float | None, level: float = 0.05) -> str:
    """A p-value: three decimals, never a 0, and more where they would show it on the other side of the level.

    >>> probability(0.0421), probability(0.00002), probability(0.05003), probability(1.0), probability(None)
    ('.042', '<.001', '.05003', '1.000', '-')
    """
    if p is None:
        return ABSENT
    if p < 0.001 or p >= 0.9995:
        return "<.001" if p < 0.5 else "1.000"
    texts = (f"{p:.{places}f}"[1:] for places in range(3, 17))
    return next((text for text in texts if (float(text) <= level) == (p <= level)), str(p)[1:])


def duration(seconds: float | None) -> str:
    """A time that a person can read: three figures and a unit.

    >>> [duration(x) for x in (0.00001234, 0.0123, 1.5, 75, None)]
    ['0.012 ms', '12.3 ms', '1.50 s', '75.0 s', '-']
    """
    if seconds is None:
        return ABSENT
    if seconds < 1:
        size = seconds * 1000
        return f"{size:.3f} ms" if size < 1 else f"{size:.2f} ms" if size < 10 else f"{size:.1f} ms"
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:,.1f} s"


def time_span(low: float | None, high: float | None) -> str:
    """The ends of an interval of times; an end that so few values do not show is left open.

    >>> time_span(0.0123, 0.015), time_span(0.0123, None), time_span(None, None)
    ('12.3 ms to 15.0 ms', '12.3 ms or more', '-')
    """
    if low is None and high is None:
        return ABSENT
    if high is None:
        return f"{duration(low)} or more"
    return f"{duration(high)} or less" if low is None else f"{duration(low)} to {duration(high)}"


def milliseconds(seconds: float | None) -> str:
    """A time with three figures.

    >>> milliseconds(0.001234), milliseconds(1.5), milliseconds(None)
    ('1.23', '1,500', '-')
    """
    if seconds is None:
        return ABSENT
    ms = seconds * 1000
    return f"{ms:,.0f}" if ms >= 100 else f"{ms:.3g}"


def for_face(python: str, shell: str) -> str:
    """The words for who calls: Python, or a command, also one that writes to a file."""
    return python if FACE.get() == "python" else shell


def setting(name: str, word: str = "") -> str:
    """A setting, and its word if there is one, as who calls writes it: `ties='id'`, in the shell `--ties id`."""
    option = f"--{name.replace('_', '-')}"
    return for_face(f"{name}={word!r}", f"{option} {word}") if word else for_face(f"{name}=", option)


def ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Round numbers from `low` to `high`, two of them at least: one alone gives no measure.

    >>> ticks(0, 1), ticks(0.52, 0.71)
    ([0.0, 0.25, 0.5, 0.75, 1.0], [0.55, 0.6, 0.65, 0.7])
    """
    if not high > low:
        return [low]
    rough = (high - low) / about
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * each for each in (1, 2, 2.5, 5, 10) if size * each >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 10) for i in range(first, last + 1)] if last > first else ticks(low, high, 2 * about)


def axis_number(value: float, sign: str = "") -> str:
    """A number on an axis.

    >>> axis_number(0.25), axis_number(1.0), axis_number(0.5, "+"), axis_number(0.0, "+")
    ('.25', '1', '+.5', '0')
    """
    if value == 0:
        return "0"
    return f"{value:{sign}.4g}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:{sign},.4g}"


def spread_labels(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """The places moved as little as keeps labels `gap` apart, within bounds, in their order.

    >>> spread_labels([10, 11, 40], 12, 0, 100)
    [10, 22, 40]
    """
    order = sorted(range(len(places)), key=lambda i: places[i])
    moved = list(places)
    last = low - gap
    for i in order:
        last = moved[i] = max(moved[i], last + gap)
    bound = high
    for i in reversed(order):
        moved[i] = min(moved[i], bound)
        bound = moved[i] - gap
    return moved
