"""Catalyst plan nodes to Substrait relations: one module per kind of relation.

A pair with `expr/`, since subqueries are expressions that hold relations.
"""
