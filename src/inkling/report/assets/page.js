// The start of the page: filters select what the timeline and the table show; all parts share one selection.

const EVENTS_AT_FIRST = 8;
const LEAST_SHOWN = 0.01;

function wakePage() {
  paintSwatches(document);
  if (byId("lane-scroller") === null) return;
  const report = readReport();
  const view = new View(report);
  const timeline = new Timeline(report, view);
  const filters = { hiddenEvents: new Set(), keyWords: "", order: "key", least: report.hasUncertainty ? LEAST_SHOWN : 0, certainty: "" };

  const select = (match) => {
    Object.assign(timeline, { selected: match, pointedMember: null });
    if (match !== null) timeline.reveal(match);
    timeline.schedule();
    showDetails(report, match, { timeline, view, select });
    byId("announcer").textContent = match === null ? "" : spokenMatch(report, match);
  };
  const showOnTimeline = (match) => {
    view.frame(match);
    select(match);
    byId("timeline").scrollIntoView({ block: "start" });
    timeline.scroller.focus({ preventScroll: true });
  };
  const table = new MatchTable(report, { showOnTimeline });

  const applyFilters = () => {
    const matches = report.matches.filter((match) => match.probability >= filters.least && certaintyText(match).startsWith(filters.certainty) && !filters.hiddenEvents.has(match.event) && keyLabel(report, match.keyName).toLowerCase().includes(filters.keyWords));
    timeline.show(matches, filters.order);
    table.show(matches);
    showRelations(report, matches, showOnTimeline);
    const nLanes = timeline.layout.lanes.length;
    byId("lane-count").textContent = nLanes === report.keys.length ? counted(nLanes, "key") : `${grouped(nLanes)} of ${counted(report.keys.length, "key")}`;
  };

  byId("time-span").textContent = `, matches from ${rangeText(report, 0, report.latest)}${report.isTimestamp ? " UTC" : ""}${report.tickMicros === null ? "" : `; a tick is ${durationText(report, 1)}`}`;
  drawLegend(report, filters, applyFilters);
  listenToFilters(filters, applyFilters);
  listenToUncertainty(filters, applyFilters);
  listenToChart(timeline, { select });
  applyFilters();
  wakeChances(report);
  followTheme(timeline);
  preparePrint(timeline);
  document.documentElement.dataset.ready = "yes";
}

function spokenMatch(report, match) {
  const certainty = match.isCertain ? (report.hasUncertainty ? ", certain" : "") : `, possible, probability ${probabilityText(match)}`;
  return `${match.eventName}, ${keyLabel(report, match.keyName)}, ${rangeText(report, match.start, match.end)}${certainty}, ${counted(match.members.length, "matched event")}`;
}

function drawLegend(report, filters, applyFilters) {
  const nMatches = report.events.map(() => 0);
  for (const match of report.matches) nMatches[match.event] += 1;
  const buttons = report.events.map((name, event) =>
    element("button", { type: "button", class: "legend-item", "aria-pressed": "true", onclick: () => toggle([event], filters.hiddenEvents.has(event)) },
      swatch(event), element("span", { class: "name" }, name), element("span", { class: "quiet" }, grouped(nMatches[event]))));
  const toggle = (events, isShown) => {
    for (const event of events) {
      filters.hiddenEvents[isShown ? "delete" : "add"](event);
      buttons[event].setAttribute("aria-pressed", String(isShown));
    }
    applyFilters();
  };
  byId("legend").append(...buttons);
  foldLegend(buttons, nMatches);
  if (report.events.length < 2) return;
  const all = report.events.map((_, event) => event);
  byId("legend").append(element("button", { type: "button", class: "legend-all", onclick: () => toggle(all, filters.hiddenEvents.size > 0) }, "all / none"));
}

// The events with the most matches, and a button for the others.
function foldLegend(buttons, nMatches) {
  if (buttons.length <= EVENTS_AT_FIRST) return;
  const byCount = buttons.map((_, event) => event).sort((first, second) => nMatches[second] - nMatches[first] || first - second);
  const others = byCount.slice(EVENTS_AT_FIRST).map((event) => buttons[event]);
  const more = element("button", { type: "button", id: "legend-more", class: "legend-all" });
  const fold = (isFolded) => {
    for (const button of others) button.hidden = isFolded;
    more.textContent = isFolded ? `${counted(others.length, "more event")}…` : "fewer events";
    more.setAttribute("aria-expanded", String(!isFolded));
  };
  more.addEventListener("click", () => fold(!others[0].hidden));
  fold(true);
  byId("legend").append(more);
}

function listenToFilters(filters, applyFilters) {
  const applySoon = oncePerFrame(applyFilters);
  byId("key-search").addEventListener("input", (event) => {
    filters.keyWords = event.target.value.trim().toLowerCase();
    applySoon();
  });
  byId("lane-order").addEventListener("change", (event) => {
    filters.order = event.target.value;
    applySoon();
  });
}

function listenToUncertainty(filters, applyFilters) {
  const applySoon = oncePerFrame(applyFilters);
  byId("certainty")?.addEventListener("change", (event) => {
    filters.certainty = event.target.value;
    applySoon();
  });
  byId("least-probability")?.addEventListener("input", (event) => {
    filters.least = Math.min(Math.max(Number(event.target.value) || 0, 0), 1);
    applySoon();
  });
}

function followTheme(timeline) {
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    timeline.readTheme();
    timeline.schedule();
  });
}

// Paper is light and narrow, whatever the screen is.
function preparePrint(timeline) {
  const redraw = () => {
    timeline.readTheme();
    timeline.layOut();
  };
  const closed = new Set();
  window.addEventListener("beforeprint", () => {
    document.documentElement.dataset.paper = "yes";
    for (const section of document.querySelectorAll("details:not([open])")) {
      closed.add(section);
      section.open = true;
    }
    redraw();
  });
  window.addEventListener("afterprint", () => {
    delete document.documentElement.dataset.paper;
    for (const section of closed) section.open = false;
    closed.clear();
    redraw();
  });
}

wakePage();
