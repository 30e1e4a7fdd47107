"""Every measure of rankproof, by family; importing this package fills the registry, as far as most need it."""

from rankproof.core.measures import ndcg_and_err, rr_and_ap, sets  # noqa: F401  (the everyday ones)
from rankproof.core.names import REGISTRY

FAMILIES = {
    subject: tuple(f"{__name__}.{module}" for module in modules.split())
    for subject, modules in {
        "Sets": "sets",
        "Ranks": "rr_and_ap interpolated_precision",
        "Grades": "ndcg_and_err gains",
        "Incomplete judgments": "incomplete_judgments",
        "Readers": "users cwl",
        "Aspects": "aspects novelty",
        "Counts": "counts census",
        "Two rankings": "pairs",
        "Preferences": "preferences",
        "Spans of text": "spans",
    }.items()
}
"""The modules that declare measures, by subject, in the order in which measures are listed."""

REGISTRY.rest = [module for family in FAMILIES.values() for module in family]
