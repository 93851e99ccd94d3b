"""Concessions: standard functions in the place of functions and options that only say how Spark rounds, or what overflows.

They make a canonical plan of a canonical plan, before anything is lowered.
"""
