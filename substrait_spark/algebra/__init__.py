"""Substrait's types, expressions and relations as immutable, typed values that write themselves as protobuf.

A pair with `extensions/`, which knows this package's types, and is asked by its builder what a call resolves to.
"""
