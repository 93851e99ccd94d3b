"""Building what Acero takes and gets right.

Acero evaluates all of an expression for every row, also what a CASE does not choose. What may raise is therefore computed of
nulls where Spark doesn't compute it: every function that raises gives null for these.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra import types
from ...algebra.expression import Cast, Expression, IfThen, Literal, ScalarFunction, Shared
from ...algebra.relation import Relation
from ...algebra.traversal import rebuilt
from ...algebra.types import INTEGERS, Type
from ...errors import NotInDialect
from ...lowering.builder import LoweringBuilder
from ...lowering.expression import redeclared

LISTED = ("boolean", "date", "string", *INTEGERS)
"""Types of values that Acero finds in a list as Spark does."""


class PyArrowBuilder(LoweringBuilder):
    """Builds expressions that Acero evaluates to Spark's values."""

    # ---- what is evaluated for some rows only

    def only_where(self, conditions: Sequence[Expression], value: Expression) -> Expression:
        """A value that is computed where conditions hold, which are never null: elsewhere it is anything, and nothing raises."""
        if not conditions or not value.raises:
            return value
        reached = self.share(self.and_(*conditions))
        done: dict[Expression, Expression] = {}

        def untouched(part: Expression) -> Expression | None:
            return None if part.raises else part

        def over_parts(part: Expression) -> Expression:
            return self._reached(reached, part, [done[child] for child in part.children()])

        return rebuilt(value, done, untouched, lambda part: part.children(), over_parts)

    def _reached(self, reached: Expression, part: Expression, children: list[Expression]) -> Expression:
        """What may raise, over other parts: where it isn't reached, of nulls."""
        if isinstance(part, ScalarFunction):
            if part.raises_itself:
                children[0] = self._null_unless(reached, children[0])
            if len(children) == len(part.arguments):
                return redeclared(self, part, tuple(children))
        if isinstance(part, Cast):
            input = self._null_unless(reached, children[0]) if part.input.type.kind == "string" else children[0]
            return Cast(input, types.with_nullable(part.type, input.type.nullable), part.throws, part.checks)
        if isinstance(part, IfThen):
            return super().if_then(*children)
        if isinstance(part, Shared):
            return self.share(children[0])
        raise NotInDialect(
            f"the dialect {self.dialect.name} evaluates all of an expression, and a part of this one must not be for every row"
        )

    def _null_unless(self, reached: Expression, value: Expression) -> Expression:
        return super().if_then(reached, value, self.null(value.type))

    def certain(self, condition: Expression, unknown: bool = False) -> Expression:
        """A condition that is never null."""
        if not condition.type.nullable:
            return condition
        return self.call("comparison:coalesce", condition, self.literal(unknown, types.BOOLEAN))

    def if_then(self, *parts: Expression) -> Expression:
        """A choice. Of one condition that is null, Acero makes null; so none is."""
        conditions: list[Expression] = []
        found: list[Expression] = []
        for condition, value in zip(parts[:-1:2], parts[1::2], strict=True):
            held = self.certain(self.only_where(conditions, condition))
            held = self.share(held) if any(part.raises for part in parts) else held
            found += [held, self.only_where([*conditions, held], value)]
            conditions.append(self.not_(held))
        return super().if_then(*found, self.only_where(conditions, parts[-1]))

    def connected(self, name: str, operands: Sequence[Expression]) -> Expression:
        """The `and` or `or` of operands; later ones that may raise are computed where the earlier leave it open."""
        if not any(operand.raises for operand in operands[1:]):
            return self._balanced(name, operands)
        found = operands[0]
        for operand in operands[1:]:
            found = self.share(found)
            open = self.certain(found, unknown=True) if name == "and" else self.not_(self.certain(found))
            found = self.call(f"boolean:{name}", found, self.only_where([open], operand))
        return found

    def _balanced(self, name: str, operands: Sequence[Expression]) -> Expression:
        """The `and` or `or` of operands, two at a time, so that it nests no deeper than it must."""
        found = list(operands)
        while len(found) > 1:
            pairs = [found[start : start + 2] for start in range(0, len(found), 2)]
            found = [pair[0] if len(pair) == 1 else self.call(f"boolean:{name}", *pair) for pair in pairs]
        return found[0]

    def and_(self, *inputs: Expression) -> Expression:
        return self._balanced("and", inputs)

    def or_(self, *inputs: Expression) -> Expression:
        return self._balanced("or", inputs)

    # ---- expressions

    def raises(self, message: str, type: Type, witness: Expression) -> Expression:
        """What raises where it is chosen: a cast of text that is no number."""
        return self.cast(self.cast(self.text(message), types.I64), type)

    def null(self, type: Type) -> Expression:
        require_nameless(self, type)
        return super().null(type)

    def cast(self, input: Expression, type: Type, throws: bool = True) -> Expression:
        require_nameless(self, type)
        return super().cast(input, type, throws)

    def as_type(self, input: Expression, type: Type) -> Expression:
        if input.type != type and type.parameters and type.kind != "decimal" and not isinstance(input, Literal):
            _refuse_nested(self, type)
        return super().as_type(input, type)

    def or_list(self, value: Expression, options: tuple[Expression, ...]) -> Expression:
        plain = all(isinstance(option, Literal) and option.value is not None for option in options)
        if plain and value.type.kind in LISTED:
            return super().or_list(value, options)
        value = self.share(value)
        return self.connected("or", [self.lowered("comparison:equal", value, option) for option in options])

    def named(self, relation: Relation, names: Sequence[str]) -> Relation:
        for kind in relation.types:
            if types.holds(kind, ("list", "map", "struct")):
                raise NotInDialect(
                    f"the dialect {self.dialect.name} has no expressions of {kind}, which Acero names by what is in it",
                    "Use a field or an element, or the column itself.",
                )
        return relation


def require_nameless(e: LoweringBuilder, type: Type) -> None:
    """Refuse a type whose structs would lose the names of their fields."""
    if types.holds(type, ("struct",)):
        raise NotInDialect(
            f"the dialect {e.dialect.name} knows structs by the names of their fields, which {type} doesn't tell",
            "Use the fields by themselves.",
        )


def _refuse_nested(e: LoweringBuilder, type: Type) -> None:
    raise NotInDialect(f"the dialect {e.dialect.name} has no {type} of another nullability")
