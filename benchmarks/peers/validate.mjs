// The import rules in plain JavaScript, as the SDK would check them: the peer of `validate`.
//
//     node validate.mjs
//
// Takes one JSON line a request on standard input and answers each with one line:
//     {"check": path}   the violations of a file, as [rule, path] pairs
//     {"load": path}    reads a file and keeps it; nothing of that is timed
//     {"run": path}     judges what was loaded, and gives the milliseconds that took
import crypto from "node:crypto";
import fs from "node:fs";
import readline from "node:readline";

const MAX_BYTES = 256 * 1024 * 1024;
const MAX_NODES = 1_000_000;
const MAX_DEPTH = 128;
const KINDS = new Set([
  "system", "goal", "inference", "semantic", "tool_call", "tool_result", "resource", "verification", "answer",
  "protocol_error",
]);
const TOP_LEVEL = new Set(["version", "nodes", "frontier"]);
const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const RFC_2822 = new RegExp(
  `^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), )?(\\d{1,2}) (${MONTHS.join("|")}) (\\d{4}) (\\d{2}):(\\d{2})` +
    "(?::(\\d{2}))? (GMT|UTC|UT|EST|EDT|CST|CDT|MST|MDT|PST|PDT|[+-]\\d{4})$",
);
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const sha256 = crypto.hash
  ? (text) => crypto.hash("sha256", text, "hex")
  : (text) => crypto.createHash("sha256").update(text).digest("hex");

function judge(bytes) {
  const found = [];
  const add = (rule, path) => found.push([rule, path]);
  if (bytes.length > MAX_BYTES) return [["size", "$"]];
  let state;
  try {
    const text = utf8.decode(bytes);
    if (depthOf(text) > MAX_DEPTH) return [["size", "$"]];
    state = JSON.parse(text);
  } catch {
    return [["json", "$"]];
  }
  if (!isObject(state)) return [["shape", "$"]];
  if (state.version !== 1) add("version", "$.version");
  for (const name of Object.keys(state)) if (!TOP_LEVEL.has(name)) add("shape", `$.${name}`);
  const ids = new Set();
  const { nodes, frontier } = state;
  if (!Array.isArray(nodes)) add("shape", "$.nodes");
  else if (nodes.length > MAX_NODES) add("size", "$.nodes");
  else for (let index = 0; index < nodes.length; index++) judgeNode(nodes[index], index, ids, add);
  judgeFrontier(frontier, Array.isArray(nodes) ? ids : null, add);
  return found;
}

function judgeNode(node, index, ids, add) {
  const path = `$.nodes[${index}]`;
  if (!isObject(node)) return add("shape", path);
  const { id, kind, parents, payload, createdAt, sequence, resourceKey } = node;
  if (!KINDS.has(kind)) add("kind", `${path}.kind`);
  if (typeof createdAt !== "string" || !isTime(createdAt)) add("created_at", `${path}.createdAt`);
  if (sequence !== index + 1) add("sequence", `${path}.sequence`);
  const keyIsText = resourceKey === undefined || typeof resourceKey === "string";
  if (!keyIsText || (resourceKey !== undefined && !resourceKey.isWellFormed())) {
    add("resource_key", `${path}.resourceKey`);
  }
  const parentsAreTexts = judgeParents(parents, id, ids, `${path}.parents`, add);
  if (typeof id !== "string") add("shape", `${path}.id`);
  else if (ids.has(id)) add("duplicate_id", `${path}.id`);
  if (payload === undefined) add("shape", `${path}.payload`);
  else {
    const expected = keyIsText && parentsAreTexts && typeof kind === "string" ? idOf(node) : undefined;
    if (expected === undefined) judgeNumbers(payload, `${path}.payload`, add);
    else if (typeof id === "string" && id !== expected) add("identity", `${path}.id`);
  }
  if (typeof id === "string") ids.add(id);
}

function judgeParents(parents, id, ids, path, add) {
  if (!Array.isArray(parents)) {
    add("shape", path);
    return false;
  }
  const seen = new Set();
  let sorted = true;
  let texts = true;
  for (let index = 0; index < parents.length; index++) {
    const parent = parents[index];
    if (typeof parent !== "string") {
      add("shape", `${path}[${index}]`);
      texts = false;
      continue;
    }
    if (seen.has(parent) || !ids.has(parent)) add("parents", `${path}[${index}]`);
    seen.add(parent);
    if (index > 0 && parents[index - 1] > parent) sorted = false;
  }
  if (!sorted) add("parents", path);
  return texts;
}

function judgeFrontier(frontier, ids, add) {
  if (!Array.isArray(frontier)) return add("shape", "$.frontier");
  const seen = new Set();
  frontier.forEach((head, index) => {
    if (typeof head !== "string" || seen.has(head) || (ids && !ids.has(head))) {
      add("frontier", `$.frontier[${index}]`);
    }
    seen.add(head);
  });
}

// The id of a node; undefined where its payload holds a number beyond a double.
function idOf({ kind, parents, payload, resourceKey }) {
  const text = canonical(
    resourceKey === undefined ? { kind, parents, payload } : { kind, parents, payload, resourceKey },
  );
  return text === undefined ? undefined : `cw_${sha256(text).slice(0, 24)}`;
}

function canonical(value) {
  if (Array.isArray(value)) {
    const items = [];
    for (const item of value) {
      const text = canonical(item);
      if (text === undefined) return undefined;
      items.push(text);
    }
    return `[${items.join(",")}]`;
  }
  if (value !== null && typeof value === "object") {
    const members = [];
    for (const key of Object.keys(value).sort((a, b) => a.localeCompare(b))) {
      const text = canonical(value[key]);
      if (text === undefined) return undefined;
      members.push(`${JSON.stringify(key)}:${text}`);
    }
    return `{${members.join(",")}}`;
  }
  if (typeof value === "number" && !Number.isFinite(value)) return undefined;
  return JSON.stringify(value);
}

function judgeNumbers(value, path, add) {
  if (typeof value === "number" && !Number.isFinite(value)) add("payload", path);
  else if (Array.isArray(value)) value.forEach((item, index) => judgeNumbers(item, `${path}[${index}]`, add));
  else if (isObject(value)) for (const key of Object.keys(value)) judgeNumbers(value[key], `${path}.${key}`, add);
}

// The nesting of a JSON text, found without parsing it; the root counts as 1.
function depthOf(text) {
  let depth = 0;
  let deepest = 1;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0x22) {
      index = endOfString(text, index);
    } else if (code === 0x5b || code === 0x7b) {
      depth++;
      if (depth > deepest) deepest = depth;
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  return deepest;
}

function endOfString(text, start) {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

function isTime(text) {
  let match = ISO.exec(text);
  if (match) {
    const [, year, month, day, hour, minute, second, zone] = match;
    return isInstant(1, +year, +month, +day, +(hour ?? 0), +(minute ?? 0), +(second ?? 0), zone);
  }
  match = RFC_2822.exec(text);
  if (!match) return false;
  const [, day, month, year, hour, minute, second, zone] = match;
  return isInstant(1000, +year, MONTHS.indexOf(month) + 1, +day, +hour, +minute, +(second ?? 0), zone);
}

function isInstant(firstYear, year, month, day, hour, minute, second, zone) {
  if (year < firstYear || month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return false;
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
  if (day < 1 || day > days) return false;
  if (zone === undefined || !/^[+-]/.test(zone)) return true;
  return +zone.slice(1, 3) < 24 && +zone.slice(-2) < 60;
}

function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

const loaded = new Map();
const requests = {
  check: (path) => ({ found: judge(fs.readFileSync(path)) }),
  load: (path) => {
    loaded.set(path, fs.readFileSync(path));
    return { node: process.version };
  },
  run: (path) => {
    const began = performance.now();
    const found = judge(loaded.get(path));
    return { ms: performance.now() - began, violations: found.length };
  },
};
for await (const line of readline.createInterface({ input: process.stdin })) {
  const [[name, path]] = Object.entries(JSON.parse(line));
  console.log(JSON.stringify(requests[name](path)));
}
