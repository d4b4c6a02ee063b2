// Lanes of rows. The items of a row do not overlap, so both their starts and their ends are in
// order, and a search by halves finds what a pixel shows. The sums of the lengths before each item
// say how much of a pixel is covered without a look at each item: a million items cost no more than
// a row of pixels.

class Series {
  // `ids` in the order of their starts; `start` and `end` are arrays by id.
  constructor(ids, start, end) {
    const count = ids.length;
    this.ids = ids;
    this.starts = new Float64Array(count);
    this.ends = new Float64Array(count);
    this.sums = new Float64Array(count + 1);
    for (let at = 0; at < count; at++) {
      this.starts[at] = start(ids[at]);
      this.ends[at] = end(ids[at]);
      this.sums[at + 1] = this.sums[at] + this.ends[at] - this.starts[at];
    }
  }

  get count() { return this.ids.length; }

  // The first position at or behind `from` with an end after `time`.
  after(time, from = 0) {
    return firstAbove(this.ends, time, from);
  }

  // The first position at or behind `from` that starts at `time` or later.
  starting(time, from = 0) {
    return firstAtLeast(this.starts, time, from);
  }
}

// The searches double their step first: what they look for is mostly near.
function firstAtLeast(sorted, value, from) {
  let low = from;
  let step = 1;
  while (low + step < sorted.length && sorted[low + step] < value) {
    low += step;
    step *= 2;
  }
  let high = Math.min(sorted.length, low + step + 1);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function firstAbove(sorted, value, from) {
  let low = from;
  let step = 1;
  while (low + step < sorted.length && sorted[low + step] <= value) {
    low += step;
    step *= 2;
  }
  let high = Math.min(sorted.length, low + step + 1);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Two readings of the clock on different processors may differ by this much.
const CLOCK_ERROR = 1000;

function groupBy(count, keyOf, groups) {
  const sizes = new Uint32Array(groups);
  for (let at = 0; at < count; at++) sizes[keyOf(at)]++;
  const lists = Array.from(sizes, (size) => new Uint32Array(size));
  sizes.fill(0);
  for (let at = 0; at < count; at++) {
    const key = keyOf(at);
    lists[key][sizes[key]++] = at;
  }
  return lists;
}

// Puts each item into the first row that is free. `rowOf` gets the row of each item.
function rowsOf(items, rowOf, isNested) {
  const rows = [];
  const ends = [];
  for (const item of items) {
    const start = data.start[item];
    let row = 0;
    if (isNested) {
      row = ends.length;
      while (row > 0 && ends[row - 1] <= start) row--;
      ends.length = row;
    } else {
      while (row < ends.length && ends[row] > start + CLOCK_ERROR) row++;
    }
    ends[row] = data.end[item];
    rowOf[item] = row;
    (rows[row] ??= []).push(item);
  }
  return rows;
}

function addRows(lane, rows, waits) {
  const count = Math.max(rows.length, waits.length, 1);
  for (let row = 0; row < count; row++) {
    lane.rows.push({
      items: new Series(rows[row] ?? [], (item) => data.start[item], (item) => data.end[item]),
      waits: new Series(waits[row] ?? [], (wait) => data.waits[wait].start,
        (wait) => data.waits[wait].end),
    });
  }
}

// Lanes by thread: an item that runs inside of another one is a row below it.
function buildThreads() {
  const rowOf = new Uint8Array(data.count);
  const lists = groupBy(data.count, (item) => data.thread[item], about.threads.length);
  const lanes = about.threads.map((thread, index) => {
    const lane = newLane(threadName(index), index, lists[index].length);
    lane.found = rowsOf(lists[index], rowOf, true);
    lane.waits = [];
    return lane;
  });
  const result = { lanes, rowOf, laneOf: data.thread };
  for (const lane of lanes) addRows(lane, lane.found, []);
  data.waits.forEach((wait, index) => {
    wait.item = itemAt(lanes[wait.thread], wait.start);
    const row = wait.item < 0 ? 0 : rowOf[wait.item];
    (lanes[wait.thread].waits[row] ??= []).push(index);
  });
  for (const lane of lanes) {
    lane.rows = [];
    addRows(lane, lane.found, lane.waits);
    lane.facts = [plural(lane.count, "item")];
    const waited = data.waits.filter((wait) => wait.thread === lane.index);
    const total = waited.reduce((sum, wait) => sum + wait.end - wait.start, 0);
    if (total > 0) lane.facts.push(`waited ${duration(total)}`);
  }
  result.lanes = lanes.filter((lane) => lane.count > 0 || lane.waits.length > 0);
  result.all = lanes;
  return result;
}

function newLane(title, index, count) {
  return { title, index, count, rows: [], facts: [], top: 0, height: 0 };
}

// The innermost item that a thread runs at a time, or -1.
function itemAt(lane, time) {
  for (let row = lane.rows.length - 1; row >= 0; row--) {
    const items = lane.rows[row].items;
    const at = items.after(time);
    if (at < items.count && items.starts[at] <= time) return items.ids[at];
  }
  return -1;
}

// Lanes by queue, the busiest first: items that run at the same time are rows, and below them is
// the number of items that wait in the queue.
function buildQueues() {
  const rowOf = new Uint16Array(data.count);
  const lists = groupBy(data.count, (item) => data.queue[item], about.queues.length);
  const waits = about.queues.map(() => []);
  data.waits.forEach((wait, index) => {
    if (wait.item < 0) return;
    const list = waits[data.queue[wait.item]];
    list.push(index);
  });
  const all = about.queues.map((queue, index) => {
    const lane = newLane(queueName(index), index, lists[index].length);
    const rows = rowsOf(lists[index], rowOf, false);
    const placed = [];
    for (const wait of waits[index]) (placed[rowOf[data.waits[wait].item]] ??= []).push(wait);
    addRows(lane, rows, placed);
    lane.backlog = backlogOf(lists[index]);
    lane.busy = lane.rows.reduce((sum, row) => sum + row.items.sums[row.items.count], 0);
    lane.facts = [queue.kind, plural(lane.count, "item")];
    if (queue.waited) lane.facts.push(`p99 wait ${duration(queue.waited)}`);
    return lane;
  });
  const lanes = all.filter((lane) => lane.count > 0).sort((one, other) => other.busy - one.busy);
  return { lanes, all, rowOf, laneOf: data.queue };
}

function backlogOf(items) {
  const submits = [];
  const starts = [];
  for (const item of items) {
    if (Number.isNaN(data.submit[item])) continue;
    submits.push(data.submit[item]);
    starts.push(data.start[item]);
  }
  const backlog = {
    submits: Float64Array.from(submits).sort(),
    starts: Float64Array.from(starts).sort(),
    max: 0,
  };
  let started = 0;
  for (let at = 0; at < backlog.submits.length; at++) {
    while (backlog.starts[started] < backlog.submits[at]) started++;
    backlog.max = Math.max(backlog.max, at + 1 - started);
  }
  return backlog;
}
