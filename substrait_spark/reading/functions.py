"""The functions that a plan declares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from substrait.plan_pb2 import Plan

from .. import extensions
from ..algebra.types import TEXTS, Type, equal_but_nullability, of
from ..errors import Unsupported
from ..extensions import Declaration


def same_values(derived: Type, stated: Type) -> bool:
    """Whether a result is the same in two types: they differ in nullability, or in how long a text is said to be."""
    return equal_but_nullability(derived, stated) or (derived.kind in TEXTS and stated.kind in TEXTS)


def _takes_texts(kind: str, alias: str, name: str, shapes: tuple[Type | str, ...]) -> bool:
    """Whether a function takes arguments of these types, texts of whatever length they are said to have."""
    texts = tuple(
        [s if isinstance(s, str) or s.kind not in TEXTS else of("string", nullable=s.nullable) for s in shapes]
    )
    return texts != shapes and extensions.resolve(kind, alias, name, texts) is not None


class NoImplementation(Unsupported):
    """A call of a function that takes no arguments of such types."""


class Declared(NamedTuple):
    """A function as the plan declares it."""

    urn: str
    name: str
    signature: str


class DeclaredFunctions:
    """By anchor, the functions of a plan."""

    def __init__(self, plan: Plan) -> None:
        urns = {entry.extension_urn_anchor: entry.urn for entry in plan.extension_urns}
        self._functions: dict[int, Declared] = {}
        for declaration in plan.extensions:
            if declaration.WhichOneof("mapping_type") == "extension_function":
                entry = declaration.extension_function
                name, _, signature = entry.name.partition(":")
                urn = urns.get(entry.extension_urn_reference, "")
                self._functions[entry.function_anchor] = Declared(urn, name, signature)

    def declaration(
        self, kinds: Sequence[str], anchor: int, shapes: tuple[Type | str, ...], result: Type
    ) -> Declaration:
        """The function of a call of one of these kinds, by its anchor, its arguments and the result type that it states.

        The arguments say which of the functions of a name is called; other releases spell its signature otherwise. Its
        result is of the type that its extension file derives; of the stated type where the file leaves that to the call, and
        where no file knows the function.
        """
        function = self._functions.get(anchor)
        if function is None:
            raise Unsupported(f"the function anchor {anchor} is not declared")
        known = extensions.alias_of(function.urn)
        alias = known or function.urn
        for kind in kinds if known else ():
            found = extensions.resolve(kind, alias, function.name, shapes)
            if found is not None:
                return extensions.stated(found, result)
        declared = [k for k in kinds if known and extensions.implementations(k, alias, function.name)]
        if declared and not _takes_texts(declared[0], alias, function.name, shapes):
            listed = ", ".join(map(str, shapes))
            raise NoImplementation(f"no implementation of {function.name}:{function.signature} takes ({listed})")
        kind = (declared or kinds)[0]
        return Declaration(alias, function.urn, function.name, function.signature, result, True, kind)
