"""Pairing the rows of two results, as multisets: equal ones, or ones whose floats differ within a tolerance.

All of it is linear in the number of rows, or takes a sort, but for `_most_pairs`, which gets few rows at a time.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from .rows import Float, Row

MOST_IN_A_CHAIN = 256
"""How many rows are paired in the best way where their floats form a chain: each near the next, but not near all.

More of them are paired as they are sorted, so that rows may be told for which another pairing would find a partner.
"""

Positions = list[int]


class Point(NamedTuple):
    """The finite floats of a row, nested ones too, and where it is."""

    floats: tuple[float, ...]
    is_left: bool
    position: int


def close(a: Any, b: Any, tolerance: float | None) -> bool:
    """Whether two values are equal, or differ in their floats alone, by no more than the relative tolerance."""
    if isinstance(a, Float) and isinstance(b, Float) and tolerance is not None:
        return a == b or math.isclose(float(a), float(b), rel_tol=tolerance, abs_tol=0.0)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(close(x, y, tolerance) for x, y in zip(a, b, strict=True))
    return bool(a == b)


def unpaired(left: Sequence[Row], right: Sequence[Row], tolerance: float | None) -> tuple[Positions, Positions]:
    """The positions of the rows on each side that have no partner on the other, in their order."""
    only_left, only_right = _surplus(left, right), _surplus(right, left)
    if tolerance is None or not (only_left and only_right):
        return only_left, only_right
    partnerless: tuple[Positions, Positions] = ([], [])
    for points in _groups(left, right, only_left, only_right):
        for part in _separate(points, tolerance):
            for point in _partnerless(part, tolerance):
                partnerless[0 if point.is_left else 1].append(point.position)
    return sorted(partnerless[0]), sorted(partnerless[1])


def _surplus(rows: Sequence[Row], others: Sequence[Row]) -> Positions:
    """Where the rows are that aren't among the others, or not as often."""
    left = Counter(others)
    positions = []
    for position, row in enumerate(rows):
        if left[row] > 0:
            left[row] -= 1
        else:
            positions.append(position)
    return positions


def _groups(
    left: Sequence[Row], right: Sequence[Row], only_left: Positions, only_right: Positions
) -> Iterator[list[Point]]:
    """The rows that agree in all but their finite floats, where some of them have no equal."""
    in_question = {_without_floats(left[position])[0] for position in only_left}
    in_question |= {_without_floats(right[position])[0] for position in only_right}
    groups: dict[Any, list[Point]] = defaultdict(list)
    for is_left, rows in ((True, left), (False, right)):
        for position, row in enumerate(rows):
            rest, floats = _without_floats(row)
            if rest in in_question:
                groups[rest].append(Point(floats, is_left, position))
    yield from groups.values()


def _without_floats(row: Row) -> tuple[Any, tuple[float, ...]]:
    """A row with a mark in the place of each finite float, and these floats."""
    floats: list[float] = []

    def marked(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(marked, value))
        if isinstance(value, Float) and math.isfinite(number := float(value)):
            floats.append(number)
            return Float
        return value

    return marked(row), tuple(floats)


def _separate(points: list[Point], tolerance: float) -> list[list[Point]]:
    """Parts between which no two rows are close, since a gap lies between them in some float."""
    parts = [points]
    for _ in range(2):  # a part may have gaps that the whole had not
        for place in range(len(points[0].floats)):
            parts = [piece for part in parts for piece in _cut(part, place, tolerance)]
    return parts


def _cut(points: list[Point], place: int, tolerance: float) -> Iterator[list[Point]]:
    points = sorted(points, key=lambda point: point.floats[place])
    start = 0
    for end in range(1, len(points)):
        if not _near(points[end - 1].floats[place], points[end].floats[place], tolerance):
            yield points[start:end]
            start = end
    yield points[start:]


def _near(a: float, b: float, tolerance: float) -> bool:
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=0.0)


def _all_near(a: Point, b: Point, tolerance: float) -> bool:
    return all(_near(x, y, tolerance) for x, y in zip(a.floats, b.floats, strict=True))


def _partnerless(points: list[Point], tolerance: float) -> list[Point]:
    """The rows of a part that find no partner where as many as possible do."""
    left = sorted(point for point in points if point.is_left)
    right = sorted(point for point in points if not point.is_left)
    if not left or not right:
        return points
    if len(points[0].floats) > 1 and len(points) <= MOST_IN_A_CHAIN:
        return _most_pairs(left, right, tolerance)
    return _in_step(left, right, tolerance)


def _in_step(left: list[Point], right: list[Point], tolerance: float) -> list[Point]:
    """Both sides in the order of their floats: of two that aren't close, the smaller has no partner. Best for one float."""
    partnerless = []
    i = j = 0
    while i < len(left) and j < len(right):
        if _all_near(left[i], right[j], tolerance):
            i, j = i + 1, j + 1
        elif left[i].floats <= right[j].floats:
            partnerless.append(left[i])
            i += 1
        else:
            partnerless.append(right[j])
            j += 1
    return partnerless + left[i:] + right[j:]


def _most_pairs(left: list[Point], right: list[Point], tolerance: float) -> list[Point]:
    """Each row of the left looks for a partner, and those before it take another where that makes room. Quadratic."""
    near = [[j for j, other in enumerate(right) if _all_near(point, other, tolerance)] for point in left]
    partner: dict[int, int] = {}

    def finds(i: int, asked: set[int]) -> bool:
        for j in near[i]:
            if j not in asked:
                asked.add(j)
                if j not in partner or finds(partner[j], asked):
                    partner[j] = i
                    return True
        return False

    alone = [point for i, point in enumerate(left) if not finds(i, set())]
    return alone + [point for j, point in enumerate(right) if j not in partner]
