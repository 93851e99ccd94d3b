"""Measures what an engine takes, and answers right: a corpus of small plans, Spark's rows of each, and what they say of an engine."""
