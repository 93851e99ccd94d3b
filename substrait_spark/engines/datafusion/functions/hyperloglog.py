"""The estimate of HyperLogLog++ from its registers, as Spark makes it (HyperLogLogPlusPlusHelper)."""

from __future__ import annotations

import importlib.resources
from functools import lru_cache
from typing import NamedTuple

import yaml

from ....algebra.expression import Expression
from ....lowering.builder import LoweringBuilder

THRESHOLDS = (10, 20, 40, 80, 220, 400, 900, 1800, 3100, 6500, 15500, 20000, 50000, 120000, 350000)
"""By the bits of the registers' numbers, from 4 on: up to which number Spark counts by the registers that are empty."""

NEIGHBOURS = 6
"""Over how many of the nearest measured estimates a bias is averaged."""

_ALPHAS = {4: 0.673, 5: 0.697, 6: 0.709}


class Step(NamedTuple):
    """The bias of the raw estimates up to a bound."""

    bound: float
    bias: float


def estimate(e: LoweringBuilder, bits: int, hit: Expression, sum_of_powers: Expression) -> Expression:
    """How many values there were, as fp64.

    `hit`: how many of the registers have a value, fp64; `sum_of_powers`: the sum of 2^-register over these, fp64.
    """
    number = 2.0**bits
    empty = e.share(e.call("arithmetic:subtract", e.fp64(number), hit))
    ratio = e.call("arithmetic:divide", e.fp64(number), empty, on_division_by_zero="IEEE")
    by_empty = e.share(e.call("arithmetic:multiply", e.fp64(number), e.call("logarithmic:ln", ratio)))
    alpha = _ALPHAS.get(bits, 0.7213 / (1.0 + 1.079 / number))
    mean = e.call("arithmetic:add", sum_of_powers, empty)
    raw = e.share(e.call("arithmetic:divide", e.fp64(alpha * number * number), mean, on_division_by_zero="IEEE"))
    few = e.or_(
        e.call("comparison:lte", by_empty, e.fp64(float(THRESHOLDS[bits - 4]))),
        e.call("comparison:lte", raw, e.fp64(2.5 * number)),
    )
    some_empty = e.call("comparison:gt", empty, e.fp64(0.0))
    return e.if_then(e.and_(some_empty, few), by_empty, e.call("arithmetic:subtract", raw, _bias(e, bits, raw)))


def _bias(e: LoweringBuilder, bits: int, raw: Expression) -> Expression:
    """How much too great a raw estimate is on average; nothing is known of great ones, and little wrong with them."""
    clauses: list[Expression] = [
        e.call("comparison:gte", raw, e.fp64(5.0 * 2.0**bits)), e.fp64(0.0),
    ]  # fmt: skip
    *steps, last = biases(bits)
    for step in steps:
        clauses += [e.call("comparison:lte", raw, e.fp64(step.bound)), e.fp64(step.bias)]
    return e.if_then(*clauses, e.fp64(last.bias))


@lru_cache
def biases(bits: int) -> tuple[Step, ...]:
    """The bias as a function of the raw estimate, in steps.

    Spark averages the biases of the nearest estimates. Which these are changes where a raw estimate passes a measured one,
    or the middle between one and the next but five.
    """
    estimates, measured = _measured()[bits]["estimates"], _measured()[bits]["biases"]
    middles = [(near + far) / 2 for near, far in zip(estimates, estimates[NEIGHBOURS:], strict=False)]
    bounds = sorted({*estimates, *middles})
    steps: list[Step] = []
    for bound, below in zip([*bounds, float("inf")], [bounds[0] - 1.0, *bounds], strict=True):
        inside = below + 1.0 if bound == float("inf") else (below + bound) / 2
        bias = _average(estimates, measured, inside)
        if steps and steps[-1].bias == bias:
            steps.pop()
        steps.append(Step(bound, bias))
    return tuple(steps)


def _average(estimates: list[float], measured: list[float], raw: float) -> float:
    nearest = sum(each < raw for each in estimates)
    low = max(nearest - NEIGHBOURS + 1, 0)
    high = min(low + NEIGHBOURS, len(estimates))
    while high < len(estimates) and (raw - estimates[high]) ** 2 < (raw - estimates[low]) ** 2:
        low, high = low + 1, high + 1
    return sum(measured[low:high]) / (high - low)


@lru_cache
def _measured() -> dict[int, dict[str, list[float]]]:
    text = (
        importlib.resources.files("substrait_spark.engines.datafusion").joinpath("hyperloglog.yaml").read_text("utf-8")
    )
    measured: dict[int, dict[str, list[float]]] = yaml.safe_load(text)
    return measured
