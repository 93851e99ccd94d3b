"""Iceberg tables: as they are or a snapshot, with the filters that Spark left to Iceberg above it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..algebra.relation import Filter, IcebergTable, Relation
from ..catalyst import locations, tree
from ..catalyst.tree import DataType, make
from ..errors import Unsupported
from ..expr.scope import Scope
from .builder import RelationBuilder
from .columns import stored, used_of
from .output import Output, ids_of

BOOLEAN = DataType("boolean")

COMPARISONS = {
    "EQ": "EqualTo",
    "GT": "GreaterThan",
    "GT_EQ": "GreaterThanOrEqual",
    "LT": "LessThan",
    "LT_EQ": "LessThanOrEqual",
    "STARTS_WITH": "StartsWith",
}
"""Iceberg's operations on a column and a value, and the Catalyst classes of the predicates that Spark made them of."""

TESTS = {"IS_NULL": "IsNull", "NOT_NULL": "IsNotNull", "IS_NAN": "IsNaN"}
"""Iceberg's operations on a column."""

OPPOSITES = {"NOT_EQ": "EQ", "NOT_IN": "IN", "NOT_NAN": "IS_NAN", "NOT_STARTS_WITH": "STARTS_WITH"}


def read(r: RelationBuilder, output: Sequence[tree.Expression], scan: Any) -> Output:
    """A table's rows. Every filter in the scan is a conjunct of the query, so that it holds for all of its rows.

    `scan` has the table's metadata file, the number of a snapshot or nothing, the columns, the filters, the names of columns with
    default values for older files, and of those that the table hasn't by these names; it is a text where there is no snapshot with the
    columns that Spark reads.
    """
    if isinstance(scan, str):
        raise Unsupported(
            "it reads a snapshot with columns that the snapshot doesn't have: the table's columns were changed since",
            "Read the snapshot by VERSION AS OF, which takes its own columns, or save the rows as Parquet.",
        )
    metadata, snapshot, columns, filters, defaulted, renamed = scan
    locations.require_no_secret(metadata)
    columns = [column for column in columns if "__metadata_col" not in column["metadata"]]
    known = set(ids_of(columns))
    used = used_of(r, output)
    for attribute in used:
        if attribute["exprId"] not in known:
            raise Unsupported(
                f"the column {attribute['name']} is metadata of the table, which no other engine has", "Leave it out."
            )
    pushed = [name for filter in filters for name in _names(filter)]
    if _may_push(r):
        pushed += [attribute["name"] for attribute in used]
    _require_none(pushed, defaulted, DEFAULTED)
    # Joins leave out partitions while they run; by a column that may be null, they have pushed IS NOT NULL, too.
    _require_none([*pushed, *(each["name"] for each in used if not each.nullable)], renamed, RENAMED)
    # Of structs, a scan gives the fields that the query uses.
    given = {attribute["exprId"]: attribute for attribute in output}
    schema = stored(r, [given.get(column["exprId"], column) for column in columns], by_name=True)
    table: Relation = IcebergTable(metadata, snapshot or None, schema.names, schema.types)
    ids = ids_of(schema.attributes)
    if filters:
        filtered = {name.partition(".")[0] for filter in filters for name in _names(filter)}
        by_filter = [each["exprId"] for each in schema.attributes if each["name"].partition(".")[0] in filtered]
        wanted = {*ids_of(used), *by_filter}
        table, ids = Output(table, ids).select([id for id in ids if id in wanted])
        e = r.expressions(Scope(ids, table.types))
        by_name = {attribute["name"]: attribute for attribute in schema.attributes}
        table = Filter(table, e.and_(*e.emit_all([_predicate(filter, by_name) for filter in filters])))
    return Output(table, ids).select(ids_of(used))


def _names(filter: Sequence[Any]) -> Iterator[str]:
    """The columns and fields that an Iceberg expression is over."""
    _, *operands = filter
    if operands and isinstance(operands[0], str):
        yield operands[0]
    else:
        for operand in operands:
            yield from _names(operand)


PUSHES_NOTHING = ("Project", "Sort", "GlobalLimit", "LocalLimit", "Union", "DataSourceV2ScanRelation")
"""Catalyst's classes of plan nodes by which Spark pushes no filter and no aggregate into a scan."""


def _may_push(r: RelationBuilder) -> bool:
    """Whether a plan that isn't optimized may have Spark push filters into a scan."""
    if r.context.settings.stage != "analyzed" or r.context.root is None:
        return False
    nodes = tree.children_first(r.context.root)
    return any(isinstance(node, tree.Plan) and node.name not in PUSHES_NOTHING for node in nodes)


DEFAULTED = "has a default value for rows of older files, which Iceberg's reader in Spark leaves out where it filters"
"""Iceberg's reader takes such a file for one of nulls, and leaves it out (ParquetMetricsRowGroupFilter, 1.10 and 1.11). By the
specification, as in other readers, its rows have the default value."""

RENAMED = (
    "is another now or has another name, and Iceberg's reader in Spark filters a snapshot's files by the names of today"
)
"""Iceberg binds the filters of a snapshot to the columns that the table has now, by name, where it looks for files (ManifestGroup, 1.10
and 1.11): it finds the rows of another column's values, or fails."""


def _require_none(names: Sequence[str], columns: Sequence[str], reason: str) -> None:
    """Refuse filters on columns, or on fields of them, that Spark has the rows of in no sense of the query's."""
    for column in columns:
        if any(f"{name}.".startswith(f"{column}.") for name in names):
            raise Unsupported(f"the column {column} {reason}", "Save the table's rows as Parquet.")


def _predicate(filter: Sequence[Any], columns: dict[str, tree.Expression]) -> tree.Expression:
    """An Iceberg expression as Catalyst's: `(operation, operand, …)` or `(operation, column, values)`."""
    operation, *operands = filter
    if operation in OPPOSITES:
        return make("Not", BOOLEAN, child=_predicate((OPPOSITES[operation], *operands), columns))
    if operation == "NOT":
        return make("Not", BOOLEAN, child=_predicate(operands[0], columns))
    if operation in ("AND", "OR"):
        left, right = [_predicate(operand, columns) for operand in operands]
        return make(operation.capitalize(), BOOLEAN, left=left, right=right)
    if operation in ("TRUE", "FALSE"):
        return make("Literal", BOOLEAN, False, value=operation == "TRUE")
    name, values = operands
    column = _column(name.split("."), columns)
    if column is None:
        raise Unsupported(f"the scan has a filter on {name}, which is no column", "Save the table's rows as Parquet.")
    literals = [make("Literal", column.type, False, value=value) for value in values.values]
    if operation in TESTS:
        return make(TESTS[operation], BOOLEAN, False, child=column)
    if operation == "IN":
        return make("In", BOOLEAN, value=column, list=tuple(literals))
    if operation not in COMPARISONS:
        raise Unsupported(f"the scan has a filter {operation}, which is not known", "Save the table's rows as Parquet.")
    return make(COMPARISONS[operation], BOOLEAN, left=column, right=literals[0])


def _column(path: Sequence[str], columns: dict[str, tree.Expression]) -> tree.Expression | None:
    """A column or a field of one by Iceberg's name of it. Names may hold dots; no two of a table are the same."""
    for length in range(len(path), 0, -1):
        column = columns.get(".".join(path[:length]))
        if column is not None and (field := _field(column, path[length:])) is not None:
            return field
    return None


def _field(value: tree.Expression, path: Sequence[str]) -> tree.Expression | None:
    if not path:
        return value
    fields = value.type.parameters if value.type.name == "struct" else ()
    for length in range(len(path), 0, -1):
        for ordinal, field in enumerate(fields):
            if isinstance(field, tree.Field) and field.name == ".".join(path[:length]):
                inner = make("GetStructField", field.type, child=value, ordinal=ordinal, name=None)
                if (inside := _field(inner, path[length:])) is not None:
                    return inside
    return None
