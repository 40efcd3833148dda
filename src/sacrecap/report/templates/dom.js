// Elements, and how numbers are written. Text reaches the page through text nodes only, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {string | Node} Child */
/** @typedef {Record<string, string | number | boolean | null | ((event: any) => void)>} Attributes */

/**
 * An HTML element; attributes that are functions are listeners, strings among the children become text.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes} [attributes]
 * @param {...Child} children
 */
export function element(name, attributes = {}, ...children) {
  return assembled(document.createElement(name), attributes, children);
}

/**
 * An SVG element, in the same way.
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes} [attributes]
 * @param {...Child} children
 */
export function shape(name, attributes = {}, ...children) {
  return assembled(document.createElementNS(SVG, name), attributes, children);
}

/**
 * @template {Element} Made
 * @param {Made} node
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
function assembled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== null && value !== false) node.setAttribute(name, String(value));
  }
  node.append(...children);
  return node;
}

/**
 * The element of the page's own markup that has this id.
 * @param {string} id
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element ${id}`);
  return found;
}

/**
 * Adds to the section of this id: beside its heading, and below it.
 * @param {string} id
 * @param {Child[]} beside
 * @param {...Child} blocks
 */
export function fill(id, beside, ...blocks) {
  const place = byId(id);
  place.querySelector("h2")?.after(...beside);
  place.append(...blocks);
}

/** @param {...Child} text */
export const legend = (...text) => element("p", {class: "legend"}, ...text);

/**
 * A list to choose from, in its label.
 * @param {string} label
 * @param {string[]} names
 * @param {(chosen: number) => void} choose
 * @param {Attributes} [attributes]
 */
export function choice(label, names, choose, attributes = {}) {
  const select = element("select", {change: () => choose(Number(select.value)), ...attributes}, ...options(names));
  return {select, label: element("label", {class: "control"}, `${label} `, select)};
}

/** @param {string[]} names */
export const options = (names) => names.map((name, number) => element("option", {value: number}, name));

/**
 * The data that the page carries.
 * @returns {any}
 */
export const carried = () => JSON.parse(byId("data").textContent ?? "");

const NO_SCORE = "no score";

/** @param {number | null} value */
export const imageScore = (value) => (value === null ? NO_SCORE : value.toFixed(3));

/**
 * A difference, with its sign.
 * @param {number} value
 */
export const signed = (value) => `${value < 0 ? "−" : value > 0 ? "+" : ""}${Math.abs(value).toFixed(3)}`;

/** @param {number} count */
export const whole = (count) => count.toLocaleString("en");

/** @param {number} count */
export const images = (count) => (count === 1 ? "1 image" : `${whole(count)} images`);
