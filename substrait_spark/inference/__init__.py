"""The types of relations and expressions, derived from a plan's messages alone."""
