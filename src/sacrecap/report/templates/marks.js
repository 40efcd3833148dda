// Marks: a shape and a colour for each system, the same in every picture and beside every name.

import {element, shape} from "./dom.js";

/** @type {Record<string, [corners: number, turn: number]>} */
const CORNERS = {s: [4, Math.PI / 4], "^": [3, 0], D: [4, 0], v: [3, Math.PI], h: [6, 0]};

/**
 * The outline of a mark around 0, 0, as wide as a circle of this radius.
 * @param {string} mark
 * @param {number} radius
 */
function outline(mark, radius) {
  if (mark === "o") return `M${radius} 0A${radius} ${radius} 0 1 1 ${-radius} 0A${radius} ${radius} 0 1 1 ${radius} 0Z`;
  if (mark === "*") return polygon(10, 0, (corner) => radius * (corner % 2 ? 0.52 : 1.35));
  if (mark === "P" || mark === "X") return cross(radius, mark === "X" ? Math.PI / 4 : 0);
  const [corners, turn] = CORNERS[mark];
  return polygon(corners, turn, () => 1.2 * radius);
}

/**
 * @param {number} corners
 * @param {number} turn
 * @param {(corner: number) => number} radius
 */
function polygon(corners, turn, radius) {
  return `M${Array.from({length: corners}, (_, corner) => {
    const angle = turn - Math.PI / 2 + (2 * Math.PI * corner) / corners;
    return `${(radius(corner) * Math.cos(angle)).toFixed(2)} ${(radius(corner) * Math.sin(angle)).toFixed(2)}`;
  }).join("L")}Z`;
}

/**
 * @param {number} radius
 * @param {number} turn
 */
function cross(radius, turn) {
  const [far, near] = [1.15 * radius, 0.4 * radius];
  const corners = [[near, near], [near, far], [-near, far], [-near, near], [-far, near], [-far, -near],
    [-near, -near], [-near, -far], [near, -far], [near, -near], [far, -near], [far, near]];
  return `M${corners.map(([x, y]) => [
    (x * Math.cos(turn) - y * Math.sin(turn)).toFixed(2), (x * Math.sin(turn) + y * Math.cos(turn)).toFixed(2)].join(" "))
    .join("L")}Z`;
}

/**
 * People are drawn in the page's ink, which differs in light and dark.
 * @param {Look} system
 */
export const inkOf = (system) => (system.people ? "currentColor" : system.colour);

/**
 * @param {Look} system
 * @param {number | string} x
 * @param {number | string} y
 * @param {number} [radius]
 */
export const markOf = (system, x, y, radius = 6) =>
  shape("path", {class: "mark", d: outline(system.mark, radius), fill: inkOf(system), transform: `translate(${x} ${y})`});

/** @param {Look} system */
const key = (system) => shape("svg", {class: "key", viewBox: "-9 -9 18 18", "aria-hidden": "true"}, markOf(system, 0, 0));

/**
 * A system's mark and name, in one line.
 * @param {Pick<SetsPage, "systems">} report
 * @param {number} number
 */
export const systemName = ({systems}, number) =>
  element("span", {class: "system", title: systems[number].name}, key(systems[number]),
    element("bdi", {}, systems[number].name));

/**
 * Boxes that show and hide systems, in every picture and in the table.
 * @param {Pick<SetsPage, "systems">} report
 * @param {Set<number>} hidden
 * @param {() => void} changed
 */
export function chooser(report, hidden, changed, title = "Systems shown") {
  return element("fieldset", {id: "chooser"}, element("legend", {class: "legend"}, title),
    ...report.systems.map((_, number) => {
      const box = element("input", {type: "checkbox", checked: "", change: () => {
        if (box.checked) hidden.delete(number);
        else hidden.add(number);
        changed();
      }});
      return element("label", {class: "choice"}, box, systemName(report, number));
    }));
}
