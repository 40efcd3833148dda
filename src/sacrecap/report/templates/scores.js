// What was scored, and the table of corpus scores.

import {byId, corpusScore, element, percent, shape, whole} from "./dom.js";
import {levelName, referencesName, showFacts} from "./facts.js";

/** @param {ScorePage} report */
export function showScoreFacts(report) {
  showFacts(report, [
    ["Images", whole(report.total)],
    ["References per image", referencesName(report)],
    ["Tokenizer", report.tokenizer],
  ]);
}

/** @param {ScorePage} report */
export function showScores(report) {
  const heads = ["Metric", "Score", ...(report.level === null ? [] : [`${levelName(report)} interval`]),
    "On the metric’s range", "Signature"];
  // The roles keep it a table for assistive software when narrow screens show its rows as blocks.
  byId("scores").append(element("table", {class: "scores", role: "table"},
    element("thead", {role: "rowgroup"}, element("tr", {role: "row"},
      ...heads.map((head) => element("th", {scope: "col", role: "columnheader"}, head)))),
    element("tbody", {role: "rowgroup"}, ...report.metrics.map((metric) => scoreRow(metric, report.level !== null)))),
    ...report.notes.map((note) => element("p", {class: "legend"}, note)));
}

/**
 * @param {ScoredMetric} metric
 * @param {boolean} intervals whether the table has a column for them; a metric without a score has none
 */
function scoreRow(metric, intervals) {
  const interval = intervals ? [
    element("td", {class: "interval", role: "cell"}, (metric.interval ?? []).map(corpusScore).join(" – "))] : [];
  return element("tr", {role: "row"},
    element("th", {scope: "row", role: "rowheader"}, metric.label, element("span", {class: "summary"}, metric.summary)),
    element("td", {class: "value", role: "cell"}, corpusScore(metric.value)),
    ...interval,
    element("td", {class: "range", role: "cell"}, ...intervalPlot(metric)),
    element("td", {class: "signature", role: "cell"}, signature(metric)));
}

/**
 * The interval as a bar, the score as a tick, from 0 to the largest score the metric can have (or the charts reach); in a
 * list of one, which is empty where no image has a score.
 * @param {ScoredMetric} metric
 */
function intervalPlot(metric) {
  const right = metric.upper ?? metric.histogram.edges[metric.histogram.edges.length - 1];
  const at = (/** @type {number} */ value) => percent(Math.min(Math.max(value / right, 0), 1));
  if (metric.value === null) return [];
  const [lower, upper] = metric.interval ?? [metric.value, metric.value];
  const plot = shape("svg", {class: "interval-plot", "aria-hidden": "true"},
    shape("line", {class: "axis", x1: "0", x2: "100%", y1: "50%", y2: "50%"}),
    ...[0, 0.25, 0.5, 0.75, 1].map((share) =>
      shape("line", {class: "axis", x1: percent(share), x2: percent(share), y1: "35%", y2: "65%"})),
    shape("line", {class: "extent", x1: at(lower), x2: at(upper), y1: "50%", y2: "50%"}),
    shape("line", {class: "point", x1: at(metric.value), x2: at(metric.value), y1: "12%", y2: "88%"}));
  const end = `${Number(right.toPrecision(4))}${metric.upper === null ? " (no limit)" : ""}`;
  return [element("div", {class: "plot"}, "0", plot, end)];
}

/** @param {ScoredMetric} metric */
function signature(metric) {
  // One element per part, so that lines break between parts; together they are the signature's text.
  const parts = (metric.signature.match(/[^|]+\|?/g) ?? []).map((part) => element("span", {}, part));
  const code = element("code", {}, ...parts);
  const button = element("button", {type: "button", "aria-label": `Copy the signature of ${metric.label}`}, "Copy");
  button.addEventListener("click", () => copy(code, button));
  return element("div", {}, code, button);
}

/**
 * Copies the element's text; where the browser forbids that, selects it for the reader to copy.
 * @param {HTMLElement} source
 * @param {HTMLButtonElement} button
 */
async function copy(source, button) {
  try {
    await navigator.clipboard.writeText(source.textContent ?? "");
    button.textContent = "Copied";
  } catch {
    getSelection()?.selectAllChildren(source);
    button.textContent = "Selected";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}
