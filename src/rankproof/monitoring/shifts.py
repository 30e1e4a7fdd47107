"""Two-sample tests between the queries of a set and live ones, by permutation, with effect sizes and power."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from rankproof.core.hits import Array
from rankproof.document.model import Displayable
from rankproof.stats.corrections import holm
from rankproof.stats.significance import mean_ranks
from rankproof.text.languages import STOP_WORDS, language
from rankproof.text.words import stem, words

PERMUTATIONS = 999
AT_MOST = 1000
"""The number of queries of each side that are compared."""
POWER = 0.8
TESTS = ("kernel", "classifier")
"""The test of wording."""
FOLDS, ROUNDS, RIDGE = 5, 12, 1.0
"""Parts of the cross-validation of the classifier, its steps, and the weight of its penalty."""


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


def shifts(
    own: Sequence[str], live: Sequence[str], rows: Array, kind: Array, rng: np.random.Generator, test: str = TESTS[0]
) -> list[Shift]:
    """Each test; `rows` and `kind` are of the set's queries first, then of the live ones; `test` is that of wording.

    Whatever is learnt from the texts is learnt from both parts together, so under the null hypothesis each way of
    calling some of them the set is as likely as the one we have: the tests are exact for independent queries.
    """
    n, m = len(own), len(live)
    labels = np.zeros((n + m, PERMUTATIONS + 1), dtype=np.float32)
    labels[:n, 0] = 1
    for column in range(1, PERMUTATIONS + 1):
        labels[rng.permutation(n + m)[:n], column] = 1
    texts = [*own, *live]
    sizes = np.array([len(words(text)) for text in texts], dtype=np.float64)
    codes = np.unique([language(text) or "none" for text in texts], return_inverse=True)[1]
    if test == "classifier":
        told = _classifier(rows, labels, rng)
        apart, brief = told, "told by a classifier"
    else:
        apart, told = _wording(rows, labels)
        brief = "live told from set"
    of_live = 1 - labels.astype(np.float64)
    longer = (mean_ranks(sizes) @ of_live - m * (m + 1) / 2) / (m * n)
    language_moved, kind_moved = _moved(codes, labels), _moved(kind, labels)
    unknown = _unknown(texts, labels)
    tests = [
        ("wording", apart, told, brief),
        ("length", np.abs(longer - 0.5), longer, "live longer than set"),
        ("language", language_moved, language_moved, "in another language"),
        ("vocabulary", unknown, unknown, "live with a new word"),
        ("kinds", kind_moved, kind_moved, "of another kind"),
    ]
    ps = [float((1 + np.sum(extreme[1:] >= extreme[0] - 1e-9)) / (PERMUTATIONS + 1)) for _, extreme, _, _ in tests]
    return [
        Shift(name, float(effect[0]), *_scale(effect[1:], name == "length"), p, corrected, brief)
        for (name, _, effect, brief), p, corrected in zip(tests, ps, holm(ps), strict=True)
    ]


def _scale(null: Array, two_sided: bool) -> tuple[float, float]:
    """The effect without a shift, and the one that is found with the power wanted."""
    middle, spread = float(null.mean()), float(null.std())
    limit = float(np.quantile(null, 0.975 if two_sided else 0.95))
    return middle, limit + NormalDist().inv_cdf(POWER) * spread


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
    return discrepancy, _auc(witness, labels)


def _classifier(rows: Array, labels: Array, rng: np.random.Generator) -> Array:
    """How often a classifier tells a live query from one of the set that it was not trained on (its AUC).

    Logistic regression with a ridge, cross-validated, and trained anew for each permutation: all of them at once, by
    steps against a bound of the curvature that is the same for all (D. Böhning, 1992). Reference: D. Lopez-Paz and
    M. Oquab: Revisiting classifier two-sample tests, ICLR 2017.
    """
    features = np.column_stack([rows / max(float(rows.std()), 1e-9), np.ones(len(rows))]).astype(np.float32)
    fold = rng.permutation(len(rows)) % FOLDS
    scores = np.zeros(labels.shape, dtype=np.float32)
    penalty = np.full(features.shape[1], RIDGE, dtype=np.float32)
    penalty[-1] = 1e-3
    for part in range(FOLDS):
        train, live = features[fold != part], 1 - labels[fold != part]
        curvature = np.linalg.inv(train.T @ train / 4 + np.diag(penalty))
        weights = np.zeros((features.shape[1], labels.shape[1]), dtype=np.float32)
        for _ in range(ROUNDS):
            chance = 1 / (1 + np.exp(-(train @ weights)))
            weights += curvature @ (train.T @ (live - chance) - penalty[:, None] * weights)
        found = features[fold == part] @ weights
        scores[fold == part] = found - found.mean(axis=0)
    return _auc(scores, labels)


def _auc(values: Array, labels: Array) -> Array:
    """How often a value of the live part is above one of the set's, column by column; ties count half."""
    found = []
    for own, label in zip(values.T, labels.T, strict=True):
        m = len(label) - label.sum()
        found.append(float((mean_ranks(own)[label == 0].sum() - m * (m + 1) / 2) / (m * label.sum())))
    return np.array(found)


def _moved(group: Array, labels: Array) -> Array:
    """Half the summed differences of the groups' shares: the share that would have to move."""
    member = (group[:, None] == np.arange(int(group.max()) + 1)).astype(np.float32)
    own, live = member.T @ labels, member.T @ (1 - labels)
    found: Array = np.abs(own / own.sum(axis=0) - live / live.sum(axis=0)).sum(axis=0) / 2
    return found


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
