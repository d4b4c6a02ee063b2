// The recording: decoded from the numbers that the command has packed (TimelinePage.swift).
// Times are nanoseconds since the start of the recording. An item is a number; what is known of it
// lies in arrays.

const about = JSON.parse(document.getElementById("about").textContent);

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

// Seven bits a byte, the lowest first. Numbers may need more than 32 bits.
class Numbers {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  next() {
    const bytes = this.bytes;
    let byte = bytes[this.at++];
    if (byte < 128) return byte;
    let value = byte & 127;
    let scale = 128;
    do {
      byte = bytes[this.at++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte >= 128);
    return value;
  }

  signed() {
    const value = this.next();
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
  }
}

const NONE = 0xffffffff;

function decode() {
  const numbers = new Numbers(bytesOf(document.getElementById("items").textContent.trim()));
  const count = about.items;
  const data = {
    count,
    start: new Float64Array(count),
    end: new Float64Array(count),
    // Not a number: the submission was not recorded.
    submit: new Float64Array(count),
    thread: new Uint32Array(count),
    queue: new Uint32Array(count),
    submitter: new Uint32Array(count),
    code: new Uint32Array(count),
    // The origin's number + 1; empty: origins were not recorded.
    origin: new Uint32Array(about.origins.length > 0 ? count : 0),
    unfinished: new Set(),
    waits: [],
  };
  const threadEnd = new Float64Array(about.threads.length);
  const threadQueue = new Uint32Array(about.threads.length);
  const queueSubmit = new Float64Array(about.queues.length);
  const queueSubmitter = new Uint32Array(about.queues.length);
  const queueCode = new Uint32Array(about.queues.length);
  for (let item = 0; item < count; item++) {
    const head = numbers.next();
    const flags = head & 15;
    const thread = Math.floor(head / 16);
    if (flags & 2) threadQueue[thread] = numbers.next();
    const queue = threadQueue[thread];
    if (flags & 4) queueSubmitter[queue] = numbers.next();
    if (flags & 8) queueCode[queue] = numbers.next();
    const start = threadEnd[thread] + numbers.signed();
    const length = numbers.next();
    if (length === 0) data.unfinished.add(item);
    const end = length === 0 ? Math.max(start, about.length) : start + length - 1;
    threadEnd[thread] = length === 0 ? start : end;
    data.start[item] = start;
    data.end[item] = end;
    data.thread[item] = thread;
    data.queue[item] = queue;
    data.code[item] = queueCode[queue];
    if (flags & 1) {
      data.submit[item] = NaN;
      data.submitter[item] = NONE;
    } else {
      queueSubmit[queue] += numbers.signed();
      data.submit[item] = queueSubmit[queue];
      data.submitter[item] = queueSubmitter[queue];
    }
  }
  for (let wait = 0; wait < about.waits; wait++) {
    const thread = numbers.next();
    const kind = numbers.next();
    const queue = numbers.next();
    const start = numbers.next();
    data.waits.push({ thread, kind, queue: queue - 1, start, end: start + numbers.next() });
  }
  for (let item = 0; item < data.origin.length; item++) data.origin[item] = numbers.next();
  return data;
}

// Words

function duration(nanoseconds) {
  if (nanoseconds < 1e3) return `${Math.round(nanoseconds)} ns`;
  if (nanoseconds < 1e6) return `${precise(nanoseconds / 1e3)} µs`;
  if (nanoseconds < 1e9) return `${precise(nanoseconds / 1e6)} ms`;
  return `${precise(nanoseconds / 1e9)} s`;
}

function precise(value) {
  return value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0);
}

function moment(nanoseconds) {
  return `${(nanoseconds / 1e6).toFixed(3)} ms`;
}

function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

function plural(number, noun) {
  return `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;
}

function queueName(queue) {
  return about.queues[queue].label || "(no label)";
}

function threadName(thread) {
  const { id, name } = about.threads[thread];
  return name ? `${name} (${id})` : `thread ${id}`;
}

function codeName(item) {
  return data.code[item] === 0 ? "" : about.codes[data.code[item] - 1];
}

// The functions from which the item was submitted, innermost first.
function originNames(item) {
  return data.origin[item] > 0 ? about.origins[data.origin[item] - 1] : [];
}

function waitName(wait) {
  const kind = about.waitKinds[wait.kind];
  return wait.queue >= 0 ? `${kind} '${queueName(wait.queue)}'` : kind;
}
