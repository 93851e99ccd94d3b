"""A function of Python as PySpark's objects have it: those that `udf`, `pandas_udf`, `arrow_udf` and `udf.register` return.

Functions over batches and groups of rows are plain ones of Python, as `mapInPandas` takes them.
"""

from __future__ import annotations

import hashlib
import inspect
import pickletools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..catalyst import reader
from ..errors import kind_of

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

PLAIN = 0
PICKLED = 100
ARROW_BATCHED = 101
SCALAR_PANDAS = 200
GROUPED_MAP_PANDAS = 201
GROUPED_AGG_PANDAS = 202
SCALAR_PANDAS_ITER = 204
MAP_PANDAS = 205
COGROUPED_MAP_PANDAS = 206
MAP_ARROW = 207
GROUPED_MAP_ARROW = 209
COGROUPED_MAP_ARROW = 210
GROUPED_MAP_ARROW_ITER = 215
GROUPED_MAP_PANDAS_ITER = 216
GROUPED_AGG_PANDAS_ITER = 217
SCALAR_ARROW = 250
SCALAR_ARROW_ITER = 251
GROUPED_AGG_ARROW = 252
GROUPED_AGG_ARROW_ITER = 254
"""How PySpark evaluates a function, as `pyspark.util.PythonEvalType` numbers the ways: of pickled rows, of rows that come as Arrow,
of series or arrays, or of all rows or those of a group. A plain function is no object of PySpark's: what calls it says how."""

SCALARS = frozenset((PICKLED, ARROW_BATCHED, SCALAR_PANDAS, SCALAR_PANDAS_ITER, SCALAR_ARROW, SCALAR_ARROW_ITER))
AGGREGATES = frozenset((GROUPED_AGG_PANDAS, GROUPED_AGG_PANDAS_ITER, GROUPED_AGG_ARROW, GROUPED_AGG_ARROW_ITER))

TABLE_FUNCTIONS = frozenset((300, 301))

METHODS = {
    MAP_PANDAS: "mapInPandas",
    MAP_ARROW: "mapInArrow",
    GROUPED_MAP_PANDAS: "applyInPandas",
    GROUPED_MAP_PANDAS_ITER: "applyInPandas of iterators",
    GROUPED_MAP_ARROW: "applyInArrow",
    GROUPED_MAP_ARROW_ITER: "applyInArrow of iterators",
    COGROUPED_MAP_PANDAS: "cogroup.applyInPandas",
    COGROUPED_MAP_ARROW: "cogroup.applyInArrow",
}
"""What a DataFrame's method is that calls a function over rows in each way: one takes a function of iterators, too, by its type hints."""


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
        declared: Any = self.unwrapped.returnType
        if type(declared).__name__ == "UnparsedDataType":  # as Spark Connect has one that was given as text
            from pyspark.sql.types import DataType

            declared = DataType.fromDDL(declared.data_type_string)
        return declared  # type: ignore[no-any-return]

    @property
    def kind(self) -> str:
        """`scalar` or `aggregate`, as extension files have it."""
        return "scalar" if self.eval_type in SCALARS else "aggregate"

    def digest(self, gateway: Any) -> str:
        """What tells it apart from other functions in a plan that the JVM behind a gateway has."""
        if gateway is not None and hasattr(type(self.unwrapped), "_judf"):
            digest: str = reader.READERS.of(gateway).digest(self.unwrapped._judf.func())
            return digest
        return self._pickled()

    def _pickled(self) -> str:
        return hashlib.sha256(_pickle((self.function, self.return_type))).hexdigest()

    def is_pickled_in(self, command: bytes) -> bool:
        """Whether a command for PySpark's worker calls this plain function. It is compared, and never unpickled."""
        own = _without_frames(_pickle((self.function, None)))
        return _without_frames(command).startswith(own.removesuffix(NOTHING_BEHIND))

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


NOTHING_BEHIND = b"N\x86\x94."
"""How a pickle of a pair ends whose second value is None."""


def _pickle(value: Any) -> bytes:
    from pyspark import serializers

    pickling: Any = serializers
    found: bytes = pickling.CloudPickleSerializer().dumps(value)
    return found


def _without_frames(pickled: bytes) -> bytes:
    """A pickle without the marks of how long its parts are, which hang on what comes behind."""
    starts = [(position, code.name) for code, _, position in pickletools.genops(pickled) if position is not None]
    ends = [position for position, _ in starts[1:]] + [len(pickled)]
    parts = [pickled[start:end] for (start, name), end in zip(starts, ends, strict=True) if name != "FRAME"]
    return b"".join(parts)


def spark_function(given: Any) -> SparkFunction:
    """What an object of PySpark's is, or a plain function. Raises TypeError for another one."""
    unwrapped = getattr(given, "_unwrapped", given)
    if callable(getattr(unwrapped, "func", None)) and hasattr(unwrapped, "evalType"):
        name = str(getattr(unwrapped, "_name", None) or getattr(unwrapped.func, "__name__", ""))
        if unwrapped.evalType not in METHODS:
            return SparkFunction(name, unwrapped.func, unwrapped.evalType, unwrapped.deterministic, unwrapped)
        given = unwrapped.func
    if not callable(given) or isinstance(given, type):
        raise TypeError(
            "functions= takes functions that udf, pandas_udf or arrow_udf has made, those that mapInPandas and its like take, and paths "
            f"of extension files, not {kind_of(given)}."
        )
    return SparkFunction(getattr(given, "__name__", type(given).__name__), given, PLAIN, True, given)


def over_rows(function: SparkFunction, method: str, schema: DataType) -> SparkFunction:
    """The object that PySpark makes of a plain function for a method. Raises LookupError for a method that is none."""
    from pyspark.sql.pandas.functions import pandas_udf

    way = next((way for way, name in METHODS.items() if name == method), None)
    if way is None:
        raise LookupError(f"there is no method {method!r} that calls functions over rows")
    made: Any = pandas_udf
    unwrapped: Any = made(function.function, returnType=schema, functionType=way)
    unwrapped = getattr(unwrapped, "_unwrapped", unwrapped)
    return SparkFunction(function.name, unwrapped.func, unwrapped.evalType, unwrapped.deterministic, unwrapped)
