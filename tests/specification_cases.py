"""The function cases that come with the specification's extension files, as expressions of the tree.

Their format: https://github.com/substrait-io/substrait/blob/main/tests/README.md.
"""

from __future__ import annotations

import datetime as dt
import importlib.resources
import re
from collections.abc import Iterator, Sequence
from decimal import Context, Decimal
from functools import cache
from typing import Any, NamedTuple

from substrait_spark.algebra import types
from substrait_spark.algebra.expression import (
    AggregateFunction,
    Bound,
    Cast,
    Expression,
    FieldReference,
    Lambda,
    Literal,
    Nested,
    ScalarFunction,
    WindowCall,
)
from substrait_spark.algebra.relation import Aggregate, Relation, VirtualTable, Window
from substrait_spark.algebra.types import Type
from substrait_spark.extensions import registry
from substrait_spark.extensions.registry import Declaration
from substrait_spark.extensions.type_expressions import program

ERROR, UNDEFINED = "<!ERROR>", "<!UNDEFINED>"


class Case(NamedTuple):
    """One line of a file: a call, and the value that it has, or `ERROR`."""

    text: str
    function: str
    call: ScalarFunction | None
    """The call of a scalar function; else `relation` has the value as its one column."""
    relation: Relation | None
    expected: Literal | str


class Unreadable(Exception):
    """A case that no plan can be made of: why."""


@cache
def files() -> list[str]:
    """The names of all files, `directory/name`."""
    root = importlib.resources.files("substrait_extensions.testcases")
    return sorted(
        f"{directory.name}/{file.name.removesuffix('.test')}"
        for directory in root.iterdir()
        if directory.is_dir()
        for file in directory.iterdir()
        if file.name.endswith(".test")
    )


def lines(file: str) -> tuple[str, list[str]]:
    """The kind of the functions in a file, and its cases; a table that is defined for a case is before it."""
    root = importlib.resources.files("substrait_extensions.testcases")
    text = root.joinpath(f"{file}.test").read_text("utf-8")
    (kind,) = re.findall(r"SUBSTRAIT_(\w+)_TEST", text)
    found: list[str] = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            if found and found[-1].startswith("DEFINE") and "\n" not in found[-1]:
                found[-1] += "\n" + line
            else:
                found.append(line)
    return kind.lower(), found


def urns(file: str) -> list[str]:
    """The extension files that a file's calls are from."""
    root = importlib.resources.files("substrait_extensions.testcases")
    text = root.joinpath(f"{file}.test").read_text("utf-8")
    return re.findall(r"SUBSTRAIT_(?:INCLUDE|DEPENDENCY): (?:')?([^\s']+)", text)


def read(file: str, kind: str, text: str) -> Case:
    """A case. Raises Unreadable where the extension files have no such function, or the tree no such type."""
    return _Parser(text, kind, urns(file)).case()


# ---- reading

_NAMES = {"str": "string", "bool": "boolean", "vbin": "binary", "dec": "decimal", "vchar": "varchar"} | {
    short: name for name, short in types.SHORT_NAMES.items()
}
_DEFAULTS = {"iday": "iday<6>", "pts": "pts<6>", "dec": "dec<38,0>"}
"""What a type of parameters is that the cases write without them."""


def _type(text: str) -> Type:
    bare = re.match(r"\w+", text)
    if bare and bare[0] in _DEFAULTS and "<" not in text:
        text = _DEFAULTS[bare[0]] + ("?" if text.endswith("?") else "")
    text = re.sub(r"(\w+)(<[^>]*>)\?$", r"\1?\2", text)
    text = re.sub(r"\w+", lambda word: _NAMES.get(word[0], word[0]), text)
    return program(text).evaluate({})


class _Parser:
    """Reads one case from left to right."""

    def __init__(self, text: str, kind: str, urns: Sequence[str]) -> None:
        self._text = text
        self._kind = kind
        self._aliases = [registry.alias_of(urn) for urn in urns]
        self._at = 0
        self._columns: list[Type] = []
        self._tables: dict[str, tuple[list[Any], list[Type]]] = {}
        self._lambdas: list[str] = []
        self._lambda_types: list[Type] = []

    # ---- tokens

    def _see(self, pattern: str) -> re.Match[str] | None:
        return re.compile(r"\s*" + pattern).match(self._text, self._at)

    def _take(self, pattern: str) -> str:
        found = self._see(f"({pattern})")
        if found is None:
            raise ValueError(f"expected {pattern} at {self._text[self._at : self._at + 40]!r} of {self._text!r}")
        self._at = found.end()
        return found[1]

    def _accept(self, pattern: str) -> bool:
        found = self._see(pattern)
        if found is not None:
            self._at = found.end()
        return found is not None

    # ---- cases

    def case(self) -> Case:
        if "u!" in self._text:
            raise Unreadable("types of users")
        if self._accept("DEFINE"):
            return self._defined()
        if self._kind == "aggregate":
            return self._aggregate()
        name = self._take(r"\w+")
        call = self._call(name, {})
        options = self._options()
        call = self._resolved(name, [], options, call.arguments)
        return Case(self._text, name, call, None, self._expected())

    def _expected(self) -> Literal | str:
        self._take("=")
        for marker in (ERROR, UNDEFINED):
            if self._accept(re.escape(marker)):
                return marker
        found = self._value()
        assert isinstance(found, Literal)
        return found

    def _options(self) -> tuple[tuple[str, str], ...]:
        if not self._accept(r"\["):
            return ()
        found = [(self._take(r"\w+"), self._accept(":") and self._take(r"\w+"))]
        while self._accept(","):
            found.append((self._take(r"\w+"), self._accept(":") and self._take(r"\w+")))
        self._take(r"\]")
        return tuple((name, str(value)) for name, value in found)

    def _aggregate(self) -> Case:
        """`name((values)::type, …)`, or `((values), …) name(col0::type, …)`."""
        rows: list[Any] | None = None
        if self._see(r"\("):
            rows = self._rows()
        name = self._take(r"\w+")
        self._take(r"\(")
        columns: list[tuple[list[Any], Type]] = []
        arguments: list[Expression | str] = []
        while not self._accept(r"\)"):
            if self._see(r"\("):
                values = self._column()
                arguments.append(FieldReference(len(columns), values[1]))
                columns.append(values)
            elif rows is not None and self._see(r"col\d"):
                ordinal = int(self._take(r"col\d+")[3:])
                self._take("::")
                kind = types.nullable(_type(self._type_text()))
                columns.append(([_value(row[ordinal], kind) for row in rows if row], kind))
                arguments.append(FieldReference(len(columns) - 1, kind))
            else:
                arguments.append(self._argument({}))
            self._accept(",")
        options = self._options()
        expected = self._expected()
        table = _table(columns)
        declaration = self._declaration("aggregate", name, arguments)
        measure = AggregateFunction(declaration, tuple(arguments), options)
        return Case(self._text, name, None, Aggregate(table, [], [measure]), expected)

    def _defined(self) -> Case:
        """`DEFINE t(types) = ((row), …)`, then a window function over it, or an aggregate of its columns."""
        table_name = self._take(r"\w+")
        self._take(r"\(")
        kinds = [types.nullable(_type(self._type_text()))]
        while self._accept(","):
            kinds.append(types.nullable(_type(self._type_text())))
        self._take(r"\)")
        self._take("=")
        rows = self._rows()
        columns = [([_value(row[n], kind) for row in rows if row], kind) for n, kind in enumerate(kinds)]
        name = self._take(r"\w+")
        self._take(r"\(")
        arguments: list[Expression | str] = []
        while not self._accept(r"\)"):
            if self._accept(rf"(?:{table_name}\.)?col"):
                ordinal = int(self._take(r"\d+"))
                arguments.append(FieldReference(ordinal, kinds[ordinal]))
            else:
                arguments.append(self._argument({}))
            self._accept(",")
        options = self._options()
        table = _table(columns)
        if self._accept("OVER"):
            self._take(r"\w+")
            return self._window(name, arguments, options, table, len(kinds))
        options = options or self._options()
        declaration = self._declaration("aggregate", name, arguments)
        measure = AggregateFunction(declaration, tuple(arguments), options)
        return Case(self._text, name, None, Aggregate(table, [], [measure]), self._expected())

    def _window(
        self, name: str, arguments: list[Expression | str], options: Any, table: VirtualTable, width: int
    ) -> Case:
        self._take("=")
        values, kind = self._column()
        declaration = self._declaration("window", name, arguments)
        call = WindowCall(declaration, tuple(arguments), True, Bound("unbounded"), Bound("unbounded"), options)
        relation = Window(table, [call], [], []).select([width])
        return Case(self._text, name, None, relation, Literal(tuple(values), types.of("list", types.nullable(kind))))

    # ---- parts

    def _rows(self) -> list[list[str]]:
        """`((a, b), (c, d))`, as texts."""
        self._take(r"\(")
        rows = []
        while not self._accept(r"\)"):
            if self._see(r"\("):
                rows.append(self._row())
                self._accept(",")
            else:
                break
        return rows

    def _row(self) -> list[str]:
        self._take(r"\(")
        found = []
        while not self._accept(r"\)"):
            found.append(self._scalar())
            self._accept(",")
        return found

    def _scalar(self) -> str:
        return self._take(r"'(?:[^'\\]|\\.)*'|[^\s,()\[\]':]+(?::[^\s,()\[\]':]+)*")

    def _column(self) -> tuple[list[Any], Type]:
        """`(a, b)::type`: the values of a column."""
        texts = self._row()
        self._take("::")
        kind = types.nullable(_type(self._type_text()))
        return [_value(text, kind) for text in texts], kind

    def _type_text(self) -> str:
        found = self._take(r"(?:u!)?\w+\??")
        if self._text[self._at : self._at + 1] == "<":
            depth, start = 0, self._at
            while True:
                character = self._text[self._at]
                depth += (character == "<") - (character == ">" and self._text[self._at - 1] != "-")
                self._at += 1
                if not depth:
                    break
            found += self._text[start : self._at]
        return found + ("?" if self._accept(r"\?") else "")

    def _call(self, name: str, scope: dict[str, Type]) -> ScalarFunction:
        self._take(r"\(")
        arguments: list[Expression | str] = []
        while not self._accept(r"\)"):
            arguments.append(self._argument(scope))
            self._accept(",")
        return self._resolved(name, arguments, (), None)

    def _resolved(
        self, name: str, arguments: list[Expression | str], options: Any, given: tuple[Expression | str, ...] | None
    ) -> ScalarFunction:
        found = tuple(arguments) if given is None else given
        return ScalarFunction(self._declaration("scalar", name, found), found, options)

    def _declaration(self, kind: str, name: str, arguments: Sequence[Expression | str]) -> Declaration:
        shapes = tuple(a if isinstance(a, str) else a.type for a in arguments)
        for alias in self._aliases:
            if alias is not None:
                found = registry.resolve(kind, alias, name, shapes)
                if found is not None:
                    return found
        raise Unreadable(f"no {name} of ({', '.join(map(str, shapes))})")

    def _argument(self, scope: dict[str, Type]) -> Expression | str:
        if self._see(r"\("):
            return self._lambda(scope)
        if found := self._see(r"(\w+)::enum"):
            self._at = found.end()
            return found[1]
        if found := self._see(r"([a-z_]\w*)\("):
            self._at = found.end() - 1
            return self._call(found[1], scope)
        if (found := self._see(r"(\w+)(?=[,)])")) and found[1] in scope:
            self._at = found.end()
            return FieldReference(0, scope[found[1]], (), 0, 0)
        return self._value()

    def _lambda(self, scope: dict[str, Type]) -> Expression:
        """`(x -> body)::func<parameter -> result>`; the type comes behind the body, which needs it."""
        start = self._at
        self._take(r"\(")
        name = self._take(r"\w+")
        self._take("->")
        body = self._at
        depth = 1
        while depth:
            depth += {"(": 1, ")": -1}.get(self._text[self._at], 0)
            self._at += 1
        self._take("::")
        kind = _type(self._type_text())
        end, self._at = self._at, body
        parameter = self._element_type(start) or kind.parameters[0]
        found = self._argument({name: parameter})
        self._at = end
        assert isinstance(found, Expression)
        if found.type == types.BOOLEAN:  # predicates have a result that may be null, in the extension files
            found = Cast(found, types.nullable(found.type), throws=True)
        return Lambda((parameter,), found)

    def _element_type(self, before: int) -> Type | None:
        """The element type of the list before a lambda: what the cases write as its parameter leaves `?` out."""
        found = re.findall(r"::list\??<([^>]*)>", self._text[:before])
        return _type(found[-1]) if found else None

    def _value(self) -> Literal | Nested | Any:
        if self._see(r"\["):
            texts = self._list()
            self._take("::")
            kind = _type(self._type_text())
            if kind.kind != "list":
                raise Unreadable("a list of another type")
            return Literal(tuple(_value(text, kind.parameters[0]) for text in texts), kind)
        text = self._scalar_before_type()
        self._take("::")
        kind = _type(self._type_text())
        if kind.kind == "func":
            raise Unreadable("a function that is null")
        return Literal(_value(text, kind), kind)

    def _list(self) -> list[str]:
        self._take(r"\[")
        found = []
        while not self._accept(r"\]"):
            found.append(self._scalar())
            self._accept(",")
        return found

    def _scalar_before_type(self) -> str:
        return self._take(r"'(?:[^'\\]|\\.)*'|.*?(?=::)")


def _table(columns: Sequence[tuple[list[Any], Type]]) -> VirtualTable:
    kinds = [kind for _, kind in columns]
    rows = [
        tuple(Literal(value, kind) for value, kind in zip(row, kinds, strict=True))
        for row in zip(*(values for values, _ in columns), strict=True)
    ]
    return VirtualTable(rows, [f"c{n}" for n in range(len(kinds))], kinds)


# ---- values


def _value(text: str, kind: Type) -> Any:
    """A literal's text as a value in Catalyst's internal form."""
    if text.lower() == "null":
        return None
    if text.startswith("'"):
        text = text[1:-1]
    if kind.kind in types.INTEGERS:
        return int(text)
    if kind.kind in types.FLOATS:
        return float(text)
    if kind.kind not in _VALUES:
        raise Unreadable(f"values of the type {kind}")
    return _VALUES[kind.kind](text, kind)


def _decimal(text: str, kind: Type) -> int:
    return int(Decimal(text).scaleb(kind.parameters[1], Context(prec=80)))


def _micros(text: str, kind: Type) -> int:
    moment = dt.datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        moment = moment.astimezone(dt.timezone.utc).replace(tzinfo=None)
    since = moment - dt.datetime(1970, 1, 1)
    unit: int = 10 ** (6 - kind.parameters[0])
    return since // dt.timedelta(microseconds=1) // unit


def _months(text: str, kind: Type) -> int:
    return 12 * _count(text, "Y") + _count(text, "M")


def _day_time(text: str, kind: Type) -> int:
    date, _, time = text.partition("T")
    seconds = re.search(r"(-?[\d.]+)S", time)
    micros = int(Decimal(seconds[1]) * 1_000_000) if seconds else 0
    minutes = (_count(date, "D") * 24 + _count(time, "H")) * 60 + _count(time, "M")
    return minutes * 60_000_000 + micros


def _count(text: str, unit: str) -> int:
    found = re.search(rf"(-?\d+){unit}", text)
    return int(found[1]) if found else 0


_VALUES: dict[str, Any] = {
    "boolean": lambda text, kind: text.lower() == "true",
    **dict.fromkeys(("string", "varchar", "fixedchar"), lambda text, kind: text),
    "decimal": _decimal,
    "date": lambda text, kind: (dt.date.fromisoformat(text) - dt.date(1970, 1, 1)).days,
    "precision_timestamp": _micros,
    "precision_timestamp_tz": _micros,
    "interval_year": _months,
    "interval_day": _day_time,
}


def cases(file: str) -> Iterator[Case | tuple[str, str]]:
    """The cases of a file; the text and the reason of each that no plan can be made of."""
    kind, texts = lines(file)
    for text in texts:
        try:
            yield read(file, kind, text)
        except Unreadable as problem:
            yield text, str(problem)
