"""Arithmetic by the standard functions without the option that says what becomes of an overflow."""

from __future__ import annotations

from ...algebra.builder import CallBuilder
from ...algebra.expression import Expression, ScalarFunction
from ...algebra.types import INTEGERS
from ...dialects.concessions import OVERFLOW
from .forms import AggregateForm, AggregateForms, Called, Form, Scalar, ScalarForms

NEEDS = frozenset({OVERFLOW})


def of_integers(name: str) -> Scalar:
    """The standard function in the place of ours, of integers."""

    def form(e: CallBuilder, call: ScalarFunction) -> Form | None:
        operands = call.children()
        if operands[0].type.kind not in INTEGERS:
            return None
        return Form(NEEDS, e.cast(e.call(f"arithmetic:{name}", *operands), call.type))

    return form


def left_open(e: CallBuilder, call: ScalarFunction) -> Form | None:
    """A call without its option."""
    if dict(call.options).get("overflow") != "ERROR":
        return None
    options = tuple([option for option in call.options if option[0] != "overflow"])
    return Form(NEEDS, ScalarFunction(call.declaration, call.arguments, options, call.raising))


def sum_(e: CallBuilder, call: Called) -> AggregateForm | None:
    """A sum of integers or decimals without its option."""
    (argument,) = [each for each in call.arguments if isinstance(each, Expression)]
    if argument.type.kind not in (*INTEGERS, "decimal") or dict(call.options).get("overflow") == "SILENT":
        return None
    file = "arithmetic_decimal" if argument.type.kind == "decimal" else "arithmetic"
    return AggregateForm(NEEDS, f"{file}:sum", argument, throws=call.declaration.name != "try_sum")


def average(e: CallBuilder, call: Called) -> AggregateForm | None:
    """An average of decimals without its option."""
    if dict(call.options).get("overflow") != "ERROR":
        return None
    (argument,) = [each for each in call.arguments if isinstance(each, Expression)]
    return AggregateForm(NEEDS, "arithmetic_decimal:avg", argument)


SCALARS: ScalarForms = {
    **{
        f"spark:{mode}_{name}": of_integers(name)
        for mode in ("spark", "try")
        for name in ("add", "subtract", "multiply")
    },
    "spark:negative": of_integers("negate"),
    "spark:spark_abs": of_integers("abs"),
    **{f"arithmetic:{name}": left_open for name in ("abs", "add", "divide", "multiply", "negate", "subtract")},
    **{f"arithmetic_decimal:{name}": left_open for name in ("add", "multiply", "subtract")},
}

AGGREGATES: AggregateForms = {
    "arithmetic:sum": sum_,
    "arithmetic_decimal:avg": average,
    "arithmetic_decimal:sum": sum_,
    "spark:spark_sum": sum_,
    "spark:try_sum": sum_,
}
