"""How alike queries are: as vectors without a model, in clusters, and by permutation tests with effects and power."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from statistics import NormalDist
from typing import Any

import numpy as np

from rankproof.core.hits import Array
from rankproof.document.model import Displayable
from rankproof.errors import DataError, UsageError, UserCode, shorten
from rankproof.monitoring.log_samples import LiveQueries, normal_form
from rankproof.stats.corrections import holm
from rankproof.stats.significance import mean_ranks
from rankproof.text.languages import STOP_WORDS, language
from rankproof.text.words import stem, words

WIDTH = 2048
"""Columns that n-grams are hashed to; two of a query's 60 or so seldom fall together."""
SIZES = (2, 3, 4)
"""Characters of an n-gram: pairs for writings without spaces, more for the others."""
AT_ONCE = 2048
"""Texts that are taken apart at a time."""
RANK = 50
"""Dimensions in which queries are clustered."""
TURNS, STARTS = 30, 4
"""Rounds of k-means, and how often it begins anew; the tightest outcome counts."""


def telling_text(text: str) -> str:
    """The text without stop words, if other words are left.

    >>> telling_text("Where is my order?"), telling_text("Who is it?")
    ('order', 'who is it')
    """
    plain = normal_form(text)
    return " ".join(word for word in plain.split() if word not in STOP_WORDS) or plain


def ngram_vectors(texts: Sequence[str]) -> Array:
    """A row of length 1 for each text: its hashed n-grams of characters, rare ones counting more.

    Which n-grams are rare is learnt from all of the texts, so that a test between two parts of them stays fair.

    >>> rows = ngram_vectors(["refund for an order", "refund of orders", "opening hours"])
    >>> bool(rows[0] @ rows[1] > rows[0] @ rows[2])
    True
    """
    rows = np.empty((len(texts), WIDTH), dtype=np.float32)
    for start in range(0, len(texts), AT_ONCE):
        rows[start : start + AT_ONCE] = _ngram_counts(texts[start : start + AT_ONCE])
    held = np.count_nonzero(rows, axis=0)
    np.sqrt(rows, out=rows)
    rows *= np.log((1 + len(texts)) / (1 + held)).astype(np.float32)
    return unit_rows(rows)


def _ngram_counts(texts: Sequence[str]) -> Array:
    """How often each hashed n-gram is in each text."""
    joined = "".join(f" {telling_text(text)} \n" for text in texts)
    points = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    breaks = points == ord("\n")
    row = np.cumsum(breaks) - breaks
    table = np.zeros(len(texts) * WIDTH, dtype=np.float32)
    for size in SIZES:
        if len(points) < size:
            continue
        hashed = np.full(len(points) - size + 1, 14695981039346656037 + size, dtype=np.uint64)
        whole = np.ones(len(hashed), dtype=bool)
        for place in range(size):
            part = slice(place, len(hashed) + place)
            hashed = (hashed ^ points[part]) * np.uint64(1099511628211)
            whole &= ~breaks[part]
        column = ((hashed >> np.uint64(29)) % np.uint64(WIDTH)).astype(np.int64)
        table += np.bincount((row[: len(hashed)] * WIDTH + column)[whole], minlength=len(table)).astype(np.float32)
    return table.reshape(len(texts), WIDTH)


def unit_rows(rows: Array) -> Array:
    """Each row at length 1; a row of nothing stays so."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(length > 0, length, 1))


def rows_of_texts(texts: Sequence[str], embed: Callable[[list[str]], Any] | None, rng: np.random.Generator) -> Array:
    """The rows that a function of the caller's gives, at length 1; those of n-grams if there is none."""
    if not embed:
        return condense_rows(ngram_vectors(texts), rng)
    if not callable(embed):
        raise UsageError(
            f"embed: got {shorten(embed)}, expected a function of a list of texts. Next: give one, like model.encode."
        )
    with UserCode(embed, f"{len(texts):,} texts, the first", *texts[:1]):
        given = embed(list(texts))
    advice = "return one vector for each text, in their order, all as long as each other."
    try:
        rows = np.asarray(given)
        rows = rows.astype(np.float64, casting="no" if rows.dtype.kind == "c" else "unsafe")
    except (TypeError, ValueError) as error:
        raise DataError(
            f"embed: got {shorten(given)}, expected {len(texts):,} rows of numbers: {error}. Next: {advice}"
        ) from error
    if rows.ndim != 2 or len(rows) != len(texts):
        raise DataError(
            f"embed: got an array of shape {rows.shape}, expected {len(texts):,} rows of numbers. Next: {advice}"
        )
    if bad := int((~np.isfinite(rows)).any(axis=1).sum()):
        raise DataError(
            f"embed: {bad:,} of {len(rows):,} vectors have a NaN or an infinite number, expected finite ones. "
            f"Next: {advice}"
        )
    rows = rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True, initial=0), np.finfo(float).tiny)
    found = unit_rows(rows).astype(np.float32)
    if not found.any() or (found == found[0]).all():
        raise DataError(
            f"embed: got {'zeros' if not found.any() else 'the same vector'} for all {len(rows):,} texts, which tells "
            "none from another. Next: check the function on two texts."
        )
    return found


def condense_rows(rows: Array, rng: np.random.Generator) -> Array:
    """The rows in their most important dimensions (latent semantic analysis by a random projection)."""
    if rows.shape[1] <= RANK:
        return rows
    rank = min(RANK, len(rows))
    probe = rows @ rng.standard_normal((rows.shape[1], min(rank + 10, len(rows)))).astype(rows.dtype)
    for _ in range(3):
        basis, _ = np.linalg.qr(probe)
        probe = rows @ (rows.T @ basis)
    basis, _ = np.linalg.qr(probe)
    left, sizes, _ = np.linalg.svd(basis.T @ rows, full_matrices=False)
    return unit_rows((basis @ left)[:, :rank] * sizes[:rank])


def kinds_of(rows: Array, number: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """The group of each row and the middle of each group, by k-means on rows of length 1."""
    _, kind, middles = max((_clustered(rows, number, rng) for _ in range(STARTS)), key=itemgetter(0))
    used, group = np.unique(kind, return_inverse=True)
    return group, middles[used]


def _clustered(rows: Array, number: int, rng: np.random.Generator) -> tuple[float, Array, Array]:
    """How tight the clusters of one start are, the cluster of each row, and their middles."""
    middles = _begin(rows, number, rng)
    for _ in range(TURNS):
        group = np.argmax(rows @ middles.T, axis=1)
        sums = np.zeros_like(middles)
        np.add.at(sums, group, rows)
        moved = np.where(sums.any(axis=1, keepdims=True), unit_rows(sums), middles)
        if np.allclose(moved, middles, atol=1e-5):
            break
        middles = moved
    closeness = rows @ middles.T
    return float(closeness.max(axis=1).sum()), np.argmax(closeness, axis=1), middles


def _begin(rows: Array, number: int, rng: np.random.Generator) -> Array:
    """First middles far from each other (k-means++)."""
    chosen = [int(rng.integers(len(rows)))]
    far = 1 - rows @ rows[chosen[0]]
    while len(chosen) < min(number, len(rows)):
        chances = np.maximum(far, 0).astype(np.float64)
        if chances.sum() <= 1e-9:
            break
        chosen.append(int(rng.choice(len(rows), p=chances / chances.sum())))
        far = np.minimum(far, 1 - rows @ rows[chosen[-1]])
    return rows[chosen].copy()


PERMUTATIONS = 999
AT_MOST = 1000
"""The number of queries of each side that are compared."""
ENOUGH_USERS = 100
"""From this number of users on, the tests take one query of each."""
POWER = 0.8


@dataclass(frozen=True)
class Shift(Displayable):
    """How far the live queries are from those of the set in one respect."""

    name: str
    """wording, length, language, vocabulary or kinds."""
    effect: float
    none: float
    """The effect if nothing has shifted."""
    seen_from: float
    """The effect that would be found with a power of 80 %."""
    p: float
    p_corrected: float
    """By Holm, over the tests."""
    brief: str
    """The effect in a few words."""


def shifts(own: Sequence[str], live: LiveQueries, rows: Array, kind: Array, rng: np.random.Generator) -> list[Shift]:
    """Each test; `rows` and `kind` are of the set's queries first, then of the live ones.

    Of each side at most `AT_MOST` queries are compared, and of each user one if there are enough users. Whatever is
    learnt from the texts is learnt from both parts together, so under the null hypothesis each way of calling some of
    them the set is as likely as the one we have: the tests are exact for independent queries.
    """
    mine = rng.permutation(len(own))[:AT_MOST]
    firsts = np.flatnonzero(np.array(live.turn) == 0)
    theirs = rng.permutation(firsts if len(firsts) >= ENOUGH_USERS else np.arange(len(live.texts)))[:AT_MOST]
    texts = [*(own[at] for at in mine), *(live.texts[at] for at in theirs)]
    places = np.concatenate([mine, len(own) + theirs])
    rows, kind = rows[places], kind[places]
    n, m = len(mine), len(theirs)
    labels = np.zeros((n + m, PERMUTATIONS + 1), dtype=np.float32)
    labels[:n, 0] = 1
    for column in range(1, PERMUTATIONS + 1):
        labels[rng.permutation(n + m)[:n], column] = 1
    sizes = np.array([len(words(text)) for text in texts], dtype=np.float64)
    codes = np.unique([language(text) or "none" for text in texts], return_inverse=True)[1]
    apart, told = _wording(rows, labels)
    longer = (mean_ranks(sizes) @ (1 - labels.astype(np.float64)) - m * (m + 1) / 2) / (m * n)
    effects = [
        ("wording", told, "live told from set"),
        ("length", longer, "live longer than set"),
        ("language", _moved(codes, labels), "in another language"),
        ("vocabulary", _unknown(texts, labels), "live with a new word"),
        ("kinds", _moved(kind, labels), "of another kind"),
    ]
    tested = {"wording": apart, "length": np.abs(longer - 0.5)}  # of the others the effect itself
    extremes = [tested.get(name, effect) for name, effect, _ in effects]
    ps = [float((1 + np.sum(each[1:] >= each[0] - 1e-9)) / (PERMUTATIONS + 1)) for each in extremes]
    found = []
    for (name, effect, brief), p, corrected in zip(effects, ps, holm(ps), strict=True):
        null = effect[1:]
        limit = float(np.quantile(null, 0.975 if name == "length" else 0.95))  # a length may differ either way
        seen_from = limit + NormalDist().inv_cdf(POWER) * float(null.std())
        found.append(Shift(name, float(effect[0]), float(null.mean()), seen_from, p, corrected, brief))
    return found


def _wording(rows: Array, labels: Array) -> tuple[Array, Array]:
    """The squared maximum mean discrepancy, and how often the witness function tells two queries apart (its AUC).

    Reference: A. Gretton et al.: A kernel two-sample test, JMLR 13 (2012). The kernel is Gaussian, its width the
    median distance; each query is left out where its own place is judged.
    """
    squared = np.maximum(2 - 2 * rows @ rows.T, 0).astype(np.float32)
    off = squared[np.triu_indices(len(rows), 1)]
    width = float(np.median(off[off > 1e-6])) if (off > 1e-6).any() else 1.0
    kernel = np.exp(-squared / width)
    np.fill_diagonal(kernel, 0)
    n = float(labels[:, 0].sum())
    m = len(rows) - n
    to_set = kernel @ labels
    to_live = kernel.sum(axis=1, keepdims=True) - to_set
    within_set = (to_set * labels).sum(axis=0) / (n * (n - 1))
    within_live = (to_live * (1 - labels)).sum(axis=0) / (m * (m - 1))
    across = (to_live * labels).sum(axis=0) / (n * m)
    discrepancy = within_set + within_live - 2 * across
    witness = np.where(labels > 0, to_live / m - to_set / (n - 1), to_live / (m - 1) - to_set / n)
    above = [
        (mean_ranks(values)[label == 0].sum() - m * (m + 1) / 2) / (m * n)
        for values, label in zip(witness.T, labels.T, strict=True)
    ]
    return discrepancy, np.array(above)


def _moved(group: Array, labels: Array) -> Array:
    """Half the summed differences of the groups' shares: the share that would have to move."""
    member = (group[:, None] == np.arange(int(group.max()) + 1)).astype(np.float32)
    own, live = member.T @ labels, member.T @ (1 - labels)
    return np.asarray(np.abs(own / own.sum(axis=0) - live / live.sum(axis=0)).sum(axis=0) / 2)


def content_words(text: str) -> set[str]:
    """The stems of content words."""
    return {stem(w.form) for w in words(text) if w.form not in STOP_WORDS and not w.form[0].isdigit()}


def _unknown(texts: Sequence[str], labels: Array) -> Array:
    """The share of live queries with a word of content that no query of the set has."""
    found = [content_words(text) for text in texts]
    number = {word: at for at, word in enumerate(sorted(set().union(*found)))}
    row = np.repeat(np.arange(len(texts)), [len(each) for each in found])
    word = np.array([number[w] for each in found for w in each], dtype=np.int64)
    shares = []
    for label in labels.T:
        known = np.bincount(word, weights=label[row], minlength=len(number)) > 0
        odd = np.bincount(row, weights=~known[word], minlength=len(texts)) > 0
        shares.append(float(odd[label == 0].mean()))
    return np.array(shares)
