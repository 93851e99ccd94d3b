"""xxhash64, which DataFusion has for one seed and some types, and hash, which it has not."""

from __future__ import annotations

from ....algebra.expression import Expression, Literal, ScalarFunction
from ....dialects.rewrite import rewrites
from ....errors import NotInDialect
from ....lowering.builder import LoweringBuilder

SEED = 42
"""DataFusion's hash has this seed, as all of Spark's that SQL can ask for."""

HASHED = frozenset(
    "boolean i8 i16 i32 i64 fp32 fp64 string binary date precision_timestamp precision_timestamp_tz decimal".split()
)
"""Types of which the hashes are the same."""


def xxhash64(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    seed, *values = call.children()
    if not isinstance(seed, Literal) or seed.value != SEED:
        raise NotInDialect(f"the dialect {e.dialect.name} has no xxhash64 with this seed")
    return hashed(e, *values)


def hashed(e: LoweringBuilder, *values: Expression) -> Expression:
    """Spark's xxhash64 with the default seed."""
    for value in values:
        kind = value.type.kind
        if kind not in HASHED or (kind == "decimal" and value.type.parameters[0] > 18):
            raise NotInDialect(f"the dialect {e.dialect.name} has no xxhash64 of {value.type} that is Spark's")
    return e.call("datafusion:xxhash64", *values)


def murmur3(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """hash: its words of text are mixed one after the other, for which DataFusion has no loop."""
    raise NotInDialect(
        f"the dialect {e.dialect.name} has no function {call.declaration.compound}, Spark's Murmur3",
        "Use xxhash64, which it has, where any hash will do, or save the column in Spark.",
    )


REWRITES = rewrites({"spark:hash": murmur3, "spark:xxhash64": xxhash64})
