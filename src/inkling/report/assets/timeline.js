// The chart of matches: where everything lies, what is under the pointer, and what is drawn.

const GUTTER = 132;
const NARROW = 560;
const REACH = 6;

class Timeline {
  constructor(report, view) {
    Object.assign(this, { report, view, matches: [], order: "key", selected: null, hovered: null, pointedMember: null, band: null });
    this.scroller = byId("lane-scroller");
    this.canvas = byId("lanes");
    this.overview = new Overview(byId("overview"), report, view);
    this.schedule = oncePerFrame(() => this.draw());
    this.readTheme();
    view.onChange(this.schedule);
    this.scroller.addEventListener("scroll", this.schedule, { passive: true });
    new ResizeObserver(() => this.layOut()).observe(byId("chart"));
  }

  readTheme() {
    this.palette = readPalette(this.report.events.length);
  }

  show(matches, order) {
    Object.assign(this, { matches, order });
    this.layOut();
  }

  layOut() {
    const isNarrow = byId("chart").clientWidth < NARROW;
    this.layout = buildLanes(this.report, this.matches, this.order, isNarrow);
    byId("no-lanes").hidden = this.layout.lanes.length > 0;
    this.scroller.hidden = this.layout.lanes.length === 0;
    this.scroller.style.height = `${this.layout.height}px`;
    byId("lane-spacer").style.height = `${this.layout.height}px`;
    this.left = isNarrow ? 0 : GUTTER;
    this.width = Math.max(40, (this.scroller.clientWidth || byId("chart").clientWidth) - this.left);
    this.height = this.scroller.clientHeight;
    byId("lane-spacer").style.marginTop = `${-this.height}px`;
    this.overview.count(this.matches, this.left, this.width);
    this.draw();
  }

  toX(offset) {
    return this.left + ((offset - this.view.lo) / this.view.span) * this.width;
  }

  toOffset(x) {
    return this.view.lo + ((x - this.left) / this.width) * this.view.span;
  }

  laneOf(match) {
    return this.layout.lanes[this.layout.byKey.get(match.key)];
  }

  matchAt(x, y) {
    if (x < this.left || this.layout.lanes.length === 0) return null;
    const lane = this.layout.lanes[laneAt(this.layout, y + this.scroller.scrollTop)];
    let best = null;
    let bestCost = Infinity;
    for (const match of lane.matches) {
      const box = barBox(match, (offset) => this.toX(offset));
      const across = Math.max(box.x - x, 0, x - box.x - box.width);
      const top = barTop(lane, match) - this.scroller.scrollTop;
      const down = Math.max(top - y, 0, y - top - lane.barHeight);
      // nearest bar first; among bars under the pointer the shortest, which is the hardest to hit
      const cost = Math.hypot(across, down) + box.width * 1e-6;
      if (across <= REACH && down <= REACH && cost < bestCost) [best, bestCost] = [match, cost];
    }
    return best;
  }

  labelAt(x, y) {
    if (x >= this.left || this.layout.lanes.length === 0) return null;
    return this.layout.lanes[laneAt(this.layout, y + this.scroller.scrollTop)].label;
  }

  reveal(match) {
    const lane = this.laneOf(match);
    if (lane === undefined) return;
    const isAbove = lane.top < this.scroller.scrollTop;
    const isBelow = lane.top + lane.height > this.scroller.scrollTop + this.height;
    if (isAbove || isBelow) this.scroller.scrollTop = lane.top - (this.height - lane.height) / 2;
    this.view.include(match);
  }

  draw() {
    this.overview.draw(this.palette);
    const ticks = axisTicks(this.report, this.view, this.width).map((tick) => ({ ...tick, offset: Number(tick.time - this.report.origin) }));
    const toX = (offset) => this.toX(offset);
    drawAxis(byId("axis"), ticks, { left: this.left, width: this.width, toX });
    byId("view-range").textContent = viewText(this.report, this.view);
    if (this.layout.lanes.length > 0) this.drawLanes(ticks, toX);
  }

  drawLanes(ticks, toX) {
    const context = sizeCanvas(this.canvas, this.left + this.width, this.height);
    const { palette, layout } = this;
    const scrolled = this.scroller.scrollTop;
    const first = laneAt(layout, scrolled);
    const last = laneAt(layout, scrolled + this.height);
    context.save();
    context.translate(0, -scrolled);
    for (let index = first; index <= last; index += 1) this.drawStripe(context, layout.lanes[index], index);
    this.clipToPlot(context, scrolled, () => {
      context.fillStyle = palette.line;
      for (const tick of ticks) context.fillRect(Math.round(toX(tick.offset)), scrolled, 1, this.height);
      this.drawGuides(context, scrolled, toX);
      for (let index = first; index <= last; index += 1) this.drawBars(context, layout.lanes[index], toX);
      this.drawSelection(context, toX);
      if (this.band !== null) this.drawBand(context, scrolled);
    });
    context.restore();
  }

  clipToPlot(context, scrolled, paint) {
    context.save();
    context.beginPath();
    context.rect(this.left, scrolled, this.width, this.height);
    context.clip();
    paint();
    context.restore();
  }

  drawStripe(context, lane, index) {
    const { palette } = this;
    if (index % 2 === 0) {
      context.fillStyle = palette.stripe;
      context.fillRect(0, lane.top, this.left + this.width, lane.height);
    }
    const isSelected = this.selected !== null && this.selected.key === lane.key;
    context.fillStyle = isSelected ? palette.ink : palette.quiet;
    context.font = `${isSelected ? 600 : 400} 12px system-ui, sans-serif`;
    context.textBaseline = "middle";
    const isAbove = this.left === 0;
    const room = isAbove ? this.width - 16 : this.left - 20;
    const middle = isAbove ? lane.top + LANE.padding + LANE.label / 2 - 1 : lane.top + lane.height / 2;
    context.fillText(fittedText(context, lane.label, room), 8, middle);
  }

  drawBars(context, lane, toX) {
    for (const match of lane.matches) {
      if (match.end < this.view.lo - this.view.span * 0.02 || match.start > this.view.hi + this.view.span * 0.02) continue;
      paintBar(context, match, { ...barBox(match, toX), y: barTop(lane, match), height: lane.barHeight, color: this.palette.events[match.event] });
    }
  }

  drawGuides(context, scrolled, toX) {
    if (this.selected === null || this.laneOf(this.selected) === undefined) return;
    context.strokeStyle = this.palette.quiet;
    context.setLineDash([2, 3]);
    context.lineWidth = 1;
    context.beginPath();
    for (const offset of new Set([this.selected.start, this.selected.end])) {
      const x = Math.round(toX(offset)) + 0.5;
      context.moveTo(x, scrolled);
      context.lineTo(x, scrolled + this.height);
    }
    context.stroke();
    context.setLineDash([]);
  }

  drawSelection(context, toX) {
    for (const match of new Set([this.hovered, this.selected])) {
      if (match === null || this.laneOf(match) === undefined) continue;
      const lane = this.laneOf(match);
      const box = { ...barBox(match, toX), y: barTop(lane, match), height: lane.barHeight };
      paintRing(context, box, match === this.selected ? this.palette.ink : this.palette.quiet, this.palette.surface);
      paintBar(context, match, { ...box, color: this.palette.events[match.event] });
      if (match === this.selected) paintMembers(context, match.members, this.pointedMember, { ...box, toX, palette: this.palette });
    }
  }

  drawBand(context, scrolled) {
    const [from, to] = [this.toX(this.band.lo), this.toX(this.band.hi)];
    context.globalAlpha = 0.16;
    context.fillStyle = this.palette.accent;
    context.fillRect(from, scrolled, to - from, this.height);
    context.globalAlpha = 1;
  }
}
