"""The functions that a plan declares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from substrait.plan_pb2 import Plan

from .. import extensions
from ..algebra.types import TEXTS, Type, equal_but_nullability
from ..errors import Unsupported
from ..extensions import Declaration


def same_values(derived: Type, stated: Type) -> bool:
    """Whether a result is the same in two types: they differ in nullability, or in how long a text is said to be."""
    return equal_but_nullability(derived, stated) or (derived.kind in TEXTS and stated.kind in TEXTS)


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

        Its result is of the type that its extension file derives, in the nullability that is stated; of the stated type
        where no file knows the function.
        """
        function = self._functions.get(anchor)
        if function is None:
            raise Unsupported(f"the function anchor {anchor} is not declared")
        known = extensions.alias_of(function.urn)
        alias = known or function.urn
        for kind in kinds if known else ():
            found = extensions.resolve(kind, alias, function.name, shapes)
            if found is not None and found.signature == function.signature:
                return found._replace(result=result) if same_values(found.result, result) else found
        kind = next((k for k in kinds if known and extensions.implementations(k, alias, function.name)), kinds[0])
        return Declaration(alias, function.urn, function.name, function.signature, result, True, kind)
