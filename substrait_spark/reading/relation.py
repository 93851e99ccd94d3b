"""Relation messages as the tree's relations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from substrait.algebra_pb2 import ReadRel, Rel

from ..algebra import types
from ..algebra.enum_names import enum_name
from ..algebra.expression import Expression, FieldReference, Literal
from ..algebra.extension_messages import unpacked
from ..algebra.relation import (
    Aggregate,
    Cross,
    DelimitedText,
    Expand,
    Fetch,
    File,
    Filter,
    Generate,
    IcebergTable,
    Join,
    LocalFiles,
    NamedTable,
    Place,
    Project,
    Read,
    Relation,
    Sample,
    Set,
    Sort,
    Statistics,
    VirtualTable,
    Window,
)
from ..algebra.type_messages import DeclaredTypes
from ..errors import UNEXPECTED, Unsupported
from ..refusals import unknown_form
from .expression import ExpressionReader, NoSuchColumn, Scope, as_stated
from .functions import DeclaredFunctions
from .place import MessagePart, Unreadable, relation_name


class RelationReader:
    """Reads the relations of one plan. What it can't read goes to `problems`, and a stand-in takes its place."""

    def __init__(self, functions: DeclaredFunctions, declared: DeclaredTypes) -> None:
        self.problems: list[Unreadable] = []
        self._expressions = ExpressionReader(functions, declared, self.read)
        self._path: list[str] = []

    def read(self, message: Rel, outer: Scope | None = None) -> Relation:
        """The relation. `outer` is what the expression around it can refer to, where it is in a subquery."""
        name = relation_name(message)
        self._path.append(name)
        known = len(self.problems)
        try:
            found = self._read(message, outer)
        except Unsupported as problem:
            inputs_failed = len(self.problems) > known
            if not (inputs_failed and isinstance(problem, NoSuchColumn)):
                path = " / ".join(self._path)
                self.problems.append(Unreadable(path, MessagePart(name, name), problem.reason))
            found = VirtualTable([], [], [])
        except UNEXPECTED as error:
            self.problems.append(
                Unreadable(" / ".join(self._path), MessagePart(name, name), unknown_form(error).reason)
            )
            found = VirtualTable([], [], [])
        finally:
            self._path.pop()
        return found

    def _read(self, message: Rel, outer: Scope | None) -> Relation:
        kind = message.WhichOneof("rel_type")
        rule = _RULES.get(kind or "")
        if kind is None or rule is None:
            raise Unsupported("a relation is empty" if kind is None else f"{kind} relations are not read")
        body = getattr(message, kind)
        found = rule(self, body, outer)
        name = relation_name(message)
        found.place = Place(" / ".join(self._path), MessagePart(name, name))
        return _emitted(found, body.common)

    def expression(self, message: Any, columns: Sequence[types.Type], outer: Scope | None) -> Expression:
        return self._expressions.read(message, Scope(tuple(columns), outer))

    def over(self, columns: Sequence[types.Type], outer: Scope | None) -> tuple[ExpressionReader, Scope]:
        """A reader of expressions, and what they can refer to."""
        return self._expressions, Scope(tuple(columns), outer)


def _emitted(relation: Relation, common: Any) -> Relation:
    if common.WhichOneof("emit_kind") != "emit":
        return relation
    mapping = list(common.emit.output_mapping)
    for ordinal in mapping:
        if not 0 <= ordinal < len(relation.types):
            raise NoSuchColumn(f"it emits a column {ordinal}, and has {len(relation.types)}")
    return relation.select(mapping)


# ---- leaves


def _read(r: RelationReader, message: ReadRel, outer: Scope | None) -> Relation:
    read = _leaf(r, message)
    if message.HasField("projection"):
        raise Unsupported("reads with a projection are not read")
    if not message.HasField("filter"):
        return read
    e, scope = r.over(read.types, outer)
    return Filter(read, e.read(message.filter, scope))


def _leaf(r: RelationReader, message: ReadRel) -> Read:
    e, _ = r.over((), None)
    names = list(message.base_schema.names)
    schema = [e.type(kind) for kind in message.base_schema.struct.types]
    kind = message.WhichOneof("read_type")
    statistics = None
    if message.common.hint.HasField("stats"):
        stats = message.common.hint.stats
        statistics = Statistics(int(stats.row_count), stats.record_size)
    if kind == "named_table":
        return NamedTable(list(message.named_table.names), names, schema, statistics)
    if kind == "local_files":
        return LocalFiles(*_files(message.local_files.items), names, schema, statistics)
    if kind == "iceberg_table" and message.iceberg_table.WhichOneof("table_type") == "direct":
        direct = message.iceberg_table.direct
        if direct.WhichOneof("snapshot") == "snapshot_id":
            return IcebergTable(direct.metadata_uri, direct.snapshot_id, names, schema)
    if kind == "virtual_table":
        return _virtual(e, message.virtual_table, names, schema)
    raise Unsupported(f"reads of the kind {kind} are not read")


def _virtual(e: ExpressionReader, table: Any, names: Sequence[str], schema: Sequence[types.Type]) -> VirtualTable:
    nowhere = Scope(())
    rows = [e.read_all(struct.fields, nowhere) for struct in table.expressions]
    for row in rows:
        if len(row) != len(schema):
            raise Unsupported(f"a row has {len(row)} values for {len(schema)} columns")
    return VirtualTable(rows, names, schema)


def _files(items: Sequence[Any]) -> tuple[list[File], str | DelimitedText]:
    """The files of a read, which must all be of one format."""
    formats = {_format(item) for item in items}
    if len(formats) != 1:
        raise Unsupported("files of several formats in one read are not read")
    files = []
    for item in items:
        path = item.WhichOneof("path_type")
        if path not in ("uri_file", "uri_path_glob") or item.start or item.partition_index:
            raise Unsupported("parts of files, and folders, are not read")
        files.append(File(getattr(item, path), item.length if path == "uri_file" else None))
    return files, formats.pop()


def _format(item: Any) -> str | DelimitedText:
    kind = item.WhichOneof("file_format")
    if kind in ("parquet", "orc"):
        return str(kind)
    if kind != "text":
        raise Unsupported(f"files of the format {kind} are not read")
    text = item.text
    return DelimitedText(
        text.field_delimiter, text.quote, text.escape, text.value_treated_as_null, text.header_lines_to_skip
    )


# ---- relations


def _filter(r: RelationReader, message: Any, outer: Scope | None) -> Relation:
    input = r.read(message.input, outer)
    return Filter(input, r.expression(message.condition, input.types, outer))


def _project(r: RelationReader, message: Any, outer: Scope | None) -> Relation:
    input = r.read(message.input, outer)
    e, scope = r.over(input.types, outer)
    return Project(input, e.read_all(message.expressions, scope))


def _join(r: RelationReader, message: Any, outer: Scope | None) -> Relation:
    left, right = r.read(message.left, outer), r.read(message.right, outer)
    if message.HasField("post_join_filter"):
        raise Unsupported("joins with a filter after them are not read")
    columns = (*left.types, *right.types)
    condition: Expression = Literal(True, types.BOOLEAN)
    if message.HasField("expression"):
        condition = r.expression(message.expression, columns, outer)
    join_type = enum_name(message, "type")
    if join_type not in _JOIN_TYPES:
        raise Unsupported(f"joins of the type {join_type} are not read")
    return Join(left, right, join_type, condition)


_JOIN_TYPES = ("INNER", "OUTER", "LEFT", "RIGHT", "LEFT_SEMI", "LEFT_ANTI", "LEFT_SINGLE", "LEFT_MARK")


def _cross(r: RelationReader, message: Any, outer: Scope | None) -> Relation:
    return Cross(r.read(message.left, outer), r.read(message.right, outer))


def _aggregate(r: RelationReader, message: Any, outer: Scope | None) -> Relation:
    input = r.read(message.input, outer)
    e, scope = r.over(input.types, outer)
    keys = e.read_all(message.grouping_expressions, scope)
    sets = [tuple(grouping.expression_references) for grouping in message.groupings]
    measures = []
    for measure in message.measures:
        condition = e.read(measure.filter, scope) if measure.HasField("filter") else None
        measures.append(e.aggregate(measure.measure, scope, condition))
    found = Aggregate(input, keys, measures, sets or [()])
    return _as_stated(found, [e.type(measure.measure.output_type) for measure in message.measures])


def _as_stated(aggregate: Aggregate, stated: Sequence[types.Type]) -> Relation:
    """The relation with its measures in the types that their calls state."""
    columns: list[Expression] = [FieldReference(n, kind) for n, kind in enumerate(aggregate.types)]
    first = len(aggregate.groupings)
    for n, kind in enumerate(stated, first):
        columns[n] = as_stated(columns[n], kind)
    changed = [n for n, column in enumerate(columns) if not isinstance(column, FieldReference)]
    if not changed:
        return aggregate
    made = Project(aggregate, [columns[n] for n in changed])
    positions = {n: len(columns) + position for position, n in enumerate(changed)}
    return made.select([positions.get(n, n) for n in range(len(columns))])


def _sort(r: RelationReader, message: Any, outer: Scope | None) -> Relation:
    input = r.read(message.input, outer)
    e, scope = r.over(input.types, outer)
    if not message.sorts:
        raise Unsupported("a sort has no key")
    return Sort(input, [e.sort(sort, scope) for sort in message.sorts])


def _fetch(r: RelationReader, message: Any, outer: Scope | None) -> Relation:
    input = r.read(message.input, outer)
    e, scope = r.over((), outer)
    offset = _number(e.read(message.offset_expr, scope)) if message.HasField("offset_expr") else 0
    count = _number(e.read(message.count_expr, scope)) if message.HasField("count_expr") else None
    return Fetch(input, offset, count)


def _number(expression: Expression) -> int:
    value = expression.value if isinstance(expression, Literal) else None
    if not isinstance(value, int):
        raise Unsupported("numbers of rows that are no literals are not read")
    return value


def _set(r: RelationReader, message: Any, outer: Scope | None) -> Relation:
    inputs = [r.read(input, outer) for input in message.inputs]
    kinds = [input.types for input in inputs]
    for other in kinds[1:]:
        if len(other) != len(kinds[0]) or not all(map(types.equal_but_nullability, kinds[0], other)):
            raise Unsupported("the inputs of a set operation have different types")
    return Set(inputs, enum_name(message, "op"))


def _expand(r: RelationReader, message: Any, outer: Scope | None) -> Relation:
    input = r.read(message.input, outer)
    e, scope = r.over(input.types, outer)
    columns = []
    for field in message.fields:
        if field.WhichOneof("field_type") == "switching_field":
            columns.append(e.read_all(field.switching_field.duplicates, scope))
        else:
            columns.append((e.read(field.consistent_field, scope),))
    emitted = message.common.emit.output_mapping if message.common.HasField("emit") else None
    if emitted is None or max(emitted, default=0) >= len(columns):
        beyond = range(len(columns), len(input.types))
        columns += [(FieldReference(n, input.types[n]),) for n in beyond]
    count = max(map(len, columns), default=1)
    if any(len(column) not in (1, count) for column in columns):
        raise Unsupported("the fields of an expand relation have different numbers of duplicates")
    widened = [column * count if len(column) == 1 else column for column in columns]
    return Expand(input, list(zip(*widened, strict=True)))


def _window(r: RelationReader, message: Any, outer: Scope | None) -> Relation:
    input = r.read(message.input, outer)
    e, scope = r.over(input.types, outer)
    calls = [e.window(call, scope) for call in message.window_functions]
    partition = e.read_all(message.partition_expressions, scope)
    return Window(input, calls, partition, [e.sort(sort, scope) for sort in message.sorts])


def _extension(r: RelationReader, message: Any, outer: Scope | None) -> Relation:
    input = r.read(message.input, outer)
    detail = unpacked(message.detail)
    if detail is None:
        raise Unsupported(f"the extension relation {message.detail.type_url or 'without a name'} is not known")
    if detail.DESCRIPTOR.name == "Generate":
        rows = r.expression(detail.rows, input.types, outer)
        if rows.type.kind != "list":
            raise Unsupported("a Generate relation is not of a list")
        return Generate(input, rows, detail.outer, detail.whole_elements, detail.with_position)
    return Sample(input, detail.lower_bound, detail.upper_bound, detail.with_replacement, detail.seed)


_RULES: dict[str, Callable[[RelationReader, Any, Scope | None], Relation]] = {
    "read": _read,
    "filter": _filter,
    "project": _project,
    "join": _join,
    "cross": _cross,
    "aggregate": _aggregate,
    "sort": _sort,
    "fetch": _fetch,
    "set": _set,
    "expand": _expand,
    "window": _window,
    "extension_single": _extension,
}
