// What the pages of runs share: numbers, an interval, tables, and texts that were cut.

/** @param {number} share */
function percent1(share) {
  return percent(share, 1);
}

/** @param {number} value @param {number} [digits] */
function signed(value, digits = 3) {
  const text = rounded(Math.abs(value), digits);
  if (value > 0) return `+${text}`;
  if (value < 0) return `−${text}`;
  return text;
}

/** An interval on a line, its numbers written by `text`. `marks` stand above the line with their names.
 *  @param {{value: number, low: number, high: number, from: number, to: number, label: string,
 *  marks?: {at: number, label: string}[], text?: (value: number) => string}} numbers */
function intervalLine({ value, low, high, from, to, label, marks = [], text = percent1 }) {
  const x = (/** @type {number} */ at) => 45 + (310 * (Math.min(to, Math.max(from, at)) - from)) / (to - from);

  /** @param {string} kind @param {number} a @param {number} b @param {number} [up] */
  function line(kind, a, b, up = 0) {
    return element(`svg:line.${kind}`, { x1: x(a), x2: x(b), y1: 40 - up, y2: 40 + up });
  }

  const parts = [line("grid", from, to), line("span", low, high), line("span", low, low, 7)];
  parts.push(line("span", high, high, 7));
  for (const at of [from, to]) {
    parts.push(line("grid", at, at, 6));
    parts.push(letters("middle", x(at), 62, text(at)));
  }
  for (const mark of marks) {
    parts.push(line("mark", mark.at, mark.at, 14));
    parts.push(letters("middle", x(mark.at), 12, mark.label));
  }
  if (from < 0) {
    parts.push(line("mark", 0, 0, 14));
    parts.push(letters("middle", x(0), 68, "0"));
  }
  parts.push(element("svg:circle", { cx: x(value), cy: 40, r: 6 }));
  parts.push(letters("middle", x(value), 26, text(value)));
  const words = `${label}: ${text(value)}, 95 % interval ${text(low)} to ${text(high)}`;
  return element("svg:svg.interval", { viewBox: "0 0 400 76", role: "img", "aria-label": words }, ...parts);
}

/** What may be wider than its page, and then scrolls. @param {string} name @param {string} label @param {Node} table */
function wide(name, label, table) {
  return element(name, { tabindex: 0, role: "region", "aria-label": label }, table);
}

/** @param {string} caption @param {string[]} head @param {(string | Node)[][]} rows */
function tableOf(caption, head, rows) {
  /** @param {string} name @param {(string | Node)[]} cells */
  function row(name, cells) {
    return element("tr", ...cells.map((cell) => element(name, cell)));
  }

  const body = rows.map((cells) => row("td", cells));
  return wide("div.wide", caption, element("table", element("caption", caption), row("th", head), ...body));
}

/** @typedef {string | null | {text: string, more: number}} Cut  a text; or its beginning, and how many characters follow */

/** @param {Cut} cut */
function textIn(cut) {
  if (cut === null) return "";
  return typeof cut === "string" ? cut : cut.text;
}

/** All of a text to be read: its first and last spaces do not hide either, and where it was cut is said.
 *  @param {Cut} cut @param {Names} names */
function wholeText(cut, names) {
  if (cut === null) return element("em", "no completion");
  const shown = [];
  const parts = textIn(cut)
    .split(/^( +)|( +)$/)
    .filter(Boolean);
  for (const part of parts) {
    if (/^ +$/.test(part)) shown.push(element("span.unseen", { title: "U+0020 SPACE" }, "␣".repeat(part.length)));
    else shown.push(...visibleText(part, names));
  }
  let end = "";
  if (typeof cut === "object") end = ` … and ${counted(cut.more, "more character")}`;
  else if (!parts.length) end = "empty";
  return element("bdi.text", ...shown, element("em", end));
}
