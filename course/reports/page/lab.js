"use strict";
// The lab in a page: the verifier, the token policy and the bandit of course/, and what draws them.
// Names and order are those of the Python; tests/pages/ holds the numbers to it. Nothing is asked of the network.

// ---- The verifier: course/score.py and course/faults.py ----------------------------------------------------------

/** @typedef {{unseen: string, digits: string, lineBoundaries: string, checks: [string, string, string, string][]}} Tables */

/** The scorer, made from the tables of course/faults.py: a completion's outcome and reward. @param {Tables} tables
 *  @returns {(expected: string, completion: string) => {outcome: string, reward: number}} */
function makeScorer({ unseen, digits, lineBoundaries }) {
  const [gap, next, last] = [1, 3, 5].map((group) => `(?=([${unseen}]*))\\${group}`); // gives none back: linear time
  const integer = new RegExp(`^${gap}(\\+?)${next}(-?)${last}([${digits}]+)([${unseen}][${digits}${unseen}]*)?$`, "u");
  /** @param {string} text  trimmed, not in format */
  function faultOf(text) {
    if (!text) return "empty";
    if ([...lineBoundaries].some((boundary) => text.includes(boundary))) return "not_single_line";
    if (!text.startsWith("Final: ")) return "missing_prefix";
    const match = integer.exec(text.slice(7));
    if (!match) return "not_an_integer";
    const [, before, plus, between, minus, after, number, within] = match;
    if (before || between || after || within) return "extra_whitespace";
    if (plus) return "plus_sign";
    if (!/^[0-9]+$/.test(number)) return "non_ascii_digits";
    return minus && /^0+$/.test(number) ? "negative_zero" : "leading_zeros";
  }
  return (expected, completion) => {
    const text = /^[ \t\r\n]*(|[^]*[^ \t\r\n])[ \t\r\n]*$/.exec(completion)?.[1] ?? "";
    const match = /^Final: (0|-?[1-9][0-9]*)$/.exec(text);
    if (!match) return { outcome: faultOf(text), reward: 0 };
    return match[1] === expected ? { outcome: "ok", reward: 1 } : { outcome: "wrong_answer", reward: 0 };
  };
}

/** The careless rubric: it pays if the expected integer stands anywhere. @param {string} expected @param {string} text */
function anywhere(expected, text) {
  return /** @type {string[]} */ (text.match(/-?[0-9]+/g) ?? []).includes(expected) ? 1 : 0;
}

// ---- Softmax and sampling: course/policies/softmax.py ------------------------------------------------------------

/** p ∝ exp theta, in place. @param {Float64Array} theta */
function softmax(theta) {
  const largest = theta.reduce((a, b) => Math.max(a, b));
  let total = 0;
  for (let a = 0; a < theta.length; a++) total += theta[a] = Math.exp(theta[a] - largest);
  for (let a = 0; a < theta.length; a++) theta[a] /= total;
  return theta;
}

/** The first action whose cumulative probability exceeds u. @param {Float64Array} p @param {number} u */
function sample(p, u) {
  let [cumulative, a] = [p[0], 0];
  while (cumulative <= u && a < p.length) cumulative += p[++a];
  return a < p.length ? a : p.findLastIndex((share) => share > 0);
}

/** Uniform draws from [0, 1) with 53 bits, as mulberry32 has them, two for each. @param {number} seed */
function generator(seed) {
  let state = seed >>> 0;
  const bits = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
  return () => ((bits() >>> 5) * 67108864 + (bits() >>> 6)) / 9007199254740992;
}

// ---- The token policy: course/policies/token_policy.py -----------------------------------------------------------
// V tokens, V itself is padding. C tokens are read, those of the prompt and the RECENT last ones: their vectors in a row
// are x, then hidden = tanh(x · W + b) and p = softmax(hidden · W' + b').

const [RECENT, END] = [3, 0];

/** @typedef {Record<"vectors" | "hidden" | "hiddenBias" | "out" | "outBias", Float64Array>} Weights  as NumPy has them
 *  @typedef {{vocabulary: string[], maxTokens: number, width: number, units: number, reads: number}} Shape
 *  @typedef {Shape & {weights: Weights}} Policy
 *  @typedef {{read: number[], x: Float64Array, hidden: Float64Array, p: Float64Array}} Prefix
 *  @typedef {{tokens: number[], prefixes: Prefix[], text: string}} Completion */

/** The policy of a page: 32-bit weights in base64. @param {Shape & {weights: string}} saved @returns {Policy} */
function readPolicy(saved) {
  const { vocabulary, width, units, reads } = saved;
  const bytes = Uint8Array.from(atob(saved.weights), (character) => character.charCodeAt(0));
  const numbers = Float64Array.from(new Float32Array(bytes.buffer));
  let at = 0;
  const take = (/** @type {number} */ size) => numbers.slice(at, (at += size));
  const [vectors, hidden] = [take((vocabulary.length + 1) * width), take(reads * width * units)];
  const [hiddenBias, out, outBias] = [take(units), take(units * vocabulary.length), take(vocabulary.length)];
  return { ...saved, weights: { vectors, hidden, hiddenBias, out, outBias } };
}

/** sums + x · W, in place. @param {Float64Array} x @param {Float64Array} W @param {Float64Array} sums */
function multiply(x, W, sums) {
  const columns = sums.length;
  for (let i = 0, k = 0; i < x.length; i++) for (let j = 0; j < columns; j++, k++) sums[j] += x[i] * W[k];
  return sums;
}

/** The way back through x · W: what reaches x, and ∂/∂W, which is added to `dW`.
 *  @param {Float64Array} x @param {Float64Array} W @param {Float64Array} back  at x · W @param {Float64Array} dW */
function backward(x, W, back, dW) {
  let k = 0;
  return x.map((value) => {
    let sum = 0;
    for (let j = 0; j < back.length; j++, k++) {
      dW[k] += value * back[j];
      sum += W[k] * back[j];
    }
    return sum;
  });
}

/** p of the next token, from the tokens that are read. @param {Policy} policy @param {number[]} read */
function nextToken({ width, weights }, read) {
  const x = new Float64Array(read.length * width);
  read.forEach((token, c) => x.set(weights.vectors.subarray(token * width, (token + 1) * width), c * width));
  const hidden = multiply(x, weights.hidden, weights.hiddenBias.slice()).map(Math.tanh);
  return { read, x, hidden, p: softmax(multiply(hidden, weights.out, weights.outBias.slice())) };
}

/** A completion of each prompt. Each prefix is worked out once, however many completions share it.
 *  @param {Policy} policy @param {number[][]} prompts
 *  @param {(i: number, t: number) => number} draw  the uniform number of token t of completion i */
function sampleCompletions(policy, prompts, draw) {
  const known = /** @type {Map<string, Prefix>} */ (new Map());
  return prompts.map((prompt, i) => {
    const tokens = /** @type {number[]} */ ([]);
    const prefixes = /** @type {Prefix[]} */ ([]);
    let read = [...prompt, ...Array(RECENT).fill(policy.vocabulary.length)];
    while (tokens.length < policy.maxTokens && tokens.at(-1) !== END) {
      const key = read.join();
      const prefix = known.get(key) ?? nextToken(policy, read);
      known.set(key, prefix);
      const token = sample(prefix.p, draw(i, tokens.length));
      prefixes.push(prefix);
      tokens.push(token);
      read = [...prompt, ...read.slice(prompt.length + 1), token];
    }
    return { tokens, prefixes, text: tokens.map((token) => policy.vocabulary[token]).join("") };
  });
}

/** @param {Weights} weights @param {(values: Float64Array, name: keyof Weights) => Float64Array} make */
function mapWeights(weights, make) {
  const names = /** @type {(keyof Weights)[]} */ (Object.keys(weights));
  return /** @type {Weights} */ (Object.fromEntries(names.map((name) => [name, make(weights[name], name)])));
}

/** Σ_i weight_i · ∂ log p(completion_i) / ∂ weights: at each prefix [a = b] − p_b, and from there back by the chain rule.
 *  @param {Policy} policy @param {Completion[]} completions @param {number[]} weight */
function gradient({ width, weights }, completions, weight) {
  const thetas = /** @type {Map<Prefix, Float64Array>} */ (new Map());
  for (const [i, { tokens, prefixes }] of completions.entries())
    for (const [t, prefix] of weight[i] ? prefixes.entries() : []) {
      const theta = thetas.get(prefix) ?? new Float64Array(prefix.p.length);
      for (let b = 0; b < theta.length; b++) theta[b] += weight[i] * (Number(b === tokens[t]) - prefix.p[b]);
      thetas.set(prefix, theta);
    }
  const found = mapWeights(weights, (values) => new Float64Array(values.length));
  for (const [{ read, x, hidden, p }, theta] of thetas) {
    const toHidden = backward(hidden, weights.out, theta, found.out).map((back, h) => back * (1 - hidden[h] ** 2));
    const toVectors = backward(x, weights.hidden, toHidden, found.hidden);
    for (let b = 0; b < p.length; b++) found.outBias[b] += theta[b];
    for (let h = 0; h < hidden.length; h++) found.hiddenBias[h] += toHidden[h];
    for (let i = 0; i < x.length; i++) found.vectors[read[Math.floor(i / width)] * width + (i % width)] += toVectors[i];
  }
  return found;
}

/** Of each completion: the mean reward of the others of its group. @param {number[]} rewards @param {number} size */
function leaveOneOut(rewards, size) {
  return rewards.map((reward, i) => {
    const group = rewards.slice(i - (i % size), i - (i % size) + size);
    return (group.reduce((sum, value) => sum + value) - reward) / (size - 1);
  });
}

/** One update of Loop C: sample, score, compare with the group, move theta.
 *  @param {Policy} policy @param {{prompts: number[][], answers: string[]}} tasks  for each completion, groups in a row
 *  @param {(expected: string, text: string) => number} rubric @param {{groupSize: number, lr: number}} plan
 *  @param {(i: number, t: number) => number} draw */
function learn(policy, tasks, rubric, { groupSize, lr }, draw) {
  const completions = sampleCompletions(policy, tasks.prompts, draw);
  const rewards = completions.map(({ text }, i) => rubric(tasks.answers[i], text));
  const baseline = leaveOneOut(rewards, groupSize);
  const weight = rewards.map((reward, i) => (reward - baseline[i]) / rewards.length);
  const direction = gradient(policy, completions, weight);
  const weights = mapWeights(policy.weights, (old, name) => old.map((value, i) => value + lr * direction[name][i]));
  return { completions, rewards, direction, policy: { ...policy, weights } };
}

// ---- What pages are made of --------------------------------------------------------------------------------------
// Text of a dataset, a policy or a student reaches a page as text only: textContent and setAttribute, never markup.

/** An element. A property that is a function is a listener, any other an attribute: none if null, undefined or false.
 *  @param {string} name  "li.sampled" for one with a class, "svg:line" for one of a drawing
 *  @param {...(Node | string | Record<string, unknown>)} parts */
function element(name, ...parts) {
  const [tag, ...classes] = name.replace("svg:", "").split(".");
  const kind = name.startsWith("svg:") ? "2000/svg" : "1999/xhtml";
  const made = /** @type {HTMLElement} */ (document.createElementNS(`http://www.w3.org/${kind}`, tag));
  if (classes.length) made.setAttribute("class", classes.join(" "));
  for (const part of parts)
    if (typeof part === "string" || part instanceof Node) made.append(part);
    else
      for (const [key, value] of Object.entries(part))
        if (typeof value === "function") made.addEventListener(key.slice(2), /** @type {EventListener} */ (value));
        else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, String(value));
  return made;
}

/** @param {Record<string, unknown>} attributes */
const inputOf = (attributes) => /** @type {HTMLInputElement} */ (element("input", attributes));
/** @param {string} name @param {() => void} onclick @param {...(Node | string)} parts */
const buttonOf = (name, onclick, ...parts) => element(name, { type: "button", onclick }, ...parts);
/** Letters of a drawing. @param {string} anchor @param {number} x @param {number} y @param {string} text */
const letters = (anchor, x, y, text) => element("svg:text", { "text-anchor": anchor, x, y }, text);
/** What a screen reader says whenever it changes. @param {string} name */
const spoken = (name) => element(name, { role: "status" });

/** What is set, from the address: `#rubric=careless&seed=3`. */
const readState = () => new URLSearchParams(location.hash.slice(1));

/** Change some of it, without a step in the browser's history. @param {Record<string, string | number | null>} changes */
function keepState(changes) {
  const state = readState();
  for (const [key, value] of Object.entries(changes))
    if (value === null) state.delete(key);
    else state.set(key, String(value));
  history.replaceState(null, "", `#${state}`);
}

/** As Python rounds: a tie goes to the even one. @param {number} value @param {number} digits */
const rounded = (value, digits) => {
  const tie = Math.abs((value * 2 ** digits) % 1) === 0.5 && Math.floor(Math.abs(value) * 10 ** digits) % 2 === 0;
  return (tie ? value * (1 - 1e-15) : value).toFixed(digits);
};
const percent = (/** @type {number} */ share, digits = 0) => `${rounded(100 * share, digits)} %`;
const percent1 = (/** @type {number} */ share) => percent(share, 1);
/** @param {number} value @param {number} [digits] */
const signed = (value, digits = 3) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${rounded(Math.abs(value), digits)}`;
const upOrDown = (/** @type {number} */ change) => (change > 0 ? "▲ up" : change < 0 ? "▼ down" : "unchanged");
const grouped = (/** @type {number} */ count) => count.toLocaleString("en");
/** @param {number} count @param {string} noun */
const counted = (count, noun) => `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
const inWords = (/** @type {string} */ name) => name.replaceAll("_", " ");

/** Lines over time, from 0 to 1. Each has a class for its colour, a dash of its own, and its name at its end.
 *  @param {{name: string, kind: string, values: number[], at?: number[]}[]} lines  `at`: of each value, if not 0, 1, …
 *  @param {{most: number, across: string, title: string, cursor?: number}} labels  `most`: how far the axis reaches */
function lineChart(lines, { most, across, title, cursor }) {
  const width = window.innerWidth < 600 ? 430 : 640; // on a phone the letters stay readable
  const [height, left, right, top, bottom] = [340, 58, width - 150, 16, 300];
  const x = (/** @type {number} */ i) => left + ((right - left) * i) / Math.max(1, most);
  const y = (/** @type {number} */ value) => top + (bottom - top) * (1 - value);
  const parts = [0, 0.25, 0.5, 0.75, 1].flatMap((value) => [
    element("svg:line.grid", { x1: left, x2: right, y1: y(value), y2: y(value) }),
    letters("end", left - 6, y(value) + 5, percent(value)),
  ]);
  parts.push(letters("middle", (left + right) / 2, height - 8, across));
  parts.push(letters("end", right, bottom + 18, String(most)));
  if (cursor !== undefined)
    parts.push(element("svg:line.cursor", { x1: x(cursor), x2: x(cursor), y1: top, y2: bottom }));
  const drawn = lines.filter(({ values }) => values.length);
  const ends = drawn.map((line) => ({ ...line, end: Number(line.values.at(-1)) }));
  let above = Infinity;
  for (const [i, { name, kind, values, end, at }] of ends.sort((a, b) => a.end - b.end).entries()) {
    const places = values.map((_, place) => x(at ? at[place] : place));
    const points = values.map((value, place) => `${places[place].toFixed(1)},${y(value).toFixed(1)}`).join(" ");
    parts.push(element("svg:polyline", { class: `line ${kind}`, points }));
    above = Math.max(Math.min(above - 22, y(end) + 5), 16 + 22 * (ends.length - 1 - i)); // no name lies on another
    const place = { class: `name ${kind}`, x: Number(places.at(-1)) + 8, y: above };
    parts.push(element("svg:text", place, `${name} ${percent(end)}`));
  }
  return element("svg:svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title }, ...parts);
}

/** An interval on a line, its numbers written by `text`. `marks` stand above the line with their names.
 *  @param {{value: number, low: number, high: number, from: number, to: number, label: string,
 *  marks?: {at: number, label: string}[], text?: (value: number) => string}} numbers */
function intervalLine({ value, low, high, from, to, label, marks = [], text = percent1 }) {
  const x = (/** @type {number} */ at) => 45 + (310 * (Math.min(to, Math.max(from, at)) - from)) / (to - from);
  /** @param {string} kind @param {number} a @param {number} b @param {number} [up] */
  const line = (kind, a, b, up = 0) => element(`svg:line.${kind}`, { x1: x(a), x2: x(b), y1: 40 - up, y2: 40 + up });
  const said = `${label}: ${text(value)}, 95 % interval ${text(low)} to ${text(high)}`;
  return element(
    "svg:svg.interval",
    { viewBox: "0 0 400 76", role: "img", "aria-label": said },
    ...[line("grid", from, to), line("span", low, high), line("span", low, low, 7), line("span", high, high, 7)],
    ...[from, to].flatMap((at) => [line("grid", at, at, 6), letters("middle", x(at), 62, text(at))]),
    ...marks.flatMap(({ at, label: name }) => [line("mark", at, at, 14), letters("middle", x(at), 12, name)]),
    ...(from < 0 ? [line("mark", 0, 0, 14), letters("middle", x(0), 68, "0")] : []),
    element("svg:circle", { cx: x(value), cy: 40, r: 6 }),
    letters("middle", x(value), 26, text(value)),
  );
}

/** What may be wider than its page, and then scrolls. @param {string} name @param {string} label @param {Node} table */
const wide = (name, label, table) => element(name, { tabindex: 0, role: "region", "aria-label": label }, table);

/** @param {string} caption @param {string[]} head @param {(string | Node)[][]} rows */
function tableOf(caption, head, rows) {
  /** @param {string} name @param {(string | Node)[]} cells */
  const row = (name, cells) => element("tr", ...cells.map((cell) => element(name, cell)));
  const body = rows.map((cells) => row("td", cells));
  return wide("div.wide", caption, element("table", element("caption", caption), row("th", head), ...body));
}

// ---- Text --------------------------------------------------------------------------------------------------------

/** @typedef {Record<string, string>} Names  code point in hexadecimal -> name of the character
 *  @typedef {string | null | {text: string, more: number}} Cut  a text; or its beginning, and how many characters follow */
const textIn = (/** @type {Cut} */ cut) => (cut === null ? "" : typeof cut === "string" ? cut : cut.text);
/** Its first characters, none of them in half. @param {Cut} cut @param {number} most */
const beginning = (cut, most) => [...textIn(cut)].slice(0, most).join("");

/** `U+200B ZERO WIDTH SPACE`. @param {string} character @param {Names} names */
function named(character, names) {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return `U+${code} ${names[code] ?? ""}`.trim();
}

/** A text in parts: what can be read, and what would hide, move or command something, as course/text.py finds it.
 *  @param {string} text @returns {{text: string, hidden: boolean, times: number}[]}  equal hidden ones in a row are one */
function partsOf(text) {
  const hidden = /((?! )(?:[\p{C}\p{Z}\p{DI}\u2800]|\u{16FE4}|\u{1D159}))\1*/gu;
  const parts = [];
  let at = 0;
  for (const { 0: run, 1: one, index } of text.matchAll(hidden)) {
    parts.push({ text: text.slice(at, index), hidden: false, times: 1 });
    parts.push({ text: one, hidden: true, times: run.length / one.length });
    at = index + run.length;
  }
  return [...parts, { text: text.slice(at), hidden: false, times: 1 }].filter((part) => part.text);
}

/** The same to be read: named, and a line feed as ⏎ and a line break. @param {string} text @param {Names} names */
function visibleText(text, names) {
  return partsOf(text).map((part) => {
    if (!part.hidden) return part.text;
    const [title, sign] = [named(part.text, names), { "\n": "⏎", "\t": "⇥" }[part.text]];
    const times = part.times > 1 ? ` ×${part.times}` : "";
    const shown = sign && part.times < 4 ? sign.repeat(part.times) : (sign ?? title) + times;
    return element(sign ? "span.unseen" : "span.unseen.named", { title }, shown, part.text === "\n" ? "\n" : "");
  });
}

/** The same of all of a text: its first and last spaces do not hide either, and where it was cut is said.
 *  @param {Cut} cut @param {Names} names */
function wholeText(cut, names) {
  if (cut === null) return element("em", "no completion");
  const text = textIn(cut);
  const parts = text.split(/^( +)|( +)$/).filter(Boolean);
  const spaces = (/** @type {string} */ { length }) => [
    element("span.unseen", { title: "U+0020 SPACE" }, "␣".repeat(length)),
  ];
  const shown = parts.flatMap((part) => (/^ +$/.test(part) ? spaces(part) : visibleText(part, names)));
  const end = typeof cut === "object" ? ` … and ${counted(cut.more, "more character")}` : parts.length ? "" : "empty";
  return element("bdi.text", ...shown, element("em", end));
}

/** What two texts begin and end with alike, and what stands between. @param {string} before @param {string} after */
function differenceOf(before, after) {
  const [a, b] = [[...before], [...after]];
  const shorter = Math.min(a.length, b.length);
  let [start, end] = [0, 0];
  while (start < shorter && a[start] === b[start]) start++;
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const [changed, to] = [a, b].map((text) => text.slice(start, text.length - end).join(""));
  return { start: a.slice(0, start).join(""), before: changed, after: to, end: a.slice(a.length - end).join("") };
}

// ---- What the views share ----------------------------------------------------------------------------------------

/** The way of a completion through the checks. @param {Pick<Tables, "checks">} tables @param {string} outcome */
function checkPath({ checks }, outcome) {
  const failed = outcome === "ok" ? checks.length : checks.findIndex(([name]) => name === outcome);
  const steps = checks.map(([, , name, expected], i) => {
    const [kind, words] =
      i < failed ? ["passed", "✓ passed"] : i === failed ? ["failed", "✗ failed here"] : ["unreached", "not reached"];
    return element(`li.${kind}`, { title: expected }, `${inWords(name)} `, element("span", words));
  });
  return element("ol.path", ...steps);
}

/** One of several, by number. @param {string[]} names */
function choiceOf(names) {
  const options = names.map((name, value) => element("option", { value }, name));
  return /** @type {HTMLSelectElement} */ (element("select", ...options));
}

/** A field with its label and, of a slider, its value; that stands in the address under `id`.
 *  @param {string} id @param {string} label @param {HTMLElement} field @param {() => void} changed */
function labelled(id, label, field, changed) {
  const control = /** @type {HTMLInputElement & {selectedIndex?: number}} */ (field);
  const [shown, box] = [element("output"), control.type === "checkbox"];
  const value = () => (box ? String(control.checked) : control.value);
  const usual = value();
  const show = () => (shown.textContent = control.type === "range" ? control.value : "");
  function restore() {
    const to = readState().get(id) ?? usual;
    if (box) control.checked = to === "true";
    else control.value = to;
    if (control.selectedIndex === -1 || (control.type === "number" && !control.value)) control.value = usual;
    show();
  }
  control.id = id;
  control.addEventListener("input", show);
  control.addEventListener("input", changed);
  control.addEventListener("change", () => keepState({ [id]: value() }));
  window.addEventListener("hashchange", restore);
  window.addEventListener("hashchange", () => changed()); // new for each field: the same function is added only once
  restore();
  return element("span.field", element("label", { for: id }, label), field, shown);
}

/** A slider over 0 … count − 1 with play and pause, its place in the address as `step`. The arrow keys, Home, End and
 *  the space bar work wherever the focus is, but in fields.
 *  @param {{label: string, count: number, textOf: (place: number) => string, show: (place: number) => void}} about */
function makeScrubber({ label, count, textOf, show }) {
  let timer = 0;
  const range = inputOf({ type: "range", min: 0, max: count - 1, value: 0, "aria-label": label });
  const play = buttonOf("button.play", () => run(!timer), "▶ Play");
  const words = element("output");
  const place = () => Number(range.value);
  /** @param {number} to */
  function go(to) {
    range.value = String(to);
    words.textContent = textOf(place());
    range.setAttribute("aria-valuetext", words.textContent);
    show(place());
  }
  /** @param {boolean} on */
  function run(on) {
    clearInterval(timer);
    if (on && place() === count - 1) go(0);
    if (!on) keepState({ step: place() });
    play.textContent = on ? "❚❚ Pause" : "▶ Play";
    const turn = () => (place() < count - 1 ? go(place() + 1) : run(false));
    timer = on ? window.setInterval(turn, Math.min(900, Math.max(60, 20_000 / count))) : 0;
  }
  document.addEventListener("keydown", (event) => {
    const at = /** @type {HTMLElement} */ (event.target);
    if (event.altKey || event.ctrlKey || event.metaKey || at.closest("input, select, textarea, [tabindex]")) return;
    const to = { ArrowLeft: place() - 1, ArrowRight: place() + 1, Home: 0, End: count - 1 }[event.key];
    const space = event.key === " " && !at.closest("button, a, summary");
    if (to === undefined && !space) return;
    event.preventDefault();
    if (to !== undefined) go(to);
    run(space && !timer);
  });
  range.addEventListener("input", () => go(place()));
  range.addEventListener("change", () => run(false));
  const restore = () => go(Number(readState().get("step")) || 0);
  window.addEventListener("hashchange", restore);
  const made = element("div.scrubber", play, range, words, element("span.note", "keys: ← → space"));
  return { made, restore, redraw: () => go(place()) };
}

const openOnes = (/** @type {string} */ name) => (readState().get(name) ?? "").split(" ").filter(Boolean);

/** What opens and closes: the address names all that are open, as `row=3+8`. `fill` gives what is in it, when it opens.
 *  @param {HTMLElement} details @param {string} name @param {string} value @param {() => Node[]} [fill] */
function keepOpen(details, name, value, fill = () => []) {
  const made = /** @type {HTMLDetailsElement} */ (details);
  made.addEventListener("toggle", () => {
    if (made.open && made.childElementCount === 1) made.append(...fill());
    const others = openOnes(name).filter((one) => one !== value);
    keepState({ [name]: (made.open ? [...others, value] : others).join(" ") || null });
  });
  made.open = openOnes(name).includes(value);
  return made;
}

// ---- Loop C: updates, evaluations, tokens ------------------------------------------------------------------------

/** @typedef {{prefix: string, before: number[], after: number[], action: number, reward: number, return: number,
 *  advantage: number, credited: boolean}} State  one step of an update
 *  @typedef {{step: number, expected: number, baseline: number, states: State[]}} Step
 *  @typedef {{unit: string, prompt: string, actions: string[][], of: number, after: number, steps: Step[]}} Updates */

/** A sum that ends in an advantage, its sign in colour and in words.
 *  @param {string} sum @param {number} advantage @param {boolean} [credited] */
function drawAdvantage(sum, advantage, credited = true) {
  const found = advantage > 0 ? "better" : advantage ? "worse" : "even";
  const words = !credited ? "no credit, not updated" : advantage ? `${found} than the baseline` : "as the baseline";
  return element("p", sum, element(`strong.${found}`, `advantage ${signed(advantage)}, ${words}`));
}

/** One state of an update: what was sampled there, what it earned, and every probability before and after.
 *  @param {State} state @param {string[]} actions @param {number} baseline @param {Names} names */
function drawState({ prefix, action, reward, return: return_, before, after, ...state }, actions, baseline, names) {
  const inBars = { viewBox: "0 0 100 2", preserveAspectRatio: "none", "aria-hidden": "true" };
  /** @param {string} kind @param {number} share @param {number} y */
  const bar = (kind, share, y) => element(`svg:rect.${kind}`, { width: 100 * share, height: 1, y });
  const rows = actions.map((text, a) =>
    element(
      a === action ? "li.sampled" : "li",
      element("code", ...visibleText(text, names), element("strong", a === action ? " ← sampled" : "")),
      element("span", `${percent1(before[a])} → ${percent1(after[a])} ${upOrDown(after[a] - before[a])}`),
      element("svg:svg", inBars, bar("before", before[a], 0), bar("after", after[a], 1)),
    ),
  );
  const earned = reward === return_ ? `reward ${reward}` : `reward ${reward}, return ${return_}`;
  return element(
    "section",
    prefix ? element("h2", "after ", element("code", ...visibleText(prefix, names))) : "",
    drawAdvantage(`${earned} − baseline ${rounded(baseline, 3)} = `, state.advantage, state.credited),
    element("ul.actions", { "aria-label": "probabilities before and after" }, ...rows),
  );
}

/** Updates one by one. `read` gives them anew whenever something else than the step has changed.
 *  @param {HTMLElement} main @param {() => Updates} read @param {Names} names */
function showUpdates(main, read, names) {
  const { unit, steps, of, prompt } = read();
  const [chart, states] = [element("figure.chart"), element("div", { "aria-live": "polite" })];
  /** @param {number} place */
  function show(place) {
    const data = read();
    const { step, baseline, states: now } = data.steps[place];
    const at = [...data.steps.map((one) => one.step - 1), of];
    const values = [...data.steps.map((one) => one.expected), data.after];
    const [before, after] = values.slice(place).map(percent1);
    const title = `Expected reward: ${before} before ${unit} ${step}, ${after} after it.`;
    const line = { name: "expected", kind: "true", values, at };
    const drawn = lineChart([line], { most: of, across: `${unit}s`, title, cursor: step });
    chart.replaceChildren(drawn, element("figcaption", title));
    states.replaceChildren(...now.map((state, t) => drawState(state, data.actions[t], baseline, names)));
  }
  const textOf = (/** @type {number} */ place) => `${unit} ${steps[place].step} of ${of}`;
  const scrubber = makeScrubber({ label: unit, count: steps.length, textOf, show });
  const some = steps.length < of ? ` ${steps.length} of ${of} ${unit}s are shown, evenly spaced.` : "";
  const legend = element("p.note", `Bars: the upper, grey, before the ${unit}; the lower, blue, after it.${some}`);
  main.append(element("p", prompt), legend, scrubber.made, element("div.live", states, chart));
  scrubber.restore();
  return scrubber;
}

/** @typedef {{question: string, proxy: number, true: number, exploit: boolean, text: Cut}} Written
 *  @typedef {{step: number, n: number, gap: number, kl: number, mean_length: number, rubric: string} &
 *  Record<"proxy_reward" | "true_reward" | "holdout_proxy_reward" | "holdout_true_reward", number | null>} Point
 *  @typedef {{label: string, question: string, tokens: string[], sum: string, advantage: number, before: number[],
 *  after: number[]}} TokenRow  one completion of an update
 *  @typedef {{shown: number, of: number, trainings: {name: string, points: Point[], written: Written[][]}[],
 *  updates: TokenRow[]}} Evaluations */

/** @type {["true_reward" | "holdout_true_reward" | "proxy_reward" | "holdout_proxy_reward", string, string][]} */
const CURVES = [
  ["true_reward", "strict", "true"],
  ["holdout_true_reward", "holdout", "true holdout"],
  ["proxy_reward", "rubric", "paid"],
  ["holdout_proxy_reward", "holdout", "paid holdout"],
];

/** The evaluations of a training: both rewards over the updates, and what was written at the slider's step.
 *  @param {HTMLElement} main @param {Evaluations} data @param {Names} names */
function showEvaluations(main, { trainings, shown, of, updates }, names) {
  const [chart, said] = [element("figure.chart"), spoken("p.said")];
  const written = element("ol.answers.long", { "aria-label": "What the policy wrote at this step" });
  const choice = choiceOf(trainings.map(({ name }) => name));
  const now = () => trainings[Number(choice.value)];
  const here = (/** @type {number} */ place) => Math.min(place, now().points.length - 1);
  /** @param {number} place */
  function show(place) {
    const { points, written: texts } = now();
    const { step, n, gap, rubric, ...point } = points[here(place)];
    const at = points.map((one) => one.step);
    const known = CURVES.filter(([of]) => point[of] !== null && (rubric !== "score" || of.includes("true")));
    const lines = known.map(([of, name, kind]) => ({ name, kind, at, values: points.map((one) => one[of] ?? 0) }));
    const too = rubric === "score" ? "" : `the rubric pays ${percent(point.proxy_reward ?? 0)} and `;
    const title = `After ${counted(step, "update")} ${too}the strict verifier pays ${percent(point.true_reward ?? 0)}.`;
    const sizes = `KL ${rounded(point.kl, 1)} nats, ${rounded(point.mean_length, 1)} tokens each.`;
    said.textContent = `${title} ${Math.round(gap * n)} of ${n} completions are exploits. ${sizes}`;
    chart.replaceChildren(lineChart(lines, { most: at[at.length - 1], across: "updates", title, cursor: step }));
    written.replaceChildren(...texts[here(place)].map((one) => drawWritten(one, names)));
  }
  const count = Math.max(...trainings.map(({ points }) => points.length));
  const textOf = (/** @type {number} */ place) => `after ${counted(now().points[here(place)].step, "update")}`;
  const scrubber = makeScrubber({ label: "evaluation", count, textOf, show });
  const some = shown < of ? `${shown} of ${of} evaluations are shown, evenly spaced.` : "";
  main.append(trainings.length > 1 ? labelled("training", "training", choice, () => scrubber.redraw()) : "");
  main.append(some, scrubber.made, said, element("div.live", chart, written));
  scrubber.restore();
  if (updates.length) showTokens(main, updates, names);
}

/** @param {Written} one @param {Names} names */
function drawWritten({ question, proxy, true: right, exploit, text }, names) {
  const said = `rubric ${proxy}, strict ${right}${exploit ? ": an exploit" : ""}`;
  const verdict = element(`span.verdict.${exploit ? "paid" : right ? "true" : "none"}`, said);
  return element("li", element("span", question), element("code", wholeText(text, names)), verdict);
}

/** The updates that were shown token by token: one advantage, and what became of each token's log-probability.
 *  @param {HTMLElement} main @param {TokenRow[]} updates @param {Names} names */
function showTokens(main, updates, names) {
  const shown = element("div", { "aria-live": "polite" });
  const choice = choiceOf(updates.map(({ label }) => label));
  function show() {
    const { question, sum, tokens, advantage, before, after } = updates[Number(choice.value)];
    const rows = tokens.map((token, i) => {
      const change = after[i] - before[i];
      const text = element("code", ...(token ? ["'", ...visibleText(token, names), "'"] : ["end of text"]));
      return [text, signed(before[i]), signed(after[i]), `${signed(change, 4)} ${upOrDown(change)}`];
    });
    const caption = "All completions of an update change the same weights: a token can rise at a negative advantage.";
    const table = tableOf(caption, ["token", "log p before", "after", "change"], rows);
    shown.replaceChildren(element("p", question), drawAdvantage(sum, advantage), table);
  }
  main.append(element("h2", "Token by token"), labelled("token", "completion", choice, show), shown);
  show();
}

/** @param {HTMLElement} main @param {any} data */
function showLoopC(main, data) {
  if (data.kind === "updates") showUpdates(main, () => data, data.names);
  else if (data.kind === "evaluations") showEvaluations(main, data, data.names);
  else main.append(tableOf("What the run came to", ["quantity", "value"], data.summary ?? []));
}

// ---- Two runs ----------------------------------------------------------------------------------------------------

/** @typedef {{question: string} & Record<"before" | "after", {outcome: string, text: Cut}>} Flip */

/** @param {Flip} flip @param {Names} names */
function drawFlip({ question, before, after }, names) {
  const { start, end, ...between } = differenceOf(textIn(before.text), textIn(after.text));
  /** @param {string} label @param {Flip["before"]} side @param {string} changed */
  const line = (label, { outcome, text }, changed) => {
    const mark = element("mark", ...visibleText(changed, names));
    const cut = text === null ? "no completion" : typeof text === "object" ? ` … and ${grouped(text.more)} more` : "";
    const whole = element("code", ...visibleText(start, names), mark, ...visibleText(end, names), cut);
    return element("div", `${label} (${inWords(outcome)}) `, whole);
  };
  const sides = [line("baseline", before, between.before), line("candidate", after, between.after)];
  return element("li", element("div.note", question), ...sides);
}

/** @param {HTMLElement} main
 *  @param {{said: string[], interval: {value: number, low: number, high: number} | null, names: Names,
 *  flips: {name: string, flips: Flip[]}[], compared: {caption: string, head: string[], rows: string[][]}[]}} data */
function showTwoRuns(main, { said, interval, flips, compared, names }) {
  main.append(...said.map((sentence, i) => element(i % (said.length - 1) ? "p" : "p.said", sentence)));
  if (interval) {
    const reach = Math.max(0.1, Math.ceil(10 * Math.max(-interval.low, interval.high)) / 10);
    const text = (/** @type {number} */ value) => `${signed(100 * value, 1)} points`;
    main.append(intervalLine({ ...interval, from: -reach, to: reach, text, label: "Difference of the pass rates" }));
  }
  const lists = flips.map(({ name, flips: these }) =>
    element("section", element("h2", name), element("ol.answers.long", ...these.map((flip) => drawFlip(flip, names)))),
  );
  main.append(element("div.live", ...lists), ...compared.map((one) => tableOf(one.caption, one.head, one.rows)));
}

// ---- Two pages to touch: the verifier, and the bandit of course/bandit_train.py ----------------------------------

/** The verifier at each keystroke. @param {HTMLElement} main
 *  @param {{tables: Tables, names: Names, examples: {name: string, answer: string, text: string}[]}} data */
function showVerifier(main, { tables, names, examples }) {
  const scorer = makeScorer(tables);
  const text = /** @type {HTMLTextAreaElement} */ (element("textarea", { rows: 3, spellcheck: "false" }));
  const answer = inputOf({ inputmode: "numeric", autocomplete: "off" });
  const found = spoken("div");
  function show() {
    const valid = /^(0|-?[1-9][0-9]{0,999})$/.test(answer.value);
    const { outcome, reward } = valid ? scorer(answer.value, text.value) : { outcome: "invalid_example", reward: 0 };
    const check = tables.checks.find(([name]) => name === outcome);
    const why = check ? `${inWords(outcome)}: expected ${check[3]}` : "ok: the one line, the right value";
    const said = element(`p.said.${reward ? "better" : "worse"}`, `${reward ? "✓" : "✗"} Reward ${reward}. ${why}.`);
    const shown = element("p", "Every character: ", element("code.text", ...visibleText(text.value, names)));
    found.replaceChildren(said, shown, checkPath(tables, outcome));
  }
  const tries = examples.map((one) => {
    const state = new URLSearchParams({ answer: one.answer, text: one.text });
    return buttonOf("button", () => location.replace(`#${state}`), one.name);
  });
  answer.value = examples[0].answer;
  text.value = examples[0].text;
  main.append(element("div.controls", ...tries), labelled("answer", "expected answer", answer, show));
  main.append(labelled("text", "completion", text, show), found);
  show();
}

/** All of Loop C, as `learn` of course/bandit_train.py has it: one update for each of the uniform draws.
 *  @param {number[]} rewards  the learner's, for each arm @param {number[]} draws @param {number} lr
 *  @param {boolean} withBaseline  the mean of the rewards before */
function learnBandit(rewards, draws, lr, withBaseline) {
  let theta = rewards.map(() => 0);
  let baseline = 0;
  return draws.map((u, i) => {
    const p = softmax(Float64Array.from(theta));
    const action = sample(p, u);
    const [reward, used] = [rewards[action], baseline];
    const advantage = reward - used;
    theta = theta.map((value, b) => value + lr * advantage * (Number(b === action) - p[b]));
    if (withBaseline) baseline += (reward - baseline) / (i + 1);
    return { p: [...p], action, reward, baseline: used, advantage, newTheta: theta };
  });
}

/** The page: sliders, the updates of one seed, and how a hundred end.
 *  @param {HTMLElement} main @param {{arms: string[], rewards: number[], steps: number, names: Names}} data */
function showBandit(main, { arms, rewards, steps: of, names }) {
  const lr = inputOf({ type: "range", min: -1, max: 3, step: 0.1, value: 0.5 });
  const offset = inputOf({ type: "range", min: -3, max: 3, step: 0.5, value: 0 });
  const seed = inputOf({ type: "number", min: 0, max: 9999, value: 0 });
  const baseline = inputOf({ type: "checkbox", checked: "" });
  const said = spoken("p.said");
  const expected = (/** @type {ArrayLike<number>} */ p) => rewards.reduce((sum, reward, a) => sum + reward * p[a], 0);
  const probs = (/** @type {number[]} */ theta) => [...softmax(Float64Array.from(theta))];
  /** @param {number} from */
  function learned(from) {
    const draws = Array.from({ length: of }, generator(from));
    const paid = rewards.map((reward) => reward + Number(offset.value));
    return learnBandit(paid, draws, Number(lr.value), baseline.checked);
  }
  /** @returns {Updates} */
  function updatesOf() {
    const steps = learned(Number(seed.value)).map(({ p, newTheta, baseline: used, ...update }, i) => {
      const end = { prefix: "", after: probs(newTheta), return: update.reward, credited: true };
      return { step: i + 1, expected: expected(p), baseline: used, states: [{ before: p, ...end, ...update }] };
    });
    return { unit: "update", prompt: "", actions: [arms], of, after: expected(steps[of - 1].states[0].after), steps };
  }
  let updates = updatesOf();
  let scrubber = /** @type {ReturnType<typeof showUpdates> | null} */ (null);
  function changed() {
    updates = updatesOf();
    const ends = Array.from({ length: 100 }, (_, i) => learned(Number(seed.value) + i)[of - 1].newTheta);
    const good = ends.filter((theta) => expected(probs(theta)) > 0.9).length;
    said.textContent = `Of 100 seeds from this one on, ${good} end with an expected reward above 0.9.`;
    scrubber?.redraw();
  }
  const sliders = [labelled("lr", "learning rate", lr, changed), labelled("offset", "reward offset", offset, changed)];
  const fields = [labelled("baseline", "baseline", baseline, changed), labelled("seed", "seed", seed, changed)];
  main.append(element("div.controls", ...sliders, ...fields), said);
  changed();
  scrubber = showUpdates(main, () => updates, names);
}

// ---- A page in which a policy trains: docs/live/watch_it_cheat.html ----------------------------------------------

/** @typedef {{tokens: number[], question: string, answer: string}} Task
 *  @typedef {{policy: Parameters<typeof readPolicy>[0], tasks: Task[], tables: Tables,
 *  plan: {prompts: number, groupSize: number, lr: number, steps: number}}} HackData
 *  @typedef {{paid: number[], strict: number[], answers: {task: Task, text: string, paid: number, strict: number}[]}} Log */
const emptyLog = () => /** @type {Log} */ ({ paid: [], strict: [], answers: [] });

/** A training that goes on update by update. The same seed gives the same updates.
 *  @param {HackData} data @param {string} rubric  "careless" or "strict" @param {number} seed */
function makeTraining({ tasks, plan, tables, policy: saved }, rubric, seed) {
  const scorer = makeScorer(tables);
  const strict = (/** @type {string} */ expected, /** @type {string} */ text) => scorer(expected, text).reward;
  const draw = generator(seed);
  const mean = (/** @type {number[]} */ values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const log = emptyLog();
  let policy = readPolicy(saved);
  function step() {
    const order = tasks.map((_, i) => i);
    for (let i = 0; i < plan.prompts; i++) {
      const j = i + Math.floor(draw() * (order.length - i));
      [order[i], order[j]] = [order[j], order[i]];
    }
    const chosen = order.slice(0, plan.prompts).flatMap((i) => Array(plan.groupSize).fill(tasks[i]));
    const asked = { prompts: chosen.map((task) => task.tokens), answers: chosen.map((task) => task.answer) };
    const update = learn(policy, asked, rubric === "careless" ? anywhere : strict, plan, draw);
    policy = update.policy;
    const right = update.completions.map(({ text }, i) => strict(asked.answers[i], text));
    log.paid.push(mean(update.rewards));
    log.strict.push(mean(right));
    log.answers = chosen.flatMap((task, i) =>
      i % plan.groupSize ? [] : [{ task, text: update.completions[i].text, paid: update.rewards[i], strict: right[i] }],
    );
  }
  return { log, step };
}

/** In a worker, so that the page never waits: what it is sent begins a training, or says how far it is to go on. */
function trainInWorker() {
  /** @type {ReturnType<typeof makeTraining>} */
  let training;
  onmessage = ({ data: { begin, until } }) => {
    if (begin) training = makeTraining(begin.data, begin.rubric, begin.seed);
    while (training.log.paid.length < until) training.step();
    postMessage(training.log);
  };
}

/** The page: two buttons, two rates, and what the policy writes. @param {HTMLElement} main @param {HackData} data */
function showHack(main, data) {
  const program = URL.createObjectURL(new Blob([SCRIPT ?? ""], { type: "text/javascript" }));
  const chart = element("figure.chart");
  const answers = element("ol.answers", { "aria-label": "What the policy writes now" });
  const said = spoken("p.said");
  const seed = inputOf({ type: "number", min: 0, max: 9999, value: 0, onchange: () => begin(rubric) });
  const { steps } = data.plan;
  const pace = matchMedia("(prefers-reduced-motion: reduce)").matches ? 10 : 1;
  let worker = /** @type {Worker | null} */ (null);
  let log = emptyLog();
  let rubric = "";
  let going = false;
  let waiting = false; // for the worker's answer
  const buttons = [
    ["careless", "A careless verifier", "pays if the right number stands anywhere in the text"],
    ["strict", "A strict verifier", "pays for one line, Final: and the right number"],
  ].map(([name, label, what]) =>
    buttonOf(`button.choice.${name}`, () => begin(name), element("strong", label), element("span", what)),
  );
  const pause = buttonOf("button", pauseOrGoOn, "Pause");
  /** Train anew: to update `until` and pause there, or on and on. @param {string} name @param {number} [until] */
  function begin(name, until = 0) {
    worker?.terminate();
    log = emptyLog();
    rubric = name;
    going = rubric !== "" && !until;
    waiting = true;
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.classList.contains(name)));
    if (!until) keepState({ rubric: rubric || null, seed: Number(seed.value) || 0, step: null });
    show();
    if (!rubric) return;
    worker = new Worker(program);
    worker.onmessage = (reply) => {
      log = reply.data;
      waiting = false;
      going &&= log.paid.length < steps;
      if (going) goOn(); // the worker goes on while the page draws
      show();
    };
    worker.postMessage({ begin: { data, rubric, seed: Number(seed.value) || 0 }, until: until || pace });
  }
  /** Ask for more, unless some is under way. */
  function goOn() {
    if (!waiting) worker?.postMessage({ until: Math.min(steps, log.paid.length + pace) });
    waiting = true;
  }
  function pauseOrGoOn() {
    going = !going && rubric !== "";
    if (going) goOn();
    show();
  }
  function show() {
    pause.textContent = going || !rubric ? "Pause" : "Go on";
    if (rubric && !going && !waiting) keepState({ step: log.paid.length });
    const { paid, strict, answers: now } = log;
    const lines = [{ name: "right line", kind: "true", values: strict }];
    if (rubric === "careless") lines.push({ name: "paid", kind: "paid", values: paid });
    const [done, rates] = [paid.length, [paid, strict].map((values) => percent(values.at(-1) ?? 0))];
    const shares = `${rates[0]} are paid and ${rates[1]} are the right line.`;
    const title = done ? `After ${counted(done, "update")} ${shares}` : "Nothing is trained yet.";
    const most = Math.max(60, Math.ceil(done / 60) * 60);
    chart.replaceChildren(lineChart(lines, { most, across: "updates", title }));
    answers.replaceChildren(...now.slice(0, 4).map(drawAnswer));
    answers.setAttribute("aria-busy", String(rubric !== "" && waiting && !going)); // on the way to the step of an address
    if (done % 20 === 0 || !going) said.textContent = done ? title : "";
  }
  const again = buttonOf("button", () => rubric && begin(rubric), "From the start");
  const controls = [pause, again, labelled("seed", "seed", seed, () => {})];
  main.append(element("div.choices", ...buttons), element("div.controls", ...controls));
  main.append(said, element("div.live", chart, answers));
  function restore() {
    const wanted = ["careless", "strict"].find((name) => name === readState().get("rubric")) ?? "";
    begin(wanted, Math.min(steps, Number(readState().get("step")) || Number(!wanted))); // without a step it trains
  }
  restore();
  window.addEventListener("hashchange", restore);
}

/** What was written for a task, with the number that was asked for marked. @param {Log["answers"][number]} one */
function drawAnswer({ task, text, paid, strict }) {
  const parts = text.split(/(-?[0-9]+)/).filter(Boolean);
  const marked = parts.flatMap((part) => (part === task.answer ? [element("mark", part)] : visibleText(part, {})));
  return element(
    "li",
    element("span.question", `${task.question} = `),
    element("code", ...marked),
    element(`span.verdict.${paid ? "paid" : "none"}`, paid ? "paid" : "not paid"),
    element(`span.verdict.${strict ? "true" : "none"}`, strict ? "right line" : "not the line"),
  );
}

// ---- What the verifier scored in a run: course/reports/report.py -------------------------------------------------

/** @typedef {{row: number, id: Cut, prompt: Cut, expected: Cut, completion: Cut, reward: number, outcome: string,
 *  of?: [string, Cut][], samples?: [Cut, number][], chosen?: number, why?: string, others?: [number, number]}} Row
 *  @typedef {{summary: Record<string, any>, prediction: {expect: string | null, share: number | null, off: string | null},
 *  outcomes: {outcome: string, family: string, n: number}[], checks: [string, string, string, string][], n: number,
 *  longest: number, seed: number, rows: Row[]}} Scored */
const ROWS_AT_ONCE = 50;

/** The outcomes by family, as bars. @param {Scored} scored @param {(outcome: string) => void} choose */
function outcomeBars({ outcomes }, choose) {
  const total = outcomes.reduce((sum, { n }) => sum + n, 0);
  /** @param {Scored["outcomes"][number]} one */
  const bar = ({ outcome, n }) => {
    const rect = element("svg:rect", { width: `${(100 * n) / total}%`, height: 20 });
    const drawn = element("svg:svg", { "aria-hidden": true }, rect);
    const share = element("span", `${grouped(n)} · ${percent1(n / total)}`);
    const made = buttonOf(`button.tally.${outcome}`, () => choose(outcome), inWords(outcome), drawn, share);
    made.dataset.outcome = outcome;
    return made;
  };
  const families = [...new Set(outcomes.map(({ family }) => family))].flatMap((family) => [
    element("h2", { "": "passed", model_format: "format", model_math: "value" }[family] ?? family),
    ...outcomes.filter((one) => one.family === family).map(bar),
  ]);
  return element("section.bars", { "aria-label": "Outcomes by family; each shows only its examples" }, ...families);
}

/** What was expected of a run, and how far off it was. @param {Scored["prediction"]} prediction */
function predicted({ expect, off }) {
  const words = expect === null ? "No prediction was written down (--expect)." : `Expected: ${expect}`;
  return element("p", element("bdi", words), off ? element("strong", ` → it was ${off}`) : "");
}

/** Loop A: the pass rate with its interval, and what was expected of it. @param {Scored} scored */
function passRate({ summary, prediction }) {
  const { pass_rate: value, passes, n } = summary;
  const [low, high] = summary.pass_rate_ci95;
  const { share } = prediction;
  const marks = share === null ? [] : [{ at: share, label: `expected ${percent(share)}` }];
  return element(
    "section",
    element("p.main", element("strong", percent1(value)), " passed"),
    intervalLine({ value, low, high, from: 0, to: 1, label: "pass rate", marks }),
    element("p", `${grouped(passes)} of ${grouped(n)}, 95 % interval ${percent1(low)} to ${percent1(high)}`),
    predicted(prediction),
  );
}

/** Loop B: pass@k of the policy, and what choosing one of N got of it. @param {Scored} scored */
function choiceNumbers({ summary, prediction }) {
  const curve = /** @type {number[]} */ (Object.values(summary.pass_at_k));
  const { samples_per_prompt: n, ceiling, selected_accuracy: chosen, random_choice: random, kl_estimate: kl } = summary;
  const at = curve.map((_, i) => i + 1);
  /** @param {string} name @param {string} kind @param {number} value */
  const level = (name, kind, value) => ({ name, kind, values: curve.map(() => value), at });
  const lines = [level("ceiling", "dotted", ceiling), { name: "pass@k", kind: "true", values: curve, at }];
  lines.push(level("chosen", "paid", chosen), level("random", "dashed", random));
  const said = `pick_best got ${percent1(chosen)}, choosing blindly ${percent1(random)}, `;
  const title = `With ${counted(n, "sample")} a prompt, ${said}and no choice could get more than ${percent1(ceiling)}.`;
  const apart = kl === null ? summary.kl_estimate_reason : `about ${rounded(kl, 3)} nats`;
  return element(
    "section",
    element("p.main", element("strong", percent1(chosen)), " chosen right"),
    n > 1 ? element("figure.chart", lineChart(lines, { most: n, across: "k samples", title })) : "",
    element("p", `${title} KL from the policy: ${apart}, at most ${rounded(summary.kl_bound, 3)}.`),
    predicted(prediction),
  );
}

/** @param {[string, Node | string][]} facts */
const factsOf = (facts) => element("dl", ...facts.flatMap((one) => [element("dt", one[0]), element("dd", one[1])]));

/** All that there is to see of one row. @param {Row} row @param {Scored} scored @param {Names} names */
function rowInFull(row, { checks }, names) {
  /** @type {[string, Cut][]} */
  const texts = [["prompt", row.prompt], ["expected", row.expected], ...(row.of ?? [])];
  if (!row.samples) texts.push(["completion", row.completion]);
  /** @type {[string, Node | string][]} */
  const facts = texts.map(([name, value]) => [name, wholeText(value, names)]);
  const strangers = [...new Set(textIn(row.completion))].filter((character) => character > "\x7f");
  if (strangers.length) facts.push(["not ASCII", strangers.map((character) => named(character, names)).join(", ")]);
  const parts = [factsOf(facts), ...sampleList(row, names)];
  const check = checks.find(([outcome]) => outcome === row.outcome);
  if (check || row.outcome === "ok") parts.push(checkPath({ checks }, row.outcome));
  if (check) parts.push(element("p", `The verifier expected ${check[3]}.`));
  return parts;
}

/** @param {number} reward */
const verdict = (reward) => element(`span.verdict.${reward === 1 ? "true" : "paid"}`, reward === 1 ? "✓ 1" : "✗ 0");

/** The samples of a prompt with their rewards, and which was chosen and why. @param {Row} row @param {Names} names */
function sampleList({ samples, chosen, why, others: [more, right] = [0, 0] }, names) {
  if (!samples) return [];
  const items = samples.map(([text, reward], place) => {
    const said = place === chosen ? element("strong", " ◀ chosen") : "";
    return element(place === chosen ? "li.chosen" : "li", verdict(reward), " ", wholeText(text, names), said);
  });
  const rest = more ? ` Not looked at: ${counted(more, "more sample")}, ${right} of them right.` : "";
  return [element("ol.samples", ...items), element("p", element("strong", why ?? ""), rest)];
}

/** A row: its line, and all of it once it is opened. @param {Row} row @param {Scored} scored @param {Names} names */
function rowItem(row, scored, names) {
  const summary = element(
    "summary",
    verdict(row.reward),
    element("bdi.id", ...visibleText(beginning(row.id, 40), names), row.of ? ` ${row.of[0].join(" ")}` : ""),
    element("span.outcome", row.why?.split(/[:,]/)[0] ?? inWords(row.outcome)),
    element("bdi.first", ...visibleText(beginning(row.completion, 120), names)),
  );
  const details = element("details", { "data-row": row.row }, summary);
  return keepOpen(details, "row", String(row.row), () => rowInFull(row, scored, names));
}

/** The list of what was scored, with a search and the bars as its filter. What is set stands in the address.
 *  @param {HTMLElement} main @param {Scored} scored @param {Names} names */
function showScored(main, scored, names) {
  let outcome = "";
  let most = ROWS_AT_ONCE;
  const { view } = main.dataset;
  const held = counted(scored.rows.length, "row");
  const find = inputOf({ type: "search", id: "find" });
  const [said, list] = [spoken("p"), element("div.rows")];
  const more = buttonOf("button", () => show(outcome, most * 4), "Show more");
  const bars = outcomeBars(scored, (name) => show(outcome === name ? "" : name, ROWS_AT_ONCE));
  find.addEventListener("input", () => show(outcome, most));
  const searched = scored.rows.map((row) => {
    const texts = [row.id, row.prompt, row.completion, ...(row.samples ?? []).map(([text]) => text)].map(textIn);
    const unseen = texts.flatMap((text) => partsOf(text).map((part) => (part.hidden ? named(part.text, names) : "")));
    return [...texts, ...unseen, inWords(row.outcome), row.why].join("\n").toLowerCase();
  });
  /** @param {string} only  this outcome, or all @param {number} rows  the most */
  function show(only, rows) {
    outcome = only;
    most = rows;
    keepState({ outcome: outcome || null, find: find.value || null, most: most > ROWS_AT_ONCE ? most : null });
    const words = find.value.toLowerCase();
    const found = scored.rows.filter((row, i) => (!outcome || row.outcome === outcome) && searched[i].includes(words));
    for (const bar of bars.querySelectorAll("button"))
      bar.setAttribute("aria-pressed", String(bar.dataset.outcome === outcome));
    said.textContent = `${grouped(found.length)} of ${held}${outcome && `: ${inWords(outcome)}`}`;
    list.replaceChildren(...found.slice(0, most).map((row) => rowItem(row, scored, names)));
    more.hidden = found.length <= most;
  }
  function restore() {
    const state = readState();
    find.value = state.get("find") ?? "";
    const last = scored.rows.findLastIndex(({ row }) => openOnes("row").includes(String(row)));
    show(state.get("outcome") ?? "", Math.max(ROWS_AT_ONCE, last + 1, Number(state.get("most")) || 0));
    list.querySelector("[open]")?.scrollIntoView({ block: "center" });
  }
  const known = Object.keys(scored.summary).length && view !== "C";
  const numbers = known ? [view === "B" ? choiceNumbers(scored) : passRate(scored)] : [];
  const sampled = `${held} of ${grouped(scored.n)}, a uniform sample (seed ${scored.seed}); the bars count all. `;
  const cut = scored.rows.some((row) => typeof row.completion === "object" && row.completion);
  const short = cut ? `Each text is cut to ${grouped(scored.longest)} characters; the run holds the whole.` : "";
  if (view === "C") main.append(predicted(scored.prediction), element("h2", "What the strict verifier scored"));
  main.append(
    element("div.live", ...numbers, bars),
    element("h2", "Examples"),
    element("div.controls", element("label", { for: "find" }, "search"), find),
    ...[said, element("p", scored.rows.length < scored.n ? sampled : "", short), list, more],
  );
  restore();
  window.addEventListener("hashchange", restore);
}

// ---- The log of runs, and a student's tests against wrong verifiers ----------------------------------------------

/** @param {HTMLElement} main @param {{columns: string[], rows: string[][]}} data */
function showLog(main, { columns, rows }) {
  if (rows.length) main.append(tableOf(`${counted(rows.length, "run")}, oldest first`, columns, rows));
  else main.append(element("p", "No run stands in the log yet."));
}

const CELLS = { "#": ["caught", "■"], ".": ["not caught", "·"], x: ["an exception", "✗"], " ": ["no difference", ""] };

/** A row for each test, a column for each wrong verifier; columns that follow each other share the name of their class.
 *  @param {HTMLElement} main
 *  @param {{verifiers: (string | null)[], tests: {name: string, fault: string | null, cells: (keyof typeof CELLS)[]}[],
 *  rates: Record<string, [number, number]>}} data */
function showMatrix(main, { verifiers, tests, rates }) {
  const names = verifiers.map((name) => name ?? "?");
  const starts = names.flatMap((name, i) => (name === names[i - 1] ? [] : [i]));
  const head = starts.map((from, i) => {
    const colspan = (starts[i + 1] ?? names.length) - from;
    return element("th", { colspan, scope: "colgroup" }, element("span", names[from]));
  });
  const rows = tests.map(({ name, fault, cells }) => {
    const squares = cells.map((cell, i) => {
      const [words, sign] = CELLS[cell];
      return element("td", { class: words, title: `${names[i]}: ${words}` }, sign);
    });
    const wrong = fault ? element("em", ` ✗ ${fault}`) : "";
    return element(fault ? "tr.fault" : "tr", element("th", { scope: "row" }, name, wrong), ...squares);
  });
  const table = element("table", element("thead", element("tr", element("td"), ...head)), element("tbody", ...rows));
  const caught = Object.entries(rates).map(([name, [k, n]]) => [element("strong", `${k} of ${n}`), ` ${name} caught `]);
  const signs = "■ caught, · not caught, ✗ an exception, blank: no difference; ? a class not caught yet";
  main.append(element("p.main", ...caught.flat()), element("p", signs));
  main.append(wide("div.wide.matrix", "Tests and verifiers", table));
}

// ---- A page ------------------------------------------------------------------------------------------------------

/** @type {Record<string, (main: HTMLElement, data: any) => void>} */
const VIEWS = {
  C: showLoopC,
  two: showTwoRuns,
  log: showLog,
  matrix: showMatrix,
  hack: showHack,
  verifier: showVerifier,
  bandit: showBandit,
};

/** What stands on every page of a run: what is wrong with it before all else, its conditions behind all else.
 *  @param {HTMLElement} main @param {any} data */
function showPage(main, data) {
  /** @type {{faults?: string[], conditions?: [string, string][], scored?: Scored, names: Names}} */
  const { faults = [], conditions = [], scored, names } = data;
  const warning = element("strong", "✗ Not verified, so do not take its numbers on trust:");
  const list = element("ul", ...faults.map((fault) => element("li", ...visibleText(fault, names))));
  if (faults.length) main.append(element("section.fault", { role: "alert" }, warning, list));
  VIEWS[main.dataset.view ?? ""]?.(main, data);
  if (scored) showScored(main, scored, names);
  if (!conditions.length) return;
  const details = element("details.conditions", element("summary", "Conditions and digest"), factsOf(conditions));
  const shown = keepOpen(details, "conditions", "open");
  window.addEventListener("hashchange", () => (shown.open = openOnes("conditions").includes("open")));
  main.append(shown);
}

const SCRIPT = typeof document === "undefined" ? "" : document.currentScript?.textContent;
if (typeof document !== "undefined") {
  const main = /** @type {HTMLElement} */ (document.querySelector("[data-view]"));
  showPage(main, JSON.parse(document.getElementById("data")?.textContent ?? "{}"));
} else if ("importScripts" in globalThis) trainInWorker();
