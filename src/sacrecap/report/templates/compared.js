// An image's caption by one of the systems, and the reader's choice of what to compare.

import {attributed} from "./details.js";
import {element, imageScore} from "./dom.js";

/** @typedef {{a: number, b: number, metric: number}} Chosen systems and metric, by number */

/**
 * The first score less the second; null where the image has none.
 * @param {number | null} first
 * @param {number | null} second
 */
export const gap = (first, second) => (first === null || second === null ? null : first - second);

/**
 * A system's caption of an image, with its score.
 * @param {ComparisonPage} report
 * @param {number} number
 * @param {number} system
 * @param {ComparedMetric} metric
 * @param {string | null} side
 */
export function systemCaption(report, number, system, metric, side) {
  const image = report.images[number];
  return attributed(side, [element("span", {class: "name"}, report.systems[system]),
    element("span", {class: "value"}, imageScore(metric.scores[system][number]))],
  image.candidates[system], image.references);
}
