"""Functions that apply lambdas. DataFusion's lambdas take one parameter, and none of a type that holds a struct.

Any other lambda becomes one of the position of an element: its parameters are what is there in the lists, or the position.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce

from ....algebra import types
from ....algebra.expression import Expression, FieldReference, Lambda, Literal, ScalarFunction
from ....algebra.traversal import moved_inwards
from ....algebra.types import Type
from ....dialects.rewrite import Sees, rewrites
from ....errors import NotInDialect
from ....lowering.builder import LoweringBuilder
from ....lowering.expression import ExpressionLowering
from ..defects.struct_names import element as element_of_lists
from ..defects.struct_names import has_names, own_names
from ..defects.wanted_names import WantedNames
from ..structs import bare, element, guarded, named_struct, size
from .collection import positions
from .map_ import made_of

AtPosition = Callable[[int], Expression]
"""What a parameter is in a lambda of a position, or so many lambdas further in."""

# ---- lambdas of positions


def of_position(lowering: ExpressionLowering, function: Lambda, parameters: Sequence[AtPosition]) -> Lambda:
    """A lambda as one of a position."""
    return Lambda((types.I64,), lowering.body(function, lambda ordinal, steps: parameters[ordinal](steps)))


def this_position(steps: int) -> Expression:
    return FieldReference(0, types.I64, parameter=steps)


def element_at(lowering: ExpressionLowering, list: Expression) -> AtPosition:
    """The element at the position: of a list outside of the lambda."""
    e = lowering.e
    outside = list if lowering.in_lambda else e.share(list)
    return lambda steps: element(e, moved_inwards(outside, 1 + steps), this_position(steps))


def index(lowering: ExpressionLowering) -> AtPosition:
    """The position counted from 0."""
    e = lowering.e
    return lambda steps: e.cast(e.call("datafusion:subtract", this_position(steps), e.i64(1)), types.I32)


# ---- lambdas of elements


def _takes(lowering: ExpressionLowering, list: Expression, function: Lambda) -> bool:
    """Whether DataFusion has a lambda as it is."""
    return len(function.parameters) == 1 and not has_names(list.type.parameters[0])


def _of_element(lowering: ExpressionLowering, list: Expression, function: Lambda) -> Lambda:
    kind: Type = list.type.parameters[0]
    return Lambda((kind,), lowering.body(function, lambda ordinal, steps: FieldReference(0, kind, parameter=steps)))


def _arguments(lowering: ExpressionLowering, call: ScalarFunction) -> tuple[Expression, Lambda]:
    """The list, lowered, and the lambda of its elements."""
    list, function = call.children()
    return lowering.lower(list), _lambda(function)


def _lambda(argument: Expression) -> Lambda:
    if not isinstance(argument, Lambda):
        raise NotInDialect("the function that is applied is no lambda")
    return argument


def _mapped(e: LoweringBuilder, list: Expression, function: Lambda) -> Expression:
    return e.call("datafusion:array_transform", list, function)


def _all_positions(e: LoweringBuilder, list: Expression) -> Expression:
    return positions(e, size(e, list))


def _by_position(lowering: ExpressionLowering, list: Expression, function: Lambda) -> Lambda:
    """The function of an element, or of one and its index, as one of the element's position."""
    return of_position(lowering, function, [element_at(lowering, list), index(lowering)])


def transform(lowering: ExpressionLowering, call: ScalarFunction) -> Expression:
    """What a function gives for each element, or for each with its index from 0."""
    e = lowering.e
    list, function = _arguments(lowering, call)
    if _takes(lowering, list, function):
        return _mapped(e, list, _of_element(lowering, list, function))
    return _mapped(e, _all_positions(e, list), _by_position(lowering, list, function))


def filter_(lowering: ExpressionLowering, call: ScalarFunction) -> Expression:
    """The elements that fulfil a predicate, of them or of them and their index from 0."""
    e = lowering.e
    list, function = _arguments(lowering, call)
    if _takes(lowering, list, function):
        return e.call("datafusion:array_filter", list, _of_element(lowering, list, function))
    at = element_at(lowering, list)
    kept = e.call("datafusion:array_filter", _all_positions(e, list), _by_position(lowering, list, function))
    return _mapped(e, kept, Lambda((types.I64,), at(0)))


def _is_parameter(value: Expression, ordinal: int) -> bool:
    """Whether a value in a lambda is a parameter of it, and no part of one."""
    plain = isinstance(value, FieldReference) and value.parameter == 0 and not value.path
    return plain and value.ordinal == ordinal  # type: ignore[attr-defined]


def any_match(lowering: ExpressionLowering, call: ScalarFunction) -> Expression:
    """Whether some element fulfils a predicate."""
    return lowering.e.call("list:any_match", *_tested(lowering, call))


def all_match(lowering: ExpressionLowering, call: ScalarFunction) -> Expression:
    """Whether all elements fulfil a predicate: none fulfils its opposite."""
    e = lowering.e
    list, test = _tested(lowering, call)
    return e.not_(e.call("list:any_match", list, Lambda(test.parameters, e.not_(test.body))))


def _tested(lowering: ExpressionLowering, call: ScalarFunction) -> tuple[Expression, Lambda]:
    """A list and a predicate of its elements, or their positions and a predicate of these."""
    e = lowering.e
    list, function = _arguments(lowering, call)
    if _takes(lowering, list, function):
        tested, test = list, _of_element(lowering, list, function)
    else:
        tested, test = _all_positions(e, list), _by_position(lowering, list, function)
    if test.raises and e.has_defect("eager_connectives"):
        raise NotInDialect(f"the dialect {e.dialect.name} tests all elements, and some test may raise")
    return tested, test


# ---- sums


EXACT = {"i32": 2.0**31 - 1, "i64": 2.0**53 - 1}
"""Up to which sum of the absolute values no sum of some of the values overflows, and a double holds each of them."""

STATE = 0
"""The parameters of the function that merges."""


def aggregate(lowering: ExpressionLowering, call: ScalarFunction) -> Expression:
    """The sum of a function of the elements, which is null where the function is for any element; then the finish.

    Sums are doubles, to which those of integers are kept; beyond, it raises where Spark may.
    """
    e = lowering.e
    list, start, *functions = call.children()
    merge, finish = map(_lambda, functions)
    term = _term(merge, start)
    if term is None:
        raise e.lacks(call)
    kind = start.type.kind
    if kind not in (*EXACT, "fp64"):
        raise NotInDialect(f"the dialect {e.dialect.name} adds up no elements as {kind}")
    values = e.share(_terms(lowering, lowering.lower(list), Lambda(merge.parameters, term)))
    total: Expression = e.coalesce(e.call("datafusion:array_sum", values), e.fp64(0.0))
    if kind in EXACT:
        number = values.type.parameters[0]
        size_of = e.call("arithmetic:abs", e.cast(FieldReference(0, number, parameter=0), types.FP64))
        most = e.share(e.call("datafusion:array_sum", _mapped(e, values, Lambda((number,), size_of))))
        state = types.of(kind, nullable=False)
        overflow = e.raises("[ARITHMETIC_OVERFLOW] a sum of elements", state, most)
        total = e.if_then(e.call("comparison:gt", most, e.fp64(EXACT[kind])), overflow, e.cast(total, state))
    complete = e.equal(size(e, e.call("datafusion:array_compact", values)), size(e, values))
    ended = e.share(e.if_then(complete, total, e.null(total.type)))
    result = lowering.body(finish, lambda ordinal, steps: moved_inwards(ended, steps), stays=False)
    return guarded(e, [values], lambda: result)


def _term(merge: Lambda, start: Expression) -> Expression | None:
    """What a merge adds up from 0 on; None where it does something else, or gives null for what overflows."""
    added = bare(merge.body)
    if (
        not isinstance(added, ScalarFunction)
        or added.declaration.name not in ("add", "spark_add")
        or not _is_zero(start)
    ):
        return None
    operands = list(map(bare, added.children()))
    terms = [operand for operand in operands if not _uses(operand, STATE)]
    if len(operands) != 2 or len(terms) != 1 or not any(_is_parameter(operand, STATE) for operand in operands):
        return None
    return terms[0]


def _is_zero(start: Expression) -> bool:
    return isinstance(start, Literal) and str(start.value) in ("0", "0.0")


def _uses(root: Expression, ordinal: int) -> bool:
    """Whether an expression in a lambda uses a parameter of it, in lambdas further in too."""
    stack = [(root, 0)]
    while stack:
        value, depth = stack.pop()
        if isinstance(value, FieldReference) and value.parameter == depth and value.ordinal == ordinal:
            return True
        further_in = depth + isinstance(value, Lambda)
        stack.extend((child, further_in) for child in value.children())
    return False


def _terms(lowering: ExpressionLowering, list: Expression, term: Lambda) -> Expression:
    e = lowering.e
    if not has_names(list.type.parameters[0]):
        return _mapped(e, list, _of_element(lowering, list, term))
    at = element_at(lowering, list)
    function = of_position(lowering, term, [at, at])
    return _mapped(e, _all_positions(e, list), function)


# ---- several lists


def zip_with(lowering: ExpressionLowering, call: ScalarFunction) -> Expression:
    """What a function gives for the elements at each position; the shorter list is filled up with nulls."""
    *lists, function = call.children()
    return _side_by_side(lowering, lists, partial(of_position, lowering, _lambda(function)))


def zipped(lowering: ExpressionLowering, call: ScalarFunction) -> Expression:
    """Structs of the elements at each position; shorter lists are filled up with nulls."""
    e = lowering.e
    names = e.lowering.memory(WantedNames).of(call)
    struct = element_of_lists(call.type)

    def function(parameters: Sequence[AtPosition]) -> Lambda:
        values = [parameter(0) for parameter in parameters]
        kind = types.of("struct", *[value.type for value in values], nullable=False)
        return Lambda((types.I64,), named_struct(e, kind, own_names(struct, names), values))

    return _side_by_side(lowering, call.children(), function)


def _side_by_side(
    lowering: ExpressionLowering,
    originals: Sequence[Expression],
    function: Callable[[Sequence[AtPosition]], Lambda],
) -> Expression:
    """What a function makes of the elements at each position of several lists, of which the shorter ones end in nulls."""
    e = lowering.e
    lists = lowering.lower_all(originals)
    values = [e.share(list) for list in lists]
    parameters = [element_at(lowering, list) for list in lists]

    def longer(left: Expression, right: Expression) -> Expression:
        return e.if_then(e.call("comparison:gte", left, right), left, right)

    longest = reduce(longer, [size(e, value) for value in values])
    return guarded(e, values, lambda: _mapped(e, positions(e, longest), function(parameters)))


# ---- maps


def transform_keys(lowering: ExpressionLowering, call: ScalarFunction) -> Expression:
    """Null keys and equal keys raise."""

    def composed(e: LoweringBuilder, map: Expression, keys: Expression, parameters: Sequence[AtPosition]) -> Expression:
        changed = _mapped(e, _all_positions(e, keys), of_position(lowering, _function(call), parameters))
        return made_of(e, call, changed, e.call("spark:map_values", map))

    return _of_map(lowering, call, composed)


def transform_values(lowering: ExpressionLowering, call: ScalarFunction) -> Expression:
    """The keys stay as they are."""

    def composed(e: LoweringBuilder, map: Expression, keys: Expression, parameters: Sequence[AtPosition]) -> Expression:
        values = _mapped(e, _all_positions(e, keys), of_position(lowering, _function(call), parameters))
        return made_of(e, call, keys, values)

    return _of_map(lowering, call, composed)


def map_filter(lowering: ExpressionLowering, call: ScalarFunction) -> Expression:
    """The entries that fulfil a predicate."""

    def composed(e: LoweringBuilder, map: Expression, keys: Expression, parameters: Sequence[AtPosition]) -> Expression:
        test = of_position(lowering, _function(call), parameters)
        kept = e.share(e.call("datafusion:array_filter", _all_positions(e, keys), test))
        left = [_mapped(e, kept, Lambda((types.I64,), parameter(0))) for parameter in parameters]
        return made_of(e, call, *left)

    return _of_map(lowering, call, composed)


def _function(call: ScalarFunction) -> Lambda:
    return _lambda(call.children()[1])


def _of_map(
    lowering: ExpressionLowering,
    call: ScalarFunction,
    composed: Callable[[LoweringBuilder, Expression, Expression, Sequence[AtPosition]], Expression],
) -> Expression:
    """What is made of a map, the list of its keys, and a key and its value."""
    e = lowering.e
    map = lowering.lower(call.children()[0])
    shared = e.share(map)
    parameters = [element_at(lowering, e.call(part, map)) for part in ("spark:map_keys", "spark:map_values")]
    keys = e.share(e.call("spark:map_keys", shared))
    return guarded(e, [shared], lambda: composed(e, map, keys, parameters))


REWRITES = rewrites(
    {
        "list:all_match": all_match,
        "list:any_match": any_match,
        "list:filter": filter_,
        "list:transform": transform,
        "spark:aggregate": aggregate,
        "spark:arrays_zip": zipped,
        "spark:spark_filter": filter_,
        "spark:map_filter": map_filter,
        "spark:spark_transform": transform,
        "spark:transform_keys": transform_keys,
        "spark:transform_values": transform_values,
        "spark:zip_with": zip_with,
    },
    sees=Sees.BOTH,
)
