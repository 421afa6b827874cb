// The checks of the verifier, in order.

/** @typedef {[string, string, string, string][]} Checks  of each: outcome, family, what is checked, what is expected */

/** @param {string} name */
function inWords(name) {
  return name.replaceAll("_", " ");
}

/** The way of a completion through the checks. @param {Checks} checks @param {string} outcome */
function checkPath(checks, outcome) {
  const failed = outcome === "ok" ? checks.length : checks.findIndex(([name]) => name === outcome);
  const steps = checks.map(([, , name, expected], i) => {
    let kind = "unreached";
    let words = "not reached";
    if (i < failed) {
      kind = "passed";
      words = "✓ passed";
    } else if (i === failed) {
      kind = "failed";
      words = "✗ failed here";
    }
    return element(`li.${kind}`, { title: expected }, `${inWords(name)} `, element("span", words));
  });
  return element("ol.path", ...steps);
}
