"""The kinds of parts that a grid knows, and how each is made of its options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any

from rankproof.bench.adapters import adapt, import_named, loaded_module
from rankproof.bench.adapters.code import module_digest
from rankproof.bench.chunk import Chunker, fixed, markdown, recursive, sentences, sliding
from rankproof.bench.fusion.recipe import recipe
from rankproof.bench.grid.source import NOTHING, GridSource, searches
from rankproof.core.corpus import Corpus
from rankproof.errors import RankproofError, UsageError, check_number, nearest, one_of, shorten

OWN = ("kind", "of", "cost")
"""Keys of a part that are not options of its kind."""


CALLING = ("retrievers", "rerankers", "rewriters")
"""Factors whose parts may be functions, endpoints, commands; no kind is written with a colon, a dot or a blank."""

IMPLIED = {"call": "call", "of": "hybrid"}
"""Keys that say what kind a part is where nothing else does."""


@dataclass(frozen=True)
class GridPart:
    """One level of a factor."""

    name: str
    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)
    of: tuple[str, ...] = ()
    """The retrievers that a hybrid combines."""
    cost: float = 0.0
    """The cost of 1,000 questions, in any currency."""
    given: Any = None
    """The object, if it was given as one."""
    label: str = ""
    """The name under which the grid's author knows it; its variants share it."""
    source: str | None = None
    """The digest of the code that it names."""

    @property
    def settings(self) -> dict[str, Any]:
        """Its description as plain data."""
        more = {"of": list(self.of) or None, "source": self.source}
        return {"kind": self.kind, **self.options, **{key: each for key, each in more.items() if each}}


Wrap = Callable[[str, Any], GridPart | None]
"""Makes a part of an object that is neither a word nor a table; None if it cannot."""


def parts_of(source: GridSource, factor: str, wrap: Wrap) -> list[GridPart]:
    """The parts of one factor: a word is a kind, or what is called; a table has a kind and options, of which a
    list of values makes variants."""
    return [
        part
        for name, given in table_of(source, factor).items()
        for part in _variants(source, factor, name, given, wrap)
    ]


def table_of(source: GridSource, factor: str) -> Mapping[str, Any]:
    """The table of a factor's levels by name; empty if there is none."""
    table = source.data.get(factor, {})
    if not isinstance(table, Mapping):
        raise UsageError(
            f"{source.where(factor)}: got {shorten(table)}, expected a table of names, like "
            f'[{factor}] and a line  name = {{ kind = "..." }}.'
            " Next: write the table so."
        )
    return table


def _variants(source: GridSource, factor: str, name: str, given: Any, wrap: Wrap) -> Iterator[GridPart]:
    if isinstance(given, str):
        calls = factor in CALLING and any(sign in given for sign in ":. ")
        given = {"call" if calls else "kind": given}
    if not isinstance(given, Mapping):
        made = wrap(name, given)
        if made is None:
            raise UsageError(
                f"{source.where(factor, name)}: got {shorten(given)}, expected a kind, or a table with one."
                " Next: write one of these."
            )
        yield made
        return
    kind = given.get("kind", next((each for key, each in IMPLIED.items() if key in given), None))
    if not isinstance(kind, str):
        raise UsageError(f'{source.where(factor, name)}: no kind given. Next: add  kind = "...".')
    where = source.where(factor, name, "cost")
    of = _of(source, factor, name, given)
    cost = check_number(where, given.get("cost", 0), least=0, advice="write what 1,000 questions cost")
    options = {key: value for key, value in given.items() if key not in OWN}
    for chosen, said in option_combinations(options):
        yield GridPart(f"{name}{said}", kind, chosen, of, cost, label=name)


def option_combinations(options: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Every combination of options of which some are lists of values, and in brackets what tells it apart.

    >>> list(option_combinations({"size": [50, 100], "unit": "words"}))
    [({'size': 50, 'unit': 'words'}, '[size=50]'), ({'size': 100, 'unit': 'words'}, '[size=100]')]
    """
    many = {key for key, value in options.items() if isinstance(value, list)}
    choices = [value if key in many else [value] for key, value in options.items()]
    for values in product(*choices):
        chosen = dict(zip(options, values, strict=True))
        said = ", ".join(f"{key}={chosen[key]}" for key in options if key in many)
        yield chosen, f"[{said}]" if said else ""


def _of(source: GridSource, factor: str, name: str, given: Mapping[str, Any]) -> tuple[str, ...]:
    of = given.get("of", [])
    if not isinstance(of, (list, tuple)) or not all(isinstance(each, str) for each in of):
        raise UsageError(
            f"{source.where(factor, name, 'of')}: got {shorten(of)}, expected a list of names. Next: write a list."
        )
    return tuple(of)


NONE, CALL, HYBRID, BUILT, GIVEN = "none", "call", "hybrid", "built", "given"
LEXICAL, CROSS = "lexical", "cross-encoder"
SPELLING, EXPANSION = "spelling", "expansion"
OF_CORPUS = (SPELLING, EXPANSION)
"""Kinds of rewriters that read the documents."""

CHUNKERS: Mapping[str, Callable[..., Chunker]] = {
    "fixed": fixed,
    "sentences": sentences,
    "recursive": recursive,
    "markdown": markdown,
    "sliding": sliding,
}
MAPS = ("best", "first", "sum")
"""How a document is scored by its chunks."""

TINY = Corpus.of({"a": "one two three", "b": "two three four", "c": "three four five"})
"""A tiny corpus on which retrievers are built to check their options before anything runs."""


def check_chunker(source: GridSource, part: GridPart) -> None:
    """Refuse a chunker that cannot be made."""
    if part.given is not None:
        return
    _known(source, "chunkers", part, (NONE, *CHUNKERS))
    extra = ("map",) if part.kind != NONE else ()
    _check_options(source, "chunkers", part, CHUNKERS.get(part.kind, _nothing), extra)
    if part.options.get("map", "best") not in MAPS:
        raise one_of(source.where("chunkers", part.label, "map"), part.options["map"], MAPS)
    _tried(source, "chunkers", part, lambda: chunker(part))


def check_retriever(source: GridSource, part: GridPart) -> None:
    """Refuse a retriever that cannot be made."""
    if part.given is not None:
        return
    kinds = searches()
    _known(source, "retrievers", part, (*kinds, HYBRID, BUILT, CALL))
    if part.kind in kinds:
        _check_options(source, "retrievers", part, kinds[part.kind])
        _tried(source, "retrievers", part, lambda: retriever(part, NOTHING if part.kind == "dense" else TINY))
    elif part.kind in (CALL, BUILT):
        _check_options(source, "retrievers", part, _called, ("id",) if part.kind == CALL else ())
        made = {CALL: lambda: adapt(part.options["call"]), BUILT: lambda: function_of(part)}[part.kind]
        _tried(source, "retrievers", part, made)
    elif part.kind == HYBRID:
        _check_options(source, "retrievers", part, _nothing, ("of",))


def check_fusion(source: GridSource, part: GridPart, hybrids: Sequence[GridPart]) -> None:
    """Refuse a fusion that `fuse` does not know, or not with these options, or not for one of the hybrids."""
    for names in [each.of for each in hybrids] or [_some_names(part)]:
        _tried(source, "fusion", part, partial(fusion, part, names))


def _some_names(part: GridPart) -> tuple[str, ...]:
    """Names for what is combined, if no hybrid says them."""
    weights = part.options.get("weights")
    if isinstance(weights, Mapping):
        return tuple(weights)
    return tuple(f"r{n}" for n in range(len(weights) if isinstance(weights, (list, tuple)) else 2))


def check_reranker(source: GridSource, part: GridPart) -> None:
    """Refuse a reranker that cannot be made."""
    if part.given is not None:
        return
    _known(source, "rerankers", part, (NONE, LEXICAL, CROSS, CALL))
    options = {CALL: _called, CROSS: _modelled}.get(part.kind, _nothing)
    _check_options(source, "rerankers", part, options, () if part.kind == NONE else ("depth",))
    _tried(source, "rerankers", part, lambda: reranker(part))


def check_rewriter(source: GridSource, part: GridPart) -> None:
    """Refuse a rewriter that cannot be made."""
    if part.given is not None:
        return
    _known(source, "rewriters", part, (NONE, *OF_CORPUS, CALL))
    takes: dict[str, Callable[..., Any]] = {CALL: _called, EXPANSION: _expanding}
    _check_options(source, "rewriters", part, takes.get(part.kind, _nothing))
    _tried(source, "rewriters", part, lambda: rewriter(part, TINY))


def chunker(part: GridPart) -> Chunker | None:
    """The chunker; None if documents stay whole."""
    if part.kind == NONE:
        return None
    if part.kind == GIVEN:
        found: Chunker = part.given
        return found
    options = {name: value for name, value in part.options.items() if name != "map"}
    return CHUNKERS[part.kind](**options)


def retriever(part: GridPart, corpus: Corpus) -> Any:
    """The retriever over these documents; a called one has its own."""
    if part.kind in (CALL, GIVEN):
        return part.options["call"] if part.given is None else part.given
    if part.kind == BUILT:
        return function_of(part)(corpus)
    return searches()[part.kind](corpus, **part.options)


def fusion(part: GridPart, names: Sequence[str]) -> Any:
    """The recipe that combines rankings of these names."""
    options = dict(part.options)
    normalise, weights = options.pop("normalise", None), options.pop("weights", None)
    made = recipe(names, part.kind, normalise, weights, options)
    if made.method.learn is not None:
        raise UsageError(
            f"{part.kind} learns from judged queries, which a grid keeps for choosing. Next: 'rankproof fuse --tune'."
        )
    return made


def reranker(part: GridPart) -> Any:
    """The reranker that follows a search with `>>`; None if nothing is reranked."""
    if part.kind == NONE:
        return None
    from rankproof.bench.retrieve import cross_encoder, rerank

    depth = {name: value for name, value in part.options.items() if name == "depth"}
    if part.kind == CROSS:
        return cross_encoder(part.options["model"])(**depth)
    return rerank(**depth) if part.kind == LEXICAL else rerank(function_of(part), name=part.name, **depth)


def rewriter(part: GridPart, corpus: Corpus | None) -> Callable[[str], str] | None:
    """The rewriter of questions; None if there is none."""
    if part.kind == NONE:
        return None
    if part.kind not in OF_CORPUS:
        return function_of(part)
    if corpus is None:
        raise UsageError(f"{part.kind} reads the documents. Next: name them with  corpus = ...")
    from rankproof.bench.retrieve import expansion, spelling

    return spelling(corpus) if part.kind == SPELLING else expansion(corpus, **part.options)


def _expanding(terms: int = 5) -> int:
    """How many words are added to a question."""
    return terms


def function_of(part: GridPart) -> Callable[..., Any]:
    """The given function, or the one named as `module:function`, which may be in the working folder."""
    if part.given is not None:
        given: Callable[..., Any] = part.given
        return given
    named: Callable[..., Any] = import_named(part.options["call"], "call")
    return named


def with_source(part: GridPart) -> GridPart:
    """The part with a digest of its code, so that answers of changed code are not reused."""
    words = str(part.options.get("call", part.options.get("embedder", "")))
    module = loaded_module(words.rpartition(":")[0])
    if module is not None:
        return replace(part, source=module_digest(module))
    return replace(part, source=adapt(words).settings.get("source")) if part.kind == CALL else part


def _called(call: str) -> str:
    """The words for a retriever of your own: `module:function`, an endpoint's TOML file, a command."""
    return call


def _modelled(model: str) -> str:
    """The name of a model."""
    return model


def _nothing() -> None:
    """Takes no options."""


def _known(source: GridSource, factor: str, part: GridPart, kinds: Sequence[str]) -> None:
    if part.kind not in kinds:
        raise one_of(source.where(factor, part.label or part.name, "kind"), part.kind, kinds)


def _check_options(
    source: GridSource, factor: str, part: GridPart, make: Callable[..., Any], extra: Sequence[str] = ()
) -> None:
    """Refuse unknown options, and missing ones that the kind needs."""
    named = {name: each for name, each in inspect.signature(make).parameters.items() if name != "corpus"}
    known = [*named, *extra]
    for name in part.options:
        if name not in known:
            raise UsageError(
                f"{source.where(factor, part.label, name)}: {part.kind} has no option {name!r}, expected "
                f"{', '.join(known) or 'none'}.{nearest(name, known)} Next: leave it out, or name one of these."
            )
    for name, each in named.items():
        if each.default is each.empty and each.kind is not each.VAR_KEYWORD and name not in part.options:
            raise UsageError(f"{source.where(factor, part.label)}: {part.kind} needs {name!r}. Next: add it.")


def _tried(source: GridSource, factor: str, part: GridPart, make: Callable[[], Any]) -> None:
    """Make it; an error names its place in the description."""
    try:
        make()
    except RankproofError as error:
        raise type(error)(f"{source.where(factor, part.label or part.name)}: {error}") from error
