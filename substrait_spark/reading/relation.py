"""Relation messages as the tree's relations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from substrait.algebra_pb2 import ReadRel, Rel, RelCommon
from substrait.plan_pb2 import PlanRel

from ..algebra import extension_messages, types
from ..algebra.builder import CallBuilder, Traits
from ..algebra.enum_names import enum_name
from ..algebra.expression import AggregateFunction, Cast, Expression, FieldReference, Literal, Subquery
from ..algebra.extension_messages import unpacked, unpacked_format, unpacked_table
from ..algebra.flat_map import FlatMap, FlatMapCoGroups
from ..algebra.join_columns import of_exchanged
from ..algebra.limits import COLUMNS
from ..algebra.recursion import PreviousRows, Recursion, misfit
from ..algebra.relation import (
    Aggregate,
    Cross,
    DelimitedText,
    DeltaTable,
    Expand,
    Fetch,
    File,
    FileFormat,
    Filter,
    Generate,
    IcebergTable,
    Join,
    LocalFiles,
    NamedTable,
    Place,
    Project,
    Read,
    Reference,
    Relation,
    Sample,
    Set,
    Sort,
    SparkFiles,
    Statistics,
    VirtualTable,
    Window,
)
from ..algebra.spark_options import SPARK_OPTIONS
from ..algebra.traversal import columns, refers_outwards, subexpressions
from ..algebra.type_messages import DeclaredTypes
from ..errors import UNEXPECTED, Unsupported, unknown_form
from .expression import ExpressionReader, NoSuchColumn, Scope, as_stated
from .functions import DeclaredFunctions
from .masks import Mask
from .place import MessagePart, Unreadable, relation_name
from .subqueries import lateral
from .write import read_ddl, read_merge, read_update, read_write

MOST_RELATIONS = 10_000
"""How many relations a plan may have with those that it refers to written out."""


class RelationReader:
    """Reads the relations of one plan. What it can't read goes to `problems`, and a stand-in takes its place."""

    def __init__(
        self,
        functions: DeclaredFunctions,
        declared: DeclaredTypes,
        parameters: Mapping[int, Any],
        relations: Sequence[PlanRel],
        traits: Traits,
    ) -> None:
        self.problems: list[Unreadable] = []
        self.e = CallBuilder(traits)
        self._expressions = ExpressionReader(functions, declared, parameters, self.e, self.read)
        self._relations = relations
        """What references refer to, by its ordinal."""
        self.used: set[int] = set()
        """Those of them that are referred to."""
        self._referred: list[int] = []
        self._read_once: dict[int, Relation] = {}
        self._path: list[str] = []
        self._anchors: list[int | None] = []
        self._count = 0
        self._columns = 0
        """Of relations that are referred to, each as often as they are."""

    def read_entry(self, ordinal: int, outer: Scope | None = None) -> Relation:
        """One of the plan's relations, with what is stored apart from it."""
        entry = self._relations[ordinal]
        around = self._expressions.detached
        self._expressions.detached = entry.detached_expressions
        try:
            return self.read(entry.root.input if entry.HasField("root") else entry.rel, outer)
        finally:
            self._expressions.detached = around

    def read(self, message: Rel, outer: Scope | None = None) -> Relation:
        """The relation. `outer` is what the expression around it can refer to, where it is in a subquery."""
        name = relation_name(message)
        self._count += 1
        self._path.append(name)
        known = len(self.problems)
        try:
            relation = self._read(message, outer)
        except Unsupported as problem:
            inputs_failed = len(self.problems) > known
            if not (inputs_failed and isinstance(problem, NoSuchColumn)):
                path = " / ".join(self._path)
                self.problems.append(Unreadable(path, MessagePart(name, name), problem.reason))
            relation = VirtualTable([], [], [])
        except UNEXPECTED as error:
            self.problems.append(
                Unreadable(" / ".join(self._path), MessagePart(name, name), unknown_form(error).reason)
            )
            relation = VirtualTable([], [], [])
        finally:
            self._path.pop()
        if self._referred:
            self._columns += len(relation.types)
        return relation

    def _read(self, message: Rel, outer: Scope | None) -> Relation:
        kind = message.WhichOneof("rel_type")
        if kind == "reference":
            return self._referred_to(message.reference.subtree_ordinal, outer)
        rule = _RULES.get(kind or "")
        if kind is None or rule is None:
            raise Unsupported("a relation is empty" if kind is None else REFUSED.get(kind, f"{kind} is not read"))
        body = getattr(message, kind)
        self._anchors.append(body.common.rel_anchor if body.common.HasField("rel_anchor") else None)
        try:
            relation = rule(self, body, outer)
        finally:
            self._anchors.pop()
        name = relation_name(message)
        _placed(relation, Place(" / ".join(self._path), MessagePart(name, name)))
        return _emitted(relation.with_hint(_hint(body.common.hint)), body.common)

    def _referred_to(self, ordinal: int, outer: Scope | None) -> Relation:
        """A relation of the plan that several share."""
        if not 0 <= ordinal < len(self._relations):
            raise Unsupported(f"it refers to the relation {ordinal} of a plan that has {len(self._relations)}")
        if ordinal in self._referred:
            raise Unsupported(f"the relation {ordinal} of the plan refers to itself")
        if self._count > MOST_RELATIONS or self._columns > COLUMNS:
            much = f"{MOST_RELATIONS} relations" if self._count > MOST_RELATIONS else f"{COLUMNS} columns of these"
            raise Unsupported(f"with what it refers to written out, the plan has more than {much}")
        self._referred.append(ordinal)
        self.used.add(ordinal)
        try:
            relation = self.read_entry(ordinal, outer)
        finally:
            self._referred.pop()
        # What refers to a query around it is another relation at each place.
        return relation if refers_outwards(relation) else Reference(self._read_once.setdefault(ordinal, relation))

    def expression(self, message: Any, columns: Sequence[types.Type], outer: Scope | None) -> Expression:
        return self._expressions.read(message, self._scope(columns, outer))

    def over(self, columns: Sequence[types.Type], outer: Scope | None) -> tuple[ExpressionReader, Scope]:
        """A reader of expressions, and what they can refer to."""
        return self._expressions, self._scope(columns, outer)

    def _scope(self, columns: Sequence[types.Type], outer: Scope | None) -> Scope:
        return Scope(tuple(columns), outer, (), self._anchors[-1] if self._anchors else None)

    def beside(self, columns: Sequence[types.Type], outer: Scope | None) -> Scope:
        """What the right input of a lateral join, whose left one has these columns, can refer to outwards."""
        return self._scope(columns, outer)._replace(lateral=True)


def _placed(relation: Relation, place: Place) -> None:
    """Note the place of a relation that was read, and of those below it that were made along with it."""
    relation.place = place
    stack = list(relation.inputs)
    while stack:
        each = stack.pop()
        if each.place is None:
            each.place = place
            stack.extend(each.inputs)


def _hint(message: RelCommon.Hint) -> bytes:
    """What a hint says that holds for the relation in whatever form: not the names of columns, which a form may lack."""
    hint = RelCommon.Hint(alias=message.alias)
    if message.HasField("stats"):
        hint.stats.row_count, hint.stats.record_size = message.stats.row_count, message.stats.record_size
    hint.advanced_extension.optimization.extend(message.advanced_extension.optimization)
    if not hint.advanced_extension.optimization:
        hint.ClearField("advanced_extension")
    return hint.SerializeToString()


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
    relation: Relation = _leaf(r, message)
    if message.HasField("filter"):
        relation = Filter(relation, r.expression(message.filter, relation.types, outer))
    if message.HasField("projection"):
        relation = columns(relation, Mask(message.projection, r.e).columns(relation.types))
    return relation


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
        if direct.WhichOneof("snapshot") != "snapshot_timestamp":
            snapshot = direct.snapshot_id if direct.HasField("snapshot_id") else None
            return IcebergTable(direct.metadata_uri, snapshot, names, schema)
    table = unpacked_table(message.extension_table.detail) if kind == "extension_table" else None
    if isinstance(table, extension_messages.DeltaTable):
        return DeltaTable(table.location, table.version, names, schema)
    if isinstance(table, extension_messages.PreviousRows):
        return PreviousRows(table.number, names, schema)
    if kind == "virtual_table":
        return _virtual(e, message.virtual_table, names, schema)
    raise Unsupported(f"reads of the kind {kind} are not read")


def _virtual(e: ExpressionReader, table: Any, names: Sequence[str], schema: Sequence[types.Type]) -> VirtualTable:
    nowhere = Scope(())
    rows = [e.read_all(struct.fields, nowhere) for struct in table.expressions]
    for row in rows:
        if len(row) != len(schema):
            raise Unsupported(f"a row has {len(row)} values for {len(schema)} columns")
        for value, column in zip(row, schema, strict=True):
            if not types.equal_but_nullability(value.type, column):
                raise Unsupported(f"a row has a {value.type} in a column of {column}")
    return VirtualTable(rows, names, schema)


def _files(items: Sequence[Any]) -> tuple[list[File], FileFormat]:
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


def _format(item: Any) -> FileFormat:
    kind = item.WhichOneof("file_format")
    if kind == "extension":
        return spark_files(item.extension)
    if kind in ("parquet", "orc"):
        return str(kind)
    if kind != "text":
        raise Unsupported(f"files of the format {kind} are not read")
    text = item.text
    return DelimitedText(
        text.field_delimiter, text.quote, text.escape, text.value_treated_as_null, text.header_lines_to_skip
    )


def spark_files(extension: Any) -> SparkFiles:
    """The format in a file's extension. Raises Unsupported where it is none of ours."""
    packed = unpacked_format(extension)
    if packed is None:
        raise Unsupported(f"files of the format {extension.type_url or 'without a name'} are not read")
    known = SPARK_OPTIONS.get(packed.format)
    if known is None:
        raise Unsupported(f"files of Spark's format {packed.format!r} are not read")
    for option in packed.options:
        if option.name not in known:
            raise Unsupported(f"files of Spark's format {packed.format} have no option {option.name!r}")
    return SparkFiles(packed.format, tuple([(option.name, option.value) for option in packed.options]))


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
    condition = _join_condition(r, message, left, right, outer)
    join_type = enum_name(message, "type")
    if join_type in _SWITCHED:
        joined = _switched(left, right, _SWITCHED[join_type], condition)
    elif join_type in _JOIN_TYPES:
        joined = Join(left, right, join_type, condition)
    else:
        raise Unsupported(f"joins of the type {join_type} are not read")
    return _filtered_after(r, message, joined, outer)


def _join_condition(
    r: RelationReader, message: Any, left: Relation, right: Relation, outer: Scope | None
) -> Expression:
    if not message.HasField("expression"):
        return Literal(True, types.BOOLEAN)
    return r.expression(message.expression, (*left.types, *right.types), outer)


def _filtered_after(r: RelationReader, message: Any, join: Relation, outer: Scope | None) -> Relation:
    if not message.HasField("post_join_filter"):
        return join
    return Filter(join, r.expression(message.post_join_filter, join.types, outer))


_JOIN_TYPES = ("INNER", "OUTER", "LEFT", "RIGHT", "LEFT_SEMI", "LEFT_ANTI", "LEFT_SINGLE", "LEFT_MARK")

_SWITCHED = {
    "RIGHT_SEMI": "LEFT_SEMI", "RIGHT_ANTI": "LEFT_ANTI", "RIGHT_SINGLE": "LEFT_SINGLE", "RIGHT_MARK": "LEFT_MARK"
}  # fmt: skip
"""Joins that are others with their inputs switched."""


def _switched(left: Relation, right: Relation, join_type: str, condition: Expression) -> Relation:
    """A join of the inputs the other way round, with its columns in the order that they had."""
    lefts, rights = len(left.types), len(right.types)

    if any(isinstance(part, Subquery) for part in subexpressions(condition)):
        raise Unsupported(f"a subquery in the condition of a {join_type.replace('LEFT', 'RIGHT')} join is not read")
    switched = Join(right, left, join_type, of_exchanged(condition, lefts, rights))
    if join_type != "LEFT_SINGLE":
        return switched
    return switched.select([*range(rights, rights + lefts), *range(rights)])


def _lateral_join(r: RelationReader, message: Any, outer: Scope | None) -> Relation:
    left = r.read(message.left, outer)
    join_type = enum_name(message, "type")
    if join_type not in ("INNER", "LEFT", "LEFT_SEMI", "LEFT_ANTI", "LEFT_SINGLE", "LEFT_MARK"):
        raise Unsupported(f"lateral joins of the type {join_type} are not read")
    right = r.read(message.right, r.beside(left.types, outer))
    condition = _join_condition(r, message, left, right, outer)
    return _filtered_after(r, message, lateral(r.e, left, right, join_type, condition), outer)


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
        # DataFusion's plans, up to 55, have that column before the measures: apache/datafusion#17910
        if len(sets) > 1 and e.names_no_file(measure.measure):
            raise Unsupported(
                "an aggregate with several groupings is read only of producers that say what files their functions are from: "
                "others have the column that numbers the groupings in another place",
                "Write it as a union of aggregates with one grouping each.",
            )
        measures.append(e.aggregate(measure.measure, scope, condition))
    aggregate = Aggregate(input, keys, measures, sets or [()])
    return _as_stated(aggregate, [e.stated_type(measure.measure) for measure in message.measures])


def _as_stated(aggregate: Aggregate, stated: Sequence[types.Type | None]) -> Relation:
    """The relation with its measures in the types that their calls state."""
    columns: list[Expression] = [FieldReference(n, kind) for n, kind in enumerate(aggregate.types)]
    first = len(aggregate.groupings)
    for n, kind in enumerate(stated, first):
        columns[n] = columns[n] if kind is None else as_stated(columns[n], kind)
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
    return Fetch(input, _number(r, message, "offset_expr", outer) or 0, _number(r, message, "count_expr", outer))


def _number(r: RelationReader, message: Any, field: str, outer: Scope | None) -> int | None:
    """A number of rows; None where it is null, or there is none."""
    if not message.HasField(field):
        return None
    number = r.expression(getattr(message, field), (), outer)
    while isinstance(number, Cast) and types.widens(number.input.type, number.type):
        number = number.input
    if not isinstance(number, Literal) or number.type.kind not in types.INTEGERS:
        raise Unsupported("a number of rows is no literal integer")
    if number.value is not None and number.value < 0:
        raise Unsupported(f"{number.value} is no number of rows")
    return number.value  # type: ignore[no-any-return]


def _top_n(r: RelationReader, message: Any, outer: Scope | None) -> Relation:
    if enum_name(message, "mode") != "ROWS_ONLY":
        raise Unsupported(f"the first rows of an order in the mode {enum_name(message, 'mode')} are not read")
    first = _sort(r, message, outer)
    return Fetch(first, _number(r, message, "offset", outer) or 0, _number(r, message, "count", outer))


def _exchange(r: RelationReader, message: Any, outer: Scope | None) -> Relation:
    """An exchange's input: in which partition a row is says nothing of the rows, as long as each is in exactly one."""
    kind = message.WhichOneof("exchange_kind")
    if kind not in ("scatter_by_fields", "single_target", "round_robin") or message.targets:
        raise Unsupported(f"exchanges of the kind {kind}, or with targets outside of the plan, are not read")
    input = r.read(message.input, outer)
    return input.select(range(len(input.types)))


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


def _extension_single(r: RelationReader, message: Any, outer: Scope | None) -> Relation:
    return _extension(r, message.detail, [r.read(message.input, outer)], outer)


def _extension_multi(r: RelationReader, message: Any, outer: Scope | None) -> Relation:
    return _extension(r, message.detail, [r.read(input, outer) for input in message.inputs], outer)


def _extension(r: RelationReader, packed: Any, inputs: Sequence[Relation], outer: Scope | None) -> Relation:
    """A relation of ours by the message in its detail."""
    detail = unpacked(packed)
    if detail is None:
        raise Unsupported(f"the extension relation {packed.type_url or 'without a name'} is not known")
    name = detail.DESCRIPTOR.name
    if len(inputs) != EXTENSIONS_OF_SEVERAL.get(name, 1):
        raise Unsupported(f"a {name} relation has no {len(inputs)} inputs")
    return EXTENSIONS[name](r, detail, inputs, outer)


def _generate(r: RelationReader, detail: Any, inputs: Sequence[Relation], outer: Scope | None) -> Relation:
    rows = r.expression(detail.rows, inputs[0].types, outer)
    if rows.type.kind != "list":
        raise Unsupported("a Generate relation is not of a list")
    return Generate(inputs[0], rows, detail.outer, detail.whole_elements, detail.with_position)


def _flat_map(r: RelationReader, detail: Any, inputs: Sequence[Relation], outer: Scope | None) -> Relation:
    e, scope = r.over(inputs[0].types, outer)
    return FlatMap(inputs[0], _rows_call(e, detail, scope), e.read_all(detail.keys, scope))


def _flat_map_groups(r: RelationReader, detail: Any, inputs: Sequence[Relation], outer: Scope | None) -> Relation:
    left, right = inputs
    e, scope = r.over((*left.types, *right.types), outer)
    call = _rows_call(e, detail, scope)
    return FlatMapCoGroups((left, right), call, e.read_all(detail.keys, scope), e.read_all(detail.other_keys, scope))


def _merge(r: RelationReader, detail: Any, inputs: Sequence[Relation], outer: Scope | None) -> Relation:
    schema = _table_schema(r, detail)
    e, scope = r.over([*schema, *inputs[0].types], outer)
    return read_merge(detail, inputs[0], schema, lambda each: e.read(each, scope))


def _recursion(r: RelationReader, detail: Any, inputs: Sequence[Relation], outer: Scope | None) -> Relation:
    anchor, step = inputs
    made = Recursion((anchor, step), detail.number, detail.level_limit, detail.row_limit, detail.limit)
    if problem := misfit(made):
        raise Unsupported(f"a recursion can't be read: {problem}")
    return made


def _sample(r: RelationReader, detail: Any, inputs: Sequence[Relation], outer: Scope | None) -> Relation:
    return Sample(inputs[0], detail.lower_bound, detail.upper_bound, detail.with_replacement, detail.seed)


EXTENSIONS: dict[str, Callable[[RelationReader, Any, Sequence[Relation], Scope | None], Relation]] = {
    "FlatMap": _flat_map,
    "FlatMapCoGroups": _flat_map_groups,
    "Generate": _generate,
    "Merge": _merge,
    "Recursion": _recursion,
    "Sample": _sample,
}
"""Extension relations by the names of their messages."""

EXTENSIONS_OF_SEVERAL = {"FlatMapCoGroups": 2, "Recursion": 2}
"""How many inputs they have that have several."""


def _rows_call(e: ExpressionReader, detail: Any, scope: Scope) -> AggregateFunction:
    """The call of a function whose value is a list of rows."""
    call = e.aggregate(detail.call, scope)
    if call.type.kind != "list" or call.type.parameters[0].kind != "struct":
        raise Unsupported(f"the function {call.declaration.name} gives {call.type}, which is no list of rows")
    return call


def _table_schema(r: RelationReader, message: Any) -> list[types.Type]:
    e, _ = r.over((), None)
    return [e.type(kind) for kind in message.table_schema.struct.types]


def _write(r: RelationReader, message: Any, outer: Scope | None) -> Relation:
    input = r.read(message.input, outer)
    schema = _table_schema(r, message)
    return read_write(message, input, schema, lambda condition: r.expression(condition, schema, outer))


def _ddl(r: RelationReader, message: Any, outer: Scope | None) -> Relation:
    definition = r.read(message.view_definition, outer) if message.HasField("view_definition") else None
    return read_ddl(message, definition, _table_schema(r, message), r.over((), None)[0].literal)


def _update(r: RelationReader, message: Any, outer: Scope | None) -> Relation:
    schema = _table_schema(r, message)
    e, scope = r.over(schema, outer)
    condition = e.read(message.condition, scope) if message.HasField("condition") else Literal(True, types.BOOLEAN)
    values = [e.read(each.transformation, scope) for each in message.transformations]
    return read_update(message, schema, condition, values)


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
    "extension_multi": _extension_multi,
    "extension_single": _extension_single,
    "lateral_join": _lateral_join,
    "top_n": _top_n,
    "exchange": _exchange,
    "write": _write,
    "ddl": _ddl,
    "update": _update,
}

REFUSED = {
    "extension_leaf": "what an extension relation without inputs means is not known",
    "hash_join": "physical joins are not read: a plan says what is joined, not how, in a JoinRel",
    "merge_join": "physical joins are not read: a plan says what is joined, not how, in a JoinRel",
    "nested_loop_join": "physical joins are not read: a plan says what is joined, not how, in a JoinRel",
}
"""Relations that are not read, and why."""
