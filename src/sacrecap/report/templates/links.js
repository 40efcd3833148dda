// Two rows of words and the lines between them: METEOR's alignment of a candidate, and VIFIDEL's transport plan.

import {element, shape} from "./dom.js";

const CELL = 8; // width of a character: the words are monospaced, in the figure's own units
const LINE = 18;
const THICKEST = 26; // of a line that moves everything

/** @typedef {{left: number, width: number}} Cell */

/**
 * Left edge and width of each word, with two blanks between.
 * @param {LinkedRow} row
 * @returns {Cell[]}
 */
function places({words}) {
  let left = 0;
  return words.map((word) => {
    const width = [...word].length * CELL;
    left += width + 2 * CELL;
    return {left: left - width - 2 * CELL, width};
  });
}

/** @param {Cell[]} cells */
const endOf = (cells) => cells.reduce((most, cell) => Math.max(most, cell.left + cell.width), CELL);

/**
 * The middle of the words from `start` to before `end`.
 * @param {Cell[]} cells
 * @param {[number, number]} span
 */
const middle = (cells, [start, end]) => (cells[start].left + cells[end - 1].left + cells[end - 1].width) / 2;

/**
 * @param {LinkedRow} row
 * @param {Cell[]} cells
 * @param {number} y
 * @param {[number, number][]} spans the matched words
 */
const drawn = ({words, weights}, cells, y, spans) => words.map((word, number) => {
  const kind = spans.some(([start, end]) => start <= number && number < end) ? "matched" : "unmatched";
  const [share, importance] = weights[number] ?? [];
  return shape("text", {x: cells[number].left, y, textLength: cells[number].width, lengthAdjust: "spacingAndGlyphs",
    class: weights.length ? null : kind},
  ...(weights.length ? [shape("title", {}, `${word}: share ${share.toFixed(3)}, ρ ${importance.toFixed(3)}`)] : []), word);
});

/**
 * The figure, in a list of one; an empty list where it is not on the page, or a plan knows no object or no word.
 * @param {LinksFigure | null} figure
 */
export function linksFigure(figure) {
  if (!figure || (figure.number === null && !figure.links.length)) return [];
  const {above, below, links, number, distance} = figure;
  const rows = [places(above), places(below)];
  const width = Math.max(...rows.map(endOf));
  // The shorter row of a plan stands in the middle of the longer one.
  const [upper, lower] = rows.map((cells) => cells.map((cell) =>
    ({...cell, left: cell.left + (number === null ? (width - endOf(cells)) / 2 : 0)})));
  const gap = number === null ? 90 : 46;
  const height = 2 * LINE + gap;
  const dearest = Math.max(...links.map(({moved}) => moved?.[1] ?? 0), 1e-12);
  const lines = links.map((link) => {
    const [from, to] = [above.words.slice(...link.above).join(" "), below.words.slice(...link.below).join(" ")];
    const [share, cost] = link.moved ?? [0, 0];
    const title = !link.moved ? `${link.kind}: ${from} – ${to}`
      : `${from} → ${to}: share ${share.toFixed(3)} × cost ${cost.toFixed(3)} = ${(share * cost).toFixed(3)}`;
    return shape("line", {class: link.kind, x1: middle(upper, link.above), y1: LINE + 5, x2: middle(lower, link.below),
      y2: LINE + gap - 13, ...(link.moved && {"stroke-width": Math.max(1, THICKEST * share).toFixed(1),
        "stroke-opacity": (0.85 - 0.55 * cost / dearest).toFixed(2)})}, shape("title", {}, title));
  });
  const [label, caption] = number === null
    ? ["VIFIDEL: objects above, words below", [`VIFIDEL: objects above, words below; a line is as thick as what the object pays `
      + `the word, and the paler the dearer. Distance ${(distance ?? 0).toFixed(3)}.`]]
    : [`METEOR alignment with reference ${number + 1}`, [`METEOR: candidate above, reference ${number + 1} below. `,
      ...[...new Set(links.map(({kind}) => kind))].map((kind) => element("span", {class: `key ${kind}`}, kind))]];
  return [element("figure", {class: "alignment"},
    element("div", {class: "scroll"}, shape("svg", {role: "img", "aria-label": label, preserveAspectRatio: "xMinYMid",
      viewBox: `-2 0 ${width + 4} ${height}`, width: width + 4, height},
    ...lines, ...drawn(above, upper, LINE, links.map((link) => link.above)),
    ...drawn(below, lower, LINE + gap, links.map((link) => link.below)))),
    element("figcaption", {}, ...caption))];
}
