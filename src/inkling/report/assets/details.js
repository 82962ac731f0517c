// Everything known about one match: when, how sure, what it returns, which events it depends on.

const MEMBERS_AT_FIRST = 100;

function matchDetails(report, match, onMemberPointed = () => {}) {
  const parts = [intervalFacts(report, match), report.hasUncertainty ? probabilityFigure(match) : null];
  if (match.values.length > 0) parts.push(element("h4", {}, "Returned values"), valueList(match.values));
  parts.push(...relatedParts(report, match));
  parts.push(...momentParts(report, match));
  if (match.examined !== null) parts.push(...uncertaintyParts(report, match));
  parts.push(...memberParts(report, match, onMemberPointed));
  if (match.lineage !== null) {
    parts.push(element("h4", {}, "Lineage"), element("p", { class: "lineage" }, match.lineage.map((id) => (id === null ? "(lost)" : valueText(id))).join(", ") || "none"));
  }
  return parts.filter((part) => part !== null);
}

function intervalFacts(report, match) {
  const facts = [["Start", instantText(report, match.start)], ["End", instantText(report, match.end)], ["Length", lengthText(report, match)]];
  if (match.detectedAt !== null) {
    const delay = match.detectedAt - match.end;
    facts.push(["Detected", delay === 0 ? "at its end" : `${instantText(report, match.detectedAt)} (end ${offsetText(report, delay)})`]);
  }
  if (match.withdrawn) facts.push(["State", "withdrawn"]);
  return element("dl", { class: "facts" }, ...facts.map(([name, text]) => element("div", {}, element("dt", {}, name), element("dd", {}, text))));
}

function probabilityFigure(match) {
  const bar = probabilityBar(match);
  const words = match.isCertain ? `certain, ${match.method}` : `possible: ${probabilityText(match)}, ${match.method}`;
  return element("div", { class: "probability" }, element("span", { class: "probability-name" }, "Probability"), bar, element("span", { class: "probability-text" }, words));
}

function valueList(values) {
  return element("dl", { class: "values" }, ...values.map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", { class: value === null ? "is-null" : null, title: longTitle(value) }, valueText(value)))));
}

const longTitle = (value) => (valueText(value) === String(value) ? null : String(value));

function memberParts(report, match, onMemberPointed) {
  if (match.members.length === 0) return [];
  const body = element("tbody");
  const addRows = (members) => body.append(...members.map((member) => memberRow(report, match, member, onMemberPointed)));
  addRows(match.members.slice(0, MEMBERS_AT_FIRST));
  const head = element("thead", {}, element("tr", {}, ...["Event", "Time", "Values"].map((name) => element("th", { scope: "col" }, name))));
  const parts = [
    element("h4", {}, `Matched events (${grouped(match.members.length)})`),
    element("div", { class: "table-scroll" }, element("table", { class: "members" }, head, body)),
  ];
  if (match.members.length > MEMBERS_AT_FIRST) {
    const more = element("button", { type: "button" }, `Show all ${grouped(match.members.length)}`);
    more.addEventListener("click", () => {
      addRows(match.members.slice(MEMBERS_AT_FIRST));
      more.remove();
    });
    parts.push(more);
  }
  return parts;
}

function memberRow(report, match, member, onMemberPointed) {
  return element("tr", { onpointerenter: () => onMemberPointed(member), onpointerleave: () => onMemberPointed(null) },
    element("th", { scope: "row" }, element("span", { class: "member-stream" }, member.stream), element("span", { class: "member-id" }, valueText(member.id))),
    element("td", { title: instantText(report, member.start) }, memberTimeText(report, match, member)),
    element("td", { class: "member-values" }, ...member.values.map(([name, value]) =>
      element("span", { class: "pair", title: longTitle(value) }, element("span", { class: "pair-name" }, name), ` ${valueText(value)}`))));
}

function memberTimeText(report, match, member) {
  const from = offsetText(report, member.start - match.start);
  if (member.end === member.start) return from;
  return member.isImprecise ? `${from} to ${offsetText(report, member.end - match.start)}` : `${from}, ${durationText(report, member.end - member.start)} long`;
}

function showDetails(report, match, { timeline, view, select }) {
  byId("details-hint").hidden = match !== null;
  const body = byId("details-body");
  body.hidden = match === null;
  if (match === null) return body.replaceChildren();
  const pointMember = (member) => {
    timeline.pointedMember = member;
    timeline.schedule();
  };
  body.replaceChildren(
    element("div", { class: "details-head" },
      element("h3", {}, swatch(match.event), match.eventName),
      element("button", { type: "button", class: "plain", "aria-label": "Close details", title: "Close (Esc)", onclick: () => select(null) }, "×")),
    element("p", { class: "details-key" }, keyLabel(report, match.keyName)),
    element("p", { class: "details-actions" }, element("button", { type: "button", id: "zoom-to-match", onclick: () => view.frame(match) }, "Zoom to match")),
    ...matchDetails(report, match, pointMember),
  );
  body.parentElement.scrollTop = 0;
}
