// What the verifier scored in a run, as course/pages/run.py gives it: its numbers, and its rows by kind.

/** @typedef {{row: number, id: Cut, prompt: Cut, expected: Cut, completion: Cut, reward: number, outcome: string,
 *  said: string, of?: [string, Cut][], samples?: [number, Cut, number][], chosen?: number, why?: string,
 *  others?: [number, number]}} Row
 *  @typedef {{outcome: string, family: string | null, n: number}} RowKind  the rows of one outcome, and how many there are
 *  @typedef {{summary: Record<string, any>, outcomes: RowKind[], checks: Checks, n: number, longest: number, seed: number,
 *  prediction: {expect: string | null, reading: string | null, share: number | null, off: string | null},
 *  rows: Row[]}} Scored */

const FIRST_OF_A_KIND = 3; // cards that an open kind shows before more are asked for
const FIRST_FOUND = 50;

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

/** A part that is folded until it is asked for; the address then has `name=open`, and `name=closed` of one that is open
 *  from the start. @param {string} name @param {string} title @param {Node[]} parts @param {boolean} [isUsual] */
function folded(name, title, parts, isUsual = false) {
  const made = element("details.folded", { "data-part": name }, element("summary", title), ...parts);
  const details = /** @type {HTMLDetailsElement} */ (made);

  function restore() {
    details.open = (readState().get(name) ?? (isUsual ? "open" : "closed")) === "open";
  }

  details.addEventListener("toggle", () => {
    const said = details.open ? "open" : "closed";
    keepState({ [name]: details.open === isUsual ? null : said });
  });
  window.addEventListener("hashchange", restore);
  restore();
  return details;
}

// ---- The numbers -------------------------------------------------------------------------------------------------

/** What was expected of a run, and how far off it was. @param {Scored["prediction"]} prediction */
function predicted({ expect, reading, off }) {
  if (expect === null) return element("p.note", "No prediction was written down (--expect).");
  const words = `You expected: ${expect}${reading ? ` (${reading})` : ""}.`;
  return element("p", element("bdi", words), off ? element("strong", ` The result is ${off}.`) : "");
}

/** A number and what it is a share of. @param {number} share @param {string} words */
function mainNumber(share, words) {
  return element("p.main", element("strong", percent1(share)), ` ${words}`);
}

/** Loop A: the pass rate with its interval, and what was expected of it. @param {Scored} scored */
function passRate({ summary, prediction }) {
  const { n, passes, rubric_passes: paid } = summary;
  const ofRubric = paid !== undefined;
  const value = ofRubric ? summary.rubric_pass_rate : summary.pass_rate;
  const [low, high] = ofRubric ? summary.rubric_pass_rate_ci95 : summary.pass_rate_ci95;
  const { share } = prediction;
  const marks = share === null ? [] : [{ at: share, label: `expected ${percent(share)}` }];
  const counted = `${grouped(ofRubric ? paid : passes)} of ${grouped(n)}`;
  const bounds = `${percent1(low)} to ${percent1(high)}`;
  const sample = `95 % interval: ${bounds}, because ${grouped(n)} prompts are a sample of all such prompts.`;
  const parts = [
    mainNumber(value, ofRubric ? "paid in full by the rubric" : "passed"),
    intervalLine({ value, low, high, from: 0, to: 1, label: "pass rate", marks }),
    element("p", `${counted} answers earned 1. ${sample}`),
  ];
  if (ofRubric) {
    const strict = `The strict verifier passed ${grouped(passes)} of ${grouped(n)}: ${percent1(summary.pass_rate)}.`;
    parts.push(element("p", strict));
  }
  return element("section", ...parts, predicted(prediction));
}

/** Loop B: what was delivered beside what the policy writes, and pass@k, which choosing leaves as it was.
 *  @param {Scored} scored */
function choiceNumbers({ summary, prediction }) {
  const curve = /** @type {number[]} */ (Object.values(summary.pass_at_k));
  const { samples_per_prompt: n, ceiling, selected_accuracy: chosen, random_choice: random } = summary;
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
  const title = `pass@k of the policy for k from 1 to ${n}, and what choosing one of ${n} delivered`;
  const chart = n > 1 ? element("figure.chart", lineChart(lines, { most: n, across: "k samples", title })) : "";
  const unchanged = "Choosing raises the rate that is delivered. The policy, and with it pass@k, stays as it was.";
  return element(
    "section",
    element(
      "div.numbers",
      mainNumber(chosen, `chosen right, with ${counted(n, "sample")} a prompt`),
      mainNumber(random, "if one sample is taken blindly"),
    ),
    element("p", unchanged),
    chart,
    predicted(prediction),
    folded("details", "More numbers", [choiceFacts(summary)]),
  );
}

/** @param {Record<string, any>} summary */
function choiceFacts(summary) {
  const { ceiling, first_sample_accuracy: first, kl_estimate: kl, kl_bound: bound } = summary;
  const distance = kl === null ? summary.kl_estimate_reason : `about ${rounded(kl, 3)} nats`;
  return factsOf([
    ["first sample alone", percent1(first)],
    ["ceiling: some sample is right", percent1(ceiling)],
    ["KL of what is delivered from the policy", `${distance}, at most ${rounded(bound, 3)}`],
  ]);
}

/** @param {[string, Node | string][]} facts */
function factsOf(facts) {
  return element("dl", ...facts.flatMap(([name, value]) => [element("dt", name), element("dd", value)]));
}

// ---- A row -------------------------------------------------------------------------------------------------------

/** @param {number} reward */
function verdict(reward) {
  if (reward === 1) return element("span.verdict.true", "✓ earned 1");
  return element("span.verdict.paid", `✗ earned ${Number(reward.toPrecision(3))}`);
}

/** The samples of a prompt with their rewards, and which was chosen and why. @param {Row} row @param {Names} names */
function sampleList({ samples, chosen, why, others: [more, right] = [0, 0] }, names) {
  if (!samples) return [];
  const items = samples.map(([number, text, reward]) => {
    const item = element("li", { value: number }, verdict(reward), " ", wholeText(text, names));
    if (number === chosen) {
      item.classList.add("chosen");
      item.append(element("strong", " ◀ chosen"));
    }
    return item;
  });
  const rest = more ? ` Not looked at: ${counted(more, "more sample")}, ${right} of them right.` : "";
  return [element("ol.samples", ...items), element("p", element("strong", why ?? ""), rest)];
}

/** A row: what was asked, expected and written, and why that earned what it earned.
 *  @param {Row} row @param {Scored} scored @param {Names} names */
function rowCard(row, { checks }, names) {
  const strangers = [...new Set(textIn(row.completion))].filter((character) => character > "\x7f");
  /** @type {[string, Node | string][]} */
  const facts = [
    ["asked", wholeText(row.prompt, names)],
    ["expected", element("code", "Final: ", wholeText(row.expected, names))],
  ];
  if (!row.samples) facts.push(["written", wholeText(row.completion, names)]);
  if (row.said) facts.push(["why", element("span", ...visibleText(capitalised(row.said), names))]);
  if (strangers.length) facts.push(["not ASCII", strangers.map((character) => named(character, names)).join(", ")]);
  for (const [name, value] of row.of ?? []) facts.push([name, wholeText(value, names)]);
  const head = element("p", verdict(row.reward), " ", element("bdi.id", ...visibleText(textIn(row.id), names)));
  const card = element("article", { "data-row": row.row }, head, factsOf(facts), ...sampleList(row, names));
  if (row.outcome === "ok" || checks.some(([outcome]) => outcome === row.outcome)) {
    const path = element("details", element("summary", "the checks, one by one"));
    card.append(keepOpen(path, "row", String(row.row), () => [checkPath(checks, row.outcome)]));
  }
  return card;
}

/** @param {string} text */
function capitalised(text) {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Rows one below the other, the first few of them until all are asked for: the address then has `all=NAME`.
 *  @param {string} name @param {Row[]} rows @param {number} few @param {Scored} scored @param {Names} names */
function cardsOf(name, rows, few, scored, names) {
  const list = element("div.rows");
  const rest = rows.length - few;
  const more = buttonOf("button.more", () => showAll(), `Show ${rest === 1 ? "one" : grouped(rest)} more`);

  function showAll() {
    keepState({ all: [...openOnes("all"), name].join(" ") });
    show();
  }

  function show() {
    const isNamed = rows.slice(few).some(({ row }) => openOnes("row").includes(String(row)));
    const all = rest <= 0 || isNamed || openOnes("all").includes(name);
    list.replaceChildren(...(all ? rows : rows.slice(0, few)).map((row) => rowCard(row, scored, names)));
    more.hidden = all;
  }

  show();
  return [list, more];
}

// ---- All rows, by kind -------------------------------------------------------------------------------------------

/** @type {Record<string, string>} */
const FAMILIES = {
  "": "Earned 1",
  model_format: "Not written in the form that was asked for",
  model_math: "Written in the right form, with a wrong number",
  data: "A fault of the data",
};

/** What is searched of a row: its texts, the names of what cannot be seen in them, its outcome and why.
 *  @param {Row} row @param {Names} names */
function searchedText(row, names) {
  const texts = [row.id, row.prompt, row.completion].map(textIn);
  for (const [, sample] of row.samples ?? []) texts.push(textIn(sample));
  const hidden = texts.flatMap(partsOf).filter((part) => part.hidden);
  const words = hidden.map((part) => named(part.text, names));
  return [...texts, ...words, inWords(row.outcome), row.said, row.why].join("\n").toLowerCase();
}

/** The line of a kind: its name, what the verifier expected, and how many there are. @param {RowKind} kind
 *  @param {Scored} scored @param {boolean} withShare */
function kindLine({ outcome, n }, { checks, outcomes }, withShare) {
  const total = outcomes.reduce((sum, counts) => sum + counts.n, 0);
  const expected = checks.find(([name]) => name === outcome)?.[3];
  const words = [element("strong", outcome === "ok" ? "exactly the line" : inWords(outcome))];
  if (expected) words.push(element("span.note", ` expected: ${expected}`));
  const line = element(`summary.tally.${outcome}`, { "data-outcome": outcome }, element("span", ...words));
  if (withShare) {
    const rect = element("svg:rect", { width: `${(100 * n) / total}%`, height: 20 });
    line.append(element("svg:svg", { "aria-hidden": true }, rect));
  }
  line.append(element("span.count", withShare ? `${grouped(n)} · ${percent1(n / total)}` : grouped(n)));
  return line;
}

/** The kinds under the name of their family; each opens on its rows. The first failure is open until the address says
 *  what is: `outcome=missing_prefix+empty`. @param {Scored} scored @param {Names} names @param {boolean} withShare */
function kindsOf(scored, names, withShare) {
  const { outcomes, rows } = scored;
  const known = outcomes.map(({ outcome }) => outcome);
  const failures = outcomes.filter(({ outcome }) => outcome !== "ok");
  const ordered = [...failures, ...outcomes.filter(({ outcome }) => outcome === "ok")];
  const usual = withShare ? failures.slice(0, 1).map(({ outcome }) => outcome) : [];
  const asked = readState().has("outcome") ? openOnes("outcome") : usual;
  const ofRow = rows.filter(({ row }) => openOnes("row").includes(String(row))).map(({ outcome }) => outcome);
  const all = element("section.kinds", { "aria-label": "Rows by kind" });

  function keepKinds() {
    const lines = [...all.querySelectorAll("details.kind[open] > summary")];
    const open = lines.map((line) => line.getAttribute("data-outcome"));
    const isUsual = open.join(" ") === usual.join(" ");
    keepState({ outcome: isUsual ? null : open.join(" ") });
  }

  for (const family of new Set(ordered.map((kind) => kind.family))) {
    all.append(element("h3", FAMILIES[family ?? ""] ?? family));
    for (const kind of ordered.filter((other) => other.family === family)) {
      const { outcome } = kind;
      const made = element("details.kind", kindLine(kind, scored, withShare));
      const details = /** @type {HTMLDetailsElement} */ (made);
      const isLast = outcome === known[known.length - 1]; // of many outcomes it stands for all the others
      const ofKind = rows.filter((row) => row.outcome === outcome || (isLast && !known.includes(row.outcome)));
      const fill = () => {
        if (details.open && details.childElementCount === 1) {
          details.append(...cardsOf(outcome, ofKind, FIRST_OF_A_KIND, scored, names));
        }
      };
      details.open = asked.includes(outcome) || ofRow.includes(outcome);
      fill();
      details.addEventListener("toggle", () => {
        fill();
        keepKinds();
      });
      all.append(details);
    }
  }
  return all;
}

/** The rows by kind, or in place of the kinds those that hold what is searched for. What is set stands in the address.
 *  @param {Scored} scored @param {Names} names @param {boolean} withShare  false where shares over all rows say nothing */
function rowsOf(scored, names, withShare) {
  const held = counted(scored.rows.length, "row");
  const find = inputOf({ type: "search", id: "find" });
  const status = spoken("p");
  const place = element("div");
  /** @type {string[]} */
  let searched = [];

  function show() {
    const words = find.value.toLowerCase();
    if (!words) {
      status.textContent = "";
      place.replaceChildren(kindsOf(scored, names, withShare));
      return;
    }
    if (!searched.length) searched = scored.rows.map((row) => searchedText(row, names));
    const fits = scored.rows.filter((_, i) => searched[i].includes(words));
    status.textContent = `${grouped(fits.length)} of ${held}`;
    place.replaceChildren(...cardsOf("find", fits, FIRST_FOUND, scored, names));
  }

  function restore() {
    find.value = readState().get("find") ?? "";
    show();
  }

  find.addEventListener("input", () => {
    keepState({ find: find.value || null });
    show();
  });
  window.addEventListener("hashchange", restore);
  restore();
  const search = element("div.controls", element("label", { for: "find" }, `search all ${held}`), find);
  return [element("p.note", excerptNote(scored, held)), place, search, status];
}

/** @param {HTMLElement} main @param {Scored} scored @param {Names} names */
function showScored(main, scored, names) {
  const { outcomes, summary } = scored;
  const total = outcomes.reduce((sum, { n }) => sum + n, 0);
  const failed = outcomes.filter(({ outcome }) => outcome !== "ok").reduce((sum, { n }) => sum + n, 0);
  if (main.dataset.view === "C") {
    const title = `Every completion that was scored in this run, from first to last: ${grouped(total)}, by kind`;
    const all = folded("scored", title, rowsOf(scored, names, false));
    all.open ||= ["row", "find", "outcome"].some((name) => readState().has(name));
    main.append(all);
  } else {
    if (Object.keys(summary).length) main.append(main.dataset.view === "A" ? passRate(scored) : choiceNumbers(scored));
    const what = main.dataset.view === "A" ? "answers" : "chosen answers";
    const whose = summary.rubric_passes === undefined ? "" : " from the strict verifier";
    main.append(
      element("h2", `${grouped(failed)} of ${grouped(total)} ${what} earned 0${whose}. What is wrong with them?`),
    );
    const ask = "What now? Read one failure of each kind, and say whose fault it is:";
    main.append(element("p.note", `${ask} the model's, the verifier's, the spec's or the data's.`));
    main.append(...rowsOf(scored, names, true));
  }
  main.querySelector("article details[open]")?.scrollIntoView({ block: "center" });
}

/** What a page says where it does not hold the whole run. @param {Scored} scored @param {string} held */
function excerptNote(scored, held) {
  let note = "";
  if (scored.rows.length < scored.n) {
    note = `This page holds ${held} of ${grouped(scored.n)}, a uniform sample (seed ${scored.seed}); the counts are of all. `;
  }
  if (scored.rows.some((row) => row.completion !== null && typeof row.completion === "object")) {
    note += `Each text is cut to ${grouped(scored.longest)} characters; the run holds the whole.`;
  }
  return note;
}
