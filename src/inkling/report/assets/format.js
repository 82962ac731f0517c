// Times, durations and values in words.

const MICROS = { second: 1e6, minute: 60e6, hour: 3600e6, day: 86400e6 };
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

const grouped = (number) => number.toLocaleString("en-US");
const twoDigits = (number) => String(number).padStart(2, "0");
const trimmed = (number, digits) => String(Number(number.toFixed(digits)));
const counted = (number, noun, plural = `${noun}s`) => `${grouped(number)} ${number === 1 ? noun : plural}`;

function absoluteTime(report, offset) {
  return report.origin + BigInt(Math.round(offset));
}

function calendarParts(micros) {
  let seconds = micros / 1000000n;
  let fraction = micros % 1000000n;
  if (fraction < 0n) {
    fraction += 1000000n;
    seconds -= 1n;
  }
  const date = new Date(Number(seconds) * 1000);
  if (Number.isNaN(date.getTime())) return null;
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth(),
    day: date.getUTCDate(),
    weekday: WEEKDAYS[date.getUTCDay()],
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    micros: Number(fraction),
  };
}

const dateText = (parts) => `${parts.day} ${MONTHS[parts.month]} ${parts.year}`;
const minuteText = (parts) => `${twoDigits(parts.hour)}:${twoDigits(parts.minute)}`;
const fractionText = (micros) => (micros === 0 ? "" : `.${String(micros).padStart(6, "0").replace(/0+$/, "")}`);
const clockText = (parts) => `${minuteText(parts)}:${twoDigits(parts.second)}${fractionText(parts.micros)}`;

function instantText(report, offset) {
  const time = absoluteTime(report, offset);
  if (!report.isTimestamp) return tickText(report, time);
  const parts = calendarParts(time);
  return parts === null ? `${grouped(time)} µs` : `${dateText(parts)} ${clockText(parts)}`;
}

// A number of ticks with the declared length of a tick as its unit.
function tickText(report, time) {
  if (report.tickMicros === null) return grouped(time);
  const length = durationText(report, 1);
  return length.startsWith("1 ") ? `${grouped(time)} ${length.slice(2)}` : `${grouped(time)} × ${length}`;
}

function tickUnit(report) {
  if (report.isTimestamp || report.tickMicros === MICROS.second) return "seconds";
  return report.tickMicros === null ? "ticks" : `ticks of ${durationText(report, 1)}`;
}

function rangeText(report, lo, hi) {
  if (lo === hi) return instantText(report, lo);
  if (!report.isTimestamp) return `${instantText(report, lo)} – ${instantText(report, hi)}`;
  const [first, last] = [lo, hi].map((offset) => calendarParts(absoluteTime(report, offset)));
  if (first === null || last === null) return `${instantText(report, lo)} – ${instantText(report, hi)}`;
  const isSameDay = dateText(first) === dateText(last);
  const end = isSameDay ? clockText(last) : `${dateText(last)} ${clockText(last)}`;
  return `${dateText(first)} ${clockText(first)} – ${end}`;
}

// The ends of a view are accidents of zooming: finer than a screen can show is noise.
function viewText(report, view) {
  const unit = [MICROS.second, 1000].find((candidate) => report.isTimestamp && view.span > 600 * candidate) ?? 1;
  const [lo, hi] = [Math.max(0, view.lo), Math.min(report.latest, view.hi)].map((offset) => roundedOffset(report, offset, unit));
  return `${rangeText(report, lo, hi)} · ${durationText(report, hi - lo)} on screen`;
}

function roundedOffset(report, offset, unit) {
  const excess = Number(report.origin % BigInt(unit));
  return Math.round((offset + excess) / unit) * unit - excess;
}

function durationText(report, length) {
  if (!report.isTimestamp && report.tickMicros === null) return counted(Math.round(length), "tick");
  return microsText(report.isTimestamp ? length : Math.round(length) * report.tickMicros);
}

function microsText(length) {
  if (length < 1000) return `${Math.round(length)} µs`;
  if (length < MICROS.second) return `${trimmed(length / 1000, 1)} ms`;
  if (length < MICROS.minute) return `${trimmed(length / MICROS.second, length < 10e6 ? 2 : 1)} s`;
  if (length < MICROS.hour) return twoUnits(length, MICROS.minute, "min", MICROS.second, "s");
  if (length < MICROS.day) return twoUnits(length, MICROS.hour, "h", MICROS.minute, "min");
  return twoUnits(length, MICROS.day, "d", MICROS.hour, "h");
}

function twoUnits(length, large, largeName, small, smallName) {
  const rounded = Math.round(length / small) * small;
  const rest = Math.round((rounded % large) / small);
  const whole = `${grouped(Math.floor(rounded / large))} ${largeName}`;
  return rest === 0 ? whole : `${whole} ${rest} ${smallName}`;
}

const lengthText = (report, match) => (match.end === match.start ? "instant" : durationText(report, match.end - match.start));

function offsetText(report, length) {
  if (length === 0) return "+0";
  return `${length < 0 ? "−" : "+"}${durationText(report, Math.abs(length))}`;
}

function valueText(value) {
  if (value === null) return "null";
  if (typeof value === "number" && !Number.isInteger(value)) return String(Number(value.toPrecision(7)));
  return String(value);
}

const certaintyText = (match) => (match.isCertain ? "certain" : "possible");

function probabilityText(match) {
  const digits = match.probability > 0 && match.probability < 0.001 ? match.probability.toExponential(2) : trimmed(match.probability, 4);
  return match.error > 0 ? `${digits} ± ${Number(match.error.toPrecision(2))}` : digits;
}
