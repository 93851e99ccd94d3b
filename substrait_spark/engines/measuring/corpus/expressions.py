"""Each kind of expression that is no call, and how deep they may nest."""

from __future__ import annotations

from collections.abc import Iterator

from ....algebra import types
from ....algebra.expression import (
    Bound,
    Exists,
    Expression,
    FieldReference,
    IfThen,
    InSubquery,
    Literal,
    Nested,
    ScalarFunction,
    ScalarSubquery,
    SingularOrList,
    SortField,
    WindowCall,
    WindowFunction,
)
from ....algebra.relation import Aggregate, Filter, NamedTable, Project
from ....extensions import registry
from ..case import Case, Subject, output_names, read
from ..values import edges, table
from .functions import SIMPLE, of_kind
from .relations import BOOL, I32, TEXT, aggregate, case, column, equal, lefts, rights

DEPTHS = (4, 8, 16, 24, 30)
"""How many calls are within each other."""


def expression(name: str, *variant: str, tried: str = "") -> Subject:
    """What a case of an expression tells."""
    return Subject("expressions", (name, *variant), tried)


def cases() -> Iterator[Case]:
    """The cases of all kinds of expressions."""
    yield _projected(expression("SELECTION"), "", column(2, TEXT))
    yield _projected(expression("LITERAL"), "", Literal(7, types.I32))
    for made in (_choices, _lists, _nested, _references, _subqueries, _windows, _depth):
        yield from made()


def _projected(subject: Subject, about: str, *computed: Expression, ordered: bool = False) -> Case:
    relation = Project(lefts(), computed).select([0, *range(4, 4 + len(computed))])
    return case(subject, about, relation, ordered=ordered)


def _choices() -> Iterator[Case]:
    chosen = expression("IF_THEN")
    one, other, null = Literal(1, types.I32), Literal(2, types.I32), Literal(None, I32)
    yield _projected(chosen, "a condition that may be null", IfThen(((column(3, BOOL), one),), other))
    yield _projected(chosen, "null where none holds", IfThen(((column(3, BOOL), one),), null))
    yield _projected(chosen, "null where it holds", IfThen(((column(3, BOOL), null),), column(1)))
    two = IfThen(((column(3, BOOL), one), (equal(column(1), other), other)), column(1))
    yield _projected(chosen, "two conditions", two)
    text = IfThen(((column(3, BOOL), column(2, TEXT)),), Literal("none", types.STRING))
    yield _projected(chosen, "texts", text)


def _lists() -> Iterator[Case]:
    listed = expression("SINGULAR_OR_LIST")
    numbers = (Literal(1, types.I32), Literal(3, types.I32))
    yield _projected(listed, "numbers", SingularOrList(column(1), numbers))
    yield _projected(listed, "with null", SingularOrList(column(1), (*numbers, Literal(None, I32))))
    yield _projected(listed, "texts", SingularOrList(column(2, TEXT), (Literal("a", TEXT), Literal("", TEXT))))
    yield _projected(
        expression("SINGULAR_OR_LIST", tried="columns"),
        "",
        SingularOrList(column(1), (column(0, types.I32), numbers[1])),
    )
    for kind in (*map(of_kind, SIMPLE), types.of("decimal", 18, 4)):
        rows = table([("a0", kind, edges(kind))], f"list {kind}")
        options = tuple(Literal(value, kind) for value in list(edges(kind))[-3:])
        made = Project(read("t", rows), [SingularOrList(column(1, kind), options)]).select([0, 2])
        subject = expression("SINGULAR_OR_LIST", tried="values")
        yield Case(subject, str(kind), made, {"t": rows}, output_names(made), (kind.kind,))


def _nested() -> Iterator[Case]:
    made = {
        "STRUCT": Nested(types.of("struct", I32, TEXT), (column(1), column(2, TEXT))),
        "LIST": Nested(types.of("list", I32), (column(1), Literal(None, I32))),
        "MAP": Nested(types.of("map", types.STRING, I32), (Literal("a", types.STRING), column(1))),
    }
    for kind, value in made.items():
        yield _projected(expression("NESTED", "nested_types", kind), "", value)


def _references() -> Iterator[Case]:
    ability = Subject("abilities", ("nested_references",))
    for type, step, type_of_part in (
        (types.of("struct", I32, TEXT), ("field", 1), TEXT),
        (types.of("list", I32), ("element", 1), I32),
        (types.of("map", types.STRING, I32), ("key", Literal("a", types.STRING)), I32),
    ):
        rows = table([("a0", type, edges(type))], f"reference {type}")
        relation = Project(read("t", rows), [FieldReference(1, type).step(step, type_of_part)]).select([0, 2])
        yield Case(ability, type.kind, relation, {"t": rows}, output_names(relation))


def _subqueries() -> Iterator[Case]:
    keys = rights().select([1])
    scalar = expression("SUBQUERY", "subquery_types", "SCALAR")
    greatest = Aggregate(rights(), [], [aggregate("arithmetic:max", column(1))])
    yield _projected(scalar, "", ScalarSubquery(greatest))
    nothing = Filter(rights(), Literal(False, types.BOOLEAN)).select([1])
    yield _projected(scalar, "of no row", ScalarSubquery(nothing))
    compared = Filter(
        lefts(), equal(column(1), ScalarSubquery(Aggregate(rights(), [], [aggregate("arithmetic:min", column(1))])))
    )
    yield case(scalar, "in a filter", compared)
    own = Filter(rights(), equal(column(1), FieldReference(1, I32, (), 1)))
    correlated = Aggregate(own, [], [aggregate("arithmetic:max", column(0, types.I32))])
    yield _projected(Subject("abilities", ("correlated_scalars",)), "", ScalarSubquery(correlated))
    member = expression("SUBQUERY", "subquery_types", "IN_PREDICATE")
    yield case(member, "in a filter", Filter(lefts(), InSubquery((column(1),), keys)))
    yield _projected(member, "in a column", InSubquery((column(1),), keys))
    some = expression("SUBQUERY", "subquery_types", "SET_PREDICATE")
    yield case(some, "in a filter", Filter(lefts(), Exists(own)))
    yield _projected(some, "in a column", Exists(own))
    yield case(some, "without correlation", Filter(lefts(), Exists(keys)))


def _windows() -> Iterator[Case]:
    by_id = (SortField(column(0, types.I32), True, True),)
    counted = registry.resolved("aggregate", "aggregate_generic:count", (I32,))
    assert counted is not None  # noqa: S101 - the standard's file declares it
    whole = (Bound("unbounded"), Bound("unbounded"))
    growing = (Bound("unbounded"), Bound("current"))
    moving = (Bound("preceding", Literal(1, types.I64)), Bound("following", Literal(1, types.I64)))
    window = expression("WINDOW_FUNCTION")
    for about, rows, bounds in (
        ("growing rows", True, growing),
        ("growing range", False, growing),
        ("moving rows", True, moving),
        ("whole partition", True, whole),
    ):
        call = WindowCall(counted, (column(1),), rows, *bounds)
        yield _projected(window, about, WindowFunction(call, (column(3, BOOL),), by_id))
    call = WindowCall(counted, (column(1),), False, *growing)
    by_key = (SortField(column(1), True, True),)
    yield _projected(window, "growing range of peers", WindowFunction(call, (), by_key))
    call = WindowCall(counted, (column(1),), True, *whole)
    yield _projected(window, "without order and partition", WindowFunction(call, (), ()))


def _depth() -> Iterator[Case]:
    for depth in DEPTHS:
        value: Expression = column(3, BOOL)
        for _ in range(depth):
            declaration = registry.resolved("scalar", "boolean:not", (value.type,))
            assert declaration is not None  # noqa: S101 - the standard's file declares it
            value = ScalarFunction(declaration, (value,))
        yield _projected(Subject("depth", ("expressions",)), str(depth), value)
        made: NamedTable | Project = lefts()
        for n in range(depth):
            made = Project(made, [Literal(n, types.I32)])
        yield case(Subject("depth", ("relations",)), str(depth), made)
