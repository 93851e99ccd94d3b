"""Compiling a Java source of this library in a session's JVM: once per JVM, with the compiler that Spark brings."""

from __future__ import annotations

import importlib.resources
import threading
import uuid
import weakref
from collections.abc import Callable
from typing import Any


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
        self._name = name
        self._arguments = arguments
        self._after = after  # a class whose name the source knows
        self._objects: weakref.WeakKeyDictionary[Any, tuple[Any, Any]] = weakref.WeakKeyDictionary()
        """By gateway, the object, and the object of the class that had to be compiled before."""
        self._compiling = threading.Lock()

    def is_compiled(self, gateway: Any) -> bool:
        """Whether the JVM behind a gateway has the class."""
        return gateway in self._objects

    def forget(self) -> None:
        """Compile it anew where it is wanted next."""
        self._objects.clear()

    def of(self, gateway: Any) -> Any:
        """The object in the JVM behind a gateway, compiled if it is not yet."""
        with self._compiling:
            known = None if self._after is None else self._after.of(gateway)
            compiled, after = self._objects.get(gateway, (None, None))
            if compiled is None or after is not known:
                compiled = self._compile(gateway, known)
                self._objects[gateway] = compiled, known
        return compiled

    def _compile(self, gateway: Any, known: Any) -> Any:
        """Compile the class with Janino, which Spark itself uses for generated code.

        Each time in a package of a new name, because py4j remembers methods by their class's name: in a JVM that served
        another Python process, or this module before a reload, they would be those of the earlier class. `known` is the
        object of the class whose name the source knows.
        """
        source = importlib.resources.files(self._package).joinpath(f"{self._name}.java").read_text("utf-8")
        # Classes by the names that py4j imports, or by a loader: for `org.codehaus` it looks for a class in all archives.
        jvm = gateway.jvm
        if known is None:
            package = f"substrait_spark_{uuid.uuid4().hex}"
            loader = jvm.Thread.currentThread().getContextClassLoader()
        else:
            package = known.getClass().getName().rpartition(".")[0]
            loader = known.getClass().getClassLoader()
        compiler = loader.loadClass("org.codehaus.janino.SimpleCompiler").newInstance()
        compiler.setParentClassLoader(loader)
        compiler.cook(source.replace("package substrait_spark;", f"package {package};", 1))
        compiled = compiler.getClassLoader().loadClass(f"{package}.{self._name}")
        given = self._arguments()
        parameters = gateway.new_array(jvm.Class, len(given))
        arguments = gateway.new_array(jvm.Object, len(given))
        for index, argument in enumerate(given):
            parameters[index] = jvm.Class.forName("java.lang.String")
            arguments[index] = argument
        return compiled.getConstructor(parameters).newInstance(arguments)
