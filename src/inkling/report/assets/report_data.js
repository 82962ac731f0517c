// The page's JSON as objects. Times are offsets from `origin`, which may be larger than a float holds exactly.

function readReport() {
  const raw = JSON.parse(byId("report-data").textContent);
  const named = (shape, values) => raw.shapes[shape].map((name, position) => [name, values[position]]);

  const members = raw.members.map(([stream, id, start, end, imprecision, shape, ...values]) => ({
    stream: raw.streams[stream],
    id,
    start,
    end,
    isImprecise: imprecision !== 0 && end > start,
    weights: Array.isArray(imprecision) ? imprecision : [1],
    values: named(shape, values),
  }));

  const lines = raw.lines.map(([key, ends, labels]) => segmentLine(key, ends, labels));

  const matches = raw.matches.map((row, index) => {
    const [event, key, start, end, detectedAt, probability, method, error, op, lineage, memberRows, shape, ...values] = row;
    return {
      index,
      event,
      eventName: raw.events[event],
      key,
      keyName: raw.keys[key],
      start,
      end,
      detectedAt,
      probability,
      method: raw.methods[method],
      error: Number(error),
      isCertain: probability === 1 && Number(error) === 0,
      withdrawn: op === "-",
      lineage,
      members: memberRows.map((position) => members[position]),
      values: named(shape, values),
      examined: examinedResult(raw.examined[index]),
      related: (raw.related[index] ?? []).map((position) => lines[position]),
    };
  });

  return {
    hasUncertainty: raw.hasUncertainty,
    isTimestamp: raw.timeKind === "timestamp",
    tickMicros: raw.tickMicros,
    origin: BigInt(raw.origin),
    events: raw.events,
    keys: raw.keys,
    matches,
    curves: raw.curves.map(([event, key, points, happened, decided, nKeys, hasTruth, hasDecisions]) => ({ event, keyName: key, points, happened, decided, nKeys, hasTruth, hasDecisions })),
    latest: matches.reduce((latest, match) => Math.max(latest, match.end), 0),
  };
}

function examinedResult(row) {
  if (row === undefined) return null;
  const [starts, ends, influences] = row;
  const bins = (spread) => spread.map(([low, high, share]) => ({ low, high, share }));
  return {
    starts: bins(starts),
    ends: bins(ends),
    influences: influences.map(([stream, id, low, high, without, share]) => ({ stream, id, low, high, without, share })),
  };
}

function segmentLine(key, ends, labels) {
  const points = ends.map(([low, high, lost, passed]) => ({ low, high, isLost: lost === 1, passed: passed ?? [] }));
  const segments = [];
  for (let place = 0; place < points.length; place += 2) segments.push({ opens: points[place], closes: points[place + 1], label: labels[place / 2] ?? null });
  return { keyName: key, segments };
}

function keyLabel(report, keyName) {
  if (keyName !== "") return keyName;
  return report.keys.length === 1 ? "all events" : "(no key)";
}
