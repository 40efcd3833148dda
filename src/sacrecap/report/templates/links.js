// Two rows of words and the lines between them: METEOR's alignment of a candidate, and VIFIDEL's transport plan.

import {element, shape} from "./dom.js";

const CELL = 8; // width of a character: the words are monospaced, in the figure's own units
const LINE = 18;
const THICKEST = 26; // of a line that moves everything

/** @typedef {{left: number, width: number}} Cell */
/** @typedef {{text: string, kind?: string, title?: string}} Word */
/** @typedef {{from: number, to: number, kind: string, title: string, attributes?: import("./dom.js").Attributes}} Link between middles of words */

/**
 * Left edge and width of each word, with two blanks between.
 * @param {Word[]} words
 * @returns {Cell[]}
 */
function places(words) {
  let left = 0;
  return words.map(({text}) => {
    const width = [...text].length * CELL;
    left += width + 2 * CELL;
    return {left: left - width - 2 * CELL, width};
  });
}

/** @param {Cell[]} cells */
const endOf = (cells) => cells.reduce((most, cell) => Math.max(most, cell.left + cell.width), CELL);

/**
 * The middle of the words from `start` to before `end`.
 * @param {Cell[]} cells
 */
const middle = (cells, start = 0, end = start + 1) => (cells[start].left + cells[end - 1].left + cells[end - 1].width) / 2;

/**
 * @param {Word[]} words
 * @param {Cell[]} cells
 * @param {number} y
 */
const row = (words, cells, y) => words.map(({text, kind = null, title}, number) => shape("text", {
  x: cells[number].left, y, textLength: cells[number].width, lengthAdjust: "spacingAndGlyphs", class: kind},
...(title ? [shape("title", {}, title)] : []), text));

/**
 * @param {string} label
 * @param {[words: Word[], cells: Cell[]]} above
 * @param {[words: Word[], cells: Cell[]]} below
 * @param {Link[]} links
 * @param {number} gap
 * @param {(string | Node)[]} caption
 */
function figure(label, above, below, links, gap, caption) {
  const width = endOf([...above[1], ...below[1]]) + 4;
  const height = 2 * LINE + gap;
  return element("figure", {class: "alignment"},
    element("div", {class: "scroll"}, shape("svg", {role: "img", "aria-label": label, preserveAspectRatio: "xMinYMid",
      viewBox: `-2 0 ${width} ${height}`, width, height},
    ...links.map(({from, to, kind, title, attributes}) => shape("line", {class: kind, x1: from, y1: LINE + 5, x2: to,
      y2: LINE + gap - 13, ...attributes}, shape("title", {}, title))),
    ...row(...above, LINE), ...row(...below, LINE + gap))),
    element("figcaption", {}, ...caption));
}

/**
 * METEOR's alignment of a candidate with its best reference, one line per match, in a list of one; an empty list where it
 * is not on the page.
 * @param {ScoredImage} image
 */
export function alignmentFigure({alignment}) {
  if (!alignment) return [];
  const {links, number} = alignment;
  const side = (/** @type {string} */ tokens, /** @type {[number, number][]} */ spans) => {
    const words = tokens.split(" ").map((text, place) =>
      ({text, kind: spans.some(([start, end]) => start <= place && place < end) ? "matched" : "unmatched"}));
    return {words, cells: places(words)};
  };
  const candidate = side(alignment.candidate, links.map((link) => link.candidate));
  const reference = side(alignment.reference, links.map((link) => link.reference));
  const said = (/** @type {Word[]} */ words, /** @type {[number, number]} */ span) =>
    words.slice(...span).map(({text}) => text).join(" ");
  const modules = [...new Set(links.map((link) => link.module))];
  return [figure(`METEOR alignment with reference ${number + 1}`, [candidate.words, candidate.cells],
    [reference.words, reference.cells], links.map((link) => ({
      kind: link.module,
      from: middle(candidate.cells, ...link.candidate),
      to: middle(reference.cells, ...link.reference),
      title: `${link.module}: ${said(candidate.words, link.candidate)} – ${said(reference.words, link.reference)}`,
    })), 46, [`METEOR: candidate above, reference ${number + 1} below. `,
      ...modules.map((module) => element("span", {class: `key ${module}`}, module))])];
}

/**
 * VIFIDEL's plan: objects above, words below; a line is as thick as the share that moves. In a list of one, which is empty
 * where the plan is not on the page, or knows no object or no word.
 * @param {ScoredImage} image
 */
export function flowFigure({plan}) {
  if (!plan || !plan.flows.length) return [];
  const [objects, words] = [plan.objects, plan.words].map((side) => side.map(({name, share, importance}) =>
    ({text: name, title: `${name}: share ${share.toFixed(3)}, ρ ${importance.toFixed(3)}`})));
  const width = Math.max(endOf(places(objects)), endOf(places(words)));
  const [above, below] = [places(objects), places(words)].map((cells) =>
    // The shorter row stands in the middle of the longer one.
    cells.map((cell) => ({...cell, left: cell.left + (width - endOf(cells)) / 2})));
  const dearest = Math.max(...plan.flows.map(({cost}) => cost), 1e-12);
  return [figure("VIFIDEL: objects above, words below", [objects, above], [words, below],
    plan.flows.map(({object, word, share, cost}) => ({
      kind: "flow",
      from: middle(above, object),
      to: middle(below, word),
      title: `${objects[object].text} → ${words[word].text}: share ${share.toFixed(3)} × cost ${
        cost.toFixed(3)} = ${(share * cost).toFixed(3)}`,
      attributes: {"stroke-width": Math.max(1, THICKEST * share).toFixed(1),
        "stroke-opacity": (0.85 - 0.55 * cost / dearest).toFixed(2)},
    })), 90, ["VIFIDEL: objects above, words below; a line is as thick as what the object pays the word, and the paler the "
      + `dearer. Distance ${plan.distance.toFixed(3)}.`])];
}
