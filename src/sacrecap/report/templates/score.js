// The page of one system: its blocks, and the bar of a histogram that the reader chose.

import {carried, element, fill} from "./dom.js";
import {extremes} from "./extremes.js";
import {Histogram} from "./histograms.js";
import {scoredImages} from "./scored_images.js";
import {copySignatures} from "./signatures.js";

/** @type {ScorePage} */
const report = carried();

copySignatures();

const cards = extremes(report);
fill("extremes", [cards.choice], cards.node);

const figures = [...document.querySelectorAll(".histogram")].filter((figure) => figure instanceof HTMLElement);
const charts = figures.map((figure, number) => new Histogram(figure, report.metrics[number], choose));

/** @type {{metric: ScoredMetric, chart: Histogram, bin: number} | null} */
let chosen = null;
const chip = element("button", {type: "button", class: "chip", hidden: "", click: () => choose(null, 0)});
const list = scoredImages(report, chip, (number) => {
  if (chosen === null) return true;
  const score = chosen.metric.scores[number];
  return score !== null && chosen.chart.holds(chosen.bin, score);
});

/**
 * Chooses a bar of one histogram, or none; the charts and the list follow.
 * @param {ScoredMetric | null} metric
 * @param {number} bin
 */
function choose(metric, bin) {
  const chart = charts[metric ? report.metrics.indexOf(metric) : 0];
  chosen = metric && {metric, chart, bin};
  charts.forEach((one) => one.mark(one.metric === metric ? bin : null));
  chip.hidden = metric === null;
  if (metric) {
    const range = `${metric.label} ${chart.range(bin)}`;
    chip.replaceChildren(range, element("span", {"aria-hidden": "true"}, " ×"));
    chip.setAttribute("aria-label", `Remove the filter ${range}`);
  }
  list.update();
}
