// Loop C, as course/pages/learning.py gives it: updates, evaluations, tokens, a trade-off of reward and KL.

/** @typedef {{prefix: string, before: number[], after: number[], action: number, reward: number, return: number,
 *  advantage: number, credited: boolean}} State  one step of an update
 *  @typedef {{step: number, expected: number, baseline: number, states: State[]}} Step
 *  @typedef {{unit: string, prompt: string, actions: string[][], of: number, after: number, steps: Step[]}} Updates */

/** @param {number} change */
function upOrDown(change) {
  if (change > 0) return "▲ up";
  if (change < 0) return "▼ down";
  return "unchanged";
}

/** One of several, by number. @param {string[]} names */
function choiceOf(names) {
  const options = names.map((name, value) => element("option", { value }, name));
  return /** @type {HTMLSelectElement} */ (element("select", ...options));
}

/** A slider over 0 … count − 1 with play and pause, its place in the address as `step`. The arrow keys, Home, End and
 *  the space bar work wherever the focus is, but in fields. It begins at `start`, if the address says nothing else.
 *  @param {{label: string, count: number, start?: number, textOf: (place: number) => string,
 *  show: (place: number) => void}} about */
function makeScrubber({ label, count, start: first = 0, textOf, show }) {
  let timer = 0;
  const range = inputOf({ type: "range", min: 0, max: count - 1, value: 0, "aria-label": label });
  const play = buttonOf("button.play", () => run(!timer), "▶ Play");
  const words = element("output");

  function place() {
    return Number(range.value);
  }

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
    timer = 0;
    play.textContent = on ? "❚❚ Pause" : "▶ Play";
    if (!on) {
      keepState({ step: place() });
      return;
    }
    if (place() === count - 1) go(0);
    timer = window.setInterval(turn, Math.min(900, Math.max(60, 20_000 / count)));
  }

  function turn() {
    if (place() < count - 1) go(place() + 1);
    else run(false);
  }

  document.addEventListener("keydown", (event) => {
    const at = /** @type {HTMLElement} */ (event.target);
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (at.closest("input, select, textarea, [tabindex]")) return;
    const to = { ArrowLeft: place() - 1, ArrowRight: place() + 1, Home: 0, End: count - 1 }[event.key];
    const space = event.key === " " && !at.closest("button, a, summary");
    if (to === undefined && !space) return;
    event.preventDefault();
    if (to !== undefined) go(to);
    run(space && !timer);
  });
  range.addEventListener("input", () => go(place()));
  range.addEventListener("change", () => run(false));

  function restore() {
    const asked = readState().get("step");
    go(asked === null ? first : Number(asked) || 0);
  }

  window.addEventListener("hashchange", restore);
  const made = element("div.scrubber", play, range, words, element("span.note", "keys: ← → space"));

  /** @param {number} to */
  function jump(to) {
    go(to);
    run(false);
  }

  return { made, restore, jump, redraw: () => go(place()) };
}

/** A sum that ends in an advantage, its sign in colour and in words.
 *  @param {string} sum @param {number} advantage @param {boolean} [credited] */
function drawAdvantage(sum, advantage, credited = true) {
  let kind = "even";
  let words = "as the baseline";
  if (advantage) {
    kind = advantage > 0 ? "better" : "worse";
    words = `${kind} than the baseline`;
  }
  if (!credited) words = "no credit, not updated";
  return element("p", sum, element(`strong.${kind}`, `advantage ${signed(advantage)}, ${words}`));
}

/** Two shares as bars, the earlier above the later. @param {number} before @param {number} after */
function barsOf(before, after) {
  const inBars = { viewBox: "0 0 100 2", preserveAspectRatio: "none", "aria-hidden": "true" };

  /** @param {string} kind @param {number} share @param {number} y */
  function bar(kind, share, y) {
    return element(`svg:rect.${kind}`, { width: 100 * share, height: 1, y });
  }

  return element("svg:svg", inBars, bar("before", before, 0), bar("after", after, 1));
}

/** One state of an update: what was sampled there, what it earned, and every probability before and after.
 *  @param {State} state @param {string[]} actions @param {number} baseline @param {Names} names */
function drawState(state, actions, baseline, names) {
  const { prefix, action, reward, before, after } = state;
  const rows = actions.map((text, a) =>
    element(
      a === action ? "li.sampled" : "li",
      element("code", ...visibleText(text, names), element("strong", a === action ? " ← sampled" : "")),
      element("span", `${percent1(before[a])} → ${percent1(after[a])} ${upOrDown(after[a] - before[a])}`),
      barsOf(before[a], after[a]),
    ),
  );
  const earned = reward === state.return ? `reward ${reward}` : `reward ${reward}, return ${state.return}`;
  return element(
    "section",
    prefix ? element("h2", "after ", element("code", ...visibleText(prefix, names))) : "",
    drawAdvantage(`${earned} − baseline ${rounded(baseline, 3)} = `, state.advantage, state.credited),
    element("ul.actions", { "aria-label": "probabilities before and after" }, ...rows),
  );
}

/** Updates one by one. @param {HTMLElement} main @param {Updates} data @param {Names} names */
function showUpdates(main, data, names) {
  const { unit, steps, of, prompt } = data;
  const chart = element("figure.chart");
  const states = element("div", { "aria-live": "polite" });
  const at = [...steps.map((step) => step.step - 1), of];
  const values = [...steps.map((step) => step.expected), data.after];

  /** @param {number} place */
  function show(place) {
    const { step, baseline, states: now } = steps[place];
    const before = percent1(values[place]);
    const after = percent1(values[place + 1]);
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
}

/** @typedef {{question: string, proxy: number, true: number, exploit: boolean, otherForm: boolean, text: Cut}} Written
 *  @typedef {{step: number, n: number, hack_rate: number, other_form_rate: number, kl: number, mean_length: number, rubric: string} &
 *  Partial<Record<"proxy_reward" | "true_reward" | "holdout_proxy_reward" | "holdout_true_reward", number>>} Point
 *  @typedef {{label: string, question: string, tokens: string[], sum: string, advantage: number, before: number[],
 *  after: number[]}} TokenRow  one completion of an update
 *  @typedef {{name: string, points: Point[], written: Written[][], parting: {place: number | null, sentences: string[]}}} Training
 *  @typedef {{shown: number, of: number, trainings: Training[], updates: TokenRow[]}} Evaluations */

/** @type {["true_reward" | "holdout_true_reward" | "proxy_reward" | "holdout_proxy_reward", string, string, string][]} */
const CURVES = [
  ["true_reward", "strict", "true", "strict"],
  ["holdout_true_reward", "holdout", "true holdout", "strict, holdout"],
  ["proxy_reward", "rubric", "paid", "rubric"],
  ["holdout_proxy_reward", "holdout", "paid holdout", "rubric, holdout"],
];

/** The rewards of a training that are known now; where the rubric is the strict verifier, both are one.
 *  @param {Point[]} points @param {Point} now */
function curvesOf(points, now) {
  const lines = [];
  const at = points.map((point) => point.step);
  for (const [reward, name, kind] of CURVES) {
    const isStrict = reward === "true_reward" || reward === "holdout_true_reward";
    if (now[reward] === undefined) continue;
    if (isStrict || now.rubric !== "score") {
      lines.push({ name, kind, at, values: points.map((point) => point[reward] ?? 0) });
    }
  }
  return lines;
}

/** The evaluations of a training: both rewards over the updates, where they part, and what was written at the slider's
 *  step, which is the last one until another is chosen.
 *  @param {HTMLElement} main @param {Evaluations} data @param {Names} names */
function showEvaluations(main, { trainings, shown, of, updates }, names) {
  const numbers = element("div.numbers", { role: "status" });
  const chart = element("figure.chart");
  const parting = element("div");
  const jumps = element("div.controls");
  const heading = element("h2");
  const written = element("ol.answers.long", { "aria-label": "What the policy wrote at this step" });
  const table = element("div");
  const choice = choiceOf(trainings.map(({ name }) => name));

  function training() {
    return trainings[Number(choice.value)];
  }

  /** The place of the evaluation after which the curves part; null where they do not. */
  function partedAt() {
    return training().parting.place;
  }

  /** The last evaluation of a training that has fewer of them. @param {number} place */
  function within(place) {
    return Math.min(place, training().points.length - 1);
  }

  /** @param {number} place */
  function show(place) {
    const { points, written: texts } = training();
    const now = points[within(place)];
    const strict = now.true_reward ?? 0;
    const paid = now.proxy_reward ?? 0;
    const after = `after ${counted(now.step, "update")}`;
    const pays = now.rubric === "score" ? "" : ` and the rubric ${now.rubric} pays ${percent(paid)}`;
    const title = `The strict verifier pays ${percent(strict)}${pays} ${after}.`;
    numbers.replaceChildren(mainNumber(strict, `right by the strict verifier, ${after}`));
    if (now.rubric !== "score") numbers.append(mainNumber(paid, `paid by the rubric it is trained on, ${now.rubric}`));
    const most = points[points.length - 1].step;
    const parted = partedAt();
    const mark = parted === null ? undefined : { at: points[parted].step, label: partsAt(points[parted].step) };
    chart.replaceChildren(lineChart(curvesOf(points, now), { most, across: "updates", title, cursor: now.step, mark }));
    const { sentences } = training().parting;
    parting.replaceChildren(...sentences.map((sentence, place) => element(place ? "p" : "p.said", sentence)));
    heading.textContent = `What the policy writes ${after}`;
    const exploits = `${Math.round(now.hack_rate * now.n)} of ${now.n} completions are exploits`;
    const otherForms = `${Math.round(now.other_form_rate * now.n)} have the right value in another form`;
    const sizes = `${rounded(now.mean_length, 1)} tokens each, ${rounded(now.kl, 1)} nats of KL from the reference`;
    const some = `${texts[within(place)].length} of them are shown, exploits first.`;
    const note = element("li.note", `${exploits}, ${otherForms}; ${sizes}. ${some}`);
    written.replaceChildren(note, ...texts[within(place)].map((completion) => drawWritten(completion, names)));
  }

  /** What belongs to the training as a whole. */
  function showTraining() {
    const { points } = training();
    const last = points.length - 1;
    const parted = partedAt();
    jumps.replaceChildren(buttonOf("button.jump", () => scrubber.jump(0), "before the first update"));
    if (parted) jumps.append(buttonOf("button.jump", () => scrubber.jump(parted), "where the curves part"));
    jumps.append(buttonOf("button.jump", () => scrubber.jump(last), "after the last update"));
    const known = CURVES.filter(([reward]) => points[last][reward] !== undefined);
    const rows = points.map((point) => [String(point.step), ...known.map(([reward]) => percent1(point[reward] ?? 0))]);
    const head = ["updates", ...known.map(([, , , column]) => column)];
    table.replaceChildren(tableOf("Rates at each evaluation", head, rows));
    scrubber.redraw();
  }

  const count = Math.max(...trainings.map(({ points }) => points.length));
  const textOf = (/** @type {number} */ place) => `after ${counted(training().points[within(place)].step, "update")}`;
  const scrubber = makeScrubber({ label: "evaluation", count, start: count - 1, textOf, show });
  if (trainings.length > 1) main.append(labelled("training", "training", choice, showTraining));
  if (shown < of) main.append(element("p.note", `${shown} of ${of} evaluations are shown, evenly spaced.`));
  const curves = element("section", chart, parting, jumps);
  main.append(numbers, scrubber.made, element("div.live", curves, element("section", heading, written)));
  main.append(folded("rates", "Both rates at each evaluation, as a table", [table]));
  scrubber.restore();
  showTraining();
  if (updates.length)
    main.append(folded("tokens", "Token by token: single updates in slow motion", tokensOf(updates, names)));
}

/** @param {number} step */
function partsAt(step) {
  return step ? `they part: update ${step}` : "they part from the start";
}

/** @param {Written} completion @param {Names} names */
function drawWritten({ question, proxy, true: strict, exploit, otherForm, text }, names) {
  let kind = strict ? "true" : "none";
  let words = `rubric ${proxy}, strict ${strict}`;
  if (exploit) {
    kind = "paid";
    words += ": an exploit";
  } else if (otherForm) {
    words += ": the right value in another form";
  }
  const verdict = element(`span.verdict.${kind}`, words);
  return element("li", element("span", question), element("code", wholeText(text, names)), verdict);
}

/** The updates that were shown token by token: one advantage, and what became of each token's log-probability.
 *  @param {TokenRow[]} updates @param {Names} names */
function tokensOf(updates, names) {
  const shown = element("div", { "aria-live": "polite" });
  const choice = choiceOf(updates.map(({ label }) => label));

  function show() {
    const { question, sum, tokens, advantage, before, after } = updates[Number(choice.value)];
    const rows = tokens.map((token, i) => {
      const change = after[i] - before[i];
      const text = token ? element("code", "'", ...visibleText(token, names), "'") : element("code", "end of text");
      return [text, signed(before[i]), signed(after[i]), `${signed(change, 4)} ${upOrDown(change)}`];
    });
    const caption = "All completions of an update change the same weights: a token can rise at a negative advantage.";
    const table = tableOf(caption, ["token", "log p before", "after", "change"], rows);
    shown.replaceChildren(element("p", question), drawAdvantage(sum, advantage), table);
  }

  const field = labelled("token", "completion", choice, show);
  show();
  return [field, shown];
}

// ---- Reward against KL -------------------------------------------------------------------------------------------

/** @typedef {{reward: number, strict: number, kl: number, probs: number[]}} Optimum
 *  @typedef {{graded: boolean, best: number, completions: {text: string, reward: number, strict: number}[],
 *  points: (Optimum & {beta: number | null})[], choices: (Optimum & {n: number})[]}} Tradeoff */

/** @param {number | null} beta */
function betaText(beta) {
  return beta === null ? "the reference itself" : `β = ${beta}`;
}

/** The optimum for each beta: reward and strict reward against KL, and what the policy writes there. It opens where the
 *  strict reward is highest. @param {HTMLElement} main @param {Tradeoff} data @param {Names} names */
function showTradeoff(main, { graded, best, completions, points, choices }, names) {
  const chart = element("figure.chart");
  const numbers = element("div.numbers", { role: "status" });
  const heading = element("h2");
  const actions = element("ul.actions", { "aria-label": "probabilities in the reference and now" });
  const at = points.map(({ kl }) => kl);
  const most = Math.ceil(Math.max(...at));
  const lines = [{ name: "strict", kind: "true", at, values: points.map(({ strict }) => strict) }];
  if (graded) lines.unshift({ name: "judge", kind: "paid", at, values: points.map(({ reward }) => reward) });
  lines.push({
    name: "",
    kind: "dotted",
    at: choices.map(({ kl }) => kl),
    values: choices.map(({ reward }) => reward),
  });
  const mark = graded ? { at: points[best].kl, label: `strict is highest: ${betaText(points[best].beta)}` } : undefined;

  /** @param {number} place */
  function show(place) {
    const { beta, reward, strict, kl, probs } = points[place];
    numbers.replaceChildren(mainNumber(strict, "right by the strict verifier"));
    if (graded) numbers.append(mainNumber(reward, "mean reward by the careless judge"));
    const title = `${betaText(beta)}: ${rounded(kl, 3)} nats of KL from the reference`;
    chart.replaceChildren(
      lineChart(lines, { most, across: "KL from the reference, in nats", title, cursor: kl, mark }),
    );
    heading.textContent = `What the policy writes, ${title}`;
    actions.replaceChildren(
      ...completions.map(({ text, reward: grade, strict: right }, i) => {
        const share = `${percent1(points[0].probs[i])} → ${percent1(probs[i])}`;
        const judged = graded ? `the judge gives ${grade}, ` : "";
        const worth = element("div.note", `${judged}the strict verifier ${right}`);
        const words = [element("code", ...visibleText(text, names)), element("span", share), worth];
        return element("li", ...words, barsOf(points[0].probs[i], probs[i]));
      }),
    );
  }

  const textOf = (/** @type {number} */ place) => betaText(points[place].beta);
  const start = graded ? best : points.length - 1;
  const scrubber = makeScrubber({ label: "beta", count: points.length, start, textOf, show });
  const top = points[best];
  const last = points[points.length - 1];
  const falls = `it is highest, ${percent1(top.strict)}, at ${betaText(top.beta)}, and falls to ${percent1(last.strict)}`;
  const story = graded
    ? `A weaker penalty β lets the policy go further from the reference, and the judge's reward only rises. The strict
      rate does not: ${falls} at ${betaText(last.beta)}. What the judge overrates wins.`
    : "A weaker penalty β lets the policy go further from the reference, and the reward rises with the distance.";
  const legend = element("p.note", "Bars: the upper, grey, in the reference; the lower, blue, now.");
  const dotted = element("p.note", "Dotted: best of N samples of the reference, which does not change (Loop B).");
  const curves = element("section", chart, element("p.said", story), dotted);
  main.append(numbers, scrubber.made, element("div.live", curves, element("section", heading, legend, actions)));
  const optima = points.map((point) => [betaText(point.beta), ...optimumCells(point)]);
  const ofChoices = choices.map((point) => [String(point.n), ...optimumCells(point)]);
  const tables = [
    tableOf("The optimum for each β", ["β", "reward", "strict", "KL"], optima),
    tableOf("Best of N: Loop B with the reference", ["N", "reward", "strict", "KL"], ofChoices),
  ];
  main.append(folded("rates", "All numbers as tables", tables));
  scrubber.restore();
}

/** @param {Optimum} optimum */
function optimumCells({ reward, strict, kl }) {
  return [reward, strict, kl].map((value) => rounded(value, 3));
}

/** @param {HTMLElement} main @param {any} data */
function showLearning(main, data) {
  if (data.kind === "updates") showUpdates(main, data, data.names);
  else if (data.kind === "evaluations") showEvaluations(main, data, data.names);
  else if (data.kind === "tradeoff") showTradeoff(main, data, data.names);
  else main.append(tableOf("What the run came to", ["quantity", "value"], data.summary ?? []));
}
