"""Checking function calls against the extension files: name, arguments, options, result type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from substrait.plan_pb2 import Plan

from ..algebra.enum_names import enum_name
from ..algebra.type_messages import Complain, declared_types, read_type
from ..algebra.types import Type
from ..errors.quotation import declared_name
from ..extensions import registry
from ..extensions.registry import Implementation


class Declared(NamedTuple):
    """A function as the plan declares it."""

    urn: str
    name: str
    signature: str

    def __str__(self) -> str:
        return f"{self.name}:{self.signature}"


class Phase(NamedTuple):
    """What a call computes of a function: from its arguments or an intermediate value, its result or another such value."""

    of_arguments: bool = True
    to_result: bool = True


class Functions:
    """The functions that a plan declares, and which of them it calls."""

    def __init__(self, plan: Plan, complain: Complain) -> None:
        self.declared: dict[int, Declared] = {}
        self._complain = complain
        self._called: set[int] = set()
        self._urns: dict[int, str] = {}
        self._referenced: set[int] = set()
        self._as_derived: dict[int, Any] = {}
        self.types = declared_types(plan)
        self._read_urns(plan)
        for declaration in plan.extensions:
            self._read_declaration(declaration)

    def _read_urns(self, plan: Plan) -> None:
        for entry in plan.extension_urns:
            if entry.extension_urn_anchor in self._urns:
                self._complain(f"the URN anchor {entry.extension_urn_anchor} is declared twice")
            if entry.urn in self._urns.values():
                self._complain(f"the URN {entry.urn} is declared twice")
            self._urns[entry.extension_urn_anchor] = entry.urn

    def _read_declaration(self, declaration: Any) -> None:
        kind = declaration.WhichOneof("mapping_type")
        if kind is None:
            self._complain("an extension declaration is empty")
            return
        entry = getattr(declaration, kind)
        urn = self._urns.get(entry.extension_urn_reference)
        self._referenced.add(entry.extension_urn_reference)
        if urn is None:
            self._complain(f"{entry.name}: the URN anchor {entry.extension_urn_reference} is not declared")
        elif not registry.is_known(urn):
            self._complain(f"{entry.name}: no extension file has the URN {urn}")
        if kind == "extension_function":
            self._read_function(entry, urn or "")
        if kind == "extension_type":
            self.types.names[entry.type_anchor] = declared_name(entry.name)

    def _read_function(self, entry: Any, urn: str) -> None:
        name, colon, signature = entry.name.partition(":")
        if not colon:
            self._complain(f"{entry.name}: the function is not declared under a compound name")
        function = Declared(urn, name, signature)
        if entry.function_anchor in self.declared:
            self._complain(f"the function anchor {entry.function_anchor} is declared twice")
        if function in self.declared.values():
            self._complain(f"{function}: declared twice")
        self.declared[entry.function_anchor] = function

    def finish(self) -> None:
        """Complain of what was declared and never used."""
        for anchor in sorted(set(self.declared) - self._called):
            self._complain(f"{self.declared[anchor]}: declared and never called")
        for anchor in sorted(set(self._urns) - self._referenced):
            self._complain(f"{self._urns[anchor]}: declared and never referenced")

    def check(self, kinds: Sequence[str], call: Any, arguments: tuple[Type | str | None, ...]) -> Type | None:
        """Check a call of a function of one of these kinds; returns the result type that the call states."""
        result = read_type(call.output_type, self._complain, self.types)
        anchor = call.function_reference
        self._called.add(anchor)
        function = self.declared.get(anchor)
        if function is None:
            self._complain(f"the function anchor {anchor} is not declared")
            return result
        implemented = _implementation(kinds, function)
        if implemented is None:
            if registry.alias_of(function.urn) is not None:
                self._complain(f"{function}: {function.urn} has no such {' or '.join(kinds)} function")
            return result
        kind, implementation = implemented
        self._check_options(function, implementation, call)
        phase = _phase(call)
        if phase.of_arguments and self._check_types(kind, function, implementation, arguments, result, phase):
            self._as_derived[id(call)] = call
        if not phase.of_arguments and len(arguments) != 1:
            self._complain(f"{function}: called with {len(arguments)} arguments, not with its intermediate value")
        return result

    def as_derived(self, call: Any) -> bool:
        """Whether a call that was checked returns the type that the extension file derives for its arguments."""
        return id(call) in self._as_derived

    def _check_options(self, function: Declared, implementation: Implementation, call: Any) -> None:
        for option in call.options:
            allowed = implementation.options.get(option.name)
            if allowed is None:
                self._complain(f"{function}: there is no option {option.name}")
                continue
            if not option.preference:
                self._complain(f"{function}: the option {option.name} has no value")
            for value in option.preference:
                if value not in allowed:
                    self._complain(f"{function}: the option {option.name} can't be {value}")

    def _check_types(
        self,
        kind: str,
        function: Declared,
        implementation: Implementation,
        arguments: tuple[Type | str | None, ...],
        result: Type | None,
        phase: Phase,
    ) -> bool:
        """Whether the result is the one derived, which can't be said where a type isn't known, or of an intermediate value."""
        if not _takes_count(implementation, len(arguments)):
            self._complain(f"{function}: called with {len(arguments)} arguments")
            return False
        known = tuple(argument for argument in arguments if argument is not None)
        if len(known) < len(arguments) or result is None:
            return False  # a type that isn't known was complained of already, or is an extension relation's secret
        shown = ", ".join(map(str, known))
        resolved = registry.resolve(kind, str(registry.alias_of(function.urn)), function.name, known)
        if resolved is None:
            self._complain(f"{function}: no implementation takes ({shown})")
        elif resolved.signature != function.signature:
            self._complain(f"{function}: a call with ({shown}) is {resolved.compound}")
        elif not phase.to_result:
            return False
        elif registry.stated(resolved, result).result != result:
            self._complain(f"{function}: with ({shown}) it returns {resolved.result}, not {result}")
        else:
            return resolved.result == result
        return False


def _phase(call: Any) -> Phase:
    """The phase of a call; an aggregate that states none goes on from intermediate values to the result."""
    if "phase" not in call.DESCRIPTOR.fields_by_name:
        return Phase()
    before, _, after = enum_name(call, "phase").partition("_TO_")
    return Phase(before == "INITIAL", after in ("RESULT", ""))


def _implementation(kinds: Sequence[str], function: Declared) -> tuple[str, Implementation] | None:
    alias = registry.alias_of(function.urn)
    if alias is None:
        return None
    for kind in kinds:
        for implementation in registry.implementations(kind, alias, function.name):
            if implementation.signature == function.signature:
                return kind, implementation
    return None


def _takes_count(implementation: Implementation, count: int) -> bool:
    expected = len(implementation.arguments)
    if implementation.variadic:
        return count >= expected - 1 + implementation.minimum
    return count == expected
