"""From a word, a function or a judge to the judges that are asked, one after the other."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankproof.errors import UsageError, nearest, one_of, shorten
from rankproof.judging.judges.called import called_judge
from rankproof.judging.judges.replay import human_judge, replayed
from rankproof.judging.keeping import InMemory
from rankproof.judging.models.providers import PROVIDERS
from rankproof.judging.run import settle
from rankproof.judging.verdicts import Account, Ask, Judge, Keep
from rankproof.store.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Cascade:
    """Judges in the order they are asked; each verdict says which of them gave it."""

    judges: tuple[Judge, ...]

    @property
    def name(self) -> str:
        """The names of its judges, as one writes a cascade."""
        return ">".join(each.name for each in self.judges)

    @property
    def identity(self) -> Mapping[str, Any]:
        """The identities of its judges."""
        return {"kind": "cascade", "judges": [dict(each.identity) for each in self.judges]}

    def judge(self, groups: Iterable[Sequence[Ask]], keep: Keep) -> Account:
        """Settle each pair by the first judge that can."""
        listed = [list(group) for group in groups]
        said, account = settle(listed, self.judges, InMemory())
        for group in listed:
            keep([said[ask] for ask in group])
        return account


MODELS = tuple(PROVIDERS)
"""Kinds of judges that are models."""
NAMED = ("lexical", *(f"{each}:MODEL" for each in MODELS), "human:NAME", "replay", "replay:JUDGE")
PASSES_ON = ">"
AT = "@http"
"""Begins the address of a judge in its name."""


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
    _check_addresses(spec, options)
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


def _models_in(spec: Any) -> list[str]:
    """The judges that are models, as they are named, without their addresses."""
    if isinstance(spec, str):
        parts = [part.strip().partition(AT)[0] for part in spec.split(PASSES_ON)]
        return [part for part in parts if part.partition(":")[0] in MODELS]
    return [name for each in spec for name in _models_in(each)] if isinstance(spec, list | tuple) else []


def _has_model(spec: Any) -> bool:
    """Whether one of the judges is a model, which is what options are for."""
    return bool(_models_in(spec))


def _check_addresses(spec: Any, options: Mapping[str, Any]) -> None:
    """One address is for one service; of several each has its own, or the key of one would go to the other."""
    models = _models_in(spec)
    kinds = list(dict.fromkeys(each.partition(":")[0] for each in models))
    for name in ("base_url", "key_variable"):
        given = options.get(name)
        if isinstance(given, Mapping):
            for each in given.keys() - {*models, *kinds}:
                raise one_of(name, each, models)
        elif given is not None and len(kinds) > 1:
            raise UsageError(
                f"{name}: got one for {' and '.join(kinds)}. Next: write {models[0]}{AT}://HOST/v1 in the judge's "
                f"name, or give a mapping like {{'{models[0]}': ...}}."
            )


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
        return _model(spec, kind, options)
    if kind == "human":
        return human_judge(rest or "somebody")
    raise UsageError(
        f"judge: got {spec!r}, expected one of {', '.join(NAMED)}, or such with > between them."
        f"{nearest(kind, ['lexical', *MODELS, 'human', 'replay'])}"
        " Next: choose one of them."
    )


def _model(spec: str, kind: str, given: Mapping[str, Any]) -> Judge:
    """A model, at the address that stands in its name (`openai:MODEL@http://host/v1`) or is given for it."""
    name, at, rest = spec.partition(AT)
    options = dict(given)
    for option in ("base_url", "key_variable"):
        told = options.get(option)
        if isinstance(told, Mapping):
            options[option] = told.get(name, told.get(kind))
    if at:
        options["base_url"] = at[1:] + rest
    if kind == "litellm" and not (options.get("base_url") or os.environ.get(PROVIDERS[kind].base)):
        from rankproof.judging.models.chat import litellm_judge

        by_package: Judge = litellm_judge(name, **{k: v for k, v in options.items() if v is not None})
        return by_package
    from rankproof.judging.models.judge import model_judge

    asked: Judge = model_judge(name, **options)
    return asked
