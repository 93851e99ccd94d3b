"""Spark Connect: planning a remote DataFrame's message with Spark's own planner, in a JVM of this process's own.

A Connect frame holds its plan as a message whose names only the server can resolve. `server` asks the server what they
are, `session` has stand-ins of them made in the local JVM (`jvm`, Planner.java), and the plan that comes out there is
read as any classic DataFrame's is.
"""
