"""Derivations of measures that count: P, R, F, Success, R-precision, Judged."""

from __future__ import annotations

from rankproof.core.derivation.steps import (
    Case,
    Found,
    Step,
    Written,
    at_least,
    counted,
    cut_at,
    quotient,
    wanted,
)


def precision(c: Case, k: int | None, rel: float, denominator: str, scores: str = "any") -> Written:
    """Relevant documents shown by documents shown."""
    good = c.relevant(rel, k, scores)
    shown = _shown(c, k, denominator)
    return _share(_good(good, k, rel, scores), shown, good)


def recall(c: Case, k: int | None, rel: float, denominator: str, scores: str = "any") -> Written:
    """Relevant documents shown by relevant documents there are."""
    good = c.relevant(rel, k, scores)
    return _share(_good(good, k, rel, scores), _to_find(c, k, rel, denominator), good)


def f_measure(c: Case, k: int | None, rel: float, beta: float) -> Written:
    """Precision and recall, then their harmonic mean."""
    good, there_are = c.relevant(rel, k), wanted("wanted", c, rel)
    shown = _shown(c, k, "k")
    n = float(len(good))
    p = quotient("P", "precision P", n, shown.value or 0.0)
    r = quotient("R", "recall R", n, there_are.value or 0.0)
    a, b, square = p.value or 0.0, r.value or 0.0, beta**2
    top, bottom = (1 + square) * a * b, square * a + b
    formula = "2 P R / (P + R)" if beta == 1 else f"(1 + {square:g}) P R / ({square:g} P + R)"
    end = quotient("result", f"F = {formula}", top, bottom)
    return Written((_good(good, k, rel), shown, there_are, p, r, end), _evenly(good, end.value or 0.0))


def success(c: Case, k: int | None, rel: float) -> Written:
    """Whether anything relevant is shown."""
    good = c.relevant(rel, k)
    end = Step("result", "1 if there is one, else 0", value=float(bool(good)))
    return Written((_good(good, k, rel), end), {each.rank: 1.0 for each in good[:1]})


def r_precision(c: Case, rel: float, denominator: str) -> Written:
    """Precision at the number of relevant documents."""
    if denominator == "all":
        depth = wanted("denominator", c, rel)
    else:
        depth = counted("denominator", f"R, all that are {at_least(rel)} in the ranking", c.relevant(rel))
    r = int(depth.value or 0)
    good = [each for each in c.relevant(rel) if each.rank <= r]
    return _share(depth, _good(good, r, rel), good, turned=True)


def judged(c: Case, k: int | None, denominator: str, negative: str) -> Written:
    """Judged documents shown by documents shown."""
    seen = [each for each in c.found if (k is None or each.rank <= k) and not _left_out(each, negative)]
    found = counted("found", f"judged documents {cut_at(k)}", seen)
    return _share(found, _shown(c, k, denominator), seen)


def _left_out(each: Found, negative: str) -> bool:
    return negative == "unjudged" and each.grade < 0


def _good(good: list[Found], k: int | None, rel: float, scores: str = "any") -> Step:
    return counted("found", f"{at_least(rel, scores)} {cut_at(k)}", good)


def _shown(c: Case, k: int | None, denominator: str) -> Step:
    if k is None:
        return Step("denominator", "documents in the ranking", value=float(c.returned))
    if denominator == "returned":
        return Step(
            "denominator", "documents shown", (), f"min({k}, {c.returned} returned)", float(c.shown(k))
        )
    short = f", though only {c.returned} came back" if c.returned < k else ""
    return Step("denominator", f"the cut-off k{short}", value=float(k))


def _to_find(c: Case, k: int | None, rel: float, denominator: str) -> Step:
    if denominator == "returned":
        return counted("denominator", f"{at_least(rel)} in the whole ranking", c.relevant(rel))
    step = wanted("denominator", c, rel)
    if denominator == "all" or k is None:
        return step
    n = int(step.value or 0)
    return Step("denominator", step.says, step.terms, f"min({k}, {n})", float(min(k, n)))


def _share(first: Step, second: Step, good: list[Found], turned: bool = False) -> Written:
    a, b = (second, first) if turned else (first, second)
    bottom = b.value or 0.0
    end = quotient("result", "the one divided by the other", a.value or 0.0, bottom)
    return Written((first, second, end), {each.rank: 1 / bottom for each in good} if bottom else {})


def _evenly(good: list[Found], value: float) -> dict[int, float]:
    return {each.rank: value / len(good) for each in good}
