// The images themselves: small next to their captions, larger when they are clicked.

import {element} from "./dom.js";

/**
 * The photo of an image as a button that enlarges it, in a list of one; an empty list without a photo. It is called by
 * its id where nobody describes it.
 * @param {{id: string, references: string[], photo: string | null}} image
 * @param {string} [kind] how large: `row`, `card` or `large`
 */
export function photo({id, references, photo: address}, kind = "card") {
  if (!address) return [];
  const text = nearest(references) || id;
  const image = element("img", {src: address, alt: text, loading: "lazy", decoding: "async",
    error: () => button.remove()});
  const button = element("button", {type: "button", class: `photo ${kind}`, title: "Enlarge", click: (event) => {
    event.stopPropagation();
    enlarge(address, text, id);
  }}, image);
  return [button];
}

/**
 * The photo as large as the screen allows; a click anywhere, Escape or the button closes it.
 * @param {string} address
 * @param {string} text
 * @param {string} id
 */
function enlarge(address, text, id) {
  // A small image is not enlarged to the whole screen: it would only be blurred.
  const image = element("img", {src: address, alt: text, load: () => {
    image.style.maxWidth = `${3 * image.naturalWidth}px`;
  }});
  const dialog = element("dialog", {class: "enlarged", "aria-label": id, click: () => dialog.close(),
    close: () => dialog.remove()},
  image,
  element("p", {}, element("bdi", {}, text), element("button", {type: "button"}, "Close")));
  document.body.append(dialog);
  dialog.showModal();
}

/**
 * The reference that has most words in common with the others: the best of them as a description of the image.
 * @param {string[]} references
 */
export function nearest(references) {
  const sets = references.map((reference) => new Set(reference.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []));
  const common = (/** @type {Set<string>} */ one, /** @type {Set<string>} */ other) =>
    (2 * [...one].filter((word) => other.has(word)).length) / (one.size + other.size || 1);
  let [best, most] = ["", -1];
  references.forEach((reference, number) => {
    const sum = sets.reduce((total, other, place) => (place === number ? total : total + common(sets[number], other)), 0);
    if (sum > most) [best, most] = [reference, sum];
  });
  return best;
}
