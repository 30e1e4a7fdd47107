"""Texts as vectors without a model, and clusters of them."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rankproof.core.hits import Array
from rankproof.errors import DataError, UsageError, blame, shorten
from rankproof.text.languages import STOP_WORDS

WIDTH = 2048
"""Columns that n-grams are hashed to; two of a query's 60 or so seldom fall together."""
SIZES = (2, 3, 4)
"""Characters of an n-gram: pairs for writings without spaces, more for the others."""
AT_ONCE = 2048
"""Texts that are taken apart at a time."""
LONGEST = 400
"""The number of characters of a query that are used."""
RANK = 50
"""Dimensions in which queries are clustered."""
TURNS, STARTS = 30, 4
"""Rounds of k-means, and how often it begins anew; the tightest outcome counts."""


def normal_form(text: str) -> str:
    """A text without case, compatibility forms and punctuation, with single blanks.

    >>> normal_form("  Where’s my  ORDER?")
    'where s my order'
    """
    if text.isascii():
        return " ".join(text[:LONGEST].lower().translate(_ASCII_MARKS).split())
    folded = unicodedata.normalize("NFKC", text[:LONGEST]).casefold()
    return " ".join("".join(c if c.isalnum() or unicodedata.category(c)[0] == "M" else " " for c in folded).split())


_ASCII_MARKS = {point: " " for point in range(128) if not chr(point).isalnum()}


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
    found: Array = rows / np.where(length > 0, length, 1)
    return found


def embed_texts(texts: Sequence[str], embed: Callable[[list[str]], Any]) -> Array:
    """The rows that a function of the caller's gives, at length 1."""
    if not callable(embed):
        raise UsageError(
            f"embed: got {shorten(embed)}, expected a function of a list of texts. Next: give one, like model.encode."
        )
    try:
        given = embed(list(texts))
    except Exception as error:
        blame(error, embed, f"{len(texts):,} texts, the first {shorten(texts[0])}" if texts else "no text")
        raise
    advice = "return one vector for each text, in their order, all as long as each other."
    try:
        rows = np.asarray(given)
        rows = rows if rows.dtype.kind == "c" else rows.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"embed: got {shorten(given)}, expected {len(texts):,} rows of numbers: {error}. Next: {advice}"
        ) from error
    if rows.ndim != 2 or len(rows) != len(texts) or rows.dtype.kind == "c":
        raise DataError(
            f"embed: got an array of {rows.dtype} of shape {rows.shape}, expected {len(texts):,} rows of numbers. "
            f"Next: {advice}"
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
    best: tuple[float, Array, Array] | None = None
    for _ in range(STARTS):
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
        tight = float(closeness.max(axis=1).sum())
        if best is None or tight > best[0]:
            best = tight, np.argmax(closeness, axis=1), middles
    if best is None:
        raise DataError("kinds: there are no texts. Next: give some.")
    used, group = np.unique(best[1], return_inverse=True)
    return group, best[2][used]


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
