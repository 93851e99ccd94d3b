"""Generate: several rows of one, as an extension relation, or as ExpandRel where the number of rows is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..algebra import types
from ..algebra.expression import Expression, FieldReference, Lambda, Literal, Nested
from ..algebra.extension_messages import URL
from ..algebra.relation import Cross, Expand, Generate, Relation, Set, VirtualTable
from ..algebra.types import Type
from ..catalyst import tree
from ..errors import NotInDialect, Unsupported
from ..expr.builder import ExpressionBuilder
from ..expr.literal import typed_literal
from ..expr.nested import all_differ, typed_null
from .builder import RelationBuilder
from .output import Output, ids_of
from .project import columns


def emit(r: RelationBuilder, node: tree.Plan) -> Output:
    """Generate: the columns of the child that are still needed, then the generator's."""
    input = r.emit(node["child"])
    e = r.expressions(input.scope())
    dropped = {int(index) for index in node["unrequiredChildIndex"]}
    kept = [n for n in range(len(input.ids)) if n not in dropped]
    ids = (*[input.ids[n] for n in kept], *ids_of(node["generatorOutput"]))
    generator = node["generator"]
    fixed = _fixed_rows(e, generator)
    if fixed is not None:
        return Output(_expanded(r, input.relation, kept, fixed), ids)
    if not r.dialect.allows_relation("EXTENSION_SINGLE", "message_types", f"{URL}Generate"):
        raise NotInDialect(
            f"the dialect {r.dialect.name} has no relation that makes several rows of one, as {generator.name} does",
            "Run this step in Spark, save the result, and export the query on top of that.",
        )
    relation = Generate(input.relation, _rows(e, generator), node["outer"])
    width = len(input.ids)
    return Output(relation.select([*kept, *range(width, len(relation.types))]), ids)


def _fixed_rows(e: ExpressionBuilder, generator: tree.Expression) -> list[tuple[Expression, ...]] | None:
    """The rows of a generator that makes the same number of them, at least one, of each row; else None."""
    name = generator.name
    if name == "Stack":
        return _stacked(e, generator)
    made = generator["child"] if name in ("Explode", "PosExplode", "Inline") else None
    rows = None if made is None else _known_elements(e, made, name == "Inline")
    if not rows:
        return None
    return _alike(e, [(e.i32(n), *row) for n, row in enumerate(rows)] if name == "PosExplode" else rows)


def _known_elements(e: ExpressionBuilder, made: tree.Expression, inline: bool) -> list[tuple[Expression, ...]] | None:
    """The elements, or entries, of a collection that is built in place or is a literal."""
    if made.cls.name == "CreateArray" and not inline:
        return [(value,) for value in e.emit_all(made["children"])]
    if made.cls.name == "CreateArray":
        rows = [_fields(e, element) for element in made["children"]]
        return None if None in rows else [row for row in rows if row is not None]
    if made.cls.name == "CreateMap" and all_differ(made["children"][::2]):
        parts = e.emit_all(made["children"])
        return list(zip(parts[::2], parts[1::2], strict=True))
    if made.cls.name == "Literal" and made.type.name == "array" and made["value"] and not inline:
        return [(typed_literal(e, value, made.type.parameters[0]),) for value in made["value"]]
    return None


def _fields(e: ExpressionBuilder, struct: tree.Expression) -> tuple[Expression, ...] | None:
    """The fields of a struct that is built in place or is a literal."""
    if struct.cls.name == "CreateNamedStruct":
        return e.emit_all(struct["children"][1::2])
    if struct.cls.name == "Literal" and struct["value"] is not None:
        fields = zip(struct["value"], struct.type.parameters, strict=True)
        return tuple([typed_literal(e, value, field.type) for value, field in fields])
    return None


def _stacked(e: ExpressionBuilder, generator: tree.Expression) -> list[tuple[Expression, ...]] | None:
    """Stack: values in rows, the last filled up with nulls."""
    count, *values = generator["children"]
    number = count["value"] if count.cls.name == "Literal" else None
    if not isinstance(number, int) or number < 1:
        raise Unsupported("the number of rows of stack is not known")
    width = -(-len(values) // number)
    kinds = [field.type for field in generator.type.parameters[0].parameters]
    emitted = list(e.emit_all(values))
    missing = range(len(emitted), number * width)
    emitted += [typed_null(e, kinds[n % width]) for n in missing]
    return _alike(e, [tuple(emitted[start : start + width]) for start in range(0, len(emitted), width)])


def _alike(e: ExpressionBuilder, rows: Sequence[Sequence[Expression]]) -> list[tuple[Expression, ...]]:
    """The same rows, with each column in one type."""
    return list(zip(*[e.alike(column) for column in zip(*rows, strict=True)], strict=True))


def _expanded(
    r: RelationBuilder, input: Relation, kept: Sequence[int], rows: Sequence[tuple[Expression, ...]]
) -> Relation:
    if all(isinstance(value, Literal) for row in rows for value in row):
        return _crossed(input, kept, rows)
    before = [FieldReference(n, input.types[n]) for n in kept]
    projections: list[tuple[Expression, ...]] = [(*before, *row) for row in rows]
    if r.dialect.allows_relation("EXPAND", "field_types", "SWITCHING_FIELD"):
        return Expand(input, projections).select(range(len(projections[0])))
    branches = [columns(input, projection) for projection in projections]
    return branches[0] if len(branches) == 1 else Set(branches, "UNION_ALL")


def _crossed(input: Relation, kept: Sequence[int], rows: Sequence[tuple[Expression, ...]]) -> Relation:
    """The rows as a table of their own."""
    schema = [value.type for value in rows[0]]
    names = [f"generated{n}" for n in range(len(schema) + sum(map(_names_inside, schema)))]
    width = len(input.types)
    return Cross(input, VirtualTable(rows, names, schema)).select([*kept, *range(width, width + len(schema))])


def _names_inside(type: Type) -> int:
    """How many struct fields a type has at all its levels: each has a name in a table's schema."""
    inner = sum(_names_inside(part) for part in type.parameters if isinstance(part, Type))
    return inner + (len(type.parameters) if type.kind == "struct" else 0)


# ---- generators as lists of structs


def _rows(e: ExpressionBuilder, generator: tree.Expression) -> Expression:
    rule = GENERATORS.get(generator.name)
    if rule is None:
        raise Unsupported(
            f"the generator {generator.name} has no Substrait form", "Run this step in Spark, and save its result."
        )
    rows: Expression = rule(e, generator)
    return rows


def _struct(parts: Sequence[Expression]) -> Expression:
    return Nested(types.of("struct", *[part.type for part in parts], nullable=False), tuple(parts))


def _explode(e: ExpressionBuilder, generator: tree.Expression) -> Expression:
    """Explode: a row for each element, or for each entry of a map."""
    child = e.emit(generator["child"])
    if child.type.kind == "map":
        return e.call("spark:map_entries", child)
    element: Type = child.type.parameters[0]
    return e.call("list:transform", child, Lambda((element,), _struct([_parameter(0, element)])))


def _posexplode(e: ExpressionBuilder, generator: tree.Expression) -> Expression:
    """PosExplode: with the position before, from 0."""
    child = e.emit(generator["child"])
    if child.type.kind == "map":
        child = e.call("spark:map_entries", child)
        entry: Type = child.type.parameters[0]
        parts = [_parameter(0, entry).step(("field", n), kind) for n, kind in enumerate(entry.parameters)]
    else:
        entry = child.type.parameters[0]
        parts = [_parameter(0, entry)]
    body = _struct([_parameter(1, types.I32), *parts])
    return e.call("spark:transform", child, Lambda((entry, types.I32), body))


def _parameter(ordinal: int, type: Type) -> FieldReference:
    return FieldReference(ordinal, type, parameter=0)


def _inline(e: ExpressionBuilder, generator: tree.Expression) -> Expression:
    """Inline: the structs of an array."""
    return e.emit(generator["child"])


def _json_tuple(e: ExpressionBuilder, generator: tree.Expression) -> Expression:
    """JsonTuple: always one row."""
    text, *fields = e.emit_all(generator["children"])
    row = _struct([e.call("spark:json_tuple", text, field) for field in fields])
    return e.list_of(row.type, [row])


def _replicate(e: ExpressionBuilder, generator: tree.Expression) -> Expression:
    """ReplicateRows: the same row several times, as INTERSECT ALL and EXCEPT ALL need it."""
    count, *values = e.emit_all(generator["children"])
    return e.call("spark:array_repeat", _struct(values), e.cast(count, types.I32))


GENERATORS: dict[str, Any] = {
    "Explode": _explode,
    "Inline": _inline,
    "JsonTuple": _json_tuple,
    "PosExplode": _posexplode,
    "ReplicateRows": _replicate,
}

HANDLERS = {"Generate": emit}
