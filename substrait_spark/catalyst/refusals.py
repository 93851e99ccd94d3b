"""What to say of Catalyst classes that no table has: which function or step it is, why, and what the user can do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..errors import SeveralUnsupported, Unsupported
from ..extensions import registry
from .tree import Expression, Node, Opaque, Plan
from .types import REFUSED, base_name, holds_collation, refusal, to_substrait

_FILE = (
    "it tells what Spark is reading when it computes the row, which is no part of the row",
    "Save the names of the files as a column of the table before the exported query.",
)

_SCHEMA = (
    "it tells what Spark finds in a constant text",
    "Leave ConstantFolding among the rules of Spark's optimizer, which compute it, or write the schema as a literal.",
)
_VERSION = ("it tells which Spark runs the query", "Write the version as a literal.")

USER_FUNCTIONS = {
    "PythonUDF": "Python",
    "PythonUDAF": "Python",
    "PythonUDTF": "Python",
    "ScalaUDF": "Scala or Java",
    "ScalaUDAF": "Scala or Java",
    "ScalaAggregator": "Scala or Java",
    "HiveSimpleUDF": "Hive",
    "HiveGenericUDF": "Hive",
    "HiveGenericUDTF": "Hive",
    "HiveUDAFFunction": "Hive",
}
"""Classes of functions that users write, and what they are written in."""

MAKERS = {"DataFrameStatFunctions": "sampleBy"}
"""What users call the classes of Spark that make functions, where they call them otherwise."""

_SPARK_CLASS = re.compile(r"org\.apache\.spark\.(?:\w+\.)*(\w+)")

ENVIRONMENT = {
    "CallMethodViaReflection": (
        "it calls a method of a Java class, which nothing but its name is known of",
        "Use a built-in function, or compute this column before the exported part of the query.",
    ),
    "Collations": ("it lists the collations of the Spark that runs it", "Save the list as a table."),
    "GenerateIdentityValues": (
        "a table numbers its own rows (an identity column), and knows the last number alone",
        "Run the statement in Spark, or export the query whose rows it uses.",
    ),
    "InputFileBlockLength": _FILE,
    "InputFileBlockStart": _FILE,
    "InputFileName": (
        _FILE[0],
        "Select it, or _metadata.file_path, right above the read of the files, or save the names of the files as a column.",
    ),
    "Invoke(SchemaOfCsvEvaluator.evaluate)": _SCHEMA,
    "Invoke(SchemaOfJsonEvaluator.evaluate)": _SCHEMA,
    "SQLKeywords": ("it lists the keywords of the Spark that runs it", "Save the list as a table."),
    "SchemaOfCsv": _SCHEMA,
    "SchemaOfJson": _SCHEMA,
    "StaticInvoke(ExpressionImplUtils.getSparkVersion)": _VERSION,
    "StaticInvoke(XmlExpressionEvalUtils.schemaOfXml)": _SCHEMA,
    "SparkPartitionID": (
        "it tells how Spark has divided the rows among its tasks, and a plan has no partitions",
        "Group by a key, for example by a remainder of a hash, instead of by partitions.",
    ),
    "SparkVersion": _VERSION,
}
"""Functions that tell of what runs the query, not of the rows: why, and what to do instead."""

_STEP = "Run this step in Spark, save the result, and export the query on top of that."
_COLUMN = "Compute this column before the exported part of the query, or replace the function."
_AGGREGATE = "Compute this aggregate in Spark and save the result, or replace the function."


def no_relation(node: Plan, root: Plan | None = None) -> Unsupported:
    """Why a node of the plan `root` can't be exported whose class is in no table."""
    if node.name == "CommandResult":
        reason = f"the DataFrame is the result of a command ({node.get('command')}), which shows no rows"
        return Unsupported(reason, "Export a query; commands and writes are no queries.")
    computed: list[tuple[Node, Node | None]] = [(child, None) for child in node.children()]
    if "udfs" in node.cls.index:
        computed = [*zip(node["udfs"], node["resultAttrs"], strict=True)]
    refusals = [_no_step(each, result, root) for child, result in computed for each in _user_functions(child)]
    if refusals:
        return SeveralUnsupported(refusals)
    if node.name == "Generate":
        reason = f"Generate has no Substrait relation: {node['generator'].name} makes several rows of one"
        return Unsupported(reason, _STEP)
    if node.name == "Sample":
        return Unsupported("Sample picks rows at random, which no other engine repeats", _STEP)
    return Unsupported(f"{node.name} has no Substrait relation", _STEP)


def no_expression(node: Expression, name: str, root: Plan | None = None) -> Unsupported:
    """Why an expression of the plan `root` can't be exported whose class is in no table."""
    if node.name in USER_FUNCTIONS:
        reason = _no_user_function(node) + _making(_columns_with(node, root))
        return Unsupported(reason, _declaring(node, "scalar", _COLUMN))
    if name in ENVIRONMENT:
        reason, hint = ENVIRONMENT[name]
        return Unsupported(f"{name} has no Substrait form: {reason}", hint)
    return _no_type(node) or Unsupported(f"{name} is no function that plans have", _COLUMN)


def no_generator(node: Expression) -> Unsupported:
    """Why a generator can't be exported whose class is in no table."""
    if node.name in USER_FUNCTIONS:
        return _no_step(node, None, None)
    if node.name in ENVIRONMENT:
        reason, hint = ENVIRONMENT[node.name]
        return Unsupported(f"{node.name} has no Substrait form: {reason}", hint)
    return _no_type(node) or Unsupported(f"the generator {node.name} is none that plans have", _STEP)


def _no_type(node: Node) -> Unsupported | None:
    """What to say of a function that gives or takes a type that no plan has; None where it has others only."""
    for part in (node, *node.children()):
        if isinstance(part, Expression) and (holds_collation(part.type) or base_name(part.type) in REFUSED):
            return refusal(part.type)
    return None


def no_aggregate(node: Node) -> Unsupported:
    """Why an aggregate function can't be exported whose class is in no table."""
    if node.name in USER_FUNCTIONS:
        return Unsupported(_no_user_function(node), _declaring(node, "aggregate", _AGGREGATE))
    return _no_type(node) or Unsupported(f"the aggregate function {node.name} is none that plans have", _AGGREGATE)


def _user_functions(node: Node) -> list[Node]:
    """The users' functions in an expression, in order."""
    return [part for part in _parts(node) if part.name in USER_FUNCTIONS]


def _parts(node: Node) -> Iterator[Node]:
    """The nodes of an expression, those of its subqueries' plans left out, in order."""
    stack: list[Node] = [] if isinstance(node, Plan) else [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed([child for child in current.children() if not isinstance(child, Plan)]))


def _no_step(function: Node, result: Node | None, root: Plan | None) -> Unsupported:
    """Why a function can't be exported that a plan node of its own computes: its result is a column for the nodes above."""
    names = [] if root is None or result is None else _columns_of(result["exprId"], root)
    kept = STATEFUL if function.name == "PythonUDTF" else ""
    return Unsupported(_no_user_function(function) + _making(names) + kept, _declaring_rows(function), function)


STATEFUL = (
    ": a table function may keep state from row to row and end with rows of its own, by the partitions that Spark has"
)
"""Why table functions of Python are in no plan."""


def _declaring_rows(function: Node) -> str:
    """A hint for a function over rows, which is a plain function of Python: the argument that declares it."""
    given = _given(name_of(function))
    if function.name != "PythonUDF" or not isinstance(function, Expression) or function.type.name != "struct":
        return _STEP
    return f"Let plans call it by its name: functions=[{given}], the function itself. Or {_STEP[0].lower()}{_STEP[1:]}"


def _making(names: Sequence[str]) -> str:
    return f", and makes the column{'s' if len(names) > 1 else ''} {', '.join(names)}" if names else ""


def _columns_with(call: Node, root: Plan | None) -> list[str]:
    """The names of the columns that are computed of a call, in order."""
    names: dict[str, None] = {}
    for node in _all(root):
        if node.name != "Alias" or not any(part is call for part in _parts(node["child"])):
            continue
        steps = _columns_of(node["exprId"], root) if root and str(node["name"]).startswith("pythonUDF") else []
        names.update(dict.fromkeys(steps or [node["name"]]))
    return list(names)


def _all(root: Plan | None) -> Iterator[Node]:
    """The nodes of a plan, each once, in order."""
    seen: set[Node] = set()
    stack: list[Node] = [] if root is None else [root]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            yield node
            stack.extend(reversed(node.children()))


def _columns_of(result: int, root: Plan) -> list[str]:
    """The names of the columns that are computed of a result, in order."""
    names = [
        node["name"]
        for node in _all(root)
        if node.name == "Alias" and any(part.get("exprId") == result for part in _parts(node["child"]))
    ]
    return list(dict.fromkeys(names))


def name_of(node: Node) -> str:
    """What a user's function is called; of Spark's other functions, what they are in SQL, as far as the class tells."""
    if node.name not in USER_FUNCTIONS:
        return node.name.lower()
    names = ("name", "udfName", "udafName", "aggregatorName")
    return str(next(filter(None, map(node.get, names)), None) or _made_by(node))


def is_deterministic(call: Node) -> bool:
    """Whether a user's function gives the same value each time. Spark doesn't tell it of those in Hive."""
    return all(call.get(field, True) for field in ("udfDeterministic", "isDeterministic"))


def _no_user_function(node: Node) -> str:
    types = _types(node)
    takes = "" if types is None else f"; it takes ({', '.join(types[:-1])}) and returns {types[-1]}"
    return f"the {USER_FUNCTIONS[node.name]} function {name_of(node)} runs in Spark only{takes}"


def _types(node: Node) -> list[str] | None:
    """The Substrait types of a call's arguments, and last of its result; None where one has none."""
    parts = [part for part in node.get("children") or () if isinstance(part, Expression)]
    try:
        arguments = [str(to_substrait(part.type, True)) for part in parts]
        return [*arguments, str(to_substrait(node.type, True))] if isinstance(node, Expression) else None
    except Unsupported:
        return None


def _declaring(node: Node, kind: str, otherwise: str) -> str:
    """A hint for a user's function: the argument that declares it, or an extension file that does, ready to copy."""
    name, types = name_of(node), _types(node)
    instead = f"Or {otherwise[0].lower()}{otherwise[1:]}"
    if types is None or " " in name:
        return otherwise
    if node.name.startswith("Python"):
        return f"Let plans call it by its name: functions=[{_given(name)}]. {instead}"
    arguments = ", ".join(f'{{value: "{each}"}}' for each in types[:-1])
    drawn = "" if is_deterministic(node) else "deterministic: false, "
    return (
        "Let plans call it by its name: functions=['functions.yaml'], a file that declares it, as "
        f'{{urn: "extension:com.example:functions", {kind}_functions: [{{name: "{name}", impls: '
        f'[{{args: [{arguments}], {drawn}nullability: "DECLARED_OUTPUT", return: "{types[-1]}"}}]}}]}}. {instead}'
    )


def _given(name: str) -> str:
    """What to give of a function in Python: the function, under another name where plans can't call it by its own."""
    if not name.isidentifier():
        return "declare_function(the_function, name='its_name')"
    return f"declare_function({name}, name='my_{name}')" if name.lower() in registry.taken_names() else name


def _made_by(node: Node) -> str:
    """What to call a function without a name: where it is Spark's own, by what it belongs to."""
    function = node.get("function")
    match = _SPARK_CLASS.match(function.java_class) if isinstance(function, Opaque) else None
    if match is None:
        return "without a name"
    return f"of {MAKERS.get(match[1], match[1])}"
