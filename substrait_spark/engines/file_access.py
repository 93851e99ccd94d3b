"""Which files a plan may have opened on this machine: its paths are what someone else wrote."""

from __future__ import annotations

import stat
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ..errors import InvalidPlanError, kind_of

Folders = tuple[Path, ...] | None
"""The folders that files must be in, without symbolic links; None where they may be anywhere."""


def folders(files_under: Iterable[str | Path] | None) -> Folders:
    """The folders that a caller allows. Raises TypeError for what is no list of them."""
    if files_under is None:
        return None
    if isinstance(files_under, (str, bytes)) or not isinstance(files_under, Iterable):
        raise TypeError(f"files_under must be a list of folders, not {kind_of(files_under)}.")
    return tuple(Path(folder).resolve() for folder in files_under)


def local_path(uri: str) -> Path:
    """The absolute path that a file URI stands for. Raises InvalidPlanError for any other."""
    try:
        parsed = urlsplit(uri)
    except ValueError as error:
        raise InvalidPlanError(f"{uri!r} is no URI: {error}.") from None
    if parsed.scheme != "file":
        raise InvalidPlanError(f"Only local files can be read here, not {parsed.scheme or 'relative'}: ones.")
    if parsed.netloc:
        raise InvalidPlanError(f"{uri!r} is a file of the host {parsed.netloc!r}, and only this machine's are read.")
    if "?" in uri or "#" in uri:
        raise InvalidPlanError(f"{uri!r} has a query or a fragment, which mean nothing for files.")
    path = unquote(parsed.path, errors="surrogateescape")
    if not path.startswith("/") or "\0" in path:
        raise InvalidPlanError(f"{uri!r} is no absolute path.")
    return Path(path)


def allowed(path: Path, under: Folders) -> Path:
    """The path as it is to be opened: where folders are given, without symbolic links. Raises InvalidPlanError outside them."""
    if under is None:
        return path
    try:
        resolved = path.resolve()
    except (OSError, RuntimeError) as error:
        raise InvalidPlanError(f"{path} can't be followed: {error}.") from None
    if not any(resolved.is_relative_to(folder) for folder in under):
        raise InvalidPlanError(f"{path} is in none of the folders that files_under allows.")
    return resolved


def regular(path: Path) -> Path:
    """The path of a regular file. Raises InvalidPlanError for a device, a pipe or a folder, whose bytes may never end."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise InvalidPlanError(f"There is no file {path}.") from None
    except (OSError, ValueError) as error:
        raise InvalidPlanError(f"{str(path)!r} can't be read: {error}.") from None
    if not stat.S_ISREG(mode):
        raise InvalidPlanError(f"{path} is no regular file, and nothing else is read.")
    return path


def missing(path: Path) -> bool:
    """Whether there is nothing of that name; not where nobody can say."""
    try:
        return not path.exists()
    except OSError:
        return False


def require_regular_inside(folder: Path) -> None:
    """Raises InvalidPlanError where a folder, if it is one, holds what is neither a regular file nor a folder."""
    try:
        others = [path for path in folder.iterdir() if path.exists() and not (path.is_file() or path.is_dir())]
    except OSError:
        return
    for path in others:
        regular(path)
