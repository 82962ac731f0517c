// One color per event, the same on the canvas and in the page.

const N_CHOSEN_COLORS = 20;
const GOLDEN_ANGLE = 137.508;

function eventColor(event) {
  return event < N_CHOSEN_COLORS ? `var(--event-${event})` : `oklch(var(--event-lightness) 0.13 ${(event * GOLDEN_ANGLE) % 360})`;
}

function paintSwatches(root) {
  for (const swatch of root.querySelectorAll("[data-event]")) {
    swatch.style.setProperty("--event", eventColor(Number(swatch.dataset.event)));
  }
}

function swatch(event) {
  const made = element("span", { class: "swatch", "data-event": event });
  made.style.setProperty("--event", eventColor(event));
  return made;
}

// A canvas knows no CSS variables, so they are read once per theme.
function readPalette(nEvents) {
  const style = getComputedStyle(document.documentElement);
  const variable = (name) => style.getPropertyValue(name).trim();
  const lightness = variable("--event-lightness");
  const events = Array.from({ length: nEvents }, (_, event) =>
    event < N_CHOSEN_COLORS ? variable(`--event-${event}`) : eventColor(event).replace("var(--event-lightness)", lightness),
  );
  return {
    events,
    surface: variable("--surface"),
    ink: variable("--ink"),
    quiet: variable("--quiet"),
    line: variable("--line"),
    stripe: variable("--stripe"),
    accent: variable("--accent"),
  };
}
