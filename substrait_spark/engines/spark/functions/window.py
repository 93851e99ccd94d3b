"""Standard window functions: those of functions_arithmetic.yaml."""

from __future__ import annotations

from .rules import Rule, aggregate

RULES: dict[str, Rule] = {
    "arithmetic:row_number": aggregate("row_number"),
    "arithmetic:rank": aggregate("rank"),
    "arithmetic:dense_rank": aggregate("dense_rank"),
    "arithmetic:percent_rank": aggregate("percent_rank"),
    "arithmetic:cume_dist": aggregate("cume_dist"),
    "arithmetic:ntile": aggregate("ntile"),
    "arithmetic:first_value": aggregate("first_value"),
    "arithmetic:last_value": aggregate("last_value"),
    "arithmetic:nth_value": aggregate("nth_value"),
    "arithmetic:lead": aggregate("lead"),
    "arithmetic:lag": aggregate("lag"),
}
