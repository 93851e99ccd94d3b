"""Measures an engine: asks it the corpus, and writes what it takes and answers right as a dialect file, with a page on the rest."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from . import dialect_file, page, tpch
from .case import Case
from .corpus import cases
from .findings import Findings
from .judging import EXACT, Judgement, Question, is_asked, judged, questions, worst
from .outcome import FILE, Outcome, Outcomes, read
from .pool import Pool
from .reader import in_dialect, in_expressions, in_messages, stages
from .recorded import Truth, truths
from .worker import Run

MEMORY = 4 * 2**30
"""Bytes that a question may take."""

SECONDS = 20.0
"""How long a question may take."""

DIALECT, MARKDOWN, HTML = "dialect.yaml", "measured.md", "measured.html"

DEFECTS = "defects"
"""The section of the corpus that is asked last."""

Tell = Callable[[str], None]


class Measurement(NamedTuple):
    """What was measured, and where it is written."""

    folder: Path
    tried: int
    exact: int
    findings: Findings

    @property
    def dialect(self) -> Path:
        """The dialect file."""
        return self.folder / DIALECT

    def __str__(self) -> str:
        return f"{self.exact:,} of {self.tried:,} cases are as in Spark; {self.dialect} has what is always so, {MARKDOWN} the rest."


def measure(
    run: Run | str | Path,
    folder: str | Path,
    *,
    name: str = "",
    only: str = "",
    since: str | Path | None = None,
    seconds: float = SECONDS,
    memory: int | None = MEMORY,
    processes: int | None = None,
    tell: Tell | None = None,
) -> Measurement:
    """Ask an engine the corpus, and write `dialect.yaml`, `measured.md` and `measured.html` into a folder.

    `run` is a Python file that has a function `run(plan: bytes, tables: dict[str, pyarrow.Table]) -> pyarrow.Table`, or such a
    function of a module, which other processes import. It is asked in as many `processes` as there are cores, each question for so
    many `seconds` and bytes of `memory`, which is for systems that limit it; None is for engines that take address space as they
    like, such as a JVM.

    What was measured already in that folder stays as it is: a measurement that was ended goes on. `only` is how the names of
    cases begin that are measured; defects are asked in forms of all else that was measured, and so again once that is more.
    `since` is a file of outcomes of an earlier release: what wasn't exact is measured anew, and of all else one case of each
    subject, and the others where that has changed.

    Raises SubstraitSparkError where there is no such function.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    outcomes = Outcomes(folder / FILE)
    known = truths()
    corpus = [case for case in cases() if case.name in known and is_asked(case, known[case.name])]
    if since is not None:
        _take_over(corpus, known, outcomes, {outcome.case: outcome for outcome in read(Path(since))})
    if not _is_whole(corpus, outcomes):
        outcomes.forget(case.name for case in corpus if case.subject.section == DEFECTS)
    wanted = [case for case in corpus if case.name.startswith(only) and not _is_known(case, known, outcomes)]
    pool: Pool[tuple[int, int]] = Pool(run, processes or os.cpu_count() or 1, seconds, memory)
    asked = stages(wanted)
    _ask(pool, asked.files, known, outcomes, tell or _silent)
    found = dialect_file.abilities(Findings(corpus, known, outcomes.by_case))
    _ask(pool, [in_messages(case, found) for case in asked.messages], known, outcomes, tell or _silent)
    found = dialect_file.abilities(Findings(corpus, known, outcomes.by_case))
    _ask(pool, [in_messages(case, found) for case in asked.windows], known, outcomes, tell or _silent)
    told = Findings(corpus, known, outcomes.by_case)
    last = [in_expressions(in_messages(case, found), told) for case in asked.others]
    _ask(pool, last, known, outcomes, tell or _silent)
    shown = name or (Path(run).stem if isinstance(run, str | Path) else run.__module__)
    dialect = dialect_file.dialect(shown, Findings(corpus, known, outcomes.by_case))
    lowered = filter(None, (in_dialect(case, dialect) for case in asked.defects))
    _ask(pool, list(lowered), known, outcomes, tell or _silent)
    findings = Findings(corpus, known, outcomes.by_case)
    exact = sum(each.is_exact for each in findings.tried)
    made = dialect_file.document(shown, findings)
    (folder / DIALECT).write_text(dialect_file.text(made, NOTE), "utf-8")
    # A dialect file of a part doesn't list what wasn't tried, which says that the engine has it.
    of_tpch = tpch.lacking(folder / DIALECT) if _is_whole(corpus, outcomes) else None
    (folder / MARKDOWN).write_text(page.markdown(shown, findings, of_tpch), "utf-8")
    (folder / HTML).write_text(page.html(shown, findings, of_tpch), "utf-8")
    return Measurement(folder, len(findings.tried), exact, findings)


NOTE = f"""Written by `substrait-spark measure`: what has Spark's rows in all that was tried. {MARKDOWN} tells of the rest.
What measuring can't know is written by hand: docs/how-to/add-an-engine.md."""


def _silent(_: str) -> None:
    """Tell nobody."""


def _is_whole(corpus: Sequence[Case], outcomes: Outcomes) -> bool:
    """Whether everything was tried but defects, which come last."""
    return all(case.name in outcomes.by_case for case in corpus if case.subject.section != DEFECTS)


def _is_known(case: Case, known: Mapping[str, Truth], outcomes: Outcomes) -> bool:
    outcome = outcomes.by_case.get(case.name)
    return outcome is not None and outcome.digest == known[case.name].digest


def _take_over(
    corpus: Sequence[Case], known: Mapping[str, Truth], outcomes: Outcomes, earlier: Mapping[str, Outcome]
) -> None:
    """Keep what was exact in an earlier release, but for the first case of each subject."""
    seen = set()
    for case in corpus:
        if case.subject not in seen:
            seen.add(case.subject)
        elif _was_exact(earlier.get(case.name), known[case.name]) and case.name not in outcomes.by_case:
            outcomes.add(earlier[case.name])


def _was_exact(outcome: Outcome | None, truth: Truth) -> bool:
    return outcome is not None and outcome.verdict == EXACT and outcome.digest == truth.digest


def _ask(
    pool: Pool[tuple[int, int]], wanted: Sequence[Case], known: Mapping[str, Truth], outcomes: Outcomes, tell: Tell
) -> None:
    """Ask all questions of some cases, and keep what came of each case once all of its are answered."""
    asked: dict[int, list[Question]] = {}
    answered: dict[int, dict[int, Judgement]] = defaultdict(dict)

    def all_questions() -> Iterator[tuple[tuple[int, int], Question]]:
        for number, case in enumerate(wanted):
            asked[number] = list(questions(case, known[case.name]))
            yield from (((number, part), question) for part, question in enumerate(asked[number]))

    done, start = count(1), monotonic()
    for (number, part), answer in pool.answers(all_questions()):
        case = wanted[number]
        answered[number][part] = judged(case, asked[number][part], answer)
        if len(answered[number]) == len(asked[number]):
            parts = [answered[number][n] for n in range(len(asked[number]))]
            raised = any(part.verdict == EXACT and part.detail for part in parts)
            outcomes.add(Outcome(case.name, known[case.name].digest, *worst(parts), raised))
            del asked[number], answered[number]
            tell(_progress(next(done), len(wanted), monotonic() - start))


def _progress(done: int, of: int, seconds: float) -> str:
    left = seconds / done * (of - done)
    return f"{done:,} of {of:,} cases, {_minutes(left)} left"


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} seconds" if seconds < 100 else f"{seconds / 60:.0f} minutes"
