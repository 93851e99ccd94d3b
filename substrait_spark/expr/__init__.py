"""Catalyst expressions to Substrait expressions: one module per kind.

Knows `rel/` and `functions/`, which know it, since subqueries are expressions that hold relations.
"""
