"use strict";
// Texts: how they are shown, folded for searching, and laid out. What is shown always goes in as text.

// Control characters, halves of characters, and marks that turn the direction of what follows.
const UNSEEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const WHITE_SPACE = /[\t-\r\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;
const SUMMARY_CHARACTERS = 200;

/** A text with what a reader could not see, or be misled by, written as an escape. */
function visible(text) {
  return text.replace(UNSEEN, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The texts of a JSON value: the strings in it, at any depth; names of members are no texts. */
function* stringsIn(value) {
  if (typeof value === "string") yield value;
  else if (value !== null && typeof value === "object") {
    for (const item of Object.values(value)) yield* stringsIn(item);
  }
}

/** Full case folding in form NFC, as Python's str.casefold does it; `folding` has what toLowerCase lacks. */
function makeFold(folding) {
  const special = new RegExp(`[${Object.keys(folding).join("")}]`, "gu");
  return (text) => {
    const lower = text.normalize("NFD").toLowerCase();
    return lower.replace(special, (character) => folding[character]).normalize("NFC");
  };
}

/** Where a JSON string that begins at `start` ends. */
function endOfString(json, start) {
  let end = start;
  for (;;) {
    end = json.indexOf('"', end + 1);
    let escapes = 0;
    while (json[end - 1 - escapes] === "\\") escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
}

/** Compact JSON text over lines. The text itself is laid out: JSON.parse would lose digits and the order of keys. */
function indented(json) {
  const parts = [];
  let depth = 0;
  const newLine = () => parts.push("\n", "  ".repeat(depth));
  for (let at = 0; at < json.length;) {
    const character = json[at];
    let end = at + 1;
    if (character === '"') {
      end = endOfString(json, at);
      parts.push(json.slice(at, end));
    } else if (character === "{" || character === "[") {
      parts.push(character);
      if (json[end] === "}" || json[end] === "]") parts.push(json[end++]);
      else {
        depth += 1;
        newLine();
      }
    } else if (character === "}" || character === "]") {
      depth -= 1;
      newLine();
      parts.push(character);
    } else if (character === ",") {
      parts.push(character);
      newLine();
    } else parts.push(character === ":" ? ": " : character);
    at = end;
  }
  return parts.join("");
}

/** What a payload says, on one line; fields are read where they have the type that the SDK gives them. */
function summaryOf(kind, json) {
  const said = json.length > 100_000 ? json : wordsOf(kind, JSON.parse(json), json);
  const line = said
    .slice(0, SUMMARY_CHARACTERS * 8)
    .split(WHITE_SPACE)
    .join(" ")
    .trim();
  return visible(line.length > SUMMARY_CHARACTERS ? `${line.slice(0, SUMMARY_CHARACTERS)}…` : line);
}

function wordsOf(kind, payload, json) {
  if (typeof payload === "string") return payload;
  if (payload === null || typeof payload !== "object") return json;
  const { name, args, tool, result, type, key, content, operation, path } = payload;
  const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));
  if (kind === "tool_call" && typeof name === "string" && args !== undefined) return `${name} ${text(args)}`;
  if (kind === "tool_result" && typeof tool === "string" && result !== undefined) return `${tool} → ${text(result)}`;
  if (kind === "semantic" && typeof type === "string" && typeof key === "string" && content !== undefined) {
    return `${type} ${key}: ${text(content)}`;
  }
  if (kind === "resource" && typeof operation === "string" && typeof path === "string") return `${operation} ${path}`;
  return json;
}

/** A number of things, in words. */
function counted(count, name) {
  return `${count.toLocaleString("en")} ${name}${count === 1 ? "" : "s"}`;
}

/** An element with its attributes and what is in it; strings go in as text. */
function element(tag, attributes = {}, ...content) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...content);
  return made;
}
