"""Lowering: the canonical tree, in the forms that one dialect has."""
