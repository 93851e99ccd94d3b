"""The functions that plans may name: the registry of extension files, their type expressions, and ours, `functions_spark*.yaml`.

A pair with `algebra/`, whose types the declarations have.
"""
