// The pages of runs, of the gate and of tests, by the name of their view.

/** A run: what is wrong with it before all else, its conditions behind all else.
 *  @param {HTMLElement} main
 *  @param {{faults: string[], conditions: [string, string][], scored: Scored, names: Names}} data */
function showRun(main, data) {
  const { faults, conditions, scored, names } = data;
  if (faults.length) {
    const warning = element("strong", "✗ Not verified, so do not take its numbers on trust:");
    const list = element("ul", ...faults.map((fault) => element("li", ...visibleText(fault, names))));
    main.append(element("section.fault", { role: "alert" }, warning, list));
  }
  if (main.dataset.view === "C") {
    if (scored.prediction.expect !== null) main.append(predicted(scored.prediction));
    showLearning(main, data);
  }
  showScored(main, scored, names);
  main.append(folded("conditions", "Conditions and digest", [factsOf(conditions)]));
}

/** @type {Record<string, (main: HTMLElement, data: any) => void>} */
const VIEWS = {
  A: showRun,
  B: showRun,
  C: showRun,
  gate: showGate,
};

start((main, data) => VIEWS[main.dataset.view ?? ""](main, data));
