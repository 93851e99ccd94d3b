"""Users' own functions in DataFusion: those that a caller gives as objects, by the names that a plan calls them by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import InvalidPlanError
from ...extensions import registry
from ...plan.declared_functions import declared_functions
from ...user_functions.spark_function import AGGREGATES, PLAIN, SparkFunction
from ..arrow.function import Compute, PythonFunction, Signature
from ..user_functions.evaluation import evaluated, nested_field_names
from .python_functions import Functions

if TYPE_CHECKING:
    from datafusion import SessionContext
    from substrait.plan_pb2 import Plan

    from ...user_functions.declared import UserFunctions


def python_functions(functions: UserFunctions) -> Functions:
    """What computes the functions that are given as objects, by URN and name."""
    return {
        (each.urn, each.name): _computed(each.spark)
        for each in functions.objects
        if each.spark is not None and each.spark.eval_type != PLAIN
    }


def _computed(function: SparkFunction) -> PythonFunction:
    def compute(signature: Signature) -> Compute:
        made = evaluated(function, signature.name, signature.arguments, signature.arrow_result, signature.options)
        if function.eval_type in AGGREGATES:
            return lambda arrays, rows: made(arrays, rows)[0]
        return made

    return PythonFunction(compute, function.deterministic, tuple(nested_field_names(function.return_type)))


def require_given(plan: Plan, ctx: SessionContext, functions: UserFunctions) -> None:
    """Refuse a plan that calls a function of somebody's own that neither the caller gives nor the context has."""
    for urn, name in declared_functions(plan).values():
        given = (urn, name) in {(each.urn, each.name) for each in functions.objects}
        if given or not urn or registry.built_in_alias(urn) is not None or _has(ctx, name):
            continue
        raise InvalidPlanError(
            f"The plan calls the function {name} of {urn}, which is not there: give it as functions=[{name}], or register one of that "
            "name in the context."
        )


def _has(ctx: SessionContext, name: str) -> bool:
    return any(name.lower() == known.lower() for known in (*ctx.udfs(), *ctx.udafs(), *ctx.udwfs()))
