"""Undoes DecimalAggregates: sums and averages of small decimals that the optimizer computes on unscaled integers."""

from __future__ import annotations

from ..catalyst.modes import eval_mode
from ..catalyst.tree import DataType, Expression, Node, make


def sum_of_unscaled(node: Node) -> Node | None:
    """MakeDecimal(sum(UnscaledValue(x)), p + 10, s), also over a window, is sum(x)."""
    return _undone(node["child"], "Sum", DataType("decimal", (node["precision"], node["scale"])))


def average_of_unscaled(node: Node) -> Node | None:
    """Cast(avg(UnscaledValue(x)) / 10^s AS decimal(p + 4, s + 4)), also over a window, is nearly avg(x).

    It is computed in doubles, which in rare ties gives another last digit; hence a class of its own.
    """
    child = node["child"]
    if not isinstance(node, Expression) or node.type.name != "decimal" or child.name != "Divide":
        return None
    divisor = child["right"]
    if divisor.name != "Literal" or divisor.type.name != "double":
        return None
    undone = _undone(child["left"], "Average", node.type)
    if undone is None or divisor["value"] != 10.0 ** (node.type.parameters[1] - 4):
        return None
    return undone


def _undone(node: Expression, function: str, type: DataType) -> Expression | None:
    """The aggregate call, or the window call of it, on the decimal itself; None where it is no such call."""
    if node.name == "WindowExpression":
        inner = _undone(node["windowFunction"], function, type)
        return None if inner is None else _retyped(node.replace(windowFunction=inner), type)
    if node.name != "AggregateExpression" or node["aggregateFunction"].name != function:
        return None
    aggregate = node["aggregateFunction"]
    unscaled = aggregate["child"]
    if unscaled.name != "UnscaledValue":
        return None
    child = _of_type(unscaled["child"], argument_of(function, type))
    if function == "Average":
        replaced = make("AverageOfUnscaled", type, True, child=child, evalMode=eval_mode(aggregate))
    else:
        replaced = _retyped(aggregate.replace(child=child), type)
    return _retyped(node.replace(aggregateFunction=replaced), type)


def argument_of(function: str, type: DataType) -> DataType:
    """The type of the decimals whose sum or average has this type."""
    precision, scale = type.parameters
    return DataType("decimal", (precision - 10, scale) if function == "Sum" else (precision - 4, scale - 4))


def _of_type(child: Expression, type: DataType) -> Expression:
    """The argument, cast to this type again where the optimizer dropped a cast to more digits: unscaled values need none."""
    if child.type == type:
        return child
    return make("Cast", type, child.nullable, child=child, dataType=type, timeZoneId=None, evalMode="LEGACY")


def _retyped(node: Node, type: DataType) -> Expression:
    return Expression(node.cls, node.values, node.number, type, True)


RULES = (("MakeDecimal", sum_of_unscaled), ("Cast", average_of_unscaled))
