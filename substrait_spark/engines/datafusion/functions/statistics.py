"""Statistics: variances, covariances, correlations, regressions and higher moments.

Of pairs only those count in which neither value is null.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import NamedTuple

from ....algebra import types
from ....algebra.aggregate_form import AggregateForm
from ....algebra.expression import AggregateFunction, Expression, FieldReference, Lambda
from ....dialects.rewrite import Apply, rewrites
from ....errors import NotInDialect
from ....lowering.aggregate import LoweredCall
from ....lowering.builder import LoweringBuilder
from ..structs import size
from .aggregate import values_in_frame

# ---- spreads

NAMES = {
    ("std_dev", "SAMPLE"): "stddev",
    ("std_dev", "POPULATION"): "stddev_pop",
    ("variance", "SAMPLE"): "var_samp",
    ("variance", "POPULATION"): "var_pop",
}
"""DataFusion's names of the standard functions, whose enum arguments it doesn't take."""


def spread(call: LoweredCall) -> AggregateForm:
    """The standard deviation or the variance, of a sample or of a population: older forms say which by an option."""
    e, name = call.e, call.function.declaration.name
    *distributions, value = call.arguments
    distribution = distributions[0] if distributions else dict(call.function.options).get("distribution")
    if distribution is None:
        raise NotInDialect(
            f"this {name} doesn't say whether it is of a sample or of a population",
            "State its option distribution, or call it with SAMPLE or POPULATION as its first argument.",
        )
    function = f"datafusion:{NAMES[name, distribution]}"
    value = e.cast(value, types.FP64)
    form = e.first(
        lambda: guarded(call, function, value) if distribution == "POPULATION" else call.one(function, value),
        lambda: spread_in_frame(call, value, name, distribution),
    )
    return AggregateForm(form.calls, lambda above, refs: above.cast(form.result(above, refs), call.function.type))


class Deviations:
    """The distances of the values of a frame from their mean, as a list.

    They are counted from the first value, so that values which are all equal have no spread at all.
    """

    def __init__(self, e: LoweringBuilder, values: Expression) -> None:
        self.number = e.share(size(e, values))
        self.count = e.share(e.cast(self.number, types.FP64))

        def moved(list: Expression, by: Expression) -> Expression:
            subtrahends = e.call("spark:array_repeat", by, self.number)
            return e.share(e.call("datafusion:array_subtract", list, subtrahends))

        distances = moved(values, e.call("datafusion:array_element", values, e.i64(1)))
        self.list = moved(distances, divided(e, e.call("datafusion:array_sum", distances), self.count))
        self.squares = e.call("datafusion:dot_product", self.list, self.list)


def spread_in_frame(call: LoweredCall, value: Expression, name: str, distribution: str) -> AggregateForm:
    """Over a frame that loses rows: from the list of its values, in two passes."""

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        deviations = Deviations(above, refs[0])
        freedom: Expression = deviations.count
        if distribution == "SAMPLE":
            freedom = above.call("arithmetic:subtract", deviations.count, above.fp64(1.0))
        statistic: Expression = divided(above, deviations.squares, freedom)
        if name == "std_dev":
            statistic = root(above, statistic)
        fewest = above.i32(2 if distribution == "SAMPLE" else 1)
        return above.if_then(above.call("comparison:lt", deviations.number, fewest), above.null(types.FP64), statistic)

    return AggregateForm((values_in_frame(call, value),), result)


def guarded(call: LoweredCall, function: str, value: Expression) -> AggregateForm:
    """NaN where a value is infinite or NaN: DataFusion loses that of a single value.

    SELECT var_pop(x) FROM (VALUES ('NaN'::double)) t(x)   -- 0
    """
    calls = (call.call(function, value), call.count(infinite(call.e, value)))

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        of_finite, unbounded = refs
        return above.if_then(is_positive(above, unbounded), above.fp64(float("nan")), of_finite)

    return AggregateForm(calls, result)


def infinite(e: LoweringBuilder, value: Expression) -> Expression:
    """Whether a double is infinite or NaN, which its difference from itself tells."""
    value = e.share(value)
    difference = e.call("arithmetic:subtract", value, value)
    return e.not_(e.equal(difference, e.fp64(0.0)))


def is_positive(e: LoweringBuilder, count: Expression) -> Expression:
    return e.call("comparison:gt", count, e.i64(0))


def divided(e: LoweringBuilder, dividend: Expression, divisor: Expression) -> Expression:
    return e.call("arithmetic:divide", dividend, divisor, on_division_by_zero="IEEE")


def root(e: LoweringBuilder, value: Expression) -> Expression:
    return e.call("arithmetic:sqrt", value, on_domain_error="ERROR")


# ---- higher moments


def moment(power: int, formula: Callable[[Moments], Expression]) -> Apply:
    """In two passes: the mean by a window over the group, then the sums of powers of the distances from it."""

    def rule(call: LoweredCall) -> AggregateForm:
        e = call.e
        (argument,) = call.arguments
        if call.frame is not None:
            return moment_in_frame(call, argument, power, formula)
        value = e.share(call.filtered(argument))
        total, number = call.below(("arithmetic:sum", value), ("aggregate_generic:count", value))
        mean = divided(e, total, e.cast(number, types.FP64))
        distance = e.share(e.call("arithmetic:subtract", value, mean))
        square = e.share(e.call("arithmetic:multiply", distance, distance))
        higher = e.call("arithmetic:multiply", square, distance if power == 3 else square)
        calls = (
            call.call("aggregate_generic:count", value),
            call.call("arithmetic:sum", square),
            call.call("arithmetic:sum", higher),
            call.count(infinite(e, value)),
            call.call("datafusion:min", value),
            call.call("datafusion:max", value),
        )
        return AggregateForm(calls, lambda above, refs: formula(Moments(above, *refs)))

    return rule


def moment_in_frame(
    call: LoweredCall, value: Expression, power: int, formula: Callable[[Moments], Expression]
) -> AggregateForm:
    """Over a frame: from the list of its values."""
    calls = (values_in_frame(call, value), call.count(infinite(call.e, value)))

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        values, unbounded = refs
        deviations = Deviations(above, values)
        number = FieldReference(0, types.required(types.FP64), parameter=0)
        square = Lambda((number.type,), above.call("arithmetic:multiply", number, number))
        squared = above.share(above.call("datafusion:array_transform", deviations.list, square))
        powers = above.call("datafusion:dot_product", squared, deviations.list if power == 3 else squared)
        ends = [above.call(f"spark:array_{end}", values) for end in ("min", "max")]
        count = above.cast(deviations.number, types.I64)
        return formula(Moments(above, count, deviations.squares, powers, unbounded, *ends))

    return AggregateForm(calls, result)


class Moments:
    """The sums of powers of the distances of values from their mean, and what follows from them."""

    def __init__(
        self,
        e: LoweringBuilder,
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

    def known(self, value: Expression) -> Expression:
        """The value, but null without a value or where all are the same, and NaN where one is infinite or NaN."""
        e = self.e
        null, nan = e.null(types.FP64), e.fp64(float("nan"))
        return e.if_then(self._none, null, self._infinite, nan, self._constant, null, value)


def skewness(m: Moments) -> Expression:
    e = m.e
    return m.known(divided(e, m.times(root(e, m.count), m.powers), root(e, m.times(m.squares, m.squares, m.squares))))


def kurtosis(m: Moments) -> Expression:
    ratio = divided(m.e, m.times(m.count, m.powers), m.times(m.squares, m.squares))
    return m.known(m.e.call("arithmetic:subtract", ratio, m.e.fp64(3.0)))


# ---- of pairs, from simpler functions


def calls_of_pairs(
    call: LoweredCall, y: Expression, x: Expression, needs: Sequence[str]
) -> tuple[AggregateFunction, ...]:
    """Calls over the pairs without a null: of functions of y or x such as `sum y`, of `covar_pop` and of `count`."""
    e = call.e
    present = [e.is_not_null(value) for value in (y, x) if value.type.nullable]
    paired = e.share(e.and_(*present)) if present else e.true()
    values = {name: e.share(e.if_then(paired, value, e.null(value.type))) for name, value in (("y", y), ("x", x))}

    def made(need: str) -> AggregateFunction:
        function, _, of = need.partition(" ")
        if function == "count":
            return call.count(paired)
        if function == "covar_pop":
            return call.call("spark:covar_pop", values["y"], values["x"])
        if function == "infinite":
            return call.count(infinite(e, values[of]))
        return call.call(f"{'arithmetic' if function == 'sum' else 'datafusion'}:{function}", values[of])

    return tuple([made(need) for need in needs])


class PairStatistics:
    """The results of the calls over pairs, by the names they were asked for, and what follows from them."""

    def __init__(self, e: LoweringBuilder, results: dict[str, Expression]) -> None:
        self.e = e
        self.results = results
        self.null = e.null(types.FP64)
        self.count = e.cast(results["count"], types.FP64)

    def divided(self, dividend: Expression, divisor: Expression) -> Expression:
        return divided(self.e, dividend, divisor)

    def times(self, left: Expression, right: Expression) -> Expression:
        return self.e.call("arithmetic:multiply", left, right)

    def constant(self, of: str) -> Expression:
        """Whether all values are the same: their variance may come out a little off zero."""
        all_finite = self.e.equal(self.results[f"infinite {of}"], self.e.i64(0))
        return self.e.and_(all_finite, self.e.equal(self.results[f"min {of}"], self.results[f"max {of}"]))

    def slope(self) -> Expression:
        return self.divided(self.results["covar_pop"], self.results["var_pop x"])

    def mean(self, of: str) -> Expression:
        return self.divided(self.results[f"sum {of}"], self.count)

    def case(self, *parts: Expression, of: str = "yx") -> Expression:
        """`if_then`, but null without a pair, and NaN where a value is infinite or NaN and none of the clauses holds."""
        e = self.e
        any_infinite = e.or_(*(is_positive(e, self.results[f"infinite {each}"]) for each in of))
        no_pair = e.equal(self.results["count"], e.i64(0))
        return e.if_then(no_pair, self.null, *parts[:-1], any_infinite, e.fp64(float("nan")), parts[-1])


def correlation(s: PairStatistics) -> Expression:
    single = s.e.equal(s.results["count"], s.e.i64(1))
    constant = s.e.or_(single, s.constant("x"), s.constant("y"))
    return s.case(
        constant,
        s.null,
        s.divided(s.results["covar_pop"], s.times(s.results["stddev_pop y"], s.results["stddev_pop x"])),
    )


def sum_of_products(s: PairStatistics) -> Expression:
    return s.case(s.times(s.results["covar_pop"], s.count))


def sum_of_squares(s: PairStatistics) -> Expression:
    return s.case(s.times(s.results["var_pop x"], s.count), of="x")  # y tells only which pairs there are


def slope(s: PairStatistics) -> Expression:
    return s.case(s.constant("x"), s.null, s.slope())


def intercept(s: PairStatistics) -> Expression:
    line = s.e.call("arithmetic:subtract", s.mean("y"), s.times(s.slope(), s.mean("x")))
    return s.case(s.constant("x"), s.null, line)


def determination(s: PairStatistics) -> Expression:
    square = s.times(s.results["covar_pop"], s.results["covar_pop"])
    share = s.divided(square, s.times(s.results["var_pop x"], s.results["var_pop y"]))
    return s.case(s.constant("x"), s.null, s.constant("y"), s.e.fp64(1.0), share)


class Formula(NamedTuple):
    """A statistic of pairs in terms of simpler ones: which ones it needs besides the count and the infinite values."""

    result: Callable[[PairStatistics], Expression]
    needs: tuple[str, ...]


def pairwise(formula: Formula) -> Apply:
    """A function of pairs, from simpler ones."""
    needs = ("count", "infinite y", "infinite x", *formula.needs)

    def rule(call: LoweredCall) -> AggregateForm:
        y, x = [call.e.cast(value, types.FP64) for value in call.arguments]
        calls = calls_of_pairs(call, y, x, needs)

        def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
            statistic = formula.result(PairStatistics(above, dict(zip(needs, refs, strict=True))))
            return above.cast(statistic, call.function.type)

        return AggregateForm(calls, result)

    return rule


RANGE_OF_X = ("min x", "max x")

CORRELATION = Formula(correlation, ("covar_pop", "stddev_pop y", "stddev_pop x", *RANGE_OF_X, "min y", "max y"))

REWRITES = rewrites(
    {
        "arithmetic:std_dev": spread,
        "arithmetic:variance": spread,
        "arithmetic:corr": pairwise(CORRELATION),
        "spark:spark_corr": pairwise(CORRELATION),
        "spark:kurtosis": moment(4, kurtosis),
        "spark:regr_intercept": pairwise(Formula(intercept, ("covar_pop", "var_pop x", "sum x", "sum y", *RANGE_OF_X))),
        "spark:regr_r2": pairwise(
            Formula(determination, ("covar_pop", "var_pop x", "var_pop y", *RANGE_OF_X, "min y", "max y"))
        ),
        "spark:regr_slope": pairwise(Formula(slope, ("covar_pop", "var_pop x", *RANGE_OF_X))),
        "spark:regr_sxx": pairwise(Formula(sum_of_squares, ("var_pop x",))),
        "spark:regr_sxy": pairwise(Formula(sum_of_products, ("covar_pop",))),
        "spark:skewness": moment(3, skewness),
    }
)
