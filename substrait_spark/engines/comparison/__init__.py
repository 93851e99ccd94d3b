"""Comparing the rows that Spark computes of a query with those that an engine computes of a plan."""
