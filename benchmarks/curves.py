"""Curves in one frame, as a picture that needs no script and no font of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

WIDTH, HEIGHT = 760, 330
LEFT, RIGHT, TOP, BOTTOM = 64, 190, 34, 44
COLORS = ("#2563eb", "#dc2626", "#059669", "#9333ea", "#d97706", "#0891b2")

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Axis:
    """From where to where, and at which values there are marks; a logarithmic one counts in powers of ten."""

    title: str
    low: float
    high: float
    marks: tuple[float, ...]
    logarithmic: bool = False

    @classmethod
    def of_powers(cls, title: str, values: Sequence[float]) -> Axis:
        low, high = floor(log10(min(values))), ceil(log10(max(values)))
        return cls(title, 10.0**low, 10.0**high, tuple(10.0**power for power in range(low, high + 1)), True)

    def share(self, value: float) -> float:
        """How far along the axis a value lies."""
        low, high, value = (log10(one) if self.logarithmic else one for one in (self.low, self.high, value))
        return (value - low) / (high - low)

    def text(self, value: float) -> str:
        if self.logarithmic and value >= 1_000:
            return f"{value / 1e6:g} M" if value >= 1e6 else f"{value / 1e3:g} k"
        return f"{value:g}"


def svg(title: str, x: Axis, y: Axis, curves: Mapping[str, Points]) -> str:
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'font-size="12" fill="#222" role="img" aria-label="{escape(title)}">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="18" font-weight="bold">{escape(title)}</text>',
        *_frame(x, y),
    ]
    for number, (name, points) in enumerate(curves.items()):
        parts += _curve(name, points, x, y, number)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _place(x: Axis, y: Axis, at: tuple[float, float]) -> tuple[float, float]:
    wide, high = WIDTH - RIGHT - LEFT, HEIGHT - BOTTOM - TOP
    return LEFT + wide * x.share(at[0]), HEIGHT - BOTTOM - high * y.share(at[1])


def _frame(x: Axis, y: Axis) -> Iterator[str]:
    for mark in y.marks:
        _, at = _place(x, y, (x.low, mark))
        yield f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
        yield f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end" fill="#666">{y.text(mark)}</text>'
    for mark in x.marks:
        at, _ = _place(x, y, (mark, y.low))
        yield f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle" fill="#666">{x.text(mark)}</text>'
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text x="{middle}" y="{HEIGHT - 8}" text-anchor="middle" fill="#666">{escape(x.title)}</text>'
    yield f'<text x="{LEFT}" y="{TOP - 4}" fill="#666">{escape(y.title)}</text>'


def _curve(name: str, points: Points, x: Axis, y: Axis, number: int) -> Iterator[str]:
    color = COLORS[number % len(COLORS)]
    places = [_place(x, y, one) for one in points]
    line = " ".join(f"{left:.1f},{top:.1f}" for left, top in places)
    yield f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2"/>'
    for left, top in places:
        yield f'<circle cx="{left:.1f}" cy="{top:.1f}" r="2.5" fill="{color}"/>'
    at = TOP + 12 + number * 18
    yield f'<path d="M{WIDTH - RIGHT + 12} {at - 4}h16" stroke="{color}" stroke-width="3"/>'
    yield f'<text x="{WIDTH - RIGHT + 34}" y="{at}">{escape(name)}</text>'
