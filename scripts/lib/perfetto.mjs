// Asks Perfetto's trace processor about a trace: node perfetto.mjs FOLDER TRACE SQL…
// FOLDER is one with engine_bundle.js and trace_processor.wasm, as the viewer of Perfetto has them.
// Prints one line of JSON for each SQL statement: an array of rows.
// The messages are protos/perfetto/trace_processor/trace_processor.proto, by their field numbers.
import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";

const [folder, trace, ...statements] = process.argv.slice(2);
const APPEND = 1;
const FINALIZE = 2;
const QUERY = 3;

// Protocol buffers

function varint(value) {
  const out = [];
  let rest = BigInt(value);
  for (; rest >= 128n; rest >>= 7n) out.push(Number(rest & 127n) | 128);
  return Buffer.from([...out, Number(rest)]);
}

function number(field, value) { return Buffer.concat([varint(field << 3), varint(value)]); }

function bytes(field, content) {
  return Buffer.concat([varint((field << 3) | 2), varint(content.length), content]);
}

function readVarint(buffer, at) {
  let value = 0n;
  let shift = 0n;
  for (;;) {
    const byte = buffer[at++];
    value |= BigInt(byte & 127) << shift;
    if (byte < 128) return [value, at];
    shift += 7n;
  }
}

function fields(buffer) {
  const found = [];
  for (let at = 0; at < buffer.length;) {
    let key, value;
    [key, at] = readVarint(buffer, at);
    const type = Number(key & 7n);
    if (type === 0) [value, at] = readVarint(buffer, at);
    else if (type === 1) { value = buffer.subarray(at, at + 8); at += 8; }
    else if (type === 5) { value = buffer.subarray(at, at + 4); at += 4; }
    else {
      let length;
      [length, at] = readVarint(buffer, at);
      value = buffer.subarray(at, at + Number(length));
      at += Number(length);
    }
    found.push([Number(key >> 3n), value]);
  }
  return found;
}

function packed(buffer) {
  const values = [];
  for (let at = 0; at < buffer.length;) {
    let value;
    [value, at] = readVarint(buffer, at);
    values.push(value);
  }
  return values;
}

// The processor

// The module reads its code through this.
class FileRequest {
  open(_method, name) { this.path = path.join(folder, path.basename(String(name))); }
  send() { this.response = fs.readFileSync(this.path); }
}

let postReply;
const port = { postMessage: (message) => postReply(Buffer.from(message)) };
// The module expects a worker of a browser, and refuses node otherwise.
process.type = "renderer";
globalThis.self = globalThis;
Object.assign(globalThis, {
  location: { href: "https://localhost/" }, importScripts() {}, WorkerGlobalScope: Object,
  XMLHttpRequest: FileRequest,
});
console.warn = () => {};
vm.runInThisContext(fs.readFileSync(path.join(folder, "engine_bundle.js"), "utf8"));
globalThis.onmessage({ data: port });

let sequence = 0;
let pending = Buffer.alloc(0);
const answers = [];
let wake;
postReply = (part) => {
  // A stream of messages, each with its key and length.
  pending = Buffer.concat([pending, part]);
  for (const [, message] of fields(pending)) answers.push(fields(message));
  pending = Buffer.alloc(0);
  wake?.();
};

async function answer() {
  while (answers.length === 0) {
    await new Promise((resolve) => { wake = resolve; setTimeout(resolve, 50); });
  }
  const found = answers.shift();
  const failure = found.find(([field]) => field === 5);
  if (failure) throw new Error(failure[1].toString());
  return found;
}

function send(method, ...rest) {
  const content = Buffer.concat([number(1, sequence++), number(2, method), ...rest]);
  const message = bytes(1, content);
  port.onmessage({ data: new Uint8Array(message) });
}

async function query(sql) {
  send(QUERY, bytes(103, bytes(1, Buffer.from(sql))));
  const columns = [];
  const rows = [];
  for (let isLast = false; !isLast;) {
    const result = (await answer()).find(([field]) => field === 203)[1];
    const cells = [];
    for (const [field, value] of fields(result)) {
      if (field === 1) columns.push(value.toString());
      if (field === 2 && value.length > 0) throw new Error(value.toString());
      if (field !== 3) continue;
      const batch = fields(value);
      const part = (wanted) => Buffer.concat(
        batch.filter(([at]) => at === wanted).map(([, content]) => content));
      const numbers = packed(part(2));
      const floats = part(3);
      const texts = part(5).toString().split("\0");
      let float = 0;
      for (const type of packed(part(1))) {
        cells.push(type === 2n ? Number(BigInt.asIntN(64, numbers.shift()))
          : type === 3n ? floats.readDoubleLE(8 * float++) : type === 4n ? texts.shift() : null);
      }
      isLast = batch.some(([at, last]) => at === 6 && last === 1n);
    }
    while (cells.length > 0) rows.push(cells.splice(0, columns.length));
  }
  return rows;
}

// The module has started when the promises of now are kept.
await new Promise((resolve) => setTimeout(resolve, 0));
const content = fs.readFileSync(trace);
for (let at = 0; at < content.length; at += 1 << 20) {
  send(APPEND, bytes(101, content.subarray(at, at + (1 << 20))));
  await answer();
}
send(FINALIZE);
await answer();
for (const sql of statements) console.log(JSON.stringify(await query(sql)));
process.exit(0);
