// Pointer, wheel and keys on the chart.

const DRAG_STARTS_AFTER = 4;
const WHEEL_STEP = 0.0016;
const LINE_PIXELS = 16;
const KEY_ZOOM = 1.5;
const KEY_PAN = 0.25;

function listenToChart(timeline, { select }) {
  const { view, scroller } = timeline;
  listenToLanes(timeline, select);
  listenToOverview(timeline);
  listenToAxis(timeline);
  scroller.addEventListener("keydown", (event) => pressedKey(timeline, event, select));
  byId("zoom-in").addEventListener("click", () => view.zoom(1 / KEY_ZOOM));
  byId("zoom-out").addEventListener("click", () => view.zoom(KEY_ZOOM));
  byId("pan-left").addEventListener("click", () => view.pan(-view.span * KEY_PAN));
  byId("pan-right").addEventListener("click", () => view.pan(view.span * KEY_PAN));
  byId("zoom-fit").addEventListener("click", () => view.fit());
}

function place(event, target) {
  const box = target.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

const wheelPixels = (event, distance) => (event.deltaMode === 0 ? distance : distance * LINE_PIXELS);
const wheelFactor = (event) => Math.exp(wheelPixels(event, event.deltaY || event.deltaX) * WHEEL_STEP);

function listenToLanes(timeline, select) {
  const { view, scroller } = timeline;
  const pointers = new Map();
  let drag = null;
  let pinch = null;

  scroller.addEventListener("wheel", (event) => {
    const across = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
    if (event.ctrlKey || event.metaKey) view.zoom(wheelFactor(event), timeline.toOffset(place(event, scroller).x));
    else if (Math.abs(across) > Math.abs(event.shiftKey ? 0 : event.deltaY)) view.pan((wheelPixels(event, across) / timeline.width) * view.span);
    else return;
    event.preventDefault();
  }, { passive: false });

  scroller.addEventListener("pointerdown", (event) => {
    const at = place(event, scroller);
    if (event.button !== 0 || at.x > timeline.left + timeline.width) return;
    scroller.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, at);
    if (pointers.size === 2) {
      pinch = pinchOf(timeline, pointers);
      drag = null;
    } else {
      drag = { at, lo: view.lo, hi: view.hi, scrollTop: scroller.scrollTop, moved: false, marksBand: event.shiftKey };
    }
  });

  scroller.addEventListener("pointermove", (event) => {
    const at = place(event, scroller);
    if (pointers.has(event.pointerId)) pointers.set(event.pointerId, at);
    if (pinch !== null && pointers.size === 2) movePinch(timeline, pinch, pointers);
    else if (drag !== null) moveDrag(timeline, drag, at, event.pointerType === "mouse");
    else if (event.pointerType !== "touch") hover(timeline, at);
  });

  const release = (event) => {
    pointers.delete(event.pointerId);
    if (pointers.size < 2) pinch = null;
    if (drag === null) return;
    const finished = drag;
    drag = null;
    scroller.classList.remove("is-dragging");
    if (event.type === "pointercancel") timeline.band = null;
    else if (timeline.band !== null) endBand(timeline);
    else if (!finished.moved) select(timeline.matchAt(finished.at.x, finished.at.y));
    timeline.schedule();
  };
  scroller.addEventListener("pointerup", release);
  scroller.addEventListener("pointercancel", release);
  scroller.addEventListener("pointerleave", () => hover(timeline, null));
}

function moveDrag(timeline, drag, at, scrollsLanes) {
  const { view, scroller } = timeline;
  if (!drag.moved && Math.hypot(at.x - drag.at.x, at.y - drag.at.y) < DRAG_STARTS_AFTER) return;
  drag.moved = true;
  hover(timeline, null);
  if (drag.marksBand) return moveBand(timeline, drag.at.x, at.x);
  scroller.classList.add("is-dragging");
  const distance = ((drag.at.x - at.x) / timeline.width) * (drag.hi - drag.lo);
  view.show(drag.lo + distance, drag.hi + distance);
  if (scrollsLanes) scroller.scrollTop = drag.scrollTop + drag.at.y - at.y;
}

function moveBand(timeline, from, to) {
  const [lo, hi] = [Math.min(from, to), Math.max(from, to)].map((x) => timeline.toOffset(Math.max(x, timeline.left)));
  timeline.band = { lo, hi };
  timeline.schedule();
}

function endBand(timeline) {
  const { lo, hi } = timeline.band;
  timeline.band = null;
  if (hi > lo) timeline.view.show(lo, hi);
}

function pinchOf(timeline, pointers) {
  const [first, second] = [...pointers.values()];
  return { distance: Math.max(10, Math.abs(first.x - second.x)), span: timeline.view.span, anchor: timeline.toOffset((first.x + second.x) / 2) };
}

function movePinch(timeline, pinch, pointers) {
  const [first, second] = [...pointers.values()];
  const span = pinch.span * (pinch.distance / Math.max(10, Math.abs(first.x - second.x)));
  const lo = pinch.anchor - (((first.x + second.x) / 2 - timeline.left) / timeline.width) * span;
  timeline.view.show(lo, lo + span);
}

function hover(timeline, at) {
  const match = at === null ? null : timeline.matchAt(at.x, at.y);
  const label = at === null ? null : timeline.labelAt(at.x, at.y);
  timeline.scroller.classList.toggle("is-over-match", match !== null);
  byId("tooltip").hidden = match === null && label === null;
  if (match !== null) showTooltip(timeline, at, tooltipText(timeline.report, match));
  else if (label !== null) showTooltip(timeline, at, [label]);
  if (match !== timeline.hovered) {
    timeline.hovered = match;
    timeline.schedule();
  }
}

function showTooltip(timeline, at, content) {
  const tooltip = byId("tooltip");
  tooltip.replaceChildren(...content);
  const isLeft = at.x < timeline.left + timeline.width / 2;
  tooltip.style.left = isLeft ? `${at.x + 14}px` : "auto";
  tooltip.style.right = isLeft ? "auto" : `${timeline.left + timeline.width - at.x + 14}px`;
  tooltip.style.top = `${timeline.scroller.offsetTop + at.y + 14}px`;
}

function tooltipText(report, match) {
  const certainty = match.probability === 1 && match.error === 0 ? [] : [element("div", {}, `probability ${probabilityText(match)}`)];
  return [
    element("div", {}, swatch(match.event), element("strong", {}, match.eventName), ` ${keyLabel(report, match.keyName)}`),
    element("div", {}, `${rangeText(report, match.start, match.end)} · ${lengthText(report, match)}`),
    ...certainty,
    match.withdrawn ? element("div", {}, "withdrawn") : null,
  ].filter((line) => line !== null);
}

function listenToAxis(timeline) {
  const axis = byId("axis");
  let from = null;
  axis.addEventListener("pointerdown", (event) => {
    from = place(event, axis).x;
    axis.setPointerCapture(event.pointerId);
  });
  axis.addEventListener("pointermove", (event) => {
    if (from !== null) moveBand(timeline, from, place(event, axis).x);
  });
  for (const type of ["pointerup", "pointercancel"]) {
    axis.addEventListener(type, () => {
      from = null;
      if (timeline.band !== null) endBand(timeline);
    });
  }
  axis.addEventListener("wheel", (event) => {
    event.preventDefault();
    timeline.view.zoom(wheelFactor(event), timeline.toOffset(place(event, axis).x));
  }, { passive: false });
}

function listenToOverview(timeline) {
  const { view, overview } = timeline;
  let drag = null;
  overview.canvas.addEventListener("pointerdown", (event) => {
    const offset = overview.toOffset(place(event, overview.canvas).x);
    const isInside = offset >= view.lo && offset <= view.hi && !view.isWhole;
    drag = { offset, lo: view.lo, isInside, moved: false };
    overview.canvas.setPointerCapture(event.pointerId);
  });
  overview.canvas.addEventListener("pointermove", (event) => {
    if (drag === null) return;
    const offset = overview.toOffset(place(event, overview.canvas).x);
    if (Math.abs(overview.toX(offset) - overview.toX(drag.offset)) >= DRAG_STARTS_AFTER) drag.moved = true;
    if (!drag.moved) return;
    if (drag.isInside) view.pan(drag.lo + offset - drag.offset - view.lo);
    else view.show(Math.min(drag.offset, offset), Math.max(drag.offset, offset));
  });
  overview.canvas.addEventListener("pointerup", () => {
    if (drag !== null && !drag.moved) view.pan(drag.offset - (view.lo + view.hi) / 2);
    drag = null;
  });
  overview.canvas.addEventListener("pointercancel", () => (drag = null));
  overview.canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    view.zoom(wheelFactor(event), overview.toOffset(place(event, overview.canvas).x));
  }, { passive: false });
}

function pressedKey(timeline, event, select) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { view, selected } = timeline;
  const actions = {
    "+": () => view.zoom(1 / KEY_ZOOM),
    "=": () => view.zoom(1 / KEY_ZOOM),
    "-": () => view.zoom(KEY_ZOOM),
    0: () => view.fit(),
    "[": () => view.pan(-view.span * KEY_PAN),
    "]": () => view.pan(view.span * KEY_PAN),
    ArrowLeft: () => step(timeline, -1, select),
    ArrowRight: () => step(timeline, 1, select),
    ArrowUp: () => changeLane(timeline, -1, select),
    ArrowDown: () => changeLane(timeline, 1, select),
    Enter: () => selected !== null && view.frame(selected),
    Escape: () => select(null),
  };
  if (!Object.hasOwn(actions, event.key)) return;
  event.preventDefault();
  actions[event.key]();
}

function step(timeline, direction, select) {
  const lane = timeline.selected === null ? undefined : timeline.laneOf(timeline.selected);
  if (lane === undefined) return selectFirst(timeline, select);
  const next = lane.matches[lane.matches.indexOf(timeline.selected) + direction];
  if (next !== undefined) select(next);
}

function changeLane(timeline, direction, select) {
  const { selected, layout } = timeline;
  const index = selected === null ? undefined : layout.byKey.get(selected.key);
  if (index === undefined) return selectFirst(timeline, select);
  const lane = layout.lanes[index + direction];
  if (lane === undefined) return;
  const distance = (match) => Math.abs(match.start + match.end - selected.start - selected.end);
  select(lane.matches.reduce((nearest, match) => (distance(match) < distance(nearest) ? match : nearest)));
}

function selectFirst(timeline, select) {
  const { view, layout, scroller } = timeline;
  if (layout.lanes.length === 0) return;
  const lane = layout.lanes[laneAt(layout, scroller.scrollTop)];
  select(lane.matches.find((match) => match.end >= view.lo && match.start <= view.hi) ?? lane.matches[0]);
}
