"""A pool of processes that run an engine, each of which is replaced when it ends, hangs, or takes too much memory."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import monotonic
from typing import Any, Generic, TypeVar

import pyarrow as pa

from ...errors import SubstraitSparkError
from .judging import ENDED, HUNG, Answer, Question
from .worker import Run, serve

Tag = TypeVar("Tag")

START = 300.0
"""Seconds that an engine may take to be loaded."""

_CONTEXT = multiprocessing.get_context("spawn")


class _Process(Generic[Tag]):
    """A process that is asked one question at a time."""

    def __init__(self, engine: Run | str | Path, memory: int | None) -> None:
        self.connection: Connection
        self.connection, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=serve, args=(engine, memory, theirs), daemon=True)
        self._process.start()
        theirs.close()
        self.tag: Tag | None = None
        self.deadline = monotonic() + START
        self.is_ready = False

    def ask(self, tag: Tag, question: Question, seconds: float) -> None:
        """Ask a question, which `tag` stands for."""
        self.tag, self.deadline = tag, monotonic() + seconds
        self.connection.send((question.plan, question.tables))

    def end(self) -> str:
        """End the process; returns how it ended by itself, if it did."""
        self._process.join(0.5)
        code = self._process.exitcode
        self._process.kill()
        self._process.join()
        self.connection.close()
        return "" if code is None else f"the process ended with code {code}"


class Pool(Generic[Tag]):
    """Runs questions in several processes; `seconds` and `memory`, in bytes, are what each question may take."""

    def __init__(self, engine: Run | str | Path, processes: int, seconds: float, memory: int | None) -> None:
        self._engine = engine
        self._count = processes
        self._seconds = seconds
        self._memory = memory

    def answers(self, asked: Iterable[tuple[Tag, Question]]) -> Iterator[tuple[Tag, Answer]]:
        """The answers, as they come. Raises SubstraitSparkError where the engine can't be loaded."""
        questions = iter(asked)
        running: list[_Process[Tag]] = []
        try:
            following = next(questions, None)
            while following is not None or running:
                while following is not None and len(running) < self._count:
                    running.append(_Process(self._engine, self._memory))
                ready = wait([each.connection for each in running], timeout=0.2)
                for process in list(running):
                    if process.connection in ready or monotonic() > process.deadline:
                        answer = self._heard(process)
                        if answer is not None and process.tag is not None:
                            yield process.tag, answer
                        if answer is not None and answer.end:
                            process.end()
                            running.remove(process)
                        elif following is not None:
                            process.ask(*following, self._seconds)
                            following = next(questions, None)
                        else:
                            process.end()
                            running.remove(process)
        finally:
            for process in running:
                process.end()

    def _heard(self, process: _Process[Tag]) -> Answer | None:
        """What a process has to say; None where it says that it is ready. Raises SubstraitSparkError where the engine can't be loaded."""
        try:
            if not process.connection.poll():
                seconds = self._seconds if process.is_ready else START
                return _without_answer(process, f"no answer in {seconds:g} seconds", HUNG)
            rows, error, failed = process.connection.recv()
        except (EOFError, OSError):
            return _without_answer(process, process.end() or "the process ended", ENDED)
        if failed:
            raise SubstraitSparkError(f"There is nothing to measure: {error}.")
        if not process.is_ready:
            process.is_ready = True
            return None
        return Answer(None if rows is None else pa.ipc.open_stream(rows).read_all(), error)


def _without_answer(process: _Process[Any], error: str, end: str) -> Answer:
    """How a process ended or hung at a question; an engine that does so while it is loaded would do it again."""
    if not process.is_ready:
        raise SubstraitSparkError(f"There is nothing to measure: the engine can't be loaded: {error}.")
    return Answer(None, error, end)
