"""Judges by name, judges that are people or an earlier run, and `Verdicts`: the content of a ledger."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from rankproof.document.model import Displayable
from rankproof.document.numbers import setting
from rankproof.errors import DataError, UsageError, WrongCall, check_whole, not_known, one_of, shorten
from rankproof.judging.function_judge import called_judge, verdict_of
from rankproof.judging.models import ModelArguments
from rankproof.judging.models.providers import PROVIDERS
from rankproof.judging.verdicts import (
    PLAIN_YES,
    SOFT,
    VALUES,
    WITH_VALUES,
    Account,
    Ask,
    Judge,
    Keep,
    Relation,
    Unmeasured,
    entry_of,
    pair_in,
    verdict_in,
)
from rankproof.store.ledger import HUMAN, Ledger, LedgerEntry, read_lines, write_lines
from rankproof.suggestions import nearest


@dataclass(frozen=True, slots=True)
class HumanJudge:
    """One person. `reply` is called for each pair that is not in the ledger; None: there is nobody to ask."""

    who: str
    reply: Callable[[Ask], Any] | None = None
    relations: tuple[Relation, ...] = WITH_VALUES

    @property
    def name(self) -> str:
        """human:NAME."""
        return f"{HUMAN}:{self.who}"

    @property
    def identity(self) -> Mapping[str, Any]:
        """Who it is."""
        return {"kind": HUMAN, "name": self.who}

    def judge(self, groups: Iterable[Sequence[Ask]], keep: Keep) -> Account:
        """Ask for each pair, and keep each verdict at once: a person's minute is never lost."""
        account = Account()
        for ask in (ask for group in groups for ask in group):
            reply = None if self.reply is None else self.reply(ask)
            account.calls += self.reply is not None
            keep([Unmeasured(ask, "no human has judged it") if reply is None else verdict_of(ask, reply, self.name)])
        return account


@dataclass(frozen=True, slots=True)
class Replay:
    """The earlier verdicts of one judge."""

    ledger: Ledger
    identity: Mapping[str, Any]
    """The identity of the replayed judge, so that scores are comparable with the earlier ones."""
    name: str
    """The name of the judge whose verdicts these are: a replay gives no verdicts of its own."""
    reads_only: bool = True
    """Its verdicts are in the ledger already."""

    def judge(self, groups: Iterable[Sequence[Ask]], keep: Keep) -> Account:
        """Look up each pair; what is not there stays unmeasured."""
        for group in groups:
            found = self.ledger.find(group, self.identity)
            keep([verdict_in(found[a], a) if a in found else Unmeasured(a, "not in the ledger") for a in group])
        return Account()


def replay_judges(name: str, ledger: Ledger | None) -> list[Judge]:
    """The judges of the one run in the ledger, or those that are named as they were then."""
    if ledger is None:
        raise UsageError(f"judge 'replay': needs the ledger to replay. Next: name it with {setting('ledger')}.")
    known, runs = ledger.identities(), _runs(ledger)
    if name:
        names = [part.strip() for part in name.split(">")]
    elif len(runs) == 1:
        names = list(runs[0])
    else:
        raise UsageError(
            f"judge 'replay': {ledger.path} holds {len(runs) or 'no'} runs"
            f"{''.join(f', {chr(39)}replay:{chr(62).join(run)}{chr(39)}' for run in runs)}, expected one. "
            "Next: name the one to replay."
        )
    for each in names:
        if each not in known:
            said = f"judge 'replay:{name}': {ledger.path} has no verdicts of {each!r}, only of {', '.join(known)}"
            raise not_known(said, each, known)
    return [Replay(ledger, known[each], each) for each in names]


def _runs(ledger: Ledger) -> list[tuple[str, ...]]:
    """The judges of each run by name; if no run was recorded, each machine for itself."""
    judges = ledger.judges()
    names = {str(each["identity"]): each["name"] for each in judges}
    runs = [tuple(names[str(each)] for each in run if str(each) in names) for run in ledger.runs()]
    alone = [each for each in judges if not each["human"]] or judges
    return list(dict.fromkeys(run for run in runs if run)) or [(each["name"],) for each in alone]


NAMED = ("lexical", *(f"{each}:MODEL" for each in PROVIDERS), "human:NAME", "replay", "replay:JUDGE")
PASSES_ON = ">"
AT = "@http"
"""Begins the address of a judge in its name."""


def judges_of(spec: Any, *, ledger: Ledger | None = None, **options: Unpack[ModelArguments]) -> list[Judge]:
    """The judges of a cascade in the order they are asked; of any other the one."""
    parts = _parts(spec)
    names = (part.partition(AT)[0] for part in parts if isinstance(part, str))
    models = [name for name in names if name.partition(":")[0] in PROVIDERS]
    if options and not models:
        name = getattr(spec, "name", getattr(spec, "__name__", spec))
        raise WrongCall(f"judge {name!r}: takes no options, got {', '.join(options)}. Next: check their spelling.")
    _check_addresses(models, options)
    return [judge for part in parts for judge in _judges_in(part, ledger, options)]


def _parts(spec: Any) -> list[Any]:
    """The judges in a name, or in lists of names and judges."""
    if isinstance(spec, str):
        return [spec.strip()] if spec.strip().startswith("replay:") else list(map(str.strip, spec.split(PASSES_ON)))
    return [part for each in spec for part in _parts(each)] if isinstance(spec, Sequence) and spec else [spec]


def _check_addresses(models: Sequence[str], options: Mapping[str, Any]) -> None:
    """One address is for one service; of several each has its own, or the key of one would go to the other."""
    kinds = list(dict.fromkeys(each.partition(":")[0] for each in models))
    for name in ("base_url", "key_variable"):
        given = options.get(name)
        if given is not None and (len(kinds) > 1 or not isinstance(given, str)):
            got = f"a {type(given).__name__}" if len(kinds) == 1 else f"one for {' and '.join(kinds)}"
            raise UsageError(
                f"{name}: got {got}, expected a text for one service. Next: write the address in the judge's name, "
                f"like {models[0]}{AT}://HOST/v1; each service has a variable for its key."
            )


def _judges_in(spec: Any, ledger: Ledger | None, options: Mapping[str, Any]) -> list[Judge]:
    if not isinstance(spec, str):
        if hasattr(spec, "judges"):  # of `rankproof.Judge`
            return list(spec.judges)
        if hasattr(spec, "judge") and hasattr(spec, "identity") and hasattr(spec, "name"):
            return [spec]
        if callable(spec):
            return [called_judge(spec)]
        raise UsageError(
            f"judge: got {shorten(spec)}, expected one of {', '.join(NAMED)}, a function, or a judge. "
            "Next: judge=chat(model) makes one of a model of LangChain and the like; see docs/judging.md."
        )
    kind, _, rest = spec.partition(":")
    if kind == "replay":
        return replay_judges(rest, ledger)
    if kind == "lexical" and not rest:
        from rankproof.judging.lexical_judge import lexical_judge

        return [lexical_judge()]
    if kind in PROVIDERS:
        if not rest:
            raise UsageError(f"judge: got {spec!r}, expected {kind}:MODEL. Next: write the name of a model after it.")
        return [_model(spec, kind, options)]
    if kind == "human":
        return [HumanJudge(rest or "somebody")]
    said = f"judge: got {spec!r}, expected one of {', '.join(NAMED)}, or several joined by >"
    raise not_known(said, kind, ["lexical", *PROVIDERS, "human", "replay"], "choose one of them")


def _model(spec: str, kind: str, given: Mapping[str, Any]) -> Judge:
    """A model, at the address in its name (`openai:MODEL@http://host/v1`) or is given for it."""
    name, at, rest = spec.partition(AT)
    options = dict(given)
    if at:
        options["base_url"] = at[1:] + rest
    if kind == "litellm" and not (options.get("base_url") or os.environ.get(PROVIDERS[kind].base)):
        from rankproof.judging.models.chat import litellm_judge

        return litellm_judge(name, **{k: v for k, v in options.items() if v is not None})
    from rankproof.judging.models.judge import model_judge

    return model_judge(name, **options)


DEFAULT = "verdicts.db"
"""The default ledger of the command line."""


class Verdicts(Displayable):
    """The verdicts in a ledger file."""

    def __init__(self, path: str | os.PathLike[str] | Ledger = DEFAULT) -> None:
        self.ledger = path if isinstance(path, Ledger) else Ledger(Path(path))

    def _in_one_line(self) -> str:
        return f"<Verdicts in {self.ledger.path}>"

    def __iter__(self) -> Iterator[LedgerEntry]:
        return self.ledger.entries()

    def judges(self) -> list[dict[str, Any]]:
        """The judges, and their numbers of verdicts."""
        return self.ledger.judges()

    def where(
        self,
        *,
        judge: str | None = None,
        relation: str | None = None,
        value: int | None = None,
        contains: str | None = None,
        unmeasured: bool | None = None,
    ) -> Iterator[LedgerEntry]:
        """The entries that match all arguments; `contains` searches both texts."""
        for what, got in (("judge", judge), ("relation", relation), ("contains", contains)):
            if not isinstance(got, str | None):
                raise UsageError(f"{what}: got {shorten(got)}, expected a text. Next: give one, or leave it out.")
        if relation is not None and relation not in VALUES:
            raise one_of("relation", relation, map(str, VALUES))
        known = [each["name"] for each in self.judges()]
        if judge not in (None, *known):
            raise not_known(f"{self.ledger.path}: no verdicts of {judge!r}, only of {', '.join(known)}", judge, known)
        wanted = None if value is None else check_whole("value", value, least=-1)
        sought, open_ones = (contains or "").casefold(), None if unmeasured is None else bool(unmeasured)
        return (
            each
            for each in self
            if judge in (None, each.judge)
            and relation in (None, each.relation)
            and wanted in (None, each.value)
            and open_ones in (None, bool(each.reason))
            and sought in f"{each.left}\n{each.right}".casefold()
        )

    def override(self, pair: str, value: Any, *, by: str, why: str = "") -> LedgerEntry:
        """Add a person's verdict, which from now on counts before those of machines.

        `pair` is the id of a pair, or its beginning; `value` one of its relation, or True or False; `why` is the
        reason, which is kept beside it.
        """
        if not (isinstance(by, str) and by.strip()):
            raise UsageError("by: got no name, expected who overrides. Next: say who you are.")
        found, judge = self._of(pair), HumanJudge(by.strip())
        said = verdict_of(pair_in(found), value, judge.name)
        if isinstance(said, Unmeasured):
            relation = said.ask.relation.name.lower().replace("_", " ")
            raise UsageError(
                f"{found.id}: {said.reason} for the relation {relation!r}. Next: give a value that it has."
            )
        entry = entry_of(said, judge.name)
        if why:
            entry = replace(entry, origin={**entry.origin, "why": why})
        self.ledger.keep(judge.identity, judge.name, [entry])
        return entry

    def _of(self, pair: str) -> LedgerEntry:
        found = {each.id: each for each in self if pair and each.id.startswith(str(pair))}
        if len(found) != 1:
            what = "no pair" if not found else f"{len(found)} pairs"
            hint = nearest(str(pair), [each.id for each in self]) if not found else ""
            raise UsageError(
                f"{self.ledger.path}: {what} whose id begins with {shorten(pair)}, expected one.{hint} "
                "Next: 'rankproof verdicts' lists the ids."
            )
        return next(iter(found.values()))

    def export_to(self, path: str | os.PathLike[str], *, force: bool = False) -> int:
        """Write everything as JSON Lines; returns the number of verdicts."""
        self.judges()  # if there is no ledger, that is an error
        return write_lines(Path(path), self, force=force)

    def import_from(self, source: str | os.PathLike[str]) -> int:
        """Read JSON Lines, all of them or none; returns their number.

        A line needs relation, left, right, judge and a value; a judge named human:NAME is a person.
        """
        groups: dict[str, tuple[dict[str, Any], str, list[LedgerEntry]]] = {}
        for where, entry in read_lines(Path(source)):
            entry = _softened(entry)
            _check(entry, where)
            kind, _, name = entry.judge.partition(":")
            person = {"kind": HUMAN, "name": name}
            identity = dict(entry.identity) or (person if kind == HUMAN else {"kind": "imported", "name": entry.judge})
            groups.setdefault(f"{identity}", (identity, entry.judge, []))[2].append(entry)
        if groups:
            self.ledger.take(groups.values())
        return sum(len(entries) for *_, entries in groups.values())


def _softened(entry: LedgerEntry) -> LedgerEntry:
    """A line with a probability and no value is a soft verdict."""
    if entry.value is not None or entry.probability is None or entry.relation not in PLAIN_YES or entry.reason:
        return entry
    value = PLAIN_YES[Relation(entry.relation)] if entry.probability >= 0.5 else 0
    return replace(entry, value=value, origin={**entry.origin, SOFT: True})


def _check(entry: LedgerEntry, where: str) -> None:
    problem = "" if entry.relation in VALUES else f"got relation {entry.relation!r}"
    if not problem and not entry.reason:
        said = verdict_in(entry, pair_in(entry))
        problem = said.reason if isinstance(said, Unmeasured) else ""
    if problem:
        known = ", ".join(VALUES)
        raise DataError(
            f"{where}: {problem}; expected a relation ({known}) and a value of it. Nothing was imported."
            " Next: correct the row."
        )
