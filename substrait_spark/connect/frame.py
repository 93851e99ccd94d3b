"""Converting a Spark Connect frame: its message is planned in the local JVM, and read there as a classic frame is."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..errors import Problem, Unsupported, UnsupportedSessionError
from .message import FILES_QUALIFIER, obstacles

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ..catalyst.reader import Planned

Made = TypeVar("Made")

PACKAGES_NEEDED = (
    "Spark Connect frames need Java's bridge beside the client's own packages: pip install 'substrait-spark[connect]'"
)

TOO_OLD = "Spark Connect frames are converted from PySpark 4.0 on: no earlier one brings Spark's planner of them."


def convert_planned(
    df: DataFrame, convert: Callable[[Planned], tuple[Made | None, Sequence[Problem]]], *, allow_version_mismatch: bool
) -> tuple[Made | None, Sequence[Problem]]:
    """What `convert` makes of a Connect frame, once it is planned here, or None and what stands in the way of planning it.

    Raises UnsupportedSessionError where the server doesn't answer, or no Spark is here that plans its frames.
    """
    if importlib.util.find_spec("py4j") is None:
        raise UnsupportedSessionError(PACKAGES_NEEDED)
    if importlib.util.find_spec("pyspark.logger") is None:
        raise UnsupportedSessionError(TOO_OLD)
    from .planner import PLANNER

    remote = cast("Any", df)
    message = remote._plan.to_proto(remote._session.client)
    if in_the_way := obstacles(message):
        return None, [_problem(each) for each in in_the_way]
    session = PLANNER.session(remote._session, allow_version_mismatch)
    try:
        made, problems = session.converted(
            message, lambda dataset: convert(PlannedFrame(dataset, PlannedSession(session.context)))
        )
    except Unsupported as problem:
        return None, [_problem(problem)]
    return made, [replace(problem, sql=FILES_QUALIFIER.sub("", problem.sql)) for problem in problems]


def _problem(obstacle: Unsupported) -> Problem:
    return Problem("the plan", "DataFrame", "DataFrame", obstacle.reason, obstacle.hint)


@dataclass(frozen=True)
class PlannedSession:
    """What a classic frame's session is asked for."""

    _sc: Any


@dataclass(frozen=True)
class PlannedFrame:
    """What a classic frame is asked for: the Dataset in the JVM, and its session."""

    _jdf: Any
    sparkSession: PlannedSession  # noqa: N815
