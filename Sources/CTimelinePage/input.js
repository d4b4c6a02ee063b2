// Mouse, touch and keys, and the start of the page.

function show(from, to) {
  const margin = about.length * 0.02;
  let span = Math.max(SPAN_LEAST, Math.min(to - from, about.length + 2 * margin));
  const start = Math.max(-margin, Math.min(from, about.length + margin - span));
  view.from = start;
  view.to = start + span;
  redraw();
}

function zoom(factor, at = (view.from + view.to) / 2) {
  const span = Math.max(SPAN_LEAST, (view.to - view.from) * factor);
  const share = (at - view.from) / (view.to - view.from);
  show(at - span * share, at - span * share + span);
}

function pan(share) {
  const by = (view.to - view.from) * share;
  show(view.from + by, view.to + by);
}

function scroll(by) {
  view.top += by;
  redraw();
}

function fit() { show(0, about.length); }

function setGrouping(byThread) {
  view.byThread = byThread;
  document.getElementById("by-queue").ariaPressed = String(!byThread);
  document.getElementById("by-thread").ariaPressed = String(byThread);
  view.top = 0;
  if (view.selected >= 0) goTo(view.selected);
  redraw();
}

function setTheme(isDark) {
  document.documentElement.classList.toggle("dark", isDark);
  readColors();
  redraw();
}

// The item at a point; of those that share the pixel, the longest.
function itemUnder(x, y) {
  const from = timeAt(x - 1.5);
  const to = timeAt(x + 1.5);
  for (const lane of grouping().lanes) {
    for (let row = 0; row < lane.rows.length; row++) {
      const top = yOf(lane, row);
      if (y < top - 1 || y >= top + size.row - 1) continue;
      const { items } = lane.rows[row];
      let best = -1;
      let at = items.after(from);
      for (let looked = 0; at < items.count && items.starts[at] < to && looked < 5000; at++, looked++) {
        const item = items.ids[at];
        if (best < 0 || data.end[item] - data.start[item] > data.end[best] - data.start[best]) {
          best = item;
        }
      }
      return best;
    }
  }
  return -1;
}

// One pointer moves, two zoom.

const pointers = new Map();
let travelled = 0;

function pointOf(event) {
  const box = chart.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

chart.addEventListener("pointerdown", (event) => {
  chart.focus({ preventScroll: true });
  chart.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, pointOf(event));
  if (pointers.size === 1) travelled = 0;
  tip.hidden = true;
});

chart.addEventListener("pointermove", (event) => {
  const now = pointOf(event);
  const before = pointers.get(event.pointerId);
  if (!before) return showTip(event, now);
  pointers.set(event.pointerId, now);
  travelled += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
  if (pointers.size === 2) {
    const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
    const wide = Math.max(20, Math.abs(now.x - other.x));
    zoom(Math.max(20, Math.abs(before.x - other.x)) / wide, timeAt((now.x + other.x) / 2));
  } else if (travelled > 4) {
    pan((before.x - now.x) / plotWidth());
    scroll(before.y - now.y);
  }
});

function release(event) {
  if (!pointers.delete(event.pointerId) || pointers.size > 0 || travelled > 4) return;
  if (event.type === "pointerup") {
    const { x, y } = pointOf(event);
    if (x >= size.gutter && y >= RULER) select(itemUnder(x, y));
  }
}

chart.addEventListener("pointerup", release);
chart.addEventListener("pointercancel", release);
chart.addEventListener("pointerleave", () => { tip.hidden = true; });
chart.addEventListener("dblclick", (event) => zoom(0.25, timeAt(pointOf(event).x)));

chart.addEventListener("wheel", (event) => {
  event.preventDefault();
  const unit = event.deltaMode === 1 ? 16 : 1;
  const { x } = pointOf(event);
  if (x < size.gutter) scroll(event.deltaY * unit);
  else if (event.shiftKey) pan((event.deltaX || event.deltaY) * unit / plotWidth());
  else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(event.deltaX * unit / plotWidth());
  else zoom(Math.exp(event.deltaY * unit * 0.002), timeAt(x));
}, { passive: false });

const tip = document.getElementById("tip");

function showTip(event, { x, y }) {
  const item = x < size.gutter || y < RULER ? -1 : itemUnder(x, y);
  chart.style.cursor = item < 0 ? "grab" : "pointer";
  tip.hidden = item < 0 || event.pointerType === "touch";
  if (tip.hidden) return;
  const waited = data.start[item] - data.submit[item];
  tip.textContent = [
    codeName(item), queueName(data.queue[item]),
    (Number.isNaN(waited) ? "" : `waited ${duration(Math.max(0, waited))}, `)
      + `ran ${duration(data.end[item] - data.start[item])}`,
  ].filter((line) => line).join("\n");
  tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8)}px`;
}

function moveOverview(event) {
  const box = overview.getBoundingClientRect();
  const middle = (event.clientX - box.left) / box.width * about.length;
  const half = (view.to - view.from) / 2;
  show(middle - half, middle + half);
}

overview.addEventListener("pointerdown", (event) => {
  overview.setPointerCapture(event.pointerId);
  moveOverview(event);
});
overview.addEventListener("pointermove", (event) => {
  if (event.buttons & 1) moveOverview(event);
});
overview.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoom(Math.exp(event.deltaY * 0.002));
}, { passive: false });

const help = document.getElementById("help");
const keys = {
  "+": () => zoom(0.6),
  "=": () => zoom(0.6),
  "-": () => zoom(1 / 0.6),
  "0": fit,
  ArrowLeft: () => pan(-0.15),
  ArrowRight: () => pan(0.15),
  ArrowUp: () => scroll(-60),
  ArrowDown: () => scroll(60),
  PageUp: () => scroll(-size.height * 0.8),
  PageDown: () => scroll(size.height * 0.8),
  Home: () => show(0, view.to - view.from),
  End: () => show(about.length - (view.to - view.from), about.length),
  t: () => setGrouping(!view.byThread),
  j: () => step(1),
  k: () => step(-1),
  f: zoomToSelected,
  s: () => {
    const inside = view.selected < 0 ? -1 : originOf(view.selected)?.inside ?? -1;
    if (inside >= 0) goTo(inside);
  },
  n: () => nextMatch(1),
  p: () => nextMatch(-1),
  d: () => setTheme(!document.documentElement.classList.contains("dark")),
  "/": () => search.focus(),
  "?": () => help.showModal(),
  Escape: () => (view.selected >= 0 ? select(-1) : (search.value = "", searchFor(""))),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  if (event.target === search) {
    if (event.key === "Escape") { search.value = ""; searchFor(""); chart.focus(); }
    if (event.key === "Enter") { chart.focus(); nextMatch(event.shiftKey ? -1 : 1); }
    return;
  }
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});

search.addEventListener("input", () => searchFor(search.value));
for (const [id, action] of Object.entries({
  "by-queue": () => setGrouping(false),
  "by-thread": () => setGrouping(true),
  "zoom-in": () => zoom(0.6),
  "zoom-out": () => zoom(1 / 0.6),
  fit,
  theme: keys.d,
  "help-open": keys["?"],
})) document.getElementById(id).addEventListener("click", action);

const stats = { load: 0, draw: 0 };
const data = decode();
const threads = buildThreads();
const queues = buildQueues();
document.title = `${about.name} – timeline`;
document.getElementById("name").textContent = about.name;
document.getElementById("facts").textContent = [
  `process ${about.process}`, duration(about.length), plural(data.count, "item"),
  plural(queues.lanes.length, "queue"), plural(threads.lanes.length, "thread"),
  about.interval > 1 ? `one item in ${about.interval}` : "",
  about.lostBytes > 0 ? `${grouped(about.lostBytes)} bytes of events were lost` : "",
].filter((fact) => fact).join(" · ");
showFindings();
measure();
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
prefersDark.addEventListener("change", () => setTheme(prefersDark.matches));
setTheme(prefersDark.matches);
setGrouping(false);
fit();
new ResizeObserver(() => { measure(); redraw(); }).observe(chart);
draw();
stats.load = performance.now();
chart.focus({ preventScroll: true });
