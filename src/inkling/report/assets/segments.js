// Both keys of a relation between segments: a line for each, solid where a segment certainly lasts, shaded where an end may lie.

const SEGMENTS = { width: 640, line: 26, bar: 12 };
const MOST_SPOKEN = 12;

function relatedParts(report, match) {
  if (match.related.length === 0) return [];
  return [element("h4", {}, "Segments of both"), relatedFigure(report, match)];
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
  for (const stretch of lostStretches(line)) {
    const shade = svgElement("rect", { class: "lost", x: toX(stretch.low), y, width: Math.max(1, toX(stretch.high) - toX(stretch.low)), height: SEGMENTS.bar });
    shade.append(svgElement("title", {}, `${counted(stretch.count, "end")} lost in ${rangeText(report, stretch.low, stretch.high)}`));
    marks.push(shade);
  }
  for (const segment of line.segments) marks.push(...segmentMarks(report, segment, toX, y));
  return marks;
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
      if (!stretches.has(name)) stretches.set(name, { low: end.low, high: end.high, count: 0 });
      stretches.get(name).count += 1;
    }
  }
  return [...stretches.values()];
}

function segmentNote(match) {
  const lost = match.related.flatMap(lostStretches).reduce((sum, stretch) => sum + stretch.count, 0);
  if (lost === 0) return "All ends were recorded.";
  return `Solid: certainly inside a segment. Shaded: where ${counted(lost, "lost end")} may lie. Strokes: recorded ends.`;
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
  return end.isLost ? `a lost moment in ${rangeText(report, end.low, end.high)}` : instantText(report, end.low);
}
