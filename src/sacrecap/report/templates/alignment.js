// METEOR's alignment of a candidate with its best reference: tokens above and below, one line per match.

import {element, shape} from "./dom.js";
import {LINE, endOf, places} from "./rows.js";

const GAP = 46;

/**
 * @param {import("./rows.js").Cell[]} cells
 * @param {[number, number]} span
 */
const middle = (cells, [start, end]) => (cells[start].left + cells[end - 1].left + cells[end - 1].width) / 2;

/**
 * @param {string[]} tokens
 * @param {import("./rows.js").Cell[]} cells
 * @param {[number, number][]} spans
 * @param {number} y
 */
function tokenRow(tokens, cells, spans, y) {
  const matched = new Set(spans.flatMap(([start, end]) => [...Array(end - start).keys()].map((k) => start + k)));
  return tokens.map((token, number) => shape("text", {
    x: cells[number].left, y, textLength: cells[number].width, lengthAdjust: "spacingAndGlyphs",
    class: matched.has(number) ? "matched" : "unmatched"}, token));
}

/**
 * The figure, in a list of one; an empty list where METEOR's alignment is not on the page.
 * @param {ScoredImage} image
 */
export function alignmentFigure({alignment}) {
  if (!alignment) return [];
  const [candidate, reference] = [alignment.candidate.split(" "), alignment.reference.split(" ")];
  const [above, below] = [places(candidate), places(reference)];
  const last = endOf([...above, ...below]);
  const height = 2 * LINE + GAP;
  const lines = alignment.links.map((link) => shape("line", {class: link.module,
    x1: middle(above, link.candidate), y1: LINE + 4, x2: middle(below, link.reference), y2: LINE + GAP - 12},
  shape("title", {}, `${link.module}: ${candidate.slice(...link.candidate).join(" ")} – ` +
    reference.slice(...link.reference).join(" "))));
  const modules = [...new Set(alignment.links.map((link) => link.module))];
  return [element("figure", {class: "alignment"},
    element("div", {class: "scroll"}, shape("svg", {
      role: "img", "aria-label": `METEOR alignment with reference ${alignment.number + 1}`,
      preserveAspectRatio: "xMinYMid", viewBox: `-2 0 ${last + 4} ${height}`, width: last + 4, height},
    ...tokenRow(candidate, above, alignment.links.map((link) => link.candidate), LINE),
    ...lines,
    ...tokenRow(reference, below, alignment.links.map((link) => link.reference), LINE + GAP))),
    element("figcaption", {}, `METEOR: candidate above, reference ${alignment.number + 1} below. `,
      ...modules.map((module) => element("span", {class: `key ${module}`}, module))))];
}
