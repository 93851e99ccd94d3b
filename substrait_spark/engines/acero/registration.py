"""Functions of Python in Acero: each is registered with PyArrow once for every signature that a plan calls it with.

PyArrow's registry is the process's, keeps what it has, and takes one signature for a name. A plan reaches what it has by the URN of
Arrow's simple extension functions, under which no declaration is needed.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import count
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from substrait.type_pb2 import Type as TypeMessage

from ...algebra import types
from ...algebra.expression import Expression, ScalarFunction
from ...algebra.relation import Relation
from ...algebra.traversal import inputs_first, rewritten
from ...algebra.types import Type
from ...errors import InvalidPlanError
from ...extensions.registry import Declaration
from ..arrow.function import Signature
from ..arrow.schema import arrow_type
from .functions import FUNCTIONS

_fresh = count(1)

URN = "urn:arrow:substrait_simple_extension_function"


def registered(root: Relation) -> Relation:
    """The relation with its calls of Python's functions under the names by which PyArrow has them."""
    done: dict[Relation, Relation] = {}
    for relation in inputs_first(root):
        inputs = tuple([done[input] for input in relation.inputs])
        expressions = [rewritten(each, _under_own_name) for each in relation.expressions()]
        done[relation] = relation.over(inputs, expressions)
    return done[root]


def _under_own_name(expression: Expression) -> Expression | None:
    if not isinstance(expression, ScalarFunction):
        return None
    declaration = expression.declaration
    if (declaration.urn, declaration.name) not in FUNCTIONS:
        return None
    arguments = [rewritten(each, _under_own_name) for each in expression.children()]
    name = _name(declaration, tuple(each.type for each in arguments), expression.options)
    named = replace(declaration, urn=URN, name=name)
    return ScalarFunction(named, tuple(arguments), (), expression.raising)


@cache
def _name(declaration: Declaration, arguments: tuple[Type, ...], options: tuple[tuple[str, str], ...]) -> str:
    """The name of a function for one signature, registered."""
    signature = Signature(
        declaration.name,
        arguments,
        declaration.result,
        tuple(map(_arrow_of, arguments)),
        _arrow_of(declaration.result),
        options,
    )
    compute = FUNCTIONS[declaration.urn, declaration.name].compute(signature)

    def call(context: Any, *values: pa.Array | pa.Scalar) -> pa.Array:
        rows = context.batch_length
        return compute([pa.repeat(each, rows) if isinstance(each, pa.Scalar) else each for each in values], rows)

    name = f"substrait_spark.{declaration.name}.{next(_fresh)}"
    inputs = {f"x{n}": kind for n, kind in enumerate(signature.arrow_arguments)}
    documentation = {"summary": f"{declaration.name} as Spark has it", "description": declaration.urn}
    pc.register_scalar_function(call, name, documentation, inputs, signature.arrow_result)
    return name


def _arrow_of(type: Type) -> pa.DataType:
    if types.holds(type, ("struct",)):
        raise InvalidPlanError(f"Acero calls no function of Python with {type}.")
    message = TypeMessage()
    types.write(type, message)
    return arrow_type(message, iter(()))
