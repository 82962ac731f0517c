-- The heat index of weather stations, classified and by area.
-- Data: inkling generate heat

STREAM Felt(id BIGINT, station STRING, t TIMESTAMP, fahrenheit DOUBLE) ID id KEY station TIME t;
STREAM Temperature(id STRING, station STRING, t TIMESTAMP, fahrenheit DOUBLE) ID id KEY station TIME t;
STREAM Humidity(id STRING, station STRING, t TIMESTAMP, percent DOUBLE) ID id KEY station TIME t;

TABLE stations(station STRING, x DOUBLE, y DOUBLE) FROM 'stations.csv';
TABLE areas(area STRING, west DOUBLE, east DOUBLE, south DOUBLE, north DOUBLE) FROM 'areas.csv';
TABLE notes(note STRING, low DOUBLE, high DOUBLE) FROM 'notes.csv';

-- Areas are open rectangles: a station on the border between two areas is in neither.
RULE stands_in(station, area) IF
  stations(station, x, y) AND areas(area, west, east, south, north)
  AND west < x AND x < east AND south < y AND y < north;

RULE note_of(index, note) IF notes(note, low, high) AND low <= index AND index < high;

-- A note is worse than another if its range begins at or above the end of the other's range.
RULE worse(note, other) IF notes(note, low, high) AND notes(other, least, most) AND low >= most;

-- Some stations measure the index; for others it is computed from two readings of the same half hour.
EVENT heat_index(f.station AS station, f.fahrenheit AS fahrenheit) AS
  PATTERN Felt f
  PER INTERVAL;

EVENT heat_index(t.station AS station, fahrenheit) AS
  PATTERN Temperature t AND Humidity h[station = t.station]
  WHERE fahrenheit = -42.379 + 2.04901523 * t.fahrenheit + 10.14333127 * h.percent
      - 0.22475541 * t.fahrenheit * h.percent - 0.00683783 * t.fahrenheit * t.fahrenheit
      - 0.05481717 * h.percent * h.percent + 0.00122874 * t.fahrenheit * t.fahrenheit * h.percent
      + 0.00085282 * t.fahrenheit * h.percent * h.percent
      - 0.00000199 * t.fahrenheit * t.fahrenheit * h.percent * h.percent
  WITHIN 30 MINUTES
  PER INTERVAL;

-- Classification: there is no note below 80.
EVENT effect(i.station AS station, area, note, i.fahrenheit AS fahrenheit) AS
  PATTERN heat_index i
  WHERE note_of(i.fahrenheit, note) AND stands_in(i.station, area);

EVENT worsening(a.area AS area, a.note AS before, b.note AS note) AS
  PATTERN SEQ(effect a, effect b)
  WHERE b.station = a.station AND worse(b.note, a.note)
  WITHIN 3 HOURS
  PER INTERVAL;

-- Six hours with a dangerous mean index.
EVENT mean_index(station, fahrenheit) AS
  PATTERN WINDOW Felt w LAST 6 EVENTS
  WHERE fahrenheit = AVG(w.fahrenheit)
  PARTITION BY station;

EVENT heat_wave(m.station AS station, area) AS
  PATTERN mean_index m[fahrenheit >= 105]
  WHERE stands_in(m.station, area);
