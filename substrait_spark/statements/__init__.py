"""Plans of statements, none of which runs: of queries and what is written, of rows that change, of tables without rows.

And plans of what a session ran (`captured.py`), which are told with what was written.
"""
