// Strokes on the lane canvas: stripes, grid, bars filled to their probability, marks of matched events.

const SMALLEST_BAR = 7;

function sizeCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== across || canvas.height !== down) {
    canvas.width = across;
    canvas.height = down;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

function barBox(match, toX) {
  const from = toX(match.start);
  const width = toX(match.end) - from;
  return width >= SMALLEST_BAR ? { x: from, width } : { x: from + width / 2 - SMALLEST_BAR / 2, width: SMALLEST_BAR };
}

function paintBar(context, match, { x, y, width, height, color }) {
  const radius = Math.min(3, width / 2);
  context.beginPath();
  context.roundRect(x, y, width, height, radius);
  if (match.withdrawn) {
    context.setLineDash([3, 2]);
    context.strokeStyle = color;
    context.lineWidth = 1;
    context.stroke();
    context.setLineDash([]);
    return;
  }
  context.fillStyle = color;
  if (match.probability >= 1) {
    context.globalAlpha = 0.88;
    context.fill();
  } else {
    context.globalAlpha = 0.28;
    context.fill();
    context.globalAlpha = 0.88;
    context.save();
    context.clip();
    const level = height * match.probability;
    context.fillRect(x, y + height - level, width, level);
    context.restore();
  }
  context.globalAlpha = 1;
}

function paintRing(context, { x, y, width, height }, color, surface) {
  for (const [stroke, lineWidth, distance] of [[surface, 4, 2], [color, 2, 2.5]]) {
    context.beginPath();
    context.roundRect(x - distance, y - distance, width + 2 * distance, height + 2 * distance, 5);
    context.strokeStyle = stroke;
    context.lineWidth = lineWidth;
    context.stroke();
  }
}

function paintMembers(context, members, pointed, { y, height, toX, palette }) {
  const middle = y + height / 2;
  for (const member of members) {
    const [from, to] = [toX(member.start), toX(member.end)];
    if (member.isImprecise) {
      paintReach(context, from, to, middle, member === pointed ? 6 : 4, palette);
      continue;
    }
    if (to - from > 1) {
      context.fillStyle = palette.ink;
      context.fillRect(from, middle - 1, to - from, 2);
    }
    for (const x of to - from > 1 ? [from, to] : [from]) paintDiamond(context, x, middle, member === pointed ? 7 : 4.5, palette);
  }
}

// A moment somewhere in between: an error bar, not an event that lasts.
function paintReach(context, from, to, middle, size, palette) {
  context.beginPath();
  for (const x of [from, to]) {
    context.moveTo(x, middle - size);
    context.lineTo(x, middle + size);
  }
  context.moveTo(from, middle);
  context.lineTo(to, middle);
  for (const [color, width] of [[palette.surface, 4], [palette.ink, 1.5]]) {
    context.strokeStyle = color;
    context.lineWidth = width;
    context.stroke();
  }
}

function paintDiamond(context, x, y, size, palette) {
  context.beginPath();
  context.moveTo(x, y - size);
  context.lineTo(x + size, y);
  context.lineTo(x, y + size);
  context.lineTo(x - size, y);
  context.closePath();
  context.fillStyle = palette.ink;
  context.strokeStyle = palette.surface;
  context.lineWidth = 1.5;
  context.fill();
  context.stroke();
}

// The text as far as it fits: its beginning, or the end of an IRI, whose beginning is that of many others.
function fittedText(context, text, width) {
  if (text.length * 3 < width && context.measureText(text).width <= width) return text;
  let [lo, hi] = [0, Math.min(text.length, Math.ceil(width / 3))];
  if (hi === text.length && context.measureText(text).width <= width) return text;
  const isIri = /^<\S+>$/.test(text);
  const shortened = (length) => (isIri ? `…${text.slice(text.length - length)}` : `${text.slice(0, length)}…`);
  while (lo < hi) {
    const middle = (lo + hi + 1) >> 1;
    if (context.measureText(shortened(middle)).width <= width) lo = middle;
    else hi = middle - 1;
  }
  return shortened(lo);
}
