"""Bringing a Java source of this library into a session's JVM, once per JVM: by the compiler that Spark brings, or as kept classes."""

from __future__ import annotations

import importlib.resources
import threading
import uuid
import weakref
from collections.abc import Callable
from typing import Any

from .kept_classes import PLACEHOLDER, java_class, kept_classes, made_here


class JavaClass:
    """A class of ours by its source file, and the one object of it in each JVM."""

    def __init__(
        self,
        package: str,
        name: str,
        arguments: Callable[[], tuple[str, ...]] = tuple,
        after: JavaClass | None = None,
    ) -> None:
        self._package = package
        self.name = name
        self._arguments = arguments
        self._after = after  # a class whose name the source knows
        self._objects: weakref.WeakKeyDictionary[Any, tuple[Any, Any]] = weakref.WeakKeyDictionary()
        """By gateway, the object, and the object of the class that had to be there before."""
        self._bringing = threading.Lock()

    @property
    def source(self) -> str:
        """The text of its source file."""
        return importlib.resources.files(self._package).joinpath(f"{self.name}.java").read_text("utf-8")

    def is_there(self, gateway: Any) -> bool:
        """Whether the JVM behind a gateway has the class."""
        return gateway in self._objects

    def forget(self) -> None:
        """Bring it anew where it is wanted next."""
        self._objects.clear()

    def of(self, gateway: Any) -> Any:
        """The object in the JVM behind a gateway, brought there if it is not yet."""
        with self._bringing:
            known = None if self._after is None else self._after.of(gateway)
            here, after = self._objects.get(gateway, (None, None))
            if here is None or after is not known:
                here = self._brought(gateway, known)
                self._objects[gateway] = here, known
        return here

    def _brought(self, gateway: Any, known: Any) -> Any:
        """A new object of the class. `known` is the object of the class whose name the source knows.

        Each time in a package of a new name, because py4j remembers methods by their class's name: in a JVM that served
        another Python process, or this module before a reload, they would be those of the earlier class.
        """
        source = self.source
        if known is None:
            package = f"substrait_spark_{uuid.uuid4().hex}"
            loader = _context_loader(gateway)
            kept = kept_classes(self.name, made_here(gateway, source), package)
        else:
            package = known.getClass().getName().rpartition(".")[0]
            loader = known.getClass().getClassLoader()
            kept = {}
        if kept:
            loader = java_class(gateway, "org.codehaus.commons.compiler.util.reflect.ByteArrayClassLoader")(
                kept, loader
            )
        else:
            loader = _cooked(loader, source, package).getClassLoader()
        return self._constructed(gateway, loader.loadClass(f"{package}.{self.name}"))

    def _constructed(self, gateway: Any, here: Any) -> Any:
        jvm = gateway.jvm
        given = self._arguments()
        parameters = gateway.new_array(jvm.Class, len(given))
        arguments = gateway.new_array(jvm.Object, len(given))
        for index, argument in enumerate(given):
            parameters[index] = jvm.Class.forName("java.lang.String")
            arguments[index] = argument
        return here.getConstructor(parameters).newInstance(arguments)


def classes_of(gateway: Any, source: str) -> dict[str, bytes]:
    """The class files of a source by their names, in PLACEHOLDER, as the Spark behind a gateway compiles them."""
    return dict(_cooked(_context_loader(gateway), source, PLACEHOLDER).getBytecodes())


def _context_loader(gateway: Any) -> Any:
    return gateway.jvm.Thread.currentThread().getContextClassLoader()


def _cooked(loader: Any, source: str, package: str) -> Any:
    """Janino's compiler, which Spark itself uses for generated code, after it has compiled a source in a package."""
    # By a loader: for the name `org.codehaus` py4j looks for a class in all archives.
    compiler = loader.loadClass("org.codehaus.janino.SimpleCompiler").newInstance()
    compiler.setParentClassLoader(loader)
    compiler.cook(source.replace("package substrait_spark;", f"package {package};", 1))
    return compiler
