"""Which handler emits which Catalyst plan node."""

from __future__ import annotations

from . import (
    aggregate,
    cte,
    distributed_sequence,
    expand,
    fetch,
    filter,
    flat_map,
    generate,
    join,
    local,
    project,
    range,
    read,
    recursion,
    sample,
    set,
    sort,
    transparent,
    window,
)
from .builder import Handler

HANDLERS: dict[str, Handler] = {
    **aggregate.HANDLERS,
    **cte.HANDLERS,
    **distributed_sequence.HANDLERS,
    **expand.HANDLERS,
    **fetch.HANDLERS,
    **filter.HANDLERS,
    **flat_map.HANDLERS,
    **generate.HANDLERS,
    **join.HANDLERS,
    **local.HANDLERS,
    **project.HANDLERS,
    **range.HANDLERS,
    **read.HANDLERS,
    **recursion.HANDLERS,
    **sample.HANDLERS,
    **set.HANDLERS,
    **sort.HANDLERS,
    **transparent.HANDLERS,
    **window.HANDLERS,
}
"""Handlers by Catalyst class."""
