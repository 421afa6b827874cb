// A student's tests against wrong verifiers.

const CELLS = {
  "#": { words: "killed", sign: "■" },
  ".": { words: "not killed", sign: "·" },
  x: { words: "an exception", sign: "✗" },
  " ": { words: "no difference", sign: "" },
};

/** A row for each test, a column for each wrong verifier; columns that follow each other share the name of their class.
 *  @param {HTMLElement} main
 *  @param {{verifiers: (string | null)[], tests: {name: string, fault: string | null, cells: (keyof typeof CELLS)[]}[],
 *  rates: Record<string, [number, number]>}} data */
function showMatrix(main, { verifiers, tests, rates }) {
  const names = verifiers.map((name) => name ?? "?");
  const starts = [...names.keys()].filter((i) => names[i] !== names[i - 1]);
  const head = starts.map((from, i) => {
    const colspan = (starts[i + 1] ?? names.length) - from;
    return element("th", { colspan, scope: "colgroup" }, element("span", names[from]));
  });
  const rows = tests.map(({ name, fault, cells }) => {
    const title = element("th", { scope: "row" }, name);
    const squares = cells.map((cell, i) => {
      const { words, sign } = CELLS[cell];
      return element("td", { class: words, title: `${names[i]}: ${words}` }, sign);
    });
    if (!fault) return element("tr", title, ...squares);
    title.append(element("em", ` ✗ ${fault}`));
    return element("tr.fault", title, ...squares);
  });
  const table = element("table", element("thead", element("tr", element("td"), ...head)), element("tbody", ...rows));
  const killed = element("p.main");
  for (const [name, [k, n]] of Object.entries(rates)) {
    killed.append(element("strong", `${k} of ${n}`), ` ${name} killed `);
  }
  const signs = "■ killed, · not killed, ✗ an exception, blank: no difference; ? a class not killed yet";
  main.append(killed, element("p", signs), wide("div.wide.matrix", "Tests and verifiers", table));
}
