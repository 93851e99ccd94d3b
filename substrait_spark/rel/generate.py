"""Generate: several rows of one, as an extension relation, or as ExpandRel where the number of rows is known."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra import types
from ..algebra.expression import Expression, FieldReference, Literal, Nested
from ..algebra.relation import Cross, Expand, Generate, Relation, VirtualTable
from ..algebra.traversal import columns
from ..catalyst import tree
from ..catalyst.refusals import no_generator
from ..catalyst.row_order import is_sorted
from ..catalyst.types import to_substrait
from ..errors import Unsupported
from ..expr.builder import ExpressionBuilder
from ..expr.literal import constant
from ..expr.nested import all_differ
from ..functions import collation
from .builder import RelationBuilder
from .output import Output, ids_of


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
        # A cross join has no order, by the specification: a limit above might cut off any rows.
        made = _crossed if _are_literals(fixed) and not is_sorted(node["child"]) else _expanded
        return Output(made(input.relation, kept, fixed), ids)
    if generator.name == "ReplicateRows":
        return Output(_replicated(e, input.relation, kept, generator), ids)
    relation = _generate(e, input.relation, generator, node["outer"])
    width = len(input.ids)
    return Output(relation.select([*kept, *range(width, len(relation.types))]), ids)


def _fixed_rows(e: ExpressionBuilder, generator: tree.Expression) -> list[tuple[Expression, ...]] | None:
    """The rows of a generator that makes the same number of rows, at least one, of each input row; None of others."""
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
        return [(constant(e, value, made.type.parameters[0]),) for value in made["value"]]
    return None


def _fields(e: ExpressionBuilder, struct: tree.Expression) -> tuple[Expression, ...] | None:
    """The fields of a struct that is built in place or is a literal."""
    if struct.cls.name == "CreateNamedStruct":
        return e.emit_all(struct["children"][1::2])
    if struct.cls.name == "Literal" and struct["value"] is not None:
        fields = zip(struct["value"], struct.type.parameters, strict=True)
        return tuple([constant(e, value, field.type) for value, field in fields])
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
    emitted += [e.null(to_substrait(kinds[n % width], True)) for n in missing]
    return _alike(e, [tuple(emitted[start : start + width]) for start in range(0, len(emitted), width)])


def _alike(e: ExpressionBuilder, rows: Sequence[Sequence[Expression]]) -> list[tuple[Expression, ...]]:
    """The same rows, with each column in one type."""
    return list(zip(*[e.alike(column) for column in zip(*rows, strict=True)], strict=True))


def _are_literals(rows: Sequence[tuple[Expression, ...]]) -> bool:
    return all(isinstance(value, Literal) for row in rows for value in row)


def _expanded(input: Relation, kept: Sequence[int], rows: Sequence[tuple[Expression, ...]]) -> Relation:
    """The input's rows, each as often as there are rows here."""
    before = [FieldReference(n, input.types[n]) for n in kept]
    projections: list[tuple[Expression, ...]] = [(*before, *row) for row in rows]
    return Expand(input, projections).select(range(len(projections[0])))


def _crossed(input: Relation, kept: Sequence[int], rows: Sequence[tuple[Expression, ...]]) -> Relation:
    """The input joined with a table of these rows."""
    schema = [value.type for value in rows[0]]
    names = [f"generated{n}" for n in range(len(schema) + sum(map(types.field_count, schema)))]
    width = len(input.types)
    return Cross(input, VirtualTable(rows, names, schema)).select([*kept, *range(width, width + len(schema))])


# ---- generators as lists


def _generate(e: ExpressionBuilder, input: Relation, generator: tree.Expression, outer: bool) -> Relation:
    """Explode, PosExplode, Inline, JsonTuple, VariantExplode: a row for each element of an array or each entry of a map."""
    if generator.name == "JsonTuple":
        return Generate(input, _json_tuple(e, generator), outer)
    if generator.name == "VariantExplode":
        return Generate(input, e.call("spark:variant_explode", e.emit(generator["child"])), outer)
    if generator.name not in ("Explode", "PosExplode", "Inline"):
        raise no_generator(generator)
    rows = e.emit(generator["child"])
    whole = rows.type.kind == "list" and generator.name != "Inline"
    if rows.type.kind == "map":
        rows = e.call("spark:map_entries", rows)
    return Generate(input, rows, outer, whole, with_position=generator.name == "PosExplode")


def _json_tuple(e: ExpressionBuilder, generator: tree.Expression) -> Expression:
    """JsonTuple: always one row."""
    given = e.emit_all(generator["children"])
    text, *fields = [collation.text_of(e, value) for value in given]
    values = tuple([collation.alike(e, e.call("spark:json_tuple", text, field), given[0].type) for field in fields])
    struct = types.of("struct", *[value.type for value in values], nullable=False)
    return e.list_of(struct, [Nested(struct, values)])


def _replicated(e: ExpressionBuilder, input: Relation, kept: Sequence[int], generator: tree.Expression) -> Relation:
    """ReplicateRows: the same row several times, as INTERSECT ALL and EXCEPT ALL need it."""
    count, *values = e.emit_all(generator["children"])
    times = e.call("spark:array_repeat", e.true(), e.cast(count, types.I32))
    before = columns(input, [times, *[FieldReference(n, input.types[n]) for n in kept], *values])
    relation = Generate(before, FieldReference(0, before.types[0]), outer=False, whole=True)
    return relation.select(range(1, len(before.types)))


HANDLERS = {"Generate": emit}
