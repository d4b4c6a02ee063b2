// The selected item, the search and the findings.

const panel = document.getElementById("panel");
let selectedChildren = [];

function select(item) {
  view.selected = item;
  selectedChildren = item < 0 ? [] : submittedBy(item);
  showPanel();
  redraw();
}

function element(name, text, options = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(options)) made[key] = value;
  return made;
}

function showPanel() {
  const item = view.selected;
  const wasHidden = panel.hidden;
  panel.hidden = item < 0;
  if (wasHidden !== panel.hidden) measure();
  if (item < 0) return;
  const list = document.createElement("dl");
  const row = (name, value, isRed = false) => {
    const cell = element("dd", typeof value === "string" ? value : undefined);
    if (typeof value !== "string") cell.append(value);
    if (isRed) cell.className = "red";
    list.append(element("dt", name), cell);
  };
  const isOver = !data.unfinished.has(item);
  const code = codeName(item);
  if (code) row("function", code);
  row("queue", `${queueName(data.queue[item])} (${about.queues[data.queue[item]].kind})`);
  row("thread", threadName(data.thread[item]));
  const waited = Math.max(0, data.start[item] - data.submit[item]);
  if (!Number.isNaN(waited)) row("waited", duration(waited), waited >= 1e6);
  row("ran", duration(data.end[item] - data.start[item]) + (isOver ? "" : ", still running"));
  for (const wait of waitsOf(item).slice(0, 20)) {
    row("of that", `${duration(wait.end - wait.start)} waiting: ${waitName(wait)}`, true);
  }
  if (Number.isNaN(data.submit[item])) {
    row("submitted", "not recorded");
  } else {
    row("submitted at", moment(data.submit[item]));
    const inside = originOf(item)?.inside ?? -1;
    const thread = threadName(data.submitter[item]);
    row("submitted by", inside < 0 ? thread
      : linkTo(inside, `an item of ${queueName(data.queue[inside])}, on ${thread}`));
  }
  const frames = originNames(item);
  for (const [depth, frame] of frames.entries()) row(depth === 0 ? "from" : "called by", frame);
  row("started at", moment(data.start[item]));
  if (selectedChildren.length > 0) {
    const count = plural(selectedChildren.length, "item");
    const more = selectedChildren.length === 1000 ? " or more" : "";
    row("submitted", linkTo(selectedChildren[0], count + more));
  }
  const buttons = element("div", undefined, { className: "row" });
  buttons.append(
    element("button", "Zoom  f", { onclick: zoomToSelected }),
    element("button", "‹ k", { onclick: () => step(-1), title: "previous item of the lane" }),
    element("button", "j ›", { onclick: () => step(1), title: "next item of the lane" }));
  panel.replaceChildren(
    element("button", "✕", { className: "close", onclick: () => select(-1), ariaLabel: "Close" }),
    element("h2", code || `Item of ${queueName(data.queue[item])}`), list, buttons);
}

function linkTo(item, text) {
  return element("button", text, { className: "link", onclick: () => goTo(item) });
}

function waitsOf(item) {
  return data.waits.filter((wait) => wait.item === item);
}

// Selects an item and moves so that it can be seen.
function goTo(item) {
  select(item);
  layOut();
  const span = view.to - view.from;
  const [start, end] = [data.start[item], data.end[item]];
  if (start < view.from + span * 0.05 || start > view.to - span * 0.05) {
    const middle = start + Math.min(end - start, span / 2) / 2;
    show(middle - span / 2, middle + span / 2);
  }
  const { lane, y } = placeOf(item);
  if (y < RULER + 20 || y > size.height - 60) view.top = lane.top - size.height / 3;
  redraw();
}

// The item `by` places further in its row.
function step(by) {
  if (view.selected < 0) return;
  const shown = grouping();
  const { items } = shown.all[shown.laneOf[view.selected]].rows[shown.rowOf[view.selected]];
  let at = items.starting(data.start[view.selected]);
  while (at < items.count && items.ids[at] !== view.selected) at++;
  const next = items.ids[at + by];
  if (next !== undefined) goTo(next);
}

function zoomToSelected() {
  const item = view.selected;
  if (item < 0) return;
  const start = Number.isNaN(data.submit[item]) ? data.start[item] : data.submit[item];
  const span = Math.max(data.end[item] - start, 1000);
  show(start - span * 0.15, data.end[item] + span * 0.15);
}

// Search

const search = document.getElementById("search");
const matches = document.getElementById("matches");

function matcherOf(text) {
  const limit = /^(ran|waited)\s*>\s*([\d.]+)\s*(ns|us|µs|ms|s)$/.exec(text);
  if (limit) {
    const least = Number(limit[2]) * { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 }[limit[3]];
    return limit[1] === "ran" ? (item) => data.end[item] - data.start[item] > least
      : (item) => data.start[item] - data.submit[item] > least;
  }
  const has = (name) => name.toLowerCase().includes(text);
  const isQueue = about.queues.map((_, queue) => has(queueName(queue)));
  const isThread = about.threads.map((_, thread) => has(threadName(thread)));
  const isCode = [false, ...about.codes.map(has)];
  const isOrigin = [false, ...about.origins.map((frames) => frames.some(has))];
  return (item) => isQueue[data.queue[item]] || isThread[data.thread[item]]
    || isCode[data.code[item]] || isOrigin[data.origin[item] ?? 0];
}

function searchFor(text) {
  view.query = text.trim().toLowerCase();
  view.match = view.query === "" ? null : matcherOf(view.query);
  let count = 0;
  if (view.match) for (let item = 0; item < data.count; item++) if (view.match(item)) count++;
  matches.textContent = view.match ? plural(count, "item") : "";
  redraw();
}

// Goes to the next item that matches; items are in the order of their starts.
function nextMatch(by) {
  if (!view.match) return;
  let item = view.selected < 0 ? (by > 0 ? -1 : data.count) : view.selected;
  for (let looked = 0; looked < data.count; looked++) {
    item = (item + by + data.count) % data.count;
    if (view.match(item)) return goTo(item);
  }
}

function showFindings() {
  if (about.findings.length === 0) return;
  const box = document.getElementById("findings");
  box.hidden = false;
  const rest = about.findings.length - 1;
  box.querySelector("summary").textContent =
    about.findings[0].headline + (rest > 0 ? ` (and ${rest} more)` : "");
  box.querySelector("ul").append(...about.findings.map((finding) => {
    const entry = document.createElement("li");
    entry.append(finding.item === undefined ? finding.headline : linkTo(finding.item, finding.headline));
    for (const line of finding.details) entry.append(element("p", line));
    return entry;
  }));
  box.addEventListener("toggle", () => { measure(); redraw(); });
}
