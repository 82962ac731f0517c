// Round times for an axis, and their labels: a short one per tick, a longer one where the day (or second) changes.

const AXIS_HEIGHT = 38;
const PIXELS_PER_LABEL = 92;

const TIME_STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500].flatMap((step) => [step, step * 1000]),
  ...[1, 2, 5, 10, 15, 30].flatMap((step) => [step * MICROS.second, step * MICROS.minute]),
  ...[1, 2, 3, 6, 12].map((step) => step * MICROS.hour),
  ...[1, 2, 7].map((step) => step * MICROS.day),
].sort((first, second) => first - second);

const DAYS_PER_MONTH = 30.4;
const MONTH_STEPS = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12000];
const FIRST_MONDAY = 4n * 86400000000n;

function axisTicks(report, view, width) {
  const wanted = view.span / Math.max(1, width / PIXELS_PER_LABEL);
  if (!report.isTimestamp) {
    const step = roundStep(wanted);
    return everyStep(report, view, BigInt(step), 0n).map((time) => ({ time, minor: tickText(report, time), major: "" }));
  }
  const step = TIME_STEPS.find((candidate) => candidate >= wanted);
  if (step === undefined) return calendarTicks(report, view, wanted);
  const shift = step === 7 * MICROS.day ? FIRST_MONDAY : 0n;
  return everyStep(report, view, BigInt(step), shift).map((time) => ({ time, ...timeLabels(time, step) }));
}

function roundStep(wanted) {
  const power = 10 ** Math.floor(Math.log10(Math.max(wanted, 1)));
  return Math.max(1, [1, 2, 5, 10].map((digit) => digit * power).find((candidate) => candidate >= wanted) ?? 1);
}

function everyStep(report, view, step, shift) {
  const first = report.origin + BigInt(Math.ceil(view.lo)) - shift;
  const last = report.origin + BigInt(Math.floor(view.hi)) - shift;
  const remainder = ((first % step) + step) % step;
  const times = [];
  for (let time = remainder === 0n ? first : first + step - remainder; time <= last; time += step) times.push(time + shift);
  return times;
}

function timeLabels(time, step) {
  const parts = calendarParts(time);
  if (parts === null) return { minor: grouped(time), major: "" };
  if (step >= MICROS.day) return { minor: `${parts.day} ${MONTHS[parts.month]}`, major: String(parts.year) };
  if (step >= MICROS.minute) return { minor: minuteText(parts), major: `${parts.weekday} ${dateText(parts)}` };
  if (step >= MICROS.second) return { minor: clockText(parts), major: `${parts.weekday} ${dateText(parts)}` };
  const second = `${dateText(parts)} ${clockText({ ...parts, micros: 0 })}`;
  if (step >= 1000) return { minor: `+${parts.micros / 1000} ms`, major: second };
  return { minor: `+${grouped(parts.micros)} µs`, major: second };
}

function calendarTicks(report, view, wanted) {
  const wantedMonths = wanted / (DAYS_PER_MONTH * MICROS.day);
  const step = MONTH_STEPS.find((candidate) => candidate >= wantedMonths) ?? MONTH_STEPS.at(-1);
  const first = calendarParts(absoluteTime(report, view.lo));
  if (first === null) return [];
  const ticks = [];
  for (let month = Math.ceil((first.year * 12 + first.month) / step) * step; ; month += step) {
    const milliseconds = new Date(0).setUTCFullYear(Math.floor(month / 12), month % 12, 1);
    const time = BigInt(milliseconds) * 1000n;
    const offset = Number(time - report.origin);
    if (Number.isNaN(offset) || offset > view.hi) return ticks;
    const year = String(Math.floor(month / 12));
    const isYearly = step >= 12;
    if (offset >= view.lo) ticks.push({ time, minor: isYearly ? year : MONTHS[month % 12], major: isYearly ? "" : year });
  }
}

function drawAxis(svg, ticks, { left, width, toX }) {
  svg.setAttribute("width", left + width);
  svg.setAttribute("height", AXIS_HEIGHT);
  svg.replaceChildren();
  let previousMajor = null;
  let majorEnd = -Infinity;
  for (const { x, minor, major } of ticks.map((tick) => ({ ...tick, x: toX(tick.offset) }))) {
    svg.append(svgElement("line", { x1: x, x2: x, y1: AXIS_HEIGHT - 5, y2: AXIS_HEIGHT }));
    svg.append(svgElement("text", { x, y: AXIS_HEIGHT - 10, "text-anchor": x > left + width - 30 ? "end" : "middle" }, minor));
    const from = Math.max(x - 16, left);
    const needed = major.length * 6.6;
    if (major !== "" && major !== previousMajor && from > majorEnd && from + needed < left + width) {
      svg.append(svgElement("text", { x: from, y: 12, class: "major" }, major));
      majorEnd = from + needed + 12;
      previousMajor = major;
    }
  }
}
