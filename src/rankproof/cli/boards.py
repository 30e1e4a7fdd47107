"""Systems to be ordered: rankings that are scored here, or results that were saved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rankproof.cli import saved
from rankproof.cli.options import check_one_stdin, matched, named
from rankproof.document.numbers import count
from rankproof.errors import UsageError

if TYPE_CHECKING:
    from rankproof.scoring.scores import Scores


def scored(
    words: Sequence[str], measures: Sequence[str] | None, history: str, **conventions: Any
) -> dict[str, Scores]:
    """The scores of each system: of JUDGMENTS RUN RUN..., or of saved names."""
    from rankproof.comparing.history import History
    from rankproof.scoring.evaluate import evaluate, prepare

    if saved.are_names(words, history):
        return {name: History(history).scores(name) for name in words}
    judgments, *given = words
    runs = [each for path in given for each in matched(path)]
    if len(set(runs)) < 2:
        raise UsageError(
            f"got {count(len(set(runs)), 'ranking')}, expected JUDGMENTS and two or more of them, or saved names."
            " Next: give another ranking, or two saved names."
        )
    check_one_stdin(*words)
    judged = prepare(judgments)
    asked = None if measures is None else list(measures)
    return {name: evaluate(judged, path, asked, **conventions) for name, path in named(runs).items()}
