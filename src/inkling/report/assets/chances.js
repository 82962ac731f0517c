// How probable an event is over time: a line of bars for each key, what happened above it, what was decided below.

const CHANCE = { width: 600, mark: 7, bars: 34 };
const MOST_POINTS_OF_A_LINE = 600;

function wakeChances(report) {
  const list = byId("chance-lines");
  if (list === null) return;
  const controls = ["chance-event", "chance-threshold", "chance-distance"].map(byId);
  const [choice, threshold, distance] = controls;
  const events = [...new Set(report.curves.map((curve) => curve.event))];
  choice.append(...events.map((event) => element("option", { value: event }, report.events[event])));
  for (const unit of document.querySelectorAll(".chance-unit")) unit.textContent = tickUnit(report);
  const draw = () => {
    const curves = report.curves.filter((curve) => curve.event === Number(choice.value));
    const asked = { threshold: Number(threshold.value), distance: Math.max(0, Number(distance.value) || 0) * (report.isTimestamp ? MICROS.second : 1) };
    byId("chance-level").textContent = trimmed(asked.threshold, 2);
    const scale = chanceScale(curves);
    list.replaceChildren(...curves.map((curve) => chanceLine(report, curve, scale, asked)));
    byId("chance-ends").replaceChildren(...[scale.first, scale.last].map((time) => element("span", {}, instantText(report, time))));
    byId("chance-count").textContent = spokenAlarms(curves, asked);
    byId("chance-note").textContent = chanceNote(curves, scale);
  };
  const drawSoon = oncePerFrame(draw);
  for (const control of controls) control.addEventListener("input", drawSoon);
  draw();
}

function chanceScale(curves) {
  const points = curves.flatMap((curve) => curve.points);
  const times = [...points.map(([time]) => time), ...curves.flatMap((curve) => [...curve.happened, ...curve.decided])];
  const extreme = (pick) => times.reduce((best, time) => pick(best, time), times[0] ?? 0);
  const peak = points.reduce((most, [, chance]) => Math.max(most, chance), 0);
  return { first: extreme(Math.min), last: extreme(Math.max), top: Math.min(1, Math.max(0.1, Math.ceil(peak * 10 - 1e-9) / 10)) };
}

function chanceLine(report, curve, scale, asked) {
  const toX = (time) => ((time - scale.first) / Math.max(1, scale.last - scale.first)) * CHANCE.width;
  const base = CHANCE.mark + CHANCE.bars;
  const toY = (chance) => base - Math.min(1, chance / scale.top) * CHANCE.bars;
  const stems = (points) => points.map(([time, chance]) => `M${toX(time).toFixed(2)} ${base}V${toY(chance).toFixed(2)}`).join("");
  const ticks = (times, from, to) => times.map((time) => `M${toX(time).toFixed(2)} ${from}V${to}`).join("");
  const picture = svgElement("svg", { class: "chances", viewBox: `0 0 ${CHANCE.width} ${base + CHANCE.mark}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  picture.append(
    svgElement("path", { class: "below", d: stems(curve.points.filter(([, chance]) => chance <= asked.threshold)) }),
    svgElement("path", { class: "above", d: stems(curve.points.filter(([, chance]) => chance > asked.threshold)) }),
    svgElement("path", { class: "base", d: `M0 ${base}H${CHANCE.width}` }),
    svgElement("path", { class: "happened", d: ticks(curve.happened, 0, CHANCE.mark) }),
    svgElement("path", { class: "decided", d: ticks(curve.decided, base + 1, base + CHANCE.mark) }));
  if (asked.threshold <= scale.top) picture.append(svgElement("path", { class: "threshold", d: `M0 ${toY(asked.threshold)}H${CHANCE.width}` }));
  const line = element("li", {}, element("span", { class: "name" }, keyLabel(report, curve.keyName)), picture,
    element("span", { class: "hidden-label" }, spokenLine(report, curve, asked)));
  line.style.setProperty("--event", eventColor(curve.event));
  return line;
}

const isNear = (time, others, distance) => others.some((other) => Math.abs(other - time) <= distance);
const alarmsOf = (curve, asked) => curve.points.filter(([, chance]) => chance > asked.threshold).map(([time]) => time);

function spokenLine(report, curve, asked) {
  const alarms = alarmsOf(curve, asked);
  const spoken = (times) => (times.length === 0 ? "never" : times.slice(0, 5).map((time) => instantText(report, time)).join(", ") + (times.length > 5 ? ` and ${times.length - 5} more` : ""));
  const parts = [`above the threshold: ${spoken(alarms)}`];
  if (curve.hasTruth) parts.push(`happened: ${spoken(curve.happened)}`);
  if (curve.hasDecisions) parts.push(`deterministic baseline: ${spoken(curve.decided)}`);
  return parts.join("; ");
}

function spokenAlarms(curves, asked) {
  let [nAlarms, nRight, nHappened, nFound] = [0, 0, 0, 0];
  for (const curve of curves) {
    const alarms = alarmsOf(curve, asked);
    nAlarms += alarms.length;
    nRight += alarms.filter((time) => isNear(time, curve.happened, asked.distance)).length;
    nHappened += curve.happened.length;
    nFound += curve.happened.filter((time) => isNear(time, alarms, asked.distance)).length;
  }
  const alarms = counted(nAlarms, "alarm");
  if (!curves.some((curve) => curve.hasTruth)) return alarms;
  const share = (part, whole) => (whole === 0 ? "" : ` (${Math.round((100 * part) / whole)} %)`);
  return `${alarms}, ${grouped(nRight)} right${share(nRight, nAlarms)}; ${grouped(nFound)} of ${grouped(nHappened)} found${share(nFound, nHappened)}`;
}

function chanceNote(curves, scale) {
  const parts = [`Bars reach up to ${trimmed(scale.top, 1)}; probabilities below 0.001 are not drawn.`];
  if (curves.some((curve) => curve.hasTruth)) parts.push("Above the line: the ground truth.");
  if (curves.some((curve) => curve.hasDecisions)) parts.push("Below the line: results of the deterministic baseline.");
  if (curves.length < curves[0].nKeys) parts.push(`${grouped(curves.length)} of ${grouped(curves[0].nKeys)} keys are drawn and counted here: those for which the event happened first, then the most probable ones.`);
  if (curves.some((curve) => curve.points.length >= MOST_POINTS_OF_A_LINE)) parts.push("Long lines show the most probable moment of each interval.");
  return parts.join(" ");
}
