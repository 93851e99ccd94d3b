"""Which folders of files are tables, whose log says which of the files are live."""

from __future__ import annotations

from pathlib import Path


def table_format(path: Path) -> str | None:
    """The name of the format of the table that a folder, a partition's folder or a file belongs to; None for mere files."""
    for folder in (path, *path.parents):
        if (folder / "_delta_log").exists():
            return "Delta"
        if (folder / ".hoodie").exists():
            return "Hudi"
        if _is_iceberg(folder.parent if folder.name == "data" else folder):
            return "Iceberg"
        if "=" not in folder.name and "." not in folder.name:
            break
    return None


def _is_iceberg(folder: Path) -> bool:
    return any((folder / "metadata").glob("*.metadata.json"))
