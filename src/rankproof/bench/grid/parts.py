"""The parts of a grid: their descriptions, the kinds of each factor, and how each part is made."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from rankproof.bench.adapters import adapt, import_named
from rankproof.bench.adapters.adapter import describe
from rankproof.bench.chunk import Chunker, fixed, markdown, recursive, sentences, sliding
from rankproof.bench.fusion import Recipe, recipe
from rankproof.bench.retrieve import (
    cross_encoder,
    dense,
    endpoint,
    expansion,
    keyword,
    lsa,
    model2vec,
    rerank,
    sentence_transformers,
    spelling,
)
from rankproof.core.corpus import Corpus
from rankproof.errors import RankproofError, UsageError, UserCode, check_number, not_known, one_of, shorten
from rankproof.io.files import read_bytes, text_of, toml_of


@dataclass(frozen=True, slots=True)
class GridSource:
    """The description of a grid."""

    data: Mapping[str, Any]
    name: str = "grid"
    folder: Path = Path()
    """The folder that relative paths start from."""

    def where(self, *keys: str) -> str:
        """The place of a key.

        >>> GridSource({}, "bench.toml").where("chunkers", "small")
        'bench.toml, chunkers.small'
        """
        return f"{self.name}, {'.'.join(map(str, keys))}"

    @contextmanager
    def errors_at(self, *keys: str, argument: str = "") -> Iterator[None]:
        """Let an error inside name the place of a key, instead of an argument."""
        try:
            yield
        except RankproofError as error:
            said = str(error).removeprefix(f"{argument}: ")
            raise type(error)(f"{self.where(*keys)}: {said}") from error

    def path(self, given: Any) -> Any:
        """A path in the description, which is relative to its folder, as a path from the working folder.

        What is not a text is not a path, and stays as it is.
        """
        return str(self.folder / given) if isinstance(given, str) and not os.path.isabs(given) else given

    def check_keys(self, known: Collection[str], *table: str) -> None:
        """Refuse an unknown key at the top, or in a table."""
        for key in self.data[table[0]] if table else self.data:
            if key not in known:
                said = f"{self.where(*table, key)}: unknown key {key!r}, expected one of {', '.join(known)}"
                raise not_known(said, key, known, "leave it out, or write one of these")


def source_of(given: Any) -> GridSource:
    """The grid in a TOML file or a mapping.

    >>> source_of({"k": 5}).data
    {'k': 5}
    """
    if isinstance(given, Mapping):
        return GridSource(given)
    if not isinstance(given, (str, os.PathLike)):
        raise UsageError(
            f"grid: got {shorten(given)}, expected the path of a TOML file, or a mapping. Next: give one of these."
        )
    name = os.fspath(given)
    return GridSource(toml_of(text_of(read_bytes(name), name), name), name, Path(name).parent)


OWN = ("kind", "of", "cost")
"""Keys of a part that are not options of its kind."""
CALLING = ("retrievers", "rerankers", "rewriters")
"""Factors whose parts may be functions, endpoints, commands; no kind is written with a colon, a dot or a blank."""

NONE, CALL, GIVEN, HYBRID = "none", "call", "given", "hybrid"
IMPLIED = {"call": CALL, "of": HYBRID}
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


def parts_of(source: GridSource, factor: str) -> Iterator[GridPart]:
    """The parts of one factor: a word is a kind, or what is called; a table has a kind and options, of which a
    list of values makes variants."""
    for name, given in table_of(source, factor).items():
        if isinstance(given, str):
            calls = factor in CALLING and any(sign in given for sign in ":. ")
            given = {"call" if calls else "kind": given}
        if isinstance(given, Mapping):
            yield from _variants(source, factor, name, given)
        elif (part := _given(factor, name, given)) is not None:
            yield part
        else:
            raise UsageError(
                f"{source.where(factor, name)}: got {shorten(given)}, expected a kind, or a table with one."
                " Next: write one of these."
            )


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


def _given(factor: str, name: str, given: Any) -> GridPart | None:
    """The part of an object that is neither a word nor a table; None if the factor takes no such object."""
    if factor == "chunkers" and isinstance(given, Chunker):
        return GridPart(name, GIVEN, given.settings, given=given, label=name)
    if factor == "retrievers" and not isinstance(given, (int, float, list)):
        settings = adapt(given).settings  # what cannot be asked is an error now
    elif factor in ("rerankers", "rewriters") and callable(given):
        settings = describe(given)
    else:
        return None
    return GridPart(name, GIVEN, {"given": name, "settings": settings}, given=given, label=name)


def _variants(source: GridSource, factor: str, name: str, given: Mapping[str, Any]) -> Iterator[GridPart]:
    kind = given.get("kind", next((each for key, each in IMPLIED.items() if key in given), None))
    if not isinstance(kind, str):
        raise UsageError(f'{source.where(factor, name)}: no kind given. Next: add  kind = "...".')
    of = given.get("of", [])
    if not isinstance(of, (list, tuple)) or not all(isinstance(each, str) for each in of):
        raise UsageError(
            f"{source.where(factor, name, 'of')}: got {shorten(of)}, expected a list of names. Next: write a list."
        )
    where = source.where(factor, name, "cost")
    cost = check_number(where, given.get("cost", 0), least=0, advice="write what 1,000 questions cost")
    options = {key: value for key, value in given.items() if key not in OWN}
    for chosen, said in option_combinations(options):
        yield GridPart(f"{name}{said}", kind, chosen, tuple(of), cost, label=name)


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


ENDPOINT = "{ base_url = ..., model = ... }"
EMBEDDERS = f"sentence-transformers:MODEL, model2vec:MODEL, module:function, or {ENDPOINT}"


def embedder_of(words: Any) -> Any:
    """The embedder of that name."""
    if isinstance(words, Mapping):
        try:
            return endpoint(**words)
        except TypeError as error:
            raise UsageError(f"embedder: {error}. Next: write it like {ENDPOINT}.") from error
    if callable(words):
        return words
    kind, _, rest = words.partition(":") if isinstance(words, str) else ("", "", "")
    if not rest:
        raise UsageError(f"embedder: got {shorten(words)}, expected {EMBEDDERS}. Next: choose one of these.")
    makers = {"sentence-transformers": sentence_transformers, "model2vec": model2vec}
    return makers[kind](rest) if kind in makers else import_named(words, "embedder")


def function_of(part: GridPart) -> Callable[..., Any]:
    """The given function, or the one named as `module:function`, which may be in the working folder."""
    found: Callable[..., Any] = import_named(part.options["call"], "call") if part.given is None else part.given
    return found


Maker = Callable[[GridPart, Any], Any]
"""Makes what a part stands for, of documents."""


@dataclass(frozen=True)
class PartKind:
    """One kind of part."""

    make: Maker = lambda part, corpus: None
    takes: Callable[..., Any] | None = None
    """The function whose parameters are the options of the kind."""
    needs: tuple[str, ...] = ()
    """Options that it needs beside these."""
    more: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Options that it may have, each with the words that it can be, the usual one first; none: anything."""
    check: Maker | None = None
    """What is tried before the run in place of making it."""


def _chunker(cut: Callable[..., Any]) -> PartKind:
    def make(part: GridPart, corpus: Any) -> Any:
        return cut(**{name: value for name, value in part.options.items() if name != "map"})

    return PartKind(make, cut, more={"map": ("best", "first", "sum")})  # how a document is scored by its chunks


def _of_corpus(made: Callable[..., Any]) -> PartKind:
    return PartKind(lambda part, corpus: made(corpus, **part.options), made)


def _built(part: GridPart, corpus: Corpus) -> Any:
    """What a function of the user's makes of the documents."""
    build = function_of(part)
    with UserCode(build, "the documents for", part.label or part.name):
        return build(corpus)


def _reranker(make: Callable[[GridPart], Any], *needs: str) -> PartKind:
    return PartKind(lambda part, corpus: make(part)(depth=part.options.get("depth")), needs=needs, more={"depth": ()})


OF_CORPUS = ("spelling", "expansion")
"""Kinds of rewriters that read the documents."""
KINDS: Mapping[str, Mapping[str, PartKind]] = {
    "chunkers": {
        NONE: PartKind(),
        **{cut.__name__: _chunker(cut) for cut in (fixed, sentences, recursive, markdown, sliding)},
    },
    "retrievers": {
        "keyword": _of_corpus(keyword),
        "lsa": _of_corpus(lsa),
        "dense": PartKind(
            lambda part, corpus: dense(corpus, **{**part.options, "embedder": embedder_of(part.options["embedder"])}),
            needs=("embedder",),
            more=dict.fromkeys(("similarity", "document_prefix", "question_prefix", "cache"), ()),
            # An embedder that can be made is all that is to be seen before the run.
            check=lambda part, corpus: embedder_of(part.options["embedder"]),
        ),
        HYBRID: PartKind(more={"of": ()}),
        "built": PartKind(_built, needs=("call",), check=lambda part, corpus: function_of(part)),
        CALL: PartKind(
            lambda part, corpus: part.options["call"] if part.given is None else part.given,
            needs=("call",),
            more={"id": ()},
            check=lambda part, corpus: adapt(part.options["call"], id=part.options.get("id")),
        ),
    },
    "rerankers": {
        NONE: PartKind(),
        "lexical": _reranker(lambda part: rerank),
        "cross-encoder": _reranker(lambda part: cross_encoder(part.options["model"]), "model"),
        CALL: _reranker(lambda part: rerank(function_of(part), name=part.name), "call"),
    },
    "rewriters": {
        NONE: PartKind(),
        "spelling": _of_corpus(spelling),
        "expansion": _of_corpus(expansion),
        CALL: PartKind(lambda part, corpus: function_of(part), needs=("call",)),
    },
}
"""The kinds of each factor; filters and fusions have their own."""

TINY = Corpus.of({"a": "one two three", "b": "two three four", "c": "three four five"})
"""A tiny corpus on which retrievers are built to check their options before anything runs."""


def make(factor: str, part: GridPart, corpus: Corpus | None = None) -> Any:
    """What a part stands for; None where it stands for nothing. A given object is made like one that is called."""
    kind = KINDS[factor].get(CALL if part.given is not None else part.kind)
    return part.given if kind is None else kind.make(part, corpus)


def check_part(source: GridSource, factor: str, part: GridPart) -> None:
    """Refuse a part of an unknown kind, with options that its kind has not, and one that cannot be made."""
    if part.given is not None:
        return
    if part.kind not in KINDS[factor]:
        raise one_of(source.where(factor, part.label or part.name, "kind"), part.kind, KINDS[factor])
    kind = KINDS[factor][part.kind]
    parameters = inspect.signature(kind.takes).parameters if kind.takes else {}
    named = {name: each for name, each in parameters.items() if name != "corpus"}
    known = [*kind.needs, *named, *kind.more]
    for name in part.options:
        if name not in known:
            where, listed = source.where(factor, part.label, name), ", ".join(known) or "none"
            said = f"{where}: {part.kind} has no option {name!r}, expected {listed}"
            raise not_known(said, name, known, "leave it out, or name one of these")
    for name in (*kind.needs, *(name for name, each in named.items() if each.default is each.empty)):
        if name not in part.options:
            raise UsageError(f"{source.where(factor, part.label)}: {part.kind} needs {name!r}. Next: add it.")
    for name, words in kind.more.items():
        if words and part.options.get(name, words[0]) not in words:
            raise one_of(source.where(factor, part.label, name), part.options[name], words)
    with source.errors_at(factor, part.label or part.name):
        (kind.check or kind.make)(part, TINY)


def fusion_recipe(part: GridPart, names: Sequence[str]) -> Recipe:
    """The recipe that combines rankings of these names."""
    options = dict(part.options)
    normalise, weights = options.pop("normalise", None), options.pop("weights", None)
    made = recipe(names, part.kind, normalise, weights, options)
    if made.method.learn is not None:
        raise UsageError(
            f"{part.kind} learns from judged queries, which a grid keeps for choosing. Next: 'rankproof fuse --tune'."
        )
    return made
