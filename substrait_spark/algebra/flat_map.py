"""Relations of the rows that a function makes of others, batch by batch or group by group, as Spark's FlatMap nodes have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import extension_messages
from .expression import AggregateFunction, Anchors, Expression
from .relation import ExtensionMulti, ExtensionSingle, Relation


class FlatMap(ExtensionSingle):
    """The rows that a function makes of the rows of each group, and without keys of parts of the input that are all of it.

    The call is that of an aggregate function over the rows, whose value is a list of structs: their fields are the columns.
    """

    DOES = "calls a function over batches or groups of rows"
    LEVELS_ABOVE_EXPRESSIONS = 7
    __slots__ = ("call", "keys", "other_keys")

    def __init__(self, input: Relation, call: AggregateFunction, keys: Sequence[Expression]) -> None:
        self._set((input,), call, keys)

    def _set(
        self,
        inputs: tuple[Relation, ...],
        call: AggregateFunction,
        keys: Sequence[Expression],
        other_keys: Sequence[Expression] = (),
    ) -> None:
        self.call = call
        self.keys = tuple(keys)
        self.other_keys = tuple(other_keys)
        inner = [call.height, *[key.height for key in (*keys, *other_keys)]]
        self._finish(inputs, call.type.parameters[0].parameters, 2 + max(inner))

    def expressions(self) -> tuple[Expression, ...]:
        return (*self.call.expressions(), *self.keys, *self.other_keys)

    def functions(self) -> tuple[AggregateFunction, ...]:
        return (self.call,)

    def _over(self, inputs: tuple[Relation, ...], expressions: Sequence[Expression]) -> Relation:
        rest = iter(expressions)
        call = self.call.with_expressions([next(rest) for _ in self.call.expressions()])
        made = self._copy()
        made._set(inputs, call, [next(rest) for _ in self.keys], [next(rest) for _ in self.other_keys])
        return made

    def arguments(self) -> tuple[Expression, ...]:
        """What the function gets of each row."""
        return self.call.expressions()

    def detail(self, anchors: Anchors) -> Any:
        message = getattr(extension_messages, type(self).__name__)()
        self.call.write(message.call, anchors)
        for key in self.keys:
            key.write(message.keys.add(), anchors)
        for key in self.other_keys:
            key.write(message.other_keys.add(), anchors)
        return message


class FlatMapCoGroups(ExtensionMulti, FlatMap):
    """The rows that a function makes of the rows that two inputs have for each of their keys.

    Expressions refer to the columns of both, one behind the other, as those of joins do. Arguments are first those of the one input.
    """

    DOES = "calls a function over groups of two inputs"
    __slots__ = ()

    def __init__(
        self,
        inputs: tuple[Relation, Relation],
        call: AggregateFunction,
        keys: Sequence[Expression],
        other_keys: Sequence[Expression],
    ) -> None:
        self._set(inputs, call, keys, other_keys)
