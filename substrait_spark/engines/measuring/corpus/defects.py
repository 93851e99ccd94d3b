"""What engines are known to get wrong: each kind of defect that there is a rewrite against, by a small plan that shows it.

The parts of such a plan are right by themselves; `measuring/guards.py` has the rewrites that keep plans from what isn't. Calls leave
their options open, which no value here hangs on.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....algebra import types
from ....algebra.expression import (
    Bound,
    Cast,
    Exists,
    Expression,
    FieldReference,
    IfThen,
    Lambda,
    Literal,
    ScalarFunction,
    ScalarSubquery,
    SingularOrList,
    SortField,
    WindowCall,
)
from ....algebra.relation import (
    Aggregate,
    Cross,
    Fetch,
    Filter,
    Join,
    NamedTable,
    Project,
    Relation,
    Set,
    Sort,
    VirtualTable,
    Window,
)
from ....algebra.traversal import relations_below
from ....extensions import registry
from ..case import Case, Subject, output_names, read
from ..values import Table
from .relations import BOOL, BUILDER, I32, TEXT, aggregate, column, equal

I64, FP64 = types.of("i64"), types.of("fp64")
LISTS, TEXTS = types.of("list", I32), types.of("list", TEXT)

_TABLES = {
    "one": Table(("x", "y"), (I32, I32), ((1, 1),)),
    "two": Table(("x",), (I32,), ((1,), (2,))),
    "null": Table(("x",), (I32,), ((None,),)),
    "other": Table(("y",), (I32,), ((2,), (None,))),
    "texts": Table(("s",), (TEXT,), (("a",), ("1",))),
    "numbers": Table(("x",), (FP64,), ((float("nan"),), (0.0,), (-0.0,))),
    "lists": Table(("l",), (LISTS,), (((None,),), ((1,),))),
    "none": Table(("l",), (TEXTS,), ()),
    "keys": Table(("k",), (I64,), ((0,), (1,), (2,))),
    "amounts": Table(("a",), (types.of("decimal", 2, 1),), ((15,),)),
    "flags": Table(("b",), (BOOL,), ((None,),)),
}


def cases() -> Iterator[Case]:
    """The cases of all kinds of defects."""
    for made in (_of_expressions, _of_nulls, _of_order, _of_joins, _of_aggregates, _of_unions, _of_windows):
        yield from made()


def table(name: str) -> NamedTable:
    """The read of one of the tables."""
    return read(name, _TABLES[name])


def _case(defect: str, about: str, relation: Relation, *, ordered: bool = False) -> Case:
    reads = [each for each in relations_below(relation, subqueries=True) if isinstance(each, NamedTable)]
    tables = {name: _TABLES[name] for name in sorted({each.table[-1] for each in reads})}
    return Case(Subject("defects", (defect,)), about, relation, tables, output_names(relation), ordered=ordered)


def _one_row() -> Relation:
    return VirtualTable([()], [], [])


def _number(value: int | None) -> Literal:
    return Literal(value, I32)


def _literals(*values: int) -> Relation:
    return Project(_one_row(), [Literal(value, types.I32) for value in values])


def _computed(input: Relation, *expressions: Expression) -> Relation:
    """What is computed, without the columns of the input."""
    width = len(input.types)
    return Project(input, expressions).select(range(width, width + len(expressions)))


def _gt(left: Expression, right: Expression) -> Expression:
    return BUILDER.call("comparison:gt", left, right)


def _ascending(*keys: Expression, nulls_first: bool = True) -> list[SortField]:
    return [SortField(key, True, nulls_first) for key in keys]


# ---- expressions


def _of_expressions() -> Iterator[Case]:
    number = Cast(column(0, TEXT), I32, True)
    is_number = BUILDER.not_(equal(column(0, TEXT), Literal("a", types.STRING)))
    text = table("texts")
    both = BUILDER.and_(is_number, _gt(number, _number(0)))
    either = BUILDER.or_(BUILDER.not_(is_number), _gt(number, _number(0)))
    chosen = IfThen(((is_number, _gt(number, _number(0))),), Literal(False, BOOL))
    for about, value in (("AND", both), ("OR", either), ("CASE", chosen)):
        yield _case("eager_connectives", f"{about} where a cast to int fails", _computed(text, column(0, TEXT), value))
    yield _case("eager_connectives", "WHERE s <> 'a' AND cast(s AS int) > 0", Filter(text, both))
    failing = Cast(Literal("a", types.STRING), I32, True)
    late = IfThen(((_gt(column(0), _number(1)), failing),), _number(None))
    yield _case("early_casts", "CASE WHEN x > 1 THEN cast('a' AS int) END", _computed(table("one"), late))
    cut = equal(Cast(column(0, types.of("decimal", 2, 1)), I32, True), _number(1))
    yield _case("unwraps_casts", "cast(1.5 AS int) = 1", _computed(table("amounts"), cut))
    like = BUILDER.call("string:like", Literal("a\\b", TEXT), Literal("a\\b", types.STRING))
    yield _case("like_escapes", r"'a\b' LIKE 'a\b'", _computed(table("one"), like))
    option = IfThen(((equal(column(0), _number(1)), _number(1)),), _number(None))
    among = SingularOrList(Literal(1, types.I32), (Literal(2, types.I32), option))
    yield _case("literal_options", "1 IN (2, CASE x WHEN 1 THEN 1 END)", _computed(table("one"), among))
    negative = BUILDER.call("arithmetic:negate", column(0, FP64))
    yield _case("nan_payloads", "x = -x of NaN", _computed(table("numbers"), equal(column(0, FP64), negative)))
    counted = aggregate("aggregate_generic:count")
    union = Set([table("numbers"), _computed(table("numbers"), negative)], "UNION_ALL")
    yield _case("nan_payloads", "GROUP BY NaN and -NaN", Aggregate(union, [column(0, FP64)], [counted]))
    yield _case("signed_zeros_in_keys", "GROUP BY x", Aggregate(table("numbers"), [column(0, FP64)], [counted]))
    greatest = BUILDER.call("spark:array_max", column(0, TEXTS))
    yield _case("extremes_want_rows", "array_max(l) of no row", _computed(table("none"), greatest))
    yield from _lambdas()


def _lambdas() -> Iterator[Case]:
    element = FieldReference(0, I32, (), 0, 0)
    pairs = Cross(table("lists"), table("one"))
    greater = Lambda((I32,), _gt(element, column(1)))
    declaration = registry.resolved("scalar", "list:any_match", (LISTS, greater.type))
    assert declaration is not None  # noqa: S101 - the standard's file declares it
    found = ScalarFunction(declaration, (column(0, LISTS), greater))
    yield _case("lambdas_in_joins", "FROM lists, one WHERE any_match(l, e -> e > x)", Filter(pairs, found))


# ---- nulls


def _of_nulls() -> Iterator[Case]:
    same = BUILDER.call("arithmetic:bitwise_xor", column(0), column(0))
    yield _case("forgets_nulls", "x ^ x of null", _computed(table("null"), same))
    lists = [SingularOrList(column(0), (Literal(value, types.I32),)) for value in (1, 2)]
    yield _case("forgets_nulls", "x IN (1) AND x IN (2) of null", _computed(table("null"), BUILDER.and_(*lists)))
    nothing = ScalarSubquery(Filter(_literals(1), Literal(False, types.BOOLEAN)))
    yield _case("subquery_nulls", "(SELECT 1 WHERE false) IS NULL", _computed(table("one"), BUILDER.is_null(nothing)))
    marked = Join(table("one"), table("other"), "LEFT_MARK", equal(column(0), column(2)))
    either = BUILDER.or_(_gt(column(0), _number(1)), BUILDER.is_null(column(2, BOOL)))
    yield _case("unknown_marks", "x > 1 OR (x IN (2, NULL)) IS NULL", Filter(marked, either))
    by_list = _ascending(column(0, LISTS), nulls_first=False)
    yield _case("nested_nulls_follow", "ORDER BY l NULLS LAST", Sort(table("lists"), by_list), ordered=True)
    field = types.of("struct", types.I32)
    written = VirtualTable([(Literal((1,), field),)], ["s", "f"], [field])
    yield _case("nested_required", "a struct with a field that is never null", written)


# ---- sorts, fetches, filters


def _of_order() -> Iterator[Case]:
    rows = Table(("x",), (I32,), ((1,), (2,), (3,)))
    sorted_ = Sort(_written(rows), _ascending(column(0)))
    fetched = Sort(Fetch(sorted_, 1, 2), _ascending(column(0)))
    yield _case("offsets_forgotten", "ORDER BY above LIMIT 2 OFFSET 1", fetched, ordered=True)
    negative = Project(table("two"), [BUILDER.call("arithmetic:negate", column(0))])
    last = Fetch(Sort(negative, _ascending(column(1))).select([0]), 1, None)
    yield _case("offsets_lose_order", "CROSS JOIN (SELECT x … ORDER BY -x OFFSET 1)", Cross(table("one"), last))
    positive = _gt(column(0), _number(0))
    sort = Sort(Filter(table("two"), positive), _ascending(positive, column(0)))
    yield _case("keys_named_below", "WHERE x > 0 ORDER BY x > 0", sort, ordered=True)
    cut = Fetch(Sort(Project(table("one"), [_number(3)]), _ascending(column(1))), 0, 1)
    narrow = Sort(Filter(cut, positive).select([0, 2, 1]), _ascending(column(2))).select([0, 1])
    yield _case("narrows_filters_twice", "x, 3 FROM (SELECT *, 3 … ORDER BY y LIMIT 1) WHERE x > 0 ORDER BY y", narrow)
    distance = _gt(BUILDER.call("arithmetic:abs", column(0)), _number(1))
    distinct = Aggregate(table("two"), [column(0)], [])
    sort = Sort(distinct, _ascending(distance))
    yield _case("ranges_of_unknowns", "SELECT DISTINCT x ORDER BY abs(x) > 1", sort, ordered=True)
    total = Project(Aggregate(table("one"), [], [aggregate("aggregate_generic:count")]), [Literal(1, types.I32)])
    filtered = Filter(total, _gt(column(1, types.I32), Literal(2, types.I32)))
    yield _case("filters_below_totals", "FROM (SELECT count(*), 1 AS o) WHERE o > 2", filtered)
    extremes = [aggregate(f"arithmetic:{name}", column(0, I64)) for name in ("max", "min")]
    grouped = Aggregate(table("keys"), [column(0, I64)], extremes)
    some = Filter(grouped, BUILDER.not_(equal(column(1, I64), Literal(0, types.I64))))
    quotient = BUILDER.call("arithmetic:divide", Literal(1, types.I64), column(1, I64))
    summed = BUILDER.call("arithmetic:add", BUILDER.call("arithmetic:add", quotient, column(0, I64)), column(2, I64))
    about = "max(k), 1 / max(k) + k + min(k) GROUP BY k HAVING max(k) <> 0"
    yield _case("projects_below_filters", about, _computed(some, column(1, I64), summed))


def _written(rows: Table) -> VirtualTable:
    """Rows that are in the plan."""
    literals = [
        tuple([Literal(value, type) for value, type in zip(row, rows.schema, strict=True)]) for row in rows.rows
    ]
    return VirtualTable(literals, list(rows.names), rows.schema)


# ---- joins


def _of_joins() -> Iterator[Case]:
    counted = aggregate("aggregate_generic:count")
    outer = Join(table("two"), _literals(1), "LEFT", equal(column(0), column(1, types.I32)))
    sort = Sort(outer, _ascending(column(1), column(0)))
    yield _case("constants_survive", "LEFT JOIN (SELECT 1 AS j) ON x = j ORDER BY j", sort, ordered=True)
    one = table("one").select([0])
    positive = Filter(one, _gt(column(0), _number(0)))
    following = BUILDER.call("arithmetic:add", column(1), _number(1))
    right = Join(one, positive, "RIGHT", equal(column(0), following))
    missing = Filter(right, BUILDER.is_null(column(0))).select([1])
    yield _case("filters_go_by_name", "RIGHT JOIN … ON l.x = r.x + 1 WHERE l.x IS NULL", missing)
    without = Exists(table("two").select([]))
    yield _case(
        "joins_without_columns",
        "EXISTS (SELECT FROM two) OR x > 1",
        Filter(table("one"), BUILDER.or_(without, _gt(column(0), _number(1)))),
    )
    rows = _written(_TABLES["two"])
    sums = _computed(rows, BUILDER.call("arithmetic:add", column(0), _number(0)))
    found = Join(sums, rows, "LEFT", equal(column(1), column(0)))
    yield _case("keys_found_below", "(SELECT x + 0 AS s FROM two) LEFT JOIN two ON x = s", found)
    own = Join(table("one"), table("two"), "LEFT", equal(column(0), column(1)))
    yield _case("keys_of_one_side", "LEFT JOIN ON x = y of the left", own)
    chosen = IfThen(((_gt(column(0), _number(5)), Cast(column(1, TEXT), I32, True)),), column(0))
    nested_loop = Join(table("two"), table("texts"), "INNER", _gt(chosen, _number(0)))
    yield _case("joins_compute_parts", "JOIN ON CASE WHEN x > 5 THEN cast(s AS int) ELSE x END > 0", nested_loop)
    keys = Cross(Aggregate(_literals(1), [column(0, types.I32)], []), table("two"))
    both = Aggregate(keys, [column(0, types.I32), column(1)], [])
    joined = Join(_literals(1), both, "INNER", equal(column(0, types.I32), column(1, types.I32)))
    yield _case("keys_survive_joins", "JOIN (SELECT DISTINCT k, x) ON a = k", Aggregate(joined, [], [counted]))
    null = table("null")
    pair = Join(null, null, "INNER", equal(column(0), column(1)))
    safe = BUILDER.call("comparison:is_not_distinct_from", column(1), column(2))
    yield _case("one_null_equality", "a JOIN b ON = JOIN c ON <=>", Join(pair, null, "INNER", safe))
    inner = Join(table("two"), table("two"), "INNER", equal(column(0), column(1)))
    total = BUILDER.call("arithmetic:add", column(1), column(2))
    spanning = Join(table("two"), inner, "INNER", equal(column(0), total))
    yield _case("spanning_keys_lost", "a JOIN (b JOIN d) ON a.n = b.n + d.n", Aggregate(spanning, [], [counted]))
    semi = Join(table("one"), table("two"), "LEFT_SEMI", equal(column(0), column(2)))
    yield _case("columns_of_semi_joins", "SELECT * FROM one LEFT SEMI JOIN two", semi)


# ---- aggregates


def _of_aggregates() -> Iterator[Case]:
    amount = column(0, types.of("decimal", 2, 1))
    summed = aggregate("arithmetic_decimal:sum", amount)
    distinct = aggregate("aggregate_generic:count", amount, distinct=True)
    yield _case(
        "distinct_widens_sums", "sum(x), count(DISTINCT x)", Aggregate(table("amounts"), [], [summed, distinct])
    )
    zones = [Literal(0, types.of(f"precision_timestamp{zone}", 6)) for zone in ("", "_tz")]
    greatest = [aggregate("datetime:max", each) for each in zones]
    yield _case("equal_timestamps", "max of one moment in both types", Aggregate(table("one"), [], greatest))


# ---- unions


def _of_unions() -> Iterator[Case]:
    two = table("two")
    twice = _computed(two, column(0), column(0))
    beside = _computed(two, column(0), _number(0))
    union = Set([twice, beside], "UNION_ALL")
    yield _case(
        "sorts_unions_by_input",
        "x, x UNION ALL x, 0 ORDER BY both",
        Sort(union, _ascending(column(0), column(1))),
        ordered=True,
    )
    sure = _computed(table("flags"), BUILDER.call("comparison:is_true", column(0, BOOL)))
    true = _computed(_one_row(), Literal(True, types.BOOLEAN))
    yield _case("unions_keep_nullability", "b IS TRUE UNION true", Set([sure, true], "UNION_DISTINCT"))
    never = Filter(two, _gt(Literal(1, types.I32), Literal(2, types.I32)))
    empty = _computed(never, _number(1))
    distinct = Aggregate(two, [column(0)], [])
    yield _case("unions_lose_names", "1 WHERE 1 > 2 UNION ALL DISTINCT x", Set([empty, distinct], "UNION_ALL"))
    pairs = Join(two, two, "INNER", equal(column(0), column(1)))
    united = Set([pairs, pairs], "UNION_ALL")
    yield _case("unions_repeat_names", "two joins, by both columns", Aggregate(united, [column(0), column(1)], []))


# ---- windows


def _of_windows() -> Iterator[Case]:
    counted = registry.resolved("aggregate", "aggregate_generic:count", (I32,))
    assert counted is not None  # noqa: S101 - the standard's file declares it
    whole = WindowCall(counted, (column(0),), True, Bound("unbounded"), Bound("unbounded"))
    yield _case("named_by_text", "count(x) OVER () twice", _over(_over(table("two"), whole), whole))
    preceding = Bound("preceding", Literal(1, types.I64))
    near = WindowCall(counted, (column(0, I64),), False, preceding, Bound("current"))
    framed = Window(table("keys"), [near], [], _ascending(column(0, I64)))
    yield _case("unsigned_range_keys", "ORDER BY k RANGE BETWEEN 1 PRECEDING AND CURRENT ROW", framed)
    ones = Filter(table("one"), equal(column(1), _number(1)))
    parts = Window(ones, [whole], [BUILDER.call("arithmetic:add", column(0), _number(1)), column(0)], [])
    ordered = Window(parts, [whole], [], _ascending(column(1)))
    yield _case("equals_in_keys", "(PARTITION BY x + 1, x) and (ORDER BY y) WHERE y = 1", ordered)


def _over(input: Relation, call: WindowCall) -> Relation:
    return Window(input, [call], [], [])
