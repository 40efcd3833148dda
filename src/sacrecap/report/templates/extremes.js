// The best and the worst images by a metric, as cards side by side.

import {besidePhoto, markedCandidate, referenceList, scoreList} from "./details.js";
import {choice, element, imageScore} from "./dom.js";
import {photo} from "./photos.js";

const CARDS = 4;

/**
 * The cards, and the choice of their metric.
 * @param {ScorePage} report
 */
export function extremes(report) {
  const node = element("div");
  let count = CARDS;
  const {select, label} = choice("by", report.metrics.map((metric) => metric.label), () => { count = CARDS; draw(); },
    {id: "extremes-metric"});
  const draw = () => {
    const metric = report.metrics[Number(select.value)];
    const order = byScore(metric);
    // No image is in both lists, however few there are.
    const best = order.slice(0, Math.min(count, Math.ceil(order.length / 2)));
    const worst = order.slice(best.length).slice(-count).reverse();
    const more = element("button", {type: "button", class: "more", click: () => { count += CARDS; draw(); }}, "Show more");
    node.replaceChildren(
      element("div", {class: "columns"}, column("Best", best, report, metric), column("Worst", worst, report, metric)),
      ...(best.length + worst.length < order.length ? [more] : []));
  };
  select.value = String(report.lead);
  draw();
  return {node, choice: label};
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
    ...besidePhoto(photo(image), markedCandidate(image.candidates[0], image.references), referenceList(image.references),
      scoreList(report.metrics.map((own) => ({label: own.label, score: own.scores[number], looked: own === metric})))));
}
