"""A PostgreSQL server of a test's own, where the machine has PostgreSQL."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

LOCALE = "en-US"
"""Of the database's texts, by ICU: it orders them otherwise than by their bytes."""


@contextmanager
def server() -> Iterator[str]:
    """The URI of a server with a folder and a socket of its own; the test is skipped where PostgreSQL is missing."""
    found = shutil.which("pg_ctl")
    if found is None:
        pytest.skip(
            "needs PostgreSQL's pg_ctl on the PATH (apt install postgresql; it is in /usr/lib/postgresql/*/bin)"
        )
    programs = Path(found).resolve().parent
    user = _other_user() if os.geteuid() == 0 else None
    # Not below pytest's folder: names of sockets have 107 bytes at most, and the server's user must reach it.
    folder = Path(tempfile.mkdtemp(prefix="postgresql-"))
    if user:
        shutil.chown(folder, user)

    def run(program: str, *arguments: str) -> None:
        command = [str(programs / program), "-D", str(folder / "data"), *arguments]
        subprocess.run(command, check=True, user=user, cwd=folder, stdout=subprocess.DEVNULL)

    try:
        run("initdb", "-A", "trust", "-U", "tests", "-E", "UTF8", "--locale-provider=icu", f"--icu-locale={LOCALE}")
        run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", f"-k {folder} -c listen_addresses= -c fsync=off", "start")
        try:
            yield f"postgresql:///postgres?host={folder}&user=tests"
        finally:
            run("pg_ctl", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


def _other_user() -> str:
    """Who runs the server in the place of root, which it refuses."""
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        pytest.skip("PostgreSQL doesn't run as root, and there is no user postgres")
