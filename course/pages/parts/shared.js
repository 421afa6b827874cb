"use strict";
// What every page is made of: elements, the address, fields, and text that is shown and never obeyed.
// A page's script is several of these files, one after the other; nothing is asked of the network.

/** Show the page, from the data that stand in it. In a worker or in Node there is none.
 *  @param {(main: HTMLElement, data: any) => void} show */
function start(show) {
  if (typeof document === "undefined") return;
  const main = /** @type {HTMLElement} */ (document.querySelector("[data-view]"));
  const data = document.getElementById("data")?.textContent ?? "{}";
  show(main, JSON.parse(data));
}

// ---- Elements ----------------------------------------------------------------------------------------------------
// Text of a dataset, a policy or a student reaches a page as text only: textContent and setAttribute, never markup.

/** An element. A property that is a function is a listener, any other an attribute: none if null, undefined or false.
 *  @param {string} name  "li.sampled" for one with a class, "svg:line" for one of a drawing
 *  @param {...(Node | string | Record<string, unknown>)} parts */
function element(name, ...parts) {
  const [tag, ...classes] = name.replace("svg:", "").split(".");
  const kind = name.startsWith("svg:") ? "2000/svg" : "1999/xhtml";
  const made = /** @type {HTMLElement} */ (document.createElementNS(`http://www.w3.org/${kind}`, tag));
  if (classes.length) made.setAttribute("class", classes.join(" "));
  for (const part of parts) {
    if (typeof part === "string" || part instanceof Node) made.append(part);
    else setProperties(made, part);
  }
  return made;
}

/** @param {HTMLElement} made @param {Record<string, unknown>} properties */
function setProperties(made, properties) {
  for (const [key, value] of Object.entries(properties)) {
    if (typeof value === "function") {
      made.addEventListener(key.slice(2), /** @type {EventListener} */ (value));
    } else if (value !== null && value !== undefined && value !== false) {
      made.setAttribute(key, String(value));
    }
  }
}

/** @param {Record<string, unknown>} attributes */
function inputOf(attributes) {
  return /** @type {HTMLInputElement} */ (element("input", attributes));
}

/** @param {string} name @param {() => void} onclick @param {...(Node | string)} parts */
function buttonOf(name, onclick, ...parts) {
  return element(name, { type: "button", onclick }, ...parts);
}

/** What a screen reader says whenever it changes. @param {string} name */
function spoken(name) {
  return element(name, { role: "status" });
}

// ---- The address: `#rubric=careless&seed=3` is what is set in a page ---------------------------------------------

function readState() {
  return new URLSearchParams(location.hash.slice(1));
}

/** Change some of it, without a step in the browser's history. @param {Record<string, string | number | null>} changes */
function keepState(changes) {
  const state = readState();
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) state.delete(key);
    else state.set(key, String(value));
  }
  history.replaceState(null, "", `#${state}`);
}

/** A field with its label. Its value stands in the address under `id`.
 *  @param {string} id @param {string} label @param {HTMLElement} field @param {() => void} changed */
function labelled(id, label, field, changed) {
  const control = /** @type {HTMLInputElement & {selectedIndex?: number}} */ (field);
  const usual = control.value;

  function restore() {
    control.value = readState().get(id) ?? usual;
    const isUnknown = control.selectedIndex === -1;
    const isEmptyNumber = control.type === "number" && !control.value;
    if (isUnknown || isEmptyNumber) control.value = usual;
  }

  control.id = id;
  control.addEventListener("input", changed);
  control.addEventListener("change", () => keepState({ [id]: control.value }));
  window.addEventListener("hashchange", restore);
  window.addEventListener("hashchange", () => changed()); // new for each field: the same function is added only once
  restore();
  return element("span.field", element("label", { for: id }, label), field);
}

// ---- Text that can be read ---------------------------------------------------------------------------------------

/** @typedef {Record<string, string>} Names  code point in hexadecimal -> name of the character */

/** `U+200B ZERO WIDTH SPACE`. @param {string} character @param {Names} names */
function named(character, names) {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return `U+${code} ${names[code] ?? ""}`.trim();
}

/** A text in parts: what can be read, and what would hide, move or command something, as course/text.py finds it.
 *  @param {string} text @returns {{text: string, hidden: boolean, times: number}[]}  equal hidden ones in a row are one */
function partsOf(text) {
  const hidden = /((?! )(?:[\p{C}\p{Z}\p{DI}\u2800]|\u{16FE4}|\u{1D159}))\1*/gu;
  const parts = [];
  let at = 0;
  for (const { 0: run, 1: one, index } of text.matchAll(hidden)) {
    parts.push({ text: text.slice(at, index), hidden: false, times: 1 });
    parts.push({ text: one, hidden: true, times: run.length / one.length });
    at = index + run.length;
  }
  parts.push({ text: text.slice(at), hidden: false, times: 1 });
  return parts.filter((part) => part.text);
}

/** The same to be read: named, and a line feed as ⏎ and a line break. @param {string} text @param {Names} names */
function visibleText(text, names) {
  return partsOf(text).map((part) => {
    if (!part.hidden) return part.text;
    const title = named(part.text, names);
    const sign = { "\n": "⏎", "\t": "⇥" }[part.text];
    const times = part.times > 1 ? ` ×${part.times}` : "";
    const lineBreak = part.text === "\n" ? "\n" : "";
    if (!sign) return element("span.unseen.named", { title }, title + times);
    const signs = part.times < 4 ? sign.repeat(part.times) : sign + times;
    return element("span.unseen", { title }, signs, lineBreak);
  });
}
