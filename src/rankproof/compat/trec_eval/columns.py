"""The values of a column: trec_eval's names over rankproof's measures."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from rankproof.compat.trec_eval.cutting import relevance_strings
from rankproof.compat.trec_eval.parameters import Column
from rankproof.compat.trec_eval.results import FLOOR
from rankproof.core.hits import Hits, PerQuery, ratio
from rankproof.core.measures.sets import wanted
from rankproof.core.names import parse

Formula: TypeAlias = Callable[[Hits], PerQuery]


@dataclass(frozen=True)
class Setting:
    """What the command line says about all measures."""

    version: int = 10
    level: int = 1
    corpus: int = 0


def column_values(column: Column, hits: Hits, setting: Setting) -> list[Any]:
    """The value of the column for every query of the hits."""
    name = column.entry.name.removesuffix("_avgjg")
    if name == "relstring":
        return [f"'{string}'" for string in relevance_strings(hits, int(column.numbers[0]))]
    values = FORMULAS[name](column, setting)(hits)
    if column.entry.average == "geometric":
        values = np.log(np.maximum(values, FLOOR))
    return values.tolist()


# --- formulas -------------------------------------------------------------------------------------


def _plain(name: str, **params: Any) -> Callable[[Column, Setting], Formula]:
    """A measure of relevance without a cut-off."""
    return lambda column, setting: parse(name).with_params({"rel": setting.level, **params})


def _at_rank(name: str, **params: Any) -> Callable[[Column, Setting], Formula]:
    """A measure of relevance at the column's rank."""
    return lambda column, setting: parse(name).with_params(
        {"rel": setting.level, "k": int(_at(column)), **params}
    )


def _at(column: Column) -> float:
    if column.at is None:
        raise TypeError(f"{column.name} has no cut-off")
    return column.at


def _gain(column: Column) -> Any:
    """The gains on the command line; a grade without one is its own gain."""
    gains = {int(grade): value for grade, value in column.pairs.items() if grade != "p"}
    return gains or "linear"


def _graded(name: str) -> Callable[[Column, Setting], Formula]:
    """A measure of gains; -l does not touch it."""
    return lambda column, setting: parse(name).with_params({"gain": _gain(column)})


def _f(column: Column, setting: Setting) -> Formula:
    """F, whose parameter is beta squared here."""
    return parse("F").with_params({"rel": setting.level, "beta": math.sqrt(column.numbers[0])})


def _set_map(column: Column, setting: Setting) -> Formula:
    """Set precision times set recall, in one division."""

    def of(h: Hits) -> PerQuery:
        found = h.relevant(setting.level).count()
        return ratio(found * found, h.retrieved * wanted(h, setting.level))

    return of


FORMULAS: dict[str, Callable[[Column, Setting], Formula]] = {
    "map": _plain("AP"),
    "gm_map": _plain("AP"),
    "recip_rank": _plain("RR"),
    "P": _at_rank("P"),
    "recall": _at_rank("R"),
    "ndcg": _graded("nDCG"),
    "dcg": _graded("DCG"),
    "ideal_dcg": lambda column, setting: lambda h: parse("DCG").with_params({"gain": _gain(column)})(h.ideal),
    "ndcg_cut": lambda column, setting: parse("nDCG") @ int(_at(column)),
    "ndcg_rel": _graded("nDCGrel"),
    "map_cut": _at_rank("AP"),
    "success": _at_rank("Success"),
    "set_P": _plain("P"),
    "set_recall": _plain("R"),
    "set_map": _set_map,
    "set_F": _f,
    "Rprec_mult": lambda column, setting: parse("RprecMult").with_params(
        {"rel": setting.level, "multiple": _at(column)}
    ),
}
"""How each measure of trec_eval is computed."""
