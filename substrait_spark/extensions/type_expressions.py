"""The type expressions of extension files: argument patterns and return programs.

Grammar: https://substrait.io/extensions/#type-expressions. A pattern such as `decimal<P,S>` or `list<any1>` binds
its parameters; a return program computes a type from them, in lines of assignments that end in a type expression.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from ..algebra import types
from ..algebra.types import SHORT_NAMES, Type

Bindings = dict[str, Any]

_TOKEN = re.compile(
    r"\s*(?:(\d+)|([A-Za-z_][A-Za-z_0-9]*(?:![A-Za-z_0-9]+)?)|(->|:=|==|!=|<=|>=|&&|\|\||[-+*/<>=?:(),!]))"
)
_ALIASES = {"bool": "boolean", "str": "string", "vbin": "binary", "dec": "decimal"}


class Pattern(NamedTuple):
    """A parsed type expression: a type name or an `any` variable, its parameters and its `?`."""

    kind: str
    parameters: tuple[Any, ...]
    nullable: bool

    @property
    def variable(self) -> bool:
        return self.kind.startswith("any")

    @property
    def short_name(self) -> str:
        """What stands for the pattern in a compound function name."""
        return "any" if self.variable else SHORT_NAMES.get(self.kind, self.kind)


@lru_cache(maxsize=4096)
def pattern(text: str) -> Pattern:
    """Parse one type expression."""
    parser = _Parser(text)
    parsed = parser.type()
    parser.end()
    return parsed


def matches(pattern: Pattern, type: Type, bindings: Bindings) -> bool:
    """Whether a type fits a pattern, nullability of the outermost level aside; binds its parameters.

    A variable inside another type (`list<any1>`) stands for the whole element type, nullability included.
    """
    if pattern.variable:
        if pattern.kind == "any":
            return True
        bound = bindings.setdefault(pattern.kind, types.required(type))
        return bool(types.required(bound) == types.required(type))
    if pattern.kind != type.kind:
        return False
    if pattern.kind == "struct" and not pattern.parameters:
        return True
    if len(pattern.parameters) != len(type.parameters):
        return False
    return all(
        _parameter_matches(expected, actual, bindings)
        for expected, actual in zip(pattern.parameters, type.parameters, strict=True)
    )


def _parameter_matches(expected: Any, actual: Any, bindings: Bindings) -> bool:
    if isinstance(expected, Pattern):
        if not isinstance(actual, Type):
            return False
        if expected.variable:
            bound = bindings.get(expected.kind, actual)
            bindings[expected.kind] = actual
            return bool(types.required(bound) == types.required(actual))
        return expected.nullable == actual.nullable and matches(expected, actual, bindings)
    if isinstance(expected, str):
        return bool(bindings.setdefault(expected, actual) == actual)
    return bool(expected == actual)


class Program(NamedTuple):
    """A return program: assignments of integers, then the type."""

    assignments: tuple[tuple[str, Callable[[Bindings], int]], ...]
    result: Pattern

    def evaluate(self, bindings: Bindings) -> Type:
        """The return type for these bindings, with the nullability that the program itself states.

        A return type of `any`, which binds to nothing, is one that no expression can say: each call states its own.
        """
        values = dict(bindings)
        for name, expression in self.assignments:
            values[name] = expression(values)
        return _instantiate(self.result, values)


@lru_cache(maxsize=4096)
def program(text: str) -> Program:
    """Parse a return program."""
    *lines, last = [line for line in text.strip().splitlines() if line.strip()]
    assignments = []
    for line in lines:
        name, expression = line.split("=", 1)
        parser = _Parser(expression)
        assignments.append((name.strip(), parser.integer()))
        parser.end()
    return Program(tuple(assignments), pattern(last.strip()))


def _instantiate(pattern: Pattern, values: Bindings) -> Type:
    if pattern.kind == "any":
        return types.of("any", nullable=pattern.nullable)
    if pattern.variable:
        bound = values[pattern.kind]
        return types.with_nullable(bound, pattern.nullable)
    parameters = []
    for parameter in pattern.parameters:
        if isinstance(parameter, Pattern) and parameter.variable and not parameter.nullable:
            parameters.append(values[parameter.kind])
        elif isinstance(parameter, Pattern):
            parameters.append(_instantiate(parameter, values))
        elif callable(parameter):
            parameters.append(parameter(values))
        else:
            parameters.append(values[parameter] if isinstance(parameter, str) else parameter)
    return types.of(pattern.kind, *parameters, nullable=pattern.nullable)


class _Parser:
    """Recursive descent over one line; lines are short, so recursion is shallow."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[str] = []
        position = 0
        while position < len(text.rstrip()):
            match = _TOKEN.match(text, position)
            if match is None:
                raise ValueError(f"can't read the type expression {text!r} at {position}")
            self.tokens.append(match.group(match.lastindex or 0))
            position = match.end()
        self.position = 0

    def peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def next(self) -> str:
        token = self.peek()
        self.position += 1
        return token

    def accept(self, token: str) -> bool:
        if self.peek() == token:
            self.position += 1
            return True
        return False

    def expect(self, token: str) -> None:
        if not self.accept(token):
            raise ValueError(f"expected {token!r} in the type expression {self.text!r}")

    def end(self) -> None:
        if self.peek():
            raise ValueError(f"unexpected {self.peek()!r} in the type expression {self.text!r}")

    def type(self) -> Pattern:
        name = self.next().lower()
        kind = _ALIASES.get(name, name)
        nullable = self.accept("?")
        parameters: tuple[Any, ...] = ()
        if self.accept("<"):
            parameters = self.function_parameters() if kind == "func" else self.parameters()
            self.expect(">")
        return Pattern(kind, parameters, nullable)

    def parameters(self) -> tuple[Any, ...]:
        parameters = [self.parameter()]
        while self.accept(","):
            parameters.append(self.parameter())
        return tuple(parameters)

    def function_parameters(self) -> tuple[Any, ...]:
        if self.accept("("):
            arguments = self.parameters()
            self.expect(")")
        else:
            arguments = (self.parameter(),)
        self.expect("->")
        return (*arguments, self.parameter())

    def parameter(self) -> Any:
        token = self.peek().lower()
        kind = _ALIASES.get(token, token)
        if kind in SHORT_NAMES or kind.startswith("any") or "!" in kind:
            return self.type()
        start = self.position
        name = self.next()
        if re.fullmatch(r"[A-Za-z_]\w*", name) and self.peek() in (",", ">"):
            return name
        self.position = start
        if self.peek().isdigit() and self.tokens[self.position + 1] in (",", ">"):
            return int(self.next())
        return self.sum()

    def integer(self) -> Callable[[Bindings], int]:
        condition = self.comparison()
        if not self.accept("?"):
            return condition
        then = self.integer()
        self.expect(":")
        otherwise = self.integer()
        return lambda values: then(values) if condition(values) else otherwise(values)

    def comparison(self) -> Callable[[Bindings], int]:
        left = self.sum()
        operators: dict[str, Callable[[int, int], bool]] = {
            ">": lambda a, b: a > b,
            "<": lambda a, b: a < b,
            ">=": lambda a, b: a >= b,
            "<=": lambda a, b: a <= b,
            "==": lambda a, b: a == b,
            "!=": lambda a, b: a != b,
        }
        if self.peek() not in operators:
            return left
        operator = operators[self.next()]
        right = self.sum()
        return lambda values: operator(left(values), right(values))

    def sum(self) -> Callable[[Bindings], int]:
        total = self.product()
        while self.peek() in ("+", "-"):
            total = _binary(self.next(), total, self.product())
        return total

    def product(self) -> Callable[[Bindings], int]:
        total = self.atom()
        while self.peek() in ("*", "/"):
            total = _binary(self.next(), total, self.atom())
        return total

    def atom(self) -> Callable[[Bindings], int]:
        if self.accept("("):
            inner = self.integer()
            self.expect(")")
            return inner
        token = self.next()
        if token.isdigit():
            return lambda values: int(token)
        if self.accept("("):
            first = self.integer()
            if token == "integer_parameter":
                self.expect(")")
                return first
            self.expect(",")
            second = self.integer()
            self.expect(")")
            choose = {"min": min, "max": max}[token]
            return lambda values: choose(first(values), second(values))
        return lambda values: int(values[token])


def _binary(
    operator: str, left: Callable[[Bindings], int], right: Callable[[Bindings], int]
) -> Callable[[Bindings], int]:
    if operator == "+":
        return lambda values: left(values) + right(values)
    if operator == "-":
        return lambda values: left(values) - right(values)
    if operator == "*":
        return lambda values: left(values) * right(values)
    return lambda values: left(values) // right(values)
