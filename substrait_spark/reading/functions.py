"""The functions that a plan declares."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from substrait.plan_pb2 import Plan

from ..algebra.types import TEXTS, Type, equal_but_nullability, of
from ..errors import Unsupported
from ..extensions import registry
from ..extensions.registry import Declaration
from . import bare_names


def same_values(derived: Type, stated: Type) -> bool:
    """Whether a result is the same in two types: they differ in nullability, or in how long a text is said to be."""
    return equal_but_nullability(derived, stated) or (derived.kind in TEXTS and stated.kind in TEXTS)


def _takes_texts(kind: str, alias: str, name: str, shapes: tuple[Type | str, ...]) -> bool:
    """Whether a function takes arguments of these types, texts of whatever length they are said to have."""
    texts = tuple(
        [s if isinstance(s, str) or s.kind not in TEXTS else of("string", nullable=s.nullable) for s in shapes]
    )
    return texts != shapes and registry.resolve(kind, alias, name, texts) is not None


def _stated(declaration: Declaration, result: Type | None) -> Declaration:
    stated = registry.stated(declaration, result)
    if stated.result.kind == "any":
        raise Unsupported(f"a call of {declaration.compound} does not state its type, which the function leaves open")
    return stated


class NoImplementation(Unsupported):
    """A call of a function that takes no arguments of such types."""


class Declared(NamedTuple):
    """A function as the plan declares it."""

    urn: str
    name: str
    signature: str


class DeclaredFunctions:
    """By anchor, the functions of a plan."""

    def __init__(self, plan: Plan, nondeterministic: Collection[tuple[str, str]] = ()) -> None:
        self._nondeterministic = nondeterministic
        urns = {entry.extension_urn_anchor: entry.urn for entry in plan.extension_urns}
        self._functions: dict[int, Declared] = {}
        for declaration in plan.extensions:
            if declaration.WhichOneof("mapping_type") == "extension_function":
                entry = declaration.extension_function
                name, _, signature = entry.name.partition(":")
                urn = urns.get(entry.extension_urn_reference, "")
                self._functions[entry.function_anchor] = Declared(urn, name, signature)

    def bare_name(self, anchor: int) -> str | None:
        """The name of a function that the plan declares without its file and its signature; None for others."""
        function = self._functions.get(anchor)
        return function.name if function is not None and not function.urn and not function.signature else None

    def declaration(
        self, kinds: Sequence[str], anchor: int, shapes: tuple[Type | str, ...], result: Type | None
    ) -> Declaration:
        """The function of a call of one of these kinds, by its anchor, its arguments and the result type that it states.

        The arguments say which of the functions of a name is called; other releases spell its signature otherwise. Its
        result is of the type that its extension file derives; of the stated type where the file leaves that to the call, and
        where no file knows the function.
        """
        function = self._functions.get(anchor)
        if function is None:
            raise Unsupported(f"the function anchor {anchor} is not declared")
        known = registry.alias_of(function.urn)
        alias = known or function.urn
        for kind in kinds if known else ():
            implementation = registry.resolve(kind, alias, function.name, shapes)
            if implementation is not None:
                return _stated(implementation, result)
        declared = [k for k in kinds if known and registry.implementations(k, alias, function.name)]
        if declared and not _takes_texts(declared[0], alias, function.name, shapes):
            listed = ", ".join(map(str, shapes))
            raise NoImplementation(f"no implementation of {function.name}:{function.signature} takes ({listed})")
        kind = (declared or kinds)[0]
        if result is None:
            raise Unsupported(f"a call of {function.name} states no type, and no file that is known derives one")
        deterministic = (function.urn, function.name) not in self._nondeterministic
        is_users = known is None and bool(function.urn)
        return Declaration(
            alias, function.urn, function.name, function.signature, result, deterministic, kind, users=is_users
        )

    def standard(
        self, kinds: Sequence[str], name: str, shapes: tuple[Type | str, ...], result: Type | None
    ) -> Declaration:
        """The one standard function of a name that takes the arguments of a call."""
        function = bare_names.resolved(kinds, name, shapes)
        if function is not None:
            return _stated(function, result)
        listed = ", ".join(map(str, shapes))
        if bare_names.is_known(kinds, name):
            raise NoImplementation(f"no standard function {name} takes ({listed})")
        raise Unsupported(
            f"the plan does not say what file its function {name} is from, and no standard one has that name"
        )
