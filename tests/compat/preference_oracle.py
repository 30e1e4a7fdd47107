"""The preference measures a second time, slowly: every pair of documents looked at one by one.

A judge here is (pairs, levels, total): the pairs (a, b) of documents of which a is preferred, the level of
each document judged, and whether all levels come from one order. Documents are numbered by rank; those from
`retrieved` on were not retrieved.
"""

from __future__ import annotations

from itertools import product


def judges_of(rows, ranking):
    """The judges, and how many judged documents were retrieved."""
    judged = {row.document for row in rows}
    found = [document for document in ranking if document in judged]
    number = {document: i for i, document in enumerate(found + sorted(judged - set(found)))}
    by_judge = {}
    for row in rows:
        parts = by_judge.setdefault(row.judge, {})
        parts.setdefault(row.part, {})[number[row.document]] = row.level
    return [judge_of(list(parts.values())) for parts in by_judge.values()], len(found)


def judge_of(parts):
    pairs = {(a, b) for levels in parts for a, b in product(levels, levels) if levels[a] > levels[b]}
    if len(parts) > 1:
        pairs = with_consequences(pairs)
    return pairs, {doc: level for levels in parts for doc, level in levels.items()}, len(parts) == 1


def with_consequences(pairs):
    while more := {(a, d) for (a, b), (c, d) in product(pairs, pairs) if b == c} - pairs:
        pairs = pairs | more
    return pairs


def oracle(name, judges, retrieved):
    if name == "prefs_num_prefs_poss":
        return sum(len(pairs) for pairs, _, _ in judges)
    scope = name[-3:] if name.endswith(("_ret", "_imp")) else "all"
    counts = [(fulfilled(pairs, retrieved, scope), possible(pairs, retrieved, scope)) for pairs, _, _ in judges]
    if name.startswith("prefs_num"):
        return sum(count for count, _ in counts)
    if name.startswith("prefs_simp"):
        return over(sum(count for count, _ in counts), sum(count for _, count in counts))
    if "Rnonrel" in name:
        return mean_or_nothing([balanced(judge, retrieved, scope) for judge in judges])
    if name.startswith("prefs_avgjg"):
        return sum(over(*count) for count in counts) / len(counts)
    return pairwise(judges, retrieved, scope)


def over(a, b):
    return a / b if b else 0.0


def fulfilled(pairs, retrieved, scope):
    return sum(a < b and a < retrieved and (b < retrieved or scope != "ret") for a, b in pairs)


def possible(pairs, retrieved, scope):
    seen = {"all": lambda n: True, "imp": lambda n: n >= 1, "ret": lambda n: n == 2}[scope]
    return sum(seen((a < retrieved) + (b < retrieved)) for a, b in pairs)


def pairwise(judges, retrieved, scope):
    shares, count = 0.0, 0
    for a, b in {tuple(sorted(pair)) for pairs, _, _ in judges for pair in pairs}:
        if possible([(a, b)], retrieved, scope):
            content = sum((a, b) in pairs for pairs, _, _ in judges)
            other = sum((b, a) in pairs for pairs, _, _ in judges)
            shares += content / (content + other) if a < retrieved else 0
            count += 1
    return over(shares, count)


def balanced(judge, retrieved, scope):
    pairs, levels, total = judge
    limit = retrieved if scope == "ret" else max(levels) + 1
    relevant = [doc for doc, level in levels.items() if level > 0]
    good = [doc for doc in relevant if doc < limit]
    wrong = sorted(doc for doc, level in levels.items() if level == 0 and doc < limit)
    if len(good) >= len(wrong):
        lacking = len(good) - len(wrong)
        found = sum(doc < retrieved for doc in relevant)
        return (
            fulfilled(pairs, retrieved, scope) + found * lacking,
            possible(pairs, retrieved, scope) + len(relevant) * lacking,
        )
    if total:
        kept = {(a, b) for a, b in pairs if levels[b] > 0} | set(product(levels, wrong[: len(good)]))
    else:
        dropped = wrong[len(relevant) :]
        kept = {(a, b) for a, b in pairs if a not in dropped and b not in dropped}
    return fulfilled(kept, retrieved, scope), possible(kept, retrieved, scope)


def mean_or_nothing(counts):
    return sum(a / b for a, b in counts) / len(counts) if all(b for _, b in counts) else 0.0
