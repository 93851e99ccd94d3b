"""What engines support: the dialect files, the rewrites, and the questions that the producer asks of them."""

from .concessions import CONCESSIONS, Concession
from .dialect import Abilities, Defect, Dialect
from .file import load
from .rewrite import PLAN, Conversion, Rewrite, Sees

__all__ = [
    "CONCESSIONS",
    "PLAN",
    "Abilities",
    "Concession",
    "Conversion",
    "Defect",
    "Dialect",
    "Rewrite",
    "Sees",
    "load",
]
