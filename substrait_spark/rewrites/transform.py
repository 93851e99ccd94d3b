"""Applying rewrite rules to a tree, without recursion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from ..catalyst.tree import Node

AnyNode = TypeVar("AnyNode", bound=Node)


def transform(root: AnyNode, rules: Mapping[str, Sequence[Callable[[Node], Node | None]]]) -> AnyNode:
    """The tree with each node replaced as the rules of its class say, children before parents.

    A node that occurs in several places is rewritten once, so that equal nodes stay one node.
    """
    done: dict[int, Any] = {}
    stack: list[Node] = [root]
    while stack:
        node = stack[-1]
        if id(node) in done:
            stack.pop()
            continue
        pending = [child for child in node.children() if id(child) not in done]
        if pending:
            stack.extend(pending)
            continue
        done[id(node)] = _apply(_with_new_children(node, done), rules.get(node.cls.name, ()))
        stack.pop()
    return done[id(root)]  # type: ignore[no-any-return]


def _with_new_children(node: Node, done: Mapping[int, Node]) -> Node:
    if all(done[id(child)] is child for child in node.children()):
        return node
    return node.with_values(tuple([_replaced(value, done) for value in node.values]))


def _replaced(value: Any, done: Mapping[int, Node]) -> Any:
    if isinstance(value, Node):
        return done[id(value)]
    if type(value) is tuple:
        return tuple([_replaced(part, done) for part in value])
    return value


def _apply(node: Node, rules: Sequence[Callable[[Node], Node | None]]) -> Node:
    for rule in rules:
        replacement = rule(node)
        if replacement is not None:
            node = replacement
    return node
