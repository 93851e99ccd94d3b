"""Hash functions and checksums."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.types import Type
from ..catalyst import tree
from ..errors import NotInDialect
from .table import Plain, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule

DEFAULT_SEED = 42


def seeded(name: str, seed_type: Type) -> Rule:
    """Murmur3Hash, XxHash64: of any number of values, from a seed that SQL doesn't let one choose."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        children = e.emit_all(node["children"])
        seed = e.literal(node["seed"], seed_type)

        def own() -> Expression:
            return e.call(f"spark:{name}", seed, *children)

        def engines() -> Expression:
            if node["seed"] != DEFAULT_SEED:
                raise NotInDialect(f"the dialect {e.dialect.name} has no {name} with this seed")
            return hashed(e, *children)

        return e.first(own, engines) if name == "xxhash64" else own()

    return emit


HASHED = frozenset(
    "boolean i8 i16 i32 i64 fp32 fp64 string binary date precision_timestamp precision_timestamp_tz decimal".split()
)


def hashed(e: ExpressionBuilder, *children: Expression) -> Expression:
    """Spark's xxhash64 with the default seed."""
    for child in children:
        kind = child.type.kind
        if kind not in HASHED or (kind == "decimal" and child.type.parameters[0] > 18):
            raise NotInDialect(f"the dialect {e.dialect.name} has no xxhash64 of {child.type} that is Spark's")
    return e.call("datafusion:xxhash64", *children)


SCALAR: dict[str, Plain | Rule] = {
    "Crc32": plain("spark:crc32"),
    "Md5": plain("spark:md5"),
    "Murmur3Hash": seeded("hash", types.I32),
    "Sha1": plain("spark:sha1"),
    "Sha2": plain("spark:sha2"),
    "XxHash64": seeded("xxhash64", types.I64),
}
