"""Substrait relations (https://substrait.io/relations/logical_relations/): their inputs, output types and messages.

A relation's `types` are those of its output columns after `emit`, which picks and orders the columns that the
relation itself yields.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

from google.protobuf.any_pb2 import Any as AnyMessage
from substrait.algebra_pb2 import JoinRel, ReadRel, RelCommon, SetRel
from substrait.algebra_pb2 import Rel as Message

from ..errors import Origin
from . import extension_messages, feature, types
from .expression import AggregateFunction, Anchors, Expression, Literal, SortField, WindowCall, operands_of
from .types import Type

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")


class Place(NamedTuple):
    """Where a relation came from: the way to it from the root, and what it was made from."""

    path: str
    origin: Origin


class Relation:
    """A Substrait relation.

    What passes ask of a relation is answered here, so that a new one is one class.
    """

    NAME: ClassVar[str] = ""
    """What the dialect schema calls it, empty for what is in no plan."""
    DOES: ClassVar[str] = ""
    """What problems say that it does, where the specification has no name for it."""
    PASSES_INPUTS: ClassVar[bool] = False
    """Whether its own columns begin with those of its inputs."""
    OVER_INPUT: ClassVar[bool] = True
    """Whether its expressions are over the columns of its one input, and no others."""
    KEEPS_KEYS: ClassVar[bool] = False
    """Whether it yields each row of its one input once at most, so that what is unique there stays so."""
    LEVELS_ABOVE_EXPRESSIONS: ClassVar[int] = 2
    """How many messages, its own included, lie around its expressions at most."""
    FEATURES: ClassVar[int] = 0
    """What each of its kind adds to its `own_features`."""
    __slots__ = (
        "_own_height",
        "_width",
        "emit",
        "features",
        "height",
        "hint",
        "inputs",
        "own_features",
        "place",
        "types",
    )
    inputs: tuple[Relation, ...]
    types: tuple[Type, ...]
    emit: tuple[int, ...] | None
    height: int
    own_features: int
    """What the relation is, and what its own expressions have in them: bits of `feature`."""
    features: int
    """Those of the relation and of all below it, but for the relations of subqueries."""
    place: Place | None
    hint: bytes
    """A RelCommon.Hint, serialised: what may be known of the relation, on which nothing hangs."""
    _SLOTS: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls._SLOTS = tuple([slot for base in cls.__mro__ for slot in getattr(base, "__slots__", ())])

    def variant(self) -> tuple[str, str]:
        """The list in a dialect's entry for this relation that names the variants of it, and the name of this one."""
        return "", ""

    def _finish(self, inputs: tuple[Relation, ...], direct: Sequence[Type], expressions: int = 0) -> None:
        """Set what every relation has: its inputs, its own columns, and the height with its expressions'."""
        self.types = tuple(direct)
        self._width = len(self.types)
        self.emit = None
        self.place = None
        self.hint = b""
        self._own_height = 2 + max(expressions, 2)
        self.own_features = self.FEATURES
        for expression in self.expressions():
            self.own_features |= expression.features
        self._stand_on(inputs)

    def _stand_on(self, inputs: tuple[Relation, ...]) -> None:
        self.inputs = inputs
        self.height, self.features = self._own_height, self.own_features
        for input in inputs:
            self.height = max(self.height, 2 + input.height)
            self.features |= input.features

    @property
    def emitted(self) -> Sequence[int]:
        """Which of its own columns each of its columns is."""
        return range(self._width) if self.emit is None else self.emit

    def emitting_as(self, other: Relation) -> Relation:
        """The same relation with those of its columns that another emits of its own."""
        return self if other.emit is None else self.select(other.emit)

    def select(self, ordinals: Sequence[int]) -> Relation:
        """The same relation with these of its columns, in this order."""
        if len(ordinals) == len(self.types) and list(ordinals) == list(range(len(ordinals))):
            return self
        copy = self._copy()
        emit = tuple(ordinals if self.emit is None else [self.emit[o] for o in ordinals])
        copy.emit = None if len(emit) == self._width and emit == tuple(range(self._width)) else emit
        copy.types = tuple([self.types[o] for o in ordinals])
        return copy

    def with_all_columns(self) -> Relation:
        """The same relation without `emit`: with its own columns, all of them."""
        made = self._over(self.inputs, self.expressions())
        made.place, made.hint = self.place, self.hint
        return made

    def with_hint(self, hint: bytes) -> Relation:
        """The same relation with another hint."""
        if hint == self.hint:
            return self
        copy = self._copy()
        copy.hint = hint
        return copy

    def with_inputs(self, inputs: tuple[Relation, ...]) -> Relation:
        """The same relation over other inputs of the same types; itself over its own."""
        if inputs == self.inputs:
            return self
        copy = self._copy()
        copy._stand_on(inputs)
        return copy

    def over(self, inputs: tuple[Relation, ...], expressions: Sequence[Expression]) -> Relation:
        """The same relation over other inputs, with other expressions in the order of `expressions()`.

        Its columns are those that it had, in types that are derived anew. A single input may have more columns than the
        one before, behind those: expressions may use them.
        """
        made = self._over(inputs, expressions)
        made.place, made.hint = self.place, self.hint
        width = len(self.inputs[0].types) if len(inputs) == 1 else 0
        added = len(inputs[0].types) - width if len(inputs) == 1 else 0
        if not added and self.emit is None:
            return made
        return made.select([n + added if self.PASSES_INPUTS and n >= width else n for n in self.emitted])

    def _over(self, inputs: tuple[Relation, ...], expressions: Sequence[Expression]) -> Relation:
        """Another relation of this kind, with all of its own columns."""
        raise NotImplementedError

    def _copy(self) -> Self:
        copy = object.__new__(type(self))
        for slot in self._SLOTS:
            setattr(copy, slot, getattr(self, slot))
        return copy

    def expressions(self) -> tuple[Expression, ...]:
        """Every expression of the relation, in a fixed order."""
        return ()

    def evaluated(self) -> tuple[Expression, ...]:
        """Those of its expressions that are evaluated for every row of the input."""
        return self.expressions()

    def functions(self) -> tuple[AggregateFunction | WindowCall, ...]:
        """The function calls in it that are no expressions."""
        return ()

    def passed(self, columns: Sequence[Sequence[T]]) -> list[T]:
        """What is known of those own columns that are the inputs' columns, passed on; they are the first ones."""
        return [column for input in columns for column in input] if self.PASSES_INPUTS else []

    def write(self, target: Message, anchors: Anchors) -> None:
        """Fill a relation message in place."""
        raise NotImplementedError

    def _write_common(self, common: RelCommon) -> None:
        if self.emit is None:
            common.direct.SetInParent()
        else:
            common.emit.output_mapping.extend(self.emit)
        if self.hint:
            common.hint.MergeFromString(self.hint)


class Statistics(NamedTuple):
    """What is known of a relation's rows: how many there are, and their average size in bytes."""

    row_count: int
    record_size: float


class Read(Relation):
    """A leaf with a schema: `names` are the depth-first names of its columns."""

    NAME = "READ"
    __slots__ = ("names", "origins", "schema", "statistics")
    names: tuple[str, ...]
    origins: Sequence[Origin]
    """What its columns were made from, as far as that is known."""
    schema: tuple[Type, ...]
    statistics: Statistics | None

    def _finish(self, inputs: tuple[Relation, ...], direct: Sequence[Type], expressions: int = 0) -> None:
        super()._finish(inputs, direct, expressions)
        self.origins = ()

    def _set_columns(self, names: Sequence[str], schema: Sequence[Type], statistics: Statistics | None = None) -> None:
        """Set the columns, all of which the read emits."""
        self.names, self.schema, self.statistics = tuple(names), tuple(schema), statistics
        self._finish((), schema, self._schema_height())

    def _schema_height(self) -> int:
        return 2 + max((type.height for type in self.schema), default=1)

    def _over(self, inputs: tuple[Relation, ...], expressions: Sequence[Expression]) -> Relation:
        copy = self._copy()
        copy.emit, copy.types = None, self.schema
        return copy

    def with_schema(self, names: Sequence[str], schema: Sequence[Type]) -> Read:
        """The same read with other columns, all of them in its output."""
        copy = self._copy()
        copy._set_columns(names, schema, self.statistics)
        return copy

    def _write_schema(self, target: ReadRel) -> None:
        self._write_common(target.common)
        if self.statistics is not None:
            stats = target.common.hint.stats
            stats.row_count, stats.record_size = self.statistics
        target.base_schema.names.extend(self.names)
        types.write_struct(self.schema, target.base_schema.struct)


class NamedTable(Read):
    """A table that the consumer knows by name."""

    __slots__ = ("table",)

    def __init__(
        self, table: Sequence[str], names: Sequence[str], schema: Sequence[Type], statistics: Statistics | None = None
    ) -> None:
        self.table = tuple(table)
        self._set_columns(names, schema, statistics)

    def variant(self) -> tuple[str, str]:
        return "read_types", "NAMED_TABLE"

    def write(self, target: Message, anchors: Anchors) -> None:
        self._write_schema(target.read)
        target.read.named_table.names.extend(self.table)


class BaseSchema(Read):
    """The columns that expressions by themselves are over. It is in no plan."""

    NAME = ""
    __slots__ = ()

    def __init__(self, names: Sequence[str], schema: Sequence[Type]) -> None:
        self._set_columns(names, schema)


class File(NamedTuple):
    """A file by its URI and its length in bytes, or, without a length, all files that match a pattern."""

    uri: str
    length: int | None


class DelimitedText(NamedTuple):
    """How rows are written as text: the options of DelimiterSeparatedTextReadOptions."""

    field_delimiter: str
    quote: str
    escape: str
    value_treated_as_null: str
    header_lines_to_skip: int


class SparkFiles(NamedTuple):
    """A format that Spark reads and the specification lacks: Spark's name of it, and the options that aren't its defaults."""

    name: str
    options: tuple[tuple[str, str], ...]
    """In small letters, by name."""


FileFormat = str | DelimitedText | SparkFiles


class LocalFiles(Read):
    """Files of one format: `parquet`, `orc`, delimited text, or another of Spark's."""

    __slots__ = ("files", "format")

    def __init__(
        self,
        files: Sequence[File],
        format: FileFormat,
        names: Sequence[str],
        schema: Sequence[Type],
        statistics: Statistics | None = None,
    ) -> None:
        self.files = tuple(files)
        self.format = format
        self._set_columns(names, schema, statistics)

    def variant(self) -> tuple[str, str]:
        return "read_types", "LOCAL_FILES"

    def write(self, target: Message, anchors: Anchors) -> None:
        self._write_schema(target.read)
        local_files = target.read.local_files
        local_files.SetInParent()
        said = _said(self.format)
        if isinstance(self.format, SparkFiles):
            anchors.message(said["extension"].type_url)
        for uri, length in self.files:
            if length is None:
                local_files.items.add(uri_path_glob=uri, **said)
            else:
                local_files.items.add(uri_file=uri, length=length, **said)


def _said(format: FileFormat) -> dict[str, Any]:
    """The arguments of a file's message that say its format."""
    item = ReadRel.LocalFiles.FileOrFiles
    if isinstance(format, SparkFiles):
        options = [extension_messages.SparkOption(name=name, value=value) for name, value in format.options]
        extension = AnyMessage()
        extension.Pack(extension_messages.SparkFiles(format=format.name, options=options))
        return {"extension": extension}
    if isinstance(format, DelimitedText):
        return {"text": item.DelimiterSeparatedTextReadOptions(**format._asdict())}
    return {format: {"parquet": item.ParquetReadOptions, "orc": item.OrcReadOptions}[format]()}


class IcebergTable(Read):
    """An Iceberg table by its metadata file: a snapshot, with the columns that it was written with; or without one the rows and
    columns that the table has in this file."""

    __slots__ = ("metadata_uri", "snapshot_id")

    def __init__(
        self, metadata_uri: str, snapshot_id: str | None, names: Sequence[str], schema: Sequence[Type]
    ) -> None:
        self.metadata_uri = metadata_uri
        self.snapshot_id = snapshot_id
        self._set_columns(names, schema)

    def variant(self) -> tuple[str, str]:
        return "read_types", "ICEBERG_TABLE"

    def write(self, target: Message, anchors: Anchors) -> None:
        self._write_schema(target.read)
        direct = target.read.iceberg_table.direct
        direct.metadata_uri = self.metadata_uri
        if self.snapshot_id is not None:
            direct.snapshot_id = self.snapshot_id


class ExtensionTable(Read):
    """Rows that the specification has no name for, told by a detail message (docs/reference/extension-relations.md)."""

    __slots__ = ()

    def variant(self) -> tuple[str, str]:
        return "read_types", "EXTENSION_TABLE"

    def detail(self) -> Any:
        """The detail message."""
        raise NotImplementedError

    def write(self, target: Message, anchors: Anchors) -> None:
        self._write_schema(target.read)
        detail = target.read.extension_table.detail
        detail.Pack(self.detail())
        anchors.message(detail.type_url)


class DeltaTable(ExtensionTable):
    """A version of a Delta table, by the URI of its folder."""

    __slots__ = ("location", "version")

    def __init__(self, location: str, version: int, names: Sequence[str], schema: Sequence[Type]) -> None:
        self.location = location
        self.version = version
        self._set_columns(names, schema)

    def detail(self) -> Any:
        return extension_messages.DeltaTable(location=self.location, version=self.version)


class VirtualTable(Read):
    """Rows written into the plan, as expressions that need no input."""

    __slots__ = ("rows",)

    def __init__(self, rows: Sequence[tuple[Expression, ...]], names: Sequence[str], schema: Sequence[Type]) -> None:
        self.rows = tuple(rows)
        self.statistics = None
        self.names = tuple(names)
        self.schema = tuple(schema)
        written = max((e.height for row in rows for e in row), default=1)
        self._finish((), schema, max(3 + written, self._schema_height()))

    def variant(self) -> tuple[str, str]:
        return "read_types", "VIRTUAL_TABLE"

    def expressions(self) -> tuple[Expression, ...]:
        return tuple([expression for row in self.rows for expression in row])

    def _over(self, inputs: tuple[Relation, ...], expressions: Sequence[Expression]) -> Relation:
        width = len(self.schema)
        rows = (
            [tuple(expressions[start : start + width]) for start in range(0, len(expressions), width)]
            if width
            else self.rows
        )
        return VirtualTable(rows, self.names, self.schema)

    def write(self, target: Message, anchors: Anchors) -> None:
        self._write_schema(target.read)
        table = target.read.virtual_table
        table.SetInParent()
        for row in self.rows:
            struct = table.expressions.add()
            for expression in row:
                expression.write(struct.fields.add(), anchors)


class Filter(Relation):
    """The rows for which a condition is true."""

    NAME = "FILTER"
    PASSES_INPUTS = True
    KEEPS_KEYS = True
    __slots__ = ("condition",)

    def __init__(self, input: Relation, condition: Expression) -> None:
        self.condition = condition
        self._finish((input,), input.types, condition.height)

    def expressions(self) -> tuple[Expression, ...]:
        return (self.condition,)

    def _over(self, inputs: tuple[Relation, ...], expressions: Sequence[Expression]) -> Relation:
        return Filter(inputs[0], expressions[0])

    def write(self, target: Message, anchors: Anchors) -> None:
        self._write_common(target.filter.common)
        self.inputs[0].write(target.filter.input, anchors)
        self.condition.write(target.filter.condition, anchors)


class Project(Relation):
    """The columns of the input, then computed ones."""

    NAME = "PROJECT"
    PASSES_INPUTS = True
    KEEPS_KEYS = True
    __slots__ = ("computed",)

    def __init__(self, input: Relation, expressions: Sequence[Expression]) -> None:
        self.computed = tuple(expressions)
        direct = (*input.types, *(expression.type for expression in expressions))
        self._finish((input,), direct, max((e.height for e in expressions), default=1))

    def expressions(self) -> tuple[Expression, ...]:
        return self.computed

    def _over(self, inputs: tuple[Relation, ...], expressions: Sequence[Expression]) -> Relation:
        return Project(inputs[0], expressions)

    def write(self, target: Message, anchors: Anchors) -> None:
        self._write_common(target.project.common)
        self.inputs[0].write(target.project.input, anchors)
        for expression in self.computed:
            expression.write(target.project.expressions.add(), anchors)


SEMI_JOINS = ("LEFT_SEMI", "LEFT_ANTI")
"""Types of joins that keep or drop rows of the left input, each at most once, and add nothing to them."""

LEFT_ONLY = (*SEMI_JOINS, "LEFT_MARK")
"""Types of joins whose columns are those of the left input, and maybe a mark."""


class _ConditionalJoin(Relation):
    """Two inputs joined on a condition over the columns of both, left before right.

    `join_type` is a name of JoinRel.JoinType without its prefix.
    """

    PASSES_INPUTS = True
    __slots__ = ("condition", "join_type")

    def __init__(self, left: Relation, right: Relation, join_type: str, condition: Expression) -> None:
        self.join_type = join_type
        self.condition = condition
        self._finish((left, right), _join_types(left, right, join_type), condition.height)

    def expressions(self) -> tuple[Expression, ...]:
        return (self.condition,)

    def variant(self) -> tuple[str, str]:
        return "join_types", self.join_type

    def passed(self, columns: Sequence[Sequence[T]]) -> list[T]:
        return super().passed(columns[:1] if self.join_type in LEFT_ONLY else columns)

    def _over(self, inputs: tuple[Relation, ...], expressions: Sequence[Expression]) -> Relation:
        return type(self)(inputs[0], inputs[1], self.join_type, expressions[0])


class Join(_ConditionalJoin):
    """The rows of both inputs for which the condition holds, and those without any that the type of the join adds."""

    NAME = "JOIN"
    FEATURES = feature.JOIN
    __slots__ = ()

    def write(self, target: Message, anchors: Anchors) -> None:
        join = target.join
        self._write_common(join.common)
        self.inputs[0].write(join.left, anchors)
        self.inputs[1].write(join.right, anchors)
        self.condition.write(join.expression, anchors)
        join.type = JoinRel.JoinType.Value(f"JOIN_TYPE_{self.join_type}")


def _join_types(left: Relation, right: Relation, join_type: str) -> tuple[Type, ...]:
    if join_type in SEMI_JOINS:
        return left.types
    if join_type == "LEFT_MARK":
        return (*left.types, types.of("boolean", nullable=True))
    lefts, rights = left.types, right.types
    if join_type in ("RIGHT", "OUTER"):
        lefts = tuple(map(types.nullable, lefts))
    if join_type in ("LEFT", "OUTER", "LEFT_SINGLE"):
        rights = tuple(map(types.nullable, rights))
    return lefts + rights


class LateralJoin(_ConditionalJoin):
    """Each row of the left input with the rows that the right input has for it; LEFT keeps those that it has none for.

    In the right input, the columns of the left one are a query outwards.
    """

    NAME = "LATERAL_JOIN"
    __slots__ = ()

    def write(self, target: Message, anchors: Anchors) -> None:
        join = target.lateral_join
        self._write_common(join.common)
        join.common.rel_anchor = anchors.relation()
        self.inputs[0].write(join.left, anchors)
        anchors.enclosing.append(join.common.rel_anchor)
        self.inputs[1].write(join.right, anchors)
        anchors.enclosing.pop()
        self.condition.write(join.expression, anchors)
        join.type = JoinRel.JoinType.Value(f"JOIN_TYPE_{self.join_type}")


class Cross(Relation):
    """Every row of the left input with every row of the right."""

    NAME = "CROSS"
    PASSES_INPUTS = True
    __slots__ = ()

    def __init__(self, left: Relation, right: Relation) -> None:
        self._finish((left, right), left.types + right.types)

    def _over(self, inputs: tuple[Relation, ...], expressions: Sequence[Expression]) -> Relation:
        return Cross(*inputs)

    def write(self, target: Message, anchors: Anchors) -> None:
        self._write_common(target.cross.common)
        self.inputs[0].write(target.cross.left, anchors)
        self.inputs[1].write(target.cross.right, anchors)


class Aggregate(Relation):
    """Grouping expressions, then measures, then, where there are several grouping sets, the set's number."""

    NAME = "AGGREGATE"
    FEATURES = feature.AGGREGATE
    LEVELS_ABOVE_EXPRESSIONS = 7
    __slots__ = ("groupings", "measures", "sets")

    def __init__(
        self,
        input: Relation,
        groupings: Sequence[Expression],
        measures: Sequence[AggregateFunction],
        sets: Sequence[tuple[int, ...]] | None = None,
    ) -> None:
        self.groupings = tuple(groupings)
        self.measures = tuple(measures)
        self.sets = (tuple(range(len(groupings))),) if sets is None else tuple(sets)
        keys = [
            key.type if all(n in chosen for chosen in self.sets) else types.nullable(key.type)
            for n, key in enumerate(groupings)
        ]
        direct = [*keys, *(measure.type for measure in measures)]
        if len(self.sets) > 1:
            direct.append(types.I32)
        inner = [key.height for key in groupings] + [2 + measure.height for measure in measures]
        self._finish((input,), direct, max(inner, default=1))

    def expressions(self) -> tuple[Expression, ...]:
        return (*self.groupings, *(e for measure in self.measures for e in measure.expressions()))

    def evaluated(self) -> tuple[Expression, ...]:
        unfiltered = [measure for measure in self.measures if measure.filter is None]
        return (*self.groupings, *(e for measure in unfiltered for e in operands_of(measure.arguments)))

    def functions(self) -> tuple[AggregateFunction, ...]:
        return self.measures

    def _over(self, inputs: tuple[Relation, ...], expressions: Sequence[Expression]) -> Relation:
        rest = iter(expressions)
        groupings = [next(rest) for _ in self.groupings]
        measures = [m.with_expressions([next(rest) for _ in m.expressions()]) for m in self.measures]
        return Aggregate(inputs[0], groupings, measures, self.sets)

    def write(self, target: Message, anchors: Anchors) -> None:
        aggregate = target.aggregate
        self._write_common(aggregate.common)
        self.inputs[0].write(aggregate.input, anchors)
        for key in self.groupings:
            key.write(aggregate.grouping_expressions.add(), anchors)
        if self.groupings or len(self.sets) > 1:
            for chosen in self.sets:
                aggregate.groupings.add().expression_references.extend(chosen)
        for measure in self.measures:
            entry = aggregate.measures.add()
            measure.write(entry.measure, anchors)
            if measure.filter is not None:
                measure.filter.write(entry.filter, anchors)


class Sort(Relation):
    """The input in an order."""

    NAME = "SORT"
    FEATURES = feature.SORT
    PASSES_INPUTS = True
    KEEPS_KEYS = True
    LEVELS_ABOVE_EXPRESSIONS = 4
    __slots__ = ("sorts",)

    def __init__(self, input: Relation, sorts: Sequence[SortField]) -> None:
        self.sorts = tuple(sorts)
        self._finish((input,), input.types, 1 + max(sort.expression.height for sort in sorts))

    def expressions(self) -> tuple[Expression, ...]:
        return tuple(sort.expression for sort in self.sorts)

    def _over(self, inputs: tuple[Relation, ...], expressions: Sequence[Expression]) -> Relation:
        return Sort(inputs[0], [sort.by(e) for sort, e in zip(self.sorts, expressions, strict=True)])

    def write(self, target: Message, anchors: Anchors) -> None:
        self._write_common(target.sort.common)
        self.inputs[0].write(target.sort.input, anchors)
        for sort in self.sorts:
            sort.write(target.sort.sorts.add(), anchors)


ALL_ROWS = 2**63 - 1
"""As many rows as the count of a fetch can say: a limit that no rows reach."""


class Fetch(Relation):
    """Rows from an offset on, as many as a count says, all where it is None."""

    NAME = "FETCH"
    FEATURES = feature.FETCH
    PASSES_INPUTS = True
    KEEPS_KEYS = True
    __slots__ = ("count", "offset")

    def __init__(self, input: Relation, offset: int, count: int | None) -> None:
        self.offset = offset
        self.count = count
        self._finish((input,), input.types, 2)

    def _over(self, inputs: tuple[Relation, ...], expressions: Sequence[Expression]) -> Relation:
        return Fetch(inputs[0], self.offset, self.count)

    def write(self, target: Message, anchors: Anchors) -> None:
        self._write_common(target.fetch.common)
        self.inputs[0].write(target.fetch.input, anchors)
        if self.offset:
            Literal(self.offset, types.I64).write(target.fetch.offset_expr, anchors)
        if self.count is not None:
            Literal(self.count, types.I64).write(target.fetch.count_expr, anchors)


class Set(Relation):
    """Inputs of the same types combined; `operation` is a name of SetRel.SetOp without its prefix."""

    NAME = "SET"
    FEATURES = feature.SET
    __slots__ = ("operation",)

    def __init__(self, inputs: Sequence[Relation], operation: str) -> None:
        self.operation = operation
        columns = [_set_column(operation, column) for column in zip(*(input.types for input in inputs), strict=True)]
        self._finish(tuple(inputs), columns)

    def variant(self) -> tuple[str, str]:
        return "operations", self.operation

    def _over(self, inputs: tuple[Relation, ...], expressions: Sequence[Expression]) -> Relation:
        return Set(inputs, self.operation)

    def write(self, target: Message, anchors: Anchors) -> None:
        self._write_common(target.set.common)
        for input in self.inputs:
            input.write(target.set.inputs.add(), anchors)
        target.set.op = SetRel.SetOp.Value(f"SET_OP_{self.operation}")


def _set_column(operation: str, column: Sequence[Type]) -> Type:
    """The type of a column of a set operation, by those of the inputs' columns."""
    first, *others = column
    nullables = [other.nullable for other in others]
    if operation.startswith("MINUS"):
        return first
    if operation == "INTERSECTION_PRIMARY":
        return types.with_nullable(first, first.nullable and any(nullables))
    if operation.startswith("INTERSECTION"):
        return types.with_nullable(first, first.nullable and all(nullables))
    common = first
    for other in others:
        common = types.least_nullable_common(common, other)
    return common


class Reference(Relation):
    """The rows of a relation that the plan has beside its root, and that may be referred to several times."""

    NAME = "REFERENCE"
    FEATURES = feature.REFERENCE
    __slots__ = ("shared",)

    def __init__(self, shared: Relation) -> None:
        self.shared = shared
        self._finish((), shared.types)

    def select(self, ordinals: Sequence[int]) -> Relation:
        # Its message has no emit.
        if list(ordinals) == list(range(len(self.types))):
            return self
        return Project(self, ()).select(ordinals)

    def _over(self, inputs: tuple[Relation, ...], expressions: Sequence[Expression]) -> Relation:
        return Reference(self.shared)

    def write(self, target: Message, anchors: Anchors) -> None:
        target.reference.subtree_ordinal = anchors.shared[self.shared]


class Expand(Relation):
    """For each input row one row per projection; then the projection's number."""

    NAME = "EXPAND"
    __slots__ = ("projections",)

    def __init__(self, input: Relation, projections: Sequence[tuple[Expression, ...]]) -> None:
        self.projections = tuple(projections)
        columns = []
        for column in zip(*self.projections, strict=True):
            common = column[0].type
            for other in column[1:]:
                common = types.least_nullable_common(common, other.type)
            columns.append(common)
        inner = max((e.height for projection in projections for e in projection), default=1)
        self._finish((input,), [*columns, types.I32], 2 + inner)

    def variant(self) -> tuple[str, str]:
        return "field_types", "SWITCHING_FIELD"

    def expressions(self) -> tuple[Expression, ...]:
        return tuple(e for projection in self.projections for e in projection)

    def _over(self, inputs: tuple[Relation, ...], expressions: Sequence[Expression]) -> Relation:
        rest = iter(expressions)
        return Expand(inputs[0], [tuple([next(rest) for _ in projection]) for projection in self.projections])

    def write(self, target: Message, anchors: Anchors) -> None:
        expand = target.expand
        self._write_common(expand.common)
        self.inputs[0].write(expand.input, anchors)
        for column in zip(*self.projections, strict=True):
            field = expand.fields.add()
            for expression in column:
                expression.write(field.switching_field.duplicates.add(), anchors)


class Window(Relation):
    """The columns of the input, then window functions that share a partition and an order."""

    NAME = "CONSISTENT_PARTITION_WINDOW"
    PASSES_INPUTS = True
    KEEPS_KEYS = True
    LEVELS_ABOVE_EXPRESSIONS = 6
    __slots__ = ("calls", "partition", "sorts")

    def __init__(
        self,
        input: Relation,
        calls: Sequence[WindowCall],
        partition: Sequence[Expression],
        sorts: Sequence[SortField],
    ) -> None:
        self.calls = tuple(calls)
        self.partition = tuple(partition)
        self.sorts = tuple(sorts)
        inner = [call.height for call in calls] + [key.height for key in partition]
        inner += [1 + sort.expression.height for sort in sorts]
        self._finish((input,), (*input.types, *(call.type for call in calls)), max(inner, default=1))

    def expressions(self) -> tuple[Expression, ...]:
        called = [e for call in self.calls for e in call.expressions()]
        return (*called, *self.partition, *(sort.expression for sort in self.sorts))

    def functions(self) -> tuple[WindowCall, ...]:
        return self.calls

    def _over(self, inputs: tuple[Relation, ...], expressions: Sequence[Expression]) -> Relation:
        rest = iter(expressions)
        calls = [call.with_expressions([next(rest) for _ in call.expressions()]) for call in self.calls]
        partition = [next(rest) for _ in self.partition]
        return Window(inputs[0], calls, partition, [sort.by(next(rest)) for sort in self.sorts])

    def write(self, target: Message, anchors: Anchors) -> None:
        window = target.window
        self._write_common(window.common)
        self.inputs[0].write(window.input, anchors)
        for call in self.calls:
            call.write(window.window_functions.add(), anchors)
        for key in self.partition:
            key.write(window.partition_expressions.add(), anchors)
        for sort in self.sorts:
            sort.write(window.sorts.add(), anchors)


class ExtensionSingle(Relation):
    """A relation that the specification lacks, told by a detail message (docs/reference/extension-relations.md)."""

    NAME = "EXTENSION_SINGLE"
    __slots__ = ()

    def variant(self) -> tuple[str, str]:
        return "message_types", f"{extension_messages.URL}{type(self).__name__}"

    def detail(self, anchors: Anchors) -> Any:
        """The detail message."""
        raise NotImplementedError

    def write(self, target: Message, anchors: Anchors) -> None:
        self._write_common(target.extension_single.common)
        self.inputs[0].write(target.extension_single.input, anchors)
        self._write_detail(target.extension_single.detail, anchors)

    def _write_detail(self, target: AnyMessage, anchors: Anchors) -> None:
        target.Pack(self.detail(anchors))
        anchors.message(target.type_url)


class ExtensionMulti(ExtensionSingle):
    """The same of several inputs."""

    NAME = "EXTENSION_MULTI"
    __slots__ = ()

    def write(self, target: Message, anchors: Anchors) -> None:
        self._write_common(target.extension_multi.common)
        for input in self.inputs:
            input.write(target.extension_multi.inputs.add(), anchors)
        self._write_detail(target.extension_multi.detail, anchors)


class Generate(ExtensionSingle):
    """Each row of the input with each element of a list: the columns of the input, then those of the element.

    An element is a struct, whose fields are columns, or with `whole` one column; before it comes its position, from 0,
    `with_position`. With `outer`, a row whose list is empty or null stays, with nulls for the generated columns.
    """

    PASSES_INPUTS = True
    DOES = "makes several rows of one"
    __slots__ = ("outer", "rows", "whole", "with_position")

    def __init__(
        self, input: Relation, rows: Expression, outer: bool, whole: bool = False, with_position: bool = False
    ) -> None:
        self.rows = rows
        self.outer = outer
        self.whole = whole
        self.with_position = with_position
        generated = generated_types(rows.type.parameters[0], outer, whole, with_position)
        self._finish((input,), (*input.types, *generated), 2 + rows.height)

    def expressions(self) -> tuple[Expression, ...]:
        return (self.rows,)

    def _over(self, inputs: tuple[Relation, ...], expressions: Sequence[Expression]) -> Relation:
        return Generate(inputs[0], expressions[0], self.outer, self.whole, self.with_position)

    def detail(self, anchors: Anchors) -> Any:
        message = extension_messages.Generate(
            outer=self.outer, whole_elements=self.whole, with_position=self.with_position
        )
        self.rows.write(message.rows, anchors)
        return message


def generated_types(element: Type, outer: bool, whole: bool, with_position: bool) -> list[Type]:
    """The columns that a Generate relation makes of a list's elements."""
    columns = [element] if whole else list(element.parameters)
    if outer or (element.nullable and not whole):
        columns = [types.nullable(column) for column in columns]
    if with_position:
        columns.insert(0, types.nullable(types.I32) if outer else types.I32)
    return columns


class Sample(ExtensionSingle):
    """Rows picked at random: each with a probability, or as often as a Poisson distribution says."""

    PASSES_INPUTS = True
    DOES = "picks rows at random"
    __slots__ = ("lower", "replacement", "seed", "upper")

    def __init__(self, input: Relation, lower: float, upper: float, replacement: bool, seed: int) -> None:
        self.lower = lower
        self.upper = upper
        self.replacement = replacement
        self.seed = seed
        self._finish((input,), input.types, 4)

    def _over(self, inputs: tuple[Relation, ...], expressions: Sequence[Expression]) -> Relation:
        return Sample(inputs[0], self.lower, self.upper, self.replacement, self.seed)

    def detail(self, anchors: Anchors) -> Any:
        return extension_messages.Sample(
            lower_bound=self.lower, upper_bound=self.upper, with_replacement=self.replacement, seed=self.seed
        )
