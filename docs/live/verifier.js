// The verifier at each keystroke: course/score.py and course/faults.py.

/** @typedef {{lineBoundaries: string, checks: Checks}} Tables */

/** The scorer, by the rules of course/faults.py: a completion's outcome and reward. @param {Tables} tables
 *  @returns {(expected: string, completion: string) => {outcome: string, reward: number}} */
function makeScorer({ lineBoundaries }) {
  const prefix = "Final: ";

  /** @param {string} text  trimmed, not in format */
  function faultOf(text) {
    if (!text) return "empty";
    if ([...lineBoundaries].some((boundary) => text.includes(boundary))) return "not_single_line";
    if (!text.startsWith(prefix)) return "missing_prefix";
    const rest = text.slice(prefix.length);
    if (/[^\0-\x7f]/.test(rest)) return "not_ascii";
    const integer = rest.replace(/[\0-\x20\x7f]/g, "");
    if (!/^\+?-?[0-9]+$/.test(integer)) return "not_an_integer";
    if (integer !== rest) return "extra_whitespace";
    if (integer.startsWith("+")) return "plus_sign";
    if (/^-0+$/.test(integer)) return "negative_zero";
    return "leading_zeros";
  }

  return (expected, completion) => {
    const text = /^[ \t\r\n]*(|[^]*[^ \t\r\n])[ \t\r\n]*$/.exec(completion)?.[1] ?? "";
    const match = /^Final: (0|-?[1-9][0-9]*)$/.exec(text);
    if (!match) return { outcome: faultOf(text), reward: 0 };
    if (match[1] !== expected) return { outcome: "wrong_answer", reward: 0 };
    return { outcome: "ok", reward: 1 };
  };
}

/** Every character of a text: what hides is named, and what is not ASCII is marked and has its code point beside it.
 *  @param {string} text @param {Names} names */
function everyCharacter(text, names) {
  return visibleText(text, names).flatMap((part) => {
    if (typeof part !== "string") return [part];
    const pieces = part.split(/([^\0-\x7f])/u);
    return pieces.flatMap((piece, i) => {
      if (i % 2 === 0) return [/** @type {string | HTMLElement} */ (piece)];
      return [element("mark", piece), element("span.unseen.named", named(piece, names))];
    });
  });
}

/** The page: two fields, and what the verifier says of them. @param {HTMLElement} main
 *  @param {{tables: Tables, names: Names, examples: {name: string, answer: string, text: string}[]}} data */
function showVerifier(main, { tables, names, examples }) {
  const scorer = makeScorer(tables);
  const text = /** @type {HTMLTextAreaElement} */ (element("textarea", { rows: 3, spellcheck: "false" }));
  const answer = inputOf({ inputmode: "numeric", autocomplete: "off" });
  const result = spoken("div");
  text.value = examples[0].text;
  answer.value = examples[0].answer;

  function show() {
    const isInteger = /^(0|-?[1-9][0-9]{0,999})$/.test(answer.value);
    const scored = isInteger ? scorer(answer.value, text.value) : { outcome: "invalid_example", reward: 0 };
    const check = tables.checks.find(([name]) => name === scored.outcome);
    const why = check ? `${inWords(scored.outcome)}: expected ${check[3]}` : "ok: the one line, the right value";
    const verdict = scored.reward
      ? element("p.said.better", `✓ Reward 1. ${why}.`)
      : element("p.said.worse", `✗ Reward 0. ${why}.`);
    const characters = element("p", "Every character: ", element("code.text", ...everyCharacter(text.value, names)));
    result.replaceChildren(verdict, characters, checkPath(tables.checks, scored.outcome));
  }

  const tries = examples.map((example) => {
    const state = new URLSearchParams({ answer: example.answer, text: example.text });
    return buttonOf("button", () => location.replace(`#${state}`), example.name);
  });
  main.append(element("div.controls", ...tries));
  main.append(labelled("answer", "expected answer", answer, show));
  main.append(labelled("text", "completion", text, show));
  main.append(result);
  show();
}

start(showVerifier);
