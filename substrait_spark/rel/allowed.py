"""Whether a dialect has the relations and expressions that a plan node became."""

from __future__ import annotations

from ..algebra import expression as ex
from ..algebra import relation as rel
from ..algebra.expression import Expression
from ..algebra.extension_messages import URL
from ..algebra.relation import Relation
from ..dialects.dialect import Dialect
from ..errors import NotInDialect

RELATIONS: dict[type[Relation], str] = {
    rel.NamedTable: "READ",
    rel.LocalFiles: "READ",
    rel.IcebergTable: "READ",
    rel.VirtualTable: "READ",
    rel.Filter: "FILTER",
    rel.Project: "PROJECT",
    rel.Join: "JOIN",
    rel.Cross: "CROSS",
    rel.Aggregate: "AGGREGATE",
    rel.Sort: "SORT",
    rel.Fetch: "FETCH",
    rel.Set: "SET",
    rel.Expand: "EXPAND",
    rel.Window: "CONSISTENT_PARTITION_WINDOW",
    rel.Generate: "EXTENSION_SINGLE",
    rel.Sample: "EXTENSION_SINGLE",
}
"""The dialect schema's names of relations."""

EXPRESSIONS: dict[type[Expression], str] = {
    ex.Literal: "LITERAL",
    ex.FieldReference: "SELECTION",
    ex.Part: "SELECTION",
    ex.ScalarFunction: "SCALAR_FUNCTION",
    ex.WindowFunction: "WINDOW_FUNCTION",
    ex.Cast: "CAST",
    ex.IfThen: "IF_THEN",
    ex.SingularOrList: "SINGULAR_OR_LIST",
    ex.Nested: "NESTED",
    ex.Lambda: "LAMBDA",
    ex.ScalarSubquery: "SUBQUERY",
    ex.InSubquery: "SUBQUERY",
    ex.Exists: "SUBQUERY",
}
"""The dialect schema's names of expressions."""

READ_TYPES = {
    rel.NamedTable: "NAMED_TABLE",
    rel.LocalFiles: "LOCAL_FILES",
    rel.IcebergTable: "ICEBERG_TABLE",
    rel.VirtualTable: "VIRTUAL_TABLE",
}


def require_read(dialect: Dialect, read: rel.Read) -> rel.Read:
    """The read, where the dialect has its kind."""
    kind = READ_TYPES[type(read)]
    if not dialect.allows_relation("READ", "read_types", kind):
        raise NotInDialect(f"the dialect {dialect.name} has no {kind.lower().replace('_', ' ')} reads")
    return read


class Checked:
    """What was looked at already; it is kept, so that no other object takes its identity."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._seen: dict[int, object] = {}

    def require(self, relation: Relation) -> None:
        """Raise NotInDialect for anything in a relation, and below it, that the dialect lacks."""
        if self._dialect.has_everything:
            return
        stack: list[Relation] = [relation]
        while stack:
            current = stack.pop()
            if id(current) not in self._seen:
                self._seen[id(current)] = current
                stack.extend(current.inputs)
                self._require_relation(current)
                self._require_expressions(current.expressions())

    def _require_relation(self, relation: Relation) -> None:
        name = RELATIONS.get(type(relation))
        variant = ("", "")
        if isinstance(relation, rel.Read):
            variant = ("read_types", READ_TYPES[type(relation)])
        elif isinstance(relation, rel.Join):
            variant = ("join_types", relation.join_type)
        elif isinstance(relation, rel.Set):
            variant = ("operations", relation.operation)
        elif isinstance(relation, rel.ExtensionSingle):
            variant = ("message_types", f"{URL}{type(relation).__name__}")
        if name is not None and not self._dialect.allows_relation(name, *variant):
            what = f"{name} relations" + (f" of {variant[1]}" if variant[1] else "")
            raise NotInDialect(f"the dialect {self._dialect.name} has no {what}", "Choose another dialect.")

    def _require_expressions(self, expressions: tuple[Expression, ...]) -> None:
        stack = list(expressions)
        while stack:
            current = stack.pop()
            if id(current) in self._seen:
                continue
            self._seen[id(current)] = current
            stack.extend(current.children())
            name = EXPRESSIONS.get(type(current))
            if name is not None and not self._dialect.allows_expression(name):
                raise NotInDialect(
                    f"the dialect {self._dialect.name} has no {name} expressions",
                    "Choose another dialect, or compute this step in Spark.",
                )
