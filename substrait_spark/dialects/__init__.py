"""What engines support: the dialect files and the questions that the producer asks of them."""

from .dialect import Abilities, Defect, Dialect
from .file import load

__all__ = ["Abilities", "Defect", "Dialect", "load"]
