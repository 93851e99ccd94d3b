"""Hash functions and checksums."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.types import Type
from ..catalyst import tree
from .table import Plain, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule


def seeded(name: str, seed_type: Type) -> Rule:
    """Murmur3Hash, XxHash64: of any number of values, from a seed that SQL doesn't let one choose."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        return e.call(f"spark:{name}", e.literal(node["seed"], seed_type), *e.emit_all(node["children"]))

    return emit


SCALAR: dict[str, Plain | Rule] = {
    "Crc32": plain("spark:crc32"),
    "Md5": plain("spark:md5"),
    "Murmur3Hash": seeded("hash", types.I32),
    "Sha1": plain("spark:sha1"),
    "Sha2": plain("spark:sha2"),
    "XxHash64": seeded("xxhash64", types.I64),
}
