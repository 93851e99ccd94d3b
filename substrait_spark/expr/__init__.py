"""Catalyst expressions to Substrait expressions: one module per kind."""
