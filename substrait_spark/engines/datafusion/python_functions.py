"""Functions of Python in DataFusion, over Arrow: each is registered once for every signature that a plan calls it with.

DataFusion's Python package takes one exact signature for a name, and a plan may call a function with several. So a call gets
a name of its own for each, in the plan that is handed to DataFusion: `registered` gives that plan.
"""

from __future__ import annotations

import itertools
import re
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from datafusion import Accumulator, SessionContext, udaf, udf
from substrait.type_pb2 import Type as TypeMessage

from ...algebra import types
from ...algebra.expression import (
    AggregateFunction,
    Expression,
    FieldReference,
    Literal,
    ScalarFunction,
    Subquery,
    WindowCall,
    WindowFunction,
)
from ...algebra.relation import Aggregate, Relation
from ...algebra.traversal import columns, inputs_first, rewritten
from ...algebra.types import Type
from ...errors import EngineError, InvalidPlanError, SubstraitSparkError, exception_text
from ...extensions import registry
from ...plan.declared_functions import declared_functions
from ...plan.message import build
from ...reading.plan import read_plan
from ..arrow.function import Compute, PythonFunction, Signature
from ..arrow.functions import FUNCTIONS
from ..arrow.schema import arrow_type
from ..catalyst import functions as catalyst
from .defects.struct_names import Naming, RelationNames

if TYPE_CHECKING:
    from substrait.plan_pb2 import Plan

    from ...extensions.registry import Declaration

BETWEEN = re.compile(r"\b(?:substrait_spark|pyspark)[/\\](?:\w+[/\\])*\w+\.py$")
"""The files of what calls users' functions."""

_fresh = itertools.count(1)

Functions = Mapping[tuple[str, str], PythonFunction]
"""By URN and name."""

OWN: Functions = {
    (registry.urn(alias), name): function
    for alias, functions in (("arrow", FUNCTIONS), ("catalyst", catalyst.FUNCTIONS))
    for name, function in functions.items()
}
"""Those of `arrow/functions/`, and Catalyst's, which every plan may call."""


@contextmanager
def registered(plan: Plan, ctx: SessionContext, functions: Functions | None = None) -> Iterator[Plan]:
    """The plan as DataFusion is to get it, while the functions of Python that it calls are registered.

    What such a function raises in the block is an EngineError that shows it, with its traceback. Raises InvalidPlanError where
    the plan can't be read, or calls a function with what it doesn't take.
    """
    known = {**OWN, **(functions or {})}
    if not any(called in known for called in declared_functions(plan).values()):
        yield plan
        return
    calls = Calls(known)
    try:
        yield calls.renamed(plan, ctx)
    except SubstraitSparkError as error:
        if calls.failed is None or not isinstance(error, EngineError):
            raise
        raise EngineError(told(*calls.failed)) from calls.failed[1]
    finally:
        calls.deregister(ctx)


def told(name: str, error: BaseException) -> str:
    """What a function raised, as Python shows it, from the function's own code on."""
    shown = traceback.TracebackException.from_exception(error)
    own = [frame for frame in shown.stack if not BETWEEN.search(frame.filename)]
    if not own:  # what it returned is wrong
        return f"The function {name} failed: {error}"
    shown.stack = traceback.StackSummary.from_list(own)
    return f"The function {name} raised an exception.\n{''.join(shown.format()).rstrip()}"


class Calls:
    """The calls of Python's functions in one plan, by the names that they get, and what a function raised."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self._names: dict[tuple[Any, ...], Declaration] = {}
        self._registered: list[tuple[str, str]] = []
        self._makers: list[Callable[[SessionContext], None]] = []
        self.failed: tuple[str, BaseException] | None = None
        """The function that raised first, and what."""

    def renamed(self, plan: Plan, ctx: SessionContext) -> Plan:
        """The plan with a name for each signature, registered."""
        registry.load_all()
        read = read_plan(plan)
        if read.root is None or read.problems:
            reason = read.problems[0].reason if read.problems else "it has no root"
            raise InvalidPlanError(f"The plan can't be read: {reason}.")
        built = build(self._over(read.root), read.names)
        for register in self._makers:
            register(ctx)
        return built

    def deregister(self, ctx: SessionContext) -> None:
        """Have the context forget the names."""
        for kind, name in self._registered:
            (ctx.deregister_udaf if kind == "aggregate" else ctx.deregister_udf)(name)

    # ---- in the tree

    def _over(self, root: Relation) -> Relation:
        """A relation with its calls under their new names."""
        names = RelationNames()
        done: dict[Relation, Relation] = {}
        for relation in inputs_first(root, subqueries=True):
            inputs = tuple([done[input] for input in relation.inputs])
            naming = Naming([each for input in relation.inputs for each in names.of(input)], names)
            changed = [self._changed(each, naming, done) for each in relation.expressions()]
            if all(a is b for a, b in zip(changed, relation.expressions(), strict=True)):
                made = relation.with_inputs(inputs)
            else:
                made = relation.over(inputs, changed)
            done[relation] = self._measured(made, relation, naming)
        return done[root]

    def _measured(self, made: Relation, before: Relation, naming: Naming) -> Relation:
        """An aggregate with its measures under their new names."""
        if not isinstance(made, Aggregate) or not isinstance(before, Aggregate):
            return made
        if made.measures and len(made.sets) == 1 and all(map(self._takes_rows, made.measures)):
            return self._over_lists(made, before, naming)
        measures = [self._measure(call, old, naming) for call, old in zip(made.measures, before.measures, strict=True)]
        if all(a is b for a, b in zip(measures, made.measures, strict=True)):
            return made
        found = Aggregate(made.inputs[0], made.groupings, measures, made.sets).emitting_as(made)
        found.place, found.hint = made.place, made.hint
        return found

    def _takes_rows(self, call: AggregateFunction) -> bool:
        """Whether a measure is of a function of Python, and of all rows as they come."""
        return not (self._of(call.declaration) is None or call.distinct or call.sorts or call.filter)

    def _over_lists(self, made: Aggregate, before: Aggregate, naming: Naming) -> Relation:
        """An aggregate whose measures list the values of each group, and calls of the functions over the lists.

        DataFusion calls an aggregate function of Python once for each group in each batch, which takes longer than all else.
        """
        keys = len(made.groupings)
        lists: list[AggregateFunction] = []
        named: list[tuple[Declaration, range]] = []
        for call, old in zip(made.measures, before.measures, strict=True):
            function = self._functions[call.declaration.urn, call.declaration.name]
            values = [each for each in _counted(call.arguments) if isinstance(each, Expression)]
            places = range(keys + len(lists), keys + len(lists) + len(values))
            named.append((self._declared(function, old, old.arguments, naming, "lists"), places))
            for value in values:
                listing = registry.resolve("aggregate", "datafusion", "array_agg", (value.type,))
                if listing is None:
                    raise InvalidPlanError(f"Values of {value.type} can't be listed.")
                lists.append(AggregateFunction(listing, (value,)))
        below = Aggregate(made.inputs[0], made.groupings, lists, made.sets)
        below.place, below.hint = made.place, made.hint
        found: list[Expression] = [FieldReference(n, below.types[n]) for n in range(keys)]
        for declaration, places in named:
            found.append(
                ScalarFunction(
                    declaration, tuple([FieldReference(n, below.types[n]) for n in places]), (), raising=True
                )
            )
        return columns(below, found).emitting_as(made)

    def _measure(self, call: AggregateFunction, before: AggregateFunction, naming: Naming) -> AggregateFunction:
        function = self._of(call.declaration)
        if function is None:
            return call
        declaration = self._declared(function, call, before.arguments, naming)
        return AggregateFunction(declaration, _counted(call.arguments), (), call.distinct, call.sorts, call.filter)

    def _changed(self, expression: Expression, naming: Naming, done: Mapping[Relation, Relation]) -> Expression:
        """An expression with its calls under their new names."""

        def change(part: Expression) -> Expression | None:
            if not isinstance(part, Subquery) and self._called_by(part) is None:
                return None
            inside = part.with_children([rewritten(child, change) for child in part.children()])
            if isinstance(inside, Subquery):
                return inside.with_relation(done[inside.relation])
            return self._under_new_name(inside, part, naming)

        return rewritten(expression, change)

    def _called_by(self, expression: Expression) -> PythonFunction | None:
        """The function of Python that an expression calls; None for other expressions."""
        if isinstance(expression, ScalarFunction):
            return self._of(expression.declaration)
        return self._of(expression.call.declaration) if isinstance(expression, WindowFunction) else None

    def _under_new_name(self, call: Expression, before: Expression, naming: Naming) -> Expression:
        """A call whose arguments have their new names already, under its own, by what it was before."""
        function = self._called_by(before)
        if function and isinstance(call, ScalarFunction) and isinstance(before, ScalarFunction):
            declaration = self._declared(function, before, before.arguments, naming)
            return ScalarFunction(declaration, _counted(call.arguments[function.constants :]), (), call.raising)
        if function and isinstance(call, WindowFunction) and isinstance(before, WindowFunction):
            declaration = self._declared(function, before.call, before.call.arguments, naming)
            frame = (call.call.rows, call.call.lower, call.call.upper)
            return WindowFunction(
                WindowCall(declaration, _counted(call.call.arguments), *frame), call.partition, call.sorts
            )
        return call

    def _of(self, declaration: Declaration) -> PythonFunction | None:
        return self._functions.get((declaration.urn, declaration.name))

    def _declared(
        self,
        function: PythonFunction,
        call: ScalarFunction | AggregateFunction | WindowCall,
        arguments: Sequence[Expression | str],
        naming: Naming,
        kind: str = "",
    ) -> Declaration:
        """The declaration under the name of a call's signature; of the kind `lists`, it takes lists of what each group has."""
        constants = _constants(arguments[: function.constants])
        arguments = arguments[function.constants :]
        values = [argument for argument in arguments if isinstance(argument, Expression)]
        if len(values) < len(arguments) or len(constants) < function.constants:
            raise InvalidPlanError(f"The function {call.declaration.name} has an argument that is no value.")
        kind = kind or ("scalar" if isinstance(call, ScalarFunction) else "aggregate")
        # What hangs on constants alone is left for the rows that reach it, as Spark does: it may raise.
        volatile = not function.deterministic or all(isinstance(value, Literal) for value in values)
        named = [naming.of(value) for value in values]
        result_names = function.field_names or (naming.of(call) if isinstance(call, ScalarFunction) else ())
        key = (
            kind,
            call.declaration,
            call.options,
            constants,
            tuple(value.type for value in values),
            tuple(named),
            result_names,
            volatile,
        )
        found = self._names.get(key)
        if found is None:
            signature = Signature(
                call.declaration.name,
                tuple([value.type for value in values]),
                call.declaration.result,
                tuple([arrow_of(value.type, names) for value, names in zip(values, named, strict=True)]),
                arrow_of(call.declaration.result, result_names),
                call.options,
                constants,
            )
            name = f"python_function_{next(_fresh)}"
            found = self._names[key] = replace(call.declaration, name=name, kind="scalar" if kind == "lists" else kind)
            self._note(kind, name, _made(function, signature), signature, volatile)
        return found

    # ---- in DataFusion

    def _note(self, kind: str, name: str, compute: Compute, signature: Signature, volatile: bool) -> None:
        """Have a name registered, once the whole plan is known to be fine."""
        volatility = "volatile" if volatile else "immutable"
        inputs = list(signature.arrow_arguments) or [pa.int64()]
        count = len(signature.arrow_arguments)

        def register(ctx: SessionContext) -> None:
            if kind == "scalar":
                ctx.register_udf(
                    udf(self._scalar(compute, signature, count), inputs, signature.arrow_result, volatility, name)
                )
            elif kind == "lists":
                lists = [pa.list_(input) for input in inputs]
                call = self._over_each(compute, signature, count)
                ctx.register_udf(udf(call, lists, signature.arrow_result, volatility, name))
            else:
                state = [pa.list_(input) for input in inputs]

                def accumulator() -> Accumulator:
                    return _Rows(inputs, lambda arrays, rows: self._value(compute, signature, arrays[:count], rows))

                ctx.register_udaf(udaf(accumulator, inputs, signature.arrow_result, state, volatility, name))
            self._registered.append((kind, name))

        self._makers.append(register)

    def _scalar(self, compute: Compute, signature: Signature, count: int) -> Callable[..., pa.Array]:
        def call(*arrays: pa.Array) -> pa.Array:
            return self._noting(signature, lambda: compute(arrays[:count], len(arrays[0])))

        return call

    def _over_each(self, compute: Compute, signature: Signature, count: int) -> Callable[..., pa.Array]:
        def call(*lists: pa.ListArray) -> pa.Array:
            ends = lists[0].offsets.to_pylist()
            parts = [each.values for each in lists]
            found = [
                pa.repeat(self._value(compute, signature, [part[start:end] for part in parts][:count], end - start), 1)
                for start, end in itertools.pairwise(ends)
            ]
            return pa.concat_arrays(found) if found else pa.array([], signature.arrow_result)

        return call

    def _value(self, compute: Compute, signature: Signature, arrays: Sequence[pa.Array], rows: int) -> pa.Scalar:
        def typed() -> pa.Scalar:
            value = compute(arrays, rows)
            return value if isinstance(value, pa.Scalar) else pa.scalar(value, signature.arrow_result)

        found: pa.Scalar = self._noting(signature, typed)
        return found

    def _noting(self, signature: Signature, compute: Callable[[], Any]) -> Any:
        try:
            return compute()
        except BaseException as error:
            if self.failed is None:
                self.failed = (signature.name, error)
            raise


def _made(function: PythonFunction, signature: Signature) -> Compute:
    try:
        return function.compute(signature)
    except SubstraitSparkError:
        raise
    except Exception as error:  # whatever is missing for it, or its own code raises
        raise InvalidPlanError(f"The function {signature.name} can't be run here ({exception_text(error)}).") from error


class _Rows(Accumulator):
    """The rows of one group, which are kept until it is complete: only then is the function called."""

    def __init__(self, kinds: Sequence[pa.DataType], compute: Compute) -> None:
        self._parts: list[list[pa.Array]] = [[] for _ in kinds]
        self._kinds = kinds
        self._compute = compute

    def update(self, *values: pa.Array) -> None:
        for parts, value in zip(self._parts, values, strict=True):
            parts.append(value)

    def merge(self, states: list[pa.Array]) -> None:
        for parts, lists in zip(self._parts, states, strict=True):
            parts.append(lists.flatten())

    def state(self) -> list[pa.Scalar]:
        return [_listed(array) for array in self._arrays()]

    def evaluate(self) -> pa.Scalar:
        arrays = self._arrays()
        found: pa.Scalar = self._compute(arrays, len(arrays[0]))
        return found

    def _arrays(self) -> list[pa.Array]:
        return [
            pa.concat_arrays(parts) if parts else pa.array([], kind)
            for parts, kind in zip(self._parts, self._kinds, strict=True)
        ]


def _listed(array: pa.Array) -> pa.Scalar:
    """A list of an array's values, as one value."""
    return pa.ListArray.from_arrays(pa.array([0, len(array)], pa.int32()), array)[0]


def _constants(arguments: Sequence[Expression | str]) -> tuple[Any, ...]:
    """The values of those that are literals."""
    return tuple([each.value for each in arguments if isinstance(each, Literal)])


def _counted(arguments: tuple[Expression | str, ...]) -> tuple[Expression | str, ...]:
    """The arguments of a call; of one without any, a literal, since only an array tells how many rows there are."""
    return arguments or (Literal(0, types.I64),)


def arrow_of(type: Type, names: Sequence[str | None]) -> pa.DataType:
    """The Arrow type that DataFusion has for a type whose struct fields have these names, depth-first.

    Raises InvalidPlanError where a name isn't known.
    """
    if None in names:
        raise InvalidPlanError(
            "The plan doesn't tell the names of the fields of a struct that a function of Python takes."
        )
    message = TypeMessage()
    types.write(type, message)
    return arrow_type(message, iter([name for name in names if name is not None]))
