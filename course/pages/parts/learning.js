// Loop C, as course/pages/learning.py gives it: updates, evaluations, tokens.

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
 *  the space bar work wherever the focus is, but in fields.
 *  @param {{label: string, count: number, textOf: (place: number) => string, show: (place: number) => void}} about */
function makeScrubber({ label, count, textOf, show }) {
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
    go(Number(readState().get("step")) || 0);
  }

  window.addEventListener("hashchange", restore);
  const made = element("div.scrubber", play, range, words, element("span.note", "keys: ← → space"));
  return { made, restore, redraw: () => go(place()) };
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

/** One state of an update: what was sampled there, what it earned, and every probability before and after.
 *  @param {State} state @param {string[]} actions @param {number} baseline @param {Names} names */
function drawState(state, actions, baseline, names) {
  const { prefix, action, reward, before, after } = state;
  const inBars = { viewBox: "0 0 100 2", preserveAspectRatio: "none", "aria-hidden": "true" };

  /** @param {string} kind @param {number} share @param {number} y */
  function bar(kind, share, y) {
    return element(`svg:rect.${kind}`, { width: 100 * share, height: 1, y });
  }

  const rows = actions.map((text, a) =>
    element(
      a === action ? "li.sampled" : "li",
      element("code", ...visibleText(text, names), element("strong", a === action ? " ← sampled" : "")),
      element("span", `${percent1(before[a])} → ${percent1(after[a])} ${upOrDown(after[a] - before[a])}`),
      element("svg:svg", inBars, bar("before", before[a], 0), bar("after", after[a], 1)),
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

/** The rewards of a training that are known now; where the rubric is the strict verifier, both are one.
 *  @param {Point[]} points @param {Point} now */
function curvesOf(points, now) {
  const lines = [];
  const at = points.map((point) => point.step);
  for (const [reward, name, kind] of CURVES) {
    const isStrict = reward === "true_reward" || reward === "holdout_true_reward";
    if (now[reward] === null) continue;
    if (isStrict || now.rubric !== "score") {
      lines.push({ name, kind, at, values: points.map((point) => point[reward] ?? 0) });
    }
  }
  return lines;
}

/** The evaluations of a training: both rewards over the updates, and what was written at the slider's step.
 *  @param {HTMLElement} main @param {Evaluations} data @param {Names} names */
function showEvaluations(main, { trainings, shown, of, updates }, names) {
  const chart = element("figure.chart");
  const status = spoken("p.said");
  const written = element("ol.answers.long", { "aria-label": "What the policy wrote at this step" });
  const choice = choiceOf(trainings.map(({ name }) => name));

  function training() {
    return trainings[Number(choice.value)];
  }

  /** The last evaluation of a training that has fewer of them. @param {number} place */
  function within(place) {
    return Math.min(place, training().points.length - 1);
  }

  /** @param {number} place */
  function show(place) {
    const { points, written: texts } = training();
    const now = points[within(place)];
    const rubric = now.rubric === "score" ? "" : `the rubric pays ${percent(now.proxy_reward ?? 0)} and `;
    const strict = `the strict verifier pays ${percent(now.true_reward ?? 0)}.`;
    const title = `After ${counted(now.step, "update")} ${rubric}${strict}`;
    const otherForms = `${Math.round(now.other_form_rate * now.n)} have the right value in another form.`;
    const exploits = `${Math.round(now.hack_rate * now.n)} of ${now.n} completions are exploits, ${otherForms}`;
    const sizes = `KL ${rounded(now.kl, 1)} nats, ${rounded(now.mean_length, 1)} tokens each.`;
    status.textContent = `${title} ${exploits} ${sizes}`;
    const most = points[points.length - 1].step;
    chart.replaceChildren(lineChart(curvesOf(points, now), { most, across: "updates", title, cursor: now.step }));
    written.replaceChildren(...texts[within(place)].map((completion) => drawWritten(completion, names)));
  }

  const count = Math.max(...trainings.map(({ points }) => points.length));
  const textOf = (/** @type {number} */ place) => `after ${counted(training().points[within(place)].step, "update")}`;
  const scrubber = makeScrubber({ label: "evaluation", count, textOf, show });
  if (trainings.length > 1) main.append(labelled("training", "training", choice, () => scrubber.redraw()));
  if (shown < of) main.append(`${shown} of ${of} evaluations are shown, evenly spaced.`);
  main.append(scrubber.made, status, element("div.live", chart, written));
  scrubber.restore();
  if (updates.length) showTokens(main, updates, names);
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
 *  @param {HTMLElement} main @param {TokenRow[]} updates @param {Names} names */
function showTokens(main, updates, names) {
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

  main.append(element("h2", "Token by token"), labelled("token", "completion", choice, show), shown);
  show();
}

/** @param {HTMLElement} main @param {any} data */
function showLearning(main, data) {
  if (data.kind === "updates") showUpdates(main, data, data.names);
  else if (data.kind === "evaluations") showEvaluations(main, data, data.names);
  else main.append(tableOf("What the run came to", ["quantity", "value"], data.summary ?? []));
}
