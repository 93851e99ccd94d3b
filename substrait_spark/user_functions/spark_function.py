"""A function of Python as PySpark's objects have it: those that `udf`, `pandas_udf`, `arrow_udf` and `udf.register` return."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..catalyst import reader
from ..errors import kind_of

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

PICKLED = 100
ARROW_BATCHED = 101
SCALAR_PANDAS = 200
GROUPED_AGG_PANDAS = 202
SCALAR_PANDAS_ITER = 204
GROUPED_AGG_PANDAS_ITER = 217
SCALAR_ARROW = 250
SCALAR_ARROW_ITER = 251
GROUPED_AGG_ARROW = 252
GROUPED_AGG_ARROW_ITER = 254
"""How PySpark evaluates a function, as `pyspark.util.PythonEvalType` numbers the ways: of pickled rows, of rows that come as Arrow,
of series or arrays."""

SCALARS = frozenset((PICKLED, ARROW_BATCHED, SCALAR_PANDAS, SCALAR_PANDAS_ITER, SCALAR_ARROW, SCALAR_ARROW_ITER))
AGGREGATES = frozenset((GROUPED_AGG_PANDAS, GROUPED_AGG_PANDAS_ITER, GROUPED_AGG_ARROW, GROUPED_AGG_ARROW_ITER))


@dataclass(frozen=True, eq=False)
class SparkFunction:
    """What an object of PySpark's says of a function, and the object."""

    name: str
    function: Callable[..., Any]
    eval_type: int
    deterministic: bool
    unwrapped: Any

    @property
    def return_type(self) -> DataType:
        """The type that it was declared with."""
        found: Any = self.unwrapped.returnType
        if type(found).__name__ == "UnparsedDataType":  # as Spark Connect has one that was given as text
            from pyspark.sql.types import DataType

            found = DataType.fromDDL(found.data_type_string)
        return found  # type: ignore[no-any-return]

    @property
    def kind(self) -> str:
        """`scalar` or `aggregate`, as extension files have it."""
        return "aggregate" if self.eval_type in AGGREGATES else "scalar"

    def digest(self, gateway: Any) -> str:
        """What tells it apart from other functions in a plan that the JVM behind a gateway has."""
        if gateway is not None and hasattr(type(self.unwrapped), "_judf"):
            found: str = reader.READERS.of(gateway).digest(self.unwrapped._judf.func())
            return found
        return self._pickled()

    def _pickled(self) -> str:
        from pyspark import serializers

        pickling: Any = serializers
        command: bytes = pickling.CloudPickleSerializer().dumps((self.function, self.return_type))
        return hashlib.sha256(command).hexdigest()

    def positions(self, count: int, names: tuple[str, ...]) -> list[int]:
        """Which of so many arguments by position, and then of others by name, come in what order when all go by position.

        Raises LookupError where the function's parameters don't tell.
        """
        parameters = list(inspect.signature(self.function).parameters.values())
        by_position = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        wanted = by_position[count : count + len(names)]
        if sorted(wanted) != sorted(names):
            raise LookupError(f"the parameters of {self.name} don't follow one another as ({', '.join(names)})")
        return [*range(count), *[count + names.index(name) for name in wanted]]


def spark_function(given: Any) -> SparkFunction:
    """What an object of PySpark's is. Raises TypeError for another one."""
    unwrapped = getattr(given, "_unwrapped", given)
    if not callable(getattr(unwrapped, "func", None)) or not hasattr(unwrapped, "evalType"):
        raise TypeError(
            f"functions= takes functions that udf, pandas_udf or arrow_udf has made, and paths of extension files, not {_shown(given)}."
        )
    name = str(getattr(unwrapped, "_name", None) or getattr(unwrapped.func, "__name__", ""))
    return SparkFunction(name, unwrapped.func, unwrapped.evalType, unwrapped.deterministic, unwrapped)


def _shown(given: Any) -> str:
    if callable(given) and hasattr(given, "__name__"):
        return f"{given.__name__}, which Spark doesn't know: give what udf(…) returns for it"
    return kind_of(given)
