// What makes a result uncertain: its probability as a bar, its times as histograms, the events it depends on.

const HISTOGRAM = { width: 240, height: 44 };

function probabilityBar(match) {
  const bar = element("div", { class: "probability-bar", "aria-hidden": "true" }, element("span", { class: "level" }));
  bar.style.setProperty("--event", eventColor(match.event));
  bar.style.setProperty("--level", match.probability);
  if (match.error > 0) {
    bar.append(element("span", { class: "error" }));
    bar.style.setProperty("--error-lo", Math.max(0, match.probability - match.error));
    bar.style.setProperty("--error-hi", Math.min(1, match.probability + match.error));
  }
  return bar;
}

const METHODS = {
  exact: "All possible worlds were enumerated.",
  sampled: "Estimated from sampled worlds.",
  undecided: "The sample does not decide whether the result reaches its CONFIDENCE threshold.",
};

function methodBadge(match) {
  return element("span", { class: `badge method-${match.method}`, title: METHODS[match.method] ?? null }, match.method);
}

function uncertaintyParts(report, match) {
  const { starts, ends, influences } = match.examined;
  const parts = [...spreadParts(report, match, "Start", starts), ...spreadParts(report, match, "End", ends)];
  if (influences.length > 0) parts.push(element("h4", {}, "Depends on"), influenceTable(report, match, influences));
  return parts;
}

function spreadParts(report, match, name, bins) {
  if (bins.length < 2) return [];
  return [element("h4", {}, `${name} over the worlds that have it`), histogram(report, match, name, bins)];
}

function histogram(report, match, name, bins) {
  const { width, height } = HISTOGRAM;
  const [first, last] = [bins[0].low, bins[bins.length - 1].high];
  const most = Math.max(...bins.map((bin) => bin.share));
  const unit = width / (last - first + 1);
  const picture = svgElement("svg", { class: "histogram", viewBox: `0 0 ${width} ${height}`, role: "img", preserveAspectRatio: "none", "aria-label": spokenSpread(report, name, bins) });
  for (const bin of bins) {
    const tall = Math.max(1, (height * bin.share) / most);
    const wide = Math.max(2, unit * (bin.high - bin.low + 1) - 1);
    const left = Math.min(unit * (bin.low - first), width - wide);
    const bar = svgElement("rect", { x: left, y: height - tall, width: wide, height: tall });
    bar.append(svgElement("title", {}, `${rangeText(report, bin.low, bin.high)}: ${percentText(bin.share)}`));
    picture.append(bar);
  }
  const figure = element("div", { class: "spread" }, picture,
    element("div", { class: "spread-ends" }, element("span", {}, instantText(report, first)), element("span", {}, instantText(report, last))));
  figure.style.setProperty("--event", eventColor(match.event));
  return figure;
}

function spokenSpread(report, name, bins) {
  const likeliest = bins.reduce((best, bin) => (bin.share > best.share ? bin : best));
  const range = rangeText(report, bins[0].low, bins[bins.length - 1].high);
  return `${name} between ${range}, most often ${rangeText(report, likeliest.low, likeliest.high)} (${percentText(likeliest.share)})`;
}

function influenceTable(report, match, influences) {
  const head = element("thead", {}, element("tr", {}, ...["Uncertain event", "Without it", "Share lost"].map((name) => element("th", { scope: "col" }, name))));
  const body = element("tbody", {}, ...influences.map((one) => influenceRow(report, match, one)));
  return element("div", { class: "table-scroll" }, element("table", { class: "members influences" }, head, body));
}

function influenceRow(report, match, one) {
  const times = one.low === one.high ? offsetText(report, one.low - match.start) : `${offsetText(report, one.low - match.start)} to ${offsetText(report, one.high - match.start)}`;
  const speaksAgainst = one.share < 0;
  const bar = element("div", { class: `share-bar${speaksAgainst ? " is-against" : ""}`, "aria-hidden": "true" }, element("span", { class: "level" }));
  bar.style.setProperty("--event", eventColor(match.event));
  bar.style.setProperty("--level", Math.min(1, Math.abs(one.share)));
  const words = speaksAgainst ? `${percentText(-one.share)} more: it speaks against the result` : percentText(one.share);
  return element("tr", {},
    element("th", { scope: "row" }, element("span", { class: "member-stream" }, one.stream), element("span", { class: "member-id", title: rangeText(report, one.low, one.high) }, one.id === null ? `(lost), ${times}` : `${valueText(one.id)}, ${times}`)),
    element("td", {}, trimmed(one.without, 4)),
    element("td", {}, bar, element("span", { class: "share-text" }, words)));
}

const percentText = (share) => (share > 0 && share < 0.001 ? "< 0.1 %" : `${trimmed(100 * share, share < 0.1 ? 1 : 0)} %`);
