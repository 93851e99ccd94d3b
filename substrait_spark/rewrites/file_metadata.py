"""Gives reads of files columns for what a plan asks of the file that a row comes from: `_metadata` and `input_file_name()`.

The read then makes a branch of each file, with these columns as constants. `_metadata` is a struct that Spark adds to a read; where
a plan uses no more of it than fields that hold for a whole file, each of these is a column. `input_file_name()` is what a task is
reading: the file of the row, where all nodes below pass rows on as they come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ..catalyst.file_metadata import FILE_CONSTANT, INPUT_FILE_NAME, METADATA_FIELDS, SPARK_METADATA
from ..catalyst.plan_classes import Does, that_do
from ..catalyst.tree import DataType, Document, Expression, Field, Node, Plan, make
from .transform import transform

Rule = Callable[[Node], Node | None]

READS = ("DataSourceV2ScanRelation", "LogicalRelation")
"""Catalyst's leaves that may read files."""

PASSES_ROWS = that_do(Does.PASSES_ROWS)

FIRST_ID = -(2**40)
"""Where the numbers of columns begin that are made here: far from Spark's, and from those of other rewrites."""


def with_file_columns(document: Document) -> Document:
    """The document with a column for each constant of a file that it asks for."""
    if "GetStructField" in document.classes:
        document = _without_metadata(document)
    if "InputFileName" in document.classes and not document.cached:
        document = _without_names(document)
    return document


def _renewed(document: Document, replaced: dict[Node, Node]) -> Document:
    if not replaced:
        return document
    root = replaced.get(document.root, document.root)
    assert isinstance(root, Plan)  # noqa: S101 - for the type checker: a plan takes a plan's place
    return document._replace(root=root, nodes=[replaced.get(node, node) for node in document.nodes])


def _constant(name: str, type: str, id: int) -> Expression:
    return make("AttributeReference", DataType(type), False, name=name, exprId=id, metadata=(FILE_CONSTANT,))


# ---- _metadata


def _without_metadata(document: Document) -> Document:
    divided = _only_fields_used(document)
    if not divided:
        return document

    def of_fields(attributes: Sequence[Node]) -> tuple[Node, ...]:
        return tuple(
            [each for attribute in attributes for each in (_fields(attribute) if attribute in divided else [attribute])]
        )

    def read(leaf: Node) -> Node:
        return leaf.replace(output=of_fields(leaf["output"]))

    def project(node: Node) -> Node:
        return node.replace(projectList=of_fields(node["projectList"]))

    def field(node: Node) -> Node | None:
        return _field(node["child"], _field_name(node)) if node["child"] in divided else None

    rules: dict[str, list[Rule]] = {name: [read] for name in READS}
    rules |= {"Project": [project], "GetStructField": [field]}
    return _renewed(document, dict(transform(document.nodes, rules)))


def _only_fields_used(document: Document) -> set[Node]:
    """The `_metadata` structs of which the plan uses only fields that are the same for a whole file."""
    structs = {node for node in document.nodes if _is_metadata(node)}
    if not structs:
        return structs
    whole: set[Node] = set(document.output)
    for node in document.nodes:
        if not _is_harmless(node):
            whole.update(node.children())
    return structs - whole


def _is_metadata(node: Node) -> bool:
    return node.cls.name == "AttributeReference" and SPARK_METADATA in node["metadata"]


def _is_harmless(node: Node) -> bool:
    """Whether a node asks no more of the struct than fields of files, or passes it on."""
    if node.cls.name == "GetStructField":
        return _field_name(node) in METADATA_FIELDS
    return node.cls.name == "Project" or node.cls.name in READS


def _field_name(node: Node) -> str:
    child: Expression = node["child"]
    field: Field = child.type.parameters[node["ordinal"]]
    return field.name


def _fields(attribute: Node) -> list[Expression]:
    return [_field(attribute, name) for name in METADATA_FIELDS]


def _field(attribute: Node, name: str) -> Expression:
    number = len(METADATA_FIELDS) * attribute["exprId"] + list(METADATA_FIELDS).index(name)
    return _constant(name, METADATA_FIELDS[name], FIRST_ID - number)


# ---- the name of the file that a task reads


def _without_names(document: Document) -> Document:
    asked: dict[int | None, Expression] = {}
    passed: dict[int | None, Expression] = {}
    for node in document.nodes:
        if node.name in PASSES_ROWS and any(each.name == "InputFileName" for each in _expressions(node)):
            way = _way_to_read(node)
            if way:
                # Reads have numbers, as columns have: these count down on the other side.
                name = _constant(INPUT_FILE_NAME, "string", 2 * FIRST_ID - (way[-1].number or 0))
                asked[node.number] = name
                passed |= {below.number: name for below in way}

    def renewed(node: Node) -> Node:
        if node.number in asked:
            node = _with_name(node, asked[node.number])
        if node.number in passed:
            node = _passing(node, passed[node.number])
        return node

    rules: dict[str, list[Rule]] = {name: [renewed] for name in (*READS, *PASSES_ROWS)}
    return _renewed(document, dict(transform(document.nodes, rules)))


def _expressions(node: Node) -> set[Node]:
    """The expressions of a plan node, without those of plans below it or in it."""
    expressions: set[Node] = set()
    stack: list[Node] = list(node.children())
    while stack:
        each = stack.pop()
        if not isinstance(each, Plan) and each not in expressions:
            expressions.add(each)
            stack += each.children()
    return expressions


def _way_to_read(node: Node) -> list[Node]:
    """The nodes from below this one down to the read of the files; none where something else than passing on rows is between."""
    way: list[Node] = []
    while node.name in PASSES_ROWS:
        node = node["child"]
        way.append(node)
    return way if node.name in READS else []


def _with_name(node: Node, name: Expression) -> Node:
    """A node with a column in place of the function."""
    in_order = sorted(_expressions(node), key=_number)
    replaced = transform([*in_order, node], {"InputFileName": [lambda _: name]})
    return replaced.get(node, node)


def _number(node: Node) -> int:
    """The reader numbers children before parents."""
    return node.number or 0


def _passing(node: Node, column: Expression) -> Node:
    """A node below with the column among those that it passes on."""
    if node.name == "Project":
        return node.replace(projectList=_with(node["projectList"], column))
    return node.replace(output=_with(node["output"], column)) if node.name in READS else node


def _with(columns: Iterable[Node], column: Expression) -> tuple[Node, ...]:
    return (*columns, column)
