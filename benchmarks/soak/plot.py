"""Samples as a picture: one panel above the other, with time in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, PANEL_HEIGHT, GAP = 820, 150, 44
LEFT, RIGHT, TOP = 64, 190, 28
COLORS = ("#2563eb", "#dc2626", "#059669", "#9333ea", "#d97706")


@dataclass(frozen=True, slots=True)
class Line:
    name: str
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Panel:
    title: str
    lines: tuple[Line, ...]


def svg(minutes: Sequence[float], panels: Sequence[Panel]) -> str:
    """A picture that needs no script and no font of its own."""
    height = TOP + len(panels) * (PANEL_HEIGHT + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
        'font-size="12" fill="#222">',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
    ]
    for number, panel in enumerate(panels):
        parts += _panel(minutes, panel, TOP + number * (PANEL_HEIGHT + GAP), is_last=number == len(panels) - 1)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(minutes: Sequence[float], panel: Panel, top: float, *, is_last: bool) -> Iterator[str]:
    right, bottom = WIDTH - RIGHT, top + PANEL_HEIGHT
    end = max(minutes[-1], 1e-9)
    most = max((max(line.values) for line in panel.lines), default=0)
    step = round_step(most)
    ceiling = step * max(1, -(-most // step))

    def x(minute: float) -> float:
        return LEFT + (right - LEFT) * minute / end

    def y(value: float) -> float:
        return bottom - PANEL_HEIGHT * value / ceiling

    yield f'<text x="{LEFT}" y="{top - 8}" font-weight="bold">{escape(panel.title)}</text>'
    for number in range(round(ceiling / step) + 1):
        at = y(number * step)
        yield f'<path d="M{LEFT} {at:.1f}H{right}" stroke="#ddd"/>'
        yield f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end" fill="#666">{number * step:g}</text>'
    every = round_step(end)
    for number in range(int(end // every) + 1):
        label = f"{number * every:g}" + (" min" if is_last else "")
        yield (f'<text x="{x(number * every):.1f}" y="{bottom + 16}" text-anchor="middle" fill="#666">{label}</text>')
    for number, line in enumerate(panel.lines):
        color = COLORS[number % len(COLORS)]
        points = " ".join(f"{x(minute):.1f},{y(value):.1f}" for minute, value in zip(minutes, line.values, strict=True))
        yield f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="1.5"/>'
        at = top + 12 + number * 17
        yield f'<path d="M{right + 10} {at - 4}h16" stroke="{color}" stroke-width="3"/>'
        yield f'<text x="{right + 32}" y="{at}">{escape(line.name)}</text>'


def round_step(most: float) -> float:
    """A step of 1, 2 or 5 times a power of ten that goes into a range four to ten times.

    >>> round_step(30), round_step(870), round_step(1.3)
    (5.0, 200.0, 0.2)
    """
    if most <= 0:
        return 1.0
    step = 10.0**-9
    for _ in range(20):
        for times in (1, 2, 5):
            if most / (step * times) <= 7:
                return round(step * times, 9)
        step *= 10
    return step
