// One image: its candidate, its references and its scores, as cards and opened table rows show them.

import {element, imageScore} from "./dom.js";

const WORD = /[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu;

/**
 * @param {string} text
 * @returns {string[]}
 */
const words = (text) => text.toLowerCase().match(WORD) ?? [];

/**
 * The candidate with the words that no reference has in `<mark>`, none where there is no reference; everything else stays
 * as it was written.
 * @param {string | null} candidate
 * @param {string[]} references
 */
export function markedCandidate(candidate, references) {
  const paragraph = element("p", {class: "candidate"});
  if (!candidate) {
    const nothing = candidate === null ? "no candidate: scored as an empty caption" : "empty caption";
    paragraph.append(element("span", {class: "nothing"}, nothing));
    return paragraph;
  }
  const known = new Set(references.flatMap(words));
  let end = 0;
  for (const match of references.length ? candidate.matchAll(WORD) : []) {
    if (known.has(match[0].toLowerCase())) continue;
    paragraph.append(candidate.slice(end, match.index), element("mark", {}, match[0]));
    end = match.index + match[0].length;
  }
  paragraph.append(candidate.slice(end));
  return paragraph;
}

/** @param {string[]} references */
export function referenceList(references) {
  return element("ul", {class: "references", "aria-label": "References"},
    ...references.map((reference) => element("li", {}, reference)));
}

/**
 * Scores by name; the one looked at, if any, stands out.
 * @param {{label: string, score: number | null, looked?: boolean}[]} scores
 */
export function scoreList(scores) {
  return element("dl", {class: "image-scores", "aria-label": "Scores"},
    ...scores.map(({label, score, looked = false}) => element("div", {class: looked ? "looked" : null},
      element("dt", {}, label), element("dd", {}, imageScore(score)))));
}

/**
 * A caption below who wrote it; `side` is its colour.
 * @param {string | null} side
 * @param {Node[]} who
 * @param {string | null} candidate
 * @param {string[]} references
 * @param {...Node} more
 */
export const attributed = (side, who, candidate, references, ...more) => element("div", {class: `system-caption ${side ?? ""}`},
  element("p", {class: "who"}, ...who), markedCandidate(candidate, references), ...more);

/**
 * Photo and text side by side; the text alone without a photo.
 * @param {HTMLElement[]} photos
 * @param {...HTMLElement} text
 */
export const besidePhoto = (photos, ...text) =>
  (photos.length ? [element("div", {class: "beside"}, ...photos, element("div", {}, ...text))] : text);
