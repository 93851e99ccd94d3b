"""Words a refusal by what the dialect lacks of the query, and what the form in its place would need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..algebra.expression import Cast, Subquery
from ..algebra.relation import Aggregate, Relation, Window
from ..algebra.traversal import subexpressions
from ..errors import NotInDialect
from .legality import require_expression, require_relation

if TYPE_CHECKING:
    from ..dialects.dialect import Dialect


def without_other_form(dialect: Dialect, lacking: NotInDialect, refused: Sequence[NotInDialect]) -> NotInDialect:
    """The refusal, with what the other forms would need instead. Where one of them is refused for a reason of its own, that one."""
    start = f"the dialect {dialect.name} has no "
    for each in refused:
        if not each.lacking.startswith(start):
            return each
    needs = dict.fromkeys(each.lacking.removeprefix(start) for each in refused if each.lacking != lacking.lacking)
    if not needs:
        return lacking
    refusal = NotInDialect(f"{lacking.lacking}; in its place it would need {', or '.join(needs)}", lacking.hint)
    refusal.lacking = lacking.lacking
    return refusal


def no_cast(dialect: Dialect, cast: Cast) -> NotInDialect:
    """Why a cast is refused."""
    return NotInDialect(f"the dialect {dialect.name} has no exact cast of {cast.input.type} to {cast.type}")


def lacking_relations(dialect: Dialect, relation: Relation) -> Iterator[NotInDialect]:
    """What a dialect lacks of a canonical relation: its kind, the subqueries in it, or the ability to run it as it is.

    A window is in a project where there is no relation for it, by no general rewrite: its calls are told themselves.
    """
    if isinstance(relation, Window):
        return
    try:
        require_relation(dialect, relation)
        for expression in relation.expressions():
            for part in subexpressions(expression):
                if isinstance(part, Subquery):
                    require_expression(dialect, part)
    except NotInDialect as problem:
        yield problem
    if isinstance(relation, Aggregate):
        abilities = dialect.abilities
        if len(relation.sets) > 1 and not abilities.grouping_sets:
            yield NotInDialect(f"the dialect {dialect.name} has no aggregates with several groupings")
        if any(measure.filter is not None for measure in relation.measures) and not abilities.measure_filters:
            yield NotInDialect(f"the dialect {dialect.name} has no filters of measures")
