"""A script that is run in this process, and the queries that it runs in whatever sessions it makes."""

from __future__ import annotations

import runpy
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import click

from ..catalyst.session import NO_PYSPARK
from ..errors import Unsupported
from ..statements.captured import Capture, CapturedQueries
from . import user_functions
from .outcome import INTERRUPTED

if TYPE_CHECKING:
    from ..context import Settings


def captured(
    path: str, arguments: Sequence[str], settings: Callable[..., Settings], functions: Sequence[str]
) -> tuple[CapturedQueries, int]:
    """What a script ran, and the exit code that it ended with; what it raised is on stderr.

    `functions` are names of the user's own, which the script itself may have. `settings` makes settings with them.
    """
    script: list[ModuleType] = []

    def settings_then() -> Settings:
        try:
            return settings(functions=user_functions.given(functions, [*script, *sys.modules.values()]))
        except click.ClickException as error:
            raise Unsupported(error.message) from error

    capture = Capture(settings(), settings_then)
    try:
        with _listening(capture, script):
            code = _run(path, arguments)
    finally:
        capture.stop()
    return capture.queries, code


def summary(queries: CapturedQueries, folder: str) -> str:
    """What was captured, a line for each query."""
    if not queries:
        return "No query ran in a classic Spark session."
    made = sum(query.plan is not None for query in queries)
    head = (
        f"{len(queries)} quer{'y' if len(queries) == 1 else 'ies'}, {made} plan{'' if made == 1 else 's'} in {folder}:"
    )
    lines = [f"  {number:03} {query.head}".replace("\n", "\n    ") for number, query in enumerate(queries, 1)]
    return "\n".join([head, *lines])


def _run(path: str, arguments: Sequence[str]) -> int:
    """Run a script as `python` does, with its own arguments and its folder on the path."""
    kept = sys.argv, sys.path
    sys.argv, sys.path = [path, *arguments], [str(Path(path).resolve().parent), *sys.path]
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        return _exit_code(end.code)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - what a script raises is told as Python does, once its plans are written
        _show(error)
        return 1
    finally:
        sys.argv, sys.path = kept
    return 0


def _exit_code(code: object) -> int:
    if code is None or isinstance(code, int):
        return code or 0
    click.echo(code, err=True)
    return 1


def _show(error: Exception) -> None:
    """The traceback from the script on, without the frames that run it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None and trace.tb_frame.f_code.co_filename in _RUNNING:
        trace = trace.tb_next
    traceback.print_exception(type(error), error, trace)


_RUNNING = (__file__, runpy.__file__, "<frozen runpy>")


@contextmanager
def _listening(capture: Capture, script: list[ModuleType]) -> Iterator[None]:
    """Within it, what runs in any classic session of this process is captured, and read before the session stops.

    The list gets the script's module, which is gone when its end is reached.
    """
    try:
        from pyspark import SparkContext
        from pyspark.sql import SparkSession
    except ModuleNotFoundError as error:
        raise click.ClickException(NO_PYSPARK) from error
    heard: set[int] = set()

    def made(make: Callable[..., None]) -> Callable[..., None]:
        def init(session: Any, *arguments: Any, **options: Any) -> None:
            make(session, *arguments, **options)
            if id(session._sc) not in heard:
                heard.add(id(session._sc))
                script.append(sys.modules["__main__"])
                capture.listen(session, every_session=True)

        return init

    def stopped(stop: Callable[..., None]) -> Callable[..., None]:
        def stop_listening(context: Any) -> None:
            heard.discard(id(context))
            capture.stop()
            stop(context)

        return stop_listening

    kept = SparkSession.__init__, SparkContext.stop
    SparkSession.__init__, SparkContext.stop = made(kept[0]), stopped(kept[1])  # type: ignore[method-assign]
    try:
        yield
    finally:
        SparkSession.__init__, SparkContext.stop = kept  # type: ignore[method-assign]
