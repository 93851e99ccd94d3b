"""Each relation and each of its variants, in the forms that producers write, over few functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ....algebra import types
from ....algebra.builder import CallBuilder, Traits
from ....algebra.expression import AggregateFunction, Bound, Expression, FieldReference, Literal, SortField, WindowCall
from ....algebra.relation import (
    Aggregate,
    Cross,
    Expand,
    Fetch,
    Filter,
    Generate,
    Join,
    LateralJoin,
    NamedTable,
    Project,
    Reference,
    Relation,
    Set,
    Sort,
    VirtualTable,
    Window,
)
from ....algebra.types import Type
from ....extensions import registry
from ....plan import removed_fields
from ..case import Case, Subject, output_names, read
from ..values import Table, edges, table
from .functions import SIMPLE, of_kind

BOOL, I32, TEXT = types.of("boolean"), types.of("i32"), types.of("string")

LEFT = Table(
    ("id", "k", "s", "b"),
    (types.I32, I32, TEXT, BOOL),
    (
        (0, 1, "a", True),
        (1, 2, "b", False),
        (2, 2, "", None),
        (3, None, "a", True),
        (4, 3, None, False),
        (5, None, None, None),
        (6, 1, "a", True),
    ),
)
RIGHT = Table(
    ("id", "k", "t"),
    (types.I32, I32, TEXT),
    ((0, 1, "x"), (1, 2, "y"), (2, 2, None), (3, None, "z"), (4, 7, "w")),
)
"""Two tables with keys that are null, that are there twice, and that the other hasn't."""

ONE_OF_EACH = Table(("id", "k", "t"), (types.I32, I32, TEXT), ((0, 1, "x"), (1, 2, "y"), (2, None, "z")))
"""A right input with each key once."""

BUILDER = CallBuilder(Traits())

JOIN_TYPES = ("INNER", "OUTER", "LEFT", "RIGHT", "LEFT_SEMI", "LEFT_ANTI", "LEFT_SINGLE", "LEFT_MARK")

OPERATIONS = (
    "MINUS_PRIMARY",
    "MINUS_PRIMARY_ALL",
    "MINUS_MULTISET",
    "INTERSECTION_PRIMARY",
    "INTERSECTION_MULTISET",
    "INTERSECTION_MULTISET_ALL",
    "UNION_DISTINCT",
    "UNION_ALL",
)


def column(n: int, type: Type = I32) -> FieldReference:
    """A column of the input."""
    return FieldReference(n, type)


def equal(left: Expression, right: Expression) -> Expression:
    """Whether two values are equal."""
    return BUILDER.call("comparison:equal", left, right)


def aggregate(function: str, *arguments: Expression, **said: Any) -> AggregateFunction:
    """A measure."""
    shapes = tuple(a.type for a in arguments)
    declaration = registry.resolved("aggregate", function, shapes)
    assert declaration is not None, function  # noqa: S101 - the standard's files declare what is called here
    return AggregateFunction(declaration, arguments, **said)


def lefts() -> NamedTable:
    """The read of the left table."""
    return read("left", LEFT)


def rights(rows: Table = RIGHT) -> NamedTable:
    """The read of the right table."""
    return read("right", rows)


def case(subject: Subject, about: str, relation: Relation, **said: Any) -> Case:
    """A case over the two tables."""
    tables = {"left": LEFT, "right": ONE_OF_EACH if "LEFT_SINGLE" in subject.key else RIGHT}
    return Case(subject, about, relation, tables, output_names(relation), **said)


def relation(name: str, *variant: str, tried: str = "") -> Subject:
    """What a case of a relation tells."""
    return Subject("relations", (name, *variant), tried)


def cases() -> Iterator[Case]:
    """The cases of all relations."""
    for made in (
        _reads,
        _filters,
        _projects,
        _sorts,
        _fetches,
        _aggregates,
        _joins,
        _sets,
        _expands,
        _windows,
        _others,
    ):
        yield from made()


def _reads() -> Iterator[Case]:
    named = relation("READ", "read_types", "NAMED_TABLE")
    yield case(named, "", lefts())
    yield case(Subject("abilities", ("emit",), "READ"), "columns", lefts().select([2, 0]))
    yield case(Subject("abilities", ("emit",), "READ"), "a column twice", lefts().select([0, 1, 0]))
    written = VirtualTable(
        [(Literal(1, types.I32), Literal("a", TEXT)), (Literal(2, types.I32), Literal(None, TEXT))],
        ["n", "s"],
        [types.I32, TEXT],
    )
    virtual = relation("READ", "read_types", "VIRTUAL_TABLE")
    yield case(virtual, "", written)
    yield case(virtual, "one row without columns", Project(VirtualTable([()], [], []), [Literal(1, types.I32)]))
    ability = Subject("abilities", ("row_expressions",))
    yield case(ability, "", written)
    yield case(ability._replace(variant="old form"), "", written, old=removed_fields.with_literals_in_rows)


def _filters() -> Iterator[Case]:
    yield case(relation("FILTER"), "a condition that may be null", Filter(lefts(), column(3, BOOL)))
    yield case(relation("FILTER"), "no row", Filter(lefts(), Literal(False, types.BOOLEAN)))
    yield case(Subject("abilities", ("emit",), "FILTER"), "", Filter(lefts(), column(3, BOOL)).select([2, 0]))


def _projects() -> Iterator[Case]:
    yield case(relation("PROJECT"), "all columns", Project(lefts(), [Literal(7, types.I32)]))
    computed = Project(lefts(), [Literal(7, types.I32), column(1)])
    yield case(relation("PROJECT"), "what it computes", computed.select([4, 5]))
    yield case(Subject("abilities", ("emit",), "PROJECT"), "", computed.select([5, 2, 0]))
    yield case(relation("PROJECT"), "nothing but columns", Project(lefts(), ()))


def _sorts() -> Iterator[Case]:
    for ascending in (True, False):
        for first in (True, False):
            keys = [SortField(column(1), ascending, first), SortField(column(0, types.I32), True, True)]
            about = f"{'ascending' if ascending else 'descending'}, nulls {'first' if first else 'last'}"
            yield case(relation("SORT"), about, Sort(lefts(), keys), ordered=True)
    keys = [
        SortField(column(1), True, True),
        SortField(column(2, TEXT), False, False),
        SortField(column(0, types.I32), True, True),
    ]
    yield case(relation("SORT"), "nulls on both sides", Sort(lefts(), keys), ordered=True)
    keys = [SortField(column(1), True, True), SortField(column(0, types.I32), False, True)]
    yield case(relation("SORT"), "ties against the order of the rows", Sort(lefts(), keys), ordered=True)
    keys = [
        SortField(equal(column(1), Literal(2, types.I32)), True, True),
        SortField(column(0, types.I32), False, True),
    ]
    yield case(relation("SORT", "expressions"), "", Sort(lefts(), keys), ordered=True)
    keys = [SortField(column(0, types.I32), False, True)]
    yield case(Subject("abilities", ("emit",), "SORT"), "", Sort(lefts(), keys).select([2, 0]), ordered=True)
    for kind in (*map(of_kind, SIMPLE), types.of("decimal", 18, 4)):
        rows = table([("a0", kind, _without_ties(edges(kind)))], f"sort {kind}")
        for ascending in (True, False):
            source = Sort(
                read("t", rows),
                [SortField(column(1, kind), ascending, True), SortField(column(0, types.I32), True, True)],
            )
            about = f"{kind} {'ascending' if ascending else 'descending'}"
            subject = relation("SORT", tried="keys")
            yield Case(subject, about, source, {"t": rows}, output_names(source), (kind.kind,), ordered=True)


def _without_ties(values: Sequence[Any]) -> Sequence[Any]:
    return [value for value in values if repr(value) != "-0.0"]


def _fetches() -> Iterator[Case]:
    keys = [SortField(column(0, types.I32), False, True)]
    sorted_ = Sort(lefts(), keys)
    for offset, count in ((0, 2), (2, 3), (4, None), (1, 100), (100, 1), (0, 0)):
        about = f"{'all' if count is None else count} from {offset}"
        fetched = Fetch(sorted_, offset, count)
        yield case(relation("FETCH"), about, fetched, ordered=True)
        ability = Subject("abilities", ("fetch_expressions",))
        yield case(ability, about, fetched, ordered=True)
        old = removed_fields.with_numbers_in_fetches
        yield case(ability._replace(variant="old form"), about, fetched, ordered=True, old=old)
    emitted = Fetch(sorted_, 0, 100).select([2, 0])
    yield case(Subject("abilities", ("emit",), "FETCH"), "", emitted, ordered=True)
    old = removed_fields.with_numbers_in_fetches
    yield case(Subject("abilities", ("emit",), "old form of FETCH"), "", emitted, ordered=True, old=old)


def _aggregates() -> Iterator[Case]:
    least = aggregate("arithmetic:min", column(1))
    counted = aggregate("aggregate_generic:count")
    aggregated = relation("AGGREGATE")
    by_text = Aggregate(lefts(), [column(2, TEXT)], [least])
    ability = Subject("abilities", ("grouping_references",))
    for about, made in (
        ("one key", by_text),
        ("two keys", Aggregate(lefts(), [column(2, TEXT), column(3, BOOL)], [least])),
        (
            "the key of a later column before that of an earlier",
            Aggregate(lefts(), [column(3, BOOL), column(1)], [least]),
        ),
        ("keys alone", Aggregate(lefts(), [column(1)], [])),
    ):
        yield case(aggregated, about, made)
        yield case(ability, about, made)
        yield case(ability._replace(variant="old form"), about, made, old=removed_fields.with_keys_in_groupings)
    yield case(aggregated, "no key", Aggregate(lefts(), [], [least]))
    yield case(aggregated, "no key, no row", Aggregate(Filter(lefts(), Literal(False, types.BOOLEAN)), [], [least]))
    yield case(
        aggregated, "a key, no row", Aggregate(Filter(lefts(), Literal(False, types.BOOLEAN)), [column(1)], [least])
    )
    yield case(aggregated, "several measures", Aggregate(lefts(), [column(2, TEXT)], [least, counted, least]))
    emitted = Aggregate(lefts(), [column(2, TEXT)], [least])
    old = removed_fields.with_keys_in_groupings
    yield case(Subject("abilities", ("emit",), "AGGREGATE"), "", emitted.select([1, 0]))
    yield case(Subject("abilities", ("emit",), "old form of AGGREGATE"), "", emitted.select([1, 0]), old=old)
    key = equal(column(1), Literal(2, types.I32))
    yield case(relation("AGGREGATE", "expressions"), "a key", Aggregate(lefts(), [key], [counted]))
    argument = aggregate("aggregate_generic:count", key)
    yield case(relation("AGGREGATE", "expressions"), "an argument", Aggregate(lefts(), [], [argument]))
    filtered = aggregate("aggregate_generic:count", filter=column(3, BOOL))
    yield case(
        Subject("abilities", ("measure_filters",)), "", Aggregate(lefts(), [column(2, TEXT)], [filtered, counted])
    )
    sets = Subject("abilities", ("grouping_sets",))
    keys = [column(1), column(2, TEXT)]
    yield case(sets, "rollup", Aggregate(lefts(), keys, [counted], [(0, 1), (0,), ()]))
    yield case(sets, "the same set twice", Aggregate(lefts(), keys, [counted], [(0,), (0,)]))
    for kind in (*map(of_kind, SIMPLE), types.of("decimal", 18, 4)):
        rows = table([("a0", kind, [value for value in edges(kind) for _ in range(2)])], f"group {kind}")
        made = Aggregate(read("t", rows), [column(1, kind)], [counted])
        for tried, form in (("keys", None), ("keys in the old form", removed_fields.with_keys_in_groupings)):
            subject = relation("AGGREGATE", tried=tried)
            yield Case(subject, str(kind), made, {"t": rows}, output_names(made), (kind.kind,), old=form)


def _joins() -> Iterator[Case]:
    width = len(LEFT.schema)
    same_key = equal(column(1), column(width + 1))
    for kind in JOIN_TYPES:
        rows = ONE_OF_EACH if kind == "LEFT_SINGLE" else RIGHT
        joined = relation("JOIN", "join_types", kind)
        made = Join(lefts(), rights(rows), kind, same_key)
        yield case(joined, "one key", made)
        yield case(
            joined,
            "no row on the right",
            Join(lefts(), Filter(rights(rows), Literal(False, types.BOOLEAN)), kind, same_key),
        )
        yield case(
            joined,
            "no row on the left",
            Join(Filter(lefts(), Literal(False, types.BOOLEAN)), rights(rows), kind, same_key),
        )
        turned = equal(column(width + 1), column(1))
        yield case(relation("JOIN", "conditions", "turned"), kind, Join(lefts(), rights(rows), kind, turned))
        ids = equal(column(0, types.I32), column(width, types.I32))
        both = BUILDER.call("boolean:and", same_key, ids)
        yield case(relation("JOIN", "conditions", "two keys"), kind, Join(lefts(), rights(rows), kind, both))
        less = BUILDER.call("comparison:lt", column(1), column(width + 1))
        if kind != "LEFT_SINGLE":
            yield case(relation("JOIN", "conditions", "no equality"), kind, Join(lefts(), rights(rows), kind, less))
            more = BUILDER.call(
                "boolean:and", same_key, BUILDER.call("comparison:lt", column(0, types.I32), column(width, types.I32))
            )
            yield case(relation("JOIN", "conditions", "a key and more"), kind, Join(lefts(), rights(rows), kind, more))
            null_safe = BUILDER.call("comparison:is_not_distinct_from", column(1), column(width + 1))
            yield case(
                relation("JOIN", "conditions", "nulls that are equal"),
                kind,
                Join(lefts(), rights(rows), kind, null_safe),
            )
    emitted = Join(lefts(), rights(), "INNER", same_key).select([width + 2, 0])
    yield case(Subject("abilities", ("emit",), "JOIN"), "INNER", emitted)
    semi = Join(lefts(), rights(), "LEFT_SEMI", same_key).select([2])
    yield case(Subject("abilities", ("emit",), "JOIN"), "LEFT_SEMI", semi)
    yield case(relation("CROSS"), "", Cross(lefts(), rights()))
    yield case(Subject("abilities", ("emit",), "CROSS"), "", Cross(lefts(), rights()).select([width, 0]))


def _sets() -> Iterator[Case]:
    one, other = lefts().select([1, 2]), rights().select([1, 2])
    for operation in OPERATIONS:
        combined = relation("SET", "operations", operation)
        yield case(combined, "", Set([one, other], operation))
        yield case(combined, "with itself", Set([one, one], operation))
        twice = Set([one, one], "UNION_ALL")
        yield case(combined, "twice on the left", Set([twice, one], operation))
        yield case(combined, "twice on the right", Set([one, twice], operation))
        yield case(combined, "twice, and once, on the left", Set([Set([twice, other], "UNION_ALL"), one], operation))
        if operation.startswith("UNION"):
            yield case(combined, "three inputs", Set([one, other, one], operation))


def _expands() -> Iterator[Case]:
    own = (column(0, types.I32), column(1), column(2, TEXT), column(3, BOOL))
    made = Expand(lefts(), [own, (own[0], Literal(None, I32), *own[2:])])
    yield case(relation("EXPAND", "field_types", "SWITCHING_FIELD"), "", made)


def _windows() -> Iterator[Case]:
    counted = registry.resolved("aggregate", "aggregate_generic:count", (I32,))
    assert counted is not None  # noqa: S101 - the standard's file declares it
    call = WindowCall(counted, (column(1),), True, Bound("unbounded"), Bound("current"))
    made = Window(lefts(), [call], [column(1)], [SortField(column(0, types.I32), False, True)])
    yield case(relation("CONSISTENT_PARTITION_WINDOW"), "", made)


def _others() -> Iterator[Case]:
    shared = Filter(lefts(), column(3, BOOL))
    yield case(relation("REFERENCE"), "", Set([Reference(shared), Reference(shared)], "UNION_ALL"))
    inner = Filter(rights(), equal(column(1), FieldReference(1, I32, (), 1)))
    for kind in ("INNER", "LEFT"):
        made = LateralJoin(lefts(), inner, kind, Literal(True, types.BOOLEAN))
        yield case(relation("LATERAL_JOIN", "join_types", kind), "", made)
    numbers = types.of("list", I32)
    rows = table([("a0", numbers, [(), (1,), (1, None, 3)])], "generate")
    for outer in (False, True):
        for position in (False, True):
            made_rows = Generate(read("t", rows), column(1, numbers), outer, whole=True, with_position=position)
            name = "type.googleapis.com/substrait_spark.Generate"
            subject = relation("EXTENSION_SINGLE", "message_types", name)
            about = f"{'outer' if outer else 'inner'}{' with positions' if position else ''}"
            yield Case(subject, about, made_rows, {"t": rows}, output_names(made_rows))
