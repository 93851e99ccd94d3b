"""Queries whose plans have what the specification has, plans of others with what ours lack, and reasons for what no plan has.

`scripts/write_specification_page.py` makes a page of them. A line is added or changed here; the page follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from changing_tables import add_catalog
from pyspark.sql import SparkSession
from substrait.algebra_pb2 import Expression as Message
from substrait.algebra_pb2 import JoinRel, Rel, SortField
from substrait.extended_expression_pb2 import ExtendedExpression
from substrait.plan_pb2 import ExecutionBehavior, Plan
from substrait.type_pb2 import Type
from test_foreign_forms import column, e, filtered_by_comparison, joined, message, plan_of, replaced, t, u

from substrait_spark import df_to_substrait, expressions_to_substrait, sql_to_substrait, write_to_substrait
from substrait_spark.algebra import types
from substrait_spark.algebra.expression import (
    Bound,
    Exists,
    FieldReference,
    Literal,
    Nested,
    WindowCall,
    WindowFunction,
)
from substrait_spark.algebra.expression import SortField as Key
from substrait_spark.algebra.relation import (
    Cross,
    DeltaTable,
    Expand,
    Fetch,
    Filter,
    IcebergTable,
    Join,
    LateralJoin,
    NamedTable,
    Project,
    Set,
    Sort,
)

I64 = types.of("i64")


@dataclass(frozen=True)
class Query:
    """A query in SQL, and how its plan is asked for."""

    sql: str
    options: Mapping[str, Any] = field(default_factory=dict)
    is_statement: bool = False
    """Whether `sql_to_substrait` makes its plan, and nothing runs."""

    @property
    def shown(self) -> str:
        """The options, as they stand behind the query's name."""
        given = [f"{name}={value!r}" for name, value in self.options.items()]
        return f" (`{', '.join(given)}`)" if given else ""


ANALYZED = {"stage": "analyzed"}

QUERIES = {
    "literals": Query(
        """
        SELECT * FROM VALUES (true, 1Y, 2S, 3, 4L, 1.5F, 2.5D, 'a', X'01', DATE'2024-01-01', 1.25BD,
          TIMESTAMP'2024-01-01 00:00:00', TIMESTAMP_NTZ'2024-01-01 00:00:00', INTERVAL '1-2' YEAR TO MONTH,
          INTERVAL '1 02:03:04.5' DAY TO SECOND, array(1), map('k', 1), named_struct('x', 1)),
          (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, array(), map(), NULL) AS t
        """,
    ),
    "times and calendar intervals": Query(
        "SELECT * FROM VALUES (TIME'12:34:56.789', make_interval(0, 1, 0, 2, 0, 0, 3.5)), (NULL, NULL)"
    ),
    "calculations": Query(
        """
        SELECT CAST(s AS INT), try_cast(s AS DATE), CASE WHEN k > 1 THEN k + 1 ELSE -k END, k IN (1, 2, 3), array(k, 1), map(s, k),
          struct(s, k), split(s, ',') AS parts, transform(array(k), (x, i) -> x * i + k), named_struct('a', named_struct('b', k)).a.b
        FROM named
        """,
    ),
    "values of three parts, and types of ours": Query(
        "SELECT make_interval(1, 2, 3) AS i, make_interval(k) AS j, s COLLATE UNICODE AS c FROM named"
    ),
    "paths": Query("SELECT r.y.z, l.z, m['k'].y, element_at(l, 1).z FROM nested"),
    "joins": Query(
        """
        SELECT a.k FROM named a JOIN named b ON a.k = b.k LEFT JOIN named c ON b.k = c.k RIGHT JOIN named d ON c.k > d.k
        FULL JOIN named e ON d.s = e.s CROSS JOIN named f LEFT SEMI JOIN named g ON f.k = g.k LEFT ANTI JOIN named h ON f.k = h.k
        WHERE EXISTS (SELECT * FROM named i WHERE i.k = a.k) OR a.k > 7
        """,
    ),
    "a single join": Query("SELECT k, (SELECT s FROM named AS i WHERE i.k = o.k) AS s FROM named AS o"),
    "calls in calls": Query(
        "SELECT transform(array(k), x -> size(filter(array(1, 2), y -> y > x))), map(k, s), extract(WEEK FROM d) FROM named"
    ),
    "lateral joins": Query(
        "SELECT a.k, b.m FROM named AS a, LATERAL (SELECT max(i.s) AS m FROM named AS i WHERE i.k = a.k) AS b "
        "LEFT JOIN LATERAL (SELECT i.k FROM named AS i WHERE i.k > a.k) AS c",
        ANALYZED,
    ),
    "subqueries": Query(
        """
        SELECT (SELECT max(k) FROM named), (SELECT max(i.k) FROM named AS i WHERE i.s = o.s)
        FROM named AS o WHERE k IN (SELECT k FROM named) AND EXISTS (SELECT * FROM named AS i WHERE i.k = o.k)
        """,
        ANALYZED,
    ),
    "set operations": Query(
        """
        (SELECT k FROM named UNION SELECT k FROM named) UNION ALL (SELECT k FROM named EXCEPT SELECT k FROM named)
        UNION ALL (SELECT k FROM named EXCEPT ALL SELECT k FROM named)
        UNION ALL (SELECT k FROM named INTERSECT SELECT k FROM named)
        UNION ALL (SELECT k FROM named INTERSECT ALL SELECT k FROM named)
        """,
        ANALYZED,
    ),
    "aggregates": Query(
        """
        SELECT k, s, sum(k) FILTER (WHERE s > 'a'), stddev(k) AS d, grouping_id() FROM named GROUP BY GROUPING SETS ((k), (k, s), ())
        """,
    ),
    "distinct values": Query("SELECT count(DISTINCT k) FROM named", ANALYZED),
    "an ordered aggregate": Query("SELECT listagg(s, ',') WITHIN GROUP (ORDER BY s DESC) FROM named"),
    "windows": Query(
        """
        SELECT row_number() OVER (PARTITION BY s ORDER BY k), sum(k) OVER (ORDER BY k RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING),
          sum(k) OVER (PARTITION BY s), max(k) OVER (ORDER BY k ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)
        FROM named
        """,
    ),
    "orders and limits": Query(
        "SELECT * FROM named ORDER BY k, s DESC, k + 1 NULLS LAST, length(s) DESC NULLS FIRST LIMIT 3 OFFSET 2"
    ),
    "generated rows": Query("SELECT explode(split(s, ',')) FROM named"),
    "variables": Query("SELECT current_timestamp(), current_date(), current_timezone()", ANALYZED),
    "a common table expression": Query(
        "WITH c AS (SELECT k FROM named) SELECT * FROM c UNION ALL SELECT * FROM c", ANALYZED
    ),
    "text files": Query("SELECT * FROM text_files"),
    "other files": Query("SELECT * FROM json_files"),
    "ORC files": Query("SELECT * FROM orc_files"),
    "Parquet files": Query("SELECT * FROM parquet_files"),
    "many files": Query("SELECT * FROM parquet_files", {"list_files": 0}),
    "types by aliases": Query("SELECT * FROM nested", {"type_aliases": True}),
    "a deep expression": Query(
        "SELECT transform(array(k), x -> "
        + "greatest(" * 40
        + "x"
        + "".join(f", x - {n})" for n in range(40))
        + ") FROM named",
        {"detach": True},
    ),
    "hints": Query(
        "SELECT /*+ BROADCAST(b) */ a.id FROM range(3) AS a JOIN range(2) AS b ON a.id = b.id",
        {"hints": True, **ANALYZED},
    ),
    "what a plan was made of": Query("SELECT 1", {"provenance": True}),
    "parameters": Query(
        "SELECT k FROM named WHERE d > :since AND k = :k", {"parameters": {"since": "date", "k": 1}}, is_statement=True
    ),
    "a table of a query": Query("CREATE TABLE made USING orc AS SELECT k FROM named", is_statement=True),
    "a table where there is none": Query(
        "CREATE TABLE IF NOT EXISTS made USING orc AS SELECT k FROM named", is_statement=True
    ),
    "a directory": Query("INSERT OVERWRITE DIRECTORY '/made' USING csv SELECT k FROM named", is_statement=True),
    "a view": Query("CREATE TEMP VIEW made AS SELECT k FROM named", is_statement=True),
    "another view": Query("CREATE OR REPLACE TEMP VIEW made AS SELECT k FROM named", is_statement=True),
    "a changed view": Query("ALTER VIEW text_files AS SELECT k FROM named", is_statement=True),
    "a table without rows": Query("CREATE TABLE made (a INT) USING orc", is_statement=True),
    "a table with default values": Query(
        "CREATE TABLE made (a INT, b STRING DEFAULT 'x') USING orc", is_statement=True
    ),
    "changed rows": Query("UPDATE changing.t SET s = 'x' WHERE k = 1", is_statement=True),
    "deleted rows": Query("DELETE FROM changing.t WHERE k = 1", is_statement=True),
    "a dropped view": Query("DROP VIEW text_files", is_statement=True),
    "a table that may be dropped": Query("DROP TABLE IF EXISTS made", is_statement=True),
}
"""Queries by name, over the tables of `plans_of`. The first one whose plan has an item is shown with it."""


SAVED = "what writers save"

EXPRESSIONS = {
    "expressions by themselves": {"twice": "k * 2", "most": "max(k)"},
    "a deep expression by itself, with `detach=True`": {"deep": " + ".join(["k"] * 40)},
}
"""Expressions by name, over a schema with the column k."""


def plans_of(spark: SparkSession, folder: Path) -> Iterator[tuple[str, Plan | ExtendedExpression]]:
    """The plan of each query, whose tables are there meanwhile, in a folder; and the messages of expressions by themselves."""
    rows = "SELECT * FROM VALUES (1, 'a,b', DATE'2024-01-01'), (2, NULL, NULL) AS t(k, s, d)"
    deep = "SELECT named_struct('x', 1, 'y', named_struct('z', k)) AS r, array(named_struct('z', k)) AS l, map('k', r) AS m, s FROM t"
    spark.sql(rows).createOrReplaceTempView("t")
    add_catalog(spark)
    spark.sql("CREATE TABLE changing.t (k INT, s STRING)")
    for name, sql in {"named": rows, "nested": deep}.items():
        spark.sql(sql).write.mode("overwrite").parquet(str(folder / name))
        spark.sql(f"CREATE TABLE {name} USING parquet LOCATION '{folder / name}'")
    for format in ("parquet", "orc", "json"):
        spark.sql(rows).write.mode("overwrite").format(format).save(str(folder / format))
        spark.read.format(format).load(str(folder / format)).createOrReplaceTempView(f"{format}_files")
    spark.sql(rows).write.mode("overwrite").csv(str(folder / "csv"), header=True, sep="|")
    text = spark.read.csv(
        str(folder / "csv"), header=True, sep="|", nullValue="none", quote="'", schema="k int, s string, d date"
    )
    text.createOrReplaceTempView("text_files")
    try:
        for name, query in QUERIES.items():
            if query.is_statement:
                yield name, sql_to_substrait(spark, query.sql, **query.options)
            else:
                yield name, df_to_substrait(spark.sql(query.sql), **query.options)
        for mode in ("append", "overwrite"):
            yield SAVED, write_to_substrait(spark.table("named"), table="made", mode=mode)
        for name, expressions in EXPRESSIONS.items():
            yield name, expressions_to_substrait("k bigint", expressions, detach=True)
    finally:
        for name in ("named", "nested"):
            spark.sql(f"DROP TABLE {name}")
        for name in ("t", "parquet_files", "orc_files", "json_files", "text_files"):
            spark.catalog.dropTempView(name)


# ---- plans of others

SAME_KEY = e.equal(column(0), column(2))
SAME_OUTER = e.equal(column(0), column(0, 1))
_KEY = Key(column(0), ascending=True, nulls_first=True)


def _changed(relation: Any, change: Callable[[Any], object], width: int | None = None) -> Callable[[], Plan]:
    return lambda: plan_of(relation, change, width)


def _lateral(join_type: str) -> Callable[[Any], object]:
    def change(rel: Any) -> None:
        rel.lateral_join.type = JoinRel.JoinType.Value(f"JOIN_TYPE_{join_type}")

    return change


def _set(operation: str) -> Callable[[Any], object]:
    def change(rel: Any) -> None:
        rel.set.op = rel.set.SetOp.Value(f"SET_OP_{operation}")

    return change


def _expression(found: Message) -> Callable[[], Plan]:
    return lambda: plan_of(Project(t, [column(0)]), replaced(found))


def _switch() -> Message:
    found = Message()
    found.switch_expression.match.CopyFrom(message(column(0)))
    clause = found.switch_expression.ifs.add()
    getattr(clause, "if").i64 = 1
    clause.then.literal.string = "one"
    getattr(found.switch_expression, "else").literal.string = "many"
    return found


def _records() -> Message:
    found = Message()
    found.multi_or_list.value.extend([message(column(0)), message(column(1))])
    found.multi_or_list.options.add(fields=[message(Literal(1, I64)), message(Literal(2, I64))])
    return found


def _unique(rel: Any) -> None:
    rel.filter.condition.subquery.set_predicate.predicate_op = Message.Subquery.SetPredicate.PREDICATE_OP_UNIQUE


def _post_join_filter(rel: Any) -> None:
    rel.join.post_join_filter.literal.boolean = True


def _post_lateral_filter(rel: Any) -> None:
    rel.lateral_join.post_join_filter.literal.boolean = True


def _masked(rel: Any) -> None:
    rel.read.projection.select.struct_items.add(field=1)
    rel.read.projection.maintain_singular_struct = True


def _filtered(rel: Any) -> None:
    rel.read.filter.literal.boolean = True
    rel.read.best_effort_filter.literal.boolean = True


def _clustered(rel: Any) -> None:
    rel.sort.sorts[0].direction = SortField.SORT_DIRECTION_CLUSTERED


def _top_n(rel: Any) -> None:
    fetch = Rel()
    fetch.CopyFrom(rel)
    top = rel.top_n
    top.common.direct.SetInParent()
    top.input.CopyFrom(fetch.fetch.input.sort.input)
    top.sorts.extend(fetch.fetch.input.sort.sorts)
    top.offset.CopyFrom(fetch.fetch.offset_expr)
    top.count.CopyFrom(fetch.fetch.count_expr)
    top.mode = 1


def _exchange(kind: str) -> Callable[[Any], object]:
    def change(rel: Any) -> None:
        exchange = Rel().exchange
        exchange.common.direct.SetInParent()
        exchange.partition_count = 3
        exchange.input.CopyFrom(rel)
        if kind == "scatter_by_fields":
            exchange.scatter_by_fields.fields.add().direct_reference.struct_field.field = 1
        elif kind == "single_target":
            exchange.single_target.expression.CopyFrom(message(column(1)))
        else:
            exchange.round_robin.exact = True
        rel.exchange.CopyFrom(exchange)

    return change


def _consistent(rel: Any) -> None:
    field = rel.expand.fields[0]
    field.consistent_field.CopyFrom(field.switching_field.duplicates[0])


LITERALS = (
    ("ab", types.of("fixedchar", 2)),
    ("ab", types.of("varchar", 5)),
    (b"ab", types.of("fixedbinary", 2)),
    (bytes(16), types.of("uuid")),
)

SUM = e.aggregate("arithmetic:sum", column(1), overflow="ERROR")

WINDOW = WindowFunction(
    WindowCall(
        SUM.declaration,
        (column(1),),
        True,
        Bound("preceding", Literal(1, types.I64)),
        Bound("following", Literal(2, types.I64)),
        SUM.options,
    ),
    (column(0),),
    (_KEY,),
)


def _shared_after() -> Plan:
    plan = plan_of(Cross(t, u))
    plan.relations.add().rel.CopyFrom(plan.relations[0].root.input.cross.left)
    plan.relations[0].root.input.cross.left.reference.subtree_ordinal = 1
    return plan


def _types_of_others() -> Plan:
    """A table with a column of every type, each of a variation that is not known."""
    plan = plan_of(NamedTable(["t"], [], []))
    schema = plan.relations[0].root.input.read.base_schema
    for known in Type.DESCRIPTOR.fields:
        if known.name not in ("unbound", "alias"):
            column = getattr(schema.struct.types.add(), known.name)
            column.nullability = Type.NULLABILITY_NULLABLE
            if known.name != "func":
                column.type_variation_reference = 1
            for name in PARAMETERS.keys() & {parameter.name for parameter in column.DESCRIPTOR.fields}:
                setattr(column, name, PARAMETERS[name])
            for parameter in column.DESCRIPTOR.fields:
                if parameter.message_type == Type.DESCRIPTOR:
                    kinds = getattr(column, parameter.name)
                    inner = kinds.add() if hasattr(kinds, "add") else kinds
                    inner.i64.nullability = Type.NULLABILITY_REQUIRED
            schema.names.append(known.name)
            if known.name == "struct":
                schema.names.append("field")
            if known.name == "user_defined":
                for kind in ("null", "data_type", "boolean", "integer", "enum", "string"):
                    _set_parameter(column.type_parameters.add(), kind)
    plan.relations[0].root.names.extend(schema.names)
    plan.extension_urns.add(extension_urn_anchor=1, urn="extension:io.substrait:unsigned_integers")
    declared = plan.extensions.add().extension_type
    declared.extension_urn_reference, declared.type_anchor, declared.name = 1, 2, "u8"
    return plan


PARAMETERS = {"precision": 9, "scale": 2, "length": 3, "type_reference": 2}


def _set_parameter(parameter: Type.Parameter, kind: str) -> None:
    if kind == "null":
        parameter.null.SetInParent()
    elif kind == "data_type":
        parameter.data_type.i64.nullability = Type.NULLABILITY_REQUIRED
    else:
        setattr(parameter, kind, {"boolean": True, "integer": 1}.get(kind, "text"))


def _variations() -> Plan:
    found = Message()
    found.nested.nullable, found.nested.type_variation_reference = True, 1
    literal = found.nested.list.values.add().literal
    literal.i64, literal.type_variation_reference = 1, 1
    return _expression(found)()


def _other_header() -> Plan:
    plan = plan_of(t)
    plan.version.git_hash = "0" * 40
    plan.execution_behavior.variable_eval_mode = ExecutionBehavior.VARIABLE_EVALUATION_MODE_PER_RECORD
    return plan


def _long_lines() -> Plan:
    plan = plan_of(NamedTable(["t"], ["k"], [types.of("string")]))
    file = plan.relations[0].root.input.read.local_files.items.add(uri_file="file:/t.csv")
    file.text.field_delimiter, file.text.max_line_size = ",", 100
    return plan


def _element() -> Plan:
    record = Nested(types.of("struct", I64, I64), (column(0), column(1)))
    input = Project(t, [Nested(types.of("list", record.type), (record, record))]).select([2])
    return plan_of(Project(input, [FieldReference(0, I64, (("element", 1), ("field", 1)))]).select([1]))


def _masked_value() -> Plan:
    record = Nested(types.of("struct", I64, I64), (column(0), column(1)))
    outer = Nested(types.of("struct", record.type, I64), (record, column(0)))
    input = Project(t, [outer]).select([2])

    def change(rel: Any) -> None:
        selection = rel.project.expressions[0].selection
        selection.ClearField("direct_reference")
        item = selection.masked_reference.select.struct_items.add(field=0)
        item.child.struct.struct_items.add(field=0).child.struct.struct_items.add(field=1)

    plan = plan_of(Project(input, [FieldReference(0, input.types[0])]).select([1]), change)
    del plan.relations[0].root.names[1:]
    return plan


def _passed_over(rel: Any) -> None:
    hint = rel.filter.common.hint
    hint.output_names.extend(["a", "b"])
    hint.constraint.SetInParent()
    for kind in (1, 2, 9999):
        hint.saved_computations.add(computation_id=kind, type=kind)
        hint.loaded_computations.add(computation_id_reference=kind, type=kind)


PLANS: dict[str, Callable[[], Plan | ExtendedExpression]] = {
    "right joins": lambda: plan_of(Join(t, u, "INNER", SAME_KEY), joined("RIGHT_SEMI"), 2),
    "right anti joins": lambda: plan_of(Join(t, u, "INNER", SAME_KEY), joined("RIGHT_ANTI"), 2),
    "right single joins": lambda: plan_of(Join(t, u, "INNER", SAME_KEY), joined("RIGHT_SINGLE")),
    "right mark joins": lambda: plan_of(Join(t, u, "INNER", SAME_KEY), joined("RIGHT_MARK"), 3),
    "filters after joins": _changed(Join(t, u, "INNER", SAME_KEY), _post_join_filter),
    "filters after lateral joins": _changed(
        LateralJoin(t, Filter(u, SAME_OUTER), "INNER", e.true()), _post_lateral_filter
    ),
    "masks in structs": _masked_value,
    "elements of lists": _element,
    "types of others, in columns": _types_of_others,
    "variations of types, which are passed over": _variations,
    "when variables are evaluated, of a plan without any": _other_header,
    "greatest sizes of lines, which are passed over": _long_lines,
    "relations after the root": _shared_after,
    "other kinds of text and bytes": lambda: plan_of(
        Project(t, [Literal(value, kind) for given, kind in LITERALS for value in (given, None)])
    ),
    "maps of values": lambda: plan_of(
        Project(t, [Nested(types.of("map", types.I64, I64), (Literal(1, types.I64), column(1)))])
    ),
    "windows as expressions": lambda: plan_of(Project(t, [WINDOW])),
    "masked reads": _changed(t, _masked, 1),
    "filtered reads": _changed(t, _filtered),
    "snapshots of Iceberg tables (emitted where Spark has them)": lambda: plan_of(
        IcebergTable("file:/m.json", "7", ["k"], [I64])
    ),
    "versions of Delta tables (emitted where Spark has them)": lambda: plan_of(
        DeltaTable("file:///t", 3, ["k"], [I64])
    ),
    "switches": _expression(_switch()),
    "lists of records": _expression(_records()),
    "unique rows": _changed(Filter(t, Exists(Filter(u, SAME_OUTER).select([0]))), _unique),
    **{
        f"comparisons {operator} with {reduction} of rows": partial(
            filtered_by_comparison, reduction, operator, column(1), u.select([1])
        )
        for reduction, operator in zip(
            ("ANY", "ALL", "ANY", "ANY", "ANY", "ANY"), ("EQ", "NE", "LT", "GT", "LE", "GE"), strict=True
        )
    },
    **{
        f"set operations {name}": _changed(Set([t, u], "UNION_ALL"), _set(name))
        for name in ("MINUS_MULTISET", "INTERSECTION_PRIMARY")
    },
    "clustered sorts": _changed(Sort(t, [_KEY]), _clustered),
    "first rows": _changed(Fetch(Sort(t, [_KEY]), 1, 2), _top_n),
    **{
        f"exchanges {kind}": _changed(t, _exchange(kind))
        for kind in ("scatter_by_fields", "single_target", "round_robin")
    },
    "consistent fields": _changed(Expand(t, [(column(0), column(1)), (column(0), e.null(I64))]), _consistent),
    "hints that are passed over": _changed(Filter(t, e.true()), _passed_over),
}
"""Plans by name, of forms that ours don't have."""

NOT = {
    "*JoinType.JOIN_TYPE_UNSPECIFIED": "a join without a type means nothing",
    "*_UNSPECIFIED": "says nothing: our plans always say, and what is made of it in those of others is in the [design notes](../design.md)",
    # what others are to understand
    "*.Stats.advanced_extension": "nothing is known of rows beyond their number and size",
    "*.advanced_extension": "our plans have their extensions in hints; those of others are passed over, if they change nothing",
    "Extension*Rel*": "no relation of ours has none or several inputs; those of others mean what is not known",
    "Rel.extension_*": "no relation of ours has none or several inputs; those of others mean what is not known",
    # physical relations
    "HashJoinRel*": "physical: a plan says what is joined, not how",
    "MergeJoinRel*": "physical: a plan says what is joined, not how",
    "NestedLoopJoinRel*": "physical: a plan says what is joined, not how",
    "ComparisonJoinKey*": "physical: a plan says what is joined, not how",
    "Rel.hash_join": "physical: a plan says what is joined, not how",
    "Rel.merge_join": "physical: a plan says what is joined, not how",
    "Rel.nested_loop_join": "physical: a plan says what is joined, not how",
    "ExchangeRel*": "physical: rows that go to several places, or outside of the plan, are others than the input's",
    # statements
    "WriteRel.WriteOp.*": "updates are UpdateRels",
    "WriteRel.OutputMode.*": "statements give no rows",
    "DdlRel.extension_object": "tables and views have names",
    # reads
    "ReadRel.IcebergTable.MetadataFileRead.snapshot_timestamp": "Spark settles which snapshot a time means: plans have its number",
    "ReadRel.LocalFiles.FileOrFiles.uri_path": "a file or a folder, which of them is not said: plans name files and patterns",
    "ReadRel.LocalFiles.FileOrFiles.uri_folder": "plans name the files that Spark found, or a pattern for all of them",
    "ReadRel.LocalFiles.FileOrFiles.partition_index": "plans read whole files",
    "ReadRel.LocalFiles.FileOrFiles.start": "plans read whole files",
    "ReadRel.LocalFiles.FileOrFiles.*arrow*": "Spark has no source of Arrow's files",
    "ReadRel.LocalFiles.FileOrFiles.*Arrow*": "Spark has no source of Arrow's files",
    "ReadRel.LocalFiles.FileOrFiles.*dwrf*": "Spark has no source of DWRF files",
    "ReadRel.LocalFiles.FileOrFiles.*Dwrf*": "Spark has no source of DWRF files",
    # expressions
    "FunctionArgument.type": "no function of Spark's, nor of the standard files, has an argument that is a type",
    "Expression.lambda_invocation": "Spark calls no lambda but from a function that takes it",
    "Expression.LambdaInvocation*": "Spark calls no lambda but from a function that takes it",
    "Expression.EmbeddedFunction*": "part of no expression: `Expression.rex_type` has no field for it",
    "Expression.Literal.user_defined": "functions make the values of our user-defined types",
    "Expression.Literal.UserDefined*": "functions make the values of our user-defined types",
    "Expression.MaskExpression.*": "what masks of lists and maps leave is not said",
    "SortField.comparison_function_reference": "Spark sorts by values, not by functions",
    "FetchMode.FETCH_MODE_WITH_TIES": "Spark's limits count rows",
    "AggregationPhase.*": "a plan computes whole aggregates: how they are parted is physical",
    # types
    "Type.unbound": "for plans that are bound in part: ours are whole",
    "Type.Unbound": "for plans that are bound in part: ours are whole",
    # plans
    "PlanVersion*": "to read a plan's version by, without the plan",
    "Version.major_number": "always 0 so far, which leaves no trace",
    "Version.patch_number": "always 0 so far, which leaves no trace",
    "ExtendedExpression.advanced_extensions": "our expressions by themselves have no extensions",
    "ExtendedExpression.expected_type_urls": "our expressions by themselves have no extensions",
}
"""Why nothing has the items whose names fit a pattern; the first one counts."""
