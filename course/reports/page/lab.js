"use strict";
// The lab in a page: the verifier, the token policy and the bandit of course/, and what draws them.
// Names and order are those of the Python; tests/pages/ holds the numbers to it. Nothing is asked of the network.

// ---- The verifier: course/score.py and course/faults.py ----------------------------------------------------------

/** @typedef {{outcome: string, reward: number, parsed: string | null}} Measurement */
/** @typedef {{unseen: string, digits: string, lineBoundaries: string, checks: [string, string, string, string][]}} Tables */

/**
 * The scorer, made from the tables of course/faults.py: the reward of a text, and its outcome.
 * @param {Tables} tables
 * @returns {(expected: string, completion: string) => Measurement}
 */
function makeScorer(tables) {
  const gap = `([${tables.unseen}]*)`;
  const integer = new RegExp(
    `^${gap}(\\+?)${gap}(-?)${gap}([${tables.digits}]+)([${tables.unseen}][${tables.digits}${tables.unseen}]*)?$`,
    "u",
  );
  /** @param {string} text  trimmed, not in format */
  function faultOf(text) {
    if (!text) return "empty";
    if ([...tables.lineBoundaries].some((boundary) => text.includes(boundary))) return "not_single_line";
    if (!text.startsWith("Final: ")) return "missing_prefix";
    const match = integer.exec(text.slice(7));
    if (!match) return "not_an_integer";
    const [, before, plus, between, minus, after, digits, within] = match;
    if (before || between || after || within) return "extra_whitespace";
    if (plus) return "plus_sign";
    if (!/^[0-9]+$/.test(digits)) return "non_ascii_digits";
    return minus && /^0+$/.test(digits) ? "negative_zero" : "leading_zeros";
  }
  return (expected, completion) => {
    const text = completion.replace(/^[ \t\r\n]+/, "").replace(/[ \t\r\n]+$/, "");
    const match = /^Final: (0|-?[1-9][0-9]*)$/.exec(text);
    if (!match) return { outcome: faultOf(text), reward: 0, parsed: null };
    const right = match[1] === expected;
    return { outcome: right ? "ok" : "wrong_answer", reward: right ? 1 : 0, parsed: match[1] };
  };
}

/**
 * The careless rubric: it pays if the expected integer stands anywhere in the text.
 * @param {string} expected
 * @param {string} completion
 */
function anywhere(expected, completion) {
  return /** @type {string[]} */ (completion.match(/-?[0-9]+/g) ?? []).includes(expected) ? 1 : 0;
}

// ---- Softmax and sampling: course/policies/softmax.py ------------------------------------------------------------

/**
 * p ∝ exp theta, in place.
 * @param {Float64Array} theta
 */
function softmax(theta) {
  let largest = -Infinity;
  for (const value of theta) largest = Math.max(largest, value);
  let total = 0;
  for (let a = 0; a < theta.length; a++) total += theta[a] = Math.exp(theta[a] - largest);
  for (let a = 0; a < theta.length; a++) theta[a] /= total;
  return theta;
}

/**
 * Inverse-CDF sampling: the first action whose cumulative probability exceeds u.
 * @param {Float64Array} p
 * @param {number} u
 */
function sample(p, u) {
  let cumulative = 0;
  let last = 0;
  for (let a = 0; a < p.length; a++) {
    if (p[a] > 0) last = a;
    cumulative += p[a];
    if (cumulative > u) return a;
  }
  return last;
}

/**
 * Uniform draws from [0, 1) with 53 bits, the same for the same seed on every machine (mulberry32, twice a draw).
 * @param {number} seed
 * @returns {() => number}
 */
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
// V tokens, V itself is padding; C tokens are read: those of the prompt and the RECENT last ones. The network reads the
// sum of one row of `read` for each of them, which is vectors · hidden, so that a prefix costs C · H and not C · D · H.

const RECENT = 3;
const END = 0;

/**
 * @typedef {{vectors: Float64Array, hidden: Float64Array, hiddenBias: Float64Array, out: Float64Array,
 *   outBias: Float64Array}} Weights  row by row, as NumPy has them
 * @typedef {{vocabulary: string[], maxTokens: number, width: number, units: number, reads: number,
 *   weights: Weights}} Policy
 * @typedef {{context: number[], hidden: Float64Array, p: Float64Array, theta: Float64Array | null}} Prefix
 */

/**
 * The policy before its first update, from the weights as 32-bit numbers in base64.
 * @param {{vocabulary: string[], maxTokens: number, width: number, units: number, reads: number, weights: string}} saved
 * @returns {Policy}
 */
function readPolicy(saved) {
  const bytes = Uint8Array.from(atob(saved.weights), (character) => character.charCodeAt(0));
  const numbers = Float64Array.from(new Float32Array(bytes.buffer));
  const { vocabulary, width, units, reads } = saved;
  const sizes = [(vocabulary.length + 1) * width, reads * width * units, units, units * vocabulary.length];
  let at = 0;
  const [vectors, hidden, hiddenBias, out, outBias] = [...sizes, vocabulary.length].map((size) =>
    numbers.slice(at, (at += size)),
  );
  return { ...saved, weights: { vectors, hidden, hiddenBias, out, outBias } };
}

/**
 * The network of one update: each prefix is worked out once, however many completions share it.
 * @param {Policy} policy
 */
function makeNetwork({ vocabulary, width, units, reads, weights }) {
  const rows = vocabulary.length + 1;
  const read = new Float64Array(reads * rows * units);
  for (let c = 0; c < reads; c++)
    for (let token = 0; token < rows; token++)
      for (let d = 0; d < width; d++) {
        const value = weights.vectors[token * width + d];
        const to = (c * rows + token) * units;
        const from = (c * width + d) * units;
        for (let h = 0; h < units; h++) read[to + h] += value * weights.hidden[from + h];
      }
  /** @type {Map<number, Prefix>} */
  const known = new Map();
  /**
   * p of the next token at a prefix, given as the C tokens that are read of it.
   * @param {number[]} context
   * @returns {Prefix}
   */
  function at(context) {
    let key = 0;
    for (const token of context) key = key * rows + token;
    const found = known.get(key);
    if (found) return found;
    const hidden = Float64Array.from(weights.hiddenBias);
    for (let c = 0; c < reads; c++) {
      const from = (c * rows + context[c]) * units;
      for (let h = 0; h < units; h++) hidden[h] += read[from + h];
    }
    const p = Float64Array.from(weights.outBias);
    for (let h = 0; h < units; h++) {
      const value = (hidden[h] = Math.tanh(hidden[h]));
      const from = h * p.length;
      for (let a = 0; a < p.length; a++) p[a] += value * weights.out[from + a];
    }
    const prefix = { context: [...context], hidden, p: softmax(p), theta: null };
    known.set(key, prefix);
    return prefix;
  }
  return { at, known };
}

/**
 * N completions of N prompts, each with its prefixes. `draw` gives the uniform number of token t of completion i.
 * @param {Policy} policy
 * @param {ReturnType<typeof makeNetwork>} network
 * @param {number[][]} prompts
 * @param {(i: number, t: number) => number} draw
 */
function sampleCompletions(policy, network, prompts, draw) {
  return prompts.map((prompt, i) => {
    const context = [...prompt, ...Array(RECENT).fill(policy.vocabulary.length)];
    /** @type {number[]} */
    const tokens = [];
    /** @type {Prefix[]} */
    const prefixes = [];
    while (tokens.length < policy.maxTokens && tokens[tokens.length - 1] !== END) {
      const prefix = network.at(context);
      const token = sample(prefix.p, draw(i, tokens.length));
      prefixes.push(prefix);
      tokens.push(token);
      context.splice(prompt.length, 1);
      context.push(token);
    }
    return { tokens, prefixes, text: tokens.map((token) => policy.vocabulary[token]).join("") };
  });
}

/**
 * Σ_i weight_i · ∂ log p(completion_i) / ∂ weights: at each prefix [a = b] − p_b, and from there back by the chain rule.
 * @param {Policy} policy
 * @param {ReturnType<typeof makeNetwork>} network
 * @param {{tokens: number[], prefixes: Prefix[]}[]} completions  sampled from this network
 * @param {number[]} weight
 * @returns {Weights}
 */
function gradient({ vocabulary, width, units, reads, weights }, network, completions, weight) {
  const rows = vocabulary.length + 1;
  const V = vocabulary.length;
  completions.forEach(({ tokens, prefixes }, i) => {
    if (weight[i] === 0) return;
    tokens.forEach((token, t) => {
      const theta = (prefixes[t].theta ??= new Float64Array(V));
      for (let b = 0; b < V; b++) theta[b] -= weight[i] * prefixes[t].p[b];
      theta[token] += weight[i];
    });
  });
  const read = new Float64Array(reads * rows * units);
  const hiddenBias = new Float64Array(units);
  const out = new Float64Array(units * V);
  const outBias = new Float64Array(V);
  for (const { context, hidden, theta } of network.known.values()) {
    if (!theta) continue;
    for (let b = 0; b < V; b++) outBias[b] += theta[b];
    for (let h = 0; h < units; h++) {
      let back = 0;
      for (let b = 0, k = h * V; b < V; b++, k++) {
        back += theta[b] * weights.out[k];
        out[k] += hidden[h] * theta[b];
      }
      back *= 1 - hidden[h] * hidden[h];
      hiddenBias[h] += back;
      for (let c = 0; c < reads; c++) read[(c * rows + context[c]) * units + h] += back;
    }
  }
  const vectors = new Float64Array(rows * width);
  const hidden = new Float64Array(reads * width * units);
  for (let c = 0; c < reads; c++)
    for (let token = 0; token < rows; token++)
      for (let d = 0; d < width; d++) {
        const from = (c * rows + token) * units;
        const to = (c * width + d) * units;
        let sum = 0;
        for (let h = 0; h < units; h++) {
          sum += read[from + h] * weights.hidden[to + h];
          hidden[to + h] += weights.vectors[token * width + d] * read[from + h];
        }
        vectors[token * width + d] += sum;
      }
  return { vectors, hidden, hiddenBias, out, outBias };
}

/**
 * The policy after a step uphill: weights + lr · direction.
 * @param {Policy} policy
 * @param {Weights} direction
 * @param {number} lr
 * @returns {Policy}
 */
function applyGradient(policy, direction, lr) {
  /** @param {keyof Weights} name */
  const moved = (name) => policy.weights[name].map((value, i) => value + lr * direction[name][i]);
  return {
    ...policy,
    weights: {
      vectors: moved("vectors"),
      hidden: moved("hidden"),
      hiddenBias: moved("hiddenBias"),
      out: moved("out"),
      outBias: moved("outBias"),
    },
  };
}

/**
 * The baseline of each completion: the mean reward of the others of its group (RLOO).
 * @param {number[]} rewards
 * @param {number} groupSize
 */
function leaveOneOut(rewards, groupSize) {
  return rewards.map((reward, i) => {
    const first = i - (i % groupSize);
    const total = rewards.slice(first, first + groupSize).reduce((sum, value) => sum + value, 0);
    return (total - reward) / (groupSize - 1);
  });
}

/**
 * One update of Loop C: sample, score, compare with the group, move theta.
 * @param {Policy} policy
 * @param {{prompts: number[][], answers: string[]}} tasks  one of each for each completion, groups in a row
 * @param {(expected: string, text: string) => number} rubric
 * @param {{groupSize: number, lr: number}} plan
 * @param {(i: number, t: number) => number} draw
 */
function learn(policy, tasks, rubric, plan, draw) {
  const network = makeNetwork(policy);
  const completions = sampleCompletions(policy, network, tasks.prompts, draw);
  const rewards = completions.map(({ text }, i) => rubric(tasks.answers[i], text));
  const baseline = leaveOneOut(rewards, plan.groupSize);
  const weight = rewards.map((reward, i) => (reward - baseline[i]) / rewards.length);
  const direction = gradient(policy, network, completions, weight);
  return { completions, rewards, direction, policy: applyGradient(policy, direction, plan.lr) };
}

// ---- What pages are made of --------------------------------------------------------------------------------------
// Text of a dataset, a policy or a student reaches a page as text only: textContent and setAttribute, never markup.

/**
 * An element of its children and properties. A property in `on…` is a listener, any other an attribute; null and false
 * leave it out.
 * @param {string} name  "li.sampled" for one with a class, "svg:line" for one of a drawing
 * @param {...(Node | string | Record<string, unknown>)} parts
 * @returns {HTMLElement}
 */
function element(name, ...parts) {
  const [tag, ...classes] = name.replace("svg:", "").split(".");
  const made = document.createElementNS(
    `http://www.w3.org/${name.startsWith("svg:") ? "2000/svg" : "1999/xhtml"}`,
    tag,
  );
  if (classes.length) made.setAttribute("class", classes.join(" "));
  for (const part of parts) {
    if (typeof part === "string" || part instanceof Node) made.append(part);
    else
      for (const [key, value] of Object.entries(part)) {
        if (typeof value === "function") made.addEventListener(key.slice(2), /** @type {EventListener} */ (value));
        else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, String(value));
      }
  }
  return /** @type {HTMLElement} */ (made);
}

/** The data that stand in the page, as JSON that the browser does not run. */
function pageData() {
  const script = document.getElementById("data");
  return JSON.parse(script?.textContent ?? "{}");
}

/**
 * What is set, from the address: `#rubric=careless&seed=3`.
 * @returns {URLSearchParams}
 */
function readState() {
  return new URLSearchParams(location.hash.slice(1));
}

/**
 * Change some of it, without a step in the browser's history; null takes a name out of it.
 * @param {Record<string, string | number | null>} changes
 */
function keepState(changes) {
  const state = readState();
  for (const [key, value] of Object.entries(changes))
    if (value === null) state.delete(key);
    else state.set(key, String(value));
  history.replaceState(null, "", `#${state}`);
}

/**
 * A share as a percentage without decimals.
 * @param {number} share
 */
const percent = (share) => `${Math.round(share * 100)} %`;

/**
 * Lines over time, from 0 to 1. Each has a class for its colour, a dash of its own, and its name at its end.
 * @param {{name: string, kind: string, values: number[], at?: number[]}[]} lines  `at`: of each value, if not 0, 1, …
 * @param {{most: number, across: string, title: string, cursor?: number}} labels  `most`: how far the axis reaches
 */
function lineChart(lines, { most, across, title, cursor }) {
  const wide = window.innerWidth < 600 ? 430 : 640; // on a phone the letters stay readable
  const [width, height, left, right, top, bottom] = [wide, 340, 58, 150, 16, 40];
  /** @param {number} i */
  const x = (i) => left + ((width - left - right) * i) / Math.max(1, most);
  /** @param {number} value */
  const y = (value) => top + (height - top - bottom) * (1 - value);
  const parts = [0, 0.25, 0.5, 0.75, 1].flatMap((value) => [
    element("svg:line", { class: "grid", x1: left, x2: width - right, y1: y(value), y2: y(value) }),
    element("svg:text", { x: left - 6, y: y(value) + 5, "text-anchor": "end" }, percent(value)),
  ]);
  parts.push(element("svg:text", { x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle" }, across));
  parts.push(element("svg:text", { x: width - right, y: height - bottom + 18, "text-anchor": "end" }, String(most)));
  const now = { x1: x(cursor ?? 0), x2: x(cursor ?? 0), y1: top, y2: height - bottom };
  if (cursor !== undefined) parts.push(element("svg:line.cursor", now));
  /** @param {{values: number[]}} line */
  const last = ({ values }) => /** @type {number} */ (values.at(-1));
  const drawn = lines.filter(({ values }) => values.length).sort((a, b) => last(a) - last(b));
  let above = Infinity;
  for (const [i, { name, kind, values, at = values.map((_, i) => i) }] of drawn.entries()) {
    const points = values.map((value, i) => `${x(at[i]).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
    parts.push(element("svg:polyline", { class: `line ${kind}`, points }));
    above = Math.min(above - 22, y(last({ values })) + 5); // two names never lie on each other, and none above the edge
    const place = { x: x(at[values.length - 1]) + 8, y: Math.max(above, 16 + 22 * (drawn.length - 1 - i)) };
    parts.push(element("svg:text", { class: `name ${kind}`, ...place }, `${name} ${percent(last({ values }))}`));
  }
  return element("svg:svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title }, ...parts);
}

// ---- What the views share ----------------------------------------------------------------------------------------

/**
 * A text in parts: what can be read, and what would hide, move or command something, as course/text.py finds it.
 * @param {string} text
 * @returns {{text: string, hidden: boolean, times: number}[]}  equal hidden characters in a row are one part
 */
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

/**
 * A text to be read: what is hidden is written as `U+XXXX NAME`, a line feed as ⏎ and a line break.
 * @param {string} text
 * @param {Record<string, string>} [names]  code point in hexadecimal -> name
 */
function visibleText(text, names = {}) {
  return partsOf(text).map((part) => {
    if (!part.hidden) return part.text;
    const code = (part.text.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    const title = `U+${code} ${names[code] ?? ""}`.trim();
    const sign = { "\n": "⏎", "\t": "⇥" }[part.text];
    const times = part.times > 1 ? ` ×${part.times}` : "";
    const shown = sign && part.times < 4 ? sign.repeat(part.times) : `${sign ?? title}${times}`;
    return element(sign ? "span.unseen" : "span.unseen.named", { title }, shown, part.text === "\n" ? "\n" : "");
  });
}

/**
 * The way of a completion through the checks: passed, failed here, or not reached.
 * @param {Pick<Tables, "checks">} tables
 * @param {string} outcome
 */
function checkPath({ checks }, outcome) {
  const failed = outcome === "ok" ? checks.length : checks.findIndex(([name]) => name === outcome);
  const steps = checks.map(([, , name, expected], i) => {
    const kind = i < failed ? "passed" : i === failed ? "failed" : "unreached";
    const words = { passed: "✓ passed", failed: "✗ failed here", unreached: "not reached" }[kind];
    return element(`li.${kind}`, { title: expected }, `${name.replaceAll("_", " ")} `, element("span", words));
  });
  return element("ol.path", ...steps);
}

/**
 * An interval on a line, its numbers written by `text`. `marks` stand above the line with their names.
 * @param {{value: number, low: number, high: number, from: number, to: number, label: string, zero?: boolean,
 *   marks?: {at: number, label: string}[], text?: (value: number) => string}} numbers
 */
function intervalLine({ value, low, high, from, to, label, zero = false, marks = [], text = percent }) {
  /** @param {number} at */
  const x = (at) => 45 + (310 * (Math.min(to, Math.max(from, at)) - from)) / (to - from);
  /** @param {number} at @param {number} y @param {string} words */
  const written = (at, y, words) => element("svg:text", { x: x(at), y, "text-anchor": "middle" }, words);
  /** @param {string} kind @param {number} a @param {number} b @param {number[]} y */
  const line = (kind, a, b, [y1, y2]) => element(`svg:line.${kind}`, { x1: x(a), x2: x(b), y1, y2 });
  const parts = [line("grid", from, to, [40, 40]), line("span", low, high, [40, 40])];
  for (const at of [from, to]) parts.push(line("grid", at, at, [34, 46]), written(at, 62, text(at)));
  for (const at of [low, high]) parts.push(line("span", at, at, [33, 47]));
  if (zero) parts.push(line("mark", 0, 0, [26, 54]), written(0, 68, "0"));
  for (const { at, label: name } of marks) parts.push(line("mark", at, at, [26, 54]), written(at, 12, name));
  parts.push(element("svg:circle", { cx: x(value), cy: 40, r: 6 }), written(value, 26, text(value)));
  const said = `${label}: ${text(value)}, 95 % interval ${text(low)} to ${text(high)}`;
  return element("svg:svg.interval", { viewBox: "0 0 400 76", role: "img", "aria-label": said }, ...parts);
}

/**
 * @param {string} caption
 * @param {string[]} head
 * @param {(string | Node)[][]} rows
 */
function tableOf(caption, head, rows) {
  /** @param {string} name @param {(string | Node)[]} cells */
  const row = (name, cells) => element("tr", ...cells.map((cell) => element(name, cell)));
  const body = rows.map((cells) => row("td", cells));
  const table = element("table", element("caption", caption), row("th", head), ...body);
  return element("div.wide", { tabindex: 0, role: "region", "aria-label": caption }, table);
}

/**
 * A field with its label and, of a slider, its value; that stands in the address under `id`.
 * @param {string} id
 * @param {string} label
 * @param {HTMLElement} field
 * @param {() => void} changed
 */
function labelled(id, label, field, changed) {
  const control = /** @type {HTMLInputElement} */ (field);
  const [shown, box] = [element("output"), control.type === "checkbox"];
  const usual = box ? String(control.checked) : control.value;
  const show = () => (shown.textContent = control.type === "range" ? control.value : "");
  const restore = () => {
    const said = readState().get(id) ?? usual;
    if (box) control.checked = said === "true";
    else control.value = said;
    show();
  };
  control.id = id;
  control.addEventListener("input", () => [show(), changed()]);
  control.addEventListener("change", () => keepState({ [id]: box ? String(control.checked) : control.value }));
  window.addEventListener("hashchange", () => [restore(), changed()]);
  restore();
  return element("span.field", element("label", { for: id }, label), field, shown);
}

/**
 * A slider over 0 … count − 1 with play and pause, its place in the address as `step`. The arrow keys, Home, End and
 * the space bar work wherever the focus is, but in fields.
 * @param {{label: string, count: number, textOf: (place: number) => string, show: (place: number) => void}} about
 */
function makeScrubber({ label, count, textOf, show }) {
  let timer = 0;
  const attributes = { type: "range", min: 0, max: count - 1, value: 0, "aria-label": label };
  const range = /** @type {HTMLInputElement} */ (element("input", attributes));
  const play = element("button.play", { type: "button", onclick: () => run(!timer) }, "▶ Play");
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
    const [left, right] = [place() - 1, place() + 1];
    const to = { ArrowLeft: left, ArrowRight: right, Home: 0, End: count - 1 }[event.key];
    if (to !== undefined) [go(to), run(false)];
    else if (event.key === " " && !at.closest("button, a, summary")) run(!timer);
    else return;
    event.preventDefault();
  });
  range.addEventListener("input", () => go(place()));
  range.addEventListener("change", () => run(false));
  const restore = () => go(Number(readState().get("step")) || 0);
  window.addEventListener("hashchange", restore);
  const made = element("div.scrubber", play, range, words, element("span.unseen", "keys: ← → space"));
  return { made, restore, redraw: () => go(place()) };
}

// ---- Loop C: updates, evaluations, tokens ------------------------------------------------------------------------

/**
 * @typedef {Record<string, string>} Names  of characters, for visibleText
 * @typedef {{prefix: string, before: number[], after: number[], action: number, reward: number, return: number,
 *   advantage: number, credited: boolean}} State  one step of an update
 * @typedef {{step: number, expected: number, baseline: number, states: State[]}} Step
 * @typedef {{unit: string, prompt: string, actions: string[][], of: number, after: number, steps: Step[]}} Updates
 */

/** @param {number} value @param {number} [digits] */
const signed = (value, digits = 3) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value).toFixed(digits)}`;
/** @param {number} share */
const percent1 = (share) => `${(100 * share).toFixed(1)} %`;
/** @param {number} change */
const direction = (change) => (change > 0 ? "▲ up" : change < 0 ? "▼ down" : "unchanged");

/**
 * A sum that ends in an advantage, its sign in colour and in words.
 * @param {string} sum
 * @param {number} advantage
 * @param {boolean} [credited]
 */
function drawAdvantage(sum, advantage, credited = true) {
  const found = advantage > 0 ? "better" : "worse";
  const words = !credited ? "no credit, not updated" : advantage ? `${found} than the baseline` : "as the baseline";
  return element("p", sum, element(`strong.${advantage ? found : "even"}`, `advantage ${signed(advantage)}, ${words}`));
}

/**
 * One state of an update: what was sampled there, what it earned, and every probability before and after.
 * @param {State} state
 * @param {string[]} actions
 * @param {number} baseline
 * @param {Names} names
 */
function drawState(state, actions, baseline, names) {
  const { reward, return: return_, before, after } = state;
  /** @param {string} kind @param {number} share @param {number} y */
  const bar = (kind, share, y) => element(`svg:rect.${kind}`, { width: 100 * share, height: 1, y });
  const rows = actions.map((text, a) => {
    const sampled = a === state.action;
    const numbers = `${percent1(before[a])} → ${percent1(after[a])} ${direction(after[a] - before[a])}`;
    const bars = { viewBox: "0 0 100 2", preserveAspectRatio: "none", "aria-hidden": "true" };
    return element(
      sampled ? "li.sampled" : "li",
      element("span", element("code", ...visibleText(text, names)), element("strong", sampled ? " ← sampled" : "")),
      element("span", numbers),
      element("svg:svg", bars, bar("before", before[a], 0), bar("after", after[a], 1)),
    );
  });
  const earned = reward === return_ ? `reward ${reward}` : `reward ${reward}, return ${return_}`;
  return element(
    "section",
    state.prefix ? element("h2", "after ", element("code", state.prefix)) : "",
    drawAdvantage(`${earned} − baseline ${baseline.toFixed(3)} = `, state.advantage, state.credited),
    element("ul.actions", { "aria-label": "probabilities before and after" }, ...rows),
  );
}

/**
 * Updates one by one. `read` gives them anew whenever something else than the step has changed.
 * @param {HTMLElement} main
 * @param {() => Updates} read
 * @param {Names} names
 */
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
  /** @param {number} place */
  const textOf = (place) => `${unit} ${steps[place].step} of ${of}`;
  const scrubber = makeScrubber({ label: unit, count: steps.length, textOf, show });
  const some = steps.length < of ? ` Shown are ${steps.length} of ${of} ${unit}s, evenly spaced.` : "";
  const legend = element("p.verdict", `Bars: grey before the ${unit}, blue after it.${some}`);
  main.append(element("p", prompt), legend, scrubber.made, element("div.live", states, chart));
  scrubber.restore();
  return scrubber;
}

/**
 * @typedef {{question: string, proxy: number, true: number, exploit: boolean, text: string, length: number}} Written
 * @typedef {{step: number, n: number, gap: number, kl: number, mean_length: number, rubric: string} &
 *   Record<"proxy_reward" | "true_reward" | "holdout_proxy_reward" | "holdout_true_reward", number | null>} Point
 * @typedef {{label: string, question: string, tokens: string[], sum: string, advantage: number, before: number[],
 *   after: number[]}} TokenRow  one completion of an update
 * @typedef {{shown: number, of: number, trainings: {name: string, points: Point[], written: Written[][]}[],
 *   updates: TokenRow[]}} Evaluations
 */

/** @type {["true_reward" | "holdout_true_reward" | "proxy_reward" | "holdout_proxy_reward", string, string][]} */
const CURVES = [
  ["true_reward", "strict", "true"],
  ["holdout_true_reward", "holdout", "true holdout"],
  ["proxy_reward", "rubric", "paid"],
  ["holdout_proxy_reward", "holdout", "paid holdout"],
];

/** @param {string[]} names  of what can be chosen */
function choiceOf(names) {
  const options = names.map((name, value) => element("option", { value }, name));
  return /** @type {HTMLSelectElement} */ (element("select", ...options));
}

/**
 * The evaluations of a training: both rewards over the updates, and what was written at the slider's step.
 * @param {HTMLElement} main
 * @param {Evaluations} data
 * @param {Names} names
 */
function showEvaluations(main, { trainings, shown, of, updates }, names) {
  const [chart, said] = [element("figure.chart"), element("p.said", { role: "status" })];
  const written = element("ol.answers.long", { "aria-label": "What the policy wrote at this step" });
  const choice = choiceOf(trainings.map(({ name }) => name));
  const now = () => trainings[Number(choice.value)] ?? trainings[0];
  /** @param {number} place */
  const here = (place) => Math.min(place, now().points.length - 1);
  /** @param {number} place */
  function show(place) {
    const { points, written: texts } = now();
    const { step, n, gap, rubric, ...point } = points[here(place)];
    const at = points.map((one) => one.step);
    const known = CURVES.filter(([of]) => point[of] !== null && (rubric !== "score" || of.includes("true")));
    const lines = known.map(([of, name, kind]) => ({ name, kind, at, values: points.map((one) => one[of] ?? 0) }));
    const [proxy, strict] = [percent(point.proxy_reward ?? 0), percent(point.true_reward ?? 0)];
    const too = rubric === "score" ? "" : `the rubric pays ${proxy} and `;
    const title = `After ${step} updates ${too}the strict verifier pays ${strict}.`;
    const sizes = `KL ${point.kl.toFixed(1)} nats, ${point.mean_length.toFixed(1)} tokens each.`;
    said.textContent = `${title} ${Math.round(gap * n)} of ${n} completions are exploits. ${sizes}`;
    chart.replaceChildren(lineChart(lines, { most: at[at.length - 1], across: "updates", title, cursor: step }));
    written.replaceChildren(...texts[here(place)].map((one) => drawWritten(one, names)));
  }
  const count = Math.max(...trainings.map(({ points }) => points.length));
  /** @param {number} place */
  const textOf = (place) => `after ${now().points[here(place)].step} updates`;
  const scrubber = makeScrubber({ label: "evaluation", count, textOf, show });
  const some = shown < of ? `Shown are ${shown} of ${of} evaluations, evenly spaced.` : "";
  main.append(trainings.length > 1 ? labelled("training", "training", choice, () => scrubber.redraw()) : "");
  main.append(some, scrubber.made, said, element("div.live", chart, written));
  scrubber.restore();
  if (updates.length) showTokens(main, updates, names);
}

/** @param {Written} one @param {Names} names */
function drawWritten({ question, proxy, true: right, exploit, text, length }, names) {
  const kind = exploit ? "paid" : right ? "true" : "none";
  return element(
    "li",
    element("span", question),
    element("code", ...visibleText(text, names), length > text.length ? ` … ${length} characters` : ""),
    element(`span.verdict.${kind}`, `rubric ${proxy}, strict ${right}${exploit ? ": an exploit" : ""}`),
  );
}

/**
 * The updates that were shown token by token: one advantage, and what became of each token's log-probability.
 * @param {HTMLElement} main
 * @param {TokenRow[]} updates
 * @param {Names} names
 */
function showTokens(main, updates, names) {
  const shown = element("div", { "aria-live": "polite" });
  const choice = choiceOf(updates.map(({ label }) => label));
  function show() {
    const { question, sum, tokens, advantage, before, after } = updates[Number(choice.value)] ?? updates[0];
    const rows = tokens.map((token, i) => {
      const change = after[i] - before[i];
      const text = element("code", ...(token ? ["'", ...visibleText(token, names), "'"] : ["end of text"]));
      return [text, signed(before[i]), signed(after[i]), `${signed(change, 4)} ${direction(change)}`];
    });
    const caption = "Each token's log-probability. All completions of an update change the same weights.";
    const head = ["token", "before", "after", "change"];
    shown.replaceChildren(element("p", question), drawAdvantage(sum, advantage), tableOf(caption, head, rows));
  }
  main.append(element("h2", "Token by token"), labelled("token", "completion", choice, show), shown);
  show();
}

/** @param {HTMLElement} main */
function showLoopC(main) {
  const data = pageData();
  if (data.kind === "updates") showUpdates(main, () => data, data.names);
  else if (data.kind === "evaluations") showEvaluations(main, data, data.names);
  else main.append(tableOf("What the run came to", ["quantity", "value"], data.summary ?? []));
}

// ---- Two runs ----------------------------------------------------------------------------------------------------

/**
 * Where two texts differ: what they begin and end with alike, and what stands between.
 * @param {string} before
 * @param {string} after
 */
function differenceOf(before, after) {
  const [a, b] = [[...before], [...after]];
  const shorter = Math.min(a.length, b.length);
  let [start, end] = [0, 0];
  while (start < shorter && a[start] === b[start]) start++;
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const [changed, to] = [a, b].map((text) => text.slice(start, text.length - end).join(""));
  return { start: a.slice(0, start).join(""), before: changed, after: to, end: a.slice(a.length - end).join("") };
}

/**
 * @typedef {{outcome: string, text: string | null, length: number}} Side
 * @typedef {{question: string, before: Side, after: Side}} Flip
 */

/** @param {Flip} flip @param {Names} names */
function drawFlip({ question, before, after }, names) {
  const { start, end, ...between } = differenceOf(before.text ?? "", after.text ?? "");
  /** @param {string} label @param {Side} side @param {string} changed */
  const line = (label, { outcome, text, length }, changed) => {
    const mark = element("mark", ...visibleText(changed, names));
    const cut = text === null ? "no completion" : length > text.length ? ` … ${length} characters` : "";
    const whole = element("code", ...visibleText(start, names), mark, ...visibleText(end, names), cut);
    return element("div", `${label} (${outcome.replaceAll("_", " ")}) `, whole);
  };
  const sides = [line("baseline", before, between.before), line("candidate", after, between.after)];
  return element("li", element("div.verdict", question), ...sides);
}

/** @param {HTMLElement} main */
function showTwoRuns(main) {
  /** @type {{said: string[], interval: {value: number, low: number, high: number} | null, names: Names,
   *   flips: {name: string, flips: Flip[]}[], compared: {caption: string, head: string[], rows: string[][]}[]}} */
  const { said, interval, flips, compared, names } = pageData();
  main.append(...said.map((sentence, i) => element(i % (said.length - 1) ? "p" : "p.said", sentence)));
  if (interval) {
    const reach = Math.max(0.1, Math.ceil(10 * Math.max(-interval.low, interval.high)) / 10);
    /** @param {number} value */
    const text = (value) => `${signed(100 * value, 1)} points`;
    const label = "Difference of the pass rates";
    main.append(intervalLine({ ...interval, from: -reach, to: reach, zero: true, text, label }));
  }
  const lists = flips.map(({ name, flips: these }) =>
    element("section", element("h2", name), element("ol.answers.long", ...these.map((flip) => drawFlip(flip, names)))),
  );
  main.append(
    element("div.live", ...lists),
    ...compared.map(({ caption, head, rows }) => tableOf(caption, head, rows)),
  );
}

// ---- Two pages to touch: the verifier, and the bandit of course/bandit_train.py ----------------------------------

/** @param {Record<string, unknown>} attributes */
const inputOf = (attributes) => /** @type {HTMLInputElement} */ (element("input", attributes));

/**
 * The verifier at each keystroke.
 * @param {HTMLElement} main
 */
function showVerifier(main) {
  /** @type {{tables: Tables, names: Names, examples: {name: string, answer: string, text: string}[]}} */
  const { tables, names, examples } = pageData();
  const scorer = makeScorer(tables);
  const text = /** @type {HTMLTextAreaElement} */ (element("textarea", { rows: 3, spellcheck: "false" }));
  const answer = inputOf({ inputmode: "numeric", autocomplete: "off" });
  const found = element("div", { role: "status" });
  function show() {
    const valid = /^(0|-?[1-9][0-9]{0,999})$/.test(answer.value);
    const { outcome, reward } = valid ? scorer(answer.value, text.value) : { outcome: "invalid_example", reward: 0 };
    const check = tables.checks.find(([name]) => name === outcome);
    const why = check ? `${outcome.replaceAll("_", " ")}: expected ${check[3]}` : "ok: the one line, the right value";
    const said = element(`p.said.${reward ? "better" : "worse"}`, `${reward ? "✓" : "✗"} Reward ${reward}. ${why}.`);
    const shown = element("p", "Every character: ", element("code.text", ...visibleText(text.value, names)));
    found.replaceChildren(said, shown, checkPath(tables, outcome));
  }
  /** @param {{answer: string, text: string}} example */
  function take(example) {
    [answer.value, text.value] = [example.answer, example.text];
    show();
  }
  const tries = examples.map((one) => {
    const onclick = () => [take(one), keepState({ answer: one.answer, text: one.text })];
    return element("button", { type: "button", onclick }, one.name);
  });
  take(examples[0]);
  main.append(element("div.controls", ...tries), labelled("answer", "expected answer", answer, show));
  main.append(labelled("text", "completion", text, show), found);
  show();
}

/**
 * All of Loop C, as `learn` of course/bandit_train.py has it: one update for each of the uniform draws.
 * @param {number[]} rewards  the learner's, for each arm
 * @param {number[]} draws
 * @param {number} lr
 * @param {boolean} withBaseline  the mean of the rewards before
 */
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

/**
 * The page: sliders, the updates of one seed, and how a hundred end.
 * @param {HTMLElement} main
 */
function showBandit(main) {
  /** @type {{arms: string[], rewards: number[], steps: number, names: Names}} */
  const { arms, rewards, steps: of, names } = pageData();
  const lr = inputOf({ type: "range", min: -1, max: 3, step: 0.1, value: 0.5 });
  const offset = inputOf({ type: "range", min: -3, max: 3, step: 0.5, value: 0 });
  const seed = inputOf({ type: "number", min: 0, max: 9999, value: 0 });
  const baseline = inputOf({ type: "checkbox", checked: "" });
  const said = element("p.said", { role: "status" });
  /** @param {ArrayLike<number>} p */
  const expected = (p) => rewards.reduce((sum, reward, a) => sum + reward * p[a], 0);
  /** @param {number[]} theta */
  const probs = (theta) => [...softmax(Float64Array.from(theta))];
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
      const state = { before: p, ...end, ...update };
      return { step: i + 1, expected: expected(p), baseline: used, states: [state] };
    });
    return { unit: "update", prompt: "", actions: [arms], of, after: expected(steps[of - 1].states[0].after), steps };
  }
  let updates = updatesOf();
  function changed() {
    updates = updatesOf();
    const ends = Array.from({ length: 100 }, (_, i) => learned(Number(seed.value) + i)[of - 1].newTheta);
    const good = ends.filter((theta) => expected(probs(theta)) > 0.9).length;
    said.textContent = `Of 100 seeds from this one on, ${good} end with an expected reward above 0.9.`;
    scrubber?.redraw();
  }
  /** @type {ReturnType<typeof showUpdates> | null} */
  let scrubber = null;
  const fields = [
    labelled("lr", "learning rate", lr, changed),
    labelled("offset", "reward offset", offset, changed),
    labelled("baseline", "baseline", baseline, changed),
    labelled("seed", "seed", seed, changed),
  ];
  main.append(element("div.controls", ...fields), said);
  changed();
  scrubber = showUpdates(main, () => updates, names);
}

// ---- A page in which a policy trains: docs/live/watch_it_cheat.html ----------------------------------------------

/**
 * @typedef {{tokens: number[], question: string, answer: string}} Task
 * @typedef {{policy: Parameters<typeof readPolicy>[0], tasks: Task[], tables: Tables,
 *   plan: {prompts: number, groupSize: number, lr: number, steps: number}}} HackData
 */

/**
 * A training that goes on update by update. The same seed gives the same updates.
 * @param {HackData} data
 * @param {string} rubric  "careless" or "strict"
 * @param {number} seed
 */
function makeTraining(data, rubric, seed) {
  const { tasks, plan } = data;
  const scorer = makeScorer(data.tables);
  /** @type {(expected: string, text: string) => number} */
  const strict = (expected, text) => scorer(expected, text).reward;
  const pays = rubric === "careless" ? anywhere : strict;
  const draw = generator(seed);
  const log = {
    paid: /** @type {number[]} */ ([]),
    strict: /** @type {number[]} */ ([]),
    answers: /** @type {{task: Task, text: string, paid: number, strict: number}[]} */ ([]),
  };
  let policy = readPolicy(data.policy);
  function step() {
    const order = tasks.map((_, i) => i);
    for (let i = 0; i < plan.prompts; i++) {
      const j = i + Math.floor(draw() * (order.length - i));
      [order[i], order[j]] = [order[j], order[i]];
    }
    const chosen = order.slice(0, plan.prompts).flatMap((i) => Array(plan.groupSize).fill(tasks[i]));
    const asked = { prompts: chosen.map((task) => task.tokens), answers: chosen.map((task) => task.answer) };
    const update = learn(policy, asked, pays, plan, draw);
    policy = update.policy;
    const right = update.completions.map(({ text }, i) => strict(asked.answers[i], text));
    /** @param {number[]} values */
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    log.paid.push(mean(update.rewards));
    log.strict.push(mean(right));
    log.answers = chosen.flatMap((task, i) =>
      i % plan.groupSize ? [] : [{ task, text: update.completions[i].text, paid: update.rewards[i], strict: right[i] }],
    );
  }
  return { log, step };
}

/**
 * A completion as it is written: a line break is shown, and the number that was asked for is marked.
 * @param {string} text
 * @param {string} expected
 */
function writtenText(text, expected) {
  const parts = text.split(/(-?[0-9]+|\n)/).filter(Boolean);
  return parts.map((part) =>
    part === "\n"
      ? element("span", { class: "unseen", title: "line break" }, "⏎ ")
      : part === expected
        ? element("mark", {}, part)
        : part,
  );
}

/**
 * The page: two buttons, the two rates, and what the policy writes.
 * @param {HTMLElement} main
 */
function showHack(main) {
  const data = /** @type {HackData} */ (pageData());
  const chart = element("figure", { class: "chart" });
  const answers = element("ol", { class: "answers", "aria-label": "What the policy writes now" });
  const said = element("p", { class: "said", role: "status" });
  const seedField = /** @type {HTMLInputElement} */ (
    element("input", { type: "number", min: 0, max: 9999, value: 0, id: "seed", onchange: () => begin(rubric) })
  );
  let rubric = "";
  let training = makeTraining(data, "strict", 0);
  let timer = 0;

  /** @param {string} name @param {string} label @param {string} what */
  const choice = (name, label, what) =>
    element(
      "button",
      { type: "button", class: `choice ${name}`, "aria-pressed": "false", onclick: () => begin(name) },
      element("strong", {}, label),
      element("span", {}, what),
    );
  const buttons = [
    choice("careless", "A careless verifier", "pays if the right number stands anywhere in the text"),
    choice("strict", "A strict verifier", "pays for one line, Final: and the right number"),
  ];
  const pause = element("button", { type: "button", onclick: () => (timer ? halt() : run()) }, "Pause");

  /** @param {string} name @param {number} [until]  the step to go to at once */
  function begin(name, until = 0) {
    rubric = name;
    training = makeTraining(data, name, Number(seedField.value) || 0);
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.classList.contains(name)));
    while (rubric && training.log.paid.length < until) training.step();
    if (until) return halt();
    keepState({ rubric: rubric || null, seed: Number(seedField.value) || 0, step: null });
    draw();
    run();
  }
  function run() {
    if (!rubric) return;
    cancelAnimationFrame(timer);
    pause.textContent = "Pause";
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const turn = () => {
      for (let i = 0; i < (calm ? 10 : 1) && training.log.paid.length < data.plan.steps; i++) training.step();
      if (training.log.paid.length >= data.plan.steps) return halt();
      draw();
      timer = requestAnimationFrame(turn);
    };
    timer = requestAnimationFrame(turn);
  }
  function halt() {
    cancelAnimationFrame(timer);
    timer = 0;
    draw();
    pause.textContent = rubric ? "Go on" : "Pause";
    if (rubric) keepState({ step: training.log.paid.length });
  }
  function draw() {
    const { paid, strict, answers: now } = training.log;
    const steps = paid.length;
    const lines = [{ name: "right line", kind: "true", values: strict }];
    if (rubric === "careless") lines.push({ name: "paid", kind: "paid", values: paid });
    const title = steps
      ? `After ${steps} updates ${percent(paid[steps - 1])} are paid and ${percent(strict[steps - 1])} are the right line.`
      : "Nothing is trained yet.";
    const most = Math.max(60, Math.ceil(steps / 60) * 60);
    chart.replaceChildren(lineChart(lines, { most, across: "updates", title }));
    answers.replaceChildren(
      ...now
        .slice(0, 4)
        .map(({ task, text, paid: got, strict: right }) =>
          element(
            "li",
            {},
            element("span", { class: "question" }, `${task.question} = `),
            element("code", {}, ...writtenText(text, task.answer)),
            element("span", { class: `verdict ${got ? "paid" : ""}` }, got ? "paid" : "not paid"),
            element("span", { class: `verdict ${right ? "true" : ""}` }, right ? "right line" : "not the line"),
          ),
        ),
    );
    if (steps % 20 === 0 || !timer) said.textContent = steps ? title : "";
  }

  main.append(
    element("div", { class: "choices" }, ...buttons),
    element(
      "div",
      { class: "controls" },
      pause,
      element("button", { type: "button", onclick: () => rubric && begin(rubric) }, "From the start"),
      element("label", { for: "seed" }, "seed"),
      seedField,
    ),
    element("div", { class: "live" }, chart, answers),
    said,
  );
  function restore() {
    const state = readState();
    const wanted = state.get("rubric") ?? "";
    seedField.value = String(Number(state.get("seed")) || 0);
    begin(
      ["careless", "strict"].includes(wanted) ? wanted : "",
      Math.min(data.plan.steps, Number(state.get("step")) || 1),
    );
  }
  restore();
  window.addEventListener("hashchange", restore);
}

// ---- What the verifier scored in a run: course/reports/report.py -------------------------------------------------

/**
 * @typedef {string | {text: string, more: number}} Cut  a text; or its beginning, and how many characters follow
 * @typedef {{row: number, id: Cut, prompt: Cut, expected: Cut, completion: Cut | null, reward: number, outcome: string,
 *   of?: [string, Cut][], samples?: [Cut, number][], chosen?: number, why?: string, others?: [number, number]}} Row
 * @typedef {{summary: Record<string, any>, prediction: {expect: string | null, share: number | null, off: string | null},
 *   outcomes: {outcome: string, family: string, n: number}[], checks: [string, string, string, string][], n: number,
 *   longest: number, seed: number, rows: Row[]}} Scored
 */

const ROWS_AT_ONCE = 50;

/** @param {number} count */
const grouped = (count) => count.toLocaleString("en");
/** @param {string} outcome */
const inWords = (outcome) => outcome.replaceAll("_", " ");
/** @param {Cut | null} cut */
const wholeText = (cut) => (cut === null ? "" : typeof cut === "string" ? cut : cut.text);

/**
 * A text of the run, to be read: nothing in it hides, its first and last spaces neither, and where it was cut is said.
 * @param {Cut | null} cut
 * @param {Names} names
 */
function textOfRun(cut, names) {
  if (cut === null) return element("em", "no completion");
  const text = wholeText(cut);
  const parts = text.split(/^( +)|( +)$/).filter(Boolean);
  const spaces = (/** @type {string} */ part) =>
    element("span.unseen", { title: "U+0020 SPACE" }, "␣".repeat(part.length));
  const made = element(
    "bdi.text",
    ...parts.flatMap((part) => (part.trim() || !/^ +$/.test(part) ? visibleText(part, names) : [spaces(part)])),
  );
  if (!text) made.append(element("em", "empty"));
  if (typeof cut === "object") made.append(element("em", ` … and ${grouped(cut.more)} more characters`));
  return made;
}

/**
 * The outcomes by family as bars; each is a button that shows only its rows.
 * @param {Scored} scored
 * @param {(outcome: string) => void} choose
 */
function outcomeBars({ outcomes }, choose) {
  const total = outcomes.reduce((sum, { n }) => sum + n, 0);
  const families = [...new Set(outcomes.map(({ family }) => family))];
  /** @param {Scored["outcomes"][number]} one */
  const bar = ({ outcome, n }) =>
    element(
      "button",
      { type: "button", class: `tally ${outcome}`, "data-outcome": outcome, onclick: () => choose(outcome) },
      element("span", inWords(outcome)),
      element("svg:svg", { "aria-hidden": true }, element("svg:rect", { width: `${(100 * n) / total}%`, height: 20 })),
      element("span", `${grouped(n)} · ${percent1(n / total)}`),
    );
  return element(
    "section.bars",
    { "aria-label": "Outcomes by family; each shows only its examples" },
    ...families.flatMap((family) => [
      element("h2", { "": "passed", model_format: "format", model_math: "value" }[family] ?? family),
      ...outcomes.filter((one) => one.family === family).map(bar),
    ]),
  );
}

/**
 * Loop A: the pass rate with its interval, and what was expected of it.
 * @param {Scored} scored
 */
function passRate({ summary, prediction }) {
  const [low, high] = summary.pass_rate_ci95;
  const marks =
    prediction.share === null ? [] : [{ at: prediction.share, label: `expected ${percent(prediction.share)}` }];
  const line = { value: summary.pass_rate, low, high, from: 0, to: 1, label: "pass rate", marks, text: percent1 };
  return element(
    "section",
    element("p.main", element("strong", percent1(summary.pass_rate)), " passed"),
    intervalLine(line),
    element(
      "p",
      `${grouped(summary.passes)} of ${grouped(summary.n)}, 95 % interval ${percent1(low)} to ${percent1(high)}`,
    ),
    ...predicted(prediction),
  );
}

/** @param {Scored["prediction"]} prediction */
function predicted({ expect, off }) {
  const words = expect === null ? "No prediction was written down (--expect)." : `Expected: ${expect}`;
  return [element("p", element("bdi", words), off ? element("strong", ` → it was ${off}`) : "")];
}

/**
 * Loop B: pass@k of the policy, and what choosing one of N got of it.
 * @param {Scored} scored
 */
function choiceNumbers({ summary, prediction }) {
  const curve = /** @type {number[]} */ (Object.values(summary.pass_at_k));
  const n = summary.samples_per_prompt;
  /** @param {number} value */
  const level = (value) => curve.map(() => value);
  const at = curve.map((_, i) => i + 1);
  const lines = [
    { name: "ceiling", kind: "dotted", values: level(summary.ceiling), at },
    { name: "pass@k", kind: "true", values: curve, at },
    { name: "chosen", kind: "paid", values: level(summary.selected_accuracy), at },
    { name: "random", kind: "dashed", values: level(summary.random_choice), at },
  ];
  const said = `pick_best got ${percent1(summary.selected_accuracy)}, choosing blindly ${percent1(summary.random_choice)}, `;
  const title = `Of ${n} samples a prompt ${said}and ${percent1(summary.ceiling)} was the most that any choice could get.`;
  const kl = summary.kl_estimate === null ? summary.kl_estimate_reason : `about ${summary.kl_estimate.toFixed(3)} nats`;
  return element(
    "section",
    element("p.main", element("strong", percent1(summary.selected_accuracy)), " chosen right"),
    n > 1 ? element("figure.chart", lineChart(lines, { most: n, across: "k samples", title })) : "",
    element("p", `${title} KL from the policy: ${kl}, at most ${summary.kl_bound.toFixed(3)}.`),
    ...predicted(prediction),
  );
}

/**
 * All that there is to see of one row.
 * @param {Row} row
 * @param {Scored} scored
 * @param {Names} names
 */
function rowInFull(row, scored, names) {
  /** @type {[string, Cut | null][]} */
  const facts = [["prompt", row.prompt], ["expected", row.expected], ...(row.of ?? [])];
  if (!row.samples) facts.push(["completion", row.completion]);
  const strangers = [...new Set(wholeText(row.completion))]
    .filter((character) => character > "\x7f")
    .map((character) => (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0"))
    .map((code) => `U+${code} ${names[code] ?? ""}`);
  const list = element(
    "dl",
    ...facts.flatMap(([name, value]) => [element("dt", name), element("dd", textOfRun(value, names))]),
  );
  if (strangers.length) list.append(element("dt", "not ASCII"), element("dd", strangers.join(", ")));
  const parts = [list, ...sampleList(row, names)];
  if (scored.checks.some(([outcome]) => outcome === row.outcome) || row.outcome === "ok")
    parts.push(checkPath(scored, row.outcome));
  const check = scored.checks.find(([outcome]) => outcome === row.outcome);
  if (check) parts.push(element("p", `The verifier expected ${check[3]}.`));
  return parts;
}

/**
 * The samples of a prompt with their rewards, and which was chosen and why.
 * @param {Row} row
 * @param {Names} names
 */
function sampleList({ samples, chosen, why, others }, names) {
  if (!samples) return [];
  const items = samples.map(([text, reward], place) =>
    element(
      "li",
      { class: place === chosen ? "chosen" : "" },
      element("span", { class: `verdict ${reward ? "true" : ""}` }, reward ? "✓ 1" : "✗ 0"),
      textOfRun(text, names),
      place === chosen ? element("strong", " ◀ chosen") : "",
    ),
  );
  const [more, right] = others ?? [0, 0];
  const rest = more ? ` ${more} more of its samples were not looked at, ${right} of them right.` : "";
  return [element("ol.samples", ...items), element("p", element("strong", why ?? ""), rest)];
}

/**
 * A row of the list: its line, and all of it once it is opened.
 * @param {Row} row
 * @param {Scored} scored
 * @param {Names} names
 */
function rowItem(row, scored, names) {
  const summary = element(
    "summary",
    element("span", { class: `verdict ${row.reward === 1 ? "true" : "paid"}` }, row.reward === 1 ? "✓ 1" : "✗ 0"),
    element("bdi.id", ...visibleText(wholeText(row.id).slice(0, 40), names)),
    element("span.outcome", row.why?.split(/[:,]/)[0] ?? inWords(row.outcome)),
    element("bdi.first", ...visibleText(wholeText(row.completion).slice(0, 120).trim(), names)),
  );
  const made = keepOpen(element("details", { "data-row": row.row }, summary), "row", String(row.row));
  const fill = () => made.childElementCount > 1 || made.append(...rowInFull(row, scored, names));
  made.addEventListener("toggle", () => made.open && fill());
  return made;
}

/**
 * What opens and closes: the address names all that are open, as `row=3+8`.
 * @param {HTMLElement} details
 * @param {string} name
 * @param {string} value
 */
function keepOpen(details, name, value) {
  const made = /** @type {HTMLDetailsElement} */ (details);
  made.open = openOnes(name).includes(value);
  made.addEventListener("toggle", () => {
    const others = openOnes(name).filter((one) => one !== value);
    keepState({ [name]: (made.open ? [...others, value] : others).join(" ") || null });
  });
  return made;
}

/** @param {string} name */
const openOnes = (name) => (readState().get(name) ?? "").split(" ").filter(Boolean);

/**
 * The list of what was scored, with a search and the bars as its filter. What is set stands in the address.
 * @param {HTMLElement} main
 * @param {Scored} scored
 * @param {Names} names
 */
function showScored(main, scored, names) {
  let outcome = "";
  let most = ROWS_AT_ONCE;
  const [held, n] = [grouped(scored.rows.length), grouped(scored.n)];
  const find = /** @type {HTMLInputElement} */ (
    element("input", { type: "search", id: "find", oninput: () => (keepState({ find: find.value || null }), draw()) })
  );
  const said = element("p", { role: "status" });
  const list = element("div", { class: "rows" });
  const more = element(
    "button",
    { type: "button", onclick: () => (keepState({ most: (most *= 4) }), draw()) },
    "Show more",
  );
  const bars = outcomeBars(scored, (name) => {
    outcome = outcome === name ? "" : name;
    most = ROWS_AT_ONCE;
    keepState({ outcome: outcome || null, most: null });
    draw();
  });
  const searched = scored.rows.map((row) => {
    const texts = [row.id, row.prompt, row.completion, row.why ?? null, ...(row.samples ?? []).map(([text]) => text)];
    return texts.map(wholeText).join("\n").toLowerCase();
  });
  function draw() {
    const words = find.value.toLowerCase();
    const found = scored.rows.filter((row, i) => (!outcome || row.outcome === outcome) && searched[i].includes(words));
    for (const bar of bars.querySelectorAll("button"))
      bar.setAttribute("aria-pressed", String(bar.dataset.outcome === outcome));
    const of = `${grouped(found.length)} of ${held} rows`;
    said.textContent = outcome ? `${of}: ${inWords(outcome)}` : of;
    list.replaceChildren(...found.slice(0, most).map((row) => rowItem(row, scored, names)));
    more.hidden = found.length <= most;
  }
  function restore() {
    const state = readState();
    outcome = state.get("outcome") ?? "";
    find.value = state.get("find") ?? "";
    const place = scored.rows.findLastIndex(({ row }) => openOnes("row").includes(String(row)));
    most = Math.max(ROWS_AT_ONCE, place + 1, Number(state.get("most")) || 0);
    draw();
    list.querySelector("[open]")?.scrollIntoView({ block: "center" });
  }
  const view = main.dataset.view;
  const known = Object.keys(scored.summary).length && view !== "C";
  const numbers = known ? [view === "B" ? choiceNumbers(scored) : passRate(scored)] : [];
  const few = held === n ? "" : `${held} of ${n} rows, drawn evenly (seed ${scored.seed}); the bars count all. `;
  const cut = scored.rows.some((row) => typeof row.completion === "object" && row.completion);
  const short = cut ? `Of each text the first ${grouped(scored.longest)} characters; the run has it whole.` : "";
  main.append(
    ...(view === "C" ? [...predicted(scored.prediction), element("h2", "What the verifier scored")] : []),
    element("div.live", ...numbers, bars),
    element("h2", "Examples"),
    element("div.controls", element("label", { for: "find" }, "search"), find),
    said,
    element("p", few, short),
    list,
    more,
  );
  restore();
  window.addEventListener("hashchange", restore);
}

/**
 * What stands on every page of a run: what is wrong with it before all else, its conditions behind all else.
 * @param {HTMLElement} main
 * @param {{faults?: string[], conditions?: [string, string][], scored?: Scored, names?: Names}} data
 * @param {() => void} view
 */
function showPage(main, { faults = [], conditions = [], scored, names = {} }, view) {
  if (faults.length)
    main.append(
      element(
        "section.fault",
        { role: "alert" },
        element("strong", "✗ Not verified, so do not take its numbers on trust:"),
        element("ul", ...faults.map((fault) => element("li", fault))),
      ),
    );
  view();
  if (scored) showScored(main, scored, names);
  if (!conditions.length) return;
  const facts = element("dl", ...conditions.flatMap(([name, value]) => [element("dt", name), element("dd", value)]));
  const parts = [element("summary", "Conditions and digest"), facts];
  const shown = keepOpen(element("details.conditions", ...parts), "conditions", "open");
  window.addEventListener("hashchange", () => (shown.open = openOnes("conditions").includes("open")));
  main.append(shown);
}

// ---- The log of runs, and a student's tests against wrong verifiers ----------------------------------------------

/** @param {HTMLElement} main */
function showLog(main) {
  const { columns, rows } = /** @type {{columns: string[], rows: string[][]}} */ (pageData());
  if (!rows.length) main.append(element("p", "No run stands in the log yet."));
  else main.append(tableOf(`${rows.length} runs, oldest first`, columns, rows));
}

const CELLS = { "#": ["caught", "■"], ".": ["not caught", "·"], x: ["an exception", "✗"], " ": ["no difference", ""] };

/**
 * A row for each test, a column for each wrong verifier; columns that follow each other share the name of their class.
 * @param {HTMLElement} main
 */
function showMatrix(main) {
  /** @type {{verifiers: (string | null)[], tests: {name: string, fault: string | null, cells: (keyof typeof CELLS)[]}[],
   *   rates: Record<string, [number, number]>}} */
  const { verifiers, tests, rates } = pageData();
  /** @type {{name: string, columns: number}[]} */
  const classes = [];
  for (const name of verifiers.map((one) => one ?? "?"))
    if (classes.at(-1)?.name === name) classes[classes.length - 1].columns++;
    else classes.push({ name, columns: 1 });
  const head = classes.map(({ name, columns }) =>
    element("th", { colspan: columns, scope: "colgroup" }, element("span", name)),
  );
  const rows = tests.map(({ name, fault, cells }) =>
    element(
      "tr",
      { class: fault ? "fault" : "" },
      element("th", { scope: "row" }, name, fault ? element("em", ` ✗ ${fault}`) : ""),
      ...cells.map((cell, i) => {
        const [words, sign] = CELLS[cell];
        return element("td", { class: words, title: `${verifiers[i] ?? "?"}: ${words}` }, sign);
      }),
    ),
  );
  const table = element("table", element("thead", element("tr", element("td"), ...head)), element("tbody", ...rows));
  main.append(
    element(
      "p.main",
      ...Object.entries(rates).flatMap(([name, [k, n]]) => [element("strong", `${k} of ${n}`), ` ${name} caught `]),
    ),
    element("div.wide.matrix", { tabindex: 0, role: "region", "aria-label": "Tests and verifiers" }, table),
    element("p", "■ caught, · not caught, ✗ ended in an exception, blank: no difference; ? a class not caught yet"),
  );
}

/** @type {Record<string, (main: HTMLElement) => void>} */
const VIEWS = {
  hack: showHack,
  C: showLoopC,
  two: showTwoRuns,
  verifier: showVerifier,
  bandit: showBandit,
  log: showLog,
  matrix: showMatrix,
};
if (typeof document !== "undefined") {
  const main = /** @type {HTMLElement} */ (document.querySelector("[data-view]"));
  showPage(main, pageData(), () => VIEWS[main.dataset.view ?? ""]?.(main));
}
