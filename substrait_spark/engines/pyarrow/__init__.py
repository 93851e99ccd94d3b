"""PyArrow: its dialect, and the rules that lower expressions for Acero, which evaluates them."""
