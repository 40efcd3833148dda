// The page of one system: its blocks, and the bar of a histogram that the reader chose.

import {carried, element, legend, section, whole} from "./dom.js";
import {extremes} from "./extremes.js";
import {referencesName, showFacts} from "./facts.js";
import {Histogram, binOf, rangeName} from "./histograms.js";
import {scoredImages} from "./scored_images.js";
import {scoreTable} from "./scores.js";

/** @type {ScorePage} */
const report = carried();

showFacts(report, [
  ["Images", whole(report.total)],
  ["References per image", referencesName(report)],
  ["Tokenizer", report.tokenizer],
]);
section("scores", "Scores", [], scoreTable(report), ...report.notes.map((text) => legend(text)));

const cards = extremes(report);
section("extremes", "Best and worst images", [cards.choice,
  legend(element("mark", {}, "Marked"), " words occur in no reference (words compared in lower case, as written).")],
cards.node);

const charts = report.metrics.map((metric) => new Histogram(metric, choose));
section("histograms", "Distribution over images",
  [legend("A bar is a range of scores; click it to see its images below. The vertical line is the corpus score.")],
  element("div", {class: "histograms"}, ...charts.map((chart) => chart.figure)));

/** @type {{metric: ScoredMetric, bin: number} | null} */
let chosen = null;
const chip = element("button", {type: "button", class: "chip", hidden: "", click: () => choose(null, 0)});
const list = scoredImages(report, chip, (number) => {
  if (chosen === null) return true;
  const score = chosen.metric.scores[number];
  return score !== null && binOf(score, chosen.metric.histogram.edges) === chosen.bin;
});

/**
 * Chooses a bar of one histogram, or none; the charts and the list follow.
 * @param {ScoredMetric | null} metric
 * @param {number} bin
 */
function choose(metric, bin) {
  chosen = metric && {metric, bin};
  charts.forEach((chart) => chart.mark(chart.metric === metric ? bin : null));
  chip.hidden = metric === null;
  if (metric) {
    const range = `${metric.label} ${rangeName(metric, bin)}`;
    chip.replaceChildren(range, element("span", {"aria-hidden": "true"}, " ×"));
    chip.setAttribute("aria-label", `Remove the filter ${range}`);
  }
  list.update();
}
