"""The functions that a caller declares: which of them a node of Catalyst calls, and as what a plan calls it."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ..algebra import types
from ..algebra.types import SHORT_NAMES, Type
from ..catalyst import tree
from ..catalyst.refusals import is_deterministic
from ..catalyst.types import nested_names
from ..errors import FunctionError, Unsupported, kind_of
from ..extensions import registry
from ..extensions.registry import Declaration
from . import spark_function
from .spark_function import PLAIN, SparkFunction

Options = tuple[tuple[str, str], ...]

RELEASE = "spark"
"""The option of a call that says the release of Spark, as in `4.3`, whose conversions of arguments and results are meant."""

TIME_ZONE = "time_zone"
"""The option of a call that says in which time zone the function sees instants, where it gets them without one."""

ARGUMENT_FIELDS = "argument_fields"
RESULT_FIELDS = "result_fields"
"""The options that name the fields of structs in a call's arguments and in its result, depth-first, as a list in JSON. A function over
rows has those of its keys behind those of its arguments."""

ARGUMENT_NAMES = "argument_names"
"""The option of a call over rows that names the columns that the function gets, as a list in JSON."""

HANDED_ON = "handed_on"
"""The option of a call whose result Spark gives to the function of this name as it is, in whatever type the function has returned it."""

METHOD = "method"
"""The option of a call over rows that says how the function gets them: as the DataFrame's method of that name has it."""


@dataclass(frozen=True, eq=False)
class UserFunction:
    """A function of a caller's under the name that plans call it by, in the extension file of a URN.

    `spark` is PySpark's object of it; None where an extension file alone declares it.
    """

    name: str
    urn: str
    spark: SparkFunction | None = None


def declare_function(function: Any, *, name: str | None = None, urn: str | None = None) -> UserFunction:
    """A function that `udf`, `pandas_udf`, `arrow_udf` or `udf.register` has made, or that `mapInPandas` and its like take, under a
    name and a URN that plans have for it.

    Without them, the name is the function's own, and the URN `extension:<name>:functions`. What is returned stands in a list of
    `functions=` in the function's place.

    Raises FunctionError where the name is none for a function, as `<lambda>`, or that of a standard one; TypeError for what is
    no function.
    """
    made = spark_function.spark_function(function)
    called = made.name if name is None else name
    if not re.fullmatch(r"[A-Za-z_]\w*", called):
        raise FunctionError(
            f"A function of the name {called!r} can't be called in a plan: give it one, as declare_function(function, name='clean')."
        )
    if called.lower() in registry.taken_names():
        raise FunctionError(
            f"There is a standard function {called}, and readers look functions up by their names: give this one another, "
            f"as declare_function(function, name='my_{called}')."
        )
    if made.eval_type not in spark_function.SCALARS | spark_function.AGGREGATES | {spark_function.PLAIN}:
        raise FunctionError(f"The function {called} is none of a kind that plans call{_why(made)}.")
    return UserFunction(called, urn or f"extension:{called}:functions", made)


def _why(function: SparkFunction) -> str:
    if function.eval_type not in spark_function.TABLE_FUNCTIONS:
        return ""
    return ": a table function may keep state from row to row and end with rows of its own"


def as_given(functions: Iterable[Any]) -> tuple[Any, ...]:
    """What a caller gives as `functions=`, to be gone through more than once. Raises TypeError for what is no list of functions."""
    if isinstance(functions, str | Path) or not isinstance(functions, Iterable):
        raise TypeError(f"functions= takes a list, not {kind_of(functions)}.")
    return tuple(functions)


class UserFunctions:
    """The functions that a caller gives as `functions=`."""

    def __init__(self, given: Iterable[Any] = ()) -> None:
        objects: list[UserFunction] = []
        self.files: list[str] = []
        """The URNs of the extension files."""
        for each in as_given(given):
            if isinstance(each, str | Path):
                self.files.append(_registered(Path(each)))
            else:
                objects.append(each if isinstance(each, UserFunction) else declare_function(each))
        self.objects = tuple({(each.name, each.urn, _identity(each)): each for each in objects}.values())
        self._require_different_names()
        for each in self.objects:
            registry.note_users(each.urn)

    def __bool__(self) -> bool:
        return bool(self.objects or self.files)

    @cached_property
    def named(self) -> frozenset[tuple[str, str]]:
        """All that are declared, by URN and name."""
        declared = {(each.urn, each.name) for each in self.objects}
        return frozenset(declared | {(urn, name) for urn in self.files for _, name in _declared_in(urn)})

    @property
    def nondeterministic(self) -> frozenset[tuple[str, str]]:
        """Those of the objects that aren't deterministic, by URN and name."""
        return frozenset((each.urn, each.name) for each in self.objects if each.spark and not each.spark.deterministic)

    def _require_different_names(self) -> None:
        by_lower_case: dict[str, str] = {}
        everything = [(each.name, f"{each.name} of {each.urn}") for each in self.objects]
        everything += [(name, f"{name} of {urn}") for urn in self.files for name in {n for _, n in _declared_in(urn)}]
        for name, shown in everything:
            if name.lower() in by_lower_case:
                raise FunctionError(
                    f"Two functions have the name {name}, {by_lower_case[name.lower()]} and {shown}, and readers look functions up by their "
                    "names: give one of them another, as declare_function(function, name='other')."
                )
            by_lower_case[name.lower()] = shown

    def object_of(self, urn: str, name: str) -> SparkFunction | None:
        """PySpark's object of a function that a plan calls."""
        return next((each.spark for each in self.objects if (each.urn, each.name) == (urn, name)), None)

    # ---- of Catalyst's nodes

    def of(self, node: tree.Node, name: str, gateway: Any) -> UserFunction | None:
        """The function that a node of Catalyst calls, which has a name in Spark; None where none is declared.

        Raises Unsupported where another function of that name is given than the one that the query calls.
        """
        code = node.get("func")
        if isinstance(code, tree.PythonCode):
            # The same function may have several names in Spark.
            for each in self._objects_first_of(name):
                if each.spark is None or each.spark.eval_type == PLAIN:
                    continue
                if _digest(each.name, each.spark, gateway) == code.digest:
                    return each
            self._require_no_other(name)
        return self._of_files(name)

    def over_rows(self, step: tree.Plan, name: str) -> UserFunction | None:
        """The function that a step of Catalyst calls over batches or groups of rows; None where none is declared.

        Raises Unsupported as `of` does.
        """
        command = base64.b64decode(step["command"] or "")
        for each in self._objects_first_of(name):
            if (
                each.spark is not None
                and each.spark.eval_type == PLAIN
                and _is_pickled_in(command, each.name, each.spark)
            ):
                return each
        self._require_no_other(name)
        return self._of_files(name)

    def _objects_first_of(self, name: str) -> list[UserFunction]:
        return sorted(self.objects, key=lambda each: each.spark is None or each.spark.name != name)

    def _require_no_other(self, name: str) -> None:
        if any(each.spark and name in (each.spark.name, each.name) for each in self.objects):
            raise Unsupported(
                f"the query calls another function {name} than the one that functions= has, or that one as it was before",
                "Give the object that the query was made with: what udf(…) returned, or the function that mapInPandas or its like was "
                "given. If what the function refers to has changed since, make the query again.",
            )

    def _of_files(self, name: str) -> UserFunction | None:
        urn = next((urn for urn in self.files if any(n == name for _, n in _declared_in(urn))), None)
        return None if urn is None else UserFunction(name, urn)


NO_FUNCTIONS = UserFunctions()


def _identity(function: UserFunction) -> int:
    return id(function.spark.unwrapped) if function.spark else 0


def _digest(name: str, function: SparkFunction, gateway: Any) -> str:
    try:
        return function.digest(gateway)
    except Exception as error:  # whatever a function that can't be pickled, or a type that can't be parsed, raises
        raise _unknown(name, error) from error


def _is_pickled_in(command: bytes, name: str, function: SparkFunction) -> bool:
    try:
        return function.is_pickled_in(command)
    except Exception as error:  # as above
        raise _unknown(name, error) from error


def _unknown(name: str, error: Exception) -> Unsupported:
    return Unsupported(
        f"the function {name}, which functions= has, can't be asked for what it is ({type(error).__name__})",
        "Call it in a DataFrame of this session first.",
    )


def _declared_in(urn: str) -> list[tuple[str, str]]:
    """The functions that an extension file declares, by kind and name."""
    content = registry.load(urn)
    return [(kind, str(f["name"])) for kind, section in registry.KINDS.items() for f in content.get(section) or ()]


def _registered(path: Path) -> str:
    """The URN of an extension file, whose functions plans may call from now on."""
    try:
        return registry.register(path.read_text("utf-8"))
    except OSError as error:
        raise FunctionError(f"The extension file {path} can't be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise FunctionError(f"{path} is no extension file: {error}.") from error


# ---- as what a plan calls it


def declaration_of(
    function: UserFunction, kind: str, node: tree.Expression, arguments: Sequence[Type], result: Type
) -> Declaration:
    """The declaration of a function for a call with arguments of these types. Raises Unsupported where there is none."""
    deterministic = is_deterministic(node)
    if function.spark is None:
        return _declared_by_file(function, kind, arguments, result, deterministic)
    if function.spark.kind != kind:
        raise Unsupported(f"{function.name} is no {kind} function")
    signature = "_".join(SHORT_NAMES.get(each.kind, each.kind) for each in arguments)
    return Declaration(function.urn, function.urn, function.name, signature, result, deterministic, kind, users=True)


def _declared_by_file(
    function: UserFunction, kind: str, arguments: Sequence[Type], result: Type, deterministic: bool
) -> Declaration:
    declaration = registry.resolve(kind, function.urn, function.name, tuple(arguments))
    listed = ", ".join(map(str, arguments))
    if declaration is None:
        known = ", ".join(
            f"{i.name}:{i.signature}" for i in registry.implementations(kind, function.urn, function.name)
        )
        raise Unsupported(
            f"{function.urn} declares no {kind} function {function.name} that takes ({listed})"
            + (f"; there is {known}" if known else "")
        )
    declaration = registry.stated(declaration, result)
    if not types.equal_but_nullability(declaration.result, result):
        raise Unsupported(
            f"{function.urn} declares that {function.name} returns {declaration.result}, and Spark's function of that name returns {result}",
            "Declare the type that the function has in Spark.",
        )
    if declaration.deterministic and not deterministic:
        raise Unsupported(
            f"{function.urn} declares that {function.name} is deterministic, and Spark's function of that name isn't",
            "Write deterministic: false into its implementation in the file.",
        )
    return declaration


def options_of(
    function: UserFunction,
    release: tuple[int, ...],
    time_zone: str,
    arguments: Sequence[tree.Expression],
    node: tree.Expression,
) -> Options:
    """What a call states of how the function gets its arguments, beside their types: by which release of Spark, in which zone."""
    if function.spark is None:
        return ()
    options = [(RELEASE, ".".join(map(str, release[:2])))] if release else []
    kinds = [each.type for each in arguments]
    if function.spark.eval_type != spark_function.PICKLED and any(map(_holds_instants, (*kinds, node.type))):
        options.append((TIME_ZONE, time_zone))
    names = [name for kind in kinds for name in nested_names(kind)]
    if names:
        options.append((ARGUMENT_FIELDS, _listed(names)))
    if nested_names(node.type):
        options.append((RESULT_FIELDS, _listed(nested_names(node.type))))
    return tuple(options)


def options_over_rows(
    function: UserFunction,
    release: tuple[int, ...],
    time_zone: str,
    step: RowsGiven,
) -> Options:
    """What a call over rows states of how the function gets them, beside their types."""
    options = [(METHOD, spark_function.METHODS[step.way])]
    if function.spark is not None:
        options.append((RELEASE, ".".join(map(str, release[:2]))))
    kinds = [column.type for column in (*step.arguments, *step.keys)]
    if any(map(_holds_instants, (*kinds, step.result))):
        options.append((TIME_ZONE, time_zone))
    options.append((ARGUMENT_NAMES, _listed([column.name for column in step.arguments])))
    if names := [name for kind in kinds for name in nested_names(kind)]:
        options.append((ARGUMENT_FIELDS, _listed(names)))
    options.append((RESULT_FIELDS, _listed(nested_names(step.result))))
    return tuple(options)


class RowsGiven(NamedTuple):
    """How Spark calls a function over rows: by the number of its way, over columns of these names and types."""

    way: int
    arguments: Sequence[tree.Field]
    keys: Sequence[tree.Field]
    result: tree.DataType
    """A struct of the columns that it gives."""


def _listed(names: Sequence[str]) -> str:
    return json.dumps(list(names), ensure_ascii=False)


def field_names(options: Iterable[tuple[str, str]], option: str) -> list[str]:
    """The names of fields that a call states by an option, depth-first; empty where it states none."""
    names = dict(options).get(option)
    return [str(name) for name in json.loads(names)] if names else []


def _holds_instants(kind: tree.DataType) -> bool:
    parts = [part.type if isinstance(part, tree.Field) else part for part in kind.parameters]
    return kind.name == "timestamp" or any(_holds_instants(part) for part in parts if isinstance(part, tree.DataType))


CONVERSIONS = ("spark.sql.execution.", "spark.sql.legacy.execution.")
"""How the settings begin by which Spark converts what functions of Python get and return (`Walk.PYTHON` in PlanReader.java). They are
known where they aren't the release's defaults."""


def require_default_conversions(configuration: Mapping[str, str]) -> None:
    """Refuse functions of Python in a session that converts for them in another way than its Spark does by itself."""
    for name, value in configuration.items():
        if name.startswith(CONVERSIONS):
            raise Unsupported(
                f"the session's setting {name} is {value}, which says how Spark converts arguments and "
                f"results of functions in Python, and a plan doesn't say it",
                "Leave it at Spark's default.",
            )
