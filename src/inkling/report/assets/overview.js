// The whole run in one strip: how many matches are open at each moment, and which stretch the lanes show.

const OVERVIEW_HEIGHT = 46;
const BIN_PIXELS = 3;

class Overview {
  constructor(canvas, report, view) {
    Object.assign(this, { canvas, report, view, bins: [], tallest: 1, left: 0, width: 1 });
  }

  count(matches, left, width) {
    Object.assign(this, { left, width });
    const nBins = Math.max(1, Math.floor(width / BIN_PIXELS));
    const { lo, hi } = this.view.extent;
    const binOf = (offset) => Math.min(nBins - 1, Math.floor(((offset - lo) / (hi - lo)) * nBins));
    const steps = this.report.events.map(() => new Int32Array(nBins + 1));
    for (const match of matches) {
      steps[match.event][binOf(match.start)] += 1;
      steps[match.event][binOf(match.end) + 1] -= 1;
    }
    this.bins = steps.map((changes) => {
      let open = 0;
      return changes.map((change) => (open += change));
    });
    this.tallest = 1;
    for (let bin = 0; bin < nBins; bin += 1) this.tallest = Math.max(this.tallest, this.bins.reduce((sum, counts) => sum + counts[bin], 0));
  }

  toX(offset) {
    const { lo, hi } = this.view.extent;
    return this.left + ((offset - lo) / (hi - lo)) * this.width;
  }

  toOffset(x) {
    const { lo, hi } = this.view.extent;
    return lo + ((x - this.left) / this.width) * (hi - lo);
  }

  draw(palette) {
    const context = sizeCanvas(this.canvas, this.left + this.width, OVERVIEW_HEIGHT);
    const nBins = this.bins.length === 0 ? 0 : this.bins[0].length - 1;
    const pixels = this.width / nBins;
    // square root, so that one match stays visible beside a crowd
    const heightOf = (open) => Math.sqrt(open / this.tallest) * (OVERVIEW_HEIGHT - 8);
    for (let bin = 0; bin < nBins; bin += 1) {
      const all = this.bins.reduce((sum, counts) => sum + counts[bin], 0);
      if (all === 0) continue;
      let y = OVERVIEW_HEIGHT - 1;
      this.bins.forEach((counts, event) => {
        const height = (counts[bin] / all) * heightOf(all);
        context.fillStyle = palette.events[event];
        context.fillRect(this.left + bin * pixels, y - height, Math.max(1, pixels - 0.6), height);
        y -= height;
      });
    }
    this.drawWindow(context, palette);
  }

  drawWindow(context, palette) {
    const [from, to] = [this.toX(this.view.lo), this.toX(this.view.hi)];
    context.fillStyle = palette.surface;
    context.globalAlpha = 0.72;
    context.fillRect(this.left, 0, from - this.left, OVERVIEW_HEIGHT);
    context.fillRect(to, 0, this.left + this.width - to, OVERVIEW_HEIGHT);
    context.globalAlpha = 1;
    context.strokeStyle = this.view.isWhole ? palette.line : palette.accent;
    context.lineWidth = 1.5;
    context.beginPath();
    context.roundRect(from + 0.75, 0.75, Math.max(2, to - from - 1.5), OVERVIEW_HEIGHT - 1.5, 4);
    context.stroke();
  }
}
