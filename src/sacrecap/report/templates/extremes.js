// The best and the worst images by a metric, as cards side by side.

import {besidePhoto, markedCandidate, referenceList, scoreList} from "./details.js";
import {byId, element, imageScore} from "./dom.js";
import {photo} from "./photos.js";

const CARDS = 4;

/** @param {ScorePage} report */
export function showExtremes(report) {
  const select = /** @type {HTMLSelectElement} */ (byId("extremes-metric"));
  select.append(...report.metrics.map((metric, number) => element("option", {value: number}, metric.label)));
  select.value = String(report.lead);
  let count = CARDS;
  const draw = () => {
    drawExtremes(report, report.metrics[Number(select.value)], count, () => { count += CARDS; draw(); });
  };
  select.addEventListener("change", () => { count = CARDS; draw(); });
  draw();
}

/**
 * @param {ScorePage} report
 * @param {ScoredMetric} metric
 * @param {number} count
 * @param {() => void} more
 */
function drawExtremes(report, metric, count, more) {
  const order = byScore(metric);
  // No image is in both lists, however few there are.
  const best = order.slice(0, Math.min(count, Math.ceil(order.length / 2)));
  const worst = order.slice(best.length).slice(-count).reverse();
  const remain = best.length + worst.length < order.length;
  byId("extremes").replaceChildren(
    element("div", {class: "columns"},
      column("Best", best, report, metric),
      column("Worst", worst, report, metric)),
    ...(remain ? [element("button", {type: "button", class: "more", click: more}, "Show more")] : []));
}

/**
 * Numbers of the images that have a score, best first; equal scores in the corpus's order.
 * @param {ScoredMetric} metric
 */
function byScore(metric) {
  const sign = metric.lower_is_better ? -1 : 1;
  const scored = metric.scores.flatMap((score, number) => (score === null ? [] : [{score, number}]));
  return scored.sort((a, b) => sign * (b.score - a.score)).map(({number}) => number);
}

/**
 * @param {string} name
 * @param {number[]} numbers
 * @param {ScorePage} report
 * @param {ScoredMetric} metric
 */
function column(name, numbers, report, metric) {
  const cards = numbers.map((number) => card(report, number, metric));
  return element("div", {class: name.toLowerCase()}, element("h3", {}, name), ...cards);
}

/**
 * @param {ScorePage} report
 * @param {number} number
 * @param {ScoredMetric} metric
 */
function card(report, number, metric) {
  const image = report.images[number];
  return element("article", {class: "card"},
    element("h4", {}, element("span", {class: "id"}, image.id),
      element("span", {class: "value"}, imageScore(metric.scores[number]))),
    ...besidePhoto(photo(report, number, image.id, image.references),
      markedCandidate(image), referenceList(image), scoreList(report, number, metric)));
}
