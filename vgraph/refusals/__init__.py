"""The catalogue of what the language refuses: one class per refusal, with the reason and the way out.

`syntax` has the Python constructs that are left out, `names` names that mean nothing, `types` values of the wrong type,
`calls` calls and returns, `writes` writes of operators, `driver` algorithms and applies.
"""

from __future__ import annotations

from vgraph.refusals.base import Refusal

__all__ = ["Refusal"]
