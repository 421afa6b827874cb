// A page in which a policy trains: the token policy of course/policies/ and what draws it.
// Names and order are those of the Python; tests/pages/ holds the numbers to it.

// ---- Three verifiers ---------------------------------------------------------------------------------------------

/** The careless rubric: it pays if the expected integer appears anywhere. @param {string} expected @param {string} text */
function anywhere(expected, text) {
  const integers = /** @type {string[]} */ (text.match(/-?[0-9]+/g) ?? []);
  return integers.includes(expected) ? 1 : 0;
}

/** The reward of course/score.py: one line, the right value. @param {string} expected @param {string} text */
function strict(expected, text) {
  const match = /^[ \t\r\n]*Final: (0|-?[1-9][0-9]*)[ \t\r\n]*$/.exec(text);
  return match && match[1] === expected ? 1 : 0;
}

/** @typedef {{pattern: string, pick: string}} Own  a pattern of JavaScript; "first", "last" or "any" of its matches */

/** The visitor's own rubric: it pays if what the pattern finds is an integer, and the expected one.
 *  @param {Own} own @returns {(expected: string, text: string) => number} */
function ownRubric({ pattern, pick }) {
  const expression = new RegExp(pattern, "g");
  return (expected, text) => {
    let found = Array.from(text.matchAll(expression), (match) => (match.length > 1 ? match[1] : match[0]));
    if (pick === "first") found = found.slice(0, 1);
    if (pick === "last") found = found.slice(-1);
    const integers = found.filter((answer) => /^\s*[+-]?[0-9]+\s*$/.test(answer ?? ""));
    return integers.some((answer) => Number(answer) === Number(expected)) ? 1 : 0;
  };
}

// What Python's patterns have and JavaScript's read as something else, or not at all -> what to write.
const PYTHON_ONLY = /** @type {const} */ ([
  [/\\A/, "JavaScript has no \\A. Write ^ for the start of the text."],
  [/\\Z/, "JavaScript has no \\Z. Write $ for the end of the text."],
  [/\(\?P[<]/, "JavaScript has no (?P<name>…). Write (?<name>…) for a group with a name."],
  [/(?<!\\)\{,\d+\}/, "JavaScript has no {,3}. Write {0,3} for up to three times."],
]);

/** Why a pattern cannot be used, in a sentence; nothing if it can. @param {string} pattern */
function faultOfPattern(pattern) {
  if (!pattern) return "There is no pattern yet. Type the one that your reward uses.";
  const unescaped = pattern.replaceAll("\\\\", "");
  const foreign = PYTHON_ONLY.find(([expression]) => expression.test(unescaped));
  if (foreign) return foreign[1];
  try {
    new RegExp(pattern, "g");
    return "";
  } catch (error) {
    const why = String(/** @type {Error} */ (error).message).replace(`Invalid regular expression: /${pattern}/g: `, "");
    return `The browser cannot read this pattern: ${why}.`;
  }
}

/** @typedef {"right" | "several" | "wrong"} Kind */

/** What a text says: the right number alone, several numbers and the right one among them, or no right number.
 *  @param {string} expected @param {string} text @returns {Kind} */
function kindOf(expected, text) {
  const numbers = new Set((text.match(/-?[0-9]*\.?[0-9]+/g) ?? []).map(Number));
  if (!numbers.has(Number(expected))) return "wrong";
  return numbers.size > 1 ? "several" : "right";
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
 *  @typedef {{task: Task, text: string, paid: number, strict: number, kind: Kind}} Answer
 *  @typedef {{text: string, answer: string, update: number}} Exploit
 *  @typedef {{paid: number[], strict: number[], right: number[], hedged: number, answers: Answer[],
 *  exploits: {wrong?: Exploit, several?: Exploit}}} Log  of each update the share that is paid, the right line, and right;
 *  of the last one the share of what is paid that hedges; of all the shortest text of each kind that is paid */

/** @returns {Log} */
function emptyLog() {
  return { paid: [], strict: [], right: [], hedged: 0, answers: [], exploits: {} };
}

/** @param {number[]} values */
function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** A training that goes on update by update. The same seed gives the same updates.
 *  @param {HackData} data @param {(expected: string, text: string) => number} rubric @param {number} seed */
function makeTraining({ tasks, plan, policy: saved }, rubric, seed) {
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
    const update = learn(policy, asked, rubric, plan, draw);
    policy = update.policy;
    const answers = update.completions.map(({ text }, i) => {
      const expected = asked.answers[i];
      const paid = update.rewards[i];
      return { task: chosen[i], text, paid, strict: strict(expected, text), kind: kindOf(expected, text) };
    });
    const paid = answers.filter((answer) => answer.paid);
    log.paid.push(mean(update.rewards));
    log.strict.push(mean(answers.map((answer) => answer.strict)));
    log.right.push(mean(answers.map(({ kind }) => Number(kind === "right"))));
    log.hedged = paid.length ? mean(paid.map(({ kind }) => Number(kind === "several"))) : 0;
    log.answers = answers.filter((_, i) => i % plan.groupSize === 0);
    paid.forEach(keepExploit);
  }

  /** @param {Answer} answer  paid */
  function keepExploit({ text, task: { answer }, kind }) {
    if (kind === "right") return;
    const shortest = log.exploits[kind];
    if (!shortest || text.length < shortest.text.length) {
      log.exploits[kind] = { text, answer, update: log.paid.length };
    }
  }

  return { log, step };
}

/** What the policy has learned, in a sentence. @param {Log} log  of one update at least */
function verdictOf({ paid, right, hedged, exploits }) {
  if (!paid.some(Boolean)) return "Nothing was ever paid, so nothing was pushed: the policy is as it was at the start.";
  if (hedged > 0.5) return "The policy hedges: most of what is paid holds several numbers, the right one among them.";
  if (exploits.wrong) return "The policy found a wrong answer that is paid.";
  if (Number(right.at(-1)) >= 0.5) return "The policy learned to be right.";
  return "The policy is still learning: most of its texts are not right yet.";
}

/** In a worker, so that the page never waits: what it is sent begins a training; each message asks for one update. */
function trainInWorker() {
  /** @type {ReturnType<typeof makeTraining>} */
  let training;
  onmessage = ({ data: { begin } }) => {
    if (begin) {
      const rubric = { careless: anywhere, strict }[/** @type {string} */ (begin.rubric)] ?? ownRubric(begin.own);
      training = makeTraining(begin.data, rubric, begin.seed);
    }
    training.step();
    postMessage(training.log);
  };
}

// ---- The page ----------------------------------------------------------------------------------------------------

const DEADLINE = 5000; // ms for one update, which takes some 20
const RUNAWAY = `The pattern runs away on one of the policy's texts, so its worker was ended. A repetition within a
repetition, such as (\\d+)+, does that; in Python it hangs, too.`;
const RULE = `The answer is group 1 of the match, or the whole match if the pattern has no group. It is paid if it is an
integer, digits with or without a sign, of the right value.`;
const DIFFERENCES = `“Right” is a text with the right number and no other. The policy begins with texts such as Final: 7,
The answer is 7, or 7 alone: a pattern for another form is never paid. Patterns are the browser's, without flags. In Python
\\d and \\w also match other scripts, $ also matches before a line break at the end, and a lookbehind needs a fixed length.`;
const THOROUGHLY = "One small policy tries only what it happens to write. To attack a reward in Python thoroughly:";
const COMMAND = "attack-verifier my_reward.py:reward --form 'Final: …'";

/** The page: three buttons, two rates, and what the policy writes. @param {HTMLElement} main @param {HackData} data */
function showHack(main, data) {
  const program = URL.createObjectURL(new Blob([SCRIPT], { type: "text/javascript" }));
  const chart = element("figure.chart");
  const answers = element("ol.answers", { "aria-label": "What the policy writes now" });
  const drawing = element("div.live", chart, answers);
  const status = spoken("div.status");
  const seed = inputOf({ type: "number", min: 0, max: 9999, value: 0, onchange: () => choose(rubric) });
  const pattern = inputOf({ value: "-?\\d+", spellcheck: "false", autocomplete: "off", onchange: () => choose("own") });
  const picks = ["first", "last", "any"].map((name) => element("option", { value: name }, `${name} match`));
  const pick = /** @type {HTMLSelectElement} */ (element("select", { onchange: () => choose("own") }, ...picks));
  const own = element("div", ownFields(pattern, pick), element("p", RULE));
  const notes = element("div", element("p", DIFFERENCES), element("p", THOROUGHLY, element("code.command", COMMAND)));
  const { steps } = data.plan;
  const pace = matchMedia("(prefers-reduced-motion: reduce)").matches ? 10 : 1; // updates from drawing to drawing
  let worker = /** @type {Worker | null} */ (null);
  let log = emptyLog();
  let rubric = "";
  let fault = ""; // of the visitor's pattern
  let goal = steps; // the update to pause at
  let going = false;
  let waiting = false; // for the worker's answer
  let deadline = 0;

  /** @param {string} name @param {string} label @param {string} what */
  function choice(name, label, what) {
    return buttonOf(`button.choice.${name}`, () => choose(name), element("strong", label), element("span", what));
  }

  const buttons = [
    choice("careless", "A careless verifier", "pays if the right number appears anywhere in the text"),
    choice("strict", "A strict verifier", "pays for one line, Final: and the right number"),
    choice("own", "Your own verifier", "pays if your pattern finds the right number"),
  ];
  const pause = buttonOf("button", pauseOrGoOn, "Pause");
  const again = buttonOf("button", () => choose(rubric), "From the start");

  /** What a person has set is kept in the address, and trains anew. @param {string} name */
  function choose(name) {
    keepState({ rubric: name || null, seed: Number(seed.value) || 0, step: null });
    if (name === "own") keepState({ pattern: pattern.value, pick: pick.value });
    begin(name, steps);
  }

  /** Train anew, and pause at update `until`. @param {string} name @param {number} until */
  function begin(name, until) {
    end();
    log = emptyLog();
    rubric = name;
    goal = until;
    fault = rubric === "own" ? faultOfPattern(pattern.value) : "";
    if (rubric && !fault) {
      worker = new Worker(program);
      worker.onmessage = (reply) => goOn(reply.data);
      worker.onerror = runAway; // some browsers give up by themselves
      going = true;
      const settings = { rubric, own: { pattern: pattern.value, pick: pick.value }, seed: Number(seed.value) || 0 };
      ask({ data, ...settings });
    }
    show();
  }

  function end() {
    worker?.terminate();
    worker = null;
    going = false;
    waiting = false;
    clearTimeout(deadline);
  }

  function runAway() {
    end();
    fault = RUNAWAY;
    show();
  }

  /** Ask for one update, unless it is under way. @param {object} [begin]  of a new training */
  function ask(begin) {
    if (waiting) return;
    waiting = true;
    worker?.postMessage({ begin });
    if (rubric === "own") deadline = window.setTimeout(runAway, DEADLINE);
  }

  /** @param {Log} reply */
  function goOn(reply) {
    log = reply;
    waiting = false;
    clearTimeout(deadline);
    const done = log.paid.length;
    if (done >= goal) going = false;
    if (going) ask(); // the worker goes on while the page draws
    if (done % pace === 0 || !going) show();
  }

  function pauseOrGoOn() {
    goal = steps;
    going = !going && worker !== null && log.paid.length < goal;
    if (going) ask();
    show();
  }

  function show() {
    const done = log.paid.length;
    for (const button of buttons) {
      button.setAttribute("aria-pressed", String(button.classList.contains(rubric)));
    }
    for (const part of [pause, again, drawing]) part.hidden = !rubric;
    own.hidden = rubric !== "own";
    notes.hidden = own.hidden;
    const paused = worker !== null && !going && !waiting; // not before the update under way has come
    pause.textContent = paused ? "Go on" : "Pause";
    if (paused) keepState({ step: done });

    const right = rubric === "own" ? { name: "right", values: log.right } : { name: "right line", values: log.strict };
    const lines = [{ ...right, kind: "true" }];
    if (rubric !== "strict") lines.push({ name: "paid", kind: "paid", values: log.paid });
    const title = done ? rates(log, rubric) : "Nothing is trained yet.";
    const most = Math.max(60, Math.ceil(done / 60) * 60);
    chart.replaceChildren(lineChart(lines, { most, across: "updates", title }));
    answers.replaceChildren(...log.answers.slice(0, 4).map((answer) => drawAnswer(answer, rubric)));
    answers.setAttribute("aria-busy", String(going));
    status.ariaLive = done % 20 === 0 || !going ? "polite" : "off"; // a screen reader says one of twenty
    status.replaceChildren(...drawStatus(log, rubric, fault));
  }

  const controls = [pause, again, labelled("seed", "seed", seed, () => {})];
  main.append(element("div.choices", ...buttons), own, element("div.controls", ...controls));
  main.append(status, drawing, notes);

  function restore() {
    const wanted = ["careless", "strict", "own"].find((name) => name === readState().get("rubric")) ?? "";
    const step = Number(readState().get("step"));
    begin(wanted, step >= 1 ? Math.min(steps, Math.floor(step)) : steps); // without a step it trains
  }

  restore();
  window.addEventListener("hashchange", restore);
}

/** The fields of the visitor's own verifier. @param {HTMLElement} pattern @param {HTMLElement} pick */
function ownFields(pattern, pick) {
  const fields = [labelled("pattern", "pattern", pattern, () => {}), labelled("pick", "what counts", pick, () => {})];
  return element("div.controls", ...fields);
}

/** @param {Log} log @param {string} rubric */
function rates({ paid, strict, right }, rubric) {
  const share = percent(Number(paid.at(-1)));
  const after = `After ${counted(paid.length, "update")} ${share} are paid and`;
  if (rubric === "own") return `${after} ${percent(Number(right.at(-1)))} are right.`;
  return `${after} ${percent(Number(strict.at(-1)))} are the right line.`;
}

/** The two rates; of the visitor's own verifier also what was learned, or why it does not train.
 *  @param {Log} log @param {string} rubric @param {string} fault */
function drawStatus(log, rubric, fault) {
  if (fault) return [element("p.said", fault)];
  if (!log.paid.length) return [];
  const lines = [element("p.said", rates(log, rubric))];
  if (rubric === "own") lines.push(...drawVerdict(log));
  return lines;
}

/** The sentence, and the shortest text of each kind that is paid though it is not right. @param {Log} log */
function drawVerdict(log) {
  const kinds = /** @type {const} */ ({ wrong: "a wrong number", several: "several numbers" });
  const lines = [element("p.said", verdictOf(log))];
  for (const [kind, name] of Object.entries(kinds)) {
    const exploit = log.exploits[/** @type {"wrong" | "several"} */ (kind)];
    if (!exploit) continue;
    const text = element("code.exploit", ...visibleText(exploit.text, {}));
    const where = ` where ${exploit.answer} is right, in update ${exploit.update}.`;
    lines.push(element("p", `The verifier paid ${name}: `, text, where));
  }
  return lines;
}

/** What was written for a task, with the number that was asked for marked. @param {Answer} answer @param {string} rubric */
function drawAnswer({ task, text, paid, strict: isLine, kind }, rubric) {
  const shown = element("code");
  for (const part of text.split(/(-?[0-9]+)/)) {
    if (part === task.answer) shown.append(element("mark", part));
    else shown.append(...visibleText(part, {}));
  }
  let isRight = Boolean(isLine);
  let words = isLine ? "right line" : "not the line";
  if (rubric === "own") {
    isRight = kind === "right";
    words = { right: "right", several: "several numbers", wrong: "wrong" }[kind];
  }
  return element(
    "li",
    element("span.question", `${task.question} = `),
    shown,
    paid ? element("span.verdict.paid", "paid") : element("span.verdict.none", "not paid"),
    element(isRight ? "span.verdict.true" : "span.verdict.none", words),
  );
}

const SCRIPT = typeof document === "undefined" ? "" : (document.currentScript?.textContent ?? "");
if ("importScripts" in globalThis) trainInWorker();
start(showHack);
