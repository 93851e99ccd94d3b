"""What relations, choices and lists become where the engine has no form of its own for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...algebra import types
from ...algebra.expression import Expression, IfThen, SingularOrList, WindowFunction
from ...algebra.relation import Filter, Join, Project, Relation, Window
from ...dialects.rewrite import rewrites
from ..forms import Conjunction, Filtered, Joined, Key, Raised, Windowed

if TYPE_CHECKING:
    from ..builder import LoweringBuilder


def filtered(e: LoweringBuilder, form: Filtered) -> Relation:
    """A filter."""
    relation: Relation = e.rewritten(Filter(form.input, e.conjunction(form.conditions)))
    return relation


def joined(e: LoweringBuilder, form: Joined) -> Relation:
    """A join on the conditions, or on true."""
    condition = e.connected("and", form.conditions) if form.conditions else e.true()
    relation: Relation = e.rewritten(Join(form.left, form.right, form.join_type, condition))
    return relation


def windowed(e: LoweringBuilder, form: Windowed) -> Relation:
    """A relation of window calls, or a project of window functions."""
    if not form.calls:
        return form.input
    if e.dialect.allows_relation("CONSISTENT_PARTITION_WINDOW"):
        return Window(form.input, form.calls, form.partition, form.sorts)
    return Project(form.input, [WindowFunction(call, form.partition, form.sorts) for call in form.calls])


def conjunction(e: LoweringBuilder, form: Conjunction) -> Expression:
    """The AND of conditions."""
    return e.connected("and", form.conditions)


def key(e: LoweringBuilder, form: Key) -> Expression:
    """The value itself."""
    return form.value


def raised(e: LoweringBuilder, form: Raised) -> Expression:
    """A cast of text that is no number. It holds a value of the row, so that engines don't evaluate it before they must."""
    return e.cast(e.cast(e.error_text(form.message, form.witness), types.I64), form.type)


def choice(e: LoweringBuilder, form: IfThen) -> Expression:
    """A choice of values that are made alike."""
    parts = form.children()
    kinds = {value.type for value in (*parts[1::2], parts[-1])}
    if len(kinds) == 1 and not parts[-1].type.parameters and IfThen not in e.rewrites.built:
        return form
    return e.if_then(*parts)


def one_of(e: LoweringBuilder, form: SingularOrList) -> Expression:
    """Whether a value is one of several, by equalities where the dialect has no such lists."""
    if e.dialect.allows_expression("SINGULAR_OR_LIST"):
        return form
    value, *options = form.children()
    value = e.share(value)
    return e.connected("or", [e.lowered("comparison:equal", value, option) for option in options])


REWRITES = rewrites(
    {
        Filtered: filtered,
        Joined: joined,
        Windowed: windowed,
        Conjunction: conjunction,
        Key: key,
        Raised: raised,
        IfThen: choice,
        SingularOrList: one_of,
    }
)
