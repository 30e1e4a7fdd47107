"""From when on something is said, or said louder: every threshold of the audit with its reason."""

from __future__ import annotations

EXAMPLES = 5
"""Examples shown with a finding: enough to see a pattern, few enough to read."""

TIES_MATTER = 0.005
"""A mean that other orders of equal scores move by this much changes in the second decimal."""

UNJUDGED_SAID = 0.1
"""One unjudged document in the top 10 can move P@10 of a query by .1."""

UNJUDGED_WARNED = 0.5
"""With half of what is shown unjudged, the number says more about the judgments than about the ranking."""

CEILING_SAID = 0.995
"""A ceiling that is shown as 1.00 needs no words."""

CEILING_WARNED = 0.5
"""Below half, even a perfect ranking looks poor on a scale to 1."""

DEEP = 50
"""A cut-off this deep asks how much a retriever finds at all, which shorter rankings cannot show."""

NEAR_EMPTY = 0.1
"""A ranking with less than a tenth of the usual number of documents was likely cut off or filtered."""

SELF_FOUND = 0.1
"""Numbered queries and documents share ids by accident now and then, not in a tenth of the queries."""

ENOUGH_SHARED = 0.1
"""Numbers of two collections meet by accident now and then, not in a tenth of the ids."""

NEARLY_NONE = 0.05
"""With no more than one in twenty relevant documents in a corpus, it is another corpus, or spelt otherwise."""

GRADES = 12
"""No grading scale in use has more steps; more different grades are scores."""

SCALE = range(-2, 6)
"""The grades that judgments use; a ranking with no other scores may be judgments."""

SCALE_ROWS = 20
"""With fewer documents than this, few different scores mean nothing."""

LOOKED_AT = 5_000
"""Ranked documents in which ids spelt otherwise are looked for: a rule that matters is among so many."""

READ_WHOLE = 2_000_000
"""Up to so many ranked documents all are looked at, where a part of them showed that ids are spelt otherwise."""
