// When the events of a match may have happened: a line for each, its possible moments as a bar, darker where likelier.

const MOST_LINES = 24;
const MOMENTS = { width: 320, line: 18, bar: 8 };

function momentParts(report, match) {
  if (!match.members.some((member) => member.isImprecise)) return [];
  const drawn = match.members.slice(0, MOST_LINES);
  const left = match.members.length - drawn.length;
  const parts = [element("h4", {}, "When its events may have happened"), momentFigure(report, match, drawn)];
  if (left > 0) parts.push(element("p", { class: "quiet" }, `The first ${grouped(drawn.length)} are drawn, ${grouped(left)} more are in the table.`));
  return parts;
}

function momentFigure(report, match, members) {
  const first = Math.min(match.start, ...members.map((member) => member.start));
  const last = Math.max(match.end, ...members.map((member) => member.end));
  const toX = (offset) => ((offset - first) / Math.max(1, last - first)) * MOMENTS.width;
  const height = (members.length + 1) * MOMENTS.line;
  const picture = svgElement("svg", { class: "moments", viewBox: `0 0 ${MOMENTS.width} ${height}`, height, preserveAspectRatio: "none", "aria-hidden": "true" });
  picture.append(...rangeMarks(report, match, toX, height));
  members.forEach((member, line) => picture.append(...momentMarks(report, member, toX, (line + 1) * MOMENTS.line)));
  const lines = element("ol", { class: "moment-names" }, element("li", {}, "the match"), ...members.map((member) =>
    element("li", { title: rangeText(report, member.start, member.end) }, `${member.stream} ${valueText(member.id)}`,
      element("span", { class: "hidden-label" }, `, ${spokenMoments(report, member)}`))));
  const figure = element("div", { class: "moment-figure", role: "group", "aria-label": `${certaintyText(match)}, probability ${probabilityText(match)}, between ${rangeText(report, match.start, match.end)}` },
    lines, element("div", {}, picture,
      element("div", { class: "spread-ends" }, element("span", {}, instantText(report, first)), element("span", {}, instantText(report, last)))));
  figure.style.setProperty("--event", eventColor(match.event));
  return figure;
}

function rangeMarks(report, match, toX, height) {
  const [from, to] = [toX(match.start), toX(match.end)];
  const wide = Math.max(2, to - from);
  const range = svgElement("rect", { class: "range", x: from, y: (MOMENTS.line - MOMENTS.bar) / 2, width: wide, height: MOMENTS.bar, "fill-opacity": Math.max(0.15, match.probability) });
  range.append(svgElement("title", {}, `${certaintyText(match)}, probability ${probabilityText(match)}`));
  return [svgElement("rect", { class: "reach", x: from, y: 0, width: wide, height }), range];
}

function momentMarks(report, member, toX, top) {
  const [from, to] = [toX(member.start), toX(member.end)];
  const y = top + (MOMENTS.line - MOMENTS.bar) / 2;
  if (!member.isImprecise) return [svgElement("rect", { class: "exact", x: from - 1, y: y - 2, width: Math.max(2, to - from), height: MOMENTS.bar + 4 })];
  const stretch = (to - from) / member.weights.length;
  const shades = member.weights.map((weight, place) => svgElement("rect", { class: "moment", x: from + place * stretch, y, width: stretch, height: MOMENTS.bar, "fill-opacity": 0.12 + 0.68 * weight }));
  return [...shades, svgElement("rect", { class: "outline", x: from, y, width: to - from, height: MOMENTS.bar })];
}

function spokenMoments(report, member) {
  if (!member.isImprecise) return `at ${instantText(report, member.start)}`;
  const likelier = member.weights.length > 1 ? "" : ", all moments equally likely";
  return `some time in ${rangeText(report, member.start, member.end)}${likelier}`;
}
