"""Matches as compact JSON: names and shared events are stored once, times as offsets from the earliest one.

Integers that a browser cannot represent exactly, and floats that JSON cannot represent, become text.
"""

import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Generic, TypeVar

from inkling.report.data import CurveRow, MatchRow, MemberRow, ReportData, Scalar, SegmentsRow

LARGEST_EXACT_INTEGER = 2**53 - 1
LONGEST_TEXT = 2_000

JsonRow = list[object]
Name = TypeVar("Name", bound=Hashable)


def payload_json(data: ReportData) -> str:
    """The payload as JSON that is safe between `<script>` tags."""
    text = json.dumps(page_payload(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for unsafe in "<>&\u2028\u2029":
        text = text.replace(unsafe, f"\\u{ord(unsafe):04x}")
    return text


def page_payload(data: ReportData) -> dict[str, object]:
    """The data that the script of the page reads: tables of names, and rows with indexes into them."""
    origin = min((match.start for match in data.matches), default=0)
    writer = _RowWriter(origin)
    for name in data.event_names:
        writer.events.position(name)
    matches = [writer.match_row(match) for match in data.matches]
    related = {index: writer.related_row(match) for index, match in enumerate(data.matches) if match.related}
    return {
        "timeKind": data.time_kind,
        "tickMicros": data.tick_us,
        "origin": str(origin),
        "events": writer.events.names,
        "keys": writer.keys.names,
        "streams": writer.streams.names,
        "methods": writer.methods.names,
        "shapes": [list(shape) for shape in writer.shapes.names],
        "members": writer.members,
        "matches": matches,
        "hasUncertainty": data.has_uncertainty,
        "lines": writer.lines,
        "related": related,
        "curves": [writer.curve_row(curve) for curve in data.curves],
        "examined": {
            index: writer.examined_row(match)
            for index, match in enumerate(data.matches)
            if match.starts or match.ends or match.influences
        },
    }


def json_scalar(value: object) -> Scalar:
    """The value in a form that a browser represents exactly.

    Examples
    --------
    >>> json_scalar(2**60), json_scalar(float("inf")), json_scalar(True)
    ('1152921504606846976', 'inf', True)
    """
    match value:
        case None | bool():
            return value
        case str():
            return _shortened(value)
        case Integral():
            whole = int(value)
            return whole if abs(whole) <= LARGEST_EXACT_INTEGER else str(whole)
        case Real():
            real = float(value)
            return real if abs(real) < float("inf") else str(real)
        case _:
            return _shortened(str(value))


def _shortened(text: str) -> str:
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{text[:LONGEST_TEXT]}… ({len(text):,} characters)"


def _imprecision(member: MemberRow) -> int | list[float]:
    """0 for an exact time, 1 for a uniform distribution, else weights scaled to a maximum of 1."""
    if not member.weights:
        return int(member.imprecise)
    most = max(member.weights)
    return [round(weight / most, 3) for weight in member.weights]


@dataclass(slots=True)
class _NameTable(Generic[Name]):
    """Distinct names in order of first use; rows have the index instead of the name."""

    names: list[Name] = field(default_factory=list)
    _positions: dict[Name, int] = field(default_factory=dict)

    def position(self, name: Name) -> int:
        if name not in self._positions:
            self._positions[name] = len(self.names)
            self.names.append(name)
        return self._positions[name]


@dataclass(slots=True)
class _RowWriter:
    """Converts matches to rows, and collects the names and events that they share."""

    origin: int
    events: _NameTable[str] = field(default_factory=_NameTable)
    keys: _NameTable[str] = field(default_factory=_NameTable)
    streams: _NameTable[str] = field(default_factory=_NameTable)
    methods: _NameTable[str] = field(default_factory=_NameTable)
    shapes: _NameTable[tuple[str, ...]] = field(default_factory=_NameTable)
    members: list[JsonRow] = field(default_factory=list)
    lines: list[JsonRow] = field(default_factory=list)
    _line_positions: dict[SegmentsRow, int] = field(default_factory=dict)
    _member_positions: dict[str, int] = field(default_factory=dict)

    def match_row(self, match: MatchRow) -> JsonRow:
        member_ids = tuple(member.id for member in match.members)
        lineage = None if match.lineage == member_ids else [json_scalar(event_id) for event_id in match.lineage]
        return [
            self.events.position(match.event),
            self.keys.position(_shortened(match.key)),
            match.start - self.origin,
            match.end - self.origin,
            None if match.detected_at is None else match.detected_at - self.origin,
            min(max(float(match.probability), 0.0), 1.0),
            self.methods.position(match.method),
            json_scalar(match.error),
            match.op,
            lineage,
            [self._member_position(member) for member in match.members],
            *self._shaped(match.values),
        ]

    def examined_row(self, match: MatchRow) -> JsonRow:
        """Distributions of start and end, and the influences of uncertain events."""
        spreads = [
            [[one.low - self.origin, one.high - self.origin, one.share] for one in spread]
            for spread in (match.starts, match.ends)
        ]
        influences = [
            [one.stream, json_scalar(one.id), one.low - self.origin, one.high - self.origin, one.without, one.share]
            for one in match.influences
        ]
        return [*spreads, influences]

    def related_row(self, match: MatchRow) -> list[int]:
        """The keys of a relation; each is stored once, however many relations it is part of."""
        return [self._line_position(line) for line in match.related]

    def _line_position(self, line: SegmentsRow) -> int:
        if line not in self._line_positions:
            self._line_positions[line] = len(self.lines)
            ends = [
                [end.low - self.origin, end.high - self.origin, int(end.lost), *([end.passed] if end.passed else [])]
                for segment in line.segments
                for end in segment
            ]
            self.lines.append([_shortened(line.key), ends, [_shortened(label) for label in line.labels]])
        return self._line_positions[line]

    def curve_row(self, curve: CurveRow) -> JsonRow:
        happened, decided = ([time - self.origin for time in times] for times in (curve.happened, curve.decided))
        points = [[time - self.origin, float(f"{chance:.4g}")] for time, chance in curve.points]
        about = [curve.n_keys, curve.has_truth, curve.has_decisions]
        return [self.events.position(curve.event), _shortened(curve.key), points, happened, decided, *about]

    def _member_position(self, member: MemberRow) -> int:
        row: JsonRow = [
            self.streams.position(member.stream),
            json_scalar(member.id),
            member.start - self.origin,
            member.end - self.origin,
            _imprecision(member),
            *self._shaped(member.values),
        ]
        # the text of the row, because 1, 1.0 and true are equal dictionary keys
        identity = json.dumps(row)
        if identity not in self._member_positions:
            self._member_positions[identity] = len(self.members)
            self.members.append(row)
        return self._member_positions[identity]

    def _shaped(self, values: Mapping[str, Scalar]) -> JsonRow:
        return [self.shapes.position(tuple(values)), *(json_scalar(value) for value in values.values())]
