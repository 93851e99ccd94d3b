"""How a command ends: its exit code, and what went wrong as a sentence on stderr, never as a traceback."""

from __future__ import annotations

from collections.abc import Callable

import click

from ..errors import EngineError, SubstraitSparkError, UnsupportedPlanError

FINE, FINDING, FAILED, INTERRUPTED = 0, 1, 2, 130
"""Exit codes: all is well; there is something to look at; the command could not do its work; Ctrl-C."""


def run(command: click.Command) -> int:
    """Run a command with the process's arguments; returns its exit code."""
    try:
        code = command.main(standalone_mode=False, prog_name="substrait-spark")
    except BaseException as error:  # noqa: BLE001 - nothing may end in a traceback
        return _ended(error)
    return code if isinstance(code, int) else FINE


def _ended(error: BaseException) -> int:
    if isinstance(error, SystemExit):  # click's answer to a reader of stdout who has seen enough
        return FINE
    if isinstance(error, click.Abort | KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        return INTERRUPTED
    if isinstance(error, click.ClickException):
        error.show()
        return FAILED
    for kind, code, sentence in _ENDINGS:
        if isinstance(error, kind):
            click.echo(sentence(error), err=True)
            return code
    click.echo(f"substrait-spark itself failed, with {type(error).__name__}: {_first_line(error)}", err=True)
    return FAILED


def _error(error: BaseException) -> str:
    return f"Error: {error}"


def _system_error(error: BaseException) -> str:
    if not isinstance(error, OSError) or error.strerror is None:
        return _error(error)
    return f"Error: {error.strerror}: {error.filename}." if error.filename else f"Error: {error.strerror}."


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]


_ENDINGS: tuple[tuple[type[BaseException], int, Callable[[BaseException], str]], ...] = (
    (UnsupportedPlanError, FINDING, str),
    (EngineError, FINDING, _first_line),
    (SubstraitSparkError, FAILED, _error),
    (OSError, FAILED, _system_error),
)
