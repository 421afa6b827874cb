// A student's tests against wrong verifiers, as check/report_tests.py gives it.

/** @typedef {{kind: string, does: string, witness: {completion: string, expected: string} | null}} Survivor
 *  @typedef {{rates: {name: string, killed: number, count: number, enough: string}[], survivors: Survivor[],
 *  kinds: string[], tests: {name: string, fault: string | null, cells: string[]}[], names: Names}} Matrix */

/** @type {Record<string, string>} */
const SETS = { shown: "wrong verifiers on this page", "held out": "wrong verifiers that no page shows" };

/** A wrong verifier that no test kills. Its completion is folded, because finding one is the exercise. One that is
 *  wrong about no short text has none.
 *  @param {Survivor} survivor @param {Names} names */
function drawSurvivor({ kind, does, witness }, names) {
  const item = element("li", element("strong", kind));
  if (!witness) {
    item.append(element("details", element("summary", "show what it does"), element("p", `This verifier ${does}.`)));
    return item;
  }
  const text = element("code", ...visibleText(witness.completion, names));
  const answer = element("code", ...visibleText(witness.expected, names));
  const words = element(
    "p",
    "The completion ",
    text,
    ", where the expected answer is ",
    answer,
    `. This verifier ${does}.`,
  );
  item.append(element("details", element("summary", "show a completion that would kill it"), words));
  return item;
}

/** What survives stands first; then a row for each test, a column for each class of wrong verifiers, in words.
 *  @param {HTMLElement} main @param {Matrix} data */
function showMatrix(main, { rates, survivors, kinds, tests, names }) {
  const killed = rates.map(({ name, killed: k, count, enough }) => {
    const words = `${SETS[name] ?? name} are killed${enough && `; ${enough}`}`;
    return element("p.main", element("strong", `${k} of ${count}`), ` ${words}`);
  });
  main.append(...killed);
  if (survivors.length) {
    const some = survivors.length === 1 ? "One wrong verifier passes" : `${survivors.length} wrong verifiers pass`;
    main.append(element("h2", `${some} all your tests. The class of each:`));
    main.append(element("ul.survivors", ...survivors.map((survivor) => drawSurvivor(survivor, names))));
  } else {
    main.append(element("h2", "Your tests kill every wrong verifier on this page."));
  }
  const faults = tests.filter(({ fault }) => fault);
  if (faults.length) {
    main.append(element("h2", "Tests that do not count, because a right verifier does not pass them"));
    main.append(
      element("ul", ...faults.map(({ name, fault }) => element("li", element("strong", name), `: ${fault}`))),
    );
  }
  const head = kinds.map((name) => element("th", { scope: "col" }, element("span", name)));
  const rows = tests.map(({ name, fault, cells }) => {
    const title = element("th", { scope: "row" }, name, fault ? element("em", " does not count") : "");
    const words = cells.map((cell) => element("td", { class: cell.split(" ")[0] || null }, cell));
    return element(fault ? "tr.fault" : "tr", title, ...words);
  });
  const corner = element("td", "your test, and the class of wrong verifiers");
  const table = element("table", element("thead", element("tr", corner, ...head)), element("tbody", ...rows));
  main.append(element("h2", "Which test kills which class"));
  main.append(
    element("p", "A cell is empty where those verifiers answer the test's completions as a right verifier does."),
  );
  main.append(wide("div.wide.matrix", "Tests and classes of wrong verifiers", table));
}
