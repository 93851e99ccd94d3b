"""What to say of Catalyst classes that no table has: which function or step it is, why, and what the user can do."""

from __future__ import annotations

from .catalyst.tree import Expression, Node, Plan
from .catalyst.types import REFUSED, base_name, refusal
from .errors import Unsupported, said

_FILE = (
    "it tells what Spark is reading when it computes the row, which is no part of the row",
    "Save the names of the files as a column of the table before the exported query.",
)

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

ENVIRONMENT = {
    "CallMethodViaReflection": (
        "it calls a method of a Java class, which nothing but its name is known of",
        "Use a built-in function, or compute this column before the exported part of the query.",
    ),
    "Collations": ("it lists the collations of the Spark that runs it", "Save the list as a table."),
    "InputFileBlockLength": _FILE,
    "InputFileBlockStart": _FILE,
    "InputFileName": _FILE,
    "SQLKeywords": ("it lists the keywords of the Spark that runs it", "Save the list as a table."),
    "SparkPartitionID": (
        "it tells how Spark has divided the rows among its tasks, and a plan has no partitions",
        "Group by a key, for example by a remainder of a hash, instead of by partitions.",
    ),
}
"""Functions that tell of what runs the query, not of the rows: why, and what to do instead."""

_STEP = "Run this step in Spark, save the result, and export the query on top of that."
_COLUMN = "Compute this column before the exported part of the query, or replace the function."
_AGGREGATE = "Compute this aggregate in Spark and save the result, or replace the function."


def no_relation(node: Plan) -> Unsupported:
    """Why a plan node can't be exported whose class is in no table."""
    if node.name == "CommandResult":
        reason = f"the DataFrame is the result of a command ({node.get('command')})"
        return Unsupported(reason, "Export a query; commands and writes are no queries.")
    found = [function for child in node.children() for function in _user_functions(child)]
    if found:
        return Unsupported("; ".join(dict.fromkeys(_no_user_function(function) for function in found)), _STEP)
    if node.name == "Generate":
        reason = f"Generate has no Substrait relation: {node['generator'].name} makes several rows of one"
        return Unsupported(reason, _STEP)
    if node.name == "Sample":
        return Unsupported("Sample picks rows at random, which no other engine repeats", _STEP)
    return Unsupported(f"{node.name} has no Substrait relation", _STEP)


def no_expression(node: Expression, name: str) -> Unsupported:
    """Why an expression can't be exported whose class is in no table."""
    if node.name in USER_FUNCTIONS:
        return Unsupported(_no_user_function(node), _COLUMN)
    if node.name in ENVIRONMENT:
        reason, hint = ENVIRONMENT[node.name]
        return Unsupported(f"{node.name} has no Substrait form: {reason}", hint)
    return _no_type(node) or Unsupported(f"{name} is no function that plans have", _COLUMN)


def no_generator(node: Expression) -> Unsupported:
    """Why a generator can't be exported whose class is in no table."""
    if node.name in ENVIRONMENT:
        reason, hint = ENVIRONMENT[node.name]
        return Unsupported(f"{node.name} has no Substrait form: {reason}", hint)
    return _no_type(node) or Unsupported(f"the generator {node.name} is none that plans have", _STEP)


def _no_type(node: Node) -> Unsupported | None:
    """What to say of a function that gives or takes a type that no plan has; None where it has others only."""
    for part in (node, *node.children()):
        if isinstance(part, Expression) and (part.type.name.startswith("collated") or base_name(part.type) in REFUSED):
            return refusal(part.type)
    return None


def no_aggregate(node: Node) -> Unsupported:
    """Why an aggregate function can't be exported whose class is in no table."""
    if node.name in USER_FUNCTIONS:
        return Unsupported(_no_user_function(node), _AGGREGATE)
    return _no_type(node) or Unsupported(f"the aggregate function {node.name} is none that plans have", _AGGREGATE)


def _user_functions(node: Node) -> list[Node]:
    """The users' functions in an expression, in order."""
    found: list[Node] = []
    stack: list[Node] = [] if isinstance(node, Plan) else [node]
    while stack:
        current = stack.pop()
        if current.name in USER_FUNCTIONS:
            found.append(current)
        stack.extend(reversed([child for child in current.children() if not isinstance(child, Plan)]))
    return found


def _no_user_function(node: Node) -> str:
    name = node.get("name") or node.get("udfName") or node.get("aggregatorName") or "without a name"
    return f"the {USER_FUNCTIONS[node.name]} function {name} runs in Spark only"


def unknown_form(error: Exception) -> Unsupported:
    """Why a node can't be exported whose fields are not what is known of its class."""
    return Unsupported(f"its form is not known ({said(error)})")
