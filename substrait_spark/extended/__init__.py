"""Expressions by themselves: the specification's ExtendedExpression, made of Spark's expressions, read and lowered."""
