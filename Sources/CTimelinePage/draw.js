// Draws the lanes that can be seen. A row is walked from pixel to pixel: what is narrower than two
// pixels goes into a strip of one pixel's height, which is stretched to the row's height at the end.

const chart = document.getElementById("chart");
const overview = document.getElementById("overview");
const BACKLOG = 16;
const RULER = 22;
const MOST_ARROWS = 150;
const SPAN_LEAST = 50;

const view = { from: 0, to: 1, top: 0, byThread: false, selected: -1, query: "", match: null };
const size = { width: 0, height: 0, gutter: 220, scale: 1, row: 18 };
let colors = {};
let drawn = 0;

const PALETTE = [
  [76, 142, 219], [63, 168, 123], [216, 150, 52], [146, 115, 214], [45, 164, 178],
  [120, 160, 62], [190, 110, 180], [110, 122, 200], [171, 134, 88], [70, 150, 205],
];

function colorOf(item) {
  return PALETTE[(view.byThread ? data.queue[item] : data.thread[item]) % PALETTE.length];
}

function readColors() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  colors = {};
  for (const name of ["back", "lane", "line", "text", "soft", "accent", "wait", "backlog",
    "select", "arrow", "shade"]) colors[name] = read(name);
  const digits = colors.wait.slice(1).match(/../g).map((part) => parseInt(part, 16));
  colors.waitParts = digits;
  overviewImage = null;
}

function measure() {
  const box = chart.getBoundingClientRect();
  size.scale = Math.min(2, window.devicePixelRatio || 1);
  size.width = Math.max(50, Math.round(box.width));
  size.height = Math.max(50, Math.round(box.height));
  size.gutter = size.width < 640 ? 0 : 270;
  for (const [canvas, height] of [[chart, size.height], [overview, 44]]) {
    const width = canvas === chart ? size.width : Math.round(overview.clientWidth);
    canvas.width = Math.round(width * size.scale);
    canvas.height = Math.round(height * size.scale);
    canvas.getContext("2d").setTransform(size.scale, 0, 0, size.scale, 0, 0);
  }
  overviewImage = null;
}

function grouping() { return view.byThread ? threads : queues; }

// Narrow pages have no gutter: the labels stand above the rows.
function titleHeight() { return size.gutter === 0 ? 18 : 4; }

function layOut() {
  // Few rows are higher, so that texts have room.
  const count = grouping().lanes.reduce((sum, lane) => sum + lane.rows.length + 1, 0);
  size.row = Math.max(18, Math.min(26, Math.floor((size.height - RULER) / Math.max(1, count))));
  let top = 0;
  for (const lane of grouping().lanes) {
    lane.top = top;
    const rows = lane.rows.length * size.row + (lane.backlog && lane.backlog.max > 0 ? BACKLOG : 0);
    lane.height = titleHeight() + Math.max(rows, size.gutter === 0 ? 0 : 32) + 6;
    top += lane.height;
  }
  return top;
}

const plotWidth = () => size.width - size.gutter;
const xOf = (time) => size.gutter + (time - view.from) / (view.to - view.from) * plotWidth();
const timeAt = (x) => view.from + (x - size.gutter) / plotWidth() * (view.to - view.from);
const yOf = (lane, row) => RULER + lane.top - view.top + titleHeight() + row * size.row;

let isDue = false;
function redraw() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    draw();
  });
}

function draw() {
  const begin = performance.now();
  const paint = chart.getContext("2d");
  paint.fillStyle = colors.back;
  paint.fillRect(0, 0, size.width, size.height);
  const total = layOut();
  view.top = Math.max(0, Math.min(view.top, total - (size.height - RULER)));
  const visible = [];
  paint.save();
  paint.beginPath();
  paint.rect(0, RULER, size.width, size.height - RULER);
  paint.clip();
  grouping().lanes.forEach((lane, index) => {
    const y = RULER + lane.top - view.top;
    if (y + lane.height < RULER || y > size.height) return;
    if (index % 2 === 0) {
      paint.fillStyle = colors.lane;
      paint.fillRect(0, y, size.width, lane.height);
    }
    visible.push(lane);
  });
  drawGrid(paint);
  paint.save();
  paint.beginPath();
  paint.rect(size.gutter, RULER, plotWidth(), size.height - RULER);
  paint.clip();
  const shown = drawRows(paint, visible);
  for (const lane of visible) drawBacklog(paint, lane);
  drawArrows(paint, shown);
  drawSelection(paint);
  paint.restore();
  for (const lane of visible) drawTitle(paint, lane);
  paint.restore();
  drawRuler(paint);
  drawOverview();
  drawn++;
  stats.draw = performance.now() - begin;
}

// Rows

function drawRows(paint, lanes) {
  const width = Math.ceil(plotWidth());
  const rows = lanes.flatMap((lane) => lane.rows.map((row, index) => ({ lane, row, index })))
    .filter(({ lane, index }) => {
      const y = yOf(lane, index);
      return y + size.row >= RULER && y <= size.height;
    });
  const strips = new ImageData(width, Math.max(1, rows.length * 2));
  const wide = [];
  let seen = 0;
  rows.forEach(({ lane, row, index }, at) => {
    const y = yOf(lane, index);
    const pixels = strips.data.subarray(at * 2 * width * 4, (at * 2 + 1) * width * 4);
    seen += row.items.starting(view.to) - row.items.after(view.from);
    walk(row.items, width, (x, position, covered) => {
      const item = row.items.ids[position];
      put(pixels, x, colorOf(item), covered * (isDimmed(item) ? 0.25 : 1));
    }, (position) => wide.push({ y, item: row.items.ids[position] }));
    const red = strips.data.subarray((at * 2 + 1) * width * 4, (at * 2 + 2) * width * 4);
    row.wide = [];
    walk(row.waits, width, (x, _, covered) => put(red, x, colors.waitParts, covered),
      (position) => row.wide.push(row.waits.ids[position]));
  });
  const image = stripCanvas(width, Math.max(1, rows.length * 2));
  image.getContext("2d").putImageData(strips, 0, 0);
  paint.imageSmoothingEnabled = false;
  rows.forEach(({ lane, index }, at) => {
    const y = yOf(lane, index);
    paint.drawImage(image, 0, at * 2, width, 1, size.gutter, y, width, size.row - 3);
  });
  for (const { y, item } of wide) drawItem(paint, y, item);
  rows.forEach(({ lane, row, index }, at) => {
    const y = yOf(lane, index) + size.row - 9;
    paint.drawImage(image, 0, at * 2 + 1, width, 1, size.gutter, y, width, 6);
    for (const wait of row.wide) drawWait(paint, y, data.waits[wait]);
  });
  return seen <= MOST_ARROWS ? rows.flatMap(({ row }) => inView(row.items)) : [];
}

function inView(series) {
  return Array.from(series.ids.slice(series.after(view.from), series.starting(view.to)));
}

let strip = null;
function stripCanvas(width, height) {
  if (!strip || strip.width !== width || strip.height < height) {
    strip = document.createElement("canvas");
    strip.width = width;
    strip.height = Math.max(height, 64);
  }
  return strip;
}

function put(pixels, x, color, share) {
  if (x < 0 || x * 4 >= pixels.length) return;
  pixels[x * 4] = color[0];
  pixels[x * 4 + 1] = color[1];
  pixels[x * 4 + 2] = color[2];
  pixels[x * 4 + 3] = Math.max(pixels[x * 4 + 3], Math.min(255, 60 + share * 195));
}

// Calls `narrow(x, position, covered)` for each pixel with items, and `wide(position)` for each
// item of two pixels or more.
function walk(series, width, narrow, wide) {
  const nanoseconds = (view.to - view.from) / width;
  let at = series.after(view.from);
  while (at < series.count && series.starts[at] < view.to) {
    if (series.ends[at] - series.starts[at] >= 2 * nanoseconds) {
      wide(at++);
      continue;
    }
    const x = Math.max(0, Math.floor((series.starts[at] - view.from) / nanoseconds));
    let next = Math.max(at + 1, series.starting(view.from + (x + 1) * nanoseconds, at));
    // The last one may reach far beyond the pixel.
    let sum = series.sums[next] - series.sums[at];
    if (series.ends[next - 1] - series.starts[next - 1] >= 2 * nanoseconds) {
      next--;
      sum = series.sums[next] - series.sums[at];
    }
    narrow(x, (at + next - 1) >>> 1, sum / nanoseconds);
    at = next;
  }
}

function isDimmed(item) { return view.match !== null && !view.match(item); }

function barOf(item) {
  const left = Math.max(size.gutter - 4, xOf(data.start[item]));
  return { left, width: Math.max(1.5, Math.min(size.width + 4, xOf(data.end[item])) - left) };
}

function drawItem(paint, y, item) {
  const { left, width } = barOf(item);
  const [red, green, blue] = colorOf(item);
  paint.globalAlpha = isDimmed(item) ? 0.25 : 1;
  paint.fillStyle = `rgb(${red},${green},${blue})`;
  paint.fillRect(left, y, width > 3 ? width - 0.75 : width, size.row - 3);
  if (width > 34) {
    const text = shortName(codeName(item)) || (view.byThread ? queueName(data.queue[item])
      : about.threads[data.thread[item]].name || threadName(data.thread[item]));
    const shown = Math.max(left, size.gutter);
    paint.fillStyle = "#fff";
    paint.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    paint.textBaseline = "middle";
    paint.fillText(cut(paint, text, left + width - shown - 8), shown + 4, y + (size.row - 3) / 2 + 0.5);
  }
  paint.globalAlpha = 1;
}

function drawWait(paint, y, wait) {
  const left = Math.max(size.gutter, xOf(wait.start));
  const width = Math.max(1.5, Math.min(size.width, xOf(wait.end)) - left);
  paint.fillStyle = colors.wait;
  paint.fillRect(left, y, width, 6);
}

// A function's name without what a narrow bar has no room for: "closure #2 in
// Service.serve(bursts: Int) (Service.swift:20)" is "serve #2".
function shortName(name) {
  const [, number, path] = /^closure (#\d+)(?: .*)? in (.*)$/.exec(name) || [];
  const short = path && path.replace(/[(<].*$/, "");
  return short ? `${short.slice(short.lastIndexOf(".") + 1)} ${number}` : name;
}

// The text, cut to a width in the current font.
function cut(paint, text, width) {
  if (text.length * 11 <= width) return text;
  const whole = paint.measureText(text).width;
  if (whole <= width) return text;
  const letters = Math.floor(text.length * width / whole) - 1;
  return letters < 3 ? "" : `${text.slice(0, letters)}…`;
}

// The number of items that wait in a queue, as an area.
function drawBacklog(paint, lane) {
  const backlog = lane.backlog;
  if (!backlog || backlog.max === 0) return;
  const bottom = yOf(lane, lane.rows.length) + BACKLOG - 1;
  const width = plotWidth();
  const step = (view.to - view.from) / width;
  let submitted = 0;
  let started = 0;
  paint.beginPath();
  paint.moveTo(size.gutter, bottom);
  for (let x = 0; x <= width; x++) {
    const time = view.from + x * step;
    submitted = firstAbove(backlog.submits, time, submitted);
    started = firstAbove(backlog.starts, time, started);
    const height = Math.max(0, submitted - started) / backlog.max * (BACKLOG - 3);
    paint.lineTo(size.gutter + x, bottom - height);
  }
  paint.lineTo(size.width, bottom);
  paint.fillStyle = colors.backlog;
  paint.fill();
}

// Titles and times

function drawTitle(paint, lane) {
  const y = RULER + lane.top - view.top;
  const isFound = view.query !== "" && lane.title.toLowerCase().includes(view.query);
  paint.textBaseline = "alphabetic";
  if (size.gutter > 0) {
    paint.fillStyle = grouping().lanes.indexOf(lane) % 2 === 0 ? colors.lane : colors.back;
    paint.fillRect(0, y, size.gutter, lane.height);
  }
  paint.fillStyle = isFound ? colors.accent : colors.text;
  paint.font = "600 12px system-ui, 'DejaVu Sans', sans-serif";
  const room = size.gutter > 0 ? size.gutter - 20 : size.width * 0.55;
  paint.fillText(cut(paint, lane.title, room), 10, y + (size.gutter > 0 ? 18 : 14));
  paint.fillStyle = colors.soft;
  paint.font = "11px system-ui, 'DejaVu Sans', sans-serif";
  const facts = lane.facts.join(" · ");
  if (size.gutter > 0) {
    paint.fillText(cut(paint, facts, room), 10, y + 33);
    paint.fillStyle = colors.line;
    paint.fillRect(size.gutter - 1, y, 1, lane.height);
  } else {
    paint.textAlign = "right";
    paint.fillText(cut(paint, facts, size.width * 0.45), size.width - 8, y + 14);
    paint.textAlign = "left";
  }
  if (lane.backlog && lane.backlog.max > 0 && size.gutter > 0) {
    paint.fillStyle = colors.wait;
    paint.textAlign = "right";
    const bottom = yOf(lane, lane.rows.length) + BACKLOG - 3;
    if (bottom > y + 46) {
      paint.fillText(`≤ ${grouped(lane.backlog.max)} wait`, size.gutter - 8, bottom);
    }
    paint.textAlign = "left";
  }
}

function gridStep() {
  const rough = (view.to - view.from) / Math.max(2, plotWidth() / 110);
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
}

function drawGrid(paint) {
  const step = gridStep();
  paint.fillStyle = colors.line;
  for (let time = Math.ceil(view.from / step) * step; time < view.to; time += step) {
    paint.fillRect(Math.round(xOf(time)), RULER, 1, size.height);
  }
}

function drawRuler(paint) {
  const step = gridStep();
  paint.fillStyle = colors.back;
  paint.fillRect(0, 0, size.width, RULER);
  paint.fillStyle = colors.soft;
  paint.font = "11px system-ui, 'DejaVu Sans', sans-serif";
  paint.textBaseline = "middle";
  const [unit, name] = view.to >= 1e10 ? [1e9, "s"] : view.to >= 1e6 ? [1e6, "ms"] : [1e3, "µs"];
  const digits = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
  for (let time = Math.ceil(view.from / step) * step; time < view.to; time += step) {
    const x = Math.round(xOf(time));
    if (x < size.gutter || x > size.width - 30) continue;
    paint.fillText(`${(time / unit).toFixed(digits)} ${name}`, x + 4, RULER / 2);
  }
  if (size.gutter > 0) {
    paint.fillStyle = colors.back;
    paint.fillRect(0, 0, size.gutter, RULER);
    paint.fillStyle = colors.soft;
    paint.fillText(`${duration(view.to - view.from)} shown`, 10, RULER / 2);
  }
  paint.fillStyle = colors.line;
  paint.fillRect(0, RULER - 1, size.width, 1);
}
