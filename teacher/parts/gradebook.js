// The teacher's gradebook: the table of the class, and a page for each sheet, with points that come out as CSV.

/** @typedef {{name: string, href: string | null, why: string}} RunPage
 *  @typedef {{text: Cut, shared: [string, number][], pictures: {name: string, href: string}[],
 *  digest: string}} StudentsAnswer
 *  @typedef {{heading: string, cell: string, asked: string, key: string, answers: StudentsAnswer[]}} Question
 *  @typedef {{name: string, cell: string, state: string, lines: string[], runs: RunPage[]}} Student
 *  @typedef {{points: string, digest: string}} Points  `digest`: of the answer for which they were given */

const MOST_REASONS = 4; // lines of the check below a name; grades/ has all

/** The pages of a student's runs, or why one has none. @param {RunPage[]} runs @param {Names} names */
function runLinks(runs, names) {
  const links = runs.map(({ name, href, why }) => {
    if (href) return element("a", { href }, ...visibleText(name, names));
    return element("span.note", { title: why }, ...visibleText(name, names), " (no page)");
  });
  return element("span.links", ...links);
}

/** What a person wrote, to be read: with columns or a drawing in letters of one width and in its own lines; else lines
 *  that were broken because they were long are one.
 *  @param {Cut} cut @param {Names} names */
function written(cut, names) {
  const text = textIn(cut);
  const isDrawn = /\S {2,}\S|[|│└├+]-|->|```/.test(text);
  const lines = (isDrawn ? text : text.replace(/(.{60,})\n(?=[\p{L}\d(“"`])/gu, "$1 ")).split("\n");
  const shown = lines.flatMap((line, i) => [i ? "\n" : "", ...visibleText(line, names)]);
  const more = cut !== null && typeof cut === "object" ? ` … and ${counted(cut.more, "more character")}` : "";
  return element(isDrawn ? "div.answer.drawn" : "div.answer", ...shown, element("em", more));
}

// ---- Points: kept by the browser where it can -----------------------------------------------------------------

/** What is kept under a name: nothing where the browser keeps nothing. @param {string} name @returns {Points | null} */
function readPoints(name) {
  try {
    return JSON.parse(localStorage.getItem(name) ?? "null");
  } catch {
    return null;
  }
}

/** Whether it is kept. @param {string} name @param {Points} points */
function keepPoints(name, points) {
  try {
    if (points.points) localStorage.setItem(name, JSON.stringify(points));
    else localStorage.removeItem(name);
    return true;
  } catch {
    return false;
  }
}

/** A table as CSV, as RFC 4180 has it; a spreadsheet takes it for UTF-8. @param {string[][]} rows */
function csvOf(rows) {
  const lines = rows.map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(","));
  return `\ufeff${lines.join("\r\n")}\r\n`;
}

/** Students × questions, with the sum of what was given. @param {Student[]} students @param {Question[]} questions
 *  @param {(student: number, question: number) => string} pointsOf */
function rowsOfPoints(students, questions, pointsOf) {
  const rows = [["student", ...questions.map(({ cell }) => cell), "points"]];
  for (const [i, { cell }] of students.entries()) {
    const points = questions.map((_, j) => pointsOf(i, j));
    const given = points.filter(Boolean);
    const sum = given.reduce((total, value) => total + Number(value), 0);
    rows.push([cell, ...points, given.length ? String(Math.round(1e6 * sum) / 1e6) : ""]);
  }
  return rows;
}

// ---- One sheet ------------------------------------------------------------------------------------------------

/** @param {HTMLElement} main
 *  @param {{sheet: string, index: string, csv: string, students: Student[], questions: Question[], names: Names}} data */
function showSheet(main, data) {
  const { sheet, index, csv, students, questions, names } = data;
  const said = spoken("p.note");
  /** @type {HTMLInputElement[][]} */
  const boxes = students.map(() => []);

  function download() {
    const rows = rowsOfPoints(students, questions, (i, j) => boxes[i][j].value);
    const href = URL.createObjectURL(new Blob([csvOf(rows)], { type: "text/csv" }));
    element("a", { href, download: csv }).click();
    setTimeout(() => URL.revokeObjectURL(href), 1000);
  }

  /** @param {number} i @param {number} j */
  function pointsBox(i, j) {
    const { answers, heading } = questions[j];
    const { digest } = answers[i];
    const name = `points ${location.pathname} ${JSON.stringify([students[i].name, heading])}`;
    const kept = readPoints(name);
    const label = `points of ${students[i].name}, ${heading}`;
    const box = inputOf({ type: "number", min: 0, step: "any", value: kept?.points ?? "", "aria-label": label });
    const stale = element("span.stale", kept && kept.digest !== digest ? "the answer has changed since" : "");
    box.addEventListener("input", () => {
      stale.textContent = "";
      if (keepPoints(name, { points: box.value, digest })) return;
      said.textContent = "This browser keeps no points for a page that is opened as a file: download before you leave.";
    });
    boxes[i][j] = box;
    return element("label.points", "points ", box, stale);
  }

  /** @param {number} i @param {number} j */
  function answerOf(i, j) {
    const { name, state, lines, runs } = students[i];
    const { text, shared, pictures } = questions[j].answers[i];
    const marks = shared.map(([other, share]) =>
      element("p.shared", `⚑ ${percent(share)} shared with `, ...visibleText(other, names)),
    );
    const seen = pictures.map((picture) => element("a", { href: picture.href }, ...visibleText(picture.name, names)));
    const reasons = lines.slice(0, MOST_REASONS).map((line) => element("p.reason", ...visibleText(line, names)));
    const more = lines.length - reasons.length;
    if (more > 0) reasons.push(element("p.reason", `and ${counted(more, "more line")}`));
    const answered = text === "" ? element("em", "no answer") : written(text, names);
    return element(
      "article",
      element("h3", ...visibleText(name, names), element("span.note", ` ${state}`)),
      ...reasons,
      ...marks,
      answered,
      seen.length ? element("p.note.links", "pictures: ", ...seen) : "",
      element(
        "div.foot",
        pointsBox(i, j),
        ...(runs.length ? [element("span.note", "runs: "), runLinks(runs, names)] : []),
      ),
    );
  }

  const contents = questions.map(({ heading }, j) => element("a", { href: `#q${j}` }, ...visibleText(heading, names)));
  main.append(
    element("p", element("a", { href: index }, "← the class")),
    element("nav.links", ...contents),
    element("div.controls", buttonOf("button", download, "Download the points as CSV"), said),
    element("p.note", `Points stay in this browser, for this file (${sheet}). The CSV is what you keep.`),
  );
  for (const [j, { heading, asked, key }] of questions.entries()) {
    const parts = [element("h2", { id: `q${j}` }, ...visibleText(heading, names))];
    const asks = written(asked, names);
    asks.classList.add("asked");
    parts.push(asks);
    if (key) {
      parts.push(element("details.key", { open: "" }, element("summary", "One good answer"), written(key, names)));
    }
    main.append(element("section.question", ...parts, ...students.map((_, i) => answerOf(i, j))));
  }
  // The answers have only now made the page long enough to scroll to the one that the address names.
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

// ---- The class ------------------------------------------------------------------------------------------------

/** @typedef {{state: string, short: string, shared: string[]}} Cell
 *  @typedef {{name: string, result: string, why: string, cells: Cell[], runs: RunPage[]}} StudentRow */

/** @param {HTMLElement} main
 *  @param {{columns: {name: string, href: string | null}[], rows: StudentRow[], evidence: string[],
 *  pairs: {pair: [string, string], count: string, details: string[]}[], names: Names}} data */
function showClass(main, data) {
  const { columns, rows, pairs, evidence, names } = data;

  /** @param {Cell} cell */
  function stateOf({ state, short, shared }) {
    const kind = state.replaceAll(" ", "-").replace(/[^a-z-]/g, "");
    const made = element(`td.state.${kind || "none"}`, { title: short }, ...visibleText(state, names));
    if (shared.length) made.append(element("span.shared", { title: `shared with ${shared.join(", ")}` }, " ⚑"));
    return made;
  }

  // Exercises are the rows, so that their names can be read; a class of thirty scrolls sideways.
  const head = element("tr", element("th", ""), ...rows.map(({ name }) => element("th", ...visibleText(name, names))));
  const body = columns.map(({ name, href }, i) => {
    const title = href ? element("a", { href }, name) : element("span", ...visibleText(name, names));
    return element("tr", element("th", title), ...rows.map(({ cells }) => stateOf(cells[i])));
  });
  const results = rows.map(({ result, why }) => element("td", { title: why }, ...visibleText(result, names)));
  const table = element("table", head, element("tr", element("th", "result"), ...results), ...body);
  main.append(
    element(
      "p",
      "A name with a link is a sheet: every student's answer to each question, boxes for points, and a key.",
    ),
    element("p", "“handed in” says that a sheet is whole; whether it is right, you decide. ⚑ marks what is shared."),
    wide("div.wide", "States of the class", table),
  );

  main.append(element("h2", "Shared"));
  if (!pairs.length) main.append(element("p", "No two hand-ins share anything, and none equals a shown solution."));
  for (const { pair, count, details } of pairs) {
    const title = element(
      "summary",
      ...visibleText(pair[0], names),
      " and ",
      ...visibleText(pair[1], names),
      `: ${count}`,
    );
    const list = element("ul", ...details.map((line) => element("li", ...visibleText(line, names))));
    main.append(element("details.pair", title, list));
  }
  main.append(...evidence.map((paragraph) => element("p.note", paragraph)));

  main.append(element("h2", "Runs"));
  for (const { name, runs, why } of rows) {
    const parts = [element("strong", ...visibleText(name, names)), " "];
    if (why) parts.push(element("span.note", ...visibleText(why, names), " "));
    main.append(element("div.foot", ...parts, runs.length ? runLinks(runs, names) : element("span.note", "no runs")));
  }
}

start((main, data) => (main.dataset.view === "sheet" ? showSheet : showClass)(main, data));
