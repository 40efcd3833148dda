// Pictures that Python drew: their marks tell what they are, and the reader hides systems.

import {element, shape} from "./dom.js";

/** @typedef {{name: string, people: boolean}} System */

/**
 * Below each picture, what is under the pointer or the focus.
 * @param {ParentNode} root
 */
export function telling(root) {
  for (const figure of root.querySelectorAll(".plots > .picture")) {
    const readout = element("p", {class: "readout", "aria-live": "polite"});
    figure.append(readout);
    for (const event of ["pointerover", "focusin"]) {
      figure.addEventListener(event, ({target}) => {
        const title = target instanceof Element && target.closest("[tabindex]")?.querySelector("title");
        if (title) readout.textContent = title.textContent;
      });
    }
  }
}

/**
 * The numbers of the systems that are not shown; the boxes of the page change them, and the pictures follow.
 * @param {() => void} changed
 */
export function hiddenSystems(changed = () => {}) {
  /** @type {Set<number>} */
  const hidden = new Set();
  for (const box of document.querySelectorAll("#chooser input")) {
    box.addEventListener("change", () => {
      if (!(box instanceof HTMLInputElement)) return;
      if (box.checked) hidden.delete(Number(box.dataset.system));
      else hidden.add(Number(box.dataset.system));
      hide(document, hidden);
      changed();
    });
  }
  return hidden;
}

/**
 * Hides systems in pictures, and pictures of one system alone.
 * @param {ParentNode} root
 * @param {Set<number>} hidden
 */
export function hide(root, hidden) {
  for (const figure of root.querySelectorAll(".picture")) {
    if (!(figure instanceof HTMLElement)) continue;
    const systems = (figure.dataset.systems ?? "").split(" ").map(Number);
    if (figure.closest(".planes")) figure.hidden = hidden.has(systems[0]);
    else systems.forEach((system, look) => figure.querySelectorAll(`.look-${look}`).forEach((node) =>
      node.toggleAttribute("hidden", hidden.has(system))));
  }
}

/**
 * A system's mark and name, in one line.
 * @param {{systems: System[]}} report
 * @param {number} number
 */
export const systemName = ({systems}, number) =>
  element("span", {class: "system", title: systems[number].name},
    shape("svg", {class: "key", viewBox: "-9 -9 18 18", "aria-hidden": "true"}, shape("use", {href: `#mark-${number}`})),
    element("bdi", {}, systems[number].name));
