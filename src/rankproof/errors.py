"""The exceptions of rankproof, and the phrases they use.

Every error says what was got, what was expected, and what to do next.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Collection, Container, Iterable, Mapping
from functools import wraps
from math import inf, nan
from numbers import Integral, Real
from os import PathLike
from pathlib import PurePath
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
Verb = TypeVar("Verb", bound=Callable[..., Any])


class RankproofError(Exception):
    """Base of every error that rankproof raises on purpose."""

    exit_code = 1

    def __init__(self, *said: Any) -> None:
        """What is said; a word of more than 400 characters, such as a text in the place of a path, is cut."""
        super().__init__(*(_LONG.sub(r"\1...\2", each) if isinstance(each, str) else each for each in said))


class UsageError(RankproofError, ValueError):
    """A name, a parameter or an option that is not valid."""

    exit_code = 2


class WrongCall(UsageError, TypeError):
    """A verb was given an argument that it does not have, or was not given one that it needs."""


class NotThere(UsageError, KeyError):
    """A result has no entry of the name that was asked for."""

    def __str__(self) -> str:
        return Exception.__str__(self)  # a KeyError would put quotes around the message


class DataError(RankproofError, ValueError):
    """Judgments or rankings that cannot be trusted."""

    exit_code = 3


class MissingExtra(RankproofError, ImportError):
    """An optional package is needed but not installed."""

    exit_code = 2


def missing_extra(what: str, packages: str, extra: str) -> MissingExtra:
    """The error for an optional package that is absent, with the line that installs it."""
    return MissingExtra(f"{what} needs {packages}, not installed. Next: pip install 'rankproof[{extra}]'")


def reason(error: BaseException) -> str:
    """An error in words, without the number and the path that Python adds to one of the system."""
    return str(getattr(error, "strerror", None) or error)


def is_number(got: object) -> bool:
    """Whether `got` is an ordered number: not a text, an array, or a missing value.

    >>> is_number(0.5), is_number("0.5"), is_number(None)
    (True, False, False)
    """
    return isinstance(got, Real)


def number_in(given: Any) -> float:
    """The number that a text or a value spells; NaN if it spells none.

    >>> number_in("2"), number_in("high"), number_in("1_000"), number_in("\uff11"), number_in("1\xa0"), number_in(True)
    (2.0, nan, nan, nan, 1.0, nan)
    """
    if isinstance(given, bool) or (isinstance(given, str) and ("_" in given or not given.strip().isascii())):
        return nan
    try:
        return float(given)
    except (TypeError, ValueError, OverflowError):
        return nan


def check_whole(
    what: str, got: Any, least: int = 1, most: int | None = None, *, advice: str = "give that many or more"
) -> int:
    """`got` as an int, if it is a whole number of Python or NumPy from `least` to `most`, else a UsageError.

    >>> check_whole("k", 10)
    10
    >>> check_whole("k", True)
    Traceback (most recent call last):
    ...
    rankproof.errors.UsageError: k: got True, expected a whole number of at least 1. Next: give that many or more.
    """
    whole = not isinstance(got, bool) and isinstance(got, Integral)
    if whole and least <= int(got) and (most is None or int(got) <= most):
        return int(got)
    within = f"of at least {least}" if most is None else f"from {least} to {most}"
    raise UsageError(f"{what}: got {shorten(got)}, expected a whole number {within}. Next: {advice}.")


def check_number(
    what: str,
    got: Any,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
    noun: str = "number",
    advice: str = "give such a number",
) -> float:
    """`got` as a float, if it is a finite number within these limits, else a UsageError.

    >>> check_number("level", 0.95, above=0, below=1)
    0.95
    >>> check_number("level", 95, above=0, below=1)
    Traceback (most recent call last):
    ...
    rankproof.errors.UsageError: level: got 95, expected a number above 0 and below 1. Next: give such a number.
    """
    number = number_in(got) if is_number(got) else nan
    high_enough = (above is None or number > above) and (least is None or number >= least)
    low_enough = (below is None or number < below) and (most is None or number <= most)
    if abs(number) < inf and high_enough and low_enough:
        return number
    limits = ("above", above), ("of at least", least), ("below", below), ("up to", most)
    within = " and ".join(f"{word} {limit:g}" for word, limit in limits if limit is not None)
    if least is not None and most is not None:
        within = f"from {least:g} to {most:g}"
    expected = f"a {noun} {within}" if within else f"a finite {noun}"
    raise UsageError(f"{what}: got {shorten(got)}, expected {expected}. Next: {advice}.")


def check_each(what: str, got: Any, kind: type, expected: str) -> tuple[Any, ...]:
    """Several values of one kind, or a single one, as a tuple; a UsageError for anything else.

    >>> check_each("by", ["device", "country"], str, "names of fields"), check_each("by", "device", str, "names")
    (('device', 'country'), ('device',))
    """
    if isinstance(got, kind):
        return (got,)
    some = tuple(in_order(got)) if isinstance(got, Iterable) and not isinstance(got, (str, bytes, Mapping)) else None
    if some is None or not all(isinstance(each, kind) for each in some):
        raise UsageError(f"{what}: got {shorten(got)}, expected {expected}. Next: give a list of them.")
    return some


def in_order(given: Iterable[R]) -> list[R]:
    """What was given, as a list; a set, which has another order in every process, by name.

    >>> in_order({"RR", "AP"}), in_order(["RR", "AP"])
    (['AP', 'RR'], ['RR', 'AP'])
    """
    return sorted(given, key=str) if isinstance(given, set | frozenset) else list(given)


def is_one_of(got: object, known: Container[str]) -> bool:
    """Whether `got` is one of the known words, whatever its type.

    >>> is_one_of("trec", {"trec": 1}), is_one_of(["trec"], {"trec": 1})
    (True, False)
    """
    return isinstance(got, str) and got in known


def check_one_of(what: str, got: object, known: Collection[str]) -> None:
    """Refuse an unknown word, and whatever else is none of those that are known."""
    if not is_one_of(got, known):
        raise one_of(what, got, known)


def one_of(what: str, got: object, known: Iterable[str]) -> UsageError:
    """The error for an unknown word.

    >>> str(one_of("ties", "trek", ["trec", "id"]))
    "ties: got 'trek', expected one of 'trec', 'id'. Did you mean 'trec'? Next: choose one of them."
    """
    known = list(known)
    if not known:
        return UsageError(f"{what}: got {shorten(got)}, and there is none yet. Next: make one first.")
    word = got if isinstance(got, str) and len(got) < 100 else shorten(got)
    said = f"{what}: got {shorten(got)}, expected one of {', '.join(map(repr, known))}"
    return not_known(said, word, known, "choose one of them")


def not_known(said: str, got: object, known: Iterable[str], advice: str = "name one of these") -> UsageError:
    """The error for a name that is not there: what is said of it, the nearest known name, and what to do.

    >>> str(not_known("there is no ranking 'bm52' here", "bm52", ["bm25", "dense"]))
    "there is no ranking 'bm52' here. Did you mean 'bm25'? Next: name one of these."
    """
    from rankproof.suggestions import nearest  # which a right call does not load

    return UsageError(f"{said}.{nearest(str(got), known)} Next: {advice}.")


def shorten(text: object, width: int = 60) -> str:
    """`text` quoted for a message, cut in the middle if it is long.

    >>> shorten("a" * 100, 20)
    "'aaaaaaaa...aaaaaaa'"
    """
    try:
        quoted = repr(text)
    except ValueError:  # an integer of more digits than Python writes out
        quoted = f"a value of type {type(text).__name__} that is too long to show"
    if "\n" in quoted:  # a data frame writes itself out
        quoted = f"{type(text).__module__.partition('.')[0]}.{type(text).__name__}"
    half = (width - 3) // 2
    return quoted if len(quoted) <= width else f"{quoted[: half + 1]}...{quoted[-half:]}"


def warn_caller(message: str, kind: type[Warning] = UserWarning) -> None:
    """Warn at the line outside rankproof that led here."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals["__name__"].partition(".")[0] in ("rankproof", "contextlib"):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, stacklevel=level)


_LONG = re.compile(r"(\S{200})\S{200,}(\S{100})")


class UserCode:
    """Code of the caller's: an error inside gets a note of which function failed, and on what; ours gets none."""

    FAILED_ON = " failed on "
    """What stands after the name of the function in such a note."""

    def __init__(self, function: Any, noun: str, *given: Any) -> None:
        self.function, self.noun, self.given = function, noun, given

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception):
            self.note_on(error)

    def note_on(self, error: Exception) -> None:
        """Note it on an error; for code that is called so often that a context for each call would take long."""
        function = getattr(self.function, "func", self.function)  # of a partial the function itself
        ours = isinstance(error, RankproofError) or str(getattr(function, "__module__", "")).startswith("rankproof.")
        if not ours and not getattr(error, "__notes__", None):
            name = getattr(function, "__qualname__", type(function).__name__)
            error.add_note(f"{name}{self.FAILED_ON}{' '.join([self.noun, *map(shorten, self.given)])}")


def explain_calls(verb: Verb) -> Verb:
    """The verb, or the class with its methods, whose wrong calls say how it is called.

    Errors that come from the inside, such as those of a callable that it was given, stay as they are, unless an
    argument is of a type that its annotation does not name.
    """
    if isinstance(verb, type):
        for name, each in list(vars(verb).items()):
            public = not name.startswith("_") or name == "__init__"
            bare = each.__func__ if isinstance(each, classmethod) else each
            if public and isinstance(bare, FunctionType) and bare.__code__.co_name != "explained":
                setattr(verb, name, explain_calls(bare) if bare is each else classmethod(explain_calls(bare)))
        return verb

    @wraps(verb)
    def explained(*args: Any, **kwargs: Any) -> Any:
        try:
            return verb(*args, **kwargs)
        except Exception as error:
            if isinstance(error, RankproofError):
                raise
            if (call := _wrong_call(verb, args, kwargs, error)) is not None:
                raise call from None
            if (value := _wrong_value(verb, args, kwargs, error)) is not None:
                raise value from error  # should the annotation be what is wrong, the cause is there
            raise

    return explained  # type: ignore[return-value]


def _wrong_call(
    verb: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], error: Exception
) -> WrongCall | None:
    """What is wrong with a call; None if the error is another."""
    from inspect import signature, unwrap

    from rankproof.suggestions import annotation

    if not isinstance(error, TypeError):
        return None
    bare = unwrap(verb)
    own = {name: each for name, each in signature(verb).parameters.items() if each.kind != each.VAR_KEYWORD}
    placed = [name for name, each in own.items() if each.kind != each.KEYWORD_ONLY]
    free = [name for name in own if name not in kwargs and name not in placed[: len(args)] and name != "self"]
    unknown = [name for name in kwargs if name not in own and annotation(bare, name) is Any]  # else handed on
    called = bare.__qualname__.removesuffix(".__init__")
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code is not bare.__code__:
        trace = trace.tb_next
    what = str(error).partition("() ")[2]
    if trace is not None or not what:
        return None  # the call was right, and the error comes from the inside
    if unknown:
        return unknown_arguments(called, unknown, free)
    example = ", ".join(name for name in placed if name != "self")
    return WrongCall(
        f"{called}: {what}, expected {called}({example}). Next: give these in this order or by name, and the others "
        "by name."
    )


def _wrong_value(
    verb: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], error: Exception
) -> UsageError | None:
    """The first argument of a type that its annotation does not name, or that is not a path; None if there is none."""
    from inspect import signature, unwrap

    from rankproof.suggestions import annotation, in_words, is_of

    bare = unwrap(verb)
    given = {**signature(bare).bind_partial(*args).arguments, **kwargs}
    called, why = bare.__qualname__.removesuffix(".__init__"), getattr(error, "strerror", None) or "no path is so"
    about = str(getattr(error, "filename", None) or getattr(error, "object", None) or error)
    for name, got in given.items():
        hint = annotation(bare, name)
        if not is_of(got, hint):
            return WrongCall(f"{called}: {name}: got {shorten(got)}, expected {in_words(hint)}. Next: give one.")
        if isinstance(got, str | PathLike) and isinstance(error, OSError | UnicodeError | ValueError):
            path = str(PurePath(got))
            if about == path or (isinstance(error, UnicodeError) and path in about) or "\0" in path:
                return UsageError(f"{called}: {name}: got {shorten(got)}: {why}. Next: name another file.")
    return None


def unknown_arguments(verb: str, unknown: Iterable[str], known: Collection[str]) -> WrongCall:
    """The error for arguments that a verb does not have.

    >>> str(unknown_arguments("evaluate", ["metrics"], ["judgments", "ranking", "measures"]))
    "evaluate: unknown argument 'metrics' (here 'measures'). Next: write measures=... instead."
    """
    from rankproof.suggestions import CUTOFFS, MEASURES, OTHER_NAMES, nearest

    said, hints, write = [], "", []
    for name in unknown:
        here = next((each for each in OTHER_NAMES.get(name.lower(), ()) if each in known), "")
        if name.lower() in CUTOFFS and here in MEASURES:
            said.append(f"{name!r} (a cut-off is part of a measure's name here)")
            write.append(f"{here}='nDCG@10'")
        else:
            said.append(f"{name!r} (here {here!r})" if here else repr(name))
            hints += "" if here else nearest(name, known)
            write += [f"{here}=..."] if here else []
    advice = f"write {', '.join(write)} instead" if write else f"name one of {', '.join(known)}"
    return WrongCall(f"{verb}: unknown argument {', '.join(said)}.{hints} Next: {advice}.")


# --- arguments of the last release: they work for one more, with a warning that names the new one ----------


def old_arguments(*numbers: str, **names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function take arguments by their old names too: `old_arguments(old="new")`.

    An old name among `numbers` means something else by now, and is the new one only where a number is given.
    """

    def wrap(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            for old, new in names.items():
                if old not in kwargs or (old in numbers and not hasattr(kwargs[old], "__index__")):
                    continue
                name = function.__qualname__
                if new in kwargs:
                    raise WrongCall(f"{name}: got both {new!r} and {old!r}, its old name. Next: leave {old!r} out.")
                warn_of(f"{name}({old}=)", f"{new}=")
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return wrapper

    return wrap


def warn_of(old: str, new: str, do: str = "use the new name") -> None:
    """Warn with the new name."""
    warn_caller(f"{old} is now {new}. Next: {do}.", DeprecationWarning)
