"""Catalyst plan nodes to Substrait relations: one module per kind of relation."""
