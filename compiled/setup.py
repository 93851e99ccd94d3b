"""Compiles modules of substrait_spark by mypyc, from the sources beside this folder, into a distribution of their own.

It has nothing but the compiled modules, which Python finds before the sources of the same name, and the digests of
these sources, by which `substrait_spark/compiled.py` knows whether they belong together.
"""

from __future__ import annotations

import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

from mypyc.build import mypycify
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

PACKAGES = ("algebra", "expr", "lowering", "rel", "rewrites")

MODULES = (
    *("catalyst/document", "catalyst/locations", "catalyst/tree", "catalyst/types"),
    *("functions/aggregate", "functions/arithmetic", "functions/cast", "functions/collation", "functions/comparison"),
    *("functions/dispatch", "functions/measure", "functions/table", "functions/user_error"),
)
"""Others in which conversions spend their time, and those whose classes inherit from compiled ones, as these must be, too."""

PURE = {
    "algebra/types": "its values are found again by weak references",
    "algebra/relation": "its classes tell their slots by __init_subclass__",
    "algebra/flat_map": "its classes inherit from those of algebra/relation",
    "algebra/recursion": "its classes inherit from those of algebra/relation",
    "algebra/write": "its classes inherit from those of algebra/relation",
}
"""Modules of these packages that mypyc doesn't take, and why."""

PACKAGE = Path(__file__).resolve().parents[1] / "substrait_spark"
(VERSION,) = re.findall(r'^__version__ = "(.+)"$', (PACKAGE / "__init__.py").read_text("utf-8"), re.MULTILINE)


def compiled_modules() -> list[Path]:
    """The sources of what is compiled."""
    found = [path for package in PACKAGES for path in (PACKAGE / package).glob("*.py") if path.stem != "__init__"]
    pure = [PACKAGE / f"{name}.py" for name in PURE]
    return sorted({*found, *(PACKAGE / f"{name}.py" for name in MODULES)}.difference(pure))


class BuildWithDigests(build_ext):
    """Builds the compiled modules, and the file of the digests of their sources."""

    def build_extensions(self) -> None:
        """Has the C files compiled at the same time, which setuptools compiles one after the other."""
        compile_all = self.compiler.compile
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            self.compiler.compile = lambda sources, **options: [
                made for each in pool.map(lambda source: compile_all([source], **options), sources) for made in each
            ]
            super().build_extensions()

    def run(self) -> None:
        super().run()
        lines = [
            f"{sha256(path.read_bytes()).hexdigest()}  {path.relative_to(PACKAGE).as_posix()}\n"
            for path in compiled_modules()
        ]
        folder = Path(self.build_lib) / PACKAGE.name
        (folder / "compiled.sha256").write_text("".join(lines), "utf-8")


def extensions() -> list[Extension]:
    """What there is to build. To ask for the distribution's metadata builds nothing."""
    if "bdist_wheel" not in sys.argv:
        return []
    sources = [str(path) for path in compiled_modules()]
    extensions: list[Extension] = mypycify(
        ["--config-file", "mypy.ini", *sources],
        opt_level=os.environ.get("SUBSTRAIT_SPARK_OPT_LEVEL", "2"),
        debug_level="0",
        multi_file=True,
        group_name="substrait_spark",
    )
    return extensions


if __name__ == "__main__":
    setup(
        version=VERSION,
        install_requires=[f"substrait-spark=={VERSION}"],
        packages=[],
        ext_modules=extensions(),
        cmdclass={"build_ext": BuildWithDigests},
    )
