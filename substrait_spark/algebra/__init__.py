"""Substrait's types, expressions and relations as immutable, typed values that write themselves as protobuf."""
