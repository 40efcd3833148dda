// What was compared, and the table of scores: one row per system, one column per metric.

import {byId, corpusScore, element, whole} from "./dom.js";
import {referencesName, showFacts} from "./facts.js";

/** @param {ComparisonPage} report */
export function showComparisonFacts(report) {
  showFacts(report, [
    ["Systems", whole(report.systems.length)],
    ["Images", whole(report.total)],
    ["References per image", referencesName(report)],
    ["Tokenizer", report.tokenizer],
    ["Test", report.test],
  ]);
}

/** @param {[number, number]} ranks */
const rankName = ([first, last]) => (first === last ? `${first}` : `${first}–${last}`);

/** @param {ComparisonPage} report */
export function showSystems(report) {
  const heads = report.metrics.map((metric) =>
    element("th", {scope: "col", title: `${metric.summary} ${metric.signature}`}, metric.label));
  byId("scores").append(element("table", {class: "systems"},
    element("thead", {}, element("tr", {}, element("th", {scope: "col"}, "System"), ...heads)),
    element("tbody", {}, ...report.systems.map((name, number) => systemRow(report, name, number)))));
  byId("scores-legend").append(
    "Bold: the best. †: worse than the best, corrected p ≤ ", `${report.alpha}`,
    ". Before a score: the ranks the system may have; systems that no test separates share them.",
    ...report.notes.map((note) => element("span", {class: "said"}, note)));
}

/**
 * @param {ComparisonPage} report
 * @param {string} name
 * @param {number} number
 */
function systemRow(report, name, number) {
  const cells = report.metrics.map((metric) => {
    const score = metric.systems[number];
    const interval = score.interval === null ? [] : [
      element("span", {class: "bounds"}, score.interval.map(corpusScore).join(" – "))];
    return element("td", {class: score.best ? "best" : null},
      element("span", {class: "rank", title: "rank"}, rankName(score.ranks)),
      element("span", {class: "value"}, corpusScore(score.value), score.worse ? "†" : ""), ...interval);
  });
  return element("tr", {}, element("th", {scope: "row"}, name), ...cells);
}
