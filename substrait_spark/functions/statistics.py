"""Aggregate functions of statistics: variances, covariances, correlations, regressions and higher moments.

Of pairs only those count in which neither value is null.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, NamedTuple

from ..algebra import types
from ..algebra.expression import AggregateFunction, Expression
from ..catalyst import tree
from ..errors import Unsupported
from ..expr.nested import size
from .measure import AggregateRule, Measured, Site, as_is, plain_aggregate, values_in_frame

if TYPE_CHECKING:
    from ..expr.builder import ExpressionBuilder

ENGINES = {
    ("std_dev", "SAMPLE"): "stddev",
    ("std_dev", "POPULATION"): "stddev_pop",
    ("variance", "SAMPLE"): "var_samp",
    ("variance", "POPULATION"): "var_pop",
}
"""Names under which engines know the standard functions, whose enum arguments they don't take."""


def spread(name: str, distribution: str) -> AggregateRule:
    """StddevSamp, StddevPop, VarianceSamp, VariancePop."""

    def emit(site: Site, node: tree.Expression) -> Measured:
        e = site.e
        require_null_for_one(node)
        child = e.emit(node["child"])
        engines = f"datafusion:{ENGINES[name, distribution]}"
        checked = guarded if distribution == "POPULATION" else as_it_is
        return e.first(
            lambda: site.one(f"arithmetic:{name}", distribution, child, skips=1),
            lambda: checked(site, child, site.call(engines, child)),
            lambda: spread_in_frame(site, child, name, distribution),
        )

    return emit


def spread_in_frame(site: Site, child: Expression, name: str, distribution: str) -> Measured:
    """Over a frame that loses rows: from the list of its values, in two passes.

    They are counted from the first value, so that values which are all equal have no spread at all.
    """

    def result(above: ExpressionBuilder, refs: Sequence[Expression]) -> Expression:
        values = refs[0]
        number = above.share(size(above, values))
        count = above.share(above.cast(number, types.FP64))

        def divided(dividend: Expression, divisor: Expression) -> Expression:
            return above.call("arithmetic:divide", dividend, divisor, on_division_by_zero="IEEE")

        def moved(list: Expression, by: Expression) -> Expression:
            subtrahends = above.call("spark:array_repeat", by, number)
            return above.share(above.call("datafusion:array_subtract", list, subtrahends))

        distances = moved(values, above.call("datafusion:array_element", values, above.i64(1)))
        deviations = moved(distances, divided(above.call("datafusion:array_sum", distances), count))
        squares = above.call("datafusion:dot_product", deviations, deviations)
        freedom = count
        if distribution == "SAMPLE":
            freedom = above.call("arithmetic:subtract", count, above.fp64(1.0))
        found: Expression = divided(squares, freedom)
        if name == "std_dev":
            found = above.call("arithmetic:sqrt", found, on_domain_error="ERROR")
        fewest = above.i32(2 if distribution == "SAMPLE" else 1)
        return above.if_then(above.call("comparison:lt", number, fewest), above.null(types.FP64), found)

    return Measured((values_in_frame(site, child),), result)


def require_null_for_one(node: tree.Expression) -> None:
    """Refuse what divides by zero to NaN, as Spark did before 3.1."""
    if node.get("nullOnDivideByZero", True) is not True:
        raise Unsupported(
            "it gives NaN where it would divide by zero, as Spark did before 3.1",
            "Set spark.sql.legacy.statisticalAggregate to false.",
        )


def as_it_is(site: Site, child: Expression, call: AggregateFunction) -> Measured:
    return Measured((call,), as_is)


def guarded(site: Site, child: Expression, call: AggregateFunction) -> Measured:
    """NaN where a value is infinite or NaN: engines lose that of a single value."""
    calls = (call, site.count(infinite(site.e, child)))

    def result(above: ExpressionBuilder, refs: Sequence[Expression]) -> Expression:
        found, unbounded = refs
        return above.if_then(is_positive(above, unbounded), above.fp64(float("nan")), found)

    return Measured(calls, result)


def infinite(e: ExpressionBuilder, value: Expression) -> Expression:
    """Whether a double is infinite or NaN, which its difference from itself tells."""
    value = e.share(value)
    difference = e.call("arithmetic:subtract", value, value)
    return e.not_(e.equal(difference, e.fp64(0.0)))


def is_positive(e: ExpressionBuilder, count: Expression) -> Expression:
    return e.call("comparison:gt", count, e.i64(0))


def covariance(name: str) -> AggregateRule:
    """CovPopulation, CovSample."""

    def emit(site: Site, node: tree.Expression) -> Measured:
        require_null_for_one(node)
        return site.one(f"spark:{name}", *site.e.emit_all([node["left"], node["right"]]))

    return emit


def moment(name: str, power: int, formula: Callable[[Moments], Expression]) -> AggregateRule:
    """Skewness, Kurtosis: of the sums of second and higher powers of the distances from the mean."""

    def emit(site: Site, node: tree.Expression) -> Measured:
        e = site.e
        require_null_for_one(node)
        child = e.emit(node["child"])

        def engines() -> Measured:
            """In two passes: the mean by a window over the group, then the sums."""
            value = e.share(site.filtered(child))
            total, number = site.below(("arithmetic:sum", value), ("aggregate_generic:count", value))
            mean = e.call("arithmetic:divide", total, e.cast(number, types.FP64), on_division_by_zero="IEEE")
            distance = e.share(e.call("arithmetic:subtract", value, mean))
            square = e.share(e.call("arithmetic:multiply", distance, distance))
            higher = e.call("arithmetic:multiply", square, distance if power == 3 else square)
            calls = (
                site.call("aggregate_generic:count", value),
                site.call("arithmetic:sum", square),
                site.call("arithmetic:sum", higher),
                site.count(infinite(e, value)),
                site.call("datafusion:min", value),
                site.call("datafusion:max", value),
            )
            return Measured(calls, lambda above, refs: formula(Moments(above, *refs)))

        return e.first(lambda: site.one(f"spark:{name}", child), engines)

    return emit


class Moments:
    """The sums of powers of the distances of values from their mean, and what follows from them."""

    def __init__(
        self,
        e: ExpressionBuilder,
        count: Expression,
        squares: Expression,
        powers: Expression,
        infinite: Expression,
        least: Expression,
        greatest: Expression,
    ) -> None:
        self.e = e
        self.count = e.cast(count, types.FP64)
        self.squares = squares
        self.powers = powers
        self._infinite = is_positive(e, infinite)
        self._constant = e.equal(least, greatest)
        self._none = e.equal(count, e.i64(0))

    def times(self, *factors: Expression) -> Expression:
        return reduce(partial(self.e.call, "arithmetic:multiply"), factors)

    def divided(self, dividend: Expression, divisor: Expression) -> Expression:
        return self.e.call("arithmetic:divide", dividend, divisor, on_division_by_zero="IEEE")

    def root(self, value: Expression) -> Expression:
        return self.e.call("arithmetic:sqrt", value, on_domain_error="ERROR")

    def known(self, value: Expression) -> Expression:
        """The value, but null without a value or where all are the same, and NaN where one is infinite or NaN."""
        e = self.e
        null, nan = e.null(types.FP64), e.fp64(float("nan"))
        return e.if_then(self._none, null, self._infinite, nan, self._constant, null, value)


def skewness(m: Moments) -> Expression:
    return m.known(m.divided(m.times(m.root(m.count), m.powers), m.root(m.times(m.squares, m.squares, m.squares))))


def kurtosis(m: Moments) -> Expression:
    ratio = m.divided(m.times(m.count, m.powers), m.times(m.squares, m.squares))
    return m.known(m.e.call("arithmetic:subtract", ratio, m.e.fp64(3.0)))


# ---- of pairs, from simpler functions


def calls_of_pairs(site: Site, y: Expression, x: Expression, needs: Sequence[str]) -> tuple[AggregateFunction, ...]:
    """Calls over the pairs without a null: of functions of y or x such as `sum y`, of `covar_pop` and of `count`."""
    e = site.e
    present = [e.is_not_null(value) for value in (y, x) if value.type.nullable]
    paired = e.share(e.and_(*present)) if present else e.true()
    values = {name: e.share(e.if_then(paired, value, e.null(value.type))) for name, value in (("y", y), ("x", x))}

    def call(need: str) -> AggregateFunction:
        function, _, of = need.partition(" ")
        if function == "count":
            return site.count(paired)
        if function == "covar_pop":
            return site.call("spark:covar_pop", values["y"], values["x"])
        if function == "infinite":
            return site.count(infinite(e, values[of]))
        return site.call(f"{'arithmetic' if function == 'sum' else 'datafusion'}:{function}", values[of])

    return tuple([call(need) for need in needs])


class PairStatistics:
    """The results of the calls over pairs, by the names they were asked for, and what follows from them."""

    def __init__(self, e: ExpressionBuilder, found: dict[str, Expression]) -> None:
        self.e = e
        self.found = found
        self.null = e.null(types.FP64)
        self.count = e.cast(found["count"], types.FP64)

    def divided(self, dividend: Expression, divisor: Expression) -> Expression:
        return self.e.call("arithmetic:divide", dividend, divisor, on_division_by_zero="IEEE")

    def times(self, left: Expression, right: Expression) -> Expression:
        return self.e.call("arithmetic:multiply", left, right)

    def constant(self, of: str) -> Expression:
        """Whether all values are the same: their variance may come out a little off zero."""
        all_finite = self.e.equal(self.found[f"infinite {of}"], self.e.i64(0))
        return self.e.and_(all_finite, self.e.equal(self.found[f"min {of}"], self.found[f"max {of}"]))

    def slope(self) -> Expression:
        return self.divided(self.found["covar_pop"], self.found["var_pop x"])

    def mean(self, of: str) -> Expression:
        return self.divided(self.found[f"sum {of}"], self.count)

    def case(self, *parts: Expression) -> Expression:
        """`if_then`, but null without a pair, and NaN where a value is infinite or NaN and none of the clauses holds."""
        e = self.e
        any_infinite = e.or_(*(is_positive(e, self.found[f"infinite {of}"]) for of in "yx"))
        no_pair = e.equal(self.found["count"], e.i64(0))
        return e.if_then(no_pair, self.null, *parts[:-1], any_infinite, e.fp64(float("nan")), parts[-1])


def correlation(s: PairStatistics) -> Expression:
    single = s.e.equal(s.found["count"], s.e.i64(1))
    constant = s.e.or_(single, s.constant("x"), s.constant("y"))
    return s.case(
        constant, s.null, s.divided(s.found["covar_pop"], s.times(s.found["stddev_pop y"], s.found["stddev_pop x"]))
    )


def sum_of_products(s: PairStatistics) -> Expression:
    return s.case(s.times(s.found["covar_pop"], s.count))


def sum_of_squares(s: PairStatistics) -> Expression:
    return s.case(s.times(s.found["var_pop x"], s.count))


def slope(s: PairStatistics) -> Expression:
    return s.case(s.constant("x"), s.null, s.slope())


def intercept(s: PairStatistics) -> Expression:
    line = s.e.call("arithmetic:subtract", s.mean("y"), s.times(s.slope(), s.mean("x")))
    return s.case(s.constant("x"), s.null, line)


def determination(s: PairStatistics) -> Expression:
    square = s.times(s.found["covar_pop"], s.found["covar_pop"])
    share = s.divided(square, s.times(s.found["var_pop x"], s.found["var_pop y"]))
    return s.case(s.constant("x"), s.null, s.constant("y"), s.e.fp64(1.0), share)


class Formula(NamedTuple):
    """A statistic of pairs in terms of simpler ones: which ones it needs besides the count and the infinite values."""

    result: Callable[[PairStatistics], Expression]
    needs: tuple[str, ...]


def pairwise(name: str, y: str, x: str, formula: Formula) -> AggregateRule:
    """A function of pairs, by its own name or from simpler ones; `y` and `x` are the node's fields."""
    needs = ("count", "infinite y", "infinite x", *formula.needs)

    def emit(site: Site, node: tree.Expression) -> Measured:
        require_null_for_one(node)
        left, right = site.e.emit(node[y]), site.e.emit(node[x])

        def composed() -> Measured:
            calls = calls_of_pairs(site, left, right, needs)
            return Measured(
                calls,
                lambda above, refs: formula.result(PairStatistics(above, dict(zip(needs, refs, strict=True)))),
            )

        return site.e.first(lambda: site.one(f"spark:{name}", left, right), composed)

    return emit


RANGE_OF_X = ("min x", "max x")

AGGREGATE: dict[str, AggregateRule] = {
    "Corr": pairwise(
        "corr",
        "y",
        "x",
        Formula(correlation, ("covar_pop", "stddev_pop y", "stddev_pop x", *RANGE_OF_X, "min y", "max y")),
    ),
    "CovPopulation": covariance("covar_pop"),
    "CovSample": covariance("covar_samp"),
    "HistogramNumeric": plain_aggregate("spark:histogram_numeric"),
    "Kurtosis": moment("kurtosis", 4, kurtosis),
    "RegrIntercept": pairwise(
        "regr_intercept", "left", "right", Formula(intercept, ("covar_pop", "var_pop x", "sum x", "sum y", *RANGE_OF_X))
    ),
    "RegrR2": pairwise(
        "regr_r2",
        "y",
        "x",
        Formula(determination, ("covar_pop", "var_pop x", "var_pop y", *RANGE_OF_X, "min y", "max y")),
    ),
    "RegrReplacement": pairwise("regr_sxx", "child", "child", Formula(sum_of_squares, ("var_pop x",))),
    "RegrSXY": pairwise("regr_sxy", "y", "x", Formula(sum_of_products, ("covar_pop",))),
    "RegrSlope": pairwise("regr_slope", "left", "right", Formula(slope, ("covar_pop", "var_pop x", *RANGE_OF_X))),
    "Skewness": moment("skewness", 3, skewness),
    "StddevPop": spread("std_dev", "POPULATION"),
    "StddevSamp": spread("std_dev", "SAMPLE"),
    "VariancePop": spread("variance", "POPULATION"),
    "VarianceSamp": spread("variance", "SAMPLE"),
}
"""Aggregate functions by Catalyst class."""
