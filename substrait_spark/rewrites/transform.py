"""Applying rewrite rules to all nodes of a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..catalyst.tree import Node


def transform(
    nodes: Iterable[Node], rules: Mapping[str, Sequence[Callable[[Node], Node | None]]]
) -> Mapping[Node, Node]:
    """The new node for each node that rules have changed, either itself or one below it.

    Children come before parents. A node that occurs in several places is rewritten once, so that equal nodes stay one.
    """
    replaced: dict[Node, Node] = {}
    for node in nodes:
        own = rules.get(node.cls.name)
        is_above = bool(replaced) and not replaced.keys().isdisjoint(node.children())
        if own is None and not is_above:
            continue
        renewed = node.with_values(_with_replaced(node.values, replaced)) if is_above else node
        renewed = _apply(renewed, own or ())
        if renewed is not node:
            replaced[node] = renewed
    return replaced


def _with_replaced(values: tuple[Any, ...], replaced: Mapping[Node, Node]) -> tuple[Any, ...]:
    return tuple(
        [
            replaced.get(value, value)
            if isinstance(value, Node)
            else _with_replaced(value, replaced)
            if type(value) is tuple
            else value
            for value in values
        ]
    )


def _apply(node: Node, rules: Sequence[Callable[[Node], Node | None]]) -> Node:
    """The node that the rules of a node's class give: one rule after the other, as long as it keeps that class."""
    name = node.name
    for rule in rules:
        replacement = rule(node) if node.name == name else None
        if replacement is not None:
            node = replacement
    return node
