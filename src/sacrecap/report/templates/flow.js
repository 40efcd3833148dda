// VIFIDEL's transport plan: objects above, words below; a line is as thick as the share that moves.

import {element, shape} from "./dom.js";
import {LINE, endOf, places} from "./rows.js";

const THICKEST = 26; // of a line that moves everything, in the figure's own units
const SLOPE = 90; // height of the lines

/**
 * A row of names, each over or under the middle of its cell; hovering tells its share and its ρ.
 * @param {PlanSide[]} side
 * @param {import("./rows.js").Cell[]} cells
 * @param {number} y
 */
function nameRow(side, cells, y) {
  return side.map(({name, share, importance}, number) => shape("text", {
    x: cells[number].left + cells[number].width / 2, y, "text-anchor": "middle"},
  shape("title", {}, `${name}: share ${share.toFixed(3)}, ρ ${importance.toFixed(3)}`), name));
}

/**
 * Moves the shorter row to the middle of the longer one.
 * @param {import("./rows.js").Cell[]} cells
 * @param {number} width
 */
function centred(cells, width) {
  const own = Math.max(...cells.map((cell) => cell.left + cell.width));
  return cells.map((cell) => ({...cell, left: cell.left + (width - own) / 2}));
}

/**
 * The figure, in a list of one; an empty list where VIFIDEL's plan is not on the page, or knows no object or no word.
 * @param {ScoredImage} image
 */
export function flowFigure({plan}) {
  if (!plan || !plan.flows.length) return [];
  let [above, below] = [plan.objects, plan.words].map((side) => places(side.map(({name}) => name)));
  const width = endOf([...above, ...below]);
  [above, below] = [centred(above, width), centred(below, width)];
  const dearest = Math.max(...plan.flows.map(({cost}) => cost), 1e-12);
  const lines = plan.flows.map(({object, word, share, cost}) => shape("line", {
    class: "flow", "stroke-width": Math.max(1, THICKEST * share).toFixed(1),
    "stroke-opacity": (0.85 - 0.55 * cost / dearest).toFixed(2),
    x1: above[object].left + above[object].width / 2, y1: LINE + 6,
    x2: below[word].left + below[word].width / 2, y2: LINE + SLOPE - 14},
  shape("title", {}, `${plan.objects[object].name} → ${plan.words[word].name}: share ${share.toFixed(3)} × cost ` +
    `${cost.toFixed(3)} = ${(share * cost).toFixed(3)}`)));
  const height = 2 * LINE + SLOPE;
  return [element("figure", {class: "alignment"},
    element("div", {class: "scroll"}, shape("svg", {
      role: "img", "aria-label": "VIFIDEL: objects above, words below", preserveAspectRatio: "xMinYMid",
      viewBox: `-20 0 ${width + 40} ${height}`, width: width + 40, height},
    ...lines,
    ...nameRow(plan.objects, above, LINE),
    ...nameRow(plan.words, below, LINE + SLOPE))),
    element("figcaption", {}, "VIFIDEL: objects above, words below; a line is as thick as what the object pays the " +
      `word, and the paler the dearer. Distance ${plan.distance.toFixed(3)}.`))];
}
