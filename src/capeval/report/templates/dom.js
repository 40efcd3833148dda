// Elements, and how numbers are written. Text reaches the page through text nodes only, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element; attributes that are functions are listeners, strings among the children become text. */
function element(name, attributes = {}, ...children) {
  return assemble(document.createElement(name), attributes, children);
}

/** An SVG element, in the same way. */
function shape(name, attributes = {}, ...children) {
  return assemble(document.createElementNS(SVG, name), attributes, children);
}

function assemble(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== null && value !== false) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** A position or length within 0 to 1, as SVG takes it: charts then need no measuring and never scale their text. */
const percent = (share) => `${(100 * share).toFixed(3)}%`;

const corpusScore = (value) => value.toFixed(4);
const imageScore = (value) => value.toFixed(3);
const whole = (count) => count.toLocaleString("en");
const images = (count) => (count === 1 ? "1 image" : `${whole(count)} images`);
