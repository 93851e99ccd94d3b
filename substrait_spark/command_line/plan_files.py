"""Plans and output in files, on stdin and on stdout."""

from __future__ import annotations

import re
import sys
from codecs import BOM_UTF8
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import click
from google.protobuf import json_format
from google.protobuf.message import DecodeError, Message
from substrait.extended_expression_pb2 import ExtendedExpression
from substrait.plan_pb2 import Plan

from ..algebra import extension_messages as _  # noqa: F401 - JSON needs to know our extension relations
from ..explain import explain
from ..statements.captured import CapturedQuery
from .foreign_files import described

FORMATS = ("binary", "json", "text")
SUFFIXES = {".json": "json", ".txt": "text"}
"""Which form a file is written in by its name, where that isn't stated; others are binary."""

CAPTURED = re.compile(r"\d{3,}-[\w-]+\.(plan|txt)")
"""The names of files with captured queries."""

TEXT = b"substrait plan text "
"""How the text of a plan begins."""

NO_MESSAGE = (DecodeError, json_format.ParseError, UnicodeDecodeError, RecursionError)
"""What is raised for what holds no message."""

Kind = TypeVar("Kind", bound=Message)


def read_plan(path: str) -> Plan:
    """The plan in a file, binary or JSON, or on stdin by the name `-`."""
    return _plan_in(content(path), path)


def read_message(path: str) -> Plan | ExtendedExpression:
    """The plan, or the extended expression, in a file or on stdin."""
    held = content(path)
    return _expressions_in(held) or _plan_in(held, path)


def _expressions_in(held: bytes) -> ExtendedExpression | None:
    """The extended expression that is held; None for anything else. A plan has its version in another field."""
    message = _parsed(held, ExtendedExpression())
    if message is None or not (
        message.HasField("version") and message.HasField("base_schema") and message.referred_expr
    ):
        return None
    plan = _parsed(held, Plan())
    return message if plan is None or not plan.HasField("version") else None


def _parsed(held: bytes, message: Kind) -> Kind | None:
    """The message of a kind that is held; None where it is none."""
    try:
        _parse(held, message)
    except NO_MESSAGE:
        return None
    return message


def _parse(held: bytes, message: Message) -> None:
    if held.removeprefix(BOM_UTF8).lstrip()[:1] == b"{":
        json_format.Parse(held.decode("utf-8-sig"), message)
    else:
        message.ParseFromString(held)


def _plan_in(held: bytes, path: str) -> Plan:
    if held.startswith(TEXT):
        raise click.ClickException(
            f"{file_name(path)} is the text of a plan, which can't be read back: export with --format binary or json."
        )
    plan = Plan()
    try:
        _parse(held, plan)
    except NO_MESSAGE as error:
        raise _no_plan(path, held, error) from error
    if not plan.relations:
        raise _no_plan(path, held, None)
    return plan


def _no_plan(path: str, held: bytes, problem: Exception | None) -> click.ClickException:
    return click.ClickException(f"{file_name(path)} holds no Substrait plan: {described(held, problem)}.")


def content(path: str) -> bytes:
    """What is in a file, or comes from stdin by the name `-`."""
    if path != "-":
        return Path(path).read_bytes()
    if sys.stdin is None:
        raise click.ClickException("There is no stdin to read from: it is closed.")
    return sys.stdin.buffer.read()


def file_name(path: str) -> str:
    """A file as messages call it."""
    return "stdin" if path == "-" else path


def form_of(output: str, stated: str | None) -> str:
    """The form to write a plan in: as stated, or else by the file's name; on stdout text."""
    if stated is not None:
        return stated
    return "text" if output == "-" else SUFFIXES.get(Path(output).suffix, "binary")


def write_plan(plan: Plan, output: str, form: str) -> None:
    """Write a plan to a file, or to stdout by the name `-`."""
    if form == "text":
        content = explain(plan).rstrip("\n").encode("utf-8") + b"\n"
    elif form == "json":
        content = json_format.MessageToJson(plan, ensure_ascii=False).encode("utf-8") + b"\n"
    else:
        content = plan.SerializeToString(deterministic=True)
    write(content, output)


def write_captured(queries: Sequence[CapturedQuery], folder: str) -> None:
    """Write the plan and the text of each query into a folder, numbered; what an earlier call wrote there goes."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for earlier in place.iterdir():
        if CAPTURED.fullmatch(earlier.name):
            earlier.unlink()
    for number, query in enumerate(queries, 1):
        name = f"{number:03}-{query.action}"
        text = query.head + "\n"
        if query.plan is not None:
            write_plan(query.plan, str(place / f"{name}.plan"), "binary")
            text += "\n" + explain(query.plan).rstrip("\n") + "\n"
        write(text.encode("utf-8"), str(place / f"{name}.txt"))


def write(content: bytes, output: str) -> None:
    """Write bytes to a file, or to stdout by the name `-`."""
    if output != "-":
        Path(output).write_bytes(content)
        return
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
