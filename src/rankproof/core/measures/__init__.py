"""Every measure of rankproof, by family; importing this package fills the registry."""

# In the order in which measures are listed, which is not that of the alphabet.
from rankproof.core.measures import sets  # noqa: I001  (its measures come first)
from rankproof.core.measures import ranked
from rankproof.core.measures import graded
from rankproof.core.measures import gains
from rankproof.core.measures import interpolated
from rankproof.core.measures import incomplete
from rankproof.core.measures import users
from rankproof.core.measures import cwl
from rankproof.core.measures import compatibility
from rankproof.core.measures import aspects
from rankproof.core.measures import novelty
from rankproof.core.measures import counts
from rankproof.core.measures import census
from rankproof.core.measures import pairs
from rankproof.core.measures import preferences
from rankproof.core.measures import spans

FAMILIES = {
    "Sets": (sets,),
    "Ranks": (ranked, interpolated),
    "Grades": (graded, gains),
    "Incomplete judgments": (incomplete,),
    "Readers": (users, cwl, compatibility),
    "Aspects": (aspects, novelty),
    "Counts": (counts, census),
    "Two rankings": (pairs,),
    "Preferences": (preferences,),
    "Spans of text": (spans,),
}
"""The modules that declare measures, by what they are about, in the order of the reference page."""
