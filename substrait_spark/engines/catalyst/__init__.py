"""Evaluates canonical expressions by Catalyst itself, in Spark's JVM over Arrow, for any engine that can call Python."""
