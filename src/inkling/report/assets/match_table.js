// All matches as a table: sorted, filtered, paged; a row opens to show its details.

const ROWS_PER_PAGE = 25;

const MATCH_COLUMNS = [
  { name: "Event", compare: (first, second) => first.eventName.localeCompare(second.eventName, "en", { numeric: true }) },
  { name: "Key", compare: (first, second) => first.keyName.localeCompare(second.keyName, "en", { numeric: true }) },
  { name: "Start", compare: (first, second) => first.start - second.start },
  { name: "End", isSpare: true, compare: (first, second) => first.end - second.end },
  { name: "Length", isSpare: true, isNumber: true, compare: (first, second) => first.end - first.start - (second.end - second.start) },
  { name: "Probability", isNumber: true, isUncertain: true, compare: (first, second) => first.probability - second.probability },
  { name: "Values", isSpare: true, compare: (first, second) => valuesText(first).localeCompare(valuesText(second), "en", { numeric: true }) },
];

const chanceCell = (match) => element("td", { class: "number chance" },
  probabilityBar(match), element("span", { class: "certainty" }, certaintyText(match)), " ", probabilityText(match), methodBadge(match));

const valuesText = (match) => match.values.map(([name, value]) => `${name} ${valueText(value)}`).join(" ");

class MatchTable {
  constructor(report, { showOnTimeline }) {
    const columns = MATCH_COLUMNS.filter((column) => report.hasUncertainty || !column.isUncertain);
    // where results have probabilities, the most probable come first, otherwise the earliest
    const column = columns.findIndex(({ name }) => name === (report.hasUncertainty ? "Probability" : "Start"));
    Object.assign(this, { report, showOnTimeline, columns, column, isDescending: report.hasUncertainty, matches: [], page: 0, words: [], opened: null });
    this.searched = new Map();
    byId("match-filter").addEventListener("input", (event) => {
      this.words = event.target.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
      this.page = 0;
      this.arrange();
    });
    byId("page-previous").addEventListener("click", () => this.turn(-1));
    byId("page-next").addEventListener("click", () => this.turn(1));
  }

  show(matches) {
    this.matches = matches;
    this.page = 0;
    this.arrange();
  }

  turn(pages) {
    this.page += pages;
    this.draw();
  }

  searchedText(match) {
    if (!this.searched.has(match)) {
      const ids = (match.lineage ?? match.members.map((member) => member.id)).join(" ");
      this.searched.set(match, `${match.eventName} ${match.keyName} ${valuesText(match)} ${ids} ${this.report.hasUncertainty ? certaintyText(match) : ""}`.toLowerCase());
    }
    return this.searched.get(match);
  }

  arrange() {
    const { compare } = this.columns[this.column];
    const sign = this.isDescending ? -1 : 1;
    this.rows = this.matches
      .filter((match) => this.words.every((word) => this.searchedText(match).includes(word)))
      .sort((first, second) => sign * compare(first, second) || first.index - second.index);
    this.draw();
  }

  sortBy(column) {
    this.isDescending = column === this.column && !this.isDescending;
    this.column = column;
    this.page = 0;
    this.arrange();
  }

  draw() {
    const nPages = Math.max(1, Math.ceil(this.rows.length / ROWS_PER_PAGE));
    this.page = Math.min(Math.max(this.page, 0), nPages - 1);
    const from = this.page * ROWS_PER_PAGE;
    const shown = this.rows.slice(from, from + ROWS_PER_PAGE);
    this.drawHead();
    byId("match-table").tBodies[0].replaceChildren(...(shown.length > 0 ? shown.flatMap((match) => this.matchRows(match)) : [this.emptyRow()]));
    byId("match-count").textContent =
      this.rows.length === this.report.matches.length ? counted(this.rows.length, "match", "matches") : `${grouped(this.rows.length)} of ${counted(this.report.matches.length, "match", "matches")}`;
    byId("page-place").textContent = shown.length > 0 ? `${grouped(from + 1)}–${grouped(from + shown.length)} of ${grouped(this.rows.length)}` : "";
    byId("page-previous").disabled = this.page === 0;
    byId("page-next").disabled = this.page === nPages - 1;
  }

  drawHead() {
    const head = byId("match-table").tHead;
    const focused = [...head.querySelectorAll("button")].indexOf(document.activeElement);
    head.replaceChildren(element("tr", {}, ...this.columns.map(({ name, isNumber, isSpare }, column) => {
      const direction = this.isDescending ? "descending" : "ascending";
      const isSorted = column === this.column;
      return element("th", { scope: "col", class: [isNumber ? "number" : "", isSpare ? "spare" : ""].join(" ").trim() || null, "aria-sort": isSorted ? direction : null },
        element("button", { type: "button", class: "sort", onclick: () => this.sortBy(column) }, name,
          element("span", { class: "sort-mark", "aria-hidden": "true" }, isSorted ? (this.isDescending ? "▼" : "▲") : "")));
    })));
    if (focused >= 0) head.querySelectorAll("button")[focused].focus();
  }

  emptyRow() {
    return element("tr", {}, element("td", { colspan: this.columns.length, class: "empty quiet" }, "No match passes the filters."));
  }

  matchRows(match) {
    const isOpen = this.opened === match;
    const opener = element("button", { type: "button", class: "opener", "aria-expanded": String(isOpen) }, swatch(match.event), element("span", { class: "name" }, match.eventName));
    const row = element("tr", { class: `match-row${isOpen ? " is-open" : ""}`, "data-match": match.index, onclick: () => this.toggle(match) },
      element("td", {}, opener, match.withdrawn ? element("span", { class: "badge" }, "withdrawn") : null),
      element("td", {}, element("span", { class: "name" }, keyLabel(this.report, match.keyName))),
      element("td", { class: "time" }, instantText(this.report, match.start)),
      element("td", { class: "time spare" }, instantText(this.report, match.end)),
      element("td", { class: "number spare" }, lengthText(this.report, match)),
      this.report.hasUncertainty ? chanceCell(match) : null,
      element("td", { class: "member-values spare" }, ...match.values.map(([name, value]) =>
        element("span", { class: "pair", title: longTitle(value) }, element("span", { class: "pair-name" }, name), ` ${valueText(value)}`))));
    return isOpen ? [row, this.openedRow(match)] : [row];
  }

  openedRow(match) {
    const toTimeline = element("button", { type: "button", onclick: () => this.showOnTimeline(match) }, "Show on timeline");
    return element("tr", { class: "opened-row" }, element("td", { colspan: this.columns.length },
      element("div", { class: "opened" }, element("p", { class: "details-actions" }, toTimeline), ...matchDetails(this.report, match))));
  }

  toggle(match) {
    this.opened = this.opened === match ? null : match;
    this.draw();
    byId("match-table").querySelector(`[data-match="${match.index}"] .opener`)?.focus({ preventScroll: true });
  }
}
