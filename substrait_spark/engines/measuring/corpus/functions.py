"""Calls of each function that the extension files declare: each signature, with each value of each option, over edge values."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ....algebra import types
from ....algebra.expression import (
    AggregateFunction,
    Bound,
    Expression,
    FieldReference,
    Lambda,
    Literal,
    ScalarFunction,
    SortField,
    WindowCall,
)
from ....algebra.relation import Aggregate, NamedTable, Project, Relation, Window
from ....algebra.types import Type
from ....extensions import registry
from ....extensions.registry import EnumArgument, Implementation
from ....extensions.type_expressions import Pattern
from ..case import Case, Subject, output_names, read
from ..values import POSITIONS, Table, edges, table

SIMPLE = (
    "boolean i8 i16 i32 i64 fp32 fp64 string binary date precision_timestamp precision_timestamp_tz interval_year interval_day"
).split()
_DIGITS = {"precision_time": 6, "precision_timestamp": 6, "precision_timestamp_tz": 6, "interval_day": 6}

DECIMALS = ((5, 2), (18, 4), (38, 0), (38, 10))
MIXED = (((5, 2), (38, 10)), ((38, 0), (18, 4)))
"""Digits of decimals, and pairs of them."""


def of_kind(kind: str) -> Type:
    """The type of a kind to try."""
    return types.of(kind, _DIGITS[kind]) if kind in _DIGITS else types.of(kind)


ANY = (
    *map(of_kind, SIMPLE),
    types.of("decimal", 18, 4),
    types.of("decimal", 38, 10),
    types.of("list", types.of("i32")),
    types.of("struct", types.of("i32"), types.of("string")),
)
"""The types that stand for a variable."""

ELEMENTS = (
    types.of("i32"),
    types.of("string"),
    types.of("fp64"),
    types.of("decimal", 18, 4),
    types.of("list", types.of("i32")),
)
"""The types that stand for a variable inside of another type."""

CHOICES: Mapping[str, Sequence[Any]] = {
    "algorithm": ["SHA256", "SHA512"],
    "charset": ["UTF-8", "ISO-8859-1", "UTF-16"],
    "day": ["MO", "Tuesday", "sun", "none"],
    "escape": ["\\", "/"],
    "format": ["%s", "utf-8", "hex", "999.99", "S99"],
    "options": [""],
    "part": ["HOST", "PATH", "QUERY", "REF"],
    "path": ["$.a", "$", "a/b", "$[0]"],
    "pattern": ["a", "yyyy-MM-dd", "[0-9]+", "(a)(b)?", "#,##0.00", "%a%", ""],
    "schema": ["a INT", "a STRING"],
    "separator": [",", "", "--"],
    "delimiter": [",", "a", ""],
    "source": ["UTC", "Asia/Kathmandu"],
    "target": ["America/Los_Angeles", "+05:30"],
    "time_zone": ["UTC", "America/Los_Angeles"],
    "unit": ["YEAR", "MONTH", "DAY", "HOUR", "WEEK", "QUARTER", "none"],
    "zone": ["UTC", "America/Los_Angeles", "Asia/Kathmandu", "+05:30"],
}
"""What texts are tried for an argument of that name."""

SMALL = {"array_repeat", "format_number", "space", "sequence", "factorial", "generate_series"}
"""Functions that would make more of a great number than there is room for."""

INEXACT = (
    "acos acosh asin asinh atan atan2 atanh avg cbrt corr cos cosh cot covar_pop covar_samp csc exp expm1 hypot kurtosis ln log log10 log1p log2 "
    "logb power radians degrees regr_avgx regr_avgy regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy sec sin sinh skewness "
    "spark_avg spark_sum std_dev stddev_pop stddev_samp sum tan tanh try_avg try_sum var_pop var_samp variance vector_norm avg_in_doubles "
    "vector_cosine_similarity vector_inner_product vector_l2_distance vector_normalize spark_atan2 spark_log spark_power"
).split()
"""Functions whose last digits hang on the machine, or on the order of the rows."""

ANY_ROW = ("any_value", "first", "last", "max_by", "min_by", "mode")
"""Functions that may take another row each time: they are tried on groups of one. So are those that say that they take any."""

OF_OBJECTS = ("format_string",)
"""Functions that show Java's objects as they are in one run: `[B@19140de5`."""

APPROXIMATE = ("aggregate_approx",)
"""Files of functions that have another result in each engine, and mean no more."""

TOLERANCE = 1e-12

MOST_SHAPES = 18
"""How many combinations of types are tried for a signature."""


class Shape(NamedTuple):
    """One way to call a function: the types and the names that it is given."""

    implementation: Implementation
    names: tuple[str, ...]
    arguments: tuple[Type | str | Lambda, ...]

    def columns(self, seed: str, literals: Sequence[int] = ()) -> tuple[Table, tuple[Expression | str, ...]]:
        """The rows for a call, and its arguments: columns of these, or at some positions literals."""
        columns: list[tuple[str, Type, Sequence[Any]]] = []
        arguments: list[Expression | str] = []
        for n, argument in enumerate(self.arguments):
            if not isinstance(argument, Type):
                arguments.append(argument)
                continue
            values = self._values(n, argument)
            if n in literals:
                arguments.append(Literal(values[len(values) // 2], types.required(argument)))
            else:
                arguments.append(FieldReference(1 + len(columns), types.nullable(argument)))
                columns.append((f"a{n}", argument, values))
        return table(columns, seed), tuple(arguments)

    def _values(self, n: int, type: Type) -> Sequence[Any]:
        name = self.names[min(n, len(self.names) - 1)]
        if type.kind == "string" and name in CHOICES:
            return CHOICES[name]
        counts = type.kind in types.INTEGERS and (
            self.implementation.name in SMALL
            or any(
                isinstance(a, Type) and a.kind in ("string", "binary", "list", "map", "varchar") for a in self.arguments
            )
        )
        return POSITIONS if counts else edges(type)

    @property
    def takes_any_row(self) -> bool:
        """Whether it may take another row each time."""
        return self.implementation.name in ANY_ROW or "ANY" in self.arguments

    @property
    def kinds(self) -> tuple[str, ...]:
        kinds = [
            kind
            for a in self.arguments
            if not isinstance(a, Lambda)
            for kind in (sorted(a.kinds) if isinstance(a, Type) else (a,))
        ]
        return tuple(dict.fromkeys(kinds))

    def __str__(self) -> str:
        return ", ".join("lambda" if isinstance(a, Lambda) else str(a) for a in self.arguments)


def cases() -> Iterator[Case]:
    """The cases of all functions of the standard's extension files and of ours, in the files' order."""
    for alias in registry.CANONICAL:
        if alias in APPROXIMATE:
            continue
        document = registry.load(alias)
        for kind, section in registry.KINDS.items():
            for function in document.get(section) or ():
                yield from _of_function(kind, alias, function)


def _of_function(kind: str, alias: str, function: Mapping[str, Any]) -> Iterator[Case]:
    declared = registry.implementations(kind, alias, function["name"])
    for implementation, entry in zip(declared, function["impls"], strict=True):
        names = tuple(str(argument.get("name", "")) for argument in entry.get("args") or ())
        resolving = [
            shape
            for shape in shapes(implementation, names)
            if (declaration := _declared(kind, alias, shape)) is not None
            and declaration.signature == implementation.signature
            and not any(kind.startswith("u!") for kind in declaration.result.kinds)  # whose rows no engine hands over
            and (implementation.name not in OF_OBJECTS or not {"binary", "list", "struct"} & set(shape.kinds))
        ]
        for options in option_choices(implementation):
            key = (alias, implementation.name, implementation.signature, options)
            for n, shape in enumerate(resolving[:MOST_SHAPES]):
                declaration = _declared(kind, alias, shape)
                if declaration is not None and declaration.deterministic:
                    made = _OF_KIND[kind](key, shape, declaration)
                    yield from made if n == 0 else (case for case in made if not case.subject.variant)


def _declared(kind: str, alias: str, shape: Shape) -> registry.Declaration | None:
    given = tuple(
        types.nullable(a) if isinstance(a, Type) else a.type if isinstance(a, Lambda) else a for a in shape.arguments
    )
    return registry.resolve(kind, alias, shape.implementation.name, given)


def option_choices(implementation: Implementation) -> Iterator[tuple[tuple[str, str], ...]]:
    """Each value of each option, and none. Rounding is looked at where it is the only option: the others never hang on it."""
    stated = {
        name: values
        for name, values in implementation.options.items()
        if name != "rounding" or len(implementation.options) == 1
    }
    for chosen in itertools.product(*[(None, *values) for values in stated.values()]):
        yield tuple((name, value) for name, value in zip(stated, chosen, strict=True) if value is not None)


# ---- types of arguments


def shapes(implementation: Implementation, names: tuple[str, ...]) -> Iterator[Shape]:
    """The combinations of types that a signature is tried with; of a variable number of arguments, two."""
    wanted = list(implementation.arguments)
    if implementation.variadic and wanted:
        wanted += wanted[-1:] * max(1, implementation.minimum - 1)
    enums = [argument.options if isinstance(argument, EnumArgument) else (None,) for argument in wanted]
    patterns = [argument for argument in wanted if isinstance(argument, Pattern)]
    for n, chosen in enumerate(_types(patterns)):
        for names_of_enums in itertools.product(*enums) if n == 0 else [next(itertools.product(*enums))]:
            given = iter(chosen)
            arguments = tuple(next(given) if name is None else name for name in names_of_enums)
            yield Shape(implementation, names or ("",), _like_the_standard(implementation, names, arguments))


def _like_the_standard(
    implementation: Implementation, names: Sequence[str], arguments: tuple[Any, ...]
) -> tuple[Any, ...]:
    """The arguments; one that only says the type of the result says that of the standard function, in which Spark has it."""
    name = OF_THE_STANDARD.get(implementation.name)
    if name is None or "like" not in names[-1:]:
        return arguments
    standard = registry.resolved("scalar", f"arithmetic_decimal:{name}", arguments[:-1])
    return arguments if standard is None else (*arguments[:-1], types.required(standard.result))


OF_THE_STANDARD = {
    f"{prefix}_{name}": name for prefix in ("spark", "try") for name in ("add", "subtract", "multiply", "divide")
}
"""Functions of Spark's that are the standard's but for what becomes of a result that doesn't fit, and these."""


def _types(patterns: Sequence[Pattern]) -> Iterator[tuple[Any, ...]]:
    decimals = [p for p in patterns if p.kind == "decimal" and isinstance(p.parameters[0], str)]
    variables = {name for p in patterns for name in _variables(p)}
    inside = any(not p.variable and any(_variables(p)) for p in patterns)
    candidates = (
        (ELEMENTS if inside else ANY) if variables or any(p.kind == "any" for p in patterns) else (types.of("i32"),)
    )
    sizes = [*((one, one) for one in DECIMALS), *(MIXED if len(decimals) > 1 else ())]
    for candidate in candidates:
        for size in sizes if decimals else sizes[:1]:
            remaining = itertools.cycle(size)
            try:
                yield tuple(_instance(p, candidate, remaining) for p in patterns)
            except LookupError:
                return


def _variables(pattern: Any) -> Iterator[str]:
    if isinstance(pattern, Pattern):
        if pattern.variable:
            yield pattern.kind
        for part in pattern.parameters:
            yield from _variables(part)


def _instance(pattern: Any, candidate: Type, sizes: Iterator[tuple[int, int]]) -> Any:
    if pattern.kind == "func":
        parameters = tuple(_instance(part, candidate, sizes) for part in pattern.parameters[:-1])
        wanted = _instance(pattern.parameters[-1], candidate, sizes)
        return Lambda(parameters, _body(parameters, wanted))
    if pattern.variable:
        return types.nullable(candidate)
    if pattern.kind == "decimal" and isinstance(pattern.parameters[0], str):
        return types.of("decimal", *next(sizes))
    if pattern.kind in _DIGITS:
        return of_kind(pattern.kind)
    parameters = tuple(
        _instance(part, candidate, sizes) if isinstance(part, Pattern) else part for part in pattern.parameters
    )
    if pattern.kind == "map" and parameters:
        parameters = (
            types.required(types.of("string") if parameters[0].kind in ("list", "fp64") else parameters[0]),
            parameters[1],
        )
    if any(isinstance(part, str) for part in parameters) or pattern.kind.startswith("u!"):
        raise LookupError(pattern)
    edges(types.of(pattern.kind, *parameters))
    return types.of(pattern.kind, *parameters)


def _body(parameters: Sequence[Type], wanted: Type) -> Expression:
    """What a lambda computes: its first parameter, or whether that is null."""
    first = FieldReference(0, parameters[0], (), 0, 0)
    if types.required(wanted) == types.required(parameters[0]):
        return first
    if wanted.kind == "boolean":
        declaration = registry.resolved("scalar", "comparison:is_null", (parameters[0],))
        if declaration is not None:
            return ScalarFunction(declaration, (first,))
    raise LookupError(wanted)


# ---- cases

Key = tuple[Any, ...]


def _case(kind: str, key: Key, variant: str, shape: Shape, relation: Relation, rows: Table, **said: Any) -> Case:
    tolerance = TOLERANCE if key[1] in INEXACT else None
    stated = {name for name, _ in key[3]}
    said["leaves_open"] = any(name not in stated and name != "rounding" for name in shape.implementation.options)
    names = output_names(relation)
    return Case(
        Subject(kind, key, variant), str(shape), relation, {"t": rows}, names, shape.kinds, tolerance=tolerance, **said
    )


def _scalar(key: Key, shape: Shape, declaration: registry.Declaration) -> Iterator[Case]:
    seed = f"{declaration.function} {shape}"
    positions = [n for n, argument in enumerate(shape.arguments) if isinstance(argument, Type)]
    tried: list[tuple[str, Shape, Sequence[int]]] = [("", shape, ())]
    if len(positions) > 1:
        tried.append(("literals", shape, positions[1:]))
    if shape.implementation.variadic:
        tried.append(("many", shape._replace(arguments=(*shape.arguments, *shape.arguments[-1:] * 2)), ()))
    for variant, called, literals in tried:
        rows, arguments = called.columns(seed, literals)
        call = ScalarFunction(_resolved(declaration, "scalar", arguments), arguments, key[3])
        source = read("t", rows)
        relation = Project(source, [call]).select([0, len(source.types)])
        yield _case("scalar", key, variant, called, relation, rows, by_rows=True)


def _resolved(
    declaration: registry.Declaration, kind: str, arguments: Sequence[Expression | str]
) -> registry.Declaration:
    """The declaration for just these arguments, some of which are never null."""
    shapes = tuple(a if isinstance(a, str) else a.type for a in arguments)
    return registry.resolve(kind, declaration.alias, declaration.name, shapes) or declaration


def _grouped_rows(shape: Shape, seed: str) -> tuple[Table, tuple[Expression | str, ...]]:
    """Rows with a key of three groups and null, `id % 4`, before the arguments; without what a result hangs on the order of rows by."""
    rows, arguments = shape.columns(seed)
    is_of_pairs = shape.implementation.name in INEXACT and sum(isinstance(a, FieldReference) for a in arguments) > 1
    left_out = (*UNORDERED, *INFINITE) if is_of_pairs else UNORDERED
    kept = [row for row in rows.rows if not any(isinstance(value, float) and repr(value) in left_out for value in row)]
    if shape.takes_any_row:
        kept = kept[:4]
    keyed = tuple([(n, None if n % 4 == 3 else n % 4, *row[1:]) for n, row in enumerate(kept)])
    table = Table(("id", "k", *rows.names[1:]), (rows.schema[0], types.of("i32"), *rows.schema[1:]), keyed)
    moved = tuple([FieldReference(a.ordinal + 1, a.type) if isinstance(a, FieldReference) else a for a in arguments])
    return table, moved


UNORDERED = ("-0.0", "-1e+20", "1.7976931348623157e+308", "3.4028234663852886e+38")
"""Numbers of which the result hangs on the order of the rows: which zero is the greatest, and what is left of a sum."""

SUMS = ("avg", "sum", "sum0")
"""Functions whose results over edge values don't fit: they are tried over others too."""

INFINITE = ("inf", "-inf")
"""Those of which the result of pairs does: how an infinity and the mean of the rows before it multiply."""


def _aggregate(key: Key, shape: Shape, declaration: registry.Declaration) -> Iterator[Case]:
    rows, arguments = _grouped_rows(shape, f"{declaration.function} {shape}")
    source = read("t", rows)
    group = FieldReference(1, types.of("i32"))
    plain = AggregateFunction(declaration, arguments, key[3])
    if shape.implementation.name in SUMS and "i64" in shape.kinds:
        too_large = _case("aggregate", key, "", shape, Aggregate(source, [group], [plain]), rows)
        yield too_large._replace(about=f"{shape} beyond 64 bits")
        rows = rows._replace(rows=tuple([row for row in rows.rows if row[2] is None or abs(row[2]) < 2**32]))
    over = _filtered_ids(source)
    yield _case("aggregate", key, "", shape, Aggregate(source, [group], [plain]), rows)
    whole = rows.only(range(1)) if shape.takes_any_row else rows
    yield _case("aggregate", key, "of all", shape, Aggregate(source, [], [plain]), whole)
    yield _case("aggregate", key, "of no row", shape, Aggregate(source, [], [plain]), rows.only([]))
    distinct = AggregateFunction(declaration, arguments, key[3], distinct=True)
    twice = rows._replace(rows=(*rows.rows, *((len(rows.rows) + row[0], *row[1:]) for row in rows.rows)))
    yield _case("aggregate", key, "distinct", shape, Aggregate(source, [group], [distinct]), twice)
    filtered = AggregateFunction(declaration, arguments, key[3], filter=over)
    yield _case("aggregate", key, "filtered", shape, Aggregate(source, [group], [filtered]), rows)
    sorts = (SortField(FieldReference(0, types.I32), False, True),)
    ordered = AggregateFunction(declaration, arguments, key[3], sorts=sorts)
    yield _case("aggregate", key, "sorted", shape, Aggregate(source, [group], [ordered]), rows)
    for variant, lower in (
        ("window", Bound("unbounded")),
        ("moving window", Bound("preceding", Literal(1, types.I64))),
    ):
        call = WindowCall(declaration, arguments, True, lower, Bound("current"), key[3])
        yield _case("aggregate", key, variant, shape, _windowed(source, call), rows)


def _filtered_ids(source: NamedTable) -> Expression:
    arguments = (FieldReference(0, types.I32), Literal(20, types.I32))
    declaration = registry.resolved("scalar", "comparison:lt", tuple(a.type for a in arguments))
    assert declaration is not None  # noqa: S101 - for the type checker: the standard's file declares it
    return ScalarFunction(declaration, arguments)


def _windowed(source: NamedTable, call: WindowCall) -> Relation:
    by_id = SortField(FieldReference(0, types.I32), True, True)
    return Window(source, [call], [FieldReference(1, types.of("i32"))], [by_id]).select([0, len(source.types)])


def _window(key: Key, shape: Shape, declaration: registry.Declaration) -> Iterator[Case]:
    rows, arguments = _grouped_rows(shape, f"{declaration.function} {shape}")
    source = read("t", rows)
    positions = [n for n, argument in enumerate(shape.arguments) if isinstance(argument, Type)]
    literal = [
        Literal(2, types.required(a.type)) if n and isinstance(a, Expression) and a.type.kind in types.INTEGERS else a
        for n, a in enumerate(arguments)
    ]
    if len(positions) <= 1:
        literal = [
            Literal(3, types.required(a.type)) if isinstance(a, Expression) and a.type.kind in types.INTEGERS else a
            for a in arguments
        ]
    for variant, given in (("", arguments), ("literals", tuple(literal))):
        if variant and given == tuple(arguments):
            continue
        call = WindowCall(
            _resolved(declaration, "window", given), tuple(given), True, Bound("unbounded"), Bound("unbounded"), key[3]
        )
        yield _case("window", key, variant, shape, _windowed(source, call), rows)
    if key[1] in RANKS:
        call = WindowCall(declaration, arguments, True, Bound("unbounded"), Bound("unbounded"), key[3])
        by_key = SortField(FieldReference(1, types.of("i32")), True, True)
        peers = Window(source, [call], [], [by_key]).select([0, len(source.types)])
        yield _case("window", key, "", shape, peers, rows)._replace(about=f"{shape} with peers".strip())


RANKS = ("cume_dist", "dense_rank", "percent_rank", "rank")
"""Functions that tell rows that tie from those that don't."""

_OF_KIND = {"scalar": _scalar, "aggregate": _aggregate, "window": _window}
