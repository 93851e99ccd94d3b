"""PyArrow: its dialect, and the rewrites that lower expressions for Acero, which evaluates them."""
