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

/** @typedef {{caption: string, head: string[], rows: string[][]}} Table
 *  @typedef {{name: string, passes: number}} Side
 *  @typedef {{n: number, baseline: Side, candidate: Side, interval: {value: number, low: number, high: number},
 *  minDelta: number, difference: string, prompts: Record<string, number>}} Picture
 *  @typedef {{way: "gained" | "lost", n: number, flips: Flip[]}} Way */

const FIRST_FLIPS = 3; // of each way, before more are asked for
/** @type {Record<string, string>} */
const WAYS = { gained: "failed before, pass now", lost: "passed before, fail now" };

/** Both rates, the interval of their difference, and all prompts in one bar. @param {Picture} picture */
function drawPicture({ n, baseline, candidate, interval, minDelta, difference, prompts }) {
  const reach = Math.max(0.1, Math.ceil(10 * Math.max(-interval.low, interval.high, minDelta)) / 10);
  const text = (/** @type {number} */ value) => `${signed(100 * value, 1)} points`;
  const marks = minDelta ? [{ at: minDelta, label: `worth having: ${text(minDelta)}` }] : [];
  const rates = [baseline, candidate].map(({ name, passes }) =>
    mainNumber(passes / n, `of ${name}: ${grouped(passes)} of ${grouped(n)}`),
  );
  let from = 0;
  const bars = Object.entries(prompts).map(([what, count]) => {
    const rect = element("svg:rect", { class: what.replaceAll(" ", "_"), x: from, width: count, height: 1 });
    from += count;
    return rect;
  });
  const words = Object.entries(prompts).map(([what, count]) =>
    element("li", element(`span.key.${what.replaceAll(" ", "_")}`), `${grouped(count)} ${what}`),
  );
  const inBar = { viewBox: `0 0 ${n} 1`, preserveAspectRatio: "none", "aria-hidden": "true" };
  return element(
    "section",
    element("div.numbers", ...rates),
    intervalLine({ ...interval, from: -reach, to: reach, text, label: "Difference of the pass rates", marks }),
    element("p", difference),
    element("svg:svg.flips", inBar, ...bars),
    element("ul.legend", { "aria-label": "The prompts, by what became of them" }, ...words),
  );
}

/** The flips of one way, the first few of them unfolded. @param {Way} way @param {Names} names */
function drawWay({ way, n, flips }, names) {
  const items = flips.map((flip) => drawFlip(flip, names));
  const parts = [element("h2", `${grouped(n)} ${way}: ${WAYS[way]}`)];
  parts.push(element("ol.answers.long", ...items.slice(0, FIRST_FLIPS)));
  const rest = items.slice(FIRST_FLIPS);
  if (rest.length) {
    const some = flips.length < n ? ` (${grouped(flips.length)} of ${grouped(n)} are on this page, evenly spaced)` : "";
    const list = element("ol.answers.long", { start: FIRST_FLIPS + 1 }, ...rest);
    parts.push(folded(way, `${grouped(rest.length)} more${some}`, [list]));
  }
  return element("section", ...parts);
}

/** The verdict stands in the title of the page; then why, the picture, who gained and who lost. The rest is folded: the
 *  room is open where it is the reason.
 *  @param {HTMLElement} main
 *  @param {{said: string[], picture: Picture | null, flips: Way[], names: Names, more: string[],
 *  room: {title: string, open: boolean, table: Table} | null, differences: Table}} data */
function showGate(main, { said, picture, flips, room, more, differences, names }) {
  const [reason, ...others] = said;
  main.append(element("p.said", reason), ...others.map((sentence) => element("p", sentence)));
  if (picture) main.append(drawPicture(picture));
  if (flips.length) main.append(element("div.live", ...flips.map((way) => drawWay(way, names))));
  if (!room) return;
  main.append(folded("room", room.title, [tableOf(room.table.caption, room.table.head, room.table.rows)], room.open));
  main.append(
    folded("numbers", "More to read the verdict with", [element("ul", ...more.map((line) => element("li", line)))]),
  );
  const { caption, head, rows } = differences;
  main.append(folded("differences", caption, [tableOf(caption, head, rows)]));
}
