// The stretch of time on screen: it zooms and pans inside the extent of the data.

class View {
  constructor(report) {
    const length = report.latest;
    const smallest = report.isTimestamp ? MICROS.second : 2;
    const margin = Math.max(length * 0.02, length === 0 ? smallest / 2 : 0);
    this.extent = { lo: -margin, hi: length + margin };
    this.shortest = Math.min(report.isTimestamp ? 20 : 4, this.extent.hi - this.extent.lo);
    this.lo = this.extent.lo;
    this.hi = this.extent.hi;
    this.listeners = [];
  }

  get span() {
    return this.hi - this.lo;
  }

  get isWhole() {
    return this.lo === this.extent.lo && this.hi === this.extent.hi;
  }

  onChange(listener) {
    this.listeners.push(listener);
  }

  show(lo, hi) {
    const whole = this.extent.hi - this.extent.lo;
    const span = Math.min(Math.max(hi - lo, this.shortest), whole);
    const middle = (lo + hi) / 2;
    if (span === whole) {
      Object.assign(this, this.extent);
    } else {
      this.lo = Math.min(Math.max(middle - span / 2, this.extent.lo), this.extent.hi - span);
      this.hi = this.lo + span;
    }
    for (const listener of this.listeners) listener();
  }

  fit() {
    this.show(this.extent.lo, this.extent.hi);
  }

  zoom(factor, anchor = (this.lo + this.hi) / 2) {
    const span = Math.min(Math.max(this.span * factor, this.shortest), this.extent.hi - this.extent.lo);
    const lo = anchor - ((anchor - this.lo) / this.span) * span;
    this.show(lo, lo + span);
  }

  pan(distance) {
    this.show(this.lo + distance, this.hi + distance);
  }

  include(match) {
    if (match.end >= this.lo && match.start <= this.hi) return;
    const middle = (match.start + match.end) / 2;
    this.show(middle - this.span / 2, middle + this.span / 2);
  }

  frame(match) {
    const length = match.end - match.start;
    const room = length > 0 ? length * 0.3 : Math.max(this.span / 40, this.shortest);
    this.show(match.start - room, match.end + room);
  }
}
