"""Users' own functions: what they are declared as, and what PySpark makes of their arguments and results.

A plan calls such a function by its name. Nothing of what is pickled gets into a plan, and nothing is run but the objects that a
caller gives.
"""
