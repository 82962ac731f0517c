// One lane per key; matches of a lane that overlap in time go to different tracks.

const MOST_TRACKS = 16;
const LANE = { padding: 6, track: 9, gap: 2, single: 12, label: 15 };

function buildLanes(report, matches, order, hasLabelAbove) {
  const byKey = new Map();
  for (const match of matches) {
    if (!byKey.has(match.key)) byKey.set(match.key, []);
    byKey.get(match.key).push(match);
  }
  const lanes = [...byKey.entries()].map(([key, own]) => packedLane(keyLabel(report, report.keys[key]), key, own));
  lanes.sort(LANE_ORDERS[order]);
  let top = 0;
  for (const lane of lanes) {
    lane.top = top;
    lane.barsTop = top + LANE.padding + (hasLabelAbove ? LANE.label : 0);
    lane.barHeight = lane.nTracks === 1 ? LANE.single : LANE.track;
    lane.height = lane.barsTop - top + lane.nTracks * (lane.barHeight + LANE.gap) - LANE.gap + LANE.padding;
    top += lane.height;
  }
  return { lanes, height: top, byKey: new Map(lanes.map((lane, index) => [lane.key, index])) };
}

const byLabel = (first, second) => first.label.localeCompare(second.label, "en", { numeric: true });
const LANE_ORDERS = {
  key: byLabel,
  most: (first, second) => second.matches.length - first.matches.length || byLabel(first, second),
  first: (first, second) => first.matches[0].start - second.matches[0].start || byLabel(first, second),
};

function packedLane(label, key, unordered) {
  const matches = unordered.toSorted((first, second) => first.start - second.start || second.end - first.end || first.index - second.index);
  const trackEnds = [];
  const tracks = new Map();
  for (const match of matches) {
    let track = trackEnds.findIndex((end) => end < match.start);
    if (track === -1 && trackEnds.length < MOST_TRACKS) track = trackEnds.length;
    if (track === -1) track = trackEnds.indexOf(Math.min(...trackEnds));
    trackEnds[track] = Math.max(match.end, trackEnds[track] ?? -Infinity);
    tracks.set(match, track);
  }
  return { label, key, matches, tracks, nTracks: trackEnds.length };
}

function laneAt(layout, y) {
  let lo = 0;
  let hi = layout.lanes.length - 1;
  while (lo < hi) {
    const middle = (lo + hi + 1) >> 1;
    if (layout.lanes[middle].top <= y) lo = middle;
    else hi = middle - 1;
  }
  return lo;
}

const barTop = (lane, match) => lane.barsTop + lane.tracks.get(match) * (lane.barHeight + LANE.gap);
