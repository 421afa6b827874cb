// Numbers as Python writes them, and lines over time.

/** As Python rounds: a tie goes to the even one. @param {number} value @param {number} digits */
function rounded(value, digits) {
  const isTie = Math.abs((value * 2 ** digits) % 1) === 0.5;
  const isAfterEven = Math.floor(Math.abs(value) * 10 ** digits) % 2 === 0;
  return (isTie && isAfterEven ? value * (1 - 1e-15) : value).toFixed(digits);
}

/** @param {number} share @param {number} [digits] */
function percent(share, digits = 0) {
  return `${rounded(100 * share, digits)} %`;
}

/** @param {number} count */
function grouped(count) {
  return count.toLocaleString("en");
}

/** @param {number} count @param {string} noun */
function counted(count, noun) {
  return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** Letters of a drawing. @param {string} anchor @param {number} x @param {number} y @param {string} text */
function letters(anchor, x, y, text) {
  return element("svg:text", { "text-anchor": anchor, x, y }, text);
}

/** Lines over time, from 0 to 1. Each has a class for its colour, a dash of its own, and its name, if any, at its end.
 *  @param {{name: string, kind: string, values: number[], at?: number[]}[]} lines  `at`: of each value, if not 0, 1, …
 *  @param {{most: number, across: string, title: string, cursor?: number, mark?: {at: number, label: string}}} labels
 *  `most`: how far the axis reaches; `cursor`: where one is now; `mark`: a place with a name */
function lineChart(lines, { most, across, title, cursor, mark }) {
  const width = window.innerWidth < 600 ? 430 : 640; // on a phone the letters stay readable
  const height = 340;
  const left = 58;
  const right = width - 150;
  const top = mark ? 40 : 16;
  const bottom = 300;
  const x = (/** @type {number} */ i) => left + ((right - left) * i) / Math.max(1, most);
  const y = (/** @type {number} */ value) => top + (bottom - top) * (1 - value);

  const parts = [];
  for (const value of [0, 0.25, 0.5, 0.75, 1]) {
    parts.push(element("svg:line.grid", { x1: left, x2: right, y1: y(value), y2: y(value) }));
    parts.push(letters("end", left - 6, y(value) + 5, percent(value)));
  }
  parts.push(letters("middle", (left + right) / 2, height - 8, across));
  parts.push(letters("end", right, bottom + 18, String(most)));
  if (mark) {
    const inside = Math.min(Math.max(x(mark.at), left + 95), right - 95);
    parts.push(element("svg:line.mark", { x1: x(mark.at), x2: x(mark.at), y1: 24, y2: bottom }));
    parts.push(letters("middle", inside, 17, mark.label));
  }
  if (cursor !== undefined) {
    parts.push(element("svg:line.cursor", { x1: x(cursor), x2: x(cursor), y1: top, y2: bottom }));
  }

  const drawn = lines.filter(({ values }) => values.length);
  const ends = drawn.map((line) => ({ ...line, end: Number(line.values.at(-1)) }));
  ends.sort((a, b) => Number(Boolean(a.name)) - Number(Boolean(b.name)) || a.end - b.end);
  let above = Infinity;
  for (const [i, { name, kind, values, end, at }] of ends.entries()) {
    const places = values.map((_, place) => x(at ? at[place] : place));
    const points = values.map((value, place) => `${places[place].toFixed(1)},${y(value).toFixed(1)}`);
    parts.push(element("svg:polyline", { class: `line ${kind}`, points: points.join(" ") }));
    if (!name) continue;
    above = Math.max(Math.min(above - 22, y(end) + 5), 16 + 22 * (ends.length - 1 - i)); // no name lies on another
    const place = { class: `name ${kind}`, x: Number(places.at(-1)) + 8, y: above };
    parts.push(element("svg:text", place, `${name} ${percent(end)}`));
  }
  return element("svg:svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title }, ...parts);
}
