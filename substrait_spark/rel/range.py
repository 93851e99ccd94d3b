"""Range: its numbers as rows, or, where they are many, cross joins of small tables whose rows add up to the numbers.

The count of the numbers is written in some radix. For each of its digits there is a cross join of small tables, one for each
digit further down; the union of these has all the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ..algebra.expression import Expression, FieldReference
from ..algebra.relation import Cross, Project, Relation, Set, VirtualTable
from ..algebra.types import Type
from ..catalyst import tree
from ..expr.builder import ExpressionBuilder
from ..expr.scope import Scope
from .builder import RelationBuilder
from .columns import local
from .local import too_many
from .output import Output

RADIX = 100
"""How many rows a small table has."""

GREATEST = 2**63 - 1


def emit(r: RelationBuilder, node: tree.Plan) -> Output:
    """Range of i64 numbers."""
    numbers = range(node["start"], node["end"], node["step"])
    schema = local(r, node["output"])
    limit = r.context.settings.inline_limit
    count = len_of(numbers)
    if count <= limit:
        return schema.output(r, _table(r, numbers, schema.names[0], schema.types[0]))
    radix = next((b for b in range(min(RADIX, limit), 1, -1) if _fits(numbers, count, b)), None)
    if radix is None:
        raise too_many(limit, str(count))
    branches = [
        _sums(r, tables, schema.names[0], schema.types[0])
        for tables in _branches(numbers, _digits(count, radix), radix)
    ]
    return schema.output(r, branches[0] if len(branches) == 1 else Set(branches, "UNION_ALL"))


def len_of(numbers: range) -> int:
    """The length of a range of any size; `len` stops at 2^63."""
    return max(0, -(-(numbers.stop - numbers.start) // numbers.step))


def _digits(count: int, radix: int) -> list[int]:
    """The digits of a number, the lowest first."""
    digits = []
    while count:
        count, digit = divmod(count, radix)
        digits.append(digit)
    return digits


def _fits(numbers: range, count: int, radix: int) -> bool:
    """Whether all that is added to the first numbers is an i64 itself."""
    greatest: int = abs(numbers.step) * radix ** (len(_digits(count, radix)) - 1)
    return greatest <= GREATEST


def _branches(numbers: range, digits: Sequence[int], radix: int) -> list[list[range]]:
    """The tables whose sums are the numbers below each digit: the first has numbers, the others distances."""
    branches, first = [], numbers.start
    for position in reversed(range(len(digits))):
        step = numbers.step * radix**position
        if digits[position]:
            below = [numbers.step * radix**n for n in reversed(range(position))]
            after = first + digits[position] * step
            branches.append([range(first, after, step), *[range(0, radix * size, size) for size in below]])
            first = after
    return branches


def _sums(r: RelationBuilder, tables: Sequence[range], name: str, type: Type) -> Relation:
    """The sums of one row of each table, for all choices of rows."""
    input: Relation = reduce(Cross, [_table(r, table, name, type) for table in tables])
    if len(tables) == 1:
        return input
    e = r.expressions(Scope((), input.types))
    columns: list[Expression] = [FieldReference(n, type) for n in range(len(tables))]
    total = reduce(lambda left, right: _add(e, left, right), columns)
    return Project(input, [total]).select([len(tables)])


def _add(e: ExpressionBuilder, left: Expression, right: Expression) -> Expression:
    """The sum of two numbers, which never overflows here."""
    return e.call("arithmetic:add", left, right, overflow="SILENT")


def _table(r: RelationBuilder, numbers: range, name: str, type: Type) -> Relation:
    e = r.expressions(Scope((), ()))
    return VirtualTable([(e.literal(n, type),) for n in numbers], [name], [type])


HANDLERS = {"Range": emit}
