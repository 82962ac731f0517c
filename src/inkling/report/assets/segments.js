// Both keys of a relation between segments: a line for each, solid where a segment certainly lasts. Where ends were lost,
// the height of the area is the probability of being inside a segment, and a dot marks the median of each end.

const SEGMENTS = { width: 640, line: 34, bar: 20 };
const MOST_SPOKEN = 12;
const MOST_RELATIONS = 6;

function relatedParts(report, match) {
  if (match.related.length === 0) return [];
  return [element("h4", {}, "Segments of both"), relatedFigure(report, match)];
}

function relationWords(report, match) {
  const values = match.values.map(([name, value]) => `${name} ${valueText(value)}`);
  return [...values, report.hasUncertainty ? `${certaintyText(match)} ${probabilityText(match)}` : ""].filter((word) => word !== "").join(", ");
}

// The segments of the most probable relations, without a click.
function showRelations(report, matches, showOnTimeline) {
  const section = byId("relations");
  if (section === null) return;
  const related = matches.filter((match) => match.related.length > 0).toSorted((first, second) => second.probability - first.probability || first.index - second.index);
  section.hidden = related.length === 0;
  byId("relation-count").textContent = related.length > MOST_RELATIONS ? `the ${MOST_RELATIONS} most probable of ${grouped(related.length)}` : counted(related.length, "relation");
  byId("relation-list").replaceChildren(...related.slice(0, MOST_RELATIONS).map((match) => element("li", {},
    element("h3", {}, swatch(match.event), match.eventName,
      element("span", { class: "quiet" }, ` ${relationWords(report, match)}`)),
    relatedFigure(report, match),
    element("button", { type: "button", onclick: () => showOnTimeline(match) }, "Show on timeline"))));
}

function relatedFigure(report, match) {
  const ends = match.related.flatMap((line) => line.segments.flatMap((one) => [one.opens.low, one.closes.high]));
  const first = Math.min(match.start, ...ends);
  const last = Math.max(match.end, ...ends);
  const toX = (offset) => ((offset - first) / Math.max(1, last - first)) * SEGMENTS.width;
  const height = match.related.length * SEGMENTS.line;
  const picture = svgElement("svg", { class: "segments", viewBox: `0 0 ${SEGMENTS.width} ${height}`, height, preserveAspectRatio: "none", "aria-hidden": "true" });
  match.related.forEach((line, place) => picture.append(...lineMarks(report, line, toX, place * SEGMENTS.line)));
  const names = element("ol", { class: "segment-names" }, ...match.related.map((line) =>
    element("li", { title: line.keyName }, line.keyName, element("span", { class: "hidden-label" }, `: ${spokenSegments(report, line)}`))));
  const figure = element("div", { class: "segment-figure", role: "group", "aria-label": `${certaintyText(match)}, probability ${probabilityText(match)}` },
    names, element("div", {}, picture,
      element("div", { class: "spread-ends" }, element("span", {}, instantText(report, first)), element("span", {}, instantText(report, last)))),
    element("p", { class: "quiet" }, segmentNote(match)));
  figure.style.setProperty("--event", eventColor(match.event));
  return figure;
}

function lineMarks(report, line, toX, top) {
  const y = top + (SEGMENTS.line - SEGMENTS.bar) / 2;
  const marks = [svgElement("line", { class: "ground", x1: 0, x2: SEGMENTS.width, y1: y + SEGMENTS.bar / 2, y2: y + SEGMENTS.bar / 2 })];
  for (const stretch of lostStretches(line)) marks.push(...stretchMarks(report, line, stretch, toX, y));
  for (const segment of line.segments) marks.push(...segmentMarks(report, segment, toX, y));
  return marks;
}

function stretchMarks(report, line, stretch, toX, y) {
  const shade = svgElement("rect", { class: "lost", x: toX(stretch.low), y, width: Math.max(1, toX(stretch.high) - toX(stretch.low)), height: SEGMENTS.bar });
  shade.append(svgElement("title", {}, `${counted(stretch.ends.length, "end")} lost in ${rangeText(report, stretch.low, stretch.high)}`));
  const inside = shareInside(line, stretch);
  if (inside.length === 0) return [shade];
  const corners = inside.map((share, place) => `${toX(timeAt(stretch, place / (inside.length - 1)))},${y + SEGMENTS.bar * (1 - share)}`);
  const floor = y + SEGMENTS.bar;
  const area = svgElement("polygon", { class: "inside", points: [`${toX(stretch.low)},${floor}`, ...corners, `${toX(stretch.high)},${floor}`].join(" ") });
  area.append(svgElement("title", {}, shade.textContent));
  const dots = stretch.ends.map((end) => medianDot(report, end, toX, floor));
  return [shade, area, ...dots];
}

// Strokes of no length with round caps stay round however the picture is stretched.
function medianDot(report, end, toX, y) {
  const x = toX(quantileOf(end, 0.5));
  const dot = svgElement("line", { class: "median", x1: x, x2: x, y1: y, y2: y });
  dot.append(svgElement("title", {}, `lost ${spokenEnd(report, end)}`));
  return dot;
}

const timeAt = (range, share) => range.low + share * (range.high - range.low);

// The probability of being inside a segment, at the times that divide a stretch: the sum, over segments with an end
// in the stretch, of the probabilities that the segment began, minus those that it ended.
function shareInside(line, stretch) {
  const n = stretch.ends[0].passed.length;
  const isHere = (end) => end.isLost && end.low === stretch.low && end.high === stretch.high;
  const inside = new Array(n).fill(0);
  for (const { opens, closes } of line.segments) {
    if (!isHere(opens) && !isHere(closes)) continue;
    for (let place = 0; place < n; place += 1) inside[place] += (isHere(opens) ? opens.passed[place] : 1) - (isHere(closes) ? closes.passed[place] : 0);
  }
  return inside.map((share) => Math.min(1, Math.max(0, share)));
}

// The time before which a lost end lies with this probability.
function quantileOf(end, share) {
  const after = end.passed.findIndex((passed) => passed >= share);
  if (after < 0) return end.high;
  if (after === 0) return end.low;
  const [low, high] = [end.passed[after - 1], end.passed[after]];
  return timeAt(end, (after - 1 + (share - low) / (high - low)) / (end.passed.length - 1));
}

function segmentMarks(report, segment, toX, y) {
  const { opens, closes } = segment;
  const marks = [];
  if (opens.high < closes.low || !(opens.isLost || closes.isLost)) {
    const sure = svgElement("rect", { class: "sure", x: toX(opens.high), y, width: Math.max(1, toX(closes.low) - toX(opens.high)), height: SEGMENTS.bar });
    sure.append(svgElement("title", {}, spokenSegment(report, segment)));
    marks.push(sure);
  }
  for (const end of [opens, closes]) {
    if (!end.isLost) marks.push(svgElement("rect", { class: "end", x: toX(end.low) - 1, y: y - 3, width: 2, height: SEGMENTS.bar + 6 }));
  }
  return marks;
}

// Ends that were lost together share their stretch, so it is shaded once.
function lostStretches(line) {
  const stretches = new Map();
  for (const { opens, closes } of line.segments) {
    for (const end of [opens, closes]) {
      if (!end.isLost) continue;
      const name = `${end.low} ${end.high}`;
      if (!stretches.has(name)) stretches.set(name, { low: end.low, high: end.high, ends: [] });
      stretches.get(name).ends.push(end);
    }
  }
  return [...stretches.values()];
}

function segmentNote(match) {
  const lost = match.related.flatMap(lostStretches).reduce((sum, stretch) => sum + stretch.ends.length, 0);
  if (lost === 0) return "All ends were recorded.";
  const shaded = `Shaded: where ${counted(lost, "lost end")} may lie.`;
  const hasShapes = match.related.some((line) => lostStretches(line).some((stretch) => stretch.ends[0].passed.length > 0));
  const shapes = hasShapes ? " Height: the probability of being inside a segment. Dots: medians of lost ends." : "";
  return `Solid: certainly inside a segment. Strokes: recorded ends. ${shaded}${shapes}`;
}

function spokenSegments(report, line) {
  if (line.segments.length === 0) return "no segments";
  const spokenParts = line.segments.slice(0, MOST_SPOKEN).map((segment) => spokenSegment(report, segment));
  if (line.segments.length > MOST_SPOKEN) spokenParts.push(`${grouped(line.segments.length - MOST_SPOKEN)} more`);
  return spokenParts.join("; ");
}

function spokenSegment(report, segment) {
  const label = segment.label === null ? "" : `${segment.label} `;
  return `${label}from ${spokenEnd(report, segment.opens)} to ${spokenEnd(report, segment.closes)}`;
}

function spokenEnd(report, end) {
  if (!end.isLost) return instantText(report, end.low);
  const isOpen = end.passed.length > 0 && (end.passed[0] > 0 || end.passed[end.passed.length - 1] < 1);
  const range = `a lost moment${isOpen ? ", almost certainly" : ""} in ${rangeText(report, end.low, end.high)}`;
  if (end.passed.length === 0) return range;
  const [first, last] = [0.25, 0.75].map((share) => Math.round(quantileOf(end, share)));
  return `${range}, with 50 % in ${rangeText(report, first, last)}`;
}
