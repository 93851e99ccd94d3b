"""The ExtendedExpression message: a schema, and expressions or measures over it, each under the names of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from substrait.extended_expression_pb2 import ExtendedExpression

from .. import __version__
from ..algebra import types
from ..algebra.detachment import LEVELS_ABOVE, in_parts
from ..algebra.expression import AggregateFunction, Expression
from ..algebra.nondeterminism import drawn_twice
from ..algebra.relation import Aggregate, BaseSchema, Project
from ..algebra.types import Type
from ..errors import Unsupported
from ..plan.concessions import Use, note_uses
from ..plan.message import DEPTH_LIMIT, PRODUCER, SUBSTRAIT_VERSION, Declarations

_LEVELS = 5
"""What is above an expression, or a measure, in a plan of one relation: it is to fit there too."""


class Schema(NamedTuple):
    """The columns that expressions are over: their depth-first names, and their types."""

    names: Sequence[str]
    types: Sequence[Type]


class Referred(NamedTuple):
    """An expression or a measure, and the depth-first names of its result."""

    names: Sequence[str]
    value: Expression | AggregateFunction
    uses: Sequence[Use] = ()
    """Where concessions were used for it."""


def build(
    schema: Schema, referred: Sequence[Referred], detach: bool = False, uses: Sequence[Use] = ()
) -> ExtendedExpression:
    """The message. With `detach`, what nests too deep is stored apart. `uses` are of concessions that were used before.

    Raises `Unsupported` where it would draw the same random numbers at several places.
    """
    _require_drawn_once(schema, [each.value for each in referred])
    message = ExtendedExpression()
    version = message.version
    version.major_number, version.minor_number, version.patch_number = SUBSTRAIT_VERSION
    version.producer = f"{PRODUCER} {__version__}"
    declarations = Declarations(message)
    for names, whole, _ in referred:
        value = _in_parts(whole) if detach else whole
        reference = message.referred_expr.add()
        if isinstance(value, Expression):
            value.write(reference.expression, declarations)
        else:
            value.write(reference.measure, declarations)
        reference.output_names.extend(names)
    declarations.write_detached(message)
    message.base_schema.names.extend(schema.names)
    types.write_struct(schema.types, message.base_schema.struct)
    declarations.types()
    note_uses(message, [*uses, *(use for each in referred for use in each.uses)])
    return message


def _in_parts(value: Expression | AggregateFunction) -> Expression | AggregateFunction:
    """The same in as many nested messages as readers follow; parts of it are stored apart."""
    room = DEPTH_LIMIT - _LEVELS
    if isinstance(value, Expression):
        return in_parts(value, room)
    return value.with_expressions([in_parts(each, room - LEVELS_ABOVE) for each in value.expressions()])


def _require_drawn_once(schema: Schema, values: Sequence[Expression | AggregateFunction]) -> None:
    over = BaseSchema(schema.names, schema.types)
    scalars = [value for value in values if isinstance(value, Expression)]
    measures = [value for value in values if not isinstance(value, Expression)]
    for relation in (Project(over, scalars), Aggregate(over, (), measures)):
        if problem := drawn_twice(relation):
            raise problem


def require_room(value: Expression | AggregateFunction) -> None:
    """Refuse what nests too deep for protobuf readers."""
    depth = _LEVELS + value.height
    if depth > DEPTH_LIMIT:
        raise Unsupported(
            f"it nests {depth} messages deep, and Substrait readers stop at {DEPTH_LIMIT}",
            "Split the expression: compute a part of it first, in a column of its own.",
        )
