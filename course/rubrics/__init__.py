"""Machinery: verifiers that are wrong on purpose, all with the scorer's signature.

``ablations``: the real spec less exactly one rule, one for each rule, so that each rule can be seen to matter.
``hackable``: verifiers as they are really written, each with its one gap and a completion that walks through it.
"""

from collections.abc import Callable
from typing import Any

Rubric = Callable[[dict[str, Any], str], dict[str, Any]]  # anything with the scorer's signature
