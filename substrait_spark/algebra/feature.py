"""Features of plans: what an expression, or a relation with all below it, has somewhere, as bits of one number.

They are put together as values are made, so that a pass that has nothing to do anywhere is left out at once.
"""

from __future__ import annotations

# In expressions; what is in the relations of subqueries isn't told.
COLUMN = 1
"""A reference to a column, of this query or of one around it."""
OUTER_COLUMN = 2
"""A reference to a column of a query around this one."""
PARAMETER = 4
"""A reference to a lambda's parameter."""
LAMBDA = 8
SUBQUERY = 16
SHARED = 32
"""A value to compute once."""
NOT_DETERMINISTIC = 64
"""A call that may give another value each time."""
STAND_IN = 128
INSTANT = 256
"""A literal of a timestamp with a time zone."""
ZERO_CHARACTER = 512
"""A literal of text with a zero character in it."""
MAY_RAISE = 1024
"""What may raise for some row."""
WINDOW_FUNCTION = 2048
"""A window function as an expression."""

# Relations.
AGGREGATE = 1 << 16
FETCH = 1 << 17
JOIN = 1 << 18
REFERENCE = 1 << 19
SET = 1 << 20
SORT = 1 << 21
PREVIOUS_ROWS = 1 << 22
"""A read of what the step of a recursion is repeated over."""
