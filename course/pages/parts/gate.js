// The verdict of the gate on two runs, as course/pages/gate.py gives it.

/** @typedef {{question: string} & Record<"before" | "after", {outcome: string, text: Cut}>} Flip */

/** What two texts begin and end with alike, and what stands between. @param {string} before @param {string} after */
function differenceOf(before, after) {
  const a = [...before];
  const b = [...after];
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start++;
  let end = 0;
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  return {
    start: a.slice(0, start).join(""),
    before: a.slice(start, a.length - end).join(""),
    after: b.slice(start, b.length - end).join(""),
    end: a.slice(a.length - end).join(""),
  };
}

/** @param {Flip} flip @param {Names} names */
function drawFlip({ question, before, after }, names) {
  const { start, end, ...between } = differenceOf(textIn(before.text), textIn(after.text));

  /** @param {string} label @param {Flip["before"]} side @param {string} changed */
  function line(label, { outcome, text }, changed) {
    const whole = element("code", ...visibleText(start, names), element("mark", ...visibleText(changed, names)));
    whole.append(...visibleText(end, names));
    if (text === null) whole.append("no completion");
    else if (typeof text === "object") whole.append(` … and ${grouped(text.more)} more`);
    return element("div", `${label} (${inWords(outcome)}) `, whole);
  }

  const sides = [line("baseline", before, between.before), line("candidate", after, between.after)];
  return element("li", element("div.note", question), ...sides);
}

/** @param {HTMLElement} main
 *  @param {{said: string[], interval: {value: number, low: number, high: number} | null, names: Names,
 *  flips: {name: string, flips: Flip[]}[], compared: {caption: string, head: string[], rows: string[][]}[]}} data */
function showGate(main, { said, interval, flips, compared, names }) {
  const [verdict, ...others] = said;
  main.append(element("p.said", verdict));
  for (const [i, sentence] of others.entries()) {
    const isDifference = i === others.length - 1;
    main.append(element(isDifference ? "p.said" : "p", sentence));
  }
  if (interval) {
    const reach = Math.max(0.1, Math.ceil(10 * Math.max(-interval.low, interval.high)) / 10);
    const text = (/** @type {number} */ value) => `${signed(100 * value, 1)} points`;
    main.append(intervalLine({ ...interval, from: -reach, to: reach, text, label: "Difference of the pass rates" }));
  }
  const lists = element("div.live");
  for (const { name, flips: ofOneWay } of flips) {
    const items = ofOneWay.map((flip) => drawFlip(flip, names));
    lists.append(element("section", element("h2", name), element("ol.answers.long", ...items)));
  }
  main.append(lists);
  for (const table of compared) main.append(tableOf(table.caption, table.head, table.rows));
}
