"""One test over many inputs, where a test for each would cost more than what it checks."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

Test = Callable[..., None]


def with_each(name: str, values: Iterable[Any]) -> Callable[[Test], Test]:
    """Call the test with every value of an argument in turn; a failure names the value it came with.

    For inputs that share what fixtures give: `pytest.mark.parametrize` makes fixtures anew, this does not.
    """
    known = list(values)

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def over_all(**others: Any) -> None:
            assert known
            for value in known:
                try:
                    test(**others, **{name: value})
                except BaseException as error:
                    error.add_note(f"{name} = {value!r}")
                    raise

        signature = inspect.signature(test)
        kept = [parameter for parameter in signature.parameters.values() if parameter.name != name]
        over_all.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        return over_all

    return decorate
