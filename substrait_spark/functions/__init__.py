"""The function tables: what each Catalyst function class becomes. One module per family; dispatch.py collects them."""
