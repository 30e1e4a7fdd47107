"""From a word, a function or a judge to the judges that are asked, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankproof.errors import UsageError, nearest, shorten
from rankproof.judging.judges.called import called_judge
from rankproof.judging.judges.cascade import Cascade
from rankproof.judging.judges.human import human_judge
from rankproof.judging.judges.replay import replayed
from rankproof.judging.verdicts import Judge
from rankproof.store.ledger import Ledger

NAMED = ("lexical", "openai:MODEL", "anthropic:MODEL", "human:NAME", "replay", "replay:JUDGE")
PASSES_ON = ">"


def judge_of(spec: Any, *, ledger: Ledger | None = None, **options: Any) -> Judge:
    """The judge that `spec` names: a word, words with > between them, a function, or a judge itself.

    `options` are those of judges that are models: `base_url`, `temperature` and the like.
    """
    judges = judges_of(spec, ledger=ledger, **options)
    return judges[0] if len(judges) == 1 else Cascade(tuple(judges))


def judges_of(spec: Any, *, ledger: Ledger | None = None, **options: Any) -> list[Judge]:
    """The judges of a cascade in the order they are asked; of any other the one."""
    if options and not _has_model(spec):
        raise UsageError(
            f"judge {spec!r}: takes no options, got {', '.join(options)}. Next: check their spelling."
        )
    if isinstance(spec, Cascade):
        return list(spec.judges)
    if isinstance(spec, str):
        return _named(spec, ledger, options)
    if isinstance(spec, Sequence):
        return [
            judge
            for each in spec
            for judge in judges_of(each, ledger=ledger, **(options if _has_model(each) else {}))
        ]
    if hasattr(spec, "judge") and hasattr(spec, "identity") and hasattr(spec, "name"):
        return [spec]
    if callable(spec):
        return [called_judge(spec)]
    raise UsageError(
        f"judge: got {shorten(spec)}, expected one of {', '.join(NAMED)}, a function, or a judge. "
        "Next: judge=chat(model) makes one of a model of LangChain and the like; see docs/judging.md."
    )


MODELS = ("openai", "anthropic")
"""Kinds of judges that are models."""


def _has_model(spec: Any) -> bool:
    """Whether one of the judges is a model, which is what options are for."""
    parts = spec.split(PASSES_ON) if isinstance(spec, str) else spec if isinstance(spec, Sequence) else ()
    return any(isinstance(each, str) and each.strip().partition(":")[0] in MODELS for each in parts)


def _named(spec: str, ledger: Ledger | None, options: dict[str, Any]) -> list[Judge]:
    kind, _, rest = spec.strip().partition(":")
    if kind == "replay":
        return replayed(rest, ledger)
    parts = [part.strip() for part in spec.split(PASSES_ON)]
    if len(parts) > 1:
        return [judge for part in parts for judge in _named(part, ledger, options)]
    return [_one(spec.strip(), kind, rest, options)]


def _one(spec: str, kind: str, rest: str, options: dict[str, Any]) -> Judge:
    if kind == "lexical" and not rest:
        from rankproof.judging.lexical.judge import lexical_judge

        embedded: Judge = lexical_judge()
        return embedded
    if kind in MODELS and rest:
        from rankproof.judging.models.judge import model_judge

        asked: Judge = model_judge(spec, **options)
        return asked
    if kind == "human":
        return human_judge(rest or "somebody")
    raise UsageError(
        f"judge: got {spec!r}, expected one of {', '.join(NAMED)}, or such with > between them."
        f"{nearest(spec, ['lexical', 'openai:', 'anthropic:', 'human:', 'replay'])}"
        " Next: choose one of them."
    )
