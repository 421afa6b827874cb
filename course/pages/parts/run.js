// What the verifier scored in a run, as course/pages/run.py gives it: its numbers, its outcomes, its rows.

/** @typedef {{row: number, id: Cut, prompt: Cut, expected: Cut, completion: Cut, reward: number, outcome: string,
 *  of?: [string, Cut][], samples?: [Cut, number][], chosen?: number, why?: string, others?: [number, number]}} Row
 *  @typedef {{summary: Record<string, any>, prediction: {expect: string | null, share: number | null, off: string | null},
 *  outcomes: {outcome: string, family: string, n: number}[], checks: Checks, n: number, longest: number, seed: number,
 *  rows: Row[]}} Scored */

const ROWS_AT_ONCE = 50;

/** The names in the address under `name`, such as 3 and 8 of `row=3+8`. @param {string} name */
function openOnes(name) {
  return (readState().get(name) ?? "").split(" ").filter(Boolean);
}

/** What opens and closes: the address names all that are open, as `row=3+8`. `fill` gives what is in it, when it opens.
 *  @param {HTMLElement} details @param {string} name @param {string} value @param {() => Node[]} [fill] */
function keepOpen(details, name, value, fill = () => []) {
  const made = /** @type {HTMLDetailsElement} */ (details);
  made.addEventListener("toggle", () => {
    if (made.open && made.childElementCount === 1) made.append(...fill());
    const open = openOnes(name).filter((other) => other !== value);
    if (made.open) open.push(value);
    keepState({ [name]: open.join(" ") || null });
  });
  made.open = openOnes(name).includes(value);
  return made;
}

/** The outcomes by family, as bars. @param {Scored} scored @param {(outcome: string) => void} choose */
function outcomeBars({ outcomes }, choose) {
  const total = outcomes.reduce((sum, { n }) => sum + n, 0);

  /** @param {Scored["outcomes"][number]} counts */
  function bar({ outcome, n }) {
    const rect = element("svg:rect", { width: `${(100 * n) / total}%`, height: 20 });
    const drawn = element("svg:svg", { "aria-hidden": true }, rect);
    const share = element("span", `${grouped(n)} · ${percent1(n / total)}`);
    const made = buttonOf(`button.tally.${outcome}`, () => choose(outcome), inWords(outcome), drawn, share);
    made.dataset.outcome = outcome;
    return made;
  }

  const parts = [];
  for (const family of new Set(outcomes.map((counts) => counts.family))) {
    parts.push(element("h2", { "": "passed", model_format: "format", model_math: "value" }[family] ?? family));
    parts.push(...outcomes.filter((counts) => counts.family === family).map(bar));
  }
  return element("section.bars", { "aria-label": "Outcomes by family; each shows only its examples" }, ...parts);
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
  function level(name, kind, value) {
    return { name, kind, values: curve.map(() => value), at };
  }

  const lines = [
    level("ceiling", "dotted", ceiling),
    { name: "pass@k", kind: "true", values: curve, at },
    level("chosen", "paid", chosen),
    level("random", "dashed", random),
  ];
  const got = `the choice got ${percent1(chosen)}, choosing blindly ${percent1(random)}, `;
  const title = `With ${counted(n, "sample")} a prompt, ${got}and no choice could get more than ${percent1(ceiling)}.`;
  const distance = kl === null ? summary.kl_estimate_reason : `about ${rounded(kl, 3)} nats`;
  const chart = n > 1 ? element("figure.chart", lineChart(lines, { most: n, across: "k samples", title })) : "";
  return element(
    "section",
    element("p.main", element("strong", percent1(chosen)), " chosen right"),
    chart,
    element("p", `${title} KL from the policy: ${distance}, at most ${rounded(summary.kl_bound, 3)}.`),
    predicted(prediction),
  );
}

/** @param {[string, Node | string][]} facts */
function factsOf(facts) {
  return element("dl", ...facts.flatMap(([name, value]) => [element("dt", name), element("dd", value)]));
}

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
  if (check || row.outcome === "ok") parts.push(checkPath(checks, row.outcome));
  if (check) parts.push(element("p", `The verifier expected ${check[3]}.`));
  return parts;
}

/** @param {number} reward */
function verdict(reward) {
  return reward === 1 ? element("span.verdict.true", "✓ 1") : element("span.verdict.paid", "✗ 0");
}

/** The samples of a prompt with their rewards, and which was chosen and why. @param {Row} row @param {Names} names */
function sampleList({ samples, chosen, why, others: [more, right] = [0, 0] }, names) {
  if (!samples) return [];
  const items = samples.map(([text, reward], place) => {
    const item = element("li", verdict(reward), " ", wholeText(text, names));
    if (place === chosen) {
      item.classList.add("chosen");
      item.append(element("strong", " ◀ chosen"));
    }
    return item;
  });
  const rest = more ? ` Not looked at: ${counted(more, "more sample")}, ${right} of them right.` : "";
  return [element("ol.samples", ...items), element("p", element("strong", why ?? ""), rest)];
}

/** Its first characters, none of them in half. @param {Cut} cut @param {number} most */
function beginning(cut, most) {
  return [...textIn(cut)].slice(0, most).join("");
}

/** A row: its line, and all of it once it is opened. @param {Row} row @param {Scored} scored @param {Names} names */
function rowItem(row, scored, names) {
  const step = row.of ? ` ${row.of[0].join(" ")}` : "";
  const outcome = row.why?.split(/[:,]/)[0] ?? inWords(row.outcome);
  const summary = element(
    "summary",
    verdict(row.reward),
    element("bdi.id", ...visibleText(beginning(row.id, 40), names), step),
    element("span.outcome", outcome),
    element("bdi.first", ...visibleText(beginning(row.completion, 120), names)),
  );
  const details = element("details", { "data-row": row.row }, summary);
  return keepOpen(details, "row", String(row.row), () => rowInFull(row, scored, names));
}

/** What is searched of a row: its texts, the names of what cannot be seen in them, and its outcome.
 *  @param {Row} row @param {Names} names */
function searchedText(row, names) {
  const texts = [row.id, row.prompt, row.completion].map(textIn);
  for (const [sample] of row.samples ?? []) texts.push(textIn(sample));
  const hidden = texts.flatMap(partsOf).filter((part) => part.hidden);
  const words = hidden.map((part) => named(part.text, names));
  return [...texts, ...words, inWords(row.outcome), row.why].join("\n").toLowerCase();
}

/** The list of what was scored, with a search and the bars as its filter. What is set stands in the address.
 *  @param {HTMLElement} main @param {Scored} scored @param {Names} names */
function showScored(main, scored, names) {
  const held = counted(scored.rows.length, "row");
  const searched = scored.rows.map((row) => searchedText(row, names));
  let outcome = "";
  let most = ROWS_AT_ONCE;

  const find = inputOf({ type: "search", id: "find" });
  const status = spoken("p");
  const list = element("div.rows");
  const more = buttonOf("button", () => show(outcome, most * 4), "Show more");
  const bars = outcomeBars(scored, (name) => show(outcome === name ? "" : name, ROWS_AT_ONCE));
  find.addEventListener("input", () => show(outcome, most));

  /** @param {string} only  this outcome, or all @param {number} rows  the most */
  function show(only, rows) {
    outcome = only;
    most = rows;
    keepState({ outcome: outcome || null, find: find.value || null, most: most > ROWS_AT_ONCE ? most : null });
    const words = find.value.toLowerCase();
    const fits = scored.rows.filter((row, i) => (!outcome || row.outcome === outcome) && searched[i].includes(words));
    for (const bar of bars.querySelectorAll("button")) {
      bar.setAttribute("aria-pressed", String(bar.dataset.outcome === outcome));
    }
    status.textContent = `${grouped(fits.length)} of ${held}${outcome && `: ${inWords(outcome)}`}`;
    list.replaceChildren(...fits.slice(0, most).map((row) => rowItem(row, scored, names)));
    more.hidden = fits.length <= most;
  }

  function restore() {
    const state = readState();
    find.value = state.get("find") ?? "";
    const last = scored.rows.findLastIndex(({ row }) => openOnes("row").includes(String(row)));
    show(state.get("outcome") ?? "", Math.max(ROWS_AT_ONCE, last + 1, Number(state.get("most")) || 0));
    list.querySelector("[open]")?.scrollIntoView({ block: "center" });
  }

  const numbers = element("div.live");
  if (Object.keys(scored.summary).length) {
    if (main.dataset.view === "A") numbers.append(passRate(scored));
    if (main.dataset.view === "B") numbers.append(choiceNumbers(scored));
  }
  numbers.append(bars);
  if (main.dataset.view === "C") {
    main.append(predicted(scored.prediction), element("h2", "What the strict verifier scored"));
  }
  main.append(numbers, element("h2", "Examples"));
  main.append(element("div.controls", element("label", { for: "find" }, "search"), find));
  main.append(status, element("p", excerptNote(scored, held)), list, more);
  restore();
  window.addEventListener("hashchange", restore);
}

/** What a page says where it does not hold the whole run. @param {Scored} scored @param {string} held */
function excerptNote(scored, held) {
  let note = "";
  if (scored.rows.length < scored.n) {
    note = `${held} of ${grouped(scored.n)}, a uniform sample (seed ${scored.seed}); the bars count all. `;
  }
  if (scored.rows.some((row) => row.completion !== null && typeof row.completion === "object")) {
    note += `Each text is cut to ${grouped(scored.longest)} characters; the run holds the whole.`;
  }
  return note;
}
