// One image: its candidate, its references and its scores, as cards and opened table rows show them.

import {element, imageScore} from "./dom.js";

const WORD = /[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu;

/**
 * @param {string} text
 * @returns {string[]}
 */
const words = (text) => text.toLowerCase().match(WORD) ?? [];

/**
 * The candidate with the words that no reference has in `<mark>`; everything else stays as it was written.
 * @param {{candidate: string | null, references: string[]}} image
 */
export function markedCandidate(image) {
  const paragraph = element("p", {class: "candidate"});
  if (!image.candidate) {
    const nothing = image.candidate === null ? "no candidate: scored as an empty caption" : "empty caption";
    paragraph.append(element("span", {class: "nothing"}, nothing));
    return paragraph;
  }
  const known = new Set(image.references.flatMap(words));
  let end = 0;
  for (const match of image.candidate.matchAll(WORD)) {
    if (known.has(match[0].toLowerCase())) continue;
    paragraph.append(image.candidate.slice(end, match.index), element("mark", {}, match[0]));
    end = match.index + match[0].length;
  }
  paragraph.append(image.candidate.slice(end));
  return paragraph;
}

/** @param {{references: string[]}} image */
export function referenceList(image) {
  return element("ul", {class: "references", "aria-label": "References"},
    ...image.references.map((reference) => element("li", {}, reference)));
}

/**
 * All scores of the image of this number; the metric looked at, if any, stands out.
 * @param {ScorePage} report
 * @param {number} number
 * @param {ScoredMetric | null} looked
 */
export function scoreList(report, number, looked = null) {
  return element("dl", {class: "image-scores", "aria-label": "Scores"},
    ...report.metrics.map((metric) => element("div", {class: metric === looked ? "looked" : null},
      element("dt", {}, metric.label),
      element("dd", {}, imageScore(metric.scores[number])))));
}

/**
 * Photo and text side by side; the text alone without a photo.
 * @param {HTMLElement[]} photos
 * @param {...HTMLElement} text
 */
export const besidePhoto = (photos, ...text) =>
  (photos.length ? [element("div", {class: "beside"}, ...photos, element("div", {}, ...text))] : text);
