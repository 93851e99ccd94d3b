"""Writes what lake tables become, which `make lakes` tests, into docs/reference/sources.md."""

from lake_page import PAGE, written

PAGE.write_text(written(), "utf-8")
