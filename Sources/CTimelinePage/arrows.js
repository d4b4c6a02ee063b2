// Arrows from a submission to the start of its item, the selected item, and the overview.

// Where the submission of an item is drawn; null if that lane does not exist.
function originOf(item) {
  const submitter = data.submitter[item];
  if (submitter === NONE) return null;
  const time = data.submit[item];
  const inside = itemAt(threads.all[submitter], time);
  if (view.byThread) {
    const lane = threads.all[submitter];
    return { lane, row: inside < 0 ? 0 : threads.rowOf[inside], time, inside };
  }
  // Submitted by a thread that ran no item: from the lane of the item itself.
  const from = inside < 0 ? item : inside;
  return { lane: queues.all[data.queue[from]], row: queues.rowOf[from], time, inside };
}

function placeOf(item) {
  const shown = grouping();
  const lane = shown.all[shown.laneOf[item]];
  return { lane, y: yOf(lane, shown.rowOf[item]) };
}

function drawArrows(paint, shown) {
  paint.lineWidth = 1;
  for (const item of shown) {
    if (!isDimmed(item)) drawArrow(paint, item, colors.arrow);
  }
}

function drawArrow(paint, item, color) {
  const origin = originOf(item);
  if (!origin || !grouping().lanes.includes(origin.lane)) return;
  const target = placeOf(item);
  const from = { x: xOf(origin.time), y: yOf(origin.lane, origin.row) + (size.row - 3) / 2 };
  const to = { x: xOf(data.start[item]), y: target.y + (size.row - 3) / 2 };
  if (to.x < size.gutter - 20 || from.x > size.width + 20) return;
  const bend = Math.max(10, Math.min(60, (to.x - from.x) / 2));
  paint.strokeStyle = color;
  paint.fillStyle = color;
  paint.beginPath();
  paint.moveTo(from.x, from.y);
  paint.bezierCurveTo(from.x + bend, from.y, to.x - bend, to.y, to.x - 4, to.y);
  paint.stroke();
  paint.beginPath();
  paint.arc(from.x, from.y, 2, 0, 7);
  paint.fill();
  paint.beginPath();
  paint.moveTo(to.x, to.y);
  paint.lineTo(to.x - 6, to.y - 3.5);
  paint.lineTo(to.x - 6, to.y + 3.5);
  paint.fill();
}

// The items that were submitted while the item ran, by its thread.
function submittedBy(item) {
  const thread = data.thread[item];
  const found = [];
  for (let other = 0; other < data.count && found.length < 1000; other++) {
    if (data.submitter[other] === thread && data.submit[other] >= data.start[item]
      && data.submit[other] <= data.end[item]
      && itemAt(threads.all[thread], data.submit[other]) === item) found.push(other);
  }
  return found;
}

function drawSelection(paint) {
  const item = view.selected;
  if (item < 0) return;
  const { y } = placeOf(item);
  const { left, width } = barOf(item);
  const submit = data.submit[item];
  if (!Number.isNaN(submit)) {
    const from = Math.max(size.gutter, xOf(submit));
    const to = Math.min(size.width, xOf(data.start[item]));
    paint.fillStyle = colors.wait;
    if (to > from) paint.fillRect(from, y + (size.row - 3) / 2 - 1, to - from, 2);
    if (xOf(submit) >= size.gutter) paint.fillRect(xOf(submit) - 1, y + 2, 2, size.row - 7);
  }
  paint.lineWidth = 1.5;
  drawArrow(paint, item, colors.select);
  for (const child of selectedChildren.slice(0, 200)) drawArrow(paint, child, colors.accent);
  paint.strokeStyle = colors.select;
  paint.lineWidth = 2;
  paint.strokeRect(left - 1, y - 1, width + 2, size.row - 1);
}

// The overview: how many threads run items (blue), and which part is shown.
let overviewImage = null;

function drawOverview() {
  const width = overview.clientWidth;
  const paint = overview.getContext("2d");
  if (!overviewImage || overviewImage.width !== overview.width) paintOverview(width);
  paint.clearRect(0, 0, width, 44);
  paint.drawImage(overviewImage, 0, 0, width, 44);
  const left = view.from / about.length * width;
  const right = view.to / about.length * width;
  paint.fillStyle = colors.shade;
  paint.fillRect(left, 0, Math.max(2, right - left), 44);
  paint.fillStyle = colors.accent;
  paint.fillRect(left - 1, 0, 2, 44);
  paint.fillRect(Math.max(left + 1, right - 1), 0, 2, 44);
}

function paintOverview(width) {
  overviewImage = document.createElement("canvas");
  overviewImage.width = overview.width;
  overviewImage.height = overview.height;
  const paint = overviewImage.getContext("2d");
  paint.scale(size.scale, size.scale);
  const step = about.length / width;
  const running = new Float64Array(width);
  const waiting = new Float64Array(width);
  for (const lane of threads.lanes) {
    // A row below is inside of the first one.
    const { items } = lane.rows[0];
    for (let x = 0, at = 0; x < width; x++) {
      const next = items.starting((x + 1) * step, at);
      running[x] += items.sums[next] - items.sums[at];
      at = next;
    }
    spread(items, running, step);
  }
  for (const lane of queues.lanes) {
    const { submits, starts } = lane.backlog;
    for (let x = 0, submitted = 0, started = 0; x < width; x++) {
      submitted = firstAbove(submits, (x + 0.5) * step, submitted);
      started = firstAbove(starts, (x + 0.5) * step, started);
      waiting[x] += Math.max(0, submitted - started);
    }
  }
  area(paint, running, 44, "rgba(76,142,219,.75)");
  area(paint, waiting, 44, colors.backlog);
}

// Distributes items that are longer than a pixel over the pixels that they cover.
function spread(items, running, step) {
  for (let x = 0, at = 0; x < running.length; x++) {
    const next = items.starting((x + 1) * step, at);
    if (next > at) {
      const excess = items.ends[next - 1] - (x + 1) * step;
      if (excess > 0) {
        running[x] -= excess;
        for (let more = x + 1, rest = excess; rest > 0 && more < running.length; more++) {
          running[more] += Math.min(rest, step);
          rest -= step;
        }
      }
    }
    at = next;
  }
}

function area(paint, values, height, color) {
  const most = values.reduce((one, other) => Math.max(one, other), 0);
  if (most === 0) return;
  paint.fillStyle = color;
  paint.beginPath();
  paint.moveTo(0, height);
  values.forEach((value, x) => paint.lineTo(x + 0.5, height - value / most * (height - 6)));
  paint.lineTo(values.length, height);
  paint.fill();
}
