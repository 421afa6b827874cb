// A page in which a policy trains: the token policy of course/policies/ and what draws it.
// Names and order are those of the Python; tests/pages/ holds the numbers to it.

// ---- Two verifiers -----------------------------------------------------------------------------------------------

/** The careless rubric: it pays if the expected integer stands anywhere. @param {string} expected @param {string} text */
function anywhere(expected, text) {
  const integers = /** @type {string[]} */ (text.match(/-?[0-9]+/g) ?? []);
  return integers.includes(expected) ? 1 : 0;
}

/** The reward of course/score.py: one line, the right value. @param {string} expected @param {string} text */
function strict(expected, text) {
  const match = /^[ \t\r\n]*Final: (0|-?[1-9][0-9]*)[ \t\r\n]*$/.exec(text);
  return match && match[1] === expected ? 1 : 0;
}

// ---- Softmax and sampling: course/policies/softmax.py ------------------------------------------------------------

/** p ∝ exp theta, in place. @param {Float64Array} theta */
function softmax(theta) {
  const largest = theta.reduce((a, b) => Math.max(a, b));
  let total = 0;
  for (let a = 0; a < theta.length; a++) {
    theta[a] = Math.exp(theta[a] - largest);
    total += theta[a];
  }
  for (let a = 0; a < theta.length; a++) theta[a] /= total;
  return theta;
}

/** The first action whose cumulative probability exceeds u. @param {Float64Array} p @param {number} u */
function sample(p, u) {
  let cumulative = 0;
  for (let a = 0; a < p.length; a++) {
    cumulative += p[a];
    if (cumulative > u) return a;
  }
  return p.findLastIndex((share) => share > 0);
}

/** Uniform draws from [0, 1) with 53 bits, as mulberry32 has them, two for each. @param {number} seed */
function generator(seed) {
  let state = seed >>> 0;

  function bits() {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  }

  return () => {
    const high = bits() >>> 5;
    const low = bits() >>> 6;
    return (high * 67108864 + low) / 9007199254740992;
  };
}

// ---- The token policy: course/policies/token_policy.py -----------------------------------------------------------
// V tokens, V itself is padding. C tokens are read, those of the prompt and the RECENT last ones: their vectors in a row
// are x, then hidden = tanh(x · W + b) and p = softmax(hidden · W' + b').

const RECENT = 3;
const END = 0;

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

  /** @param {number} size */
  function take(size) {
    at += size;
    return numbers.slice(at - size, at);
  }

  const weights = {
    vectors: take((vocabulary.length + 1) * width),
    hidden: take(reads * width * units),
    hiddenBias: take(units),
    out: take(units * vocabulary.length),
    outBias: take(vocabulary.length),
  };
  return { ...saved, weights };
}

/** sums + x · W, in place. @param {Float64Array} x @param {Float64Array} W @param {Float64Array} sums */
function multiply(x, W, sums) {
  const columns = sums.length;
  let k = 0;
  for (let i = 0; i < x.length; i++) {
    for (let j = 0; j < columns; j++) {
      sums[j] += x[i] * W[k];
      k++;
    }
  }
  return sums;
}

/** The way back through x · W: what reaches x, and ∂/∂W, which is added to `dW`.
 *  @param {Float64Array} x @param {Float64Array} W @param {Float64Array} back  at x · W @param {Float64Array} dW */
function backward(x, W, back, dW) {
  let k = 0;
  return x.map((value) => {
    let sum = 0;
    for (let j = 0; j < back.length; j++) {
      dW[k] += value * back[j];
      sum += W[k] * back[j];
      k++;
    }
    return sum;
  });
}

/** p of the next token, from the tokens that are read. @param {Policy} policy @param {number[]} read */
function nextToken({ width, weights }, read) {
  const x = new Float64Array(read.length * width);
  for (const [c, token] of read.entries()) {
    x.set(weights.vectors.subarray(token * width, (token + 1) * width), c * width);
  }
  const hidden = multiply(x, weights.hidden, weights.hiddenBias.slice()).map(Math.tanh);
  const p = softmax(multiply(hidden, weights.out, weights.outBias.slice()));
  return { read, x, hidden, p };
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
    const text = tokens.map((token) => policy.vocabulary[token]).join("");
    return { tokens, prefixes, text };
  });
}

/** @param {Weights} weights @param {(values: Float64Array, name: keyof Weights) => Float64Array} make */
function mapWeights(weights, make) {
  const names = /** @type {(keyof Weights)[]} */ (Object.keys(weights));
  return /** @type {Weights} */ (Object.fromEntries(names.map((name) => [name, make(weights[name], name)])));
}

/** Σ_i weight_i · ∂ log p(completion_i) / ∂ theta at each prefix: [a = b] − p_b.
 *  @param {Completion[]} completions @param {number[]} weight */
function thetaGradients(completions, weight) {
  const thetas = /** @type {Map<Prefix, Float64Array>} */ (new Map());
  for (const [i, { tokens, prefixes }] of completions.entries()) {
    if (!weight[i]) continue;
    for (const [t, prefix] of prefixes.entries()) {
      const theta = thetas.get(prefix) ?? new Float64Array(prefix.p.length);
      for (let b = 0; b < theta.length; b++) theta[b] += weight[i] * (Number(b === tokens[t]) - prefix.p[b]);
      thetas.set(prefix, theta);
    }
  }
  return thetas;
}

/** Σ_i weight_i · ∂ log p(completion_i) / ∂ weights: from theta back by the chain rule.
 *  @param {Policy} policy @param {Completion[]} completions @param {number[]} weight */
function gradient({ width, weights }, completions, weight) {
  const sums = mapWeights(weights, (values) => new Float64Array(values.length));
  for (const [{ read, x, hidden, p }, theta] of thetaGradients(completions, weight)) {
    const toHidden = backward(hidden, weights.out, theta, sums.out).map((back, h) => back * (1 - hidden[h] ** 2));
    const toVectors = backward(x, weights.hidden, toHidden, sums.hidden);
    for (let b = 0; b < p.length; b++) sums.outBias[b] += theta[b];
    for (let h = 0; h < hidden.length; h++) sums.hiddenBias[h] += toHidden[h];
    for (let i = 0; i < x.length; i++) {
      const token = read[Math.floor(i / width)];
      sums.vectors[token * width + (i % width)] += toVectors[i];
    }
  }
  return sums;
}

/** Of each completion: the mean reward of the others of its group. @param {number[]} rewards @param {number} size */
function leaveOneOut(rewards, size) {
  return rewards.map((reward, i) => {
    const first = i - (i % size);
    const group = rewards.slice(first, first + size);
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

// ---- A training, in a worker -------------------------------------------------------------------------------------

/** @typedef {{tokens: number[], question: string, answer: string}} Task
 *  @typedef {{policy: Parameters<typeof readPolicy>[0], tasks: Task[],
 *  plan: {prompts: number, groupSize: number, lr: number, steps: number}}} HackData
 *  @typedef {{paid: number[], strict: number[], answers: {task: Task, text: string, paid: number, strict: number}[]}} Log */

/** @returns {Log} */
function emptyLog() {
  return { paid: [], strict: [], answers: [] };
}

/** @param {number[]} values */
function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** A training that goes on update by update. The same seed gives the same updates.
 *  @param {HackData} data @param {string} rubric  "careless" or "strict" @param {number} seed */
function makeTraining({ tasks, plan, policy: saved }, rubric, seed) {
  const pay = rubric === "careless" ? anywhere : strict;
  const draw = generator(seed);
  const log = emptyLog();
  let policy = readPolicy(saved);

  /** Some of the tasks, each as often as a group is large. */
  function chooseTasks() {
    const order = [...tasks.keys()];
    for (let i = 0; i < plan.prompts; i++) {
      const j = i + Math.floor(draw() * (order.length - i));
      [order[i], order[j]] = [order[j], order[i]];
    }
    const chosen = order.slice(0, plan.prompts).map((i) => tasks[i]);
    return chosen.flatMap((task) => Array(plan.groupSize).fill(task));
  }

  function step() {
    const chosen = chooseTasks();
    const asked = { prompts: chosen.map((task) => task.tokens), answers: chosen.map((task) => task.answer) };
    const update = learn(policy, asked, pay, plan, draw);
    policy = update.policy;
    const right = update.completions.map(({ text }, i) => strict(asked.answers[i], text));
    log.paid.push(mean(update.rewards));
    log.strict.push(mean(right));
    log.answers = [];
    for (let i = 0; i < chosen.length; i += plan.groupSize) {
      const { text } = update.completions[i];
      log.answers.push({ task: chosen[i], text, paid: update.rewards[i], strict: right[i] });
    }
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

// ---- The page ----------------------------------------------------------------------------------------------------

/** The page: two buttons, two rates, and what the policy writes. @param {HTMLElement} main @param {HackData} data */
function showHack(main, data) {
  const program = URL.createObjectURL(new Blob([SCRIPT], { type: "text/javascript" }));
  const chart = element("figure.chart");
  const answers = element("ol.answers", { "aria-label": "What the policy writes now" });
  const status = spoken("p.said");
  const seed = inputOf({ type: "number", min: 0, max: 9999, value: 0, onchange: () => begin(rubric) });
  const { steps } = data.plan;
  const pace = matchMedia("(prefers-reduced-motion: reduce)").matches ? 10 : 1;
  let worker = /** @type {Worker | null} */ (null);
  let log = emptyLog();
  let rubric = "";
  let going = false;
  let waiting = false; // for the worker's answer

  /** @param {string} name @param {string} label @param {string} what */
  function choice(name, label, what) {
    return buttonOf(`button.choice.${name}`, () => begin(name), element("strong", label), element("span", what));
  }

  const buttons = [
    choice("careless", "A careless verifier", "pays if the right number stands anywhere in the text"),
    choice("strict", "A strict verifier", "pays for one line, Final: and the right number"),
  ];
  const pause = buttonOf("button", pauseOrGoOn, "Pause");
  const again = buttonOf("button", () => rubric && begin(rubric), "From the start");

  /** Train anew: to update `until` and pause there, or on and on. @param {string} name @param {number} [until] */
  function begin(name, until = 0) {
    worker?.terminate();
    log = emptyLog();
    rubric = name;
    going = rubric !== "" && !until;
    waiting = true;
    for (const button of buttons) {
      button.setAttribute("aria-pressed", String(button.classList.contains(name)));
    }
    if (!until) keepState({ rubric: rubric || null, seed: Number(seed.value) || 0, step: null });
    show();
    if (!rubric) return;
    worker = new Worker(program);
    worker.onmessage = (reply) => {
      log = reply.data;
      waiting = false;
      if (log.paid.length >= steps) going = false;
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
    const done = log.paid.length;
    const lines = [{ name: "right line", kind: "true", values: log.strict }];
    if (rubric === "careless") lines.push({ name: "paid", kind: "paid", values: log.paid });
    let title = "Nothing is trained yet.";
    if (done) {
      const paid = percent(log.paid[done - 1]);
      const right = percent(log.strict[done - 1]);
      title = `After ${counted(done, "update")} ${paid} are paid and ${right} are the right line.`;
    }
    const most = Math.max(60, Math.ceil(done / 60) * 60);
    chart.replaceChildren(lineChart(lines, { most, across: "updates", title }));
    answers.replaceChildren(...log.answers.slice(0, 4).map(drawAnswer));
    answers.setAttribute("aria-busy", String(rubric !== "" && waiting && !going)); // on the way to the step of an address
    if (done % 20 === 0 || !going) status.textContent = done ? title : "";
  }

  const controls = [pause, again, labelled("seed", "seed", seed, () => {})];
  main.append(element("div.choices", ...buttons), element("div.controls", ...controls));
  main.append(status, element("div.live", chart, answers));

  function restore() {
    const wanted = ["careless", "strict"].find((name) => name === readState().get("rubric")) ?? "";
    begin(wanted, Math.min(steps, Math.max(0, Number(readState().get("step")) || Number(!wanted)))); // without a step it trains
  }

  restore();
  window.addEventListener("hashchange", restore);
}

/** What was written for a task, with the number that was asked for marked. @param {Log["answers"][number]} answer */
function drawAnswer({ task, text, paid, strict: right }) {
  const shown = element("code");
  for (const part of text.split(/(-?[0-9]+)/)) {
    if (part === task.answer) shown.append(element("mark", part));
    else shown.append(...visibleText(part, {}));
  }
  return element(
    "li",
    element("span.question", `${task.question} = `),
    shown,
    paid ? element("span.verdict.paid", "paid") : element("span.verdict.none", "not paid"),
    right ? element("span.verdict.true", "right line") : element("span.verdict.none", "not the line"),
  );
}

const SCRIPT = typeof document === "undefined" ? "" : (document.currentScript?.textContent ?? "");
if ("importScripts" in globalThis) trainInWorker();
start(showHack);
