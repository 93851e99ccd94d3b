"""Random queries: each is one tree that reads as SQL and as DataFrame operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from hypothesis import assume
from hypothesis import strategies as st
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from .expressions import ATOMS, INTEGERS, TYPES, Column, expression
from .tables import FILES

COMPARABLE = (*ATOMS, "array<int>", "struct<x:int,y:string>")
"""Types that can be grouped by and sorted by, and that the generator makes keys of."""

MOST_ROWS = 500_000
"""As many rows as a query may have by `Query.most_rows`: some millions, of all of a table's columns, take all of a machine's memory."""

LONGEST_ARRAY = 6
"""About as many elements as the arrays have that queries explode."""


@dataclass(frozen=True)
class Query:
    """A query with the columns that it yields."""

    columns: tuple[Column, ...] = field(default=(), kw_only=True)

    def sql(self) -> str:
        """The query as a SELECT."""
        raise NotImplementedError

    def dataframe(self, spark: SparkSession) -> DataFrame:
        """The query by DataFrame operations."""
        raise NotImplementedError

    def most_rows(self) -> int:
        """As many rows as it may yield at most, where each row of a join meets all of the other side's."""
        raise NotImplementedError

    def source(self) -> str:
        """The query in a FROM clause."""
        return f"({self.sql()})"


@lru_cache(maxsize=100)
def _table_of(spark: SparkSession, table: str, names: tuple[str, ...]) -> DataFrame:
    """A table's columns by other names. No query has the same names twice, and most begin with the same."""
    return spark.table(table).toDF(*names)


@dataclass(frozen=True)
class Table(Query):
    name: str

    def most_rows(self) -> int:
        return sum(FILES[self.name])

    def sql(self) -> str:
        return f"SELECT {self._renamed()} FROM {self.name}"

    def dataframe(self, spark: SparkSession) -> DataFrame:
        return _table_of(spark, self.name, tuple(column.name for column in self.columns))

    def _renamed(self) -> str:
        return ", ".join(f"c{n} AS {column.name}" for n, column in enumerate(self.columns))


@dataclass(frozen=True)
class Select(Query):
    child: Query
    expressions: tuple[str, ...]
    distinct: bool = False

    def most_rows(self) -> int:
        return self.child.most_rows()

    def sql(self) -> str:
        items = ", ".join(f"{sql} AS {c.name}" for sql, c in zip(self.expressions, self.columns, strict=True))
        return f"SELECT {'DISTINCT ' if self.distinct else ''}{items} FROM {self.child.source()}"

    def dataframe(self, spark: SparkSession) -> DataFrame:
        items = [F.expr(sql).alias(c.name) for sql, c in zip(self.expressions, self.columns, strict=True)]
        selected = self.child.dataframe(spark).select(*items)
        return selected.distinct() if self.distinct else selected


@dataclass(frozen=True)
class Where(Query):
    child: Query
    condition: str

    def most_rows(self) -> int:
        return self.child.most_rows()

    def sql(self) -> str:
        return f"SELECT * FROM {self.child.source()} WHERE {self.condition}"

    def dataframe(self, spark: SparkSession) -> DataFrame:
        return self.child.dataframe(spark).where(self.condition)


@dataclass(frozen=True)
class Join(Query):
    left: Query
    right: Query
    how: str
    condition: str

    def most_rows(self) -> int:
        left, right = self.left.most_rows(), self.right.most_rows()
        return left if self.how in ("left_semi", "left_anti") else max(left, 1) * max(right, 1)

    def sql(self) -> str:
        return f"SELECT * FROM {self.left.source()} {self.how.upper().replace('_', ' ')} JOIN {self.right.source()} ON {self.condition}"

    def dataframe(self, spark: SparkSession) -> DataFrame:
        return self.left.dataframe(spark).join(
            self.right.dataframe(spark), F.expr(self.condition), self.how.replace("_", "")
        )


@dataclass(frozen=True)
class Aggregate(Query):
    child: Query
    keys: tuple[str, ...]
    measures: tuple[str, ...]
    grouping: str = ""

    def most_rows(self) -> int:
        return self.child.most_rows() * (2 ** len(self.keys) if self.grouping else 1)

    def sql(self) -> str:
        keys = [f"{key} AS {c.name}" for key, c in zip(self.keys, self.columns, strict=False)]
        measures = [f"{m} AS {c.name}" for m, c in zip(self.measures, self.columns[len(keys) :], strict=True)]
        listed = ", ".join(self.keys)
        group = f" GROUP BY {self.grouping}({listed})" if self.grouping else f" GROUP BY {listed}" if keys else ""
        return f"SELECT {', '.join([*keys, *measures])} FROM {self.child.source()}{group}"

    def dataframe(self, spark: SparkSession) -> DataFrame:
        child = self.child.dataframe(spark)
        keys = [F.expr(key) for key in self.keys]
        method = {"ROLLUP": child.rollup, "CUBE": child.cube, "": child.groupBy}[self.grouping]
        measures = [F.expr(sql) for sql in self.measures]
        return method(*keys).agg(*measures).toDF(*(column.name for column in self.columns))


@dataclass(frozen=True)
class Set(Query):
    left: Query
    right: Query
    operation: str

    def most_rows(self) -> int:
        return self.left.most_rows() + self.right.most_rows()

    def sql(self) -> str:
        return f"SELECT * FROM {self.left.source()} {self.operation} SELECT * FROM {self.right.source()}"

    def dataframe(self, spark: SparkSession) -> DataFrame:
        left, right = self.left.dataframe(spark), self.right.dataframe(spark)
        return {
            "UNION ALL": left.unionAll,
            "UNION": lambda other: left.unionAll(other).distinct(),
            "INTERSECT": left.intersect,
            "EXCEPT": left.subtract,
            "INTERSECT ALL": left.intersectAll,
            "EXCEPT ALL": left.exceptAll,
        }[self.operation](right)


@dataclass(frozen=True)
class Limit(Query):
    """The first rows, or all, in an order by all columns, so that ties are equal rows."""

    child: Query
    orders: tuple[str, ...]
    count: int | None
    offset: int

    def most_rows(self) -> int:
        return self.child.most_rows() if self.count is None else self.count

    def sql(self) -> str:
        limit = "" if self.count is None else f" LIMIT {self.count} OFFSET {self.offset}"
        return f"SELECT * FROM {self.child.source()} ORDER BY {', '.join(self.orders)}{limit}"

    def dataframe(self, spark: SparkSession) -> DataFrame:
        ordered = self.child.dataframe(spark).orderBy(*(_sort_key(order) for order in self.orders))
        if self.count is None:
            return ordered
        return ordered.offset(self.offset).limit(self.count) if self.offset else ordered.limit(self.count)


@dataclass(frozen=True)
class Explode(Query):
    child: Query
    array: str
    outer: bool

    def most_rows(self) -> int:
        return self.child.most_rows() * LONGEST_ARRAY

    def sql(self) -> str:
        kept = ", ".join(column.name for column in self.columns[:-1])
        generator = f"explode{'_outer' if self.outer else ''}({self.array}) AS {self.columns[-1].name}"
        return f"SELECT {kept}, {generator} FROM {self.child.source()}"

    def dataframe(self, spark: SparkSession) -> DataFrame:
        explode = F.explode_outer if self.outer else F.explode
        kept = [column.name for column in self.columns[:-1]]
        return self.child.dataframe(spark).select(*kept, explode(F.expr(self.array)).alias(self.columns[-1].name))


@dataclass(frozen=True)
class Stack(Query):
    child: Query
    values: tuple[str, ...]

    def most_rows(self) -> int:
        return self.child.most_rows() * len(self.values)

    def sql(self) -> str:
        kept = ", ".join(column.name for column in self.columns[:-1])
        return f"SELECT {kept}, {self._generator()} AS {self.columns[-1].name} FROM {self.child.source()}"

    def dataframe(self, spark: SparkSession) -> DataFrame:
        kept = [column.name for column in self.columns[:-1]]
        return self.child.dataframe(spark).select(*kept, F.expr(self._generator()).alias(self.columns[-1].name))

    def _generator(self) -> str:
        return f"stack({len(self.values)}, {', '.join(self.values)})"


def _sort_key(order: str) -> SparkColumn:
    expression, direction, _, nulls = order.rsplit(maxsplit=3)
    key: SparkColumn = getattr(F.expr(expression), f"{direction.lower()}_nulls_{nulls.lower()}")()
    return key


# ---- strategies


class Names:
    """Column names that no other part of the query has."""

    def __init__(self) -> None:
        self._count = 0

    def columns(self, types: Sequence[str]) -> tuple[Column, ...]:
        """A column of each type."""
        found = []
        for type in types:
            self._count += 1
            found.append(Column(f"v{self._count}", type))
        return tuple(found)


@st.composite
def queries(draw: st.DrawFn, depth: int = 3) -> Query:
    """A query of up to `depth` operations on its longest way, and of no more than MOST_ROWS."""
    query = draw(_query(Names(), depth))
    assume(query.most_rows() <= MOST_ROWS)
    return query


@st.composite
def _query(draw: st.DrawFn, names: Names, depth: int) -> Query:
    if depth == 0:
        return _table(draw, names)
    maker: Maker = draw(st.sampled_from(MAKERS))
    return maker(draw, names, depth - 1)


def _table(draw: st.DrawFn, names: Names, _depth: int = 0) -> Query:
    return Table(draw(st.sampled_from(["many", "many", "few", "few", "empty"])), columns=names.columns(TYPES))


def _select(draw: st.DrawFn, names: Names, depth: int) -> Query:
    child = draw(_query(names, depth))
    types = draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=4))
    expressions = [draw(expression(type, child.columns)) for type in types]
    distinct = draw(st.integers(0, 4)) == 0 and not any(type.startswith("map") for type in types)
    return Select(child, tuple(expressions), distinct, columns=names.columns(types))


def _where(draw: st.DrawFn, names: Names, depth: int) -> Query:
    child = draw(_query(names, depth))
    return Where(child, draw(expression("boolean", child.columns)), columns=child.columns)


def _exists(draw: st.DrawFn, names: Names, depth: int) -> Query:
    """A filter by a subquery: IN, NOT IN, EXISTS, or a scalar one."""
    child = draw(_query(names, depth))
    inner = draw(_query(names, min(depth, 1)))
    type = draw(st.sampled_from((*INTEGERS, "string", "date")))
    outer_value = draw(expression(type, child.columns, 0))
    inner_value = draw(expression(type, inner.columns, 1))
    form = draw(st.sampled_from(["IN", "NOT IN", "EXISTS", "NOT EXISTS", "SCALAR"]))
    if form in ("IN", "NOT IN"):
        condition = f"{outer_value} {form} (SELECT {inner_value} FROM {inner.source()})"
    elif form == "SCALAR":
        condition = f"{outer_value} >= (SELECT max({inner_value}) FROM {inner.source()})"
    else:
        condition = f"{inner_value} = {outer_value}"
        if draw(st.booleans()):
            others = [draw(expression(type, side.columns, 0)) for side in (inner, child)]
            condition += f" AND {others[0]} <> {others[1]}"
        condition = f"{form} (SELECT 1 FROM {inner.source()} WHERE {condition})"
    if draw(st.booleans()):
        condition = f"({condition} OR {draw(expression('boolean', child.columns, 1))})"
    return Where(child, condition, columns=child.columns)


def _join(draw: st.DrawFn, names: Names, depth: int) -> Query:
    left, right = draw(_query(names, depth)), draw(_query(names, min(depth, 1)))
    how = draw(st.sampled_from(["inner", "left", "right", "full", "left_semi", "left_anti", "cross"]))
    type = draw(st.sampled_from(ATOMS))
    operator = draw(st.sampled_from(["=", "=", "=", "<=>", "<"]))
    keys = [draw(expression(type, side.columns, 1)) for side in (left, right)]
    condition = f"({keys[0]} {operator} {keys[1]})"
    if draw(st.integers(0, 3)) == 0:
        condition += f" AND {draw(expression('boolean', (*left.columns, *right.columns), 1))}"
    if how == "cross":
        how, condition = "inner", "true"
    columns = left.columns if how in ("left_semi", "left_anti") else left.columns + right.columns
    return Join(left, right, how, condition, columns=columns)


MEASURES = (
    ("bigint", "count(*)"),
    ("bigint", "count({any})"),
    ("bigint", "count(DISTINCT {atom})"),
    ("bigint", "count_if({boolean})"),
    ("bigint", "try_sum({int})"),
    ("bigint", "sum(CAST({smallint} AS INT))"),
    ("bigint", "sum(DISTINCT {tinyint})"),
    ("decimal(20,4)", "try_cast(sum({decimal(10,2)}) AS DECIMAL(20,4))"),
    ("decimal(20,4)", "try_cast(avg({decimal(10,2)}) AS DECIMAL(20,4))"),
    ("double", "avg({smallint})"),
    ("double", "sum(CAST({smallint} AS DOUBLE))"),
    ("boolean", "bool_and({boolean})"),
    ("boolean", "bool_or({boolean})"),
    ("int", "bit_xor({int})"),
    ("same", "min({atom})"),
    ("same", "max({atom})"),
    ("bigint", "count({atom}) FILTER (WHERE {boolean})"),
    ("array<int>", "sort_array(collect_list({int}))"),
    ("array<string>", "sort_array(collect_set({string}))"),
)
"""Aggregates whose result does not depend on the order of the rows."""


def _filled(draw: st.DrawFn, form: tuple[str, str], columns: Sequence[Column]) -> tuple[str, str]:
    """The type and the SQL of a measure."""
    type, template = form
    atom = draw(st.sampled_from(ATOMS))
    template = template.replace("{atom}", f"{{{atom}}}").replace("{any}", f"{{{draw(st.sampled_from(TYPES))}}}")
    parts = template.split("{")
    sql = parts[0]
    for part in parts[1:]:
        place, rest = part.split("}", 1)
        sql += draw(expression(place, columns, 1)) + rest
    return (atom if type == "same" else type), sql


def _aggregate(draw: st.DrawFn, names: Names, depth: int) -> Query:
    child = draw(_query(names, depth))
    key_types = draw(st.lists(st.sampled_from(COMPARABLE), max_size=2))
    keys = [draw(expression(type, child.columns, 1)) for type in key_types]
    # A literal in GROUP BY would be the number of a column.
    keys = [key if any(c.name in key for c in child.columns) else f"concat('k', CAST({key} AS STRING))" for key in keys]
    key_types = [
        type if any(c.name in key for c in child.columns) else "string"
        for key, type in zip(keys, key_types, strict=True)
    ]
    measures = [
        _filled(draw, form, child.columns) for form in draw(st.lists(st.sampled_from(MEASURES), min_size=1, max_size=3))
    ]
    grouping = draw(st.sampled_from(["", "", "", "ROLLUP", "CUBE"])) if len(set(keys)) == len(keys) > 0 else ""
    columns = names.columns([*key_types, *(type for type, _ in measures)])
    return Aggregate(child, tuple(keys), tuple(sql for _, sql in measures), grouping, columns=columns)


WINDOWS = (
    ("int", "row_number()"),
    ("int", "rank()"),
    ("int", "dense_rank()"),
    ("double", "percent_rank()"),
    ("int", "ntile(3)"),
    ("same", "lag({atom})"),
    ("same", "lead({atom}, 2)"),
    ("bigint", "count(*)"),
    ("bigint", "sum(CAST({smallint} AS INT))"),
    ("same", "min({atom})"),
    ("same", "max({atom})"),
    ("same", "first_value({atom})"),
    ("same", "last_value({atom})"),
)
"""Functions over windows that are ordered by all columns, where ties are equal rows."""
FRAMES = (
    "",
    "",
    " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
    " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
)
FRAMED = ("count", "sum", "min", "max", "first_value", "last_value")


def _flat(draw: st.DrawFn, names: Names, depth: int) -> Query:
    """A query without nested columns, which DataFusion sorts otherwise than Spark."""
    child = draw(_query(names, depth))
    kept = [column for column in child.columns if column.type in ATOMS]
    if len(kept) == len(child.columns):
        return child
    expressions = tuple(column.name for column in kept) or ("1",)
    return Select(child, expressions, columns=names.columns([column.type for column in kept] or ["int"]))


def _window(draw: st.DrawFn, names: Names, depth: int) -> Query:
    child = _flat(draw, names, depth)
    type, call = _filled(draw, draw(st.sampled_from(WINDOWS)), child.columns)
    partition = _computed_key(draw, child.columns) or draw(st.sampled_from(child.columns)).name
    orders = ", ".join(_orders(draw, child.columns))
    frame = draw(st.sampled_from(FRAMES)) if call.startswith(FRAMED) else ""
    over = f"{call} OVER (PARTITION BY {partition} ORDER BY {orders}{frame})"
    kept = child.columns[:3]
    return Select(child, (*(c.name for c in kept), over), columns=names.columns([*(c.type for c in kept), type]))


DIRECTIONS = ("ASC NULLS FIRST", "DESC NULLS LAST", "ASC NULLS LAST", "DESC NULLS FIRST")


def _orders(draw: st.DrawFn, columns: Sequence[Column]) -> tuple[str, ...]:
    """All columns, each in one of the four orders; a random one comes first, and before it sometimes a computed key."""
    first = draw(st.sampled_from(columns))
    ordered = [first, *(column for column in columns if column is not first)]
    computed = _computed_key(draw, columns)
    keys = [*([computed] if computed else []), *(column.name for column in ordered)]
    return tuple(f"{key} {draw(st.sampled_from(DIRECTIONS))}" for key in keys)


def _computed_key(draw: st.DrawFn, columns: Sequence[Column]) -> str:
    """An expression to order or group by, or none. A literal in ORDER BY would be the number of a column."""
    if draw(st.integers(0, 3)):
        return ""
    key = draw(expression(draw(st.sampled_from(["boolean", "boolean", *ATOMS])), columns, 1))
    return f"({key})" if any(column.name in key for column in columns) else ""


def _limit(draw: st.DrawFn, names: Names, depth: int) -> Query:
    child = _flat(draw, names, depth)
    orders = _orders(draw, child.columns)
    count = draw(st.sampled_from([None, None, 0, 1, 3, 5, 9]))
    return Limit(child, orders, count, draw(st.sampled_from([0, 0, 2])), columns=child.columns)


SETS = ("UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL")


def _set(draw: st.DrawFn, names: Names, depth: int) -> Query:
    left, right = draw(_query(names, depth)), draw(_query(names, min(depth, 1)))
    types = draw(st.lists(st.sampled_from(COMPARABLE), min_size=1, max_size=3))
    sides = [
        Select(side, tuple(draw(expression(type, side.columns, 1)) for type in types), columns=names.columns(types))
        for side in (left, right)
    ]
    return Set(sides[0], sides[1], draw(st.sampled_from(SETS)), columns=sides[0].columns)


def _explode(draw: st.DrawFn, names: Names, depth: int) -> Query:
    child = draw(_query(names, depth))
    array, element = draw(st.sampled_from([("array<int>", "int"), ("array<string>", "string")]))
    kept = draw(st.lists(st.sampled_from(child.columns), min_size=1, max_size=3, unique=True))
    generated = names.columns([element])
    return Explode(child, draw(expression(array, child.columns, 1)), draw(st.booleans()), columns=(*kept, *generated))


def _stack(draw: st.DrawFn, names: Names, depth: int) -> Query:
    child = draw(_query(names, depth))
    type = draw(st.sampled_from(COMPARABLE))
    values = [draw(expression(type, child.columns, 1)) for _ in range(draw(st.integers(2, 4)))]
    if type not in ATOMS:  # whose values stack takes only with the same nulls allowed inside
        values = [f"CAST({value} AS {type})" for value in values]
    kept = draw(st.lists(st.sampled_from(child.columns), min_size=1, max_size=3, unique=True))
    return Stack(child, tuple(values), columns=(*kept, *names.columns([type])))


Maker = Callable[[st.DrawFn, Names, int], Query]

MAKERS: tuple[Maker, ...] = (
    _select,
    _select,
    _where,
    _where,
    _exists,
    _join,
    _join,
    _aggregate,
    _aggregate,
    _window,
    _limit,
    _set,
    _explode,
    _stack,
    _table,
)
